//! `candor check`: what is this storage, what should it do, what does it do?
//!
//! A short honest series. On a directory it works in one file of its own; the sequential write at
//! the start is both a measurement and what lays that file out. Small files come last. On a file or
//! a device it only reads, unless the user consents to writing.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Instant;

use candor_plan::blocks::{Access, Durability, Hints, Share};
use candor_plan::units::{Mix, PerDirection, SizeSpec};
use candor_plan::{
    Blocks, Bytes, Engine, FileName, Job, Layout, Nanos, PathText, Phase, Plan, Sharing, Stop,
    Target, TargetKind,
};
use candor_record::Report;
use candor_record::facts::PathKind;
use candor_run::{Channels, Options, Run, RunError, Runner, Step, Stopped, Survey};

use crate::saturate::{Concurrency, Trial, saturate};
use crate::small_files::{self, SmallFiles};

/// The file's size, unless the user sets one: larger than the caches of most drives, and no more
/// than a quarter of what is free.
const SIZE_MAX: u64 = 4 << 30;
const LARGE: Bytes = Bytes(1 << 20);
const SMALL: Bytes = Bytes(4096);
const LARGE_DEPTH: u32 = 8;
const TARGET: &str = "target";
/// Set-up of a step, and its share of inspection and clean-up.
const OVERHEAD_SECONDS: f64 = 0.2;
/// Steps of a search, of which there may be fewer.
const SEARCH_STEPS: f64 = 6.0;

/// Least share of its planned time that a late step gets, and of the whole that its rest counts
/// as.
const LEAST_SHARE: f64 = 0.1;

/// Options of the series.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Directory, file or block device.
    pub path: PathBuf,
    /// About how long it may take.
    pub time: Nanos,
    /// Bytes of the file, or of the part of the device.
    pub size: Option<Bytes>,
    /// Consent to overwrite a file or device.
    pub write: bool,
    /// Keep the file made in a directory.
    pub keep: bool,
    /// Hosts that do it at once.
    pub hosts: u32,
}

/// Share of the time for each step, in seconds of a check of so many seconds in all: none of the
/// results on one file or device is shorter than the 8 s from which the judge says nothing of their
/// length, and no files are made or read for less than the 3 s from which it only mentions it.
struct Times {
    sequential: f64,
    single: f64,
    search: f64,
    saturated: f64,
    durable: f64,
    /// In a directory only.
    small_files: Option<small_files::Times>,
}

const WITH_WRITES: Times = Times {
    sequential: 8.5,
    single: 8.5,
    search: 6.5,
    saturated: 8.5,
    durable: 8.5,
    small_files: None,
};
const IN_DIRECTORY: Times = Times {
    small_files: Some(small_files::Times { trial: 0.4, data: 3.3, names: 0.5, remove: 3.3 }),
    ..WITH_WRITES
};
const READ_ONLY: Times = Times {
    sequential: 18.0,
    single: 21.0,
    search: 15.0,
    saturated: 30.0,
    durable: 0.0,
    small_files: None,
};

impl Times {
    fn total(&self, writes: bool) -> f64 {
        let rounds = if writes { 2.0 } else { 1.0 };
        let small_files = self.small_files.as_ref().map_or(0.0, small_files::Times::total);
        let one_file = self.sequential + self.single + self.saturated;
        rounds * one_file + self.search + self.durable + small_files
    }
}

/// Divides the time of the check among its steps: each step gets its share of the remaining time.
struct Clock {
    begun: Instant,
    /// Seconds of the whole check.
    seconds: f64,
    /// Seconds of [`Times`] in all.
    total: f64,
    /// Seconds of [`Times`] of the steps so far.
    spent: Cell<f64>,
    /// Seconds that the steps so far were given.
    taken: Cell<f64>,
    /// Seconds of set-up and inspection of all steps.
    overhead: f64,
}

