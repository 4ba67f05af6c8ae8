//! Results as lines of CSV: 55 columns in elbencho's order.

use super::figures::{Figures, Latencies, Side};
use super::numbers::whole_us;
use super::{MIB, Moment, VERSION};
use crate::setup::{PathKind, Setup};

/// Names of the columns.
pub const COLUMNS: [&str; 55] = [
    "ISO date",
    "label",
    "path type",
    "paths",
    "hosts",
    "threads",
    "dirs",
    "files",
    "file size",
    "block size",
    "direct IO",
    "random",
    "random aligned",
    "IO depth",
    "shared paths",
    "truncate",
    "operation",
    "time ms [first]",
    "time ms [last]",
    "entries/s [first]",
    "entries/s [last]",
    "IOPS [first]",
    "IOPS [last]",
    "MiB/s [first]",
    "MiB/s [last]",
    "CPU% [first]",
    "CPU% [last]",
    "entries [first]",
    "entries [last]",
    "MiB [first]",
    "MiB [last]",
    "Ent lat us [min]",
    "Ent lat us [avg]",
    "Ent lat us [max]",
    "IO lat us [min]",
    "IO lat us [avg]",
    "IO lat us [max]",
    "rwmix read entries/s [first]",
    "rwmix read entries/s [last]",
    "rwmix read IOPS [first]",
    "rwmix read IOPS [last]",
    "rwmix read MiB/s [first]",
    "rwmix read MiB/s [last]",
    "rwmix read entries [first]",
    "rwmix read entries [last]",
    "rwmix read MiB [first]",
    "rwmix read MiB [last]",
    "rwmix read Ent lat us [min]",
    "rwmix read Ent lat us [avg]",
    "rwmix read Ent lat us [max]",
    "rwmix read IO lat us [min]",
    "rwmix read IO lat us [avg]",
    "rwmix read IO lat us [max]",
    "version",
    "command",
];

/// Header of a file.
pub fn header() -> String {
    COLUMNS.join(",") + "\n"
}

/// Text to append to a file with this first line; the text includes the header if the file is
/// empty.
///
/// # Errors
/// The file has another number of columns; the error is a sentence.
pub fn head_for(file: &str, first_line: &str, labels: bool) -> Result<String, String> {
    let columns = first_line.trim_end().split(',').count();
    if first_line.is_empty() {
        return Ok(if labels { header() } else { String::new() });
    }
    if columns == COLUMNS.len() {
        return Ok(String::new());
    }
    Err(format!(
        "{file} has {columns} columns and results have {}: name another file, or move this one \
         away",
        COLUMNS.len()
    ))
}

/// Replaces separators, commas and line ends, by blanks.
fn text(text: &str) -> String {
    text.replace([',', '\n', '\r'], " ")
}

/// The command line as a field: quoted words, each with a trailing blank.
pub fn command(setup: &Setup) -> String {
    let words = setup.asked.command.iter().map(|word| format!("\"{word}\" "));
    text(&words.collect::<String>())
}

/// The line of a phase.
pub fn line(setup: &Setup, name: &str, figures: &Figures, now: &Moment) -> String {
    let asked = &setup.asked;
    let in_tree = |count: u64| match setup.path_kind {
        PathKind::Directory => count.to_string(),
        _ => String::new(),
    };
    let mut fields = vec![
        now.start(figures),
        text(&asked.run.label),
        setup.path_kind.word().into(),
        asked.paths.len().to_string(),
        asked.hosts.hosts().to_string(),
        asked.run.threads.to_string(),
        in_tree(asked.tree.dirs),
        in_tree(asked.tree.files),
        setup.file_bytes.to_string(),
        setup.block_bytes.to_string(),
        bit(asked.io.direct),
        bit(asked.access.random),
        only(asked.access.random, bit(!asked.access.random_unaligned)),
        asked.io.depth.to_string(),
        only(!asked.hosts.list.is_empty(), bit(!asked.hosts.own_data)),
        only(setup.path_kind != PathKind::BlockDevice, bit(asked.io.truncate)),
        text(name),
    ];
    let columns = [&figures.first, &figures.last];
    fields.extend(columns.map(|column| (column.elapsed_ns / 1_000_000).to_string()));
    fields.extend(rates(figures.main()));
    fields.extend(columns.map(|column| column.cpu_percent.unwrap_or(0).to_string()));
    fields.extend(totals(figures.main()));
    fields.extend(latencies(&figures.main));
    fields.extend(rates(figures.read()));
    fields.extend(totals(figures.read()));
    fields.extend(latencies(&figures.read));
    fields.push(VERSION.into());
    fields.push(command(setup));
    fields.join(",") + "\n"
}

fn bit(is: bool) -> String {
    String::from(if is { "1" } else { "0" })
}

/// The field if it applies, or an empty one.
fn only(applies: bool, field: String) -> String {
    if applies { field } else { String::new() }
}

/// Both columns of a value; empty if the phase has no such operation.
fn pair(sides: [&Side; 2], count: fn(&Side) -> u64, value: fn(&Side) -> f64) -> [String; 2] {
    let is_done = count(sides[1]) > 0;
    sides.map(|side| if is_done { (value(side) as u64).to_string() } else { String::new() })
}

fn rates(sides: [&Side; 2]) -> Vec<String> {
    let entries = pair(sides, |side| side.entries, Side::entries_per_s);
    let ios = pair(sides, |side| side.ios, Side::ios_per_s);
    let bytes = pair(sides, |side| side.bytes, |side| side.bytes_per_s() / MIB);
    [entries, ios, bytes].concat()
}

fn totals(sides: [&Side; 2]) -> Vec<String> {
    let entries = pair(sides, |side| side.entries, |side| side.entries as f64);
    let bytes = pair(sides, |side| side.bytes, |side| side.bytes as f64 / MIB);
    [entries, bytes].concat()
}

fn latencies(of: &Latencies) -> Vec<String> {
    [&of.entries, &of.ios].map(|latency| three(latency.as_ref())).concat()
}

/// Minimum, mean and maximum; empty fields without a latency.
fn three(latency: Option<&candor_record::Latency>) -> [String; 3] {
    let Some(latency) = latency else { return [const { String::new() }; 3] };
    [latency.min_ns as f64, latency.mean_ns, latency.max_ns as f64]
        .map(|ns| whole_us(ns).to_string())
}
