//! What the workers of a job share with the control plane.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::clock::{AtomicTicks, Ticks};

/// The start of a job that waits for others.
pub const NOT_YET: Ticks = Ticks(u64::MAX / 2);

/// Set before the gate opens, read by the workers.
#[derive(Default)]
pub struct Shared {
    /// Tick at which the job starts.
    pub started: AtomicTicks,
    /// Tick from which operations count.
    pub count_from: AtomicTicks,
    /// Tick at which time is up.
    pub deadline: AtomicTicks,
    /// What the control plane wants of the workers.
    pub command: CommandWord,
}

/// What is wanted of the workers, in one word that their loops look at in every turn: its lowest
/// bit says that they are to end, the rest counts how often they were asked how far they are.
#[derive(Default)]
pub struct CommandWord(AtomicU32);

impl CommandWord {
    const END: u32 = 1;
    const ASKED: u32 = 2;

    /// Everyone is to end: the user said so, or something failed.
    pub fn end(&self) {
        self.0.fetch_or(CommandWord::END, Relaxed);
    }

    /// True where everyone is to end.
    pub fn is_end(&self) -> bool {
        CommandWord::ends(self.word())
    }

    /// Everyone is to tell how far it is.
    pub fn ask(&self) {
        self.0.fetch_add(CommandWord::ASKED, Relaxed);
    }

    /// The word: a worker that sees another one than before has something to do.
    #[inline(always)]
    pub fn word(&self) -> u32 {
        self.0.load(Relaxed)
    }

    /// True where such a word says to end.
    pub fn ends(word: u32) -> bool {
        word & CommandWord::END != 0
    }

    /// True where figures so far were asked for between two words.
    pub fn wants_interim(before: u32, after: u32) -> bool {
        before / CommandWord::ASKED != after / CommandWord::ASKED
    }
}

/// The barrier at the start of a phase.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// Waits until it opens.
    pub fn pass(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Opens it for good.
    pub fn release(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }
}
