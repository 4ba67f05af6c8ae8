//! Verification: headers in writes, checks of reads, reads before writes, a journal.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use candor_engine::clock::Ticks;
use candor_engine::operation::{Outcome, Slot};
use candor_engine::source::{LOOK_AGAIN_NS, Next, Source, Turn, Wait};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::work::BlocksOp;
use candor_record::{Ended, JournalStats};

use crate::slot::{BlocksSlot, READ_BACK};
use crate::targets::files::Files;
use crate::verifier::{Begun, Verifier};
use candor_bytes::content::Content;
use candor_bytes::journal::format::Kind;
use candor_bytes::journal::log::WorkerLog;
use candor_bytes::verify::{BlockChange, NOTHING};

/// Maximum number of operations that are drawn and skipped in one turn of the loop.
const DRAWS_MAX: usize = 1 << 16;

/// A worker's verifier, shared with the sources that read back and that handle zones.
pub type SharedVerifier = Rc<RefCell<Verifier>>;

/// Claims blocks while they are written, fills them with headers, and checks reads.
///
/// A write with a read before it takes two successive operations under one claim; the inner sources
/// and the schedule see one operation.
pub struct Verified<S> {
    inner: S,
    verifier: SharedVerifier,
    content: Option<Content>,
    files: Arc<Files>,
    /// An operation that waits until another worker's write to its blocks has completed.
    held: Option<Slot>,
    /// Writes whose blocks were read and matched.
    checked: VecDeque<Slot>,
    /// Number of reads before writes in flight.
    reading: usize,
    journal: Option<Logged>,
    is_draining: bool,
    checking: Ticks,
}

/// A worker's log.
pub struct Logged {
    log: WorkerLog,
    /// Numbers of the job's files in the journal.
    numbers: Arc<[u32]>,
    committing: Ticks,
    /// Number of pending writes when the journal was opened.
    pending: u64,
    /// True once a write of the log has failed; the log is then unused.
    failed: bool,
}

impl Logged {
    /// A log whose files have these numbers.
    pub fn new(log: WorkerLog, numbers: Arc<[u32]>, pending: u64) -> Logged {
        Logged { log, numbers, committing: Ticks(0), pending, failed: false }
    }

    /// Adds the records of a write, for each of its blocks.
    fn add(&mut self, kind: Kind, slot: &Slot, verifier: &Verifier) {
        let file = self.numbers[slot.handle as usize];
        verifier.changes(slot).for_each(|change| self.log.add(kind, file, change));
    }

    /// Adds the records of a write that failed: its blocks may hold anything.
    #[cold]
    fn add_unsure(&mut self, slot: &Slot, verifier: &Verifier) {
        let file = self.numbers[slot.handle as usize];
        for change in verifier.changes(slot) {
            self.log.add(Kind::After, file, BlockChange { new: NOTHING, ..change });
        }
    }
}

impl<S: Source> Verified<S> {
    /// Wraps a source with up to `depth` operations in flight.
    pub fn new(inner: S, verifier: SharedVerifier, files: Arc<Files>, depth: usize) -> Verified<S> {
        Verified {
            inner,
            verifier,
            content: None,
            files,
            held: None,
            checked: VecDeque::with_capacity(depth),
            reading: 0,
            journal: None,
            is_draining: false,
            checking: Ticks(0),
        }
    }

    /// Sets the content of writes, and the log of a journal.
    pub fn with_writes(self, content: Option<Content>, journal: Option<Logged>) -> Verified<S> {
        Verified { content, journal, ..self }
    }

    /// Next operation of the inner source that is not skipped. The work ends before a read beyond
    /// all completed writes.
    fn draw(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        for _ in 0..DRAWS_MAX {
            match self.inner.next(slot, turn) {
                Next::Ready => {}
                // The inner source has ended, but writes still follow their reads.
                Next::End(_) if self.reading > 0 => return Next::Wait(Wait::InFlight),
                other => return other,
            }
            let mut verifier = self.verifier.borrow_mut();
            let ends = verifier.ends_before(slot);
            if !ends && !verifier.leaves_out(slot) {
                return Next::Ready;
            }
            drop(verifier);
            self.inner.give_up(slot);
            if ends {
                return Next::End(Ended::Done);
            }
        }
        // All operations were skipped; return to the loop, which checks the time.
        Next::Wait(Wait::Others(LOOK_AGAIN_NS))
    }

    /// Prepares a claimed write: fills its bytes, and logs its records.
    fn make_write(&mut self, slot: &Slot, turn: &mut Turn) {
        let mut verifier = self.verifier.borrow_mut();
        if let Some(content) = &mut self.content {
            verifier.write(slot, content);
        }
        if let Some(journal) = &mut self.journal {
            journal.add(Kind::Before, slot, &verifier);
            turn.commits = true;
        }
    }

