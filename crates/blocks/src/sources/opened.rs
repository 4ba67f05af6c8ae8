//! Files that a worker opens and closes for itself, as operations around its work.
//!
//! ```text
//! open ─► (all opened) ─► work ─► sync ─► (all done) ─► close
//! ```
//!
//! Time limits the work alone: it counts from the moment at which the worker's files are open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use candor_engine::clock::Ticks;
use candor_engine::operation::{Outcome, Slot};
use candor_engine::source::{LOOK_AGAIN_NS, Next, Source, Turn, Wait};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::work::BlocksOp;
use candor_record::{Ended, StageSpan, Stages};

use crate::slot::{self, BlocksSlot};

/// Workers of a job that have come to the end of a stage, by stage.
#[derive(Debug)]
pub struct StageGates {
    workers: u32,
    opened: AtomicU32,
    worked: AtomicU32,
}

impl StageGates {
    /// Gates for so many workers.
    pub fn new(workers: u32) -> StageGates {
        StageGates { workers, opened: AtomicU32::new(0), worked: AtomicU32::new(0) }
    }

    fn of(&self, stage: Stage) -> Option<&AtomicU32> {
        match stage {
            Stage::Opened => Some(&self.opened),
            Stage::Worked => Some(&self.worked),
            _ => None,
        }
    }

    fn arrive(&self, stage: Stage) {
        if let Some(count) = self.of(stage) {
            count.fetch_add(1, Ordering::Release);
        }
    }

    fn is_open(&self, stage: Stage) -> bool {
        self.of(stage).is_none_or(|count| count.load(Ordering::Acquire) >= self.workers)
    }
}

/// How far a worker is, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Opens its files.
    Opening,
    /// Waits for the others to have opened theirs.
    Opened,
    /// Does its work.
    Working,
    /// Waits for its operations in flight.
    Draining,
    /// Syncs its files.
    Syncing,
    /// Waits for the others to have done as much.
    Worked,
    /// Closes its files.
    Closing,
    /// Has nothing left to do.
    Closed,
}

/// First begin and last end of a stage.
#[derive(Clone, Copy, Debug, Default)]
struct Span(Option<(Ticks, Ticks)>);

impl Span {
    #[inline(always)]
    fn add(&mut self, started: Ticks, ended: Ticks) {
        self.0 = match self.0 {
            None => Some((started, ended)),
            Some((first, last)) => Some((first.min(started), last.max(ended))),
        };
    }

    fn of(self, turn: &Turn) -> StageSpan {
        let ns = |tick: Ticks| turn.clock.ns(tick.saturating_sub(turn.started));
        self.0
            .map(|(first, last)| StageSpan { begin_ns: ns(first), end_ns: ns(last) })
            .unwrap_or_default()
    }
}

/// A source whose files are opened before its operations, and closed after them.
pub struct Opened<S> {
    inner: S,
    /// Files of the worker.
    files: Box<[u32]>,
    /// Files are synced after the last operation.
    syncs: bool,
    /// Gates between the stages, where workers wait for each other.
    gates: Option<Arc<StageGates>>,
    /// Time of the work.
    time_ns: Option<u64>,
    /// Tick at which that time is up; the end of all time before it began.
    deadline: Ticks,
    stage: Stage,
    /// Next file of the stage.
    at: usize,
    has_arrived: bool,
    ended: Ended,
    open: Span,
    transfer: Span,
    close: Span,
}

impl<S: Source> Opened<S> {
    /// Wraps the source of a worker that has these files.
    pub fn new(
        inner: S,
        files: Box<[u32]>,
        syncs: bool,
        gates: Option<Arc<StageGates>>,
        time_ns: Option<u64>,
    ) -> Opened<S> {
        Opened {
            inner,
            files,
            syncs,
            gates,
            time_ns,
            deadline: Ticks::MAX,
            stage: Stage::Opening,
            at: 0,
            has_arrived: false,
            ended: Ended::Done,
            open: Span::default(),
            transfer: Span::default(),
            close: Span::default(),
        }
    }

