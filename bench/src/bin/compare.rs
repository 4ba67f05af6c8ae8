//! Claims of `candor compare` on runs whose truth is known: `compare CANDOR DIRECTORY PAIRS`. A
//! table on stdout.
//!
//! Pairs of the same work, at full speed and held at a rate, as single runs and as repeats, and
//! pairs of which the second is held 3 % lower. Then, as root, runs that differ in depth, size,
//! cache, scheduler and filesystem, on a loop device over a file in the directory. Reports that are
//! there already are not made again, so that it can be interrupted, and counted again by a newer
//! candor.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Rate at which runs are held, and the rate 3 % below it.
const HELD: &str = "--rate-iops=2000";
const LOWER: &str = "--rate-iops=1940";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, directory, pairs] = &words[..] else {
        eprintln!("usage: compare CANDOR DIRECTORY PAIRS");
        std::process::exit(2);
    };
    let bench = Bench { candor, dir: Path::new(directory).join("candor-compare") };
    fs::create_dir_all(&bench.dir).expect("a directory");
    bench.claims(pairs.parse().expect("a number of pairs"));
    // Loop devices and mounts are root's.
    if is_root() {
        bench.unfair();
    }
}

/// Effective user 0, as the kernel tells it.
fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uids = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    uids.split_whitespace().nth(1) == Some("0")
}

struct Bench<'a> {
    candor: &'a str,
    dir: PathBuf,
}

/// Runs of one kind.
struct Kind {
    name: &'static str,
    words: &'static [&'static str],
}

const SINGLE: Kind = Kind { name: "one run of 4 s each", words: &["--seconds=4"] };
const REPEATED: Kind =
    Kind { name: "five repeats of 1 s each", words: &["--seconds=1", "--repeats=5"] };

