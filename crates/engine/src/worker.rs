//! One worker: the loop, and all of its state, made before the clock starts.
//!
//! One turn of the loop: fill free slots with operations and queue them, read the clock, submit and
//! wait, read the clock, account for the completions. The two readings bracket only the I/O. A turn
//! allocates, locks and logs nothing, and makes no other system call. Rare events (errors, the end
//! of the ramp, think time under a rate) are in cold functions.
//!
//! Two loops are compiled per engine: [`bare`] over a source that is always ready, which carries
//! no other checks, and [`gated`] over a chain of sources that may wait, with counts of depth and
//! logs of operations.

mod bare;
mod end;
mod gated;

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::fence;

use candor_plan::Measure;
use candor_record::{Depths, Ended};

use crate::clock::{Clock, Ticks};
use crate::counters::{Bank, CallTimes, Counters, Live};
use crate::family::Seat;
use crate::host::memory::Mapping;
use crate::host::placement::Usage;
use crate::issue::{Call, Io, OneAtATime};
use crate::operation::{Buffer, Completion, Done, Failure, Op, Outcome, Slot};
use crate::shared::{CommandWord, NOT_YET};
use crate::source::{Bare, Source, Turn};
use crate::worker_end::WorkerEnd;

/// Depth and batches of a worker's operations.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Maximum number of operations in flight.
    pub depth: usize,
    /// Maximum number of operations submitted at once.
    pub batch: usize,
    /// Minimum number of completions to wait for.
    pub reap: usize,
    /// Maximum number of completions to take at a time.
    pub reap_max: usize,
    /// True if completions are taken only when no more operations may be submitted.
    pub fills_first: bool,
    /// I/O priority of operations that set none, in the kernel's form.
    pub priority: u16,
}

impl Shape {
    /// Shape of one operation at a time.
    pub const ONE: Shape =
        Shape { depth: 1, batch: 1, reap: 1, reap_max: 1, fills_first: false, priority: 0 };
}

/// State of the worker in the loop.
pub struct Worker<S> {
    seat: Seat,
    shape: Shape,
    measure: Measure,
    source: S,
    turn: Turn,
    slots: Box<[Slot]>,
    free: Vec<u32>,
    batch: Vec<u32>,
    done: Done,
    /// True once the source has ended or time is up: nothing more is issued.
    draining: bool,
    ended: Ended,
    /// Tick of the next change: end of the ramp, then end of time.
    mark: Ticks,
    counting: bool,
    /// Tick at which counting began.
    counts_from: Ticks,
    /// Operations in flight that belong to the ramp alone.
    ramp_left: usize,
    usage_before: Usage,
    paced: Ticks,
    /// Counts of depth, if requested and if the loop has batches.
    depths: Option<Depths>,
}

/// Current state of the loop.
struct Present<'a> {
    /// The worker's counters.
    live: &'a Live,
    /// The current bank of these counters.
    bank: &'a Bank,
    /// Last reading of the clock.
    now: Ticks,
    /// Command word whose commands were carried out.
    command: u32,
}

/// Longest rest without a check of the command word.
const REST_NS_MAX: u64 = 50_000_000;
/// Interval between two checks of a worker whose job waits for others.
const WAIT_NS: u64 = 200_000;

/// Runs a source that is always ready to its end, through an engine of batches.
///
/// Each combination is a separate function: in one function they would share registers.
#[inline(never)]
pub fn run<E: Io, S: Bare + 'static>(
    seat: Seat,
    shape: Shape,
    buffers: &Buffers<'_>,
    engine: &mut E,
    source: S,
) -> WorkerEnd {
    if seat.is_plain() && seat.measure == Measure::default() {
        Worker::new(seat, shape, buffers, source).turn_bare(engine)
    } else {
        run_gated(seat, shape, buffers, engine, Box::new(source))
    }
}

/// Runs a source that is always ready to its end, through an engine of single calls.
#[inline(never)]
pub fn run_calls<C: Call, S: Bare + 'static>(
    seat: Seat,
    shape: Shape,
    buffers: &Buffers<'_>,
    engine: C,
    source: S,
) -> WorkerEnd {
    if seat.is_plain() {
        Worker::new(seat, shape, buffers, source).call_bare(engine)
    } else {
        run_gated(seat, shape, buffers, &mut OneAtATime::new(engine), Box::new(source))
    }
}

