//! Answers of `candor history` over many runs: `history CANDOR DIRECTORY [RUNS [ROUNDS]]`. A table
//! on stdout.
//!
//! The directory gets a history of that many documents (100,000) where it has none yet, and candor
//! makes its index of them. Then each command runs in turn, several rounds (7) of all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use serde_json::{Value, json};

#[path = "../stats.rs"]
mod stats;

use self::stats::Spread;

/// Runs of one folder of documents, as candor keeps them.
const IN_FOLDER: u64 = 1000;
/// Time between two runs.
const APART_MS: u64 = 5 * 60_000;
/// Start of the first run: 2026-01-01.
const FIRST_UNIX_MS: u64 = 1_767_225_600_000;
/// Runs that each pruning removes.
const PRUNED: u64 = 100;
const VERDICTS: [&str; 8] = [
    "believable",
    "believable",
    "believable",
    "believable",
    "believable",
    "with_remarks",
    "measures_else",
    "not_verifiable",
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (candor, directory, numbers) = match &words[..] {
        [candor, directory, numbers @ ..] if numbers.len() <= 2 => (candor, directory, numbers),
        _ => {
            eprintln!("usage: history CANDOR DIRECTORY [RUNS [ROUNDS]]");
            std::process::exit(2);
        }
    };
    let number = |at: usize, usual: u64| {
        numbers.get(at).map_or(usual, |word| word.parse().expect("a number"))
    };
    let (runs, rounds) = (number(0, 100_000), number(1, 7));
    let dir = std::path::absolute(directory).expect("a directory");
    let bench = Bench { candor, history: dir.join("history"), dir };
    bench.fill(runs);
    bench.measure(rounds);
}

struct Bench<'a> {
    candor: &'a str,
    dir: PathBuf,
    history: PathBuf,
}

/// A command: its name in the table, and its words in a round.
type Case = (&'static str, fn(&Bench, u64) -> Vec<String>);

/// Commands that look, and then those that change something.
const CASES: [Case; 26] = [
    ("list", |_, _| words("list")),
    ("list --target /data", |_, _| words("list --target /data")),
    ("list --target /, all below it", |_, _| words("list --target /")),
    ("list --target nvme0n1, a device", |_, _| words("list --target nvme0n1")),
    ("list --name", |_, _| words("list --name nightly")),
    ("list --tag", |_, _| words("list --tag base")),
    ("list --host", |_, _| words("list --host node1")),
    ("list --tool fio", |_, _| words("list --tool fio")),
    ("list --verdict remarks", |_, _| words("list --verdict remarks")),
    ("list --since, --until", |_, _| words("list --since 2026-05-01 --until 2026-06-01")),
    ("list --figure iops", |_, _| words("list --figure iops")),
    ("list --figure p99", |_, _| words("list --figure p99")),
    ("list, every filter", |_, _| {
        words(
            "list --target /data --name nightly --host node0 --tool candor --verdict believable \
             --since 2026-02-01 --until 2026-11-01 --figure p99",
        )
    }),
    ("list --last 1000", |_, _| words("list --last 1000")),
    ("show of a run", |_, round| vec!["show".into(), (1000 + round).to_string()]),
    ("trend of a target (50,000 runs, 2 operations)", |_, _| words("trend --target /data")),
    ("the same of p99", |_, _| words("trend --target /data --figure p99")),
    ("the same as SVG", |bench, _| bench.chart("trend --target /data", "svg")),
    ("the same as PNG", |bench, _| bench.chart("trend --target /data", "png")),
    ("trend of a target (2000 runs) as PNG", |bench, _| {
        bench.chart("trend --target /data7", "png")
    }),
    ("trend of all (51 kinds of work) as SVG", |bench, _| bench.chart("trend", "svg")),
    ("export --csv (2,000,000 rows)", |bench, _| bench.export("csv")),
    ("tag", |_, round| vec!["tag".into(), (2000 + round).to_string(), "new".into()]),
    ("untag", |_, round| vec!["untag".into(), (2000 + round).to_string(), "new".into()]),
    ("import of a file", |bench, round| bench.import(round)),
    ("prune of the oldest 100", |bench, round| bench.prune(round)),
];

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Bench<'_> {
    /// Makes the history and its index where there is none.
    fn fill(&self, runs: u64) {
        let reports = self.history.join("reports");
        if !reports.exists() {
            fs::create_dir_all(self.history.join("unindexed")).expect("room");
            (1..=runs).for_each(|run| keep(&reports, run, runs));
        }
        if !self.history.join("history.db").exists() {
            let took_s = self.run(&words("list --last 1"));
            println!("The index was made from {runs} documents in {took_s:.1} s.\n");
        }
    }

    /// Runs every command once in each round.
    fn measure(&self, rounds: u64) {
        let mut taken = vec![Vec::new(); CASES.len()];
        for round in 0..rounds {
            for ((_, words), taken) in CASES.iter().zip(&mut taken) {
                let words = words(self, round);
                taken.push(self.run(&words));
            }
        }
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        println!("Load average at the end: {}\n", load.trim());
        println!("| candor history … | s, median of {rounds} (range) |\n|---|---:|");
        for ((name, _), taken) in CASES.iter().zip(taken) {
            let spread = Spread::of(taken).expect("a round");
            println!("| {name} | {} |", spread.text(3));
        }
    }

    /// Seconds that a command takes; it has to succeed.
    fn run(&self, words: &[String]) -> f64 {
        let began = Instant::now();
        let output = Command::new(self.candor)
            .arg("history")
            .args(words)
            .env("CANDOR_HISTORY", &self.history)
            .stdin(Stdio::null())
            .output()
            .expect("candor");
        let took_s = began.elapsed().as_secs_f64();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {told}");
        took_s
    }

    fn chart(&self, of: &str, ending: &str) -> Vec<String> {
        let file = self.dir.join(format!("trend.{ending}"));
        let chart = ["--chart".into(), file.display().to_string()];
        words(of).into_iter().chain(chart).collect()
    }

    fn export(&self, format: &str) -> Vec<String> {
        let file = self.dir.join(format!("table.{format}"));
        vec!["export".into(), format!("--{format}"), file.display().to_string()]
    }

    /// Words that import a file of fio, which no round had before.
    fn import(&self, round: u64) -> Vec<String> {
        let path = self.dir.join("import.json");
        let seconds = FIRST_UNIX_MS / 1000 + round;
        let latency = json!({"min": 1000, "max": 90_000, "mean": 5000.0, "stddev": 7.0});
        let read = json!({"total_ios": 9000, "iops": 900.0, "bw_bytes": 3_686_400,
            "runtime": 10_000,
            "io_bytes": 36_864_000, "lat_ns": latency});
        let job = json!({"jobname": "j", "job options": {"rw": "randread", "bs": "4k",
            "filename": "/data"}, "read": read});
        let text = json!({"fio version": "fio-3.33", "timestamp": seconds, "jobs": [job]});
        fs::write(&path, text.to_string()).expect("room");
        vec!["import".into(), path.display().to_string()]
    }

    /// Words that remove the oldest runs of a tool.
    fn prune(&self, round: u64) -> Vec<String> {
        let at_ms = FIRST_UNIX_MS + (round + 1) * PRUNED * APART_MS;
        vec!["prune".into(), "--older-than".into(), moment(at_ms)]
    }
}

