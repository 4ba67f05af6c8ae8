//! The runner of this host.

mod phase;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::slice;
use std::thread;
use std::time::{Duration, Instant};

use candor_engine::names;
use candor_engine::{Prepared, Session, SkippedJob};
use candor_entries::Lists;
use candor_objects::Buckets;
use candor_observe::{Roots, Sampler, SnapshotDetail, read_again};
use candor_plan::rank::HostIndex;
use candor_plan::{Job, Layout, OnFailure, PathText, Phase, Plan, PlanPath, Problem, Target};
use candor_record::facts::{Extents, Fact, FileFacts, Missing, PathKind};
use candor_record::{Event, HostRecord, IdleWindow, Note, PrepareStep, SubmissionTrial};

use self::phase::LocalPhase;
use crate::consent::Guard;
use crate::control::Control;
use crate::error::RunError;
use crate::events::Channels;
use crate::layout::{FileLayout, Unflushed};
use crate::leftovers::{self, Cleaning};
use crate::occupied_memory::OccupiedMemory;
use crate::owned_files::{OwnedFiles, directory_of};
use crate::peers::Peers;
use crate::phase_snapshots::wait_until;
use crate::precheck::PhaseFiles;
use crate::runner::{Ready, Runner, Space, Survey, Task};
use crate::schedulers::Schedulers;
use crate::tracer::{BlockTraceMode, RunTracer};
use crate::upcoming::Upcoming;
use crate::{
    cached_work, families, files_in_use, free_space, hooks, memory, operations_log, precheck,
    resource_limits, schedulers, submission, target_check, trees,
};

/// Time before the first phase in which candor does nothing: traffic of others shows.
const IDLE: Duration = Duration::from_millis(500);

/// Options of a host, whatever it runs.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// Devices that are written to although they are mounted or otherwise held, by kernel name or
    /// path.
    pub force: Vec<String>,
    /// Leave out the idle half second before the first phase, and do not wait for the block
    /// tracer: traffic of others then shows only in the devices' counters during a phase, and the
    /// first requests are not traced.
    pub at_once: bool,
    /// How many requests of the devices are traced.
    pub block_trace: BlockTraceMode,
    /// Before a phase whose plan leaves open how operations are handed over, try which way suits
    /// the device.
    pub try_submission: bool,
}

/// Runs phases on this host.
pub struct Local {
    options: HostOptions,
    channels: Channels,
    peers: Peers,
    roots: Roots,
    session: Session,
    /// Name and facts.
    host: HostRecord,
    guard: Guard,
    /// Lists of names, as they were when the run began.
    lists: Lists,
    schedulers: Schedulers,
    tracer: RunTracer,
    /// Buckets of the plan.
    buckets: Buckets,
    /// Memory that is kept from the page cache until the run ends.
    occupied: Option<OccupiedMemory>,
    /// Notes that no result has brought yet.
    notes: Vec<Note>,
    /// A phase has been prepared.
    begun: bool,
    /// Submission of the plan's phases that ran, by their index.
    submissions: HashMap<usize, Option<SubmissionTrial>>,
    /// That of the phase that ran last, for its follow-ups.
    submission: Option<SubmissionTrial>,
}

impl Local {
    /// Begins to calibrate the clock, and touches nothing.
    pub fn new(options: &HostOptions, channels: &Channels) -> Local {
        let session = Session::new(families::of);
        let roots = Roots::default();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Local {
            session,
            options: options.clone(),
            channels: channels.clone(),
            peers: Peers::default(),
            host: HostRecord { host, ..HostRecord::default() },
            guard: Guard::new(&options.force, &roots),
            roots,
            lists: Lists::default(),
            schedulers: Schedulers::default(),
            tracer: RunTracer::default(),
            buckets: Buckets::default(),
            occupied: None,
            notes: Vec::new(),
            begun: false,
            submissions: HashMap::new(),
            submission: None,
        }
    }

    /// The same, as one of several hosts that run a plan together, under a name that no other has.
    #[must_use]
    pub fn among(self, peers: Peers, name: &str) -> Local {
        let host = HostRecord { host: name.to_owned(), ..self.host };
        Local { peers, host, ..self }
    }

