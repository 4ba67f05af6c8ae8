//! Making the files that a phase needs, and laying out those that must hold all their bytes.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use candor_blocks::layout::{self, Wanted};
use candor_engine::names;
use candor_engine::names::Named;
use candor_engine::{Session, SkippedJob};
use candor_entries::Lists;
use candor_plan::blocks::{Access, Engine, Share};
use candor_plan::entries::{Entries, Over};
use candor_plan::units::{Extent, PerDirection, SizeSpec};
use candor_plan::{
    Blocks, Bytes, Create, Job, Layout, OnFailure, PathText, Phase, Plan, Sharing, Target,
    TargetKind,
};
use candor_record::{Event, IoFailure, PrepareStep};

use crate::consent::{Guard, is_device};
use crate::error::RunError;
use crate::events::Channels;
use crate::owned_files;
use crate::precheck::{Work, targets};
use crate::schedulers::Schedulers;
use crate::trees::{self, NamedTree, Needs};

/// True for work that makes every byte of a file from its start on, so that laying it out first
/// would be work done twice: one worker that only writes, in sequence, without a gap.
fn makes_all_bytes(work: &Work<'_>) -> bool {
    let Work { job, blocks, .. } = work;
    let alone = job.workers == 1 || job.sharing == Sharing::Own;
    let aligned = blocks.align.as_ref().is_none_or(|align| {
        let align = align.write.0.max(1);
        matches!(blocks.size.write, SizeSpec::Fixed(size) if size.0.is_multiple_of(align))
    });
    let only_writes = blocks.mix.write > 0 && blocks.mix.read == 0 && blocks.mix.trim == 0;
    let from_start = matches!(blocks.range.start, Extent::Bytes(Bytes(0)))
        || matches!(blocks.range.start, Extent::Percent(percent) if percent == 0.0);
    only_writes
        && blocks.access == Access::Sequential
        && blocks.random_percent == PerDirection::all(0)
        && blocks.share == Share::Whole
        && blocks.windows.is_none()
        && blocks.zones.is_none()
        && !blocks.engine.is_kind_of(Engine::MMAP)
        && blocks.moves_bytes()
        && (alone && aligned && from_start)
}

/// True where the files of a target are laid out before that work.
pub fn is_laid_out(target: &Target, work: &[Work<'_>]) -> bool {
    let needed = match target.layout {
        Layout::Never => false,
        // Region that is set aside is not there by writing.
        Layout::Needed => !work.iter().all(makes_all_bytes),
        Layout::Write | Layout::Allocate | Layout::Reserve | Layout::Sparse => true,
    };
    // What is appended lies behind what is there.
    needed && !target.append && target.kind != TargetKind::Existing
}

/// A job that lacks one of its targets.
fn skipped(at: usize, job: &Job, failed: &HashMap<&str, IoFailure>) -> Option<SkippedJob> {
    let failure = job.targets.iter().find_map(|name| failed.get(name.as_str()))?;
    Some(SkippedJob::failed(at, job, failure.clone()))
}

/// A phase's files, and who makes them.
pub struct FileLayout<'a> {
    /// Knows the files of earlier phases.
    pub session: &'a mut Session,
    /// Makes files, where that is safe.
    pub guard: &'a mut Guard,
    /// Switches schedulers of devices.
    pub schedulers: &'a mut Schedulers,
    /// Lists of the files of trees.
    pub lists: &'a Lists,
    /// Plan whose targets the phase uses.
    pub plan: &'a Plan,
    /// The phase.
    pub phase: &'a Phase,
    /// Phases of the plan that run before it.
    pub before: &'a [Phase],
    /// Control and events of the run.
    pub channels: &'a Channels,
    /// Files that are not on their devices yet.
    pub unflushed: Unflushed,
}

