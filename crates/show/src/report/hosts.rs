//! Hosts beside each other, where several ran a phase.

use candor_derive::{HostRow, host_rows};
use candor_record::fmt::{self, REQUESTS_PER_S, column};
use candor_record::{PhaseJudgement, PhaseRecord, Report};

use crate::layout::{Align, Cell, Page, Table, cut, width};
use crate::style::Tone;
use crate::words;

/// Columns of a host's name.
const NAME_COLUMNS_MAX: usize = 24;

/// A table for each result of several hosts.
pub(super) fn section(page: &mut Page, report: &Report) {
    for (name, table) in tables(report) {
        page.heading(&format!("Hosts, {name}"));
        let table = fitted(table, page.style.columns() - 2);
        table.lines(page.style).iter().for_each(|line| page.line(&format!("  {line}")));
    }
}

/// The table in so many columns: the limits, which come last, are cut.
fn fitted(mut table: Table, columns: usize) -> Table {
    let over = table.width().saturating_sub(columns);
    if over > 0 {
        let last = table.columns.len() - 1;
        let widest = table.rows.iter().map(|row| width(&row[last].text)).max().unwrap_or(0);
        let room = widest.saturating_sub(over).max(width(&table.columns[last].0));
        table.rows.iter_mut().for_each(|row| row[last].text = cut(&row[last].text, room));
    }
    table
}

/// The name of each result of several hosts, and the table of these.
pub(super) fn tables(report: &Report) -> Vec<(String, Table)> {
    let of = |(phase, judged): (&PhaseRecord, &PhaseJudgement)| {
        let rows = host_rows(phase, Some(judged));
        let name = match phase.repeat {
            0 => phase.name.clone(),
            n => format!("{} #{}", phase.name, n + 1),
        };
        (!rows.is_empty()).then(|| (name, table(&rows)))
    };
    report.judged().filter_map(of).collect()
}

fn table(rows: &[HostRow]) -> Table {
    let mut units = rows.iter().map(|row| row.rates.unit());
    let per_s = units.find(|unit| *unit != "IOPS").unwrap_or("IOPS");
    let heads = [
        ("host", Align::Left),
        ("workers", Align::Right),
        (per_s, Align::Right),
        ("MB/s", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("CPU", Align::Right),
        ("link", Align::Right),
        ("late", Align::Right),
        ("trust", Align::Left),
        ("limited by", Align::Left),
    ];
    let mut table = Table::new(&heads);
    rows.iter().for_each(|row| table.row(cells(row)));
    // A column in which no host has a value tells nothing.
    let told = |at: usize| table.rows.iter().any(|row| row[at].holds_value());
    let told: Vec<bool> = (0..heads.len()).map(told).collect();
    let mut nth = told.iter().cycle();
    table.columns.retain(|_| *nth.next().unwrap_or(&true));
    for row in &mut table.rows {
        let mut nth = told.iter();
        row.retain(|_| *nth.next().unwrap_or(&true));
    }
    table
}

fn cells(row: &HostRow) -> Vec<Cell> {
    let ops = row.rates.ops_per_s().map(column::iops).unwrap_or_default();
    let bytes = row.rates.bytes_per_s;
    let bytes = if bytes > 0.0 { column::mb_per_s(bytes) } else { String::new() };
    let late = row.late_ns.filter(|ns| *ns > 0);
    let believe = match (&row.lost, row.verdict) {
        (Some(lost), _) => Cell::toned(format!("lost: {}", lost.why), Tone::Bad),
        (None, Some(verdict)) => Cell::toned(verdict.name(), words::tone(verdict)),
        (None, None) => Cell::from(""),
    };
    let limit = row.limited_by.as_ref().map(ToString::to_string);
    let kernel = row.kernel_of.as_ref().map(|of| format!("kernel of {of}"));
    let about: Vec<String> = limit.into_iter().chain(kernel).collect();
    let link = row.link.as_ref().map(|(_, share)| *share);
    vec![
        cut(&row.host, NAME_COLUMNS_MAX).into(),
        row.workers.to_string().into(),
        ops.into(),
        bytes.into(),
        time(row.latency_ns_p50),
        time(row.latency_ns_p99),
        share(row.cpu_busy),
        share(link),
        time(late),
        believe,
        about.join("; ").into(),
    ]
}

fn time(ns: Option<u64>) -> Cell {
    ns.map(column::time).unwrap_or_default().into()
}

fn share(share: Option<f64>) -> Cell {
    share.map(column::share).unwrap_or_default().into()
}

/// The hosts of the last result of several in a line: their number, how many were lost, the slowest
/// and the fastest.
pub(super) fn line(report: &Report) -> Option<String> {
    let rows = report.judged().rev().find_map(|(phase, judged)| {
        let rows = host_rows(phase, Some(judged));
        (!rows.is_empty()).then_some(rows)
    })?;
    let is_in_bytes = rows.iter().any(|row| row.rates.bytes_per_s > 0.0);
    let rate = |row: &HostRow| {
        if is_in_bytes { row.rates.bytes_per_s } else { row.rates.ops_per_s().unwrap_or(0.0) }
    };
    let text = |row: &HostRow| {
        if is_in_bytes {
            column::rate(rate(row))
        } else {
            let unit = if row.rates.requests_per_s.is_some() { REQUESTS_PER_S } else { "ops/s" };
            format!("{} {unit}", column::iops(rate(row)))
        }
    };
    let stayed = || rows.iter().filter(|row| row.lost.is_none());
    let slowest = stayed().min_by(|a, b| rate(a).total_cmp(&rate(b)));
    let fastest = stayed().max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let range = slowest.zip(fastest).map(|(slow, fast)| {
        format!("{} on {} to {} on {}", text(slow), slow.host, text(fast), fast.host)
    });
    let lost = rows.iter().filter(|row| row.lost.is_some()).count();
    let lost = (lost > 0).then(|| format!("{lost} lost"));
    let parts: Vec<String> = [lost, range].into_iter().flatten().collect();
    Some(format!("{}: {}.", fmt::counted(rows.len() as u64, "host"), parts.join("; ")))
}
