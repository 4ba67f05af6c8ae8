//! The table of results: two columns, and rows by kind of phase.

use candor_record::Latency;

use super::figures::{Column, Figures, Latencies, Side};
use super::numbers::{Bucket, bound_us, bounds, buckets, elapsed, latency};
use crate::elbencho::setup::{PathKind, Setup};

/// The head of the table.
pub const HEADER: &str = "\
OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
";

/// The line below each phase.
const END: &str = "---\n";

/// Rows of one phase, as they are added.
struct Rows<'a> {
    /// Name of the phase until its first row is written.
    name: &'a str,
    text: String,
}

impl Rows<'_> {
    fn label(&mut self, label: &str) {
        let name = std::mem::take(&mut self.name);
        self.text += &format!("{name:<12}{label:<17}:");
    }

    /// A row with both columns.
    fn pair(&mut self, label: &str, [first, last]: [String; 2]) {
        self.label(label);
        self.text += &format!("{first:>12}{last:>12}\n");
    }

    /// A row of whole numbers; fractions are left out.
    fn numbers(&mut self, label: &str, values: [f64; 2]) {
        self.pair(label, values.map(|value| format!("{}", value as u64)));
    }

    /// A row with a list.
    fn list(&mut self, label: &str, items: &[String]) {
        self.label(label);
        self.text += &format!(" [ {} ]\n", items.join(" "));
    }
}

/// The rows of a phase, and the line below them.
pub fn phase(setup: &Setup, name: &str, figures: &Figures) -> String {
    let mut rows = Rows { name, text: String::new() };
    let columns = [&figures.first, &figures.last];
    rows.pair("Elapsed time", columns.map(|column| elapsed(column.elapsed_ns)));
    if figures.is_mix {
        mixed(&mut rows, setup, figures);
    } else {
        plain(&mut rows, setup, figures);
    }
    if setup.asked.output.cpu {
        let cpu = columns.map(|column| column.cpu_percent);
        if let [Some(first), Some(last)] = cpu {
            rows.numbers("CPU util %", [first as f64, last as f64]);
        }
    }
    if setup.asked.output.all_elapsed {
        let each: Vec<String> = figures.each_ms.iter().map(u64::to_string).collect();
        rows.list("Time ms each", &each);
    }
    if setup.asked.output.hosts_elapsed {
        let each = figures.each_host.iter().map(|(host, ms)| format!("{host}={ms}"));
        rows.list("Svc compl. time", &each.collect::<Vec<_>>());
    }
    if setup.asked.output.hosts_round_trip {
        let each = figures.each_round_trip.iter().map(|(host, us)| format!("{host}={us}"));
        rows.list("Svc ping us", &each.collect::<Vec<_>>());
    }
    let (main, read) = if figures.is_mix { ("wr ", "rd ") } else { ("", "") };
    latencies(&mut rows, setup, figures, &figures.main, main);
    if figures.is_mix {
        latencies(&mut rows, setup, figures, &figures.read, read);
    }
    rows.text + END
}

/// Directories that were completed, where they are asked for: a row of rates, or of totals.
fn dirs(rows: &mut Rows, figures: &Figures, label: &str, value: fn(&Column) -> Option<f64>) {
    if let [Some(first), Some(last)] = [&figures.first, &figures.last].map(value) {
        rows.numbers(label, [first, last]);
    }
}

fn dirs_total(column: &Column) -> Option<f64> {
    Some(column.dirs? as f64)
}

/// Rates and totals of a phase that reads, or writes, or neither.
fn plain(rows: &mut Rows, setup: &Setup, figures: &Figures) {
    let sides = [&figures.first.main, &figures.last.main];
    let unit = Unit::of(setup);
    if let Some(noun) = figures.noun {
        rows.numbers(&format!("{}/s", noun.word()), sides.map(Side::entries_per_s));
    }
    dirs(rows, figures, "Dirs/s", Column::dirs_per_s);
    if figures.moves {
        if !one_block_per_file(setup) {
            rows.numbers("IOPS", sides.map(Side::ios_per_s));
        }
        let rate = |side: &Side| side.bytes_per_s() / unit.bytes;
        rows.numbers(&format!("Throughput {}/s", unit.name), sides.map(rate));
        let total = |side: &Side| side.bytes as f64 / unit.bytes;
        rows.numbers(&format!("Total {}", unit.name), sides.map(total));
    }
    if let Some(noun) = figures.noun {
        rows.numbers(&format!("{} total", noun.word()), sides.map(|side| side.entries as f64));
    }
    dirs(rows, figures, "Dirs total", dirs_total);
    if figures.moves && setup.asked.run.log_level > 0 {
        rows.numbers("IOs total", sides.map(|side| side.ios as f64));
    }
}