impl Clock {
    /// Seconds of this check per second of [`Times`], from now on.
    fn scale(&self) -> f64 {
        let planned = (self.seconds - self.overhead).max(1.0) / self.total;
        // A step that is repeated was not planned.
        let rest = (self.total - self.spent.get()).max(self.total * LEAST_SHARE);
        let overhead = self.overhead * rest / self.total;
        let elapsed = self.begun.elapsed().as_secs_f64().max(self.taken.get());
        let left = self.seconds - overhead - elapsed;
        (left / rest).max(planned * LEAST_SHARE)
    }

    /// The time of a step of `seconds` of [`Times`].
    fn take(&self, seconds: f64) -> Nanos {
        let time = seconds * self.scale();
        self.spent.set(self.spent.get() + seconds);
        self.taken.set(self.taken.get() + time);
        Nanos((time * 1e9) as u64)
    }
}

/// Names of the results of a check of a directory, or of a file or device that it may write to or
/// not; N is the depth that a search finds.
pub fn results(in_directory: bool, writes: bool) -> Vec<String> {
    let file = [
        ("sequential write", true),
        ("sequential read", false),
        ("random read, depth 1", false),
        ("random read, depth N", false),
        ("random write, depth 1", true),
        ("random write, depth N", true),
        ("durable write", true),
    ];
    let writes = writes || in_directory;
    let file = file.iter().filter(|(_, is_write)| writes || !is_write);
    let trees = small_files::results().filter(|_| in_directory);
    file.map(|(name, _)| (*name).to_owned()).chain(trees).collect()
}

/// A check under way.
struct Check {
    writes: bool,
    in_directory: bool,
    hosts: u32,
    direct: bool,
    engine: Engine,
    times: Times,
    clock: Clock,
    /// Small files for which there is room beside the large one.
    room: u64,
}

/// Runs the series on the hosts of a runner.
///
/// # Errors
/// The path does not exist, or the series is refused. What goes wrong later is in the report.
pub fn check(
    options: &CheckOptions,
    runner: Box<dyn Runner>,
    run: &Options,
    channels: &Channels,
) -> Result<Report, RunError> {
    let mut run = Run::new(runner, run, channels);
    let survey = run.survey(&options.path)?;
    let in_directory = survey.kind == PathKind::Directory;
    let writes = in_directory || options.write;
    let times = match (in_directory, writes) {
        (true, _) => IN_DIRECTORY,
        (false, true) => WITH_WRITES,
        (false, false) => READ_ONLY,
    };
    let total = times.total(writes);
    let seconds = options.time.as_secs_f64();
    let hosts = options.hosts.max(1);
    let mut targets = vec![target(options, &survey)];
    let room = small_files::room(survey.space);
    if in_directory {
        targets.extend(small_files::targets(&survey.path, hosts, room));
    }
    let plan = Plan {
        name: format!("check of {}", options.path.text()),
        targets,
        seed: u64::from(std::process::id()),
        hosts,
        ..Plan::default()
    };
    let (direct, engine) = (survey.takes_direct, survey.engine);
    let phases: usize = match (in_directory, writes) {
        (true, _) => 17,
        (false, true) => 7,
        (false, false) => 3,
    };
    let clock = Clock {
        begun: Instant::now(),
        seconds,
        total,
        spent: Cell::new(0.0),
        taken: Cell::new(0.0),
        overhead: (phases as f64 + SEARCH_STEPS) * OVERHEAD_SECONDS,
    };
    let check = Check { writes, in_directory, hosts, direct, engine, times, clock, room };
    run.open(plan, Some((phases, options.time)))?;
    let ended = check.steps(&mut run);
    run.finish(ended)
}