    /// This host's number among those of a plan.
    fn place(&self, plan: &Plan) -> HostIndex {
        if plan.hosts_apart {
            HostIndex::ALONE
        } else {
            HostIndex { host: self.peers.host(), hosts: plan.hosts.max(1) }
        }
    }

    fn sampler(&self, files: &PhaseFiles) -> Sampler {
        Sampler::new(&self.host.facts, files.clone(), &self.roots)
    }

    /// Starts the tracer for all but plans of commands, in which it would see nothing.
    fn start_tracer(&mut self, plan: &Plan) {
        if plan_commands(plan).all(|sends| sends) {
            return;
        }
        self.tracer.start(&self.host.facts, self.options.block_trace, &self.roots);
    }

    /// Traffic of others on the devices, once per run, before candor does anything.
    fn idle_window(&mut self, sampler: &mut Sampler) -> Option<IdleWindow> {
        let begun = std::mem::replace(&mut self.begun, true);
        if self.options.at_once || begun || self.host.facts.devices.is_empty() {
            return None;
        }
        let before = sampler.snapshot(SnapshotDetail::Light);
        thread::sleep(IDLE);
        Some(IdleWindow { before, after: sampler.snapshot(SnapshotDetail::Light) })
    }

    /// Makes everything ready outside of the engine; the jobs that will not run.
    fn prepare_targets(&mut self, task: &Task<'_>) -> Result<Vec<SkippedJob>, RunError> {
        let Task { plan, phase, index, .. } = *task;
        let layout = FileLayout {
            session: &mut self.session,
            guard: &mut self.guard,
            schedulers: &mut self.schedulers,
            lists: &self.lists,
            plan,
            phase,
            before: &plan.phases[..index.unwrap_or(plan.phases.len())],
            channels: &self.channels,
            unflushed: Unflushed::default(),
        };
        let mut skipped = layout.lay_out()?;
        precheck::refresh(&mut self.host.facts, plan, &self.lists, phase, &self.roots);
        precheck::pre_read(plan, phase, &self.channels.control)?;
        self.notes.extend(precheck::evict(plan, phase, &self.channels.events)?);
        self.leave_out(phase, &mut skipped)?;
        Ok(skipped)
    }

    /// Adds the jobs that are only to be made ready, and those whose first command fails.
    fn leave_out(&mut self, phase: &Phase, skipped: &mut Vec<SkippedJob>) -> Result<(), RunError> {
        let failed: HashSet<usize> = skipped.iter().map(|skipped| skipped.job).collect();
        let host = self.peers.host();
        let is_here = |job: &Job| job.only_on.is_none_or(|only| only == host);
        let jobs = || phase.jobs.iter().enumerate().filter(|(at, _)| !failed.contains(at));
        let elsewhere = jobs().filter(|(_, job)| !is_here(job));
        skipped.extend(elsewhere.map(|(at, job)| SkippedJob::elsewhere(at, job)));
        let jobs = || jobs().filter(|(_, job)| is_here(job));
        let (only_prepared, run): (Vec<_>, Vec<_>) = jobs().partition(|(_, job)| job.prepare_only);
        skipped.extend(only_prepared.into_iter().map(|(at, job)| SkippedJob::prepared(at, job)));
        let hooks =
            run.iter().filter_map(|(at, job)| Some((*at, *job, job.hooks.before.as_ref()?)));
        for failed in hooks::run(hooks) {
            let job = &phase.jobs[failed.at];
            if failed.may {
                self.notes.push(failed.note(&format!("`{}` did not run", job.name)));
                skipped.push(SkippedJob::prepared(failed.at, job));
            } else if phase.on_failure == OnFailure::EndRun {
                return Err(RunError::Hook(failed.failure.message));
            } else {
                skipped.push(SkippedJob::failed(failed.at, job, failed.failure));
            }
        }
        Ok(())
    }

    /// How the operations of a phase are handed over, where that was tried: once for all repeats of
    /// a phase, and not for the steps of a search.
    fn submission(&mut self, task: &Task<'_>) -> Option<SubmissionTrial> {
        let Task { plan, phase, index, follow_up, .. } = *task;
        if follow_up || !self.options.try_submission {
            return self.submission;
        }
        let known = index.and_then(|index| self.submissions.get(&index)).copied();
        self.submission = known.unwrap_or_else(|| {
            index?;
            let may_write = self.may_write_before(plan, phase);
            let stop = self.channels.control.stop_flag();
            submission::tried(&mut self.session, plan, phase, may_write, stop)
        });
        self.submissions.extend(index.map(|index| (index, self.submission)));
        self.submission
    }

