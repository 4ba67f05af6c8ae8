//! Single calls, each under a lock of its file; all workers and jobs of a phase share the locks.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::blocks::Lock;
use candor_plan::work::BlocksOp;

use crate::slot::BlocksSlot;
use crate::targets::files::{Files, OpenFile};

/// Lock of a file.
type FileLock = Arc<RwLock<()>>;

/// Locks of a phase, by the paths of the files.
pub type Locks = HashMap<PathBuf, FileLock>;

/// Locks of a job's files, in the order of the files.
#[derive(Clone)]
pub struct Held {
    locks: Arc<[FileLock]>,
    /// True where reads exclude writes only.
    reads_together: bool,
}

impl Held {
    /// Finds or makes the locks; none where the plan requests none.
    pub fn join(kind: Lock, files: &Files, locks: &mut Locks) -> Option<Held> {
        let of = |file: &OpenFile| locks.entry(file.path.clone()).or_default().clone();
        let reads_together = kind == Lock::ReadWrite;
        (kind != Lock::None)
            .then(|| Held { locks: files.all().iter().map(of).collect(), reads_together })
    }
}

/// Engine that holds a file's lock during each call.
pub struct Locked<'a> {
    engine: Box<dyn Call + 'a>,
    held: Held,
}

impl<'a> Locked<'a> {
    /// Wraps an engine.
    pub fn new(engine: impl Call + 'a, held: Held) -> Locked<'a> {
        Locked { engine: Box::new(engine), held }
    }
}

impl Call for Locked<'_> {
    fn call(&mut self, slot: &Slot) -> Outcome {
        // The lock protects no data of candor's, so a thread that panicked leaves nothing
        // inconsistent.
        let lock = &self.held.locks[slot.handle as usize];
        if self.held.reads_together && slot.issued() == BlocksOp::Read {
            let _held = lock.read().unwrap_or_else(PoisonError::into_inner);
            return self.engine.call(slot);
        }
        let _held = lock.write().unwrap_or_else(PoisonError::into_inner);
        self.engine.call(slot)
    }

    fn features(&self) -> Vec<String> {
        let lock = if self.held.reads_together { "read-write-locks" } else { "locks" };
        self.engine.features().into_iter().chain([lock.to_owned()]).collect()
    }
}
