//! Every suggestion of a rule, run once: `suggestions CANDOR DIRECTORY [RULE…]`.
//!
//! Each case makes a situation in which a rule speaks, on a file or device of its own below the
//! directory, runs candor in it as a user would, takes the command that the finding suggests out
//! of the report, runs that too, and sets the two results beside each other: a table for
//! `results/suggestions.md`. Root is needed; whatever is made is removed.

mod cases;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use cases::{CASES, Case, ELSEWHERE, PRELUDE};

/// Suggestions that take longer are read (`--dry-run`), not run.
const SECONDS_MAX: f64 = 45.0;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, dir, rules @ ..] = &words[..] else {
        eprintln!("usage: suggestions CANDOR DIRECTORY [RULE…]");
        std::process::exit(2);
    };
    let candor = Path::new(candor).canonicalize().unwrap_or_else(|why| {
        eprintln!("suggestions: {candor}: {why}");
        std::process::exit(2);
    });
    let bench = Bench { candor, dir: Path::new(dir).join("suggestions") };
    println!(
        "| rule | run as given | suggestion | promise | rate | mean latency | verdict | rule |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for case in CASES.iter().filter(|case| rules.is_empty() || rules.iter().any(|r| r == case.rule))
    {
        let row = bench.row(case).unwrap_or_else(|why| format!("{why} | | | | | "));
        println!("| {} | `{}` | {row} |", case.rule, case.given.replace("--target $T ", ""));
    }
    for (rule, what) in ELSEWHERE.iter().filter(|_| rules.is_empty()) {
        println!("| {rule} | not run: {what} | | | | | | |");
    }
}

/// Where cases run.
struct Bench {
    candor: PathBuf,
    /// Directory of the case at hand; nothing is there between cases.
    dir: PathBuf,
}

/// Figures of a phase that are compared.
struct Figures {
    ops_per_s: f64,
    bytes_per_s: f64,
    mean_ns: f64,
    verdict: String,
}

impl Bench {
    /// The row of a case behind its words.
    fn row(&self, case: &Case) -> Result<String, String> {
        std::fs::create_dir(&self.dir).map_err(|e| format!("{}: {e}", self.dir.display()))?;
        let row = self.both(case);
        // The last thing made is undone first.
        let undo = "test -e undo && tac undo | while read -r line; do eval \"$line\"; done";
        let _ = self.shell(undo);
        std::fs::remove_dir_all(&self.dir).map_err(|e| format!("{}: {e}", self.dir.display()))?;
        row
    }

    fn both(&self, case: &Case) -> Result<String, String> {
        let target = self.shell(&format!("{PRELUDE}{}\nprintf %s \"$T\" >&3", case.prepare))?;
        let given = case.given.replace("$T", &target);
        let report = self.run(&format!("candor run {given}"))?;
        let (phase, finding) = found(&report, case.rule).ok_or_else(|| silence(&report, case))?;
        let before = figures(&report, phase)?;
        let next = finding["next"].as_str().ok_or("no command")?;
        let changes = finding["changes"].as_array().into_iter().flatten().map(change);
        let changes = changes.collect::<Vec<_>>().join(", ");
        let promise = finding["advice"].as_str().unwrap_or_default();
        if seconds(finding) > SECONDS_MAX {
            self.run_dry(next)?;
            return Ok(format!("{changes} | {promise} | read, not run: too long | | | "));
        }
        let report = self.run(next)?;
        let after = figures(&report, phase)?;
        let now = found(&report, case.rule).map(|(_, finding)| finding);
        let now = now.map_or("gone".to_owned(), |finding| {
            format!("{}: {}", word(&finding["severity"]), word(&finding["sentence"]))
        });
        Ok(format!(
            "{changes} | {promise} | {} → {} | {} → {} | {} → {} | {now}",
            rate(&before),
            rate(&after),
            time(before.mean_ns),
            time(after.mean_ns),
            before.verdict,
            after.verdict
        ))
    }

    /// Runs a command of candor's, and reads its report.
    fn run(&self, command: &str) -> Result<Value, String> {
        let report = self.dir.join("report.json");
        self.shell(&format!("{command} --json '{}' > out", report.display()))?;
        let text = std::fs::read(&report).map_err(|e| format!("no report: {e}"))?;
        serde_json::from_slice(&text).map_err(|e| format!("no report: {e}"))
    }