    fn enter(&mut self, stage: Stage) {
        (self.stage, self.at, self.has_arrived) = (stage, 0, false);
    }

    /// The next of the operations that each file gets, one at a time; none once all have had it.
    fn each_file(&mut self, op: BlocksOp, slot: &mut Slot, turn: &Turn) -> Option<Next> {
        if turn.in_flight > 0 {
            return Some(Next::Wait(Wait::InFlight));
        }
        let file = *self.files.get(self.at)?;
        self.at += 1;
        slot.op = slot::op(op);
        (slot.handle, slot.offset, slot.length, slot.tag) = (file, 0, 0, 0);
        Some(Next::Ready)
    }

    /// Waits until all workers have come to the end of this stage; none once they have.
    fn await_others(&mut self) -> Option<Next> {
        let gates = self.gates.as_ref()?;
        if !std::mem::replace(&mut self.has_arrived, true) {
            gates.arrive(self.stage);
        }
        (!gates.is_open(self.stage)).then_some(Next::Wait(Wait::Others(LOOK_AGAIN_NS)))
    }

    /// The next operation of the work; none once it has ended.
    fn work(&mut self, slot: &mut Slot, turn: &mut Turn) -> Option<Next> {
        if turn.now >= self.deadline {
            self.deadline = Ticks::MAX;
            if !self.inner.time_is_up() {
                self.ended = Ended::Time;
                return None;
            }
        }
        match self.inner.next(slot, turn) {
            Next::End(why) => {
                self.ended = why;
                None
            }
            next => Some(next),
        }
    }

    fn begin_work(&mut self, turn: &Turn) {
        let time = self.time_ns.map(|ns| turn.clock.now() + turn.clock.ticks(ns));
        self.deadline = time.unwrap_or(Ticks::MAX);
    }

    /// An operation of the stage, or a reason to wait; none where the next stage begins.
    fn step(&mut self, slot: &mut Slot, turn: &mut Turn) -> Option<Next> {
        match self.stage {
            Stage::Opening => self.each_file(BlocksOp::Open, slot, turn),
            Stage::Opened | Stage::Worked => self.await_others(),
            Stage::Working => self.work(slot, turn),
            Stage::Draining => (turn.in_flight > 0).then_some(Next::Wait(Wait::InFlight)),
            Stage::Syncing if self.syncs => self.each_file(BlocksOp::Fsync, slot, turn),
            Stage::Syncing => None,
            Stage::Closing => self.each_file(BlocksOp::Close, slot, turn),
            Stage::Closed => Some(Next::End(self.ended)),
        }
    }
}

