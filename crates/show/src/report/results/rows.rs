//! Rows of the table of results: one per operation that a job did, with all of its numbers.

use candor_plan::work::Figure;
use candor_record::fmt::{REQUESTS_PER_S, column};
use candor_record::{
    HttpStats, Latency, Measurement, OpStats, PhaseJudgement, PhaseRecord, Report, Verdict,
};

use super::{measured, nearest_ceiling, remark};
use crate::layout::{Cell, cut, width};
use crate::style::Tone;
use crate::words;

/// Longest name of a row; the JSON report has it in full.
pub(in super::super) const NAME_COLUMNS_MAX: usize = 44;
/// Room that names keep however narrow the terminal is.
pub(super) const NAME_COLUMNS_MIN: usize = 12;

/// Columns that the path of a target takes in its name.
const PATH_COLUMNS_MAX: usize = 24;

/// A column of numbers. They stand in this order, percentiles by their value.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(in super::super) enum Column {
    Iops,
    /// Requests on objects.
    Requests,
    /// Objects that several requests make up.
    Objects,
    /// Keys of lists and of requests that delete several objects.
    Keys,
    MbPerS,
    MibPerS,
    Mean,
    Percentile(f64),
    Max,
}

impl Column {
    pub const P50: Column = Column::Percentile(50.0);
    pub const P99: Column = Column::Percentile(99.0);
    pub const P99_9: Column = Column::Percentile(99.9);
    /// Rates of operations. Reports of files and devices have the first one only.
    const RATES: [Column; 4] = [Column::Iops, Column::Requests, Column::Objects, Column::Keys];

    /// Rates of operations that rows have.
    pub fn rates(rows: &[Row]) -> Vec<Column> {
        let known = Column::RATES.into_iter().filter(|column| column.is_in(rows));
        let known: Vec<Column> = known.collect();
        if known.is_empty() { vec![Column::Iops] } else { known }
    }

    fn is_in(self, rows: &[Row]) -> bool {
        rows.iter().any(|row| row.numbers.iter().any(|(known, _)| *known == self))
    }

    /// The head of the column.
    pub fn name(self) -> String {
        match self {
            Column::Iops => "IOPS".into(),
            Column::Requests => REQUESTS_PER_S.into(),
            Column::Objects => "objects/s".into(),
            Column::Keys => "keys/s".into(),
            Column::MbPerS => "MB/s".into(),
            Column::MibPerS => "MiB/s".into(),
            Column::Mean => "mean".into(),
            Column::Percentile(p) => format!("p{p}"),
            Column::Max => "max".into(),
        }
    }
}

/// One line of the table, and what is said about it.
#[derive(Default)]
pub(in super::super) struct Row {
    pub name: String,
    /// The name of a phase in full, where the one above may be cut.
    pub full_name: Option<String>,
    /// Operation that it counts; absent where it only adds to the row above.
    pub operation: Option<String>,
    /// Number of latencies; 0 where the row has none.
    pub samples: u64,
    pub numbers: Vec<(Column, Cell)>,
    /// Set in the first row of a phase.
    pub phase: Option<About>,
}

impl Row {
    /// The number of a column; an empty cell where the row has no such number, and a dash where it
    /// is not known.
    pub fn cell(&self, column: Column) -> Cell {
        let cell_of = |wanted| self.numbers.iter().find(|(known, _)| *known == wanted);
        match cell_of(column) {
            Some((_, cell)) => cell.clone(),
            // Its samples do not carry that percentile.
            None if column >= Column::Mean && cell_of(Column::Mean).is_some() => Cell::from("-"),
            None => Cell::default(),
        }
    }
}

/// Facts printed once for a phase.
pub(in super::super) struct About {
    /// The ceiling it came nearest to.
    pub at_most: String,
    /// Share of that ceiling.
    pub used: String,
    pub mark: Cell,
    /// Limit of the phase or what it measured instead, and the findings that say so.
    pub remark: String,
}

impl About {
    fn of(report: &Report, phase: &PhaseRecord, judged: &PhaseJudgement) -> About {
        let [at_most, used] = nearest_ceiling(judged);
        let mark = if measured(phase) {
            Cell::toned(judged.verdict.name(), words::tone(judged.verdict))
        } else {
            Cell::from("-")
        };
        About { at_most, used, mark, remark: remark(report, phase, judged) }
    }
}

/// The rows of all phases that were judged.
pub(in super::super) fn all(report: &Report) -> Vec<Row> {
    report.judged().flat_map(|(phase, judged)| of_phase(report, phase, judged)).collect()
}

