//! Cost of agents: `fleet_cost CANDOR DIRECTORY [ROUNDS] [SECONDS]`.
//!
//! First the rate, the CPU time of an operation and the p99 of runs on this host, of the same runs
//! by way of one agent here, and of runs that are alike as the noise, in turns. Then, for so many
//! agents on this host, how far apart their starts are, how well their clocks are known, how much
//! memory and CPU time the coordinator takes, and how long a run takes beside its phase.
//!
//! A file of 256 MiB is made in the directory and removed. Its file system should be one whose
//! cached reads io_uring serves at once, such as ext4 or xfs: those of tmpfs take a second thread,
//! which leaves the coordinator and the agent no CPU of their own where there are two.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

#[path = "../stats.rs"]
mod stats;

use stats::Spread;

type Failure = Box<dyn std::error::Error>;

/// Loads that are compared: name, and candor's words without the target.
const LOADS: [(&str, &str); 2] = [
    ("null, 1 worker", "--engine null"),
    ("io_uring, 4 KiB from memory, depth 16", "--engine io_uring --depth 16"),
];
/// Numbers of agents; of the last, some lead others.
const AGENTS: [usize; 4] = [1, 8, 32, 72];
/// Ways of a comparison.
const HERE: usize = 0;
const AGENT: usize = 1;
const ALIKE: usize = 2;
/// A round has a turn of each order, so that each way is as often the first, and as often behind
/// each other, and no drift is taken for a cost. A figure of a round is that of all of its turns.
const ORDERS: [[usize; 3]; 6] = [
    [HERE, AGENT, ALIKE],
    [AGENT, ALIKE, HERE],
    [ALIKE, HERE, AGENT],
    [ALIKE, AGENT, HERE],
    [HERE, ALIKE, AGENT],
    [AGENT, HERE, ALIKE],
];
/// A tick of `/proc/PID/stat`, in ms.
const TICK_MS: f64 = 10.0;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, directory, rest @ ..] = &words[..] else {
        return Err("usage: fleet_cost CANDOR DIRECTORY [ROUNDS] [SECONDS]".into());
    };
    let number = |at: usize, default| rest.get(at).map_or(Ok(default), |word| word.parse());
    let (rounds, seconds): (u64, u64) = (number(0, 11)?, number(1, 1)?);
    let scratch = ScratchFolder::make(directory)?;
    let bench = Bench { candor, folder: &scratch.0, seconds };
    bench.candor(&["fleet", "keys", &bench.path("keys")])?;
    println!(
        "| load | by way of | IOPS on this host | IOPS, by way of it ÷ here | CPU time of an \
         operation, the same | p99, the same |"
    );
    println!("|---|---|---:|---:|---:|---:|");
    for (name, load) in LOADS {
        bench.compare(name, load, rounds)?;
    }
    println!();
    println!(
        "| agents | starts apart, µs | clock error, µs | memory of the coordinator, MiB | its CPU \
         time, ms | beside the phase, ms |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    for count in AGENTS {
        println!("| {count} | {} |", bench.together(count, rounds)?);
    }
    Ok(())
}

fn spread(figures: impl IntoIterator<Item = f64>, decimals: usize) -> String {
    Spread::of(figures).map_or_else(|| "-".to_owned(), |spread| spread.text(decimals))
}

struct Bench<'a> {
    candor: &'a str,
    folder: &'a str,
    seconds: u64,
}

/// A run that has ended.
struct Ran {
    report: Value,
    wall: Duration,
    memory_kib: f64,
    cpu_ms: f64,
}