impl Bench<'_> {
    /// Pairs of the same work, and of work held 3 % lower.
    fn claims(&self, pairs: usize) {
        println!("| runs | pairs | claimed | of these fair | called unfair | nothing known |");
        println!("|---|---:|---:|---:|---:|---:|");
        for kind in [SINGLE, REPEATED] {
            let mut same = [Counts::default(), Counts::default()];
            let mut lower = Counts::default();
            for pair in 1..=pairs {
                let at = |name: &str| format!("{}-{name}-{pair:02}", kind.words.len());
                let file = self.dir.join("file");
                let run = |name: &str, more: &[&str]| {
                    let words: Vec<&str> = kind.words.iter().chain(more).copied().collect();
                    self.run(&at(name), &file, &words)
                };
                let free = ["free-1", "free-2"].map(|name| run(name, &[]));
                let held = ["held-1", "held-2"].map(|name| run(name, &[HELD]));
                let low = run("lower", &[LOWER]);
                same[0].add(&self.compare(&free[0], &free[1]), "");
                same[1].add(&self.compare(&held[0], &held[1]), "");
                lower.add(&self.compare(&held[0], &low), "ops_per_s");
            }
            same[0].row(kind.name, "same work, at full speed");
            same[1].row(kind.name, "same work, held at a rate");
            lower.row(kind.name, "IOPS of work held 3 % lower");
        }
        println!();
    }

    /// Runs under conditions that differ.
    fn unfair(&self) {
        let image = self.dir.join("image");
        let file = fs::File::create(&image).expect("a file");
        file.set_len(700 << 20).expect("a size");
        let device = output("losetup", &["-f", "--show", "--direct-io=on", &text(&image)]);
        let scheduler = |name: &str| {
            let name = format!("{name}\n");
            let queue = format!("/sys/block/{}/queue/scheduler", device.replace("/dev/", ""));
            fs::write(queue, name).expect("a scheduler");
        };
        let mount = self.dir.join("mount");
        fs::create_dir_all(&mount).expect("a directory");
        let on = |filesystem: &str, name: &str, words: &[&str]| {
            match filesystem {
                "tmpfs" => output("mount", &["-t", "tmpfs", "none", &text(&mount)]),
                _ => {
                    let force = if filesystem == "xfs" { "-f" } else { "-F" };
                    output(&format!("mkfs.{filesystem}"), &["-q", force, &device]);
                    output("mount", &[&device, &text(&mount)])
                }
            };
            let words: Vec<&str> = SINGLE.words.iter().chain(words).copied().collect();
            let report = self.run(name, &mount.join("file"), &words);
            output("umount", &[&text(&mount)]);
            report
        };
        scheduler("none");
        let base = on("ext4", "base", &[]);
        let others = [
            ("the same once more", on("ext4", "again", &[])),
            ("depth 1, 4", on("ext4", "depth", &["--depth=4"])),
            ("4 KiB, 8 KiB", on("ext4", "size", &["--bs=8k"])),
            ("direct, buffered", on("ext4", "buffered", &["--buffered"])),
            ("ext4, xfs", on("xfs", "xfs", &[])),
            ("ext4, tmpfs", on("tmpfs", "tmpfs", &[])),
        ];
        scheduler("mq-deadline");
        let deadline = on("ext4", "deadline", &[]);
        output("losetup", &["-d", &device]);
        println!("| what differs | fairness | told |\n|---|---|---|");
        let others = others.into_iter().chain([("scheduler none, mq-deadline", deadline)]);
        for (name, other) in others {
            let compared = self.compare(&base, &other);
            let change = &compared["changes"][0];
            let of = |of: &Value| {
                let value = |key: &str| of[key].as_str().unwrap_or("not set").to_owned();
                format!("{}: {}, {}", value("name"), value("baseline"), value("run"))
            };
            let told = change["differences"].as_array().into_iter().flatten();
            let told: Vec<String> = told.filter(|of| of["matters"] == true).map(of).collect();
            println!(
                "| {name} | {} | {} |",
                change["fairness"].as_str().unwrap_or(""),
                told.join("; ")
            );
        }
    }

    /// The report of a run, which is made where it is not there.
    fn run(&self, name: &str, target: &Path, words: &[&str]) -> PathBuf {
        let report = self.dir.join(format!("{name}.json"));
        if report.exists() {
            return report;
        }
        let cache = if words.contains(&"--buffered") { None } else { Some("--direct") };
        let size =
            if words.iter().any(|word| word.starts_with("--bs")) { None } else { Some("--bs=4k") };
        let status = Command::new(self.candor)
            .args(["run", "--size=256M", "--rw=randread", "--keep", "--quiet"])
            .args(["--no-follow-ups", "--target"])
            .arg(target)
            .arg("--json")
            .arg(&report)
            .args(cache)
            .args(size)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{name} did not run");
        report
    }

    fn compare(&self, baseline: &Path, run: &Path) -> Value {
        let text = output(self.candor, &["compare", "--json=-", &text(baseline), &text(run)]);
        serde_json::from_str(&text).expect("a comparison")
    }
}

/// Outcomes of several comparisons.
#[derive(Default)]
struct Counts {
    all: usize,
    claimed: usize,
    fair: usize,
    unfair: usize,
    unknown: usize,
}

impl Counts {
    /// Adds a comparison; what is claimed of the figures whose kind begins so.
    fn add(&mut self, compared: &Value, kind: &str) {
        let change = &compared["changes"][0];
        let figures = || change["figures"].as_array().into_iter().flatten();
        let outcome = |figure: &Value| figure["outcome"].as_str().unwrap_or_default().to_owned();
        let claims = figures()
            .filter(|figure| figure["kind"].as_str().unwrap_or("percentile").starts_with(kind))
            .any(|figure| ["better", "worse"].contains(&outcome(figure).as_str()));
        let is_fair = change["fairness"] == "fair";
        self.all += 1;
        self.claimed += usize::from(claims);
        self.fair += usize::from(claims && is_fair);
        self.unfair += usize::from(!is_fair);
        self.unknown += usize::from(figures().all(|figure| outcome(figure) == "unknown"));
    }

    fn row(&self, kind: &str, name: &str) {
        let Counts { all, claimed, fair, unfair, unknown } = self;
        println!("| {name}, {kind} | {all} | {claimed} | {fair} | {unfair} | {unknown} |");
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Text that a program prints; it has to succeed.
fn output(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {words:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