    /// True where writing to the places of a phase before its clock changes nothing: on devices, on
    /// its own files that were written whole, and on files that may be overwritten and are whole.
    fn may_write_before(&self, plan: &Plan, phase: &Phase) -> bool {
        let facts_of = |index: usize| self.host.facts.targets.get(index);
        let is_device = |index| facts_of(index).is_some_and(|t| t.kind == PathKind::Device);
        let was_written = |index| {
            facts_of(index).is_some_and(|t| !t.files.is_empty() && t.files.iter().all(is_written))
        };
        let is_own = |target: &Target| matches!(target.layout, Layout::Needed | Layout::Write);
        let targets = precheck::targets(plan, phase);
        self.owns(plan, phase) && targets.iter().all(|(_, target, _)| is_own(target))
            || targets.iter().all(|(index, target, _)| {
                is_device(*index) || target.overwrite && was_written(*index)
            })
    }

    /// Occupies the memory that the plan asks for, before the host is inspected.
    fn occupy_memory(&mut self, plan: &Plan) -> Result<(), RunError> {
        if let (Some(extent), None) = (plan.occupy_memory, &self.occupied) {
            let host = candor_observe::inspect(&[], &self.roots).host;
            self.occupied = Some(OccupiedMemory::occupy(extent, &host, &self.channels)?);
        }
        Ok(())
    }

    /// Reads the lists of a plan, once for this host: its jobs find them in the session.
    fn read_lists(&mut self, plan: &Plan) -> Result<(), RunError> {
        self.lists.read(plan).map_err(RunError::BadPlan)?;
        *self.session.kept.of() = self.lists.clone();
        Ok(())
    }

    /// Says before the clock where the page cache would be measured.
    fn warn_of_cache(&self, plan: &Plan, phase: &Phase) {
        if !self.options.at_once {
            for sentence in cached_work::foreseen(plan, phase, &self.host.facts) {
                self.channels.events.send(Event::Warned { sentence });
            }
        }
    }

    /// Removes what killed runs left where this one makes files, and says so.
    fn remove_leftovers(&mut self, plan: &Plan) {
        for note in remove_leftovers(plan, &self.channels.control) {
            let sentence = format!("{}: {}; {}", note.asked, note.did, note.why);
            self.channels.events.send(Event::Warned { sentence });
            self.notes.push(note);
        }
    }

    /// Adds to the facts what cannot be observed in the phase that is ready.
    fn note_missing(&mut self, sampler: &mut Sampler, files: &PhaseFiles) {
        let missing = &mut self.host.facts.missing;
        missing.extend(self.tracer.failure(!self.options.at_once));
        if sampler.snapshot(SnapshotDetail::Full).cache.is_none() {
            let unreadable = precheck::unreadable_pages(files);
            missing.extend(unreadable.filter(|known| !missing.contains(known)));
        }
    }
}

/// Removes what killed runs left where a plan makes files, until the control stops that, and
/// restores their settings of the host; a note for each.
pub fn remove_leftovers(plan: &Plan, control: &Control) -> Vec<Note> {
    let mut directories = BTreeSet::new();
    for path in plan.targets.iter().map(|target| target.path.as_path()) {
        directories.extend(directory_of(path));
        directories.extend(Some(path).filter(|path| path.is_dir()));
    }
    let empty = |path: &Path, told: &str| trees::remove_left(path, told, control);
    let cleaning = Cleaning { empty: &empty, control };
    // What is in a directory goes before the directory.
    let left = |directory: &Path| leftovers::remove_in(directory, &cleaning);
    let mut notes = schedulers::restore_left();
    notes.extend(directories.into_iter().rev().flat_map(left));
    notes
}

/// Space of the filesystem on which a path stands.
fn space(path: &Path) -> Option<Space> {
    let filesystem = path.metadata().ok()?.dev();
    let space = rustix::fs::statvfs(path).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
    let (total_bytes, available_bytes) = (bytes(space.f_blocks), bytes(space.f_bavail));
    // btrfs, for one, makes inodes as they are needed.
    let available_inodes = if space.f_files == 0 { u64::MAX } else { space.f_favail };
    Some(Space { filesystem, total_bytes, available_bytes, available_inodes })
}

