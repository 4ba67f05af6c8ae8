//! The seam between a run and the hosts that do its work: prepare → start → collect.
//!
//! Each step gives the only value that has the next one, so that a wrong order cannot be written.

use std::path::{Path, PathBuf};
use std::time::Instant;

use candor_plan::{Engine, Phase, Plan};
use candor_record::facts::PathKind;
use candor_record::{HostRecord, Measurement, Note};

use crate::error::RunError;

/// Hosts that run phases: this one ([`crate::Local`]), or later many.
pub trait Runner {
    /// Looks at a path before there is a plan.
    ///
    /// # Errors
    /// Nothing is there.
    fn survey(&self, path: &Path) -> Result<Survey, RunError>;

    /// Checks the consent that a plan needs, and inspects hosts and targets.
    ///
    /// # Errors
    /// The plan would do harm, or a device is held.
    fn open(&mut self, plan: &Plan) -> Result<(), RunError>;

    /// Names and facts of the hosts as they are known now; one at least after [`Runner::open`].
    fn hosts(&self) -> &[HostRecord];

    /// Checks consent once more, then makes ready everything that can fail.
    ///
    /// # Errors
    /// The reason why the task cannot run; with [`RunError::problems`] if it may not.
    fn prepare<'a>(&'a mut self, task: &Task<'a>) -> Result<Box<dyn Ready<'a> + 'a>, RunError>;

    /// True where all files that a phase works on were made by this run, which will remove them.
    fn owns(&self, plan: &Plan, phase: &Phase) -> bool;

    /// Measures on each host how fast memory copies.
    fn measure_memory(&mut self, hosts: &mut [HostRecord]);

    /// Removes the files of the run; notes that no [`Collected`] has brought.
    fn close(&mut self) -> Vec<Note>;
}

/// A task that waits at its barrier. Dropped, it never runs.
#[must_use]
pub trait Ready<'a> {
    /// Releases the barrier: now, or at a moment to come.
    fn start(self: Box<Self>, at: Option<Instant>) -> Box<dyn Running + 'a>;
}

/// A task under way. Dropped, it is stopped.
#[must_use]
pub trait Running {
    /// Waits for the end; `interim` takes the results so far whenever they were requested.
    fn collect(self: Box<Self>, interim: &mut dyn FnMut(Collected)) -> Collected;
}

/// One phase that is to run, once.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The plan whose targets the phase uses.
    pub plan: &'a Plan,
    /// The phase.
    pub phase: &'a Phase,
    /// Index of the phase of the plan whose random choices are made; none for new ones.
    pub index: Option<usize>,
    /// Times that the phase ran before.
    pub repeat: u32,
    /// A short trial on what an earlier phase left: nothing is laid out, evicted or sampled.
    pub follow_up: bool,
}

/// A path before there is a plan for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The path without links.
    pub path: PathBuf,
    /// Kind of what stands there.
    pub kind: PathKind,
    /// Length of a file or a block device; absent for what is neither, or cannot be opened.
    pub length_bytes: Option<u64>,
    /// `O_DIRECT` is possible there, or for files in that directory.
    pub takes_direct: bool,
    /// The best asynchronous engine of the host.
    pub engine: Engine,
    /// Space of the filesystem on which it stands; absent where the kernel does not tell it.
    pub space: Option<Space>,
}

/// Space of a filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// A number that tells filesystems apart.
    pub filesystem: u64,
    /// All of it.
    pub total_bytes: u64,
    /// Free for this user.
    pub available_bytes: u64,
    /// Files that can still be made; the greatest number where the filesystem sets no limit.
    pub available_inodes: u64,
}

impl Survey {
    /// Length of what holds bytes already.
    pub fn whole(&self) -> Option<u64> {
        self.length_bytes.filter(|length| *length > 0)
    }

    /// True for a block device.
    pub fn is_device(&self) -> bool {
        self.kind == PathKind::Device
    }
}

/// Results of a task: measurements of all hosts together, and what each of them saw.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// One per job of the phase.
    pub measurements: Vec<Measurement>,
    /// One per host.
    pub hosts: Vec<HostRecord>,
    /// Where what ran is not exactly what was requested.
    pub notes: Vec<Note>,
}
