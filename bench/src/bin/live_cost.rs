//! Cost of being watched: `live_cost CANDOR DIRECTORY [ROUNDS] [PAIRS] [SECONDS]`.
//!
//! First the CPU time of the thread that draws the screen of a run of 64 workers, with the frames
//! that a terminal got meanwhile. Then the rate and the p99 of runs with and without a screen, and
//! with and without somebody who reads `--metrics` each second, in turn. The directory should lie
//! in memory; a file of 256 MiB is made in it and removed.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

#[path = "../stats.rs"]
mod stats;

use stats::Spread;

type Failure = Box<dyn std::error::Error>;

/// Columns and rows.
const SIZES: [(u16, u16); 2] = [(80, 24), (200, 60)];
/// Views: name, and the key that shows it.
const VIEWS: [(&str, &[u8]); 2] = [("overview", b"1"), ("64 workers", b"3")];
/// Intervals of samples: each one changes the screen.
const INTERVALS: [&str; 2] = ["100ms", "1s"];
/// Loads of the pairs: name, and candor's words without the target.
const LOADS: [(&str, &str); 3] = [
    ("null, 2 workers", "--engine null --workers 2"),
    ("null, 64 workers", "--engine null --workers 64"),
    ("4 KiB from memory, 2 workers", "--engine psync --workers 2"),
];
/// Time that candor needs before it works, and for its first samples.
const START: Duration = Duration::from_secs(4);
/// Silence that parts two frames, which come 100 ms apart at least.
const BETWEEN_FRAMES: Duration = Duration::from_millis(30);
const PORT: &str = "19467";

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, directory, rest @ ..] = &words[..] else {
        return Err("usage: live_cost CANDOR DIRECTORY [ROUNDS] [PAIRS] [SECONDS]".into());
    };
    let number = |at: usize, default| rest.get(at).map_or(Ok(default), |word| word.parse());
    let (rounds, pairs, seconds) = (number(0, 5)?, number(1, 11)?, number(2, 30)?);
    println!("| terminal | view | sample each | frames a second | CPU of the screen |");
    println!("|---|---|---|---:|---:|");
    for interval in INTERVALS {
        for size in SIZES {
            for view in VIEWS {
                let all = (0..rounds)
                    .map(|_| screen_cost(candor, size, (view.1, interval), seconds))
                    .collect::<Result<Vec<_>, _>>()?;
                let frames = spread(all.iter().map(|of| of.0), 1);
                let cpu = spread(all.iter().map(|of| of.1 * 100.0), 2);
                let (columns, rows) = size;
                println!("| {columns}×{rows} | {} | {interval} | {frames} | {cpu} % |", view.0);
            }
        }
    }
    let file = ScratchFile::make(directory)?;
    println!();
    println!("| load | watched by | IOPS without | IOPS, with ÷ without | p99, with ÷ without |");
    println!("|---|---|---:|---:|---:|");
    for (name, load) in LOADS {
        for way in [Way::Screen, Way::Metrics, Way::Nobody] {
            println!("| {name} | {way:?} | {} |", compare(candor, &file.0, load, way, pairs)?);
        }
    }
    Ok(())
}

fn spread(figures: impl IntoIterator<Item = f64>, decimals: usize) -> String {
    Spread::of(figures).map_or_else(|| "-".to_owned(), |spread| spread.text(decimals))
}

/// Frames per second that a terminal gets, and CPU time per second of the thread that draws them.
fn screen_cost(
    candor: &str,
    size: (u16, u16),
    (key, interval): (&[u8], &str),
    seconds: u64,
) -> Result<(f64, f64), Failure> {
    let time = (START.as_secs() + seconds + 4).to_string();
    let load = "--target /dev/null --size 1g --engine null --workers 64 --rate-iops 20000";
    let mut words = run_words(load, &time);
    words.extend(["--interval", interval]);
    let mut run = OnTerminal::start(candor, &words, size)?;
    run.frames(START);
    rustix::io::write(&run.master, key)?;
    run.frames(Duration::from_millis(500));
    let (begun, before) = (Instant::now(), run.screen_ns()?);
    let frames = run.frames(Duration::from_secs(seconds));
    let (cpu_ns, elapsed) = (run.screen_ns()? - before, begun.elapsed().as_secs_f64());
    Ok((frames as f64 / elapsed, cpu_ns / 1e9 / elapsed))
}

/// Watcher of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Screen,
    Metrics,
    /// Both runs of a pair are alike: the noise.
    Nobody,
}

/// A line of figures of pairs of runs.
fn compare(candor: &str, file: &str, load: &str, way: Way, pairs: u64) -> Result<String, Failure> {
    let (mut rates, mut iops, mut p99s) = (vec![], vec![], vec![]);
    for pair in 0..pairs {
        let mut of_pair = [(0.0, 0.0); 2];
        for turn in 0..2 {
            // Which is first changes, so that no drift is taken for a cost.
            let is_on = (pair + turn) % 2 == 0;
            of_pair[usize::from(is_on)] = figures(candor, file, load, way, is_on)?;
        }
        let [(iops_off, p99_off), (iops_on, p99_on)] = of_pair;
        rates.push(iops_off);
        iops.push(iops_on / iops_off);
        p99s.push(p99_on / p99_off);
    }
    Ok(format!("{} | {} | {}", spread(rates, 0), spread(iops, 3), spread(p99s, 3)))
}

