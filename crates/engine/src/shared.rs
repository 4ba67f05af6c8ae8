//! State that the workers of a job share with the control plane.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::clock::{AtomicTicks, Ticks};
use crate::error::EngineError;
use crate::worker_end::WorkerEnd;

/// Start of a job that waits for others.
pub const NOT_YET: Ticks = Ticks(u64::MAX / 2);

/// Times and commands of a job: the control plane sets them, the workers read them.
#[derive(Default)]
pub struct Shared {
    /// Tick at which the job starts.
    pub started: AtomicTicks,
    /// Tick from which operations count.
    pub count_from: AtomicTicks,
    /// Tick at which time is up.
    pub deadline: AtomicTicks,
    /// Commands of the control plane to the workers.
    pub command: CommandWord,
}

/// Commands to the workers, in one word that their loops read in every turn. The lowest bit ends
/// the workers. The other bits count the requests for interim results, and the end of a ramp that
/// ends by an amount.
#[derive(Default)]
pub struct CommandWord(AtomicU32);

impl CommandWord {
    const END: u32 = 1;
    const INTERIM: u32 = 2;

    /// Ends all workers: the user stopped the run, or something failed.
    pub fn end(&self) {
        self.0.fetch_or(CommandWord::END, Relaxed);
    }

    /// True once all workers are to end.
    pub fn is_end(&self) -> bool {
        CommandWord::ends(self.word())
    }

    /// Requests interim results of all workers.
    pub fn request_interim(&self) {
        self.0.fetch_add(CommandWord::INTERIM, Relaxed);
    }

    /// Tells workers in a ramp that operations count from a tick which was set before.
    pub fn count(&self) {
        self.0.fetch_add(CommandWord::INTERIM, Release);
    }

    /// Present word. A worker that finds it changed has a command to carry out.
    #[inline(always)]
    pub fn word(&self) -> u32 {
        self.0.load(Relaxed)
    }

    /// True where that word ends the worker.
    pub fn ends(word: u32) -> bool {
        word & CommandWord::END != 0
    }

    /// True where interim results were requested between two words.
    pub fn requests_interim(before: u32, after: u32) -> bool {
        before / CommandWord::INTERIM != after / CommandWord::INTERIM
    }
}

/// The barrier at the start of a phase.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// Waits until the gate opens.
    pub fn pass(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Opens the gate for good.
    pub fn release(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }
}

/// Message from a worker's thread to the control plane.
pub enum Message {
    /// A worker waits at the barrier.
    Ready,
    /// A worker ended, or could not be prepared.
    Ended { job: usize, rank: u32, end: Box<Result<WorkerEnd, EngineError>> },
}