/// Rates and totals of a phase that reads and writes: each apart, and both together.
fn mixed(rows: &mut Rows, setup: &Setup, figures: &Figures) {
    let columns = [&figures.first, &figures.last];
    let unit = Unit::of(setup);
    let mut three = |label: &str, total: &str, value: &dyn Fn(&Side) -> f64| {
        let [write, read] =
            [columns.map(|column| value(&column.main)), columns.map(|column| value(&column.read))];
        rows.numbers(&format!("{label} write"), write);
        rows.numbers(&format!("{label} read"), read);
        rows.numbers(total, [write[0] + read[0], write[1] + read[1]]);
    };
    if let Some(noun) = figures.noun {
        let label = format!("{}/s", noun.word());
        three(&label, &format!("{label} total"), &Side::entries_per_s);
    }
    if !one_block_per_file(setup) {
        three("IOPS", "IOPS total", &Side::ios_per_s);
    }
    let rate = |side: &Side| side.bytes_per_s() / unit.bytes;
    three(&format!("{}/s", unit.name), &format!("Throughput {}/s", unit.name), &rate);
    let size = |side: &Side| side.bytes as f64 / unit.bytes;
    three(unit.name, &format!("Total {}", unit.name), &size);
    if let Some(noun) = figures.noun {
        let entries = columns.map(|column| (column.main.entries + column.read.entries) as f64);
        rows.numbers(&format!("{} total", noun.word()), entries);
    }
    if setup.asked.run.log_level > 0 {
        let ios = columns.map(|column| (column.main.ios + column.read.ios) as f64);
        rows.numbers("IOs total", ios);
    }
    dirs(rows, figures, "Dirs/s", Column::dirs_per_s);
    dirs(rows, figures, "Dirs total", dirs_total);
}

fn latencies(rows: &mut Rows, setup: &Setup, figures: &Figures, of: &Latencies, which: &str) {
    let noun = figures.noun.map_or("", |noun| noun.word());
    for (head, found) in [(noun, &of.entries), ("IO", &of.ios)] {
        if let Some(found) = found {
            one_latency(rows, setup, &format!("{which}{head}"), found);
        }
    }
}

fn one_latency(rows: &mut Rows, setup: &Setup, head: &str, of: &Latency) {
    let asked = &setup.asked.output;
    if asked.latency {
        let figures = [("min", of.min_ns as f64), ("avg", of.mean_ns), ("max", of.max_ns as f64)];
        let items = figures.map(|(name, ns)| format!("{name}={}", latency(ns)));
        rows.list(&format!("{head} latency"), &items);
    }
    if asked.percentiles {
        rows.list(&format!("{head} lat % us"), &bounds(of, asked.percentile_nines));
    }
    if asked.histogram {
        let of_bucket = |bucket: Bucket| format!("{}: {}", bound_us(bucket.below_ns), bucket.count);
        let items: Vec<String> = buckets(of).into_iter().map(of_bucket).collect();
        rows.list(&format!("{head} lat hist"), &[items.join(", ")]);
    }
}

/// True for small files of one block each, whose blocks are no second figure.
fn one_block_per_file(setup: &Setup) -> bool {
    setup.path_kind == PathKind::Directory && setup.file_bytes == setup.block_bytes
}

/// Unit of bytes.
struct Unit {
    name: &'static str,
    bytes: f64,
}

impl Unit {
    fn of(setup: &Setup) -> Unit {
        match setup.asked.output.base10 {
            true => Unit { name: "MB", bytes: 1e6 },
            false => Unit { name: "MiB", bytes: 1_048_576.0 },
        }
    }
}