/// The rows of a phase: one if it did one kind of thing, else a title and one for each.
pub(super) fn of_phase(report: &Report, phase: &PhaseRecord, judged: &PhaseJudgement) -> Vec<Row> {
    let many_jobs = phase.measurements.len() > 1;
    let rows: Vec<Row> = phase
        .measurements
        .iter()
        .flat_map(|measurement| job_rows(measurement, many_jobs, judged.verdict))
        .collect();
    let mut rows = match rows.iter().filter(|row| row.operation.is_some()).count() {
        // The first row is the phase; what follows (flushes, intended starts) belongs to it.
        1 => rows,
        _ => std::iter::once(Row::default()).chain(rows).collect(),
    };
    let first = &mut rows[0];
    let (name, after) = title(phase, first.operation.as_deref());
    // The end stays: it is what differs.
    first.name = format!("{}{after}", cut(name, NAME_COLUMNS_MAX - width(&after)));
    first.full_name = Some(format!("{name}{after}"));
    first.phase = Some(About::of(report, phase, judged));
    rows
}

/// The name of a phase, with what tells its only row from others.
fn title<'a>(phase: &'a PhaseRecord, operation: Option<&str>) -> (&'a str, String) {
    let operation = operation
        .filter(|name| !phase.name.to_lowercase().contains(*name))
        .map(|name| format!(", {name}"));
    let repeat = (phase.repeat > 0).then(|| format!(" #{}", phase.repeat + 1));
    (&phase.name, [operation, repeat].into_iter().flatten().collect())
}

/// One row per operation that a job did, each followed by what belongs to it.
fn job_rows(measurement: &Measurement, named: bool, verdict: Verdict) -> Vec<Row> {
    let prefix = if named { format!("  {} ", measurement.job) } else { "  ".to_owned() };
    let row = |name: &str, stats: &OpStats, latency: Option<&Latency>| Row {
        name: format!("{prefix}{name}"),
        samples: latency.map_or(0, |latency| latency.count),
        numbers: [
            rates(stats, verdict, measurement.http.as_deref()),
            latencies(stats, latency, verdict),
        ]
        .concat(),
        ..Row::default()
    };
    let mut rows = Vec::new();
    let shown = measurement.shown_operations();
    for stats in shown.iter().filter(|op| op.ops > 0 || op.failed > 0) {
        let operation = Some(stats.name.clone());
        let mut work = Row { operation, ..row(&stats.name, stats, stats.latency.as_ref()) };
        let keys_per_s = keys_per_s(measurement, stats);
        work.numbers
            .extend(keys_per_s.map(|rate| (Column::Keys, cell(Some(column::iops(rate)), verdict))));
        rows.push(work);
        if let Some(latency) = &stats.from_intended {
            let mut late =
                row(&format!("{} from intended start", stats.name), stats, Some(latency));
            late.keep(|column| column >= Column::Mean);
            rows.push(late);
        }
    }
    let is_durable = shown.iter().any(|op| op.figure == Figure::Commit);
    for stats in measurement.operations.iter().filter(|op| match op.figure {
        Figure::Write => is_durable,
        Figure::Commit => !is_durable && op.ops > 0,
        _ => false,
    }) {
        // The write without its flush, or the commits of writes that share a flush.
        let mut part = row(&stats.name, stats, stats.latency.as_ref());
        part.keep(|column| column >= Column::Mean);
        rows.push(part);
    }
    let flushes = measurement.figure(Figure::Flush);
    if flushes.ops > 0 {
        let mut flush = row("flush", &flushes, flushes.latency.as_ref());
        flush.keep(|column| !matches!(column, Column::MbPerS | Column::MibPerS));
        rows.push(flush);
    }
    let opening = measurement.operations.iter();
    for stats in opening.filter(|op| op.figure == Figure::Opening && op.ops > 0) {
        let mut open = row(&stats.name, stats, stats.latency.as_ref());
        open.keep(|column| column >= Column::Mean);
        rows.push(open);
    }
    let items = measurement.operations.iter().filter(|op| op.figure == Figure::Item && op.ops > 0);
    for stats in items {
        let name = match stats.name.as_str() {
            "item" => "each item in all",
            "object" => "whole object",
            _ => "to its first byte",
        };
        let mut item = row(name, stats, stats.latency.as_ref());
        item.keep(|column| !matches!(column, Column::MbPerS | Column::MibPerS));
        rows.push(item);
    }
    rows.extend(target_rows(measurement, &prefix, verdict));
    rows
}

