//! Durable writes and the queue against fio, in turn: `durable CANDOR FIO DIRECTORY ROUNDS`. A
//! table on stdout.
//!
//! Both tools get the same words. Columns: counts of reads, writes and flushes, the depth of most
//! operations, the rates, their ratio, and the CPU time in user mode per read, write and flush: of
//! the job's threads as each tool reports it, and of the whole process as the kernel counts it. The
//! kernel counts in ticks, so that CPU times are sums over all rounds.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use candor_bench::stats::Spread;
use serde_json::Value;

/// Words of all works.
const COMMON: &[&str] = &[
    "--name=a",
    "--filename=file",
    "--size=64m",
    "--bs=4k",
    "--direct=1",
    "--time_based",
    "--runtime=1",
    "--output-format=json",
];

/// Work that both tools do.
struct Work {
    name: String,
    words: Vec<String>,
}

/// Results of one run.
struct Ran {
    reads: u64,
    writes: u64,
    flushes: u64,
    /// Depth that most operations had, and their share in percent.
    level: (String, f64),
    ops_per_s: f64,
    /// User CPU time in s: of the job, and of the whole process.
    job_user_s: f64,
    process_user_s: f64,
}

impl Ran {
    fn of(job: &Value, user_s: f64) -> Option<Ran> {
        let number = |path: &str| job.pointer(path)?.as_f64();
        let count = |path: &str| number(path).map(|count| count as u64);
        let levels = job["iodepth_level"].as_object()?.iter();
        let levels = levels.filter_map(|(depth, share)| Some((depth.clone(), share.as_f64()?)));
        let [reads, writes, flushes] =
            [count("/read/total_ios")?, count("/write/total_ios")?, count("/sync/total_ios")?];
        Some(Ran {
            reads,
            writes,
            flushes,
            level: levels.max_by(|a, b| a.1.total_cmp(&b.1))?,
            ops_per_s: number("/read/iops")? + number("/write/iops")?,
            job_user_s: number("/usr_cpu")? / 100.0 * number("/job_runtime")? / 1e3,
            process_user_s: user_s,
        })
    }

    /// Counts and levels, for a cell.
    fn shown(&self) -> String {
        let (depth, share) = &self.level;
        let counts = format!("{} / {} / {}", self.reads, self.writes, self.flushes);
        format!("{counts} | {depth}: {share:.0} %")
    }
}

fn works() -> Vec<Work> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let mut works = Vec::new();
    for engine in ["libaio", "io_uring", "psync"] {
        for depth in [1, 4, 32] {
            let (by, deep) = (format!("--ioengine={engine}"), format!("--iodepth={depth}"));
            works.push(Work {
                name: format!("write and fsync, {engine}, depth {depth}"),
                words: words(&["--rw=randwrite", "--fsync=1", &by, &deep]),
            });
        }
    }
    works.push(Work {
        name: "read, libaio, depth 32 down to 8".to_owned(),
        words: words(&["--rw=randread", "--ioengine=libaio", "--iodepth=32", "--iodepth_low=8"]),
    });
    for (engine, depth) in [("psync", 1), ("libaio", 8)] {
        let (by, deep) = (format!("--ioengine={engine}"), format!("--iodepth={depth}"));
        works.push(Work {
            name: format!("90 % reads, fsync of each write, {engine}, depth {depth}"),
            words: words(&["--rw=randrw", "--rwmixread=90", "--fsync=1", &by, &deep]),
        });
    }
    works
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, fio, directory, rounds] = &words[..] else {
        eprintln!("usage: durable CANDOR FIO DIRECTORY ROUNDS");
        std::process::exit(2);
    };
    let dir = Path::new(directory).join("candor-durable");
    fs::create_dir(&dir).expect("a new directory");
    let fill = ["--name=fill", "--filename=file", "--size=64m", "--rw=write", "--bs=1m"];
    run(&dir, &[fio], &fill.map(str::to_owned));
    println!(
        "| work | candor: reads / writes / flushes | depth | fio: reads / writes / flushes | depth \
         | candor/s | fio/s | candor ÷ fio | candor: job's user µs per operation | fio | candor ÷ \
         fio | candor: process's user µs per operation | fio | candor ÷ fio |"
    );
    println!("|---|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let rounds = rounds.parse().expect("a number of rounds");
    for work in works() {
        row(&work, &dir, [&[candor, "fio"], &[fio]], rounds);
    }
    fs::remove_dir_all(&dir).expect("a directory that can be removed");
}

/// Runs both tools in turn and prints a row.
fn row(work: &Work, dir: &Path, tools: [&[&str]; 2], rounds: usize) {
    let mut ran: [Vec<Ran>; 2] = Default::default();
    for _ in 0..rounds {
        for (tool, ran) in tools.iter().zip(&mut ran) {
            let common = COMMON.iter().map(|word| (*word).to_owned());
            let words: Vec<String> = common.chain(work.words.iter().cloned()).collect();
            let before = children_user_s();
            let text = run(dir, tool, &words);
            let user_s = children_user_s() - before;
            let json =
                text.find('{').and_then(|at| serde_json::from_str::<Value>(&text[at..]).ok());
            let result = json.and_then(|json| Ran::of(&json["jobs"][0], user_s));
            ran.push(result.expect("a result"));
        }
    }
    let [candor, fio] = &ran;
    let rates = |ran: &[Ran]| Spread::of(ran.iter().map(|ran| ran.ops_per_s)).expect("rounds");
    let ratios = candor.iter().zip(fio).map(|(candor, fio)| candor.ops_per_s / fio.ops_per_s);
    let cpu = |of: fn(&Ran) -> f64| {
        let [candor, fio] = [candor, fio].map(|ran| us_per_operation(ran, of));
        format!("{candor:.2} | {fio:.2} | {:.2}", candor / fio)
    };
    println!(
        "| {} | {} | {} | {} | {} | {} | {} | {} |",
        work.name,
        candor.last().expect("a round").shown(),
        fio.last().expect("a round").shown(),
        rates(candor).text(0),
        rates(fio).text(0),
        Spread::of(ratios).expect("rounds").text(2),
        cpu(|ran| ran.job_user_s),
        cpu(|ran| ran.process_user_s),
    );
}

/// CPU time of all rounds per operation of all rounds.
fn us_per_operation(ran: &[Ran], user_s: fn(&Ran) -> f64) -> f64 {
    let operations: u64 = ran.iter().map(|ran| ran.reads + ran.writes + ran.flushes).sum();
    ran.iter().map(user_s).sum::<f64>() * 1e6 / operations as f64
}

/// User CPU time of the children that ended so far, in s.
fn children_user_s() -> f64 {
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6
}

/// Runs a tool in the directory and gives what it wrote.
fn run(dir: &Path, tool: &[&str], words: &[String]) -> String {
    let mut command = Command::new(tool[0]);
    command.args(&tool[1..]).args(words).current_dir(dir).stdin(Stdio::null());
    command.env("CANDOR_VERDICT", "off").env("CANDOR_HISTORY", "off");
    let out = command.output().expect("a tool that starts");
    assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}