/// Operations per second and p99 of one run.
fn figures(
    candor: &str,
    file: &str,
    load: &str,
    way: Way,
    is_on: bool,
) -> Result<(f64, f64), Failure> {
    let target = if load.contains("null") { "/dev/null --size 1g" } else { file };
    let (load, json) = (format!("--target {target} {load}"), format!("{file}.json"));
    let mut words = run_words(&load, "3");
    // The screen changes as often as frames are drawn.
    words.extend(["--interval", "100ms", "--json", &json]);
    match (way, is_on) {
        (Way::Screen, true) => {}
        (Way::Metrics, true) => words.extend(["--quiet", "--no-live", "--metrics", PORT]),
        _ => words.extend(["--quiet", "--no-live"]),
    }
    let mut run = OnTerminal::start(candor, &words, SIZES[0])?;
    let mut scraped = Instant::now();
    while run.child.try_wait()?.is_none() {
        run.frames(Duration::from_millis(100));
        if way == Way::Metrics && is_on && scraped.elapsed() >= Duration::from_secs(1) {
            scraped = Instant::now();
            // Nobody answers before it begins.
            let _ = scrape();
        }
    }
    let text = fs::read_to_string(&json)?;
    fs::remove_file(&json)?;
    let report: Value = serde_json::from_str(&text)?;
    let read = &report["phases"][0]["measurements"][0]["operations"]["read"];
    let percentiles = read["latency"]["percentiles"].as_array().into_iter().flatten();
    let p99 = percentiles
        .into_iter()
        .find(|of| of[0].as_f64() == Some(99.0))
        .and_then(|of| of[1].as_f64());
    Ok((read["ops_per_s"].as_f64().ok_or("no rate")?, p99.ok_or("no p99")?))
}

fn scrape() -> std::io::Result<()> {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{PORT}"))?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
    stream.read_to_end(&mut Vec::new()).map(|_| ())
}

fn run_words<'a>(load: &'a str, seconds: &'a str) -> Vec<&'a str> {
    let all = ["run", "--rw", "randread", "--bs", "4k", "--no-follow-ups", "--seconds", seconds];
    all.into_iter().chain(load.split(' ')).collect()
}

/// A file that is removed in the end.
struct ScratchFile(String);

impl ScratchFile {
    fn make(directory: &str) -> std::io::Result<ScratchFile> {
        let path = format!("{directory}/live_cost.data");
        let mut file = File::create(&path)?;
        let block = vec![0x5a; 1 << 20];
        (0..256).try_for_each(|_| file.write_all(&block))?;
        Ok(ScratchFile(path))
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Candor on a pseudo-terminal. Killed when dropped.
struct OnTerminal {
    master: OwnedFd,
    child: Child,
}

impl OnTerminal {
    fn start(
        candor: &str,
        words: &[&str],
        (columns, rows): (u16, u16),
    ) -> Result<OnTerminal, Failure> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size)?;
        let name = ptsname(&master, Vec::new())?.into_string()?;
        let noctty = OFlags::NOCTTY.bits() as i32;
        let open = || OpenOptions::new().read(true).write(true).custom_flags(noctty).open(&name);
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(candor).args(words);
        command.env("TERM", "xterm").env("CANDOR_HISTORY", "off");
        command.stdin(Stdio::from(open()?)).stdout(open()?).stderr(open()?);
        rustix::fs::fcntl_setfl(&master, OFlags::NONBLOCK)?;
        Ok(OnTerminal { master, child: command.spawn()? })
    }

    /// Reads what is written for so long, and counts the frames.
    fn frames(&mut self, time: Duration) -> u64 {
        let begun = Instant::now();
        let (mut frames, mut last): (u64, Option<Instant>) = (0, None);
        while let Some(left) = time.checked_sub(begun.elapsed()) {
            let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
            let _ = poll(&mut fds, Timespec::try_from(left).ok().as_ref());
            let mut bytes = [0; 64 << 10];
            match rustix::io::read(&self.master, &mut bytes) {
                Ok(1..) => {
                    let is_new = last.is_none_or(|last| last.elapsed() > BETWEEN_FRAMES);
                    frames += u64::from(is_new);
                    last = Some(Instant::now());
                }
                // The terminal's other end is closed.
                Err(rustix::io::Errno::IO) => std::thread::sleep(Duration::from_millis(10)),
                _ => {}
            }
        }
        frames
    }

    /// CPU time of the thread that draws, in ns.
    fn screen_ns(&self) -> Result<f64, Failure> {
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let task = task?.path();
            if fs::read_to_string(task.join("comm"))
                .is_ok_and(|name| name.trim() == "candor/screen")
            {
                let text = fs::read_to_string(task.join("schedstat"))?;
                return Ok(text.split(' ').next().unwrap_or_default().parse()?);
            }
        }
        Err("there is no thread that draws".into())
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