/// Runs a source that may wait, to its end.
#[inline(never)]
pub fn run_gated<E: Io>(
    seat: Seat,
    shape: Shape,
    buffers: &Buffers<'_>,
    engine: &mut E,
    source: Box<dyn Source>,
) -> WorkerEnd {
    let mut worker = Worker::new(seat, shape, buffers, source);
    worker.depths = worker.measure.depths.then(Depths::default);
    worker.turn_gated(engine)
}

/// Buffers of a worker's operations; they outlive the worker.
pub enum Buffers<'b> {
    /// No buffers: the operations move no bytes.
    None,
    /// One mapping with a part of `usize` bytes per slot.
    Host(&'b Mapping, usize),
}

impl Buffers<'_> {
    fn of_slot(&self, index: usize) -> Buffer {
        match self {
            Buffers::None => Buffer::None,
            Buffers::Host(mapping, bytes) => Buffer::Host(mapping.part(index, *bytes)),
        }
    }
}

impl<S: Source> Worker<S> {
    fn new(seat: Seat, shape: Shape, buffers: &Buffers<'_>, source: S) -> Worker<S> {
        let depth = shape.depth;
        let slot = |index| Slot { priority: shape.priority, ..Slot::empty(buffers.of_slot(index)) };
        Worker {
            slots: (0..depth).map(slot).collect(),
            free: (0..depth as u32).rev().collect(),
            batch: Vec::with_capacity(depth),
            done: Done::new(depth, shape.reap_max),
            draining: false,
            ended: Ended::Done,
            mark: Ticks(0),
            counting: false,
            counts_from: Ticks(0),
            ramp_left: 0,
            usage_before: Usage::default(),
            paced: Ticks(0),
            depths: None,
            turn: seat.turn(),
            measure: seat.measure,
            source,
            shape,
            seat,
        }
    }

    /// Waits at the barrier, then until the job starts; begins with the ramp or with counting.
    fn start(&mut self) {
        self.seat.pass_gate();
        let (clock, shared) = (self.seat.clock, self.seat.shared.clone());
        // A job that waits for others gets its start while it waits.
        let wait_ns = || match shared.started.load(Acquire) {
            NOT_YET => WAIT_NS,
            started => clock.ns(started.saturating_sub(clock.now())).min(REST_NS_MAX),
        };
        while wait_ns() > 0 && !shared.command.is_end() {
            std::thread::sleep(std::time::Duration::from_nanos(wait_ns()));
        }
        self.mark = shared.count_from.load(Relaxed);
        self.turn.started = shared.started.load(Relaxed);
        // The end of a ramp that ends by an amount is unknown yet.
        self.turn.last_completion = if self.mark < NOT_YET { self.mark } else { clock.now() };
        if clock.now() >= self.mark {
            self.begin_counting();
        }
    }

    /// Begins the measured part. Operations of the ramp do not use up the budget. If a budget ends
    /// the work, they do not count either, so that exactly the budget counts.
    fn begin_counting(&mut self) {
        self.counting = true;
        self.counts_from = self.seat.clock.now();
        self.ramp_left = if self.seat.is_bounded { self.turn.in_flight } else { 0 };
        self.mark = self.seat.shared.deadline.load(Relaxed);
        self.usage_before = Usage::of_this_thread();
        (self.turn.fill, self.paced) = (Ticks(0), Ticks(0));
        self.depths = self.depths.map(|_| Depths::default());
        self.source.begin();
    }

