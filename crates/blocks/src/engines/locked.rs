//! Single calls, each under a lock of its file: candor's own, which all workers and jobs of a phase
//! share, or the kernel's.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::blocks::Lock;
use candor_plan::work::BlocksOp;

use crate::slot::BlocksSlot;
use crate::targets::files::{Files, OpenFile};
use candor_bytes::posix_lock::{self, Holding, Span};

/// Lock of a file.
type FileLock = Arc<RwLock<()>>;

/// Locks of a phase, by the paths of the files.
pub type Locks = HashMap<PathBuf, FileLock>;

/// Locks of a job's files.
#[derive(Clone)]
pub enum Held {
    /// Candor's own.
    Own {
        /// In the order of the files.
        locks: Arc<[FileLock]>,
        /// True if reads exclude only writes.
        reads_together: bool,
    },
    /// The kernel's.
    Posix {
        /// The files.
        files: Arc<Files>,
        /// True if a lock covers the whole file.
        whole: bool,
    },
}

impl Held {
    /// Finds or creates the locks; none if the plan requests none.
    pub fn join(kind: Lock, files: &Arc<Files>, locks: &mut Locks) -> Option<Held> {
        let of = |file: &OpenFile| locks.entry(file.path.clone()).or_default().clone();
        Some(match kind {
            Lock::None => return None,
            Lock::Exclusive | Lock::ReadWrite => Held::Own {
                locks: files.all().iter().map(of).collect(),
                reads_together: kind == Lock::ReadWrite,
            },
            Lock::PosixRange | Lock::PosixFile => {
                Held::Posix { files: files.clone(), whole: kind == Lock::PosixFile }
            }
        })
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
        let reads = matches!(slot.issued(), BlocksOp::Read | BlocksOp::ReadBack);
        // The lock protects no data of candor's, so a thread that panicked leaves nothing
        // inconsistent.
        match &self.held {
            Held::Own { locks, reads_together: true } if reads => {
                let lock = &locks[slot.handle as usize];
                let _held = lock.read().unwrap_or_else(PoisonError::into_inner);
                self.engine.call(slot)
            }
            Held::Own { locks, .. } => {
                let lock = &locks[slot.handle as usize];
                let _held = lock.write().unwrap_or_else(PoisonError::into_inner);
                self.engine.call(slot)
            }
            // A flush without bytes would lock all of the file.
            Held::Posix { .. } if slot.length == 0 => self.engine.call(slot),
            Held::Posix { files, whole } => {
                let span = if *whole { Span::WHOLE } else { Span::of(slot.offset, slot.length) };
                let holding = if reads { Holding::Shared } else { Holding::Exclusive };
                let fd = files.get(slot.handle).raw();
                posix_lock::during(fd, holding, span, || self.engine.call(slot))
            }
        }
    }

    fn features(&self) -> Vec<String> {
        let lock = match self.held {
            Held::Own { reads_together: true, .. } => "read-write-locks",
            Held::Own { .. } => "locks",
            Held::Posix { whole: true, .. } => "posix-file-locks",
            Held::Posix { .. } => "posix-range-locks",
        };
        self.engine.features().into_iter().chain([lock.to_owned()]).collect()
    }
}