/// A document of results, and a note beside some.
fn keep(reports: &Path, run: u64, runs: u64) {
    let folder = reports.join(format!("{:03}", run / IN_FOLDER));
    fs::create_dir_all(&folder).expect("room");
    let path = folder.join(format!("{run}.results.json.gz"));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(results(run, runs).to_string().as_bytes()).expect("memory");
    fs::write(path, encoder.finish().expect("memory")).expect("room");
    if run.is_multiple_of(500) {
        let note = json!({"tags": ["base"]}).to_string();
        fs::write(folder.join(format!("{run}.note.json")), note).expect("room");
    }
}

/// Results of a run. Half of the runs are of one kind of work, the others of fifty; the last tenth
/// is slower by a tenth.
fn results(run: u64, runs: u64) -> Value {
    let other = run % 50;
    let is_main = run.is_multiple_of(2);
    let path = if is_main { "/data/file".into() } else { format!("/data{other}/file") };
    let level = if run <= runs * 9 / 10 { 1000.0 } else { 900.0 };
    let noise = (run.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24);
    let ops_per_s = level * (0.98 + 0.04 * noise);
    let percentiles: Vec<_> = [1.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99]
        .iter()
        .map(|of| json!([of, (1e9 / ops_per_s * (1.0 + of / 50.0)) as u64]))
        .collect();
    let operation = |name: &str| {
        json!({"operation": name, "figure": name, "ops": 60_000, "bytes": 245_760_000,
            "failed": 0, "ops_per_s": ops_per_s, "bytes_per_s": ops_per_s * 4096.0,
            "latency": {"mean_ns": 1e9 / ops_per_s, "min_ns": 1000, "max_ns": 90_000_000,
                "stddev_ns": 1000.0, "percentiles": percentiles, "buckets": []},
            "intervals": []})
    };
    let start_unix_ms = FIRST_UNIX_MS + run * APART_MS;
    let host = if is_main { 0 } else { other % 4 };
    let device = json!({"host": format!("node{host}"), "device": format!("nvme{}n1", other % 8),
        "intervals": []});
    let condition = |name: &str, value: String| {
        json!({"area": "host", "name": name, "of": "",
        "value": value, "matters": true})
    };
    let load = json!({"access": "randrw", "block_bytes": 4096, "depth": 32, "workers": 4});
    let job = json!({"job": "job", "load": load, "targets": [path],
        "elapsed_ns": 60_000_000_000_u64,
        "operations": [operation("read"), operation("write")]});
    let verdict = VERDICTS[(run % 8) as usize];
    let phase = json!({"name": "main", "repeat": 0, "start_unix_ms": start_unix_ms,
        "verdict": verdict, "headline": "as expected", "jobs": [job], "devices": [device]});
    let tool = if is_main || run.is_multiple_of(3) { "candor 0.1.0" } else { "fio-3.33" };
    json!({"tool": tool, "name": format!("nightly {other}"), "started": moment(start_unix_ms),
        "command": ["candor", "run", "nightly.toml"], "verdict": verdict,
        "headline": "as expected", "phases": [phase],
        "conditions": [condition("kernel", format!("6.{}", run / 10_000))]})
}

/// A moment in RFC 3339.
fn moment(unix_ms: u64) -> String {
    let at = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    at.expect("a moment of this age").to_string()
}