impl Bench<'_> {
    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn candor(&self, words: &[&str]) -> Result<(), Failure> {
        let status = Command::new(self.candor).args(words).stdout(Stdio::null()).status()?;
        if status.success() { Ok(()) } else { Err(format!("{words:?}: {status}").into()) }
    }

    /// Runs these words, on hosts where there are some.
    fn run(&self, words: &str, hosts: &[Agent]) -> Result<Ran, Failure> {
        let (json, keys) = (self.path("report.json"), self.path("keys"));
        let addresses: Vec<&str> = hosts.iter().map(|agent| agent.address.as_str()).collect();
        let addresses = addresses.join(",");
        let mut command = Command::new(self.candor);
        command.args(["run", "--no-follow-ups", "--no-live", "--quiet", "--json", &json]);
        command.args(words.split(' ')).env("CANDOR_HISTORY", "off");
        if !hosts.is_empty() {
            command.args(["--keys", &keys, "--hosts", &addresses]);
        }
        let begun = Instant::now();
        let mut child = command.stdout(Stdio::null()).spawn()?;
        let (mut memory_kib, mut cpu_ms) = (0.0, 0.0);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            // The last look before the end is the one that counts.
            memory_kib = memory_max_kib(child.id()).unwrap_or(memory_kib);
            cpu_ms = cpu_time_ms(child.id()).unwrap_or(cpu_ms);
            std::thread::sleep(Duration::from_millis(2));
        };
        let wall = begun.elapsed();
        if !status.success() {
            return Err(format!("{words}: {status}").into());
        }
        let report = serde_json::from_str(&fs::read_to_string(&json)?)?;
        fs::remove_file(&json)?;
        Ok(Ran { report, wall, memory_kib, cpu_ms })
    }

    /// Two lines of figures: of runs by way of an agent, and of runs that are alike.
    fn compare(&self, name: &str, load: &str, rounds: u64) -> Result<(), Failure> {
        let agents = [Agent::start(self)?];
        let target = if load.contains("null") {
            "--target /dev/null --size 1g".to_owned()
        } else {
            format!("--target {}", self.path("data"))
        };
        let words = format!("{target} --rw randread --bs 4k {load} --seconds {}", self.seconds);
        let mut rates = Vec::new();
        let mut ratios: [[Vec<f64>; 3]; 2] = Default::default();
        for _ in 0..rounds {
            let mut sums = [Sum::default(); 3];
            for way in ORDERS.into_iter().flatten() {
                let hosts = if way == AGENT { &agents[..] } else { &[] };
                sums[way].add(&self.run(&words, hosts)?.report)?;
            }
            let here = sums[HERE].figures();
            rates.push(here[0] / ORDERS.len() as f64);
            for (way, ratios) in [AGENT, ALIKE].into_iter().zip(&mut ratios) {
                let there = sums[way].figures();
                for (at, ratios) in ratios.iter_mut().enumerate() {
                    ratios.push(there[at] / here[at]);
                }
            }
        }
        let rates = spread(rates, 0);
        for (way, ratios) in ["an agent", "nothing: the noise"].into_iter().zip(ratios) {
            let [iops, cpu, p99] = ratios.map(|ratios| spread(ratios, 3));
            println!("| {name} | {way} | {rates} | {iops} | {cpu} | {p99} |");
        }
        Ok(())
    }

    /// A line of figures of runs on so many agents.
    fn together(&self, count: usize, runs: u64) -> Result<String, Failure> {
        let agents = (0..count).map(|_| Agent::start(self)).collect::<Result<Vec<_>, _>>()?;
        let data = self.path("data");
        // Little to do, so that agents do not wait for each other's CPU.
        let words = format!("--target {data} --rw randread --bs 4k --rate-iops 100 --seconds 1");
        let [mut apart, mut errors, mut memory, mut cpu, mut beside] = [const { vec![] }; 5];
        for _ in 0..runs {
            let ran = self.run(&words, &agents)?;
            let phase = &ran.report["phases"][0];
            let hosts = phase["hosts"].as_array().ok_or("no hosts")?;
            let of = |key: &str| -> Vec<f64> {
                hosts.iter().filter_map(|host| host["member"][key].as_f64()).collect()
            };
            let late = Spread::of(of("started_late_ns")).ok_or("nobody has started")?;
            apart.push((late.max - late.min) / 1e3);
            errors.extend(of("clock_error_ns").into_iter().map(|ns| ns / 1e3));
            memory.push(ran.memory_kib / 1024.0);
            cpu.push(ran.cpu_ms);
            let phase_ns = phase["measurements"][0]["elapsed_ns"].as_f64().ok_or("no time")?;
            beside.push(ran.wall.as_secs_f64() * 1e3 - phase_ns / 1e6);
        }
        Ok(format!(
            "{} | {} | {} | {} | {}",
            spread(apart, 0),
            spread(errors, 0),
            spread(memory, 1),
            spread(cpu, 0),
            spread(beside, 0)
        ))
    }
}