impl FileLayout<'_> {
    /// Makes and lays out the files of a phase; the jobs that cannot run for lack of them, where
    /// jobs fail alone.
    ///
    /// # Errors
    /// A file that could not be made, where that concerns all jobs.
    pub fn lay_out(mut self) -> Result<Vec<SkippedJob>, RunError> {
        let mut failed = HashMap::new();
        for job in &self.phase.jobs {
            self.names(job)?;
            self.trees(job)?;
        }
        for (index, target, work) in targets(self.plan, self.phase) {
            let Err(error) = self.target(index, target, &work) else { continue };
            let ends_run = self.phase.on_failure == OnFailure::EndRun;
            let alone = !ends_run && !self.channels.control.is_stopped();
            match error.failure().filter(|_| alone) {
                Some(failure) => failed.insert(target.name.as_str(), failure),
                None => return Err(error),
            };
        }
        self.unflushed.flush()?;
        let jobs = self.phase.jobs.iter().enumerate();
        Ok(jobs.filter_map(|(at, job)| skipped(at, job, &failed)).collect())
    }

    fn target(&mut self, index: usize, target: &Target, work: &[Work<'_>]) -> Result<(), RunError> {
        let writes = work.iter().find_map(|work| work.job.work.destroys());
        // What is written until nothing fits is not there beforehand.
        let is_filled = target.layout == Layout::Needed
            && work.iter().any(|Work { job, .. }| {
                let stop = job.stop.as_ref().unwrap_or(&self.phase.stop);
                stop.until_full && job.work.destroys().is_some()
            });
        let needed = is_laid_out(target, work) && !is_filled;
        // Whoever opens a file in the phase makes it there.
        let made_in_phase = work.iter().all(|work| work.blocks.opening.is_in_phase());
        let empties = work.iter().any(|work| work.blocks.truncate_at_open);
        // Whoever may overwrite a file may fill its holes.
        let fills_holes = needed && target.layout == Layout::Write && writes.is_some();
        let wanted = Wanted { fills_holes, ..self.wanted(target) };
        for named in names::named(target) {
            let length = || named.path.metadata().ok().map(|file| file.len());
            let size = named.size.or_else(|| length().filter(|_| fills_holes));
            let size = size.filter(|_| needed);
            if made_in_phase && size.is_none() && is_absent(&named.path) {
                if writes.is_some() && target.create != Create::Nothing {
                    self.guard.create_directories_of(target, &named.path)?;
                }
                continue;
            }
            if (writes.is_some() || size.is_some()) && target.create != Create::Nothing {
                self.guard.create(target, index, &named.path, writes)?;
            }
            if empties && is_device(&named.path) {
                let unfit = std::io::Error::from(std::io::ErrorKind::InvalidInput);
                return Err(RunError::file("empty the device", &named.path)(unfit));
            }
            if empties {
                layout::empty(self.session.kept.of(), &named.path)?;
            }
            if let Some(size) = size.filter(|_| !is_device(&named.path)) {
                self.file(&named, size, &wanted)?;
            }
            if let Some(scheduler) = &target.scheduler {
                let switched = self.schedulers.switch(&named.path, scheduler);
                switched.map_err(RunError::file("switch the scheduler of", &named.path))?;
            }
        }
        Ok(())
    }

    /// Makes what steps over names of targets are to find: files or directories, or only the
    /// directories that they are to stand in.
    fn names(&mut self, job: &Job) -> Result<(), RunError> {
        let Some(entries) = job.entries().filter(|entries| entries.over.is_of_targets()) else {
            return Ok(());
        };
        let plan = self.plan;
        let targets = plan.targets.iter().enumerate();
        for (index, target) in targets.filter(|(_, target)| job.targets.contains(&target.name)) {
            let wanted = self.wanted(target);
            if target.create != Create::Nothing {
                self.guard.create_directory(target)?;
            }
            for named in names::named(target) {
                self.name(job, entries, index, &named, &wanted)?;
            }
        }
        Ok(())
    }

    /// Makes what a job is to find of a tree: its roots, its directories, its items.
    fn trees(&mut self, job: &Job) -> Result<(), RunError> {
        let Some(entries) = job.entries().filter(|entries| !entries.over.is_of_targets()) else {
            return Ok(());
        };
        let plan = self.plan;
        for target in plan.targets.iter().filter(|target| job.targets.contains(&target.name)) {
            let Some(tree) = NamedTree::of(plan, target, self.lists) else { continue };
            let needs = Needs::of(self.before, target, entries);
            if target.create == Create::Nothing {
                continue;
            }
            if target.create == Create::Parents {
                owned_files::create_parents(&target.path)
                    .map_err(RunError::file("make the directory of", &target.path))?;
            }
            if self.guard.create_directory(target)? {
                self.guard.tell(target, &tree);
            }
            // Work that makes roots finds none.
            if !entries.with_roots || entries.needs_names() {
                trees::make_directories(&tree, needs)?;
            }
            let wanted = self.wanted(target);
            for item in tree.items().filter(|_| needs.items) {
                self.item(entries, item, &wanted)?;
            }
        }
        Ok(())
    }

    fn item(
        &mut self,
        entries: &Entries,
        item: trees::NamedFile,
        wanted: &Wanted,
    ) -> Result<(), RunError> {
        if self.channels.control.is_stopped() {
            return Err(RunError::Interrupted);
        }
        if !trees::make_item(entries, &item)? {
            return Ok(());
        }
        let named = Named { path: item.path, size: Some(item.size) };
        self.file(&named, item.size, wanted)
    }

    fn name(
        &mut self,
        job: &Job,
        entries: &Entries,
        index: usize,
        named: &Named,
        wanted: &Wanted,
    ) -> Result<(), RunError> {
        let target = &self.plan.targets[index];
        let path = &named.path;
        if target.create == Create::Parents {
            owned_files::create_parents(path)
                .map_err(RunError::file("make the directory of", path))?;
        }
        if !entries.needs_names() || target.create == Create::Nothing {
            return Ok(());
        }
        if entries.over == Over::TargetDirectories {
            return owned_files::create_directory(path)
                .map_err(RunError::file("make the directory", path));
        }
        self.guard.create(target, index, path, job.work.destroys())?;
        named.size.map_or(Ok(()), |size| self.file(named, size, wanted))
    }

    /// Content and layout of a target's files; the size is each file's own.
    fn wanted(&self, target: &Target) -> Wanted {
        // Headers are laid out for whichever phase checks them, this one or a later one.
        let jobs = self.plan.phases.iter().chain([self.phase]).flat_map(|phase| &phase.jobs);
        let on_target = jobs.filter(|job| job.targets.contains(&target.name));
        let work: Vec<&Blocks> = on_target.filter_map(|job| job.blocks()).collect();
        Wanted {
            size: 0,
            layout: target.layout,
            fills_holes: false,
            content: work.first().map(|blocks| blocks.content.clone()).unwrap_or_default(),
            // Blocks that are checked once they are written only need no headers before.
            verify: work
                .iter()
                .find_map(|blocks| blocks.verify.clone())
                .filter(|verify| !verify.known_only()),
            seed: self.plan.seed,
        }
    }

    fn file(&mut self, named: &Named, size: u64, wanted: &Wanted) -> Result<(), RunError> {
        let wanted = Wanted { size, ..wanted.clone() };
        let Channels { control, events } = self.channels;
        let mut progress = |done: u64| {
            events.send(Event::Preparing {
                phase: self.phase.name.clone(),
                step: PrepareStep::LayOut,
                what: named.path.text(),
                bytes_done: done,
                bytes_total: size,
            });
        };
        let stop = control.stop_flag();
        let known = self.session.kept.of();
        let laid_out = layout::lay_out(known, &named.path, &wanted, stop, &mut progress)?;
        let flushed = laid_out.map_or(Ok(()), |file| self.unflushed.add(file, size));
        flushed.map_err(RunError::file("flush", &named.path))
    }
}

