//! The CSV of results: a line per phase in 55 columns. Rates are whole numbers, rounded down.

use candor_record::results::{JobResults, LatencyResults, Load, OpResults, Results};
use csv::StringRecord;

use super::json_lines::words;
use super::{MIB, Phases, Side, access, operations};
use crate::{begin, moment, remark, unix_ms};
use candor_elbencho::output::COLUMNS;

/// A first line of such a file: the names of the columns, or many fields that begin with a moment.
pub fn is_csv(line: &str) -> bool {
    let fields: Vec<&str> = line.split(',').collect();
    fields.len() >= LEAST && (fields[0] == COLUMNS[0] || unix_ms(fields[0]).is_some())
}

/// Columns that every version has had.
const LEAST: usize = 40;

/// A line by the names of its columns.
struct Row<'a> {
    place: String,
    names: &'a [String],
    fields: &'a StringRecord,
}

/// Reads the results.
pub fn read_csv(name: &str, text: &str) -> Result<Results, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        // The tool quotes nothing and turns commas within texts into blanks.
        .quoting(false)
        .from_reader(text.as_bytes());
    let mut names: Vec<String> = COLUMNS.map(str::to_owned).into();
    let mut phases = Phases::default();
    let mut results = begin(name, "elbencho");
    for record in reader.records() {
        let fields = record.map_err(|error| format!("{name}: {error}"))?;
        let line = fields.position().map_or(0, csv::Position::line);
        if fields.get(0) == Some(COLUMNS[0]) {
            names = fields.iter().map(str::to_owned).collect();
            continue;
        }
        let place = format!("{name}:{line}");
        if fields.len() != names.len() {
            let (has, wants) = (fields.len(), names.len());
            return Err(format!("{place}: has {has} fields, and its head has {wants}"));
        }
        let row = Row { place, names: &names, fields: &fields };
        row.add(&mut results, &mut phases)?;
    }
    if phases.all.is_empty() {
        return Err(format!("{name}: has no results"));
    }
    results.conditions.push(remark("precision", "whole MiB/s and IOPS, rounded down by elbencho"));
    results.phases = phases.all;
    Ok(results)
}

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        let at = self.names.iter().position(|name| name == column);
        at.and_then(|at| self.fields.get(at)).unwrap_or_default().trim()
    }

    /// The number in a column; none where the column is not there or empty.
    fn number(&self, column: &str) -> Result<Option<f64>, String> {
        match self.text(column) {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
                _ => Err(format!("{}: `{text}` in column `{column}` is no number", self.place)),
            },
        }
    }

    fn add(&self, results: &mut Results, phases: &mut Phases) -> Result<(), String> {
        let phase = self.text("operation");
        if phase.is_empty() {
            return Err(format!("{}: names no operation", self.place));
        }
        let start = unix_ms(self.text("ISO date"));
        if results.started.is_none() {
            results.started = start.and_then(moment);
            let version = self.text("version");
            results.tool = format!("elbencho {version}").trim().to_owned();
            results.conditions[0].value.clone_from(&results.tool);
            results.command = words(self.text("command"));
        }
        let read = phase.starts_with("RWMIX") || phase.starts_with("MIX-T");
        let read = if read { Some(self.side("rwmix read ")?) } else { None };
        let job = JobResults {
            job: Some(self.text("label"))
                .filter(|l| !l.is_empty())
                .unwrap_or("elbencho")
                .to_owned(),
            load: self.load(phase)?,
            elapsed_ns: self.number("time ms [last]")?.map_or(0, |ms| (ms * 1e6) as u64),
            operations: operations(phase, self.side("")?, read),
            ..JobResults::default()
        };
        phases.push(start, job, phase);
        Ok(())
    }

    fn load(&self, phase: &str) -> Result<Load, String> {
        let whole = |column| Ok::<_, String>(self.number(column)?.map(|number| number as u64));
        let small = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
        let io = access(phase, self.text("random") == "1");
        let hosts = whole("hosts")?.unwrap_or(1).max(1);
        let threads = whole("threads")?.map(|threads| threads.saturating_mul(hosts));
        Ok(Load {
            block_bytes: whole("block size")?.filter(|_| io.is_some()),
            depth: small(whole("IO depth")?.filter(|_| io.is_some())),
            access: io,
            workers: small(threads),
            ..Load::default()
        })
    }

    fn side(&self, prefix: &str) -> Result<Side, String> {
        let last = |name: &str| self.number(&format!("{prefix}{name} [last]"));
        // Less than a whole MiB is written as 0.
        let mib =
            |name: &str| Ok::<_, String>(last(name)?.filter(|mib| *mib > 0.0).map(|n| n * MIB));
        Ok(Side {
            entries: OpResults {
                ops: last("entries")?.map(|count| count as u64),
                ops_per_s: last("entries/s")?,
                latency: self.latency(&format!("{prefix}Ent lat us"))?,
                ..OpResults::default()
            },
            io: OpResults {
                bytes: mib("MiB")?.map(|bytes| bytes as u64),
                ops_per_s: last("IOPS")?,
                bytes_per_s: mib("MiB/s")?,
                latency: self.latency(&format!("{prefix}IO lat us"))?,
                ..OpResults::default()
            },
        })
    }

    fn latency(&self, prefix: &str) -> Result<Option<LatencyResults>, String> {
        let ns = |end: &str| {
            let us = self.number(&format!("{prefix} [{end}]"))?;
            Ok::<_, String>(us.map(|us| us * 1000.0))
        };
        let whole = |ns: Option<f64>| ns.map(|ns| ns.round() as u64);
        let (min, mean, max) = (whole(ns("min")?), ns("avg")?, whole(ns("max")?));
        let latency =
            LatencyResults { mean_ns: mean, min_ns: min, max_ns: max, ..LatencyResults::default() };
        Ok(Some(latency).filter(|_| mean.is_some()))
    }
}
