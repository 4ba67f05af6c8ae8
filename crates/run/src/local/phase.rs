//! One phase on this host, from its barrier to its clean-up.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use candor_engine::Prepared;
use candor_entries::Lists;
use candor_observe::Sampler;
use candor_plan::entries::Entries;
use candor_plan::{Phase, Plan};
use candor_record::{Ended, HostRecord, Measurement, Note, Snapshot, Thinned};

use super::Local;
use crate::consent::AbsentNames;
use crate::control::Command;
use crate::error::RunError;
use crate::operations_log::OperationsWriter;
use crate::peers::Peers;
use crate::phase_snapshots::PhaseSnapshots;
use crate::runner::{Collected, Ready, Running, Task};
use crate::trees::NamedTree;
use crate::{hooks, precheck};

/// Results of a phase.
#[derive(Default)]
struct PhaseEnd {
    measurements: Vec<Measurement>,
    host: HostRecord,
    operations: Option<OperationsWriter>,
    note: Option<Note>,
}

/// A phase whose control plane has a thread of its own, which waits for the start.
pub struct LocalPhase<'a> {
    local: &'a mut Local,
    task: Task<'a>,
    /// Names that the phase is to make and that nobody has.
    absent_names: AbsentNames,
    /// Takes the moment of the start, once.
    start: Option<Sender<Option<Instant>>>,
    interims: Receiver<Collected>,
    thread: Option<JoinHandle<Option<PhaseEnd>>>,
}

impl<'a> LocalPhase<'a> {
    /// Of a phase whose workers wait at the barrier.
    ///
    /// # Errors
    /// The kernel has no thread left.
    pub fn new(
        local: &'a mut Local,
        task: &Task<'a>,
        prepared: Prepared,
        sampler: Sampler,
        host: HostRecord,
    ) -> Result<LocalPhase<'a>, RunError> {
        let operations =
            if task.follow_up { None } else { OperationsWriter::open(task.plan, task.phase)? };
        let absent_names = local.guard.absent_names(task.plan, task.phase);
        let (start, started) = mpsc::channel();
        let (interim_sender, interims) = mpsc::channel();
        local.peers.begin_phase();
        let mut snapshots = PhaseSnapshots {
            channels: local.channels.clone(),
            peers: if task.plan.hosts_apart { Peers::default() } else { local.peers.clone() },
            phase: task.phase.name.clone(),
            follow_up: task.follow_up,
            start_at: None,
            roots: local.roots.clone(),
            only_reads: task.phase.jobs.iter().all(|job| job.work.destroys().is_none()),
            sampler,
            tracer: local.tracer.reader(),
            interims: interim_sender,
            operations,
            host,
            last: Snapshot::default(),
            intervals: 0,
            during: Thinned::default(),
            joined: 1,
            requests_before: None,
            facts_read_ns: 0,
        };
        let body = move || {
            // Without a start, the workers end at their barrier.
            snapshots.start_at = started.recv().ok()?;
            let control = snapshots.channels.control.clone();
            let measurements = prepared.run(control.stop_flag(), &mut snapshots);
            let note = snapshots.note();
            let (host, operations) = (snapshots.host, snapshots.operations);
            Some(PhaseEnd { measurements, host, operations, note })
        };
        let thread = thread::Builder::new().name("candor/sample".into()).spawn(body);
        let thread = Some(thread.map_err(|cause| RunError::Thread { cause })?);
        let (task, start) = (*task, Some(start));
        Ok(LocalPhase { local, task, absent_names, start, interims, thread })
    }

    /// Runs the commands that follow the phase, and removes the files that it is to remove.
    fn clean_up(&mut self, measurements: &mut [Measurement]) {
        let (local, Task { plan, phase, .. }) = (&mut *self.local, self.task);
        local.guard.adopt(&self.absent_names);
        local.schedulers.put_back();
        remove_roots(plan, phase, &local.lists);
        let jobs = phase.jobs.iter().enumerate();
        let hooks = jobs.filter_map(|(at, job)| Some((at, job, job.hooks.after.as_ref()?)));
        for failed in hooks::run(hooks) {
            if failed.may {
                local.notes.push(failed.note("the measured results are kept"));
            } else {
                measurements[failed.at].errors.push(failed.failure);
            }
        }
        for (_, target, work) in precheck::targets(plan, phase) {
            let Err(error) = local.guard.remove_of(target) else { continue };
            measurements[work[0].at].errors.extend(error.failure());
        }
    }
}

/// Removes the roots of trees whose directories the phase has removed.
fn remove_roots(plan: &Plan, phase: &Phase, lists: &Lists) {
    for job in
        phase.jobs.iter().filter(|job| job.entries().is_some_and(Entries::removes_directories))
    {
        let targets = plan.targets.iter().filter(|target| job.targets.contains(&target.name));
        targets
            .filter_map(|target| NamedTree::of(plan, target, lists))
            .for_each(|tree| tree.remove_roots());
    }
}

impl<'a> Ready<'a> for LocalPhase<'a> {
    fn start(mut self: Box<Self>, at: Option<Instant>) -> Box<dyn Running + 'a> {
        // The thread waits for exactly this.
        let _ = self.start.take().map(|start| start.send(at));
        self
    }
}

impl Running for LocalPhase<'_> {
    fn collect(mut self: Box<Self>, interim: &mut dyn FnMut(Collected)) -> Collected {
        self.interims.iter().for_each(interim);
        let ended = self.thread.take().map(JoinHandle::join);
        let ended = ended.transpose().unwrap_or_else(|panic| resume_unwind(panic));
        let ended = ended.flatten().unwrap_or_default();
        let PhaseEnd { mut measurements, host, operations, note } = ended;
        self.local.notes.extend(note);
        for (job, failure) in operations.into_iter().flat_map(OperationsWriter::end) {
            let failed = measurements.iter_mut().find(|measured| measured.job == job);
            failed.into_iter().for_each(|measured| {
                measured.ended = Ended::Failed;
                measured.errors.push(failure.clone());
            });
        }
        // Others may still use what is removed now.
        self.local.peers.wait_for_end(&self.local.channels.control);
        if !self.task.follow_up {
            self.clean_up(&mut measurements);
        }
        let notes = std::mem::take(&mut self.local.notes);
        Collected { measurements, hosts: vec![host], notes }
    }
}

impl Drop for LocalPhase<'_> {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.start.take().is_none() {
            self.local.channels.control.send(Command::Stop);
        }
        // Its workers hold files and devices until they end; a panic ends them too.
        let _ = thread.join();
    }
}