impl<S: Source> Source for Opened<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        loop {
            if let Some(next) = self.step(slot, turn) {
                return next;
            }
            if self.stage == Stage::Opened {
                self.begin_work(turn);
            }
            self.enter(match self.stage {
                Stage::Opening => Stage::Opened,
                Stage::Opened => Stage::Working,
                Stage::Working => Stage::Draining,
                Stage::Draining => Stage::Syncing,
                Stage::Syncing => Stage::Worked,
                Stage::Worked => Stage::Closing,
                Stage::Closing | Stage::Closed => Stage::Closed,
            });
        }
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        match slot.issued() {
            BlocksOp::Open => self.open.add(slot.started, turn.now),
            BlocksOp::Close => self.close.add(slot.started, turn.now),
            _ => {
                self.transfer.add(slot.started, turn.now);
                if self.stage < Stage::Syncing {
                    self.inner.completed(slot, outcome, turn);
                }
            }
        }
    }

    /// The time of the job began before its files were open.
    fn time_is_up(&mut self) -> bool {
        true
    }

    /// A worker that ends early holds nobody up.
    fn drain(&mut self) {
        if let Some(gates) = &self.gates {
            for stage in [Stage::Opened, Stage::Worked] {
                if self.stage < stage || (self.stage == stage && !self.has_arrived) {
                    gates.arrive(stage);
                }
            }
        }
        self.stage = Stage::Closed;
        self.inner.drain();
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        self.inner.tell(end, turn);
        let [open, transfer, close] =
            [self.open, self.transfer, self.close].map(|span| span.of(turn));
        end.stats.stages = Some(Stages { open, transfer, close });
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::clock::Clock;
    use candor_engine::operation::{Buffer, Op};
    use candor_engine::source::Repeated;

    use super::*;

    fn worker(ops: u64, gates: Option<&Arc<StageGates>>) -> Opened<Repeated> {
        let inner = Repeated::new(Op(BlocksOp::Write as u8), 8, ops);
        let mut source = Opened::new(inner, [3, 4].into(), true, gates.cloned(), None);
        source.begin();
        source
    }

    /// Names and files of the operations that a source gives, each completed at once.
    fn ops(source: &mut Opened<Repeated>, turn: &mut Turn) -> Vec<(&'static str, u32)> {
        let mut slot = Slot::empty(Buffer::None);
        let mut list = Vec::new();
        while source.next(&mut slot, turn) == Next::Ready {
            list.push((slot.op.row(BlocksOp::TABLE).name, slot.handle));
            source.completed(&slot, Outcome::Done(slot.length), turn);
        }
        list
    }

    fn turn() -> Turn {
        Turn::new(Clock::calibrated(), BlocksOp::TABLE, |_| String::new())
    }

    #[test]
    fn files_are_opened_synced_and_closed_around_the_work() {
        let (mut source, mut turn) = (worker(2, None), turn());
        let given = ops(&mut source, &mut turn);
        let names: Vec<_> = given.iter().map(|(name, _)| *name).collect();
        let expected = ["open", "open", "write", "write", "fsync", "fsync", "close", "close"];
        assert_eq!(names, expected);
        assert_eq!(given[6..], [("close", 3), ("close", 4)]);
        let mut slot = Slot::empty(Buffer::None);
        assert_eq!(source.next(&mut slot, &mut turn), Next::End(Ended::Done));
        turn.in_flight = 1;
        let mut source = worker(2, None);
        assert_eq!(source.next(&mut slot, &mut turn), Next::Wait(Wait::InFlight), "one at a time");
    }

    #[test]
    fn workers_wait_for_each_other_between_stages() {
        let gates = Arc::new(StageGates::new(2));
        let (mut one, mut other) = (worker(2, Some(&gates)), worker(1, Some(&gates)));
        let mut turn = turn();
        assert_eq!(ops(&mut one, &mut turn).len(), 2, "both files, and no more");
        assert_eq!(ops(&mut other, &mut turn).len(), 2 + 1 + 2, "all but closing");
        assert_eq!(ops(&mut one, &mut turn).len(), 2 + 2 + 2);
        assert_eq!(ops(&mut other, &mut turn).len(), 2);
    }

    #[test]
    fn a_worker_that_fails_holds_nobody_up() {
        for drawn in [0, 1, 2] {
            let gates = Arc::new(StageGates::new(2));
            let (mut one, mut other) = (worker(2, Some(&gates)), worker(2, Some(&gates)));
            let (mut slot, mut turn) = (Slot::empty(Buffer::None), turn());
            for _ in 0..drawn {
                assert_eq!(one.next(&mut slot, &mut turn), Next::Ready);
            }
            one.drain();
            assert_eq!(ops(&mut other, &mut turn).len(), 8, "after {drawn}");
        }
    }

    #[test]
    fn time_counts_from_the_first_operation() {
        let inner = Repeated::new(Op(BlocksOp::Write as u8), 8, u64::MAX);
        let mut source = Opened::new(inner, [0].into(), false, None, Some(1_000_000));
        source.begin();
        let (mut slot, mut turn) = (Slot::empty(Buffer::None), turn());
        let mut next = |source: &mut Opened<Repeated>, turn: &mut Turn| {
            turn.now = turn.clock.now();
            assert_eq!(source.next(&mut slot, turn), Next::Ready);
            slot.issued()
        };
        assert_eq!(next(&mut source, &mut turn), BlocksOp::Open);
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(source.time_is_up(), "the time of the job alone ends nothing");
        assert_eq!(next(&mut source, &mut turn), BlocksOp::Write);
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(next(&mut source, &mut turn), BlocksOp::Close);
    }
}