/// True where nothing stands at a path, not even a dangling link.
fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Smaller files share one flush: a flush for each takes longer than writing them.
const FLUSHED_ALONE_BYTES: u64 = 1 << 20;

/// Small files that were laid out: how many on each filesystem, and one of them.
#[derive(Default)]
pub struct Unflushed(BTreeMap<u64, (File, usize)>);

impl Unflushed {
    /// Flushes a file that was laid out, or keeps it for the flush of all.
    fn add(&mut self, file: File, size: u64) -> io::Result<()> {
        if size >= FLUSHED_ALONE_BYTES {
            return file.sync_all();
        }
        let filesystem = file.metadata()?.dev();
        self.0.entry(filesystem).or_insert((file, 0)).1 += 1;
        Ok(())
    }

    /// Flushes all, so that they do not disturb the measurement.
    fn flush(self) -> Result<(), RunError> {
        let flushed = self.0.into_values().try_for_each(|(file, files)| match files {
            1 => file.sync_all(),
            _ => rustix::fs::syncfs(&file).map_err(io::Error::from),
        });
        flushed.map_err(RunError::file("flush", Path::new("what was laid out")))
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Mix;

    use super::*;

    #[test]
    fn only_one_plain_sequential_writer_makes_its_own_bytes() {
        let plain = Blocks { mix: Mix::WRITE, ..Blocks::default() };
        let made = |job: Job, blocks: &Blocks| makes_all_bytes(&Work { at: 0, job: &job, blocks });
        assert!(made(Job::default(), &plain));
        assert!(made(Job { workers: 4, sharing: Sharing::Own, ..Job::default() }, &plain));
        let fine = Some(PerDirection::all(Bytes(512)));
        assert!(made(Job::default(), &Blocks { align: fine, ..plain.clone() }));
        assert!(!made(Job { workers: 2, ..Job::default() }, &plain));
        let start = Extent::Percent(50.0);
        let range = candor_plan::blocks::Range { start, ..Default::default() };
        let gaps = [
            Blocks { mix: Mix::READ, ..plain.clone() },
            Blocks { mix: Mix { read: 0, write: 50, trim: 50 }, ..plain.clone() },
            Blocks { access: Access::Backward, ..plain.clone() },
            Blocks { access: Access::Holes { hole: Bytes(4096) }, ..plain.clone() },
            Blocks { access: Access::Random, ..plain.clone() },
            Blocks { random_percent: PerDirection::all(10), ..plain.clone() },
            Blocks { share: Share::Slice, ..plain.clone() },
            Blocks { engine: Engine::MMAP, ..plain.clone() },
            Blocks { align: Some(PerDirection::all(Bytes(8192))), ..plain.clone() },
            Blocks { range, ..plain.clone() },
        ];
        for blocks in gaps {
            assert!(!made(Job::default(), &blocks), "{blocks:?}");
        }
    }

    #[test]
    fn small_files_share_a_flush() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut unflushed = Unflushed::default();
        for (name, size) in [("a", 4096), ("b", 4096), ("c", FLUSHED_ALONE_BYTES)] {
            let file = File::create(directory.path().join(name)).expect("made");
            unflushed.add(file, size).expect("flushed or kept");
        }
        let waiting: Vec<usize> = unflushed.0.values().map(|(_, files)| *files).collect();
        assert_eq!(waiting, [2]);
        unflushed.flush().expect("flushed");
    }
}
