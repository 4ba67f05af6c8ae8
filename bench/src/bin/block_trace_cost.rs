//! Cost of the block tracer: `block_trace_cost CANDOR DEVICE [PAIRS]`.
//!
//! `CANDOR run --block-trace off` reads the device at random with the tracer on and off in turn.
//! The slices of a pair lie side by side, so that whatever else the machine does falls on both;
//! starting the tracer lies between slices. Nothing is written to the device.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use candor_observe::trace::{BlockTracer, Budget};
use candor_observe::{Roots, inspect};

/// The loads: what they are called, and candor's words for them.
const LOADS: [(&str, &str); 3] = [
    ("psync, 4 KiB", "--engine psync --bs 4k"),
    ("psync, 16 KiB", "--engine psync --bs 16k"),
    ("io_uring, depth 32, reaped by 16", "--engine io_uring --bs 4k --depth 32 --batch-reap 16"),
];

/// Loads of the tracer: name, budget, and length of a slice. A budget needs time to be spent and to
/// accumulate. Without a budget both slices are alike, and the ratio is the noise.
const WAYS: [(&str, Option<Budget>, Duration); 3] = [
    ("all requests", Some(Budget::Unbounded), Duration::from_millis(200)),
    ("a quarter of a percent of a CPU", Some(Budget::Share(0.0025)), Duration::from_millis(2500)),
    ("none (control)", None, Duration::from_millis(2500)),
];

/// Time that candor needs before it reads.
const START: Duration = Duration::from_millis(2000);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, device, rest @ ..] = &words[..] else {
        eprintln!("usage: block_trace_cost CANDOR DEVICE [PAIRS]");
        std::process::exit(2);
    };
    let pairs = rest.first().and_then(|word| word.parse().ok()).unwrap_or(15);
    println!("| load | traced | reads/s on | reads/s off | on ÷ off | CPU per read |");
    println!("|---|---|---:|---:|---:|---:|");
    for (load, load_words) in LOADS {
        for (way, budget, slice) in WAYS {
            let time = START + (slice + Duration::from_millis(300)) * 2 * pairs;
            let Some(reader) = Reader::start(candor, device, load_words, time) else {
                eprintln!("{candor} or {device} does not work");
                std::process::exit(1);
            };
            let found = compare(&reader, device, budget, slice, pairs);
            println!("| {load} | {way} | {found} |");
        }
    }
}

/// A line of medians, with quartiles of the ratios.
fn compare(
    reader: &Reader,
    device: &str,
    tracer: Option<Budget>,
    slice: Duration,
    pairs: u32,
) -> String {
    let facts = inspect(&[("device".to_owned(), PathBuf::from(device))], &Roots::default());
    let (mut rates, mut costs, mut on, mut off) = (vec![], vec![], vec![], vec![]);
    for pair in 0..pairs {
        let mut of_pair = [(0.0, 0.0); 2];
        for turn in 0..2 {
            // Which is first changes, so that no drift is taken for a cost.
            let is_on = (pair + turn) % 2 == 0;
            let budget = tracer.filter(|_| is_on);
            let tracer = budget.map(|budget| BlockTracer::start(&facts, budget, &Roots::default()));
            if let Some(Err(missing)) = &tracer {
                eprintln!("{}: {}", missing.why, missing.enable);
                std::process::exit(1);
            }
            of_pair[usize::from(is_on)] = reader.slice(slice);
        }
        let [(rate_off, cost_off), (rate_on, cost_on)] = of_pair;
        rates.push(rate_on / rate_off);
        costs.push(cost_on / cost_off);
        on.push(rate_on);
        off.push(rate_off);
    }
    let (rate, cost) = (quartiles(rates), quartiles(costs));
    format!("{:.0} | {:.0} | {rate} | {cost}", middle(on), middle(off))
}

/// A process that reads the device.
struct Reader {
    process: Child,
    stat: PathBuf,
}

impl Reader {
    fn start(candor: &str, device: &str, words: &str, time: Duration) -> Option<Reader> {
        let mut command = Command::new(candor);
        command.args([
            "run",
            "--target",
            device,
            "--rw",
            "randread",
            "--direct",
            "--block-trace",
            "off",
        ]);
        command.args(words.split(' ')).args(["--seconds", &time.as_secs().to_string(), "--quiet"]);
        let process = command.stdout(Stdio::null()).spawn().ok()?;
        let name = Path::new(device).file_name()?;
        let stat = Path::new("/sys/block").join(name).join("stat");
        let reader = Reader { process, stat };
        std::thread::sleep(START);
        (reader.reads() > 0.0).then_some(reader)
    }

    /// Reads per second in a slice, and the process's CPU time for each of them in ns.
    fn slice(&self, time: Duration) -> (f64, f64) {
        let (begin, reads, cpu) = (Instant::now(), self.reads(), self.cpu_ns());
        std::thread::sleep(time);
        let (elapsed, done) = (begin.elapsed().as_secs_f64(), self.reads() - reads);
        (done / elapsed, (self.cpu_ns() - cpu) / done)
    }

    fn reads(&self) -> f64 {
        let text = fs::read_to_string(&self.stat).unwrap_or_default();
        text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
    }

    /// CPU time of all threads so far.
    fn cpu_ns(&self) -> f64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process.id()));
        let of_task = |task: fs::DirEntry| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<f64>().ok()
        };
        tasks.into_iter().flatten().flatten().filter_map(of_task).sum()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The figure in the middle.
fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median with quartiles, `0.98 (0.96–1.01)`.
fn quartiles(mut figures: Vec<f64>) -> String {
    figures.sort_by(f64::total_cmp);
    let at = |share: usize| figures[(figures.len() - 1) * share / 4];
    format!("{:.3} ({:.3}–{:.3})", at(2), at(1), at(3))
}