/// Most memory that a process has had, in KiB; none once it has ended.
fn memory_max_kib(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// CPU time that a process has taken, in ms; none once it has ended.
fn cpu_time_ms(process: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name in brackets, which may have spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    let times = rest.split_whitespace().skip(11).take(2);
    Some(times.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * TICK_MS)
}

/// Runs of one way in a round, summed up.
#[derive(Clone, Copy, Default)]
struct Sum {
    ops: f64,
    ops_per_s: f64,
    cpu_ns: f64,
    p99_ns: f64,
}

impl Sum {
    fn add(&mut self, report: &Value) -> Result<(), Failure> {
        let measured = &report["phases"][0]["measurements"][0];
        let read = &measured["operations"]["read"];
        let figure = |of: &Value, key: &str| of[key].as_f64().ok_or(format!("no {key}"));
        let mut percentiles = read["latency"]["percentiles"].as_array().into_iter().flatten();
        let p99 = percentiles.find(|of| of[0].as_f64() == Some(99.0)).and_then(|of| of[1].as_f64());
        for worker in measured["per_worker"].as_array().ok_or("no workers")? {
            self.ops += figure(worker, "ops")?;
            self.cpu_ns += figure(worker, "cpu_user_ns")? + figure(worker, "cpu_system_ns")?;
        }
        self.ops_per_s += figure(read, "ops_per_s")?;
        self.p99_ns += p99.ok_or("no p99")?;
        Ok(())
    }

    /// Rate, CPU time of an operation and p99, of which only ratios to those of as many runs count.
    fn figures(&self) -> [f64; 3] {
        [self.ops_per_s, self.cpu_ns / self.ops, self.p99_ns]
    }
}

/// An agent on a free port. Killed when dropped.
struct Agent {
    child: Child,
    address: String,
}

impl Agent {
    fn start(bench: &Bench) -> Result<Agent, Failure> {
        let mut command = Command::new(bench.candor);
        command.args(["agent", "--listen", "127.0.0.1:0", "--keys", &bench.path("keys")]);
        command.args(["--allow", bench.folder, "--allow", "/dev/null"]);
        command.stderr(Stdio::piped()).env("CANDOR_HISTORY", "off");
        let child = command.spawn()?;
        let mut agent = Agent { child, address: String::new() };
        let stderr = agent.child.stderr.take().ok_or("no log")?;
        let mut log = BufReader::new(stderr);
        let mut line = String::new();
        log.read_line(&mut line)?;
        let address = line.split(" listens on ").nth(1).ok_or(format!("no agent: {line}"))?;
        agent.address = address.trim().to_owned();
        // It goes on to log.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Ok(agent)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with a file, both removed in the end.
struct ScratchFolder(String);

impl ScratchFolder {
    fn make(directory: &str) -> Result<ScratchFolder, Failure> {
        let path = format!("{directory}/fleet_cost-{}", std::process::id());
        fs::create_dir(&path)?;
        let folder = ScratchFolder(path);
        let mut file = File::create(format!("{}/data", folder.0))?;
        let block = vec![0x5a; 1 << 20];
        (0..256).try_for_each(|_| file.write_all(&block))?;
        Ok(folder)
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
