//! The table of a sweep, and where more no longer paid.

use candor_record::fmt::{self, column};
use candor_record::{Report, Sweep, SweepKey, SweepRow};

use crate::layout::{Align, Cell, Page, Table};
use crate::style::{Style, Tone};
use crate::words;

/// The table with a heading, and a sentence for each knee.
pub(super) fn section(page: &mut Page, report: &Report) {
    let Some(sweep) = &report.judgement.sweep else { return };
    let keys: Vec<&str> = sweep.keys.iter().map(|key| key.name()).collect();
    page.heading(&format!("Sweep of {}", keys.join(" and ")));
    for line in table(sweep, sweep.rows.len()).lines(page.style) {
        page.line(&line);
    }
    if !sweep.knees.is_empty() {
        page.blank();
    }
    sweep.knees.iter().for_each(|knee| page.paragraph("", &knee.sentence));
}

/// The table in so many lines at most.
pub(super) fn brief(style: &Style, sweep: &Sweep, lines_max: usize) -> Vec<String> {
    let all = sweep.rows.len();
    let shown = if all < lines_max { all } else { lines_max.saturating_sub(2) };
    let more = (all > shown).then(|| format!("… and {} more rows", all - shown));
    table(sweep, shown).lines(style).into_iter().chain(more).collect()
}

/// The first so many rows.
pub(super) fn table(sweep: &Sweep, rows: usize) -> Table {
    let numbers = ["IOPS", "MB/s", "mean", "p99", "gain"].map(|name| (name, Align::Right));
    let key = |key: &SweepKey| match key {
        SweepKey::Rw => (key.name(), Align::Left),
        _ => (key.name(), Align::Right),
    };
    let mut columns: Vec<_> = sweep.keys.iter().map(key).collect();
    columns.extend(numbers);
    columns.push(("trust", Align::Left));
    let mut table = Table::new(&columns);
    sweep.rows.iter().take(rows).for_each(|row| table.row(cells(row)));
    table
}

fn cells(row: &SweepRow) -> Vec<Cell> {
    let absent = || "-".to_owned();
    let time = |ns: Option<u64>| ns.map_or_else(absent, column::time);
    let moves_bytes = row.bytes_per_s > 0.0;
    let values = row.values.iter().map(|value| Cell::from(value.as_str()));
    let numbers = [
        column::iops(row.ops_per_s),
        if moves_bytes { column::mb_per_s(row.bytes_per_s) } else { absent() },
        time(row.latency_ns_mean.map(|ns| ns.round() as u64)),
        time(row.latency_ns_p99),
        row.gain.map(|gain| format!("{}×", fmt::number(gain))).unwrap_or_default(),
    ];
    // A number that measures something else should not look like a result.
    let is_else = words::tone(row.verdict) == Tone::Bad;
    let number = |text: String| if is_else { Cell::toned(text, Tone::Dim) } else { text.into() };
    let mark = Cell::toned(row.verdict.name(), words::tone(row.verdict));
    values.chain(numbers.map(number)).chain([mark]).collect()
}
