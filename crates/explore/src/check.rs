//! `candor check`: what is this storage, what should it do, what does it do?
//!
//! A short honest series. On a directory it works in one file of its own; the sequential write at
//! the start is both a measurement and what lays that file out. On a file or a device it only
//! reads, unless the user consents to writing.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use candor_plan::blocks::{Access, Durability, Hints};
use candor_plan::units::{Direction, Mix, PerDirection, SizeSpec};
use candor_plan::{Blocks, Bytes, Engine, Job, Layout, Nanos, Phase, Plan, Stop, Target};
use candor_record::{PhaseRecord, Report};
use candor_run::{Events, Local, Options, RunError, Runner, Step, cut_short};

use crate::saturate::{Concurrency, saturate};

/// The file's size, unless the user sets one: larger than the caches of most drives, and no more
/// than a quarter of what is free.
const SIZE_MAX: u64 = 4 << 30;
const LARGE: Bytes = Bytes(1 << 20);
const SMALL: Bytes = Bytes(4096);
const LARGE_DEPTH: u32 = 8;
const TARGET: &str = "target";
/// Inspection, set-up between steps, clean-up.
const OVERHEAD_SECONDS: f64 = 4.0;

/// What to check, and how.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Directory, file or block device.
    pub path: PathBuf,
    /// About how long it may take.
    pub seconds: u32,
    /// Bytes of the file, or of the part of the device.
    pub size: Option<Bytes>,
    /// Consent to overwrite a file or device.
    pub write: bool,
    /// Keep the file made in a directory.
    pub keep: bool,
}

/// Share of the time for each step, in seconds of a check of 56 seconds.
struct Times {
    sequential: f64,
    single: f64,
    search: f64,
    saturated: f64,
    durable: f64,
}

const WITH_WRITES: Times =
    Times { sequential: 8.0, single: 7.0, search: 6.0, saturated: 7.0, durable: 6.0 };
const READ_ONLY: Times =
    Times { sequential: 12.0, single: 14.0, search: 10.0, saturated: 20.0, durable: 0.0 };

impl Times {
    fn total(&self, writes: bool) -> f64 {
        let rounds = if writes { 2.0 } else { 1.0 };
        rounds * (self.sequential + self.single + self.saturated) + self.search + self.durable
    }
}

/// A check under way.
struct Check {
    writes: bool,
    direct: bool,
    engine: Engine,
    times: Times,
    /// Seconds of this check per second of [`Times`].
    scale: f64,
}

/// Runs the series.
///
/// # Errors
/// The path does not exist, or the series is refused. What goes wrong later is in the report.
pub fn check(
    options: &CheckOptions,
    run: &Options,
    events: &mut Events<'_>,
) -> Result<Report, RunError> {
    let path = options.path.canonicalize().map_err(RunError::file("find", &options.path))?;
    let in_directory = path.is_dir();
    let writes = in_directory || options.write;
    let times = if writes { WITH_WRITES } else { READ_ONLY };
    let scale = (f64::from(options.seconds) - OVERHEAD_SECONDS).max(1.0) / times.total(writes);
    let check = Check {
        writes,
        direct: candor_run::takes_direct(&path),
        engine: candor_run::best_async_engine(),
        times,
        scale,
    };
    let plan = Plan {
        name: format!("check of {}", options.path.display()),
        targets: vec![target(options, &path, in_directory)],
        seed: u64::from(std::process::id()),
        ..Plan::default()
    };
    let steps = if writes { 7 } else { 3 };
    let expected = Some((steps, Nanos::from_secs(u64::from(options.seconds))));
    let run = Options { expected, ..run.clone() };
    let mut runner: Box<Local> = Box::new(Local::open(&plan, &run, events)?);
    let cut_short = match check.steps(runner.as_mut(), events) {
        Ok(()) => None,
        Err(Stopped::Error(error)) if runner.plan().phases.is_empty() => return Err(error),
        Err(Stopped::Error(error)) => Some(error.to_string()),
        Err(Stopped::Early(why)) => Some(why),
    };
    Ok(runner.finish(cut_short, events))
}

