//! The table of results: two columns, and rows by kind of phase.

use candor_record::Latency;

use super::MIB;
use super::figures::{EntryNoun, Figures, MixKind, Side};
use super::numbers::{bounds, buckets, elapsed, latency};
use crate::setup::{PathKind, Setup};

/// The head of the table.
pub const HEADER: &str = "\
OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
";

/// The separator after each phase.
const END: &str = "---\n";

/// Rows of one phase, as they are added.
struct Rows<'a> {
    /// Name of the phase, until its first row is written.
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

    /// A row of integers, rounded down.
    fn numbers(&mut self, label: &str, values: [f64; 2]) {
        self.pair(label, values.map(|value| format!("{}", value as u64)));
    }

    /// A row of integers, unless both are 0.
    fn counted(&mut self, count: u64, label: &str, values: [f64; 2]) {
        if count > 0 {
            self.numbers(label, values);
        }
    }

    /// Completed directories, counted by their files, if requested.
    fn dirs(&mut self, figures: &Figures, count: u64, label: &str, files: [f64; 2]) {
        if let Some(each) = figures.files_per_dir {
            self.counted(count, label, files.map(|files| files / each as f64));
        }
    }

    /// A row with a list.
    fn list(&mut self, label: &str, items: &[String]) {
        self.label(label);
        self.text += &format!(" [ {} ]\n", items.join(" "));
    }
}

/// The rows of a phase, and the separator.
pub fn phase(setup: &Setup, name: &str, figures: &Figures) -> String {
    let mut rows = Rows { name, text: String::new() };
    let columns = [&figures.first, &figures.last];
    rows.pair("Elapsed time", columns.map(|column| elapsed(column.elapsed_ns)));
    rates(&mut rows, setup, figures);
    totals(&mut rows, setup, figures);
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
    let has_hosts = !setup.asked.hosts.list.is_empty();
    if setup.asked.output.hosts_elapsed && has_hosts {
        let each = figures.each_host.iter().map(|(host, ns)| format!("{host}={}", elapsed(*ns)));
        rows.list("Svc compl. time", &each.collect::<Vec<_>>());
    }
    if setup.asked.output.hosts_round_trip && has_hosts {
        let each = figures.each_round_trip.iter().map(|(host, us)| format!("{host}={us}"));
        rows.list("Svc ping us", &each.collect::<Vec<_>>());
    }
    latencies(&mut rows, setup, figures);
    rows.text + END
}

/// Rates: entries, completed directories, blocks and bytes. Rows without operations are omitted.
fn rates(rows: &mut Rows, setup: &Setup, figures: &Figures) {
    let unit = Unit::of(setup);
    let by_workers = figures.mix == MixKind::Workers;
    let both = |value: &dyn Fn(&Side) -> f64| {
        [figures.main().map(value), figures.read().map(value)].map(|pair| pair.map(f64::trunc))
    };
    let entries = both(&Side::entries_per_s);
    if let Some(noun) = figures.noun {
        let head = format!("{}/s", noun.word());
        let main = if by_workers { format!("{head} write") } else { head.clone() };
        rows.counted(figures.last.main.entries, &main, entries[0]);
        let dirs = if by_workers { "Dirs/s write" } else { "Dirs/s" };
        rows.dirs(figures, figures.last.main.entries, dirs, entries[0]);
        if figures.last.read.entries > 0 {
            rows.numbers(&format!("{head} read"), entries[1]);
            rows.numbers(&format!("{head} total"), sum(entries));
        }
        rows.dirs(figures, figures.last.read.entries, "Dirs/s read", entries[1]);
    }
    let ios = both(&Side::ios_per_s);
    let is_mix = figures.mix != MixKind::None;
    // Requests on many keys move no bytes.
    let per_file = one_block_per_file(setup);
    let shows = |side: &Side| {
        let is_hidden = per_file && side.entries > 0 && side.bytes > 0;
        side.ios > 0 && !is_hidden
    };
    if shows(&figures.last.main) {
        rows.numbers(if is_mix { "IOPS write" } else { "IOPS" }, ios[0]);
    }
    if shows(&figures.last.read) {
        rows.numbers("IOPS read", ios[1]);
        rows.numbers("IOPS total", sum(ios));
    }
    let bytes = both(&Side::bytes_per_s);
    let of_unit = |pair: [f64; 2]| pair.map(|bytes| bytes / unit.bytes);
    let head = format!("{}/s", unit.name);
    let main = if is_mix { format!("{head} write") } else { format!("Throughput {head}") };
    rows.counted(figures.last.main.bytes, &main, of_unit(bytes[0]));
    if figures.last.read.bytes > 0 {
        rows.numbers(&format!("{head} read"), of_unit(bytes[1]));
        rows.numbers(&format!("{head} total"), of_unit(sum(bytes)));
    }
}

