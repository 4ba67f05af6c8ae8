//! Front ends against candor's own run of the same plan, fio, and a bare loop, in turn:
//! `front_ends CANDOR FIO DIRECTORY ROUNDS`. A table on stdout.
//!
//! The plan of candor's own run is what `candor convert` makes of the front end's words. DIRECTORY
//! is best on tmpfs: where no device waits, the time of the program itself shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use candor_bench::stats::Spread;
use serde_json::Value;

/// Bytes of the file that is read.
const FILE_BYTES: &str = "1g";

/// Names that are looked at.
const NAMES: f64 = 40_000.0;

/// Work that all do in turn.
struct Work {
    name: &'static str,
    /// Words of the front end, the tool's name first; `FILE`, `DIR` and `OUT` stand for paths.
    words: &'static [&'static str],
    /// The rate in what the front end wrote.
    rate: fn(&Bench<'_>) -> Option<f64>,
    /// Phase of the plan, and operation.
    native: (&'static str, &'static str),
    fio: &'static [&'static str],
    /// A bare loop with its words, and the line of its output that has the rate.
    bare: (&'static [&'static str], usize),
}

const BARE_READS: (&[&str], usize) = (&["bare_cached", "FILE", "2"], 0);

#[rustfmt::skip]
const WORKS: &[Work] = &[
    Work {
        name: "ior: 4 KiB reads of one task in random order, cached",
        words: &["ior", "-r", "-k", "-E", "-z", "-t", "4k", "-b", FILE_BYTES, "-o", "FILE",
            "-O", "summaryFormat=JSON,summaryFile=OUT"],
        rate: |bench| {
            let row = &bench.json()?["tests"][0]["Results"][0];
            Some(262_144.0 / row["wrRdTime"].as_f64()?)
        },
        native: ("read", "read"),
        fio: &["--name=x", "--filename=FILE", "--size", FILE_BYTES, "--rw=randread", "--bs=4k",
            "--ioengine=psync", "--invalidate=0", "--fadvise_hint=0"],
        bare: BARE_READS,
    },
    Work {
        name: "vdbench: 4 KiB random reads, one thread, cached",
        words: &["vdbench", "-f", "PARM", "-o", "OUT"],
        rate: |bench| {
            let flat = fs::read_to_string(bench.out().join("flatfile.html")).ok()?;
            let is_average = |line: &&str| !line.starts_with('*') && line.contains("avg_");
            let cells: Vec<&str> = flat.lines().find(is_average)?.split_whitespace().collect();
            let heads = flat.lines().find(|line| line.trim_start().starts_with("tod"))?;
            let at = heads.split_whitespace().position(|head| head == "rate")?;
            cells.get(at)?.parse().ok()
        },
        native: ("rd1", "read"),
        fio: &["--name=x", "--filename=FILE", "--size", FILE_BYTES, "--rw=randread", "--bs=4k",
            "--ioengine=psync", "--invalidate=0", "--fadvise_hint=0", "--norandommap=1",
            "--time_based", "--runtime=2"],
        bare: BARE_READS,
    },
    Work {
        name: "mdtest: stat of 40,000 files, one task",
        words: &["mdtest", "-F", "-u", "-n", "40000", "-d", "DIR/m",
            "--summary-format=JSON", "--summary-file=OUT"],
        rate: |bench| {
            bench.json()?["runs"][0]["iterations"][0]["File stat"]["rate_per_s"].as_f64()
        },
        native: ("File stat", "stat"),
        fio: &["--name=x", "--ioengine=filestat", "--directory=DIR", "--nrfiles=40000",
            "--filesize=4k", "--openfiles=1", "--file_service_type=sequential"],
        bare: (&["bare_names", "DIR", "1", "40000", "own"], 1),
    },
];

struct Bench<'a> {
    candor: &'a str,
    fio: &'a str,
    dir: PathBuf,
}

/// The file of parameters of vdbench.
const PARAMETERS: &str = "sd=sd1,lun=FILE,threads=1\nwd=wd1,sd=sd1,xfersize=4k,rdpct=100\n\
                          rd=rd1,wd=wd1,iorate=max,elapsed=3,interval=1\n";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, fio, directory, rounds] = &words[..] else {
        eprintln!("usage: front_ends CANDOR FIO DIRECTORY ROUNDS");
        std::process::exit(2);
    };
    let bench = Bench { candor, fio, dir: Path::new(directory).join("candor-front-ends") };
    fs::create_dir(&bench.dir).expect("a new directory");
    let fill = ["ior", "-w", "-k", "-t", "1m", "-b", FILE_BYTES, "-o", "FILE"];
    bench.run(candor, &fill);
    fs::write(bench.dir.join("parm"), bench.filled(PARAMETERS)).expect("a file");
    println!("| work | front end/s | ÷ own run | own run/s | fio/s | bare/s | ÷ fio | ÷ bare |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for work in WORKS {
        bench.row(work, rounds.parse().expect("a number of rounds"));
    }
    fs::remove_dir_all(&bench.dir).expect("a directory that can be removed");
}