/// Why the series ended before its end.
enum Stopped {
    /// A step could not run.
    Error(RunError),
    /// What a step showed, in a sentence.
    Early(String),
}

impl From<RunError> for Stopped {
    fn from(error: RunError) -> Stopped {
        Stopped::Error(error)
    }
}

fn target(options: &CheckOptions, path: &Path, in_directory: bool) -> Target {
    let file = path.join(format!("candor-check.{}", std::process::id()));
    // What exists is not made longer, so there is no more of it to use.
    let present = length(path).filter(|length| *length > 0 && !in_directory);
    let size = options.size.map(|size| Bytes(present.map_or(size.0, |length| size.0.min(length))));
    Target {
        name: TARGET.into(),
        path: if in_directory { file } else { path.to_owned() },
        size,
        layout: if in_directory { Layout::Write } else { Layout::Never },
        keep: options.keep,
        overwrite: options.write,
        ..Target::default()
    }
}

/// Length of a file or a block device; absent for what is neither, or cannot be opened.
fn length(path: &Path) -> Option<u64> {
    let kind = path.metadata().ok()?.file_type();
    let has_length = kind.is_file() || kind.is_block_device();
    has_length.then(|| File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0))).ok())?
}

/// What a series works on after a first pass that wrote so much of it: large operations that are
/// really there, one at least.
fn written_part(written: u64, size: u64) -> Bytes {
    let whole = |bytes: u64| bytes / LARGE.0 * LARGE.0;
    if written >= size { Bytes(size) } else { Bytes(whole(written).max(LARGE.0)) }
}

impl Check {
    fn steps(&self, runner: &mut dyn Runner, events: &mut Events<'_>) -> Result<(), Stopped> {
        if self.writes {
            self.lay_out(runner, events)?;
        }
        let times = &self.times;
        let large = self.blocks(Mix::READ, Access::Sequential, LARGE, LARGE_DEPTH);
        self.step(runner, "sequential read", large, 1, times.sequential, events)?;
        let small = |mix, depth| self.blocks(mix, Access::Random, SMALL, depth);
        let single = "random read, depth 1";
        self.step(runner, single, small(Mix::READ, 1), 1, times.single, events)?;
        let best = self.saturated(runner, events)?;
        let name = |op| format!("random {op}, {best}");
        let (depth, workers) = (best.depth, best.workers);
        let read = small(Mix::READ, depth);
        self.step(runner, &name("read"), read, workers, times.saturated, events)?;
        if self.writes {
            let single = "random write, depth 1";
            self.step(runner, single, small(Mix::WRITE, 1), 1, times.single, events)?;
            let write = small(Mix::WRITE, depth);
            self.step(runner, &name("write"), write, workers, times.saturated, events)?;
            self.step(runner, "durable write", self.durable(), 1, times.durable, events)?;
        }
        Ok(())
    }

    /// The sequential write. What it wrote is the file that all later steps work on.
    fn lay_out(&self, runner: &mut dyn Runner, events: &mut Events<'_>) -> Result<(), Stopped> {
        let target = runner.plan().target(TARGET).cloned().unwrap_or_default();
        let is_new = !target.path.exists();
        if is_new && target.size.is_none() {
            let filesystem = runner.facts().targets.first().and_then(|t| t.filesystem.as_ref());
            let free = filesystem.map_or(SIZE_MAX, |filesystem| filesystem.available_bytes);
            let size = SIZE_MAX.min(free / 4) / LARGE.0 * LARGE.0;
            runner.resize(TARGET, Bytes(size.max(LARGE.0)));
        }
        let write = self.blocks(Mix::WRITE, Access::Sequential, LARGE, LARGE_DEPTH);
        let phase = self.phase("sequential write", write, 1, self.times.sequential);
        let record = runner.phase(Step::Added(&phase), events)?;
        go_on(record)?;
        let written = record.measurements.first().map_or(0, |m| m.of(Direction::Write).bytes);
        let size = runner.plan().target(TARGET).and_then(|target| target.size);
        let size = size.map(|size| size.0).or_else(|| length(&target.path)).unwrap_or(written);
        runner.resize(TARGET, written_part(written, size));
        Ok(())
    }