/// Totals: MiB (always base 2), entries, completed directories and blocks.
fn totals(rows: &mut Rows, setup: &Setup, figures: &Figures) {
    let is_mix = figures.mix != MixKind::None;
    let [main, read] = [figures.main(), figures.read()];
    let mib = |side: &Side| side.bytes as f64 / MIB;
    let head = if is_mix { "MiB write" } else { "Total MiB" };
    rows.counted(figures.last.main.bytes, head, main.map(mib));
    rows.counted(figures.last.read.bytes, "MiB read", read.map(mib));
    if let Some(noun) = figures.noun.map(EntryNoun::word) {
        let by_workers = figures.mix == MixKind::Workers;
        let entries = |side: &Side| side.entries as f64;
        let end = if by_workers { "write" } else { "total" };
        rows.counted(figures.last.main.entries, &format!("{noun} {end}"), main.map(entries));
        let dirs = format!("Dirs {end}");
        rows.dirs(figures, figures.last.main.entries, &dirs, main.map(entries));
        rows.counted(figures.last.read.entries, &format!("{noun} read"), read.map(entries));
        rows.dirs(figures, figures.last.read.entries, "Dirs read", read.map(entries));
    }
    if setup.asked.run.log_level > 0 {
        let ios = |side: &Side| side.ios as f64;
        let head = if is_mix { "IOs write" } else { "IOs total" };
        rows.counted(figures.last.main.ios, head, main.map(ios));
        rows.counted(figures.last.read.ios, "IOs read", read.map(ios));
    }
}

fn sum([write, read]: [[f64; 2]; 2]) -> [f64; 2] {
    [write[0] + read[0], write[1] + read[1]]
}

/// Latencies of entries, then of blocks; the writes of a mix come before its reads.
fn latencies(rows: &mut Rows, setup: &Setup, figures: &Figures) {
    let noun = figures.noun.map_or("Files", EntryNoun::word);
    let of_entries = if figures.mix == MixKind::Workers { " wr" } else { "" };
    let of_blocks = if figures.mix == MixKind::None { "" } else { " wr" };
    let all = [
        (format!("{noun}{of_entries}"), &figures.main.entries),
        (format!("{noun} rd"), &figures.read.entries),
        (format!("IO{of_blocks}"), &figures.main.ios),
        ("IO rd".to_owned(), &figures.read.ios),
    ];
    for (head, found) in all {
        if let Some(found) = found {
            one_latency(rows, setup, &head, found);
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
        let buckets = buckets(of).into_iter();
        let items = buckets.map(|bucket| format!("{}: {}", bucket.range_us()[1], bucket.count));
        rows.list(&format!("{head} lat hist"), &[items.collect::<Vec<_>>().join(", ")]);
    }
}

/// True for small files of one block each, whose block metrics equal the file metrics.
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
        if setup.asked.output.base10 {
            Unit { name: "MB", bytes: 1e6 }
        } else {
            Unit { name: "MiB", bytes: MIB }
        }
    }
}