impl Runner for Local {
    fn survey(&self, path: &Path) -> Result<Survey, RunError> {
        let path = path.canonicalize().map_err(RunError::find(path))?;
        let generic = candor_observe::block_device_of_commands(&path, &self.roots).is_some();
        let kind = if generic { PathKind::Device } else { kind(&path) };
        let has_length = matches!(kind, PathKind::File | PathKind::Device);
        Ok(Survey {
            kind,
            length_bytes: has_length
                .then(|| {
                    if generic {
                        candor_observe::file_facts(&path).ok().map(|facts| facts.size_bytes)
                    } else {
                        File::open(&path).and_then(|mut file| file.seek(SeekFrom::End(0))).ok()
                    }
                })
                .flatten(),
            takes_direct: takes_direct(&path),
            engine: candor_blocks::engines::best_of_many(),
            space: space(&path),
            path,
        })
    }

    fn open(&mut self, plan: &Plan) -> Result<(), RunError> {
        if plan.hosts > 1 && self.peers.is_alone() {
            return Err(RunError::BadPlan(vec![needs_hosts(plan)]));
        }
        resource_limits::check_address_space()?;
        files_in_use::note(plan)?;
        files_in_use::claim(plan, &plan.phases)?;
        self.remove_leftovers(plan);
        if self.channels.control.is_stopped() {
            return Err(RunError::Interrupted);
        }
        // Phases behind the first may find what others made.
        plan.phases.first().map_or(Ok(()), |first| target_check::check(plan, first))?;
        self.read_lists(plan)?;
        let upcoming = Upcoming::all(plan, &self.lists);
        self.guard.admit(&upcoming)?;
        free_space::check(&upcoming)?;
        // Buckets are made after the other refusals.
        self.buckets.open(plan, &mut self.session.kept)?;
        self.channels.events.send(Event::Preparing {
            phase: String::new(),
            step: PrepareStep::Inspect,
            what: plan.targets.first().map_or_else(String::new, |t| t.path.text()),
            bytes_done: 0,
            bytes_total: 0,
        });
        let named: Vec<_> = plan.targets.iter().map(|t| (t.name.clone(), t.path.clone())).collect();
        self.occupy_memory(plan)?;
        self.host.facts = candor_observe::inspect(&named, &self.roots);
        self.host.facts.host.memory_occupied = self.occupied.as_ref().map(|memory| memory.known);
        self.notes.extend(operations_log::notes(plan));
        if plan_commands(plan).any(|sends| sends) {
            self.host.facts.missing.push(untraced_commands());
        }
        Ok(())
    }

    fn hosts(&self) -> &[HostRecord] {
        slice::from_ref(&self.host)
    }

