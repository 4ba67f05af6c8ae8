//! Operations on their way to the file of a job.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clock::{Clock, Ticks};
use crate::operation_log::{Entry, Moment};
use crate::phase::ready_job::ReadyJob;

/// Names that are kept while a batch is taken apart.
const NAMES_MAX: usize = 4096;

/// The release of a phase's barrier.
#[derive(Clone, Copy, Debug)]
pub struct PhaseRelease {
    /// Clock of the session.
    pub clock: Clock,
    /// Tick of the release.
    pub tick: Ticks,
    /// The same moment, in ns since 1970.
    pub unix_ns: u64,
}

/// Entries of one job, as they were drained from the workers' logs. Names are computed by whoever
/// takes them apart, so that the control plane only copies.
pub struct LoggedOperations {
    job: Arc<ReadyJob>,
    release: PhaseRelease,
    entries: Vec<(u32, Entry)>,
    lost: u64,
}

/// One moment of an operation: before it, or when it has ended.
#[derive(Clone, Copy, Debug)]
pub struct LoggedOperation<'a> {
    /// Time since the phase was released, in ns.
    pub elapsed_ns: u64,
    /// The same moment, in ns since 1970.
    pub unix_ns: u64,
    /// Rank of the worker.
    pub rank: u64,
    /// Name of the operation.
    pub op: &'static str,
    /// Path of its target.
    pub path: &'a str,
    /// Byte offset.
    pub offset: u64,
    /// Bytes requested.
    pub length: u64,
    /// True at its end.
    pub has_ended: bool,
    /// True where it ended without an effect.
    pub has_failed: bool,
}

impl LoggedOperations {
    pub(super) fn new(
        job: &Arc<ReadyJob>,
        release: PhaseRelease,
        entries: Vec<(u32, Entry)>,
        lost: u64,
    ) -> LoggedOperations {
        LoggedOperations { job: job.clone(), release, entries, lost }
    }

    /// Name of the job.
    pub fn job(&self) -> &str {
        &self.job.job.name
    }

    /// Entries of the job that found no room until now.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Hands over each moment, in order of time.
    pub fn for_each(mut self, mut take: impl FnMut(&LoggedOperation<'_>)) {
        self.entries.sort_by_key(|(_, entry)| entry.ended);
        let (job, release) = (&self.job, &self.release);
        let mut names: HashMap<u32, String> = HashMap::new();
        for (worker, entry) in &self.entries {
            if names.len() == NAMES_MAX {
                names.clear();
            }
            let path = names.entry(entry.file).or_insert_with(|| job.work.name_of(entry.file));
            let elapsed_ns = release.clock.ns(entry.ended.saturating_sub(release.tick));
            take(&LoggedOperation {
                elapsed_ns,
                unix_ns: release.unix_ns + elapsed_ns,
                rank: job.ranks.rank(*worker),
                op: entry.op.row(job.recorded.table).name,
                path,
                offset: entry.offset,
                length: entry.length,
                has_ended: entry.moment != Moment::Submitted,
                has_failed: entry.moment == Moment::Failed,
            });
        }
    }
}