/// Rows of the targets that were counted apart, each operation with the end of the path.
fn target_rows<'a>(
    measurement: &'a Measurement,
    prefix: &'a str,
    verdict: Verdict,
) -> impl Iterator<Item = Row> + 'a {
    let several = measurement.work_operations().filter(|op| op.ops > 0).count() > 1;
    measurement.per_target.iter().flat_map(move |target| {
        let named = if target.path.is_empty() { &target.target } else { &target.path };
        target.operations.iter().filter(|op| op.ops > 0 && op.figure.is_work()).map(move |op| {
            let operation = if several { format!(" {}", op.name) } else { String::new() };
            let stats = OpStats {
                figure: op.figure,
                bytes: op.bytes,
                ops_per_s: op.ops_per_s,
                bytes_per_s: op.bytes_per_s,
                ..OpStats::NONE
            };
            let latency = op.latency.as_ref();
            Row {
                name: format!("{prefix}{}{operation}", end(named, PATH_COLUMNS_MAX)),
                samples: latency.map_or(0, |latency| latency.count),
                numbers: [rates(&stats, verdict, None), latencies(&stats, latency, verdict)]
                    .concat(),
                ..Row::default()
            }
        })
    })
}

/// The end of a text in at most `columns`, its beginning replaced by `…` where it is longer.
fn end(text: &str, columns: usize) -> String {
    match width(text).checked_sub(columns) {
        None | Some(0) => text.to_owned(),
        Some(over) => std::iter::once('…').chain(text.chars().skip(over + 1)).collect(),
    }
}

impl Row {
    fn keep(&mut self, wanted: impl Fn(Column) -> bool) {
        self.numbers.retain(|(column, _)| wanted(*column));
    }
}

/// Keys per second of lists and of requests that delete several objects.
fn keys_per_s(measurement: &Measurement, stats: &OpStats) -> Option<f64> {
    let objects = &measurement.http.as_ref()?.objects;
    let lists = ["list", "list_versions"].map(|name| measurement.operation(name).ops);
    let keys = match stats.name.as_str() {
        // Both kinds of lists of a job have one count.
        "list" | "list_versions" if lists.contains(&0) => objects.keys,
        "delete_many" => objects.keys_deleted,
        _ => return None,
    };
    Some(candor_derive::per_second(keys, measurement.elapsed_ns))
}

fn rates(stats: &OpStats, verdict: Verdict, http: Option<&HttpStats>) -> Vec<(Column, Cell)> {
    // A piece of memory is no I/O, and its size is candor's choice.
    let is_io = stats.figure != Figure::Memory;
    let bytes_per_s = (stats.bytes > 0).then_some(stats.bytes_per_s);
    let unit = match (http, stats.figure) {
        (None, _) => Column::Iops,
        (Some(_), Figure::Item) => Column::Objects,
        (Some(_), _) => Column::Requests,
    };
    vec![
        (unit, cell(is_io.then(|| column::iops(stats.ops_per_s)), verdict)),
        (Column::MbPerS, cell(bytes_per_s.map(column::mb_per_s), verdict)),
        (Column::MibPerS, cell(bytes_per_s.map(column::mib_per_s), verdict)),
    ]
}

fn latencies(stats: &OpStats, latency: Option<&Latency>, verdict: Verdict) -> Vec<(Column, Cell)> {
    let latency = latency.filter(|_| stats.figure != Figure::Memory);
    let time = |ns: Option<u64>| cell(ns.map(column::time), verdict);
    let quoted = latency.map(|latency| latency.percentiles.as_slice()).unwrap_or_default();
    let quoted = quoted.iter().map(|(p, ns)| (Column::Percentile(*p), time(Some(*ns))));
    let mut cells: Vec<_> = quoted.collect();
    let mean = latency.and_then(Latency::valid_mean_ns);
    cells.push((Column::Mean, time(mean.map(|ns| ns.round() as u64))));
    cells.push((Column::Max, time(latency.and_then(Latency::valid_max_ns))));
    cells
}

fn cell(text: Option<String>, verdict: Verdict) -> Cell {
    match text {
        None => Cell::from("-"),
        // A number that measures something else should not look like a result.
        Some(text) if verdict == Verdict::Wrong => Cell::toned(text, Tone::Dim),
        Some(text) => Cell::from(text),
    }
}