    /// Waits until the job starts; the loop begins.
    fn enter<'a>(&mut self, live: &'a [Live]) -> Present<'a> {
        self.start();
        let live = &live[self.seat.rank as usize];
        let (bank, now) = (live.bank(self.counting), self.seat.clock.now());
        Present { live, bank, now, command: 0 }
    }

    /// Begins a turn: the end of the ramp or of time, and commands of the control plane.
    #[inline(always)]
    fn begin_turn(&mut self, present: &mut Present<'_>, features: impl Fn() -> Vec<String>) {
        if present.now >= self.mark {
            self.at_mark(present);
        }
        if self.seat.shared.command.word() != present.command {
            self.apply_command(present, features);
        }
    }

    #[cold]
    fn at_mark(&mut self, present: &mut Present<'_>) {
        if !self.counting {
            self.begin_counting();
        }
        if present.now >= self.mark {
            // A stop of the process moves the end of the time.
            let deadline = self.seat.shared.deadline.load(Relaxed);
            self.mark = if present.now < deadline { deadline } else { self.time_is_up() };
        }
        present.bank = present.live.bank(self.counting);
    }

    /// Ends the work at the end of its time; returns the next mark.
    fn time_is_up(&mut self) -> Ticks {
        if !self.source.time_is_up() {
            self.drain(Ended::Time);
        }
        Ticks::MAX
    }

    /// Executes the commands of a changed command word.
    #[cold]
    fn apply_command(&mut self, present: &mut Present<'_>, features: impl Fn() -> Vec<String>) {
        let (before, command) = (present.command, self.seat.shared.command.word());
        if CommandWord::ends(command) {
            self.drain(Ended::Interrupted);
        }
        if !self.counting {
            // The ramp may have ended; its end was set before the command.
            fence(Acquire);
            self.mark = self.seat.shared.count_from.load(Relaxed);
        }
        if self.counting && CommandWord::requests_interim(before, command) {
            let interim = self.figures(present.live, self.seat.clock.now(), features());
            present.live.leave_interim(WorkerEnd { ended: Ended::Interrupted, ..interim });
        }
        present.command = command;
    }

    /// Takes the completions of operations that belong to the ramp alone, and accounts for them in
    /// its counters.
    #[cold]
    fn account_ramp(&mut self, present: &Present<'_>, account: impl Fn(&mut Self, &Bank, Ticks)) {
        let (slots, from) = (&self.slots, self.counts_from);
        let count = self.done.partition(|slot| slots[slot as usize].started < from);
        if count == 0 {
            return;
        }
        self.ramp_left -= count;
        let of_ramp = self.done.take_first(count);
        let rest = std::mem::replace(&mut self.done, of_ramp);
        self.counting = false;
        account(self, present.live.bank(false), present.now);
        self.counting = true;
        self.done = rest;
    }

    #[cold]
    fn drain(&mut self, why: Ended) {
        // A failure among the last operations counts like an earlier one.
        if why == Ended::Failed {
            self.ended = why;
            self.seat.shared.command.end();
        }
        if !self.draining {
            self.draining = true;
            self.ended = why;
            self.source.drain();
        }
    }

    /// Handles a completion that moved less than requested, failed, or found the work over.
    #[cold]
    fn incomplete(&mut self, bank: &Bank, completion: Completion, now: Ticks) {
        let slot = self.slots[completion.slot as usize];
        let counters = bank.of(slot.op);
        let failure = match completion.outcome() {
            Outcome::Over => return self.drain(Ended::Done),
            Outcome::Done(0) => Failure::AT_END,
            Outcome::Done(count) => return self.count_short(counters, &slot, count, now),
            Outcome::Failed(failure) => failure,
        };
        let (errno, tolerance) = (failure.errno(), &self.seat.tolerance);
        if tolerance.ends_work(errno) {
            return self.drain(Ended::Full);
        }
        let goes_on = tolerance.takes(slot.op.row(self.seat.table()).figure, errno);
        counters.did_fail();
        self.turn.fail(&slot, failure);
        if !goes_on {
            self.drain(Ended::Failed);
        }
    }

    fn count_short(&self, counters: &Counters, slot: &Slot, count: u64, now: Ticks) {
        let clock = &self.seat.clock;
        let times = CallTimes { started: slot.started, submitted: slot.submitted, completed: now };
        counters.completed(1, count, clock.ns(now - slot.started));
        counters.split(1, clock, times);
        counters.of_priority(slot.priority, 1, clock, times);
        counters.came_short();
    }
}

/// Equal completions in a row, of operations that started together; counted at once.
#[derive(Default)]
struct Alike {
    op: Op,
    priority: u16,
    started: Ticks,
    submitted: Ticks,
    ops: u64,
    bytes: u64,
}

impl Alike {
    #[inline(always)]
    fn of(slot: &Slot) -> Alike {
        let (started, submitted) = (slot.started, slot.submitted);
        Alike { op: slot.op, priority: slot.priority, started, submitted, ops: 0, bytes: 0 }
    }

    #[inline(always)]
    fn takes(&self, slot: &Slot) -> bool {
        self.op == slot.op && self.started == slot.started
    }

    #[inline(always)]
    fn add(&mut self, bytes: u64) {
        self.ops += 1;
        self.bytes += bytes;
    }

    /// Counts the completions at a tick.
    #[inline(always)]
    fn count(&self, bank: &Bank, clock: &Clock, now: Ticks) {
        if self.ops > 0 {
            let counters = bank.of(self.op);
            counters.completed(self.ops, self.bytes, clock.ns(now - self.started));
            counters.split(self.ops, clock, self.times(now));
        }
    }

    #[inline(always)]
    fn times(&self, completed: Ticks) -> CallTimes {
        CallTimes { started: self.started, submitted: self.submitted, completed }
    }
}