    fn run_dry(&self, command: &str) -> Result<String, String> {
        self.shell(&format!("{command} --dry-run > out"))
    }

    /// Runs shell lines in the directory of the case; what they write to descriptor 3.
    fn shell(&self, lines: &str) -> Result<String, String> {
        let here = self.candor.parent().unwrap_or(Path::new("."));
        let path = std::env::var("PATH").unwrap_or_default();
        let script = format!("{{\n{lines}\n}} 3> \"$DIR/told\"");
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(&self.dir)
            .env("DIR", &self.dir)
            .env("PATH", format!("{}:{path}", here.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .output()
            .map_err(|e| format!("sh: {e}"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            Ok(std::fs::read_to_string(self.dir.join("told")).unwrap_or_default())
        } else {
            Err(format!("failed: {}", errors.trim().replace('\n', " ")))
        }
    }
}

/// The last phase in which a rule spoke with a command, or without, and its finding.
fn found<'a>(report: &'a Value, rule: &str) -> Option<(usize, &'a Value)> {
    let phases = report["judgement"]["phases"].as_array()?;
    let each = phases.iter().enumerate().rev().flat_map(|(nth, phase)| {
        let findings = phase["findings"].as_array().into_iter().flatten();
        findings.map(move |finding| (nth, finding))
    });
    each.into_iter().find(|(_, finding)| finding["rule"] == rule)
}

/// Why a rule did not speak: another one is the cause, or others did.
fn silence(report: &Value, case: &Case) -> String {
    let phases = report["judgement"]["phases"].as_array().into_iter().flatten();
    let findings = phases.flat_map(|phase| phase["findings"].as_array().into_iter().flatten());
    let findings: Vec<&Value> = findings.collect();
    match findings.iter().find(|finding| {
        let below = finding["consequences"].as_array().into_iter().flatten();
        below.into_iter().any(|consequence| consequence["rule"] == case.rule)
    }) {
        Some(cause) => format!("follows from {}, whose suggestion counts", word(&cause["rule"])),
        None => {
            let rules: Vec<String> =
                findings.iter().map(|finding| word(&finding["rule"])).collect();
            format!("did not speak beside other work ({})", rules.join(", "))
        }
    }
}

fn figures(report: &Value, phase: usize) -> Result<Figures, String> {
    let operations = &report["phases"][phase]["measurements"][0]["operations"];
    let of = |name: &str, key: &str| operations[name][key].as_f64().unwrap_or(0.0);
    let both = |key: &str| of("read", key) + of("write", key);
    let (name, ops_per_s) = if of("write", "ops") > of("read", "ops") {
        ("write", both("ops_per_s"))
    } else {
        ("read", both("ops_per_s"))
    };
    let mean_ns = operations[name]["latency"]["mean_ns"].as_f64().unwrap_or(0.0);
    let verdict = word(&report["judgement"]["phases"][phase]["verdict"]).replace('_', " ");
    if ops_per_s > 0.0 {
        Ok(Figures { ops_per_s, bytes_per_s: both("bytes_per_s"), mean_ns, verdict })
    } else {
        Err("nothing was done".to_owned())
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A change by the end of its key.
fn change(change: &Value) -> String {
    let key = word(&change["key"]);
    let end = key.rsplit('.').next().unwrap_or(&key);
    format!("`{end}={}`", word(&change["value"]))
}

/// Length of the run that a finding suggests, where it suggests one.
fn seconds(finding: &Value) -> f64 {
    let changes = finding["changes"].as_array().into_iter().flatten();
    let times = changes.filter(|change| word(&change["key"]).ends_with(".time"));
    let seconds = times.filter_map(|change| word(&change["value"]).strip_suffix('s')?.parse().ok());
    seconds.fold(0.0, f64::max)
}

fn rate(figures: &Figures) -> String {
    let ops = match figures.ops_per_s {
        ops if ops >= 1e3 => format!("{:.1}k", ops / 1e3),
        ops => format!("{ops:.0}"),
    };
    format!("{ops}/s, {:.0} MB/s", figures.bytes_per_s / 1e6)
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e6 => format!("{:.1} ms", ns / 1e6),
        ns => format!("{:.0} µs", ns / 1e3),
    }
}