    /// Every rate of writes includes the flush that makes them durable.
    fn blocks(&self, mix: Mix, access: Access, size: Bytes, depth: u32) -> Blocks {
        let durability = Durability { fsync_at_end: mix.write > 0, ..Durability::default() };
        // Without direct I/O, pages left from before would be measured.
        let hints = Hints { evict: !self.direct && mix.read > 0, ..Hints::default() };
        Blocks {
            mix,
            access,
            size: PerDirection::all(SizeSpec::Fixed(size)),
            depth,
            engine: self.engine,
            direct: self.direct,
            durability,
            hints,
            ..Blocks::default()
        }
    }

    /// What a database does at each commit: one write, made durable before the next.
    fn durable(&self) -> Blocks {
        let durability = Durability { fsync_every: 1, ..Durability::default() };
        let blocks = self.blocks(Mix::WRITE, Access::Random, SMALL, 1);
        Blocks { durability, engine: Engine::Psync, ..blocks }
    }

    fn phase(&self, name: &str, blocks: Blocks, workers: u32, seconds: f64) -> Phase {
        let time = Nanos((seconds * self.scale * 1e9) as u64);
        let job = Job {
            name: name.to_owned(),
            workers,
            targets: vec![TARGET.into()],
            work: blocks.into(),
            ..Job::default()
        };
        Phase {
            name: name.to_owned(),
            stop: Stop { time: Some(time), ..Stop::default() },
            jobs: vec![job],
            ..Phase::default()
        }
    }

    fn step(
        &self,
        runner: &mut dyn Runner,
        name: &str,
        blocks: Blocks,
        workers: u32,
        seconds: f64,
        events: &mut Events<'_>,
    ) -> Result<(), Stopped> {
        let phase = self.phase(name, blocks, workers, seconds);
        go_on(runner.phase(Step::Added(&phase), events)?)
    }

    /// The least concurrency at which random reads are as fast as they get.
    fn saturated(
        &self,
        runner: &mut dyn Runner,
        events: &mut Events<'_>,
    ) -> Result<Concurrency, Stopped> {
        let cpus = candor_record::facts::value(&runner.facts().host.cpus).copied().unwrap_or(1);
        let mut slice = |at: Concurrency, share: f64| {
            let blocks = self.blocks(Mix::READ, Access::Random, SMALL, at.depth);
            let name = format!("searching at {at}");
            let phase = self.phase(&name, blocks, at.workers, self.times.search * share);
            let record = runner.phase(Step::Search(&phase), events)?;
            go_on(record)?;
            Ok(record.measurements.first().map(Into::into).unwrap_or_default())
        };
        saturate(cpus, &mut slice)
    }
}

fn go_on(record: &PhaseRecord) -> Result<(), Stopped> {
    cut_short(record).map_or(Ok(()), |why| Err(Stopped::Early(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_used_than_there_is() {
        let file = tempfile::NamedTempFile::new().expect("a scratch file");
        file.as_file().set_len(9000).expect("sized");
        let asked = |size| {
            let (path, seconds) = (file.path().to_owned(), 1);
            let options = CheckOptions { path, seconds, size, write: false, keep: false };
            target(&options, file.path(), false).size
        };
        assert_eq!(asked(Some(Bytes(10 << 30))), Some(Bytes(9000)));
        assert_eq!(asked(Some(Bytes(4096))), Some(Bytes(4096)));
        assert_eq!(asked(None), None);
    }

    #[test]
    fn only_what_was_written_is_used() {
        let size = 100 * LARGE.0;
        assert_eq!(written_part(size, size), Bytes(size));
        assert_eq!(written_part(3 * size, size + 5), Bytes(size + 5));
        assert_eq!(written_part(7 * LARGE.0 + 1, size), Bytes(7 * LARGE.0));
        assert_eq!(written_part(0, size), LARGE);
    }
}
