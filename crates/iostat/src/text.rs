//! Reports as text, in iostat's columns.

use super::Host;
use super::columns::{self, Column, Value};
use super::options::{Options, Unit};
use super::rows::{Report, Row};

/// Width of a name before the columns.
const NAME_WIDTH: usize = 13;

/// The line before all reports.
pub(super) fn head(host: &Host) -> String {
    let Host { nodename, sysname, release, machine, cpus, date } = host;
    format!("{sysname} {release} ({nodename}) \t{date} \t_{machine}_\t({cpus} CPU)\n\n")
}

pub(super) fn report(options: &Options, report: &Report, timestamp: Option<&str>) -> String {
    let mut text = timestamp.map_or(String::new(), |timestamp| format!("{timestamp}\n"));
    if options.cpu {
        text += &cpu(options, &report.cpu);
    }
    if options.devices {
        text += &devices(options, &report.rows);
    }
    // A report without devices ends with an additional blank line.
    text + if options.devices { "\n" } else { "\n\n" }
}

fn cpu(options: &Options, percent: &[f64; 6]) -> String {
    let mut text = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n       ".to_owned();
    for value in percent {
        text += &cell(options, &Value::Percent(*value), 7);
    }
    text + "\n\n"
}

fn devices(options: &Options, rows: &[Row]) -> String {
    let blocks = columns::of_text(options);
    if options.pretty && !options.compact {
        return blocks.iter().map(|block| table(options, &[block], rows)).collect();
    }
    table(options, blocks, rows)
}

/// A title line, a line for each row, and a blank line.
fn table(options: &Options, blocks: &[&[Column]], rows: &[Row]) -> String {
    let columns = || blocks.iter().copied().flatten();
    let line = |name: &str, cells: String| {
        if options.pretty {
            format!("{cells} {name}\n")
        } else {
            format!("{name:<NAME_WIDTH$}{cells}\n")
        }
    };
    let titles = columns().map(|column| {
        let width = column.width;
        format!(" {:>width$}", column.title(options))
    });
    let mut text = line("Device", titles.collect());
    for row in rows {
        let cells = columns().map(|column| {
            let value = (column.value)(&row.did);
            cell(options, &value, column.width)
        });
        text += &line(&row.name, cells.collect());
    }
    text + "\n"
}

/// A value in its column, with the preceding blank.
fn cell(options: &Options, value: &Value, width: usize) -> String {
    let decimals = options.decimals;
    let text = match value {
        Value::Plain(value) => format!("{value:.decimals$}"),
        Value::Percent(value) if options.human => format!("{value:.*}%", decimals.min(1)),
        Value::Percent(value) => format!("{value:.decimals$}"),
        Value::Sectors(sectors) if options.human => human(*sectors, decimals),
        Value::Sectors(sectors) => format!("{:.decimals$}", in_unit(*sectors, options.unit)),
        Value::Total(sectors) if options.human => human(*sectors as f64, decimals),
        Value::Total(sectors) => whole(*sectors, options.unit).to_string(),
        Value::Size(sectors) if options.human => human(*sectors, decimals),
        Value::Size(sectors) => format!("{:.decimals$}", sectors / 2.0),
    };
    format!(" {text:>width$}")
}

pub(super) fn in_unit(sectors: f64, unit: Unit) -> f64 {
    match unit {
        Unit::Sector => sectors,
        Unit::Kilo => sectors / 2.0,
        Unit::Mega => sectors / 2048.0,
    }
}

/// Whole units, rounded down.
pub(super) fn whole(sectors: u64, unit: Unit) -> u64 {
    match unit {
        Unit::Sector => sectors,
        Unit::Kilo => sectors / 2,
        Unit::Mega => sectors / 2048,
    }
}

/// With its unit, from kB on.
fn human(sectors: f64, decimals: usize) -> String {
    const UNITS: [char; 6] = ['k', 'M', 'G', 'T', 'P', 'E'];
    let mut value = sectors / 2.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.*}{}", decimals.min(1), UNITS[unit])
}
