//! The small-file part of the check: 4 KiB files made, looked up, listed, read and removed, in a
//! directory for each worker and in one for all.
//!
//! Looks at names that were just made are the kernel's own, and are asked to be: what a filesystem
//! does without its caches takes root, who can drop them. Reads bypass the page cache, and changes
//! end with a sync of the filesystem, so that a device answers for these.

use std::path::Path;

use candor_plan::entries::{Over, Step as NameStep};
use candor_plan::units::SizeSpec;
use candor_plan::{Bytes, Entries, Job, Nanos, Phase, Stop, Target, TargetKind, Tree};
use candor_record::PhaseRecord;
use candor_record::fmt::ratio;
use candor_run::{Run, Space, Step, Stopped};

/// Bytes of each file.
const FILE_BYTES: u64 = 4096;
/// Files of each tree: so few say nothing, and so many are enough.
const FILES: std::ops::RangeInclusive<u64> = 64..=400_000;
/// Files in each directory of a worker's own: fewer than make a directory slow by their number.
const OWN_DIRECTORY_FILES: u64 = 1000;
/// Workers at most: names are a matter of locks, which a few of them show.
const WORKERS_MAX: u32 = 8;

/// Tree of the trial that tells how many files there is time for.
const TRIAL: &str = "trial files";
/// Trees that are measured, by the names that people see.
const TREES: [(&str, bool); 2] = [("own directories", true), ("one directory", false)];

/// Steps in each of them.
const STEPS: [&str; 5] = ["create", "stat", "list", "read", "delete (unlink)"];

/// Seconds of each step.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Making files, and removing them, to see how fast that goes.
    pub trial: f64,
    /// Making them, and reading them, in each tree.
    pub data: f64,
    /// Looking them up, and listing them, in each tree.
    pub names: f64,
    /// Removing them, in each tree, at most: there are no more files than that.
    pub remove: f64,
}

impl Times {
    /// Seconds of all steps.
    pub fn total(&self) -> f64 {
        let trees = TREES.len() as f64;
        2.0 * self.trial + trees * (2.0 * self.data + 2.0 * self.names + self.remove)
    }
}

/// The trees of a directory for so many hosts, none of which is there yet; `room` is that of
/// [`room`].
pub fn targets(directory: &Path, hosts: u32, room: u64) -> Vec<Target> {
    let names = std::iter::once((TRIAL, true)).chain(TREES);
    // The trial ends by time, or with these; others get their number from it.
    let workers = u64::from(WORKERS_MAX) * u64::from(hosts);
    let files = in_whole_directories((*FILES.end()).min(room / workers).max(1));
    let target = |(name, own): (&str, bool)| {
        let end = name.split(' ').next().unwrap_or(name);
        Target {
            name: name.into(),
            path: directory.join(format!("candor-check.{}.{end}", std::process::id())),
            kind: TargetKind::Tree,
            tree: Some(tree(own, files)),
            ..Target::default()
        }
    };
    names.map(target).collect()
}

/// Names of the results.
pub fn results() -> impl Iterator<Item = String> {
    TREES.iter().flat_map(|(tree, _)| STEPS.map(|what| format!("{what}, {tree}")))
}

/// No more files than that, in directories that are full; where they do not fill one, all of them.
fn in_whole_directories(files: u64) -> u64 {
    let whole = files / OWN_DIRECTORY_FILES * OWN_DIRECTORY_FILES;
    if whole > 0 { whole } else { files }
}

/// One directory of all workers, or as many for each as it takes to hold so many files.
fn tree(per_rank: bool, files: u64) -> Tree {
    let tree = Tree { file_size: SizeSpec::Fixed(Bytes(FILE_BYTES)), ..Tree::default() };
    if !per_rank {
        return Tree { items: files, ..tree };
    }
    let width = files.div_ceil(OWN_DIRECTORY_FILES).max(1);
    let items = files.div_ceil(width);
    Tree { depth: 1, width: width as u32, items, leaves_only: true, per_rank, ..tree }
}

/// The steps, on a host with `cpus` CPUs; `scale` is the seconds of this check per second of
/// [`Times`].
pub struct SmallFiles {
    /// Seconds of each step.
    pub times: Times,
    /// Seconds of this check per second of these.
    pub scale: f64,
    /// Reads can bypass the page cache.
    pub direct: bool,
    /// CPUs of the host.
    pub cpus: u32,
    /// Hosts that work at once.
    pub hosts: u32,
    /// Files for which there is room, with plenty left to others.
    pub room: u64,
}

/// Files that a quarter of what is free has room for, each in a block with as much around it.
pub fn room(space: Option<Space>) -> u64 {
    space.map_or(u64::MAX, |space| {
        (space.available_bytes / (2 * FILE_BYTES)).min(space.available_inodes) / 4
    })
}