impl Bench<'_> {
    fn row(&self, work: &Work, rounds: usize) {
        let plan = self.dir.join("plan.toml").display().to_string();
        self.run(self.candor, &[&["convert", "--save", &plan], work.words].concat());
        let mut all: [Vec<f64>; 4] = Default::default();
        for _ in 0..rounds {
            all[0].push(self.front_end(work));
            all[1].push(self.native(work, &plan));
            all[2].push(self.fio(work));
            all[3].push(self.bare(work));
        }
        let rate = |tool: usize| Spread::of(all[tool].iter().copied()).expect("rounds").text(0);
        let ratio = |other: usize| {
            let ratios = all[0].iter().zip(&all[other]).map(|(one, other)| one / other);
            Spread::of(ratios).expect("rounds").text(3)
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            work.name,
            rate(0),
            ratio(1),
            rate(1),
            rate(2),
            rate(3),
            ratio(2),
            ratio(3)
        );
    }

    fn front_end(&self, work: &Work) -> f64 {
        self.run(self.candor, work.words);
        let rate = (work.rate)(self).expect("a rate of the front end");
        self.clean();
        rate
    }

    fn native(&self, work: &Work, plan: &str) -> f64 {
        let words = ["run", "--quiet", "--no-history", "--json", "OUT", plan];
        self.run(self.candor, &words);
        let report = self.json().expect("a report");
        self.clean();
        let phases = report["phases"].as_array().expect("phases").iter();
        let mut named = phases.filter(|phase| phase["name"] == work.native.0);
        let phase = named.next().unwrap_or_else(|| panic!("no phase {}", work.native.0));
        let rate = &phase["measurements"][0]["operations"][work.native.1]["ops_per_s"];
        rate.as_f64().expect("a rate")
    }

    fn fio(&self, work: &Work) -> f64 {
        let out = self.run(self.fio, &[&["--output-format=json", "--thread"], work.fio].concat());
        let text = String::from_utf8_lossy(&out);
        let json = &text[text.find('{').expect("JSON")..];
        let document: Value = serde_json::from_str(json).expect("fio's JSON");
        let job = &document["jobs"][0];
        let read = |key: &str| job["read"][key].as_f64().expect("a number");
        // Times are in ms; looks at names are no reads.
        let rate = match read("total_ios") {
            0.0 => NAMES / job["job_runtime"].as_f64().expect("a time"),
            ios => ios / read("runtime"),
        };
        for entry in fs::read_dir(&self.dir).expect("the directory").flatten() {
            if entry.file_name().to_string_lossy().starts_with("x.0.") {
                fs::remove_file(entry.path()).expect("fio's file");
            }
        }
        rate * 1e3
    }

    fn bare(&self, work: &Work) -> f64 {
        let here = std::env::current_exe().expect("this program");
        let (words, line) = work.bare;
        let bare = here.with_file_name(words[0]).display().to_string();
        let out = self.run(&bare, &words[1..]);
        let text = String::from_utf8_lossy(&out);
        let line = text.lines().nth(line).expect("a line");
        let document: Value = serde_json::from_str(line).expect("a line of JSON");
        let rate = document.get("ops_per_s").or_else(|| document.get("iops"));
        rate.and_then(Value::as_f64).expect("a rate")
    }

    fn run(&self, program: &str, words: &[&str]) -> Vec<u8> {
        let words = words.iter().map(|word| self.filled(word));
        let output = Command::new(program)
            .args(words)
            .env("CANDOR_HISTORY", "off")
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {told}");
        output.stdout
    }

    /// The words with paths in place of their names.
    fn filled(&self, text: &str) -> String {
        let path = |name: &str| self.dir.join(name).display().to_string();
        let text = text.replace("FILE", &path("file")).replace("OUT", &path("out"));
        text.replace("PARM", &path("parm")).replace("DIR", &self.dir.display().to_string())
    }

    fn out(&self) -> PathBuf {
        self.dir.join("out")
    }

    /// Removes what a run wrote; vdbench's is a directory.
    fn clean(&self) {
        let removed = fs::remove_file(self.out()).or_else(|_| fs::remove_dir_all(self.out()));
        removed.expect("a result that can be removed");
    }

    /// The document that a run wrote.
    fn json(&self) -> Option<Value> {
        serde_json::from_slice(&fs::read(self.out()).ok()?).ok()
    }
}