    /// Handles the end of a read before a write.
    fn read_before_write(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        self.reading -= 1;
        let mut verifier = self.verifier.borrow_mut();
        match verifier.end_before_write(slot, outcome, &self.files) {
            Some(true) if self.is_draining => verifier.release(slot),
            Some(true) => {
                let mut write = *slot;
                write.set(BlocksOp::Write);
                self.checked.push_back(write);
                turn.follow_ups += 1;
                return;
            }
            Some(false) => {}
            None => turn.end(Ended::Failed),
        }
        drop(verifier);
        self.inner.give_up(slot);
    }

    /// Ends an operation on blocks; logs the records of a write before its claim ends.
    fn end(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        let is_written = slot.issued() == BlocksOp::Write;
        let mut verifier = self.verifier.borrow_mut();
        if let Some(journal) = self.journal.as_mut().filter(|_| is_written) {
            if outcome == Outcome::Done(slot.length) {
                journal.add(Kind::After, slot, &verifier);
            } else {
                journal.add_unsure(slot, &verifier);
            }
            turn.commits = true;
        }
        if !verifier.end(slot, outcome, &self.files) {
            turn.end(Ended::Failed);
        }
    }
}

impl<S: Source> Source for Verified<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if let Some(write) = self.checked.pop_front() {
            turn.follow_ups -= 1;
            slot.take_over(&write);
            self.verifier.borrow_mut().issue(slot);
            self.make_write(slot, turn);
            return Next::Ready;
        }
        match self.held.take() {
            Some(held) => slot.take_over(&held),
            None => match self.draw(slot, turn) {
                Next::Ready => {}
                other => return other,
            },
        }
        let begun = self.verifier.borrow_mut().begin(slot);
        match begun {
            Begun::Busy => {
                self.held = Some(*slot);
                return Next::Wait(Wait::Others(LOOK_AGAIN_NS));
            }
            Begun::ReadFirst => {
                self.reading += 1;
                slot.op = READ_BACK;
            }
            Begun::Ready if slot.issued() == BlocksOp::Write => self.make_write(slot, turn),
            Begun::Ready => {}
        }
        Next::Ready
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        let is_before_write = self.verifier.borrow().is_before_write(slot);
        if !is_before_write {
            self.inner.completed(slot, outcome, turn);
        }
        let before = turn.clock.now();
        if is_before_write {
            self.read_before_write(slot, outcome, turn);
        } else {
            self.end(slot, outcome, turn);
        }
        self.checking += turn.clock.now() - before;
    }

    fn commit(&mut self, turn: &mut Turn) -> bool {
        let Some(journal) = &mut self.journal else { return true };
        let before = turn.clock.now();
        let committed = if journal.failed { Ok(()) } else { journal.log.commit() };
        journal.committing += turn.clock.now() - before;
        let Err(error) = committed else { return !journal.failed };
        journal.failed = true;
        turn.failures.add_unlogged(journal.log.path(), &error);
        turn.end(Ended::Failed);
        false
    }

    fn flush_begins(&mut self, handle: u32) {
        self.verifier.borrow_mut().flush_begins(handle);
    }

    fn flush_ended(&mut self, handle: u32) {
        self.verifier.borrow_mut().flush_ended(handle);
    }

    fn begin(&mut self) {
        self.checking = Ticks(0);
        self.inner.begin();
    }

    fn give_up(&mut self, slot: &Slot) {
        let verifier = self.verifier.borrow();
        let is_before_write = verifier.is_before_write(slot);
        if is_before_write || matches!(slot.issued(), BlocksOp::Write | BlocksOp::Trim) {
            verifier.release(slot);
        }
        drop(verifier);
        self.reading -= usize::from(is_before_write);
        self.inner.give_up(slot);
    }

    fn drain(&mut self) {
        self.is_draining = true;
        for write in self.checked.drain(..) {
            self.verifier.borrow().release(&write);
            self.inner.give_up(&write);
        }
        if let Some(held) = self.held.take() {
            self.inner.give_up(&held);
        }
        self.inner.drain();
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        let mut stats = self.verifier.borrow().stats();
        if let Some(Logged { log, committing, pending, .. }) = &self.journal {
            let spent = log.stats(turn.clock.ns(*committing));
            stats.journal = Some(JournalStats { pending: *pending, ..spent });
        }
        end.verify = Some(stats);
        end.stats.verify_ns = turn.clock.ns(self.checking);
        if self.content.is_some() {
            end.stats.fill_ns = turn.clock.ns(turn.fill);
        }
        self.inner.tell(end, turn);
    }
}