impl SmallFiles {
    /// Runs all of them.
    ///
    /// # Errors
    /// The reason why the series ends before its time.
    pub fn steps(&self, run: &mut Run) -> Result<(), Stopped> {
        let workers = self.cpus.clamp(2, WORKERS_MAX);
        let files = self.files(run, workers)?;
        for (name, own) in TREES {
            let each = if own { files.div_ceil(self.ranks(workers)) } else { files };
            run.reshape(name, tree(own, each));
        }
        for (name, _) in TREES {
            let Times { data, names, .. } = self.times;
            let steps = [
                (make(), false, None),
                (look(NameStep::Stat, Over::Items), true, Some(names)),
                (look(NameStep::List, Over::Directories), true, Some(names)),
                (self.read(), !self.direct, Some(data)),
                (remove(), false, None),
            ];
            for (what, (entries, wants_cache, seconds)) in STEPS.into_iter().zip(steps) {
                let mut phase = self.phase(name, workers, what, entries, seconds);
                phase.jobs[0].wants_cache = wants_cache;
                run.phase(Step::Added(&phase))?;
            }
        }
        Ok(())
    }

    /// Files that there is time to make and to remove, by a trial of both.
    fn files(&self, run: &mut Run, workers: u32) -> Result<u64, Stopped> {
        let seconds = self.times.trial;
        let trial = self.phase(TRIAL, workers, "create", make(), Some(seconds));
        let record = run.phase(Step::Search(&trial))?;
        let (_, made_per_s) = done(record, NameStep::Create);
        // The removal is of directories that each worker has filled, so that nothing is laid out.
        // A file takes a create, a write and a close, and may be counted as an item besides.
        let ops = record.measurements.iter().flat_map(|of| &of.per_worker).map(|of| of.ops);
        let each = ops.min().unwrap_or(0) / 4;
        run.reshape(TRIAL, tree(true, in_whole_directories(each)));
        let trial = self.phase(TRIAL, workers, "delete (unlink)", remove(), Some(seconds));
        let (_, removed_per_s) = done(run.phase(Step::Search(&trial))?, NameStep::Unlink);
        let to_remove = removed_per_s * self.times.remove;
        let to_make = made_per_s * self.times.data;
        let files = if to_remove > 0.0 { to_make.min(to_remove) } else { to_make };
        let files = ((files * self.scale) as u64).clamp(*FILES.start(), *FILES.end());
        Ok(files.min(self.room).max(self.ranks(workers)))
    }

    /// Workers of all hosts.
    fn ranks(&self, workers: u32) -> u64 {
        u64::from(workers) * u64::from(self.hosts)
    }

    /// Every file once, without a time; looks go over them again and again.
    fn phase(
        &self,
        target: &str,
        workers: u32,
        what: &str,
        entries: Entries,
        seconds: Option<f64>,
    ) -> Phase {
        let name = format!("{what}, {target}");
        let again = !entries.changes() && !entries.moves_bytes();
        let time = seconds.map(|seconds| Nanos((seconds * self.scale * 1e9) as u64));
        let passes = (!again).then_some(1);
        let job = Job {
            name: name.clone(),
            workers,
            targets: vec![target.into()],
            work: entries.into(),
            ..Job::default()
        };
        let stop = Stop { time, passes, ..Stop::default() };
        Phase { name, stop, jobs: vec![job], ..Phase::default() }
    }

    /// Reads go past the page cache where they can.
    fn read(&self) -> Entries {
        let steps = vec![NameStep::Open, NameStep::Read, NameStep::Close];
        Entries { steps, direct: self.direct, ..Entries::default() }
    }
}

fn make() -> Entries {
    let steps = vec![NameStep::Create, NameStep::Write, NameStep::Close];
    Entries { steps, syncfs_at_end: true, ..Entries::default() }
}

fn look(step: NameStep, over: Over) -> Entries {
    Entries { steps: vec![step], over, ..Entries::default() }
}

fn remove() -> Entries {
    Entries { steps: vec![NameStep::Unlink], syncfs_at_end: true, ..Entries::default() }
}

/// Files that had that step done to them, and how many per second, with the sync that makes it
/// durable.
fn done(record: &PhaseRecord, step: NameStep) -> (u64, f64) {
    let Some(measured) = record.measurements.first() else { return (0, 0.0) };
    let ns = measured.elapsed_with_flush_ns.unwrap_or(measured.elapsed_ns);
    let files = measured.operation(step.name()).ops;
    (files, ratio(files as f64 * 1e9, ns as f64))
}