    fn prepare<'a>(&'a mut self, task: &Task<'a>) -> Result<Box<dyn Ready<'a> + 'a>, RunError> {
        let Task { plan, phase, index, repeat, follow_up } = *task;
        // What stands at a path may have changed since the run began.
        let phases = slice::from_ref(phase);
        files_in_use::claim(plan, phases)?;
        target_check::check(plan, phase)?;
        let upcoming = Upcoming { plan, phases, first: index, lists: &self.lists };
        self.guard.admit(&upcoming)?;
        if !follow_up {
            let known = &self.host.facts;
            self.host.facts = read_again(known, SnapshotDetail::Full, false, &self.roots);
            free_space::check(&upcoming)?;
        }
        let files = PhaseFiles::of(plan, phase);
        let (mut skipped, mut idle) = (Vec::new(), None);
        if !follow_up {
            let mut sampler = self.sampler(&files);
            self.start_tracer(plan);
            idle = self.idle_window(&mut sampler);
            skipped = self.prepare_targets(task)?;
            // Files that came into being can have brought their devices with them.
            self.start_tracer(plan);
        }
        // Files may just have come into being.
        let mut sampler = self.sampler(&files);
        let control = &self.channels.control;
        wait_until(Instant::now() + Duration::from_nanos(phase.delay.0), control);
        let submission = self.submission(task);
        let suited = submission::with(phase, submission.is_some_and(|trial| trial.one_at_a_time));
        let host = self.place(plan);
        let engine_task = candor_engine::Task { plan, phase: &suited, index, repeat, host };
        let prepared = Prepared::without(&mut self.session, &engine_task, skipped)?;
        if !follow_up {
            self.note_missing(&mut sampler, &files);
            self.warn_of_cache(plan, phase);
        }
        if self.channels.control.is_stopped() {
            Err(RunError::Interrupted)
        } else {
            let host = HostRecord { idle, submission, ..self.host.clone() };
            Ok(Box::new(LocalPhase::new(self, task, prepared, sampler, host)?))
        }
    }

    fn owns(&self, plan: &Plan, phase: &Phase) -> bool {
        let mut targets = precheck::targets(plan, phase).into_iter().map(|(_, target, _)| target);
        targets
            .all(|target| !target.keep && names::paths(target).all(|path| self.guard.owns(&path)))
    }

    fn measure_memory(&mut self, hosts: &mut [HostRecord]) {
        let stop = self.channels.control.stop_flag();
        for host in hosts {
            let facts = &self.host.facts.host;
            host.memory_copy = memory::copy(&mut self.session, facts, &self.roots, stop);
        }
    }

    fn close(&mut self) -> Vec<Note> {
        self.occupied = None;
        candor_compute::end_descendants();
        if let Some(first) = self.guard.first_to_remove() {
            // Names of trees take their time.
            self.channels.events.send(Event::Preparing {
                phase: String::new(),
                step: PrepareStep::CleanUp,
                what: first.text(),
                bytes_done: 0,
                bytes_total: 0,
            });
        }
        let mut left = self.guard.remove_files();
        left.extend(self.buckets.close(&mut self.session.kept));
        for note in &left {
            let sentence = format!("{}: {}; {}", note.asked, note.did, note.why);
            self.channels.events.send(Event::Warned { sentence });
        }
        self.notes.extend(left);
        std::mem::take(&mut self.notes)
    }
}

/// Whether the jobs of a plan send commands past the block layer, one after the other.
fn plan_commands(plan: &Plan) -> impl Iterator<Item = bool> {
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    jobs.map(|job| job.blocks().is_some_and(|blocks| blocks.engine.is_passthrough()))
}

/// Ranks of hosts that do not take part would leave their work undone.
fn needs_hosts(plan: &Plan) -> Problem {
    let message = format!("the plan is for {} hosts, and this is one", plan.hosts);
    let remedy = "name their agents with --hosts, or set hosts = 1";
    Problem::error("hosts", PlanPath::root().key("hosts"), message, remedy)
}

fn untraced_commands() -> Missing {
    Missing {
        what: "single requests of the devices".into(),
        why: "commands of io_uring_cmd and sg pass the block layer by, and the block tracer sees \
              no reads and writes in them"
            .into(),
        enable: "the block device by another engine".into(),
    }
}

fn kind(path: &Path) -> PathKind {
    let Ok(metadata) = path.metadata() else { return PathKind::Missing };
    match metadata.file_type() {
        kind if kind.is_file() => PathKind::File,
        kind if kind.is_dir() => PathKind::Directory,
        kind if kind.is_block_device() => PathKind::Device,
        _ => PathKind::Other,
    }
}

/// True if files in a directory, or that file or device itself, can be opened with `O_DIRECT`.
fn takes_direct(path: &Path) -> bool {
    let mut files = OwnedFiles::default();
    if path.is_dir() {
        files.create_probe(path).is_ok_and(|probe| opens_direct(&probe))
    } else {
        opens_direct(path)
    }
}

fn opens_direct(path: &Path) -> bool {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_DIRECT | libc::O_NONBLOCK).open(path).is_ok()
}

#[cfg(test)]
mod tests;

/// True where every byte of a file has a block of its own that was written.
fn is_written(file: &FileFacts) -> bool {
    file.extents.as_ref().is_some_and(|Fact { value, .. }| {
        let Extents { mapped_bytes, unwritten_bytes, encoded_bytes, repeated_bytes, .. } = *value;
        mapped_bytes >= file.size_bytes && unwritten_bytes + encoded_bytes + repeated_bytes == 0
    })
}
