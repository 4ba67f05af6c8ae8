//! Single calls, each under a lock of its file that all workers and jobs of a phase share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::blocks::Lock;

use crate::kind::{BlocksSlot, Kind};
use crate::targets::files::{Files, OpenFile};

/// A file's lock.
type FileLock = Arc<RwLock<()>>;

/// The locks of a phase, by the paths of the files.
pub type Locks = HashMap<PathBuf, FileLock>;

/// The locks of a job's files, in their order.
#[derive(Clone)]
pub struct Held {
    locks: Arc<[FileLock]>,
    /// Reads hold off writes only.
    reads_together: bool,
}

impl Held {
    /// Finds or makes the locks; none where the plan wants none.
    pub fn join(kind: Lock, files: &Files, locks: &mut Locks) -> Option<Held> {
        let of = |file: &OpenFile| locks.entry(file.path.clone()).or_default().clone();
        let reads_together = kind == Lock::ReadWrite;
        (kind != Lock::None)
            .then(|| Held { locks: files.all().iter().map(of).collect(), reads_together })
    }
}

/// The engine.
pub struct Locked<'a> {
    engine: Box<dyn Call + 'a>,
    held: Held,
}

impl<'a> Locked<'a> {
    /// Around an engine.
    pub fn new(engine: impl Call + 'a, held: Held) -> Locked<'a> {
        Locked { engine: Box::new(engine), held }
    }
}

impl Call for Locked<'_> {
    fn call(&mut self, slot: &Slot) -> Outcome {
        // It issue_gate no data, so that a thread that panicked leaves nothing half done.
        let lock = &self.held.locks[slot.handle as usize];
        if self.held.reads_together && slot.kind() == Kind::Read {
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
