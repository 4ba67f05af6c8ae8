//! The CSV of a run that goes on: a line per interval for all workers, in 17 columns.

use candor_record::results::{Interval, JobResults, Load, Results};

use super::{MIB, Phases, Side, io, operations};
use crate::{begin, intervals, moment, unix_ms};

/// Names of the first columns.
const HEAD: &str = "ISO Date,Label,Phase,RuntimeMS,";

/// A first line of such a file.
pub fn is_live(line: &str) -> bool {
    line.starts_with(HEAD)
}

/// Fields of the line of all workers.
#[derive(Debug)]
struct Row<'a> {
    date: &'a str,
    label: &'a str,
    phase: &'a str,
    runtime_ms: u64,
    /// `Read` for the reads of a mix.
    mix: &'a str,
    bytes: u64,
    mib_per_s: f64,
    ios_per_s: f64,
    entries: u64,
    entries_per_s: f64,
    entry_us: f64,
    io_us: f64,
    active: Option<u32>,
}

impl Row<'_> {
    /// True for the reads of a mix.
    fn is_read(&self) -> bool {
        self.mix.eq_ignore_ascii_case("read")
    }

    /// The line, if it is one of all workers.
    fn read<'a>(fields: &[&'a str]) -> Result<Option<Row<'a>>, String> {
        if text(fields, 4) != "Total" {
            return Ok(None);
        }
        Ok(Some(Row {
            date: text(fields, 0),
            label: text(fields, 1),
            phase: text(fields, 2),
            runtime_ms: number(fields, 3)? as u64,
            mix: text(fields, 5),
            bytes: number(fields, 7)? as u64,
            mib_per_s: number(fields, 8)?,
            ios_per_s: number(fields, 9)?,
            entries: number(fields, 10)? as u64,
            entries_per_s: number(fields, 11)?,
            entry_us: number(fields, 12)?,
            io_us: number(fields, 13)?,
            active: Some(number(fields, 14)? as u32).filter(|active| *active > 0),
        }))
    }
}

fn text<'a>(fields: &[&'a str], at: usize) -> &'a str {
    fields.get(at).map_or("", |field| field.trim())
}

/// The number in a field; 0 if the field is empty.
fn number(fields: &[&str], at: usize) -> Result<f64, String> {
    match text(fields, at) {
        "" => Ok(0.0),
        text => match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => Err(format!("`{text}` in field {} is no number", at + 1)),
        },
    }
}

/// A phase as far as it was read.
#[derive(Default)]
struct Phase {
    name: String,
    label: String,
    start_unix_ms: Option<u64>,
    runtime_ms: u64,
    workers: Option<u32>,
    /// The work, and the reads of a mix.
    sides: [Side; 2],
    /// End of the last interval of each.
    ends_ms: [u64; 2],
    is_mix: bool,
}

/// Reads the results.
pub fn read_live(name: &str, text: &str) -> Result<Results, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .quoting(false)
        .from_reader(text.as_bytes());
    let mut phases = Phases::default();
    let mut current: Option<Phase> = None;
    for record in reader.records() {
        let fields = record.map_err(|error| format!("{name}: {error}"))?;
        let line = fields.position().map_or(0, csv::Position::line);
        let fields: Vec<&str> = fields.iter().collect();
        let row = Row::read(&fields).map_err(|why| format!("{name}:{line}: {why}"))?;
        let Some(row) = row else { continue };
        if !current.as_ref().is_some_and(|phase| {
            let end_ms = phase.ends_ms[usize::from(row.is_read())];
            phase.name == row.phase && row.runtime_ms > end_ms
        }) {
            current.take().into_iter().for_each(|phase| phase.end(&mut phases));
            current = Some(Phase::begin(&row));
        }
        current.iter_mut().for_each(|phase| phase.add(&row));
    }
    current.into_iter().for_each(|phase| phase.end(&mut phases));
    let started = phases.all.first().and_then(|phase| moment(phase.start_unix_ms?));
    if phases.all.is_empty() {
        Err(format!(
            "{name}: it holds no interval; every phase of the run ended before the first one, so \
             use a longer run or a shorter --liveint"
        ))
    } else {
        Ok(Results { started, phases: phases.all, ..begin(name, "elbencho") })
    }
}

impl Phase {
    fn begin(row: &Row<'_>) -> Phase {
        Phase {
            name: row.phase.to_owned(),
            label: row.label.to_owned(),
            start_unix_ms: unix_ms(row.date).map(|at| at.saturating_sub(row.runtime_ms)),
            ..Phase::default()
        }
    }

    fn add(&mut self, row: &Row<'_>) {
        let at = usize::from(row.is_read());
        self.is_mix |= at == 1;
        self.workers = self.workers.max(row.active);
        self.runtime_ms = self.runtime_ms.max(row.runtime_ms);
        let begin_ms = std::mem::replace(&mut self.ends_ms[at], row.runtime_ms);
        let ns = |ms: u64| ms.saturating_mul(1_000_000);
        let interval = |rate: f64, bytes: Option<f64>, us: f64| Interval {
            start_ns: ns(begin_ms),
            length_ns: ns(row.runtime_ms - begin_ms),
            ops_per_s: Some(rate),
            bytes_per_s: bytes,
            latency_ns_mean: Some(us * 1000.0).filter(|ns| *ns > 0.0),
            ..Interval::default()
        };
        let side = &mut self.sides[at];
        side.entries.ops = Some(row.entries);
        side.entries.intervals.push(interval(row.entries_per_s, None, row.entry_us));
        if io(&self.name).is_some() {
            let bytes_per_s = Some(row.mib_per_s * MIB);
            side.io.bytes = Some(row.bytes);
            side.io.intervals.push(interval(row.ios_per_s, bytes_per_s, row.io_us));
        }
    }

    fn end(mut self, phases: &mut Phases) {
        let elapsed_ns = self.runtime_ms.saturating_mul(1_000_000);
        for side in &mut self.sides {
            let seconds = elapsed_ns as f64 / 1e9;
            let amount =
                |count: Option<u64>| Some(count? as f64 / seconds).filter(|r| r.is_finite());
            // Amounts until the end are exact; rates of the intervals are whole numbers.
            side.entries.ops_per_s = amount(side.entries.ops);
            side.io.bytes_per_s = amount(side.io.bytes);
            intervals::fill(&mut side.entries);
            intervals::fill(&mut side.io);
        }
        let [main, read]: [Side; 2] = self.sides;
        let job = JobResults {
            job: if self.label.is_empty() { "elbencho".to_owned() } else { self.label },
            load: Load { workers: self.workers, ..Load::default() },
            elapsed_ns,
            operations: operations(&self.name, main, self.is_mix.then_some(read)),
            ..JobResults::default()
        };
        phases.push(self.start_unix_ms, job, &self.name);
    }
}