fn target(options: &CheckOptions, survey: &Survey) -> Target {
    let in_directory = survey.kind == PathKind::Directory;
    let own = format!("candor-check.{}", std::process::id());
    let target = match (in_directory, options.hosts) {
        (false, _) => Target { path: survey.path.clone(), ..Target::default() },
        (true, 0 | 1) => Target { path: survey.path.join(own), ..Target::default() },
        // A file of each host.
        (true, hosts) => Target {
            path: survey.path.clone(),
            kind: TargetKind::FileSet,
            files: hosts,
            file_name: Some(FileName::joined([own + ".", String::new()])),
            ..Target::default()
        },
    };
    // What exists is not made longer, so there is no more of it to use.
    let present = survey.length_bytes.filter(|length| *length > 0);
    let size = options.size.map(|size| Bytes(present.map_or(size.0, |length| size.0.min(length))));
    Target {
        name: TARGET.into(),
        size,
        layout: if in_directory { Layout::Needed } else { Layout::Never },
        keep: options.keep,
        overwrite: options.write,
        ..target
    }
}

/// The part of a file to work on after a first pass that wrote so much of it: large operations that
/// are really there, one at least.
fn written_part(written: u64, size: u64) -> Bytes {
    let whole = |bytes: u64| bytes / LARGE.0 * LARGE.0;
    if written >= size { Bytes(size) } else { Bytes(whole(written).max(LARGE.0)) }
}

impl Check {
    fn steps(&self, run: &mut Run) -> Result<(), Stopped> {
        if self.writes {
            self.lay_out(run)?;
        }
        let times = &self.times;
        let large = self.blocks(Mix::READ, Access::Sequential, LARGE, LARGE_DEPTH);
        self.step(run, "sequential read", large, 1, times.sequential)?;
        let small = |mix, depth| self.blocks(mix, Access::Random, SMALL, depth);
        let alone = self.step(run, "random read, depth 1", small(Mix::READ, 1), 1, times.single)?;
        let mut best = self.saturated(run, alone.ops_per_s, "searching")?;
        let deep = |run: &mut Run, best: Concurrency, again: &str| {
            let name = format!("random read, {best}{again}");
            self.step(run, &name, small(Mix::READ, best.depth), best.workers, times.saturated)
        };
        if deep(run, best, "")?.ops_per_s < alone.ops_per_s {
            // More in flight is no slower by itself: something disturbed the search or the step.
            best = self.saturated(run, alone.ops_per_s, "searching once more")?;
            deep(run, best, ", again")?;
        }
        let (depth, workers) = (best.depth, best.workers);
        if self.writes {
            self.step(run, "random write, depth 1", small(Mix::WRITE, 1), 1, times.single)?;
            let write = small(Mix::WRITE, depth);
            self.step(run, &format!("random write, {best}"), write, workers, times.saturated)?;
            self.step(run, "durable write", self.durable(), 1, times.durable)?;
        }
        let Some(times) = times.small_files else { return Ok(()) };
        let (scale, direct, room) = (self.clock.scale(), self.direct, self.room);
        let (cpus, hosts) = (cpus(run), self.hosts);
        SmallFiles { times, scale, direct, cpus, hosts, room }.steps(run)
    }

    /// The sequential write, which makes the file that all later steps work on.
    fn lay_out(&self, run: &mut Run) -> Result<(), Stopped> {
        let target = run.plan().target(TARGET).cloned().unwrap_or_default();
        if target.size.is_none() && self.in_directory {
            let filesystem = run.facts().targets.first().and_then(|t| t.filesystem.as_ref());
            let free = filesystem.map_or(SIZE_MAX, |filesystem| filesystem.available_bytes);
            let size = SIZE_MAX.min(free / 4 / u64::from(self.hosts)) / LARGE.0 * LARGE.0;
            run.resize(TARGET, Bytes(size.max(LARGE.0)));
        }
        let write = self.blocks(Mix::WRITE, Access::Sequential, LARGE, LARGE_DEPTH);
        let phase = self.phase("sequential write", write, 1, self.times.sequential);
        let record = run.phase(Step::Added(&phase))?;
        // Hosts take turns on what they share, and the slowest of them is as far as all have come.
        let of_each = record.measurements.iter().flat_map(|m| m.per_worker.iter().map(|w| w.bytes));
        let turns = if self.has_own_files() { 1 } else { u64::from(self.hosts) };
        let written = of_each.min().unwrap_or(0).saturating_mul(turns);
        let size = run.plan().target(TARGET).and_then(|target| target.size).map(|size| size.0);
        let size = size
            .or_else(|| run.survey(&target.path).ok().and_then(|survey| survey.length_bytes))
            .unwrap_or(written);
        run.resize(TARGET, written_part(written, size));
        Ok(())
    }

