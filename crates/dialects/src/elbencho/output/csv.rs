//! Results as lines of CSV: 55 columns in elbencho's order.

use super::figures::{Column, Figures, Latencies, Side};
use super::numbers::microseconds;
use super::{Moment, VERSION};
use crate::elbencho::setup::{PathKind, Setup};

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

/// The head of a file.
pub fn header() -> String {
    COLUMNS.join(",") + "\n"
}

/// Text for a file that has the given first line so far; empty text for an empty file.
///
/// # Errors
/// A sentence, where the file has another number of columns.
pub fn head_for(file: &str, first_line: &str, labels: bool) -> Result<String, String> {
    let columns = first_line.trim_end().split(',').count();
    match first_line.is_empty() {
        true if labels => Ok(header()),
        true => Ok(String::new()),
        false if columns == COLUMNS.len() => Ok(String::new()),
        false => Err(format!(
            "{file} has {columns} columns and results have {}: name another file, or move this \
             one away",
            COLUMNS.len()
        )),
    }
}

/// Commas and line ends separate: within a text they become blanks.
fn text(text: &str) -> String {
    text.replace([',', '\n', '\r'], " ")
}

/// The line of a phase.
pub fn line(setup: &Setup, name: &str, figures: &Figures, now: &Moment) -> String {
    let asked = &setup.asked;
    // Those of a list are no numbers of each worker.
    let is_tree = setup.path_kind == PathKind::Directory && setup.listed.is_none();
    let in_tree = |count: u64| if is_tree { count.to_string() } else { String::new() };
    let bit = |is: bool| String::from(if is { "1" } else { "0" });
    let aligned = match asked.access.random {
        true => bit(!asked.access.random_unaligned),
        false => String::new(),
    };
    let mut fields = vec![
        now.iso(),
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
        aligned,
        asked.io.depth.to_string(),
        bit(!asked.hosts.own_data),
        bit(asked.io.truncate),
        text(name),
    ];
    let columns = [&figures.first, &figures.last];
    fields.extend(columns.map(|column| (column.elapsed_ns / 1_000_000).to_string()));
    let main = columns.map(|column| &column.main);
    let shown = Shown::of(figures);
    fields.extend(rates(&shown, main));
    fields.extend(columns.map(cpu));
    fields.extend(totals(&shown, main));
    fields.extend(latencies(&figures.main));
    let read = columns.map(|column| &column.read);
    let shown = Shown::of(figures).only(figures.is_mix);
    fields.extend(rates(&shown, read));
    fields.extend(totals(&shown, read));
    fields.extend(latencies(&figures.read));
    fields.push(VERSION.into());
    fields.push(text(&asked.command.join(" ")));
    fields.join(",") + "\n"
}

/// Figures that a phase has; the fields of others stay empty.
struct Shown {
    entries: bool,
    blocks: bool,
}

impl Shown {
    fn of(figures: &Figures) -> Shown {
        Shown { entries: figures.noun.is_some(), blocks: figures.moves }
    }

    fn only(self, shown: bool) -> Shown {
        Shown { entries: self.entries && shown, blocks: self.blocks && shown }
    }
}

fn whole(shown: bool, value: f64) -> String {
    if shown { (value as u64).to_string() } else { String::new() }
}

/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

fn rates(shown: &Shown, sides: [&Side; 2]) -> Vec<String> {
    let entries = sides.map(|side| whole(shown.entries, side.entries_per_s()));
    let ios = sides.map(|side| whole(shown.blocks, side.ios_per_s()));
    let bytes = sides.map(|side| whole(shown.blocks, side.bytes_per_s() / MIB));
    [entries, ios, bytes].concat()
}

fn totals(shown: &Shown, sides: [&Side; 2]) -> Vec<String> {
    let entries = sides.map(|side| whole(shown.entries, side.entries as f64));
    let bytes = sides.map(|side| whole(shown.blocks, side.bytes as f64 / MIB));
    [entries, bytes].concat()
}

fn cpu(column: &Column) -> String {
    column.cpu_percent.map_or(String::new(), |percent| percent.to_string())
}

fn latencies(of: &Latencies) -> Vec<String> {
    let three = |latency: &Option<candor_record::Latency>| match latency {
        None => [const { String::new() }; 3],
        Some(latency) => {
            [latency.min_ns as f64, latency.mean_ns, latency.max_ns as f64].map(microseconds)
        }
    };
    [three(&of.entries), three(&of.ios)].concat()
}