    /// Every rate of writes includes the flush that makes them durable.
    fn blocks(&self, mix: Mix, access: Access, size: Bytes, depth: u32) -> Blocks {
        let durability = Durability { fsync_at_end: mix.write > 0, ..Durability::default() };
        // Without direct I/O, pages left from before would be measured.
        let hints = Hints { evict: !self.direct && mix.read > 0, ..Hints::default() };
        let share = self.share(&access);
        Blocks {
            mix,
            access,
            size: PerDirection::all(SizeSpec::Fixed(size)),
            depth,
            engine: self.engine,
            direct: self.direct,
            durability,
            hints,
            share,
            ..Blocks::default()
        }
    }

    /// Each of several hosts has a file of its own.
    fn has_own_files(&self) -> bool {
        self.in_directory && self.hosts > 1
    }

    /// Several hosts take turns in sequences on what they share, for storage would answer the
    /// second one from its own memory; each has all of a file of its own.
    fn share(&self, access: &Access) -> Share {
        let takes_turns = self.hosts > 1 && !self.has_own_files() && *access == Access::Sequential;
        if takes_turns { Share::Interleave } else { Share::Whole }
    }

    /// The work of a database at each commit: one write, made durable before the next.
    fn durable(&self) -> Blocks {
        let durability = Durability { fsync_every: 1, ..Durability::default() };
        let blocks = self.blocks(Mix::WRITE, Access::Random, SMALL, 1);
        Blocks { durability, engine: Engine::Psync, ..blocks }
    }

    fn phase(&self, name: &str, blocks: Blocks, workers: u32, seconds: f64) -> Phase {
        let time = self.clock.take(seconds);
        let job = Job {
            name: name.to_owned(),
            workers,
            targets: vec![TARGET.into()],
            sharing: if self.has_own_files() { Sharing::Own } else { Sharing::Shared },
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
        run: &mut Run,
        name: &str,
        blocks: Blocks,
        workers: u32,
        seconds: f64,
    ) -> Result<Trial, Stopped> {
        let phase = self.phase(name, blocks, workers, seconds);
        let record = run.phase(Step::Added(&phase))?;
        Ok(record.measurements.first().map(Into::into).unwrap_or_default())
    }

    /// The least concurrency at which random reads are as fast as they get. A trial that is slower
    /// than one read at a time was disturbed, and runs once more.
    fn saturated(
        &self,
        run: &mut Run,
        alone_ops_per_s: f64,
        searching: &str,
    ) -> Result<Concurrency, Stopped> {
        let cpus = cpus(run);
        let mut once = |at: Concurrency, share: f64, again: &str| -> Result<Trial, Stopped> {
            let blocks = self.blocks(Mix::READ, Access::Random, SMALL, at.depth);
            let name = format!("{searching} at {at}{again}");
            let phase = self.phase(&name, blocks, at.workers, self.times.search * share);
            let record = run.phase(Step::Search(&phase))?;
            Ok(record.measurements.first().map(Into::into).unwrap_or_default())
        };
        saturate(cpus, &mut |at, share| {
            let first = once(at, share, "")?;
            if first.ops_per_s >= alone_ops_per_s {
                return Ok(first);
            }
            let second = once(at, share, ", again")?;
            Ok(if second.ops_per_s > first.ops_per_s { second } else { first })
        })
    }
}

fn cpus(run: &Run) -> u32 {
    candor_record::facts::value(&run.facts().host.cpus).copied().unwrap_or(1)
}

#[cfg(test)]
mod tests;
