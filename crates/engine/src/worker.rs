//! One worker: the loop, and everything it needs, made before the clock starts.
//!
//! A turn of the loop: fill free slots with operations and hand them to the engine, read the
//! clock, submit and wait, read the clock, account for what completed. The two readings bracket
//! the I/O and nothing else. Nothing in a turn allocates, locks, logs or makes a system call of its
//! own; what happens rarely (errors, the end of the ramp, rests under a rate) is in cold functions.
//!
//! The loop is compiled twice per engine: with `EXTRAS` for work that writes, flushes, verifies or
//! is paced, and without for plain reads, which then carry none of these checks.

mod read_back;

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use candor_plan::Measure;
use candor_plan::blocks::Durability;
use candor_record::{Depths, Ended, Progress, VerifyStats, WorkerStats};

use crate::clock::Clock;
use crate::data::content::Content;
use crate::data::verifier::Verifier;
use crate::engines::{Call, Io, OneAtATime};
use crate::gates::issue_gate::{IssueGate, Meaning};
use crate::gates::pace::Pacer;
use crate::host::memory::Mapping;
use crate::host::placement::Usage;
use crate::host::priority::Priorities;
use crate::operations::ring::Ring;
use crate::operations::slots::{Completion, Done, Kind, Slot};
use crate::operations::stats::{Bank, Live, Totals};
use crate::phase::failures::Failures;
use crate::phase::shared::{CommandWord, NOT_YET, Shared};
use crate::stream::{Budget, Stream};
use crate::targets::files::Files;
use crate::targets::zones::{Placed, Visit};

mod account;
mod finish;
mod ranges;
mod syncs;
mod trims;

pub use self::read_back::{ReadBack, Spent};
use self::syncs::Syncs;
pub use self::trims::Trims;

/// What a worker is made from.
pub struct Parts {
    /// Its number within the job.
    pub rank: u32,
    /// Its operations.
    pub stream: Stream,
    /// How writes are filled; none for jobs that write nothing.
    pub content: Option<Content>,
    /// Headers and their check.
    pub verifier: Option<Verifier>,
    /// Reading back what it wrote.
    pub read_back: Option<ReadBack>,
    /// Its schedule.
    pub pacer: Option<Pacer>,
    /// What may hold its operations back beside its pace.
    pub issue_gate: Option<IssueGate>,
    /// Zones that its operations are to keep to.
    pub zones: Option<Visit>,
    /// Errors after which it goes on: directions and error numbers.
    pub tolerated: Box<[(Kind, i32)]>,
    /// When writes are made durable.
    pub durability: Durability,
    /// I/O priority of operations that have none of their own, in the kernel's form.
    pub priority: u16,
    /// Which operations have one of their own, where some do.
    pub priorities: Option<Priorities>,
    /// The files it uses, as indices into the job's: what its flushes flush.
    pub own_files: Box<[u32]>,
    /// What bounds its stream once operations count.
    pub budget: Budget,
    /// Where the first worker to end leaves what all had done by then.
    pub first_done: Arc<Mutex<Option<Progress>>>,
    /// Operations in flight.
    pub depth: usize,
    /// Operations handed over at once at most.
    pub batch: usize,
    /// Completions to take at a time.
    pub reap_max: usize,
    /// Completions to wait for.
    pub reap: usize,
    /// Some of its operations are trims, each of which blocks its thread.
    pub trims: bool,
    /// Its stream has flushes.
    pub flushes: bool,
    /// No space left ends the work and is no error.
    pub until_full: bool,
    /// Go on after errors.
    pub continue_on_error: bool,
    /// What is measured beside counts and latency.
    pub measure: Measure,
    /// Where its operations are logged.
    pub ring: Option<Arc<Ring>>,
    /// Where what it hands over is logged.
    pub hand_overs: Option<Arc<Ring>>,
    /// Its files.
    pub files: Arc<Files>,
    /// Its counters.
    pub live: Arc<[Live]>,
    /// What it shares with the others and the control plane.
    pub shared: Arc<Shared>,
    /// The clock.
    pub clock: Clock,
}

/// The worker's state in the loop.
pub struct Worker {
    parts: Parts,
    slots: Box<[Slot]>,
    free: Vec<u32>,
    batch: Vec<u32>,
    done: Done,
    in_flight: usize,
    /// A slot whose operation waits until another write to the same blocks has ended.
    deferred: Option<u32>,
    /// That one, or the one being prepared, has its place in a zone.
    is_placed: bool,
    /// A flush of the stream is under way, and nothing beside it.
    flushing: bool,
    /// The stream has ended or time is up: nothing more is issued.
    draining: bool,
    ended: Ended,
    syncs: Syncs,
    /// The next tick at which something changes: end of the ramp, then end of time.
    mark: u64,
    counting: bool,
    failures: Failures,
    usage_before: Usage,
    fill_ticks: u64,
    verify_ticks: u64,
    paced_ticks: u64,
    last_completion: u64,
    /// Counts of depth, where they are asked for and the loop has batches.
    depths: Option<Depths>,
}

/// What a worker leaves behind, or tells on its way.
#[derive(Clone)]
pub struct WorkerEnd {
    /// Its figures.
    pub stats: WorkerStats,
    /// Why it ended.
    pub ended: Ended,
    /// Its errors.
    pub failures: Failures,
    /// What verification found.
    pub verify: Option<VerifyStats>,
    /// What was spent on reading back alone; none where nothing is read back.
    pub read_back: Option<Spent>,
    /// Zones that it reset so that they could be written.
    pub zone_resets: u64,
    /// Counts of depth, where they are asked for.
    pub depths: Option<Depths>,
    /// The greatest depth that met the latency goal, where there is one.
    pub depth_reached: Option<usize>,
    /// What its engine used.
    pub features: Vec<String>,
}

/// Completions in a row of one kind that started together.
#[derive(Default)]
struct Alike {
    kind: Option<Kind>,
    read_back: bool,
    priority: u16,
    started: u64,
    submitted: u64,
    ops: u64,
    bytes: u64,
}

impl Alike {
    #[inline(always)]
    fn of(slot: &Slot) -> Alike {
        let (started, submitted) = (slot.started, slot.submitted);
        let (kind, read_back, priority) = (Some(slot.kind), slot.read_back, slot.priority);
        Alike { kind, read_back, priority, started, submitted, ops: 0, bytes: 0 }
    }

    #[inline(always)]
    fn takes<const EXTRAS: bool>(&self, slot: &Slot) -> bool {
        let apart = EXTRAS && (self.read_back != slot.read_back || self.priority != slot.priority);
        self.kind == Some(slot.kind) && self.started == slot.started && !apart
    }

    #[inline(always)]
    fn add(&mut self, bytes: u32) {
        self.ops += 1;
        self.bytes += u64::from(bytes);
    }

    #[inline(always)]
    fn count<const EXTRAS: bool>(&self, bank: &Bank, clock: &Clock, now: u64) {
        if let (Some(kind), 1..) = (self.kind, self.ops) {
            let counters = if EXTRAS && self.read_back { bank.read_back() } else { bank.of(kind) };
            counters.completed(self.ops, self.bytes, clock.ns(now - self.started));
            counters.split(self.ops, clock, [self.started, self.submitted, now]);
            if EXTRAS {
                let ticks = [self.started, self.submitted, now];
                counters.at(now);
                counters.apart(self.priority, self.ops, clock, ticks);
                if let Some(peaks) = &counters.peaks {
                    peaks.note(clock, ticks);
                }
            }
        }
    }
}

/// Longest rest without looking at the stop flag.
const REST_NS_MAX: u64 = 50_000_000;
/// Time between two looks of a worker whose job waits for others.
const WAIT_NS: u64 = 200_000;

impl Worker {
    /// Over buffers that outlive it, of which each slot has an equal part.
    pub fn new(parts: Parts, buffers: &Mapping, buffer_bytes: usize) -> Worker {
        let depth = parts.depth;
        let slot = |index: usize| {
            // SAFETY: the mapping has `depth` parts of `buffer_bytes`.
            let empty = Slot::empty(unsafe { buffers.as_ptr().add(index * buffer_bytes) });
            Slot { priority: parts.priority, ..empty }
        };
        Worker {
            slots: (0..depth).map(slot).collect(),
            free: (0..depth as u32).rev().collect(),
            batch: Vec::with_capacity(depth),
            done: Done::new(depth, parts.reap_max),
            in_flight: 0,
            deferred: None,
            is_placed: false,
            flushing: false,
            draining: false,
            ended: Ended::Done,
            syncs: Syncs::new(parts.durability, &parts.files),
            mark: 0,
            counting: false,
            failures: Failures::default(),
            usage_before: Usage::default(),
            fill_ticks: 0,
            verify_ticks: 0,
            paced_ticks: 0,
            last_completion: 0,
            depths: None,
            parts,
        }
    }

    /// Runs until the stream ends, time is up, or something stops it.
    pub fn run<E: Io>(mut self, engine: &mut E) -> WorkerEnd {
        self.depths = self.parts.measure.depths.then(Depths::default);
        match self.has_extras() || self.parts.measure != Measure::default() {
            true => self.turn_until_done::<E, true>(engine),
            false => self.turn_until_done::<E, false>(engine),
        }
    }

    /// The same with an engine of single calls.
    pub fn run_calls<C: Call>(self, mut engine: C) -> WorkerEnd {
        match self.has_extras() {
            true => self.turn_until_done::<_, true>(&mut OneAtATime::new(engine)),
            false => self.call_until_done(&mut engine),
        }
    }

    fn has_extras(&self) -> bool {
        let parts = &self.parts;
        let logs = parts.ring.is_some() || parts.hand_overs.is_some() || parts.measure.log.peaks;
        parts.content.is_some()
            || logs
            || parts.issue_gate.is_some()
            || parts.verifier.is_some()
            || parts.pacer.is_some()
            || parts.zones.is_some()
            || parts.priorities.is_some()
            || parts.trims
            || parts.flushes
    }

    /// The loop of plain single calls, which needs no batches: one slot serves all.
    #[inline(always)]
    fn call_until_done<C: Call>(mut self, engine: &mut C) -> WorkerEnd {
        let (clock, live, shared) =
            (self.parts.clock, self.parts.live.clone(), self.parts.shared.clone());
        let live = &live[self.parts.rank as usize];
        self.start();
        let mut bank = live.bank(self.counting);
        let (mut now, mut obeyed) = (clock.now(), 0);
        loop {
            if now >= self.mark {
                bank = self.at_mark(now, live);
            }
            let command = shared.command.word();
            if command != obeyed {
                obeyed = self.obey([obeyed, command], live, &|| engine.features());
            }
            if self.draining {
                break;
            }
            if !self.parts.stream.next(&mut self.slots[0]) {
                self.drain(Ended::Done);
                continue;
            }
            let slot = &self.slots[0];
            let issued = clock.now();
            let result = engine.call(slot);
            now = clock.now();
            let ns = clock.ns(now - issued);
            if result == slot.length as i32 {
                bank.of(slot.kind).completed(1, u64::from(slot.length), ns);
            } else {
                self.odd(bank, Completion { slot: 0, result }, ns);
            }
            self.last_completion = now;
        }
        self.finish(live, engine.features())
    }

    #[inline(always)]
    fn turn_until_done<E: Io, const EXTRAS: bool>(mut self, engine: &mut E) -> WorkerEnd {
        let (clock, live, shared) =
            (self.parts.clock, self.parts.live.clone(), self.parts.shared.clone());
        let live = &live[self.parts.rank as usize];
        self.start();
        let mut bank = live.bank(self.counting);
        let (mut now, mut obeyed) = (clock.now(), 0);
        loop {
            if now >= self.mark {
                bank = self.at_mark(now, live);
            }
            let command = shared.command.word();
            if command != obeyed {
                obeyed = self.obey([obeyed, command], live, &|| engine.features());
            }
            if !self.draining {
                self.fill::<EXTRAS>(now);
            }
            if self.in_flight == 0 {
                if self.draining {
                    break;
                }
                now = self.rest(now);
                continue;
            }
            engine.queue(&self.slots, &self.batch);
            let issued = clock.now();
            self.stamp::<EXTRAS>(issued, now);
            let (min, wait_ns) = self.patience::<EXTRAS>(issued);
            let submitted = engine.turn(&self.slots, min, wait_ns, &mut self.done);
            now = clock.now();
            if submitted != 0 {
                self.stamp_submitted(submitted);
            }
            self.batch.clear();
            self.account::<EXTRAS>(bank, now);
        }
        self.finish(live, engine.features())
    }

    /// Waits until the job is to start, then begins with the ramp or at once with counting.
    fn start(&mut self) {
        let (clock, shared) = (self.parts.clock, self.parts.shared.clone());
        // A job that waits for others learns its start while it waits.
        let wait_ns = || match shared.started.load(Acquire) {
            NOT_YET => WAIT_NS,
            started => clock.ns(started.saturating_sub(clock.now())).min(REST_NS_MAX),
        };
        while wait_ns() > 0 && !shared.command.is_end() {
            std::thread::sleep(std::time::Duration::from_nanos(wait_ns()));
        }
        self.mark = shared.count_from.load(Relaxed);
        self.last_completion = self.mark;
        // What runs in the ramp is not taken from what was asked for.
        self.parts.stream.bound(Budget::NONE);
        if clock.now() >= self.mark {
            self.begin_counting();
        }
    }

    fn begin_counting(&mut self) {
        self.counting = true;
        self.mark = self.parts.shared.deadline.load(Relaxed);
        self.usage_before = Usage::of_this_thread();
        (self.fill_ticks, self.verify_ticks, self.paced_ticks) = (0, 0, 0);
        self.depths = self.depths.map(|_| Depths::default());
        self.parts.stream.bound(self.parts.budget);
        if let Some(zones) = &mut self.parts.zones {
            zones.forget_resets();
        }
    }

    #[cold]
    fn at_mark<'a>(&mut self, now: u64, live: &'a Live) -> &'a Bank {
        if !self.counting {
            self.begin_counting();
        }
        if now >= self.mark {
            self.drain(Ended::Time);
            self.mark = u64::MAX;
        }
        live.bank(self.counting)
    }

    /// Does what the control plane has come to want; gives the word that says so.
    #[cold]
    fn obey(
        &mut self,
        [before, command]: [u32; 2],
        live: &Live,
        features: &dyn Fn() -> Vec<String>,
    ) -> u32 {
        if CommandWord::ends(command) {
            self.drain(Ended::Interrupted);
        }
        if self.counting && CommandWord::asked_between(before, command) {
            let interim = self.interim(live, self.parts.clock.now(), features());
            live.tell(WorkerEnd { ended: Ended::Interrupted, ..interim });
        }
        command
    }

    #[cold]
    fn drain(&mut self, why: Ended) {
        // What fails among the last operations counts as much as what fails before.
        if why == Ended::Failed {
            self.ended = why;
        }
        if !self.draining {
            self.draining = true;
            self.ended = why;
            if let Some(index) = self.deferred.take() {
                self.give_up(index);
            }
        }
    }

    /// Adds operations to the batch until it is full or nothing may start.
    #[inline(always)]
    fn fill<const EXTRAS: bool>(&mut self, now: u64) {
        if !EXTRAS && self.free.len() <= self.parts.batch {
            return self.fill_plain();
        }
        while self.batch.len() < self.parts.batch {
            if !EXTRAS {
                let Some(index) = self.prepare() else { return };
                self.hand_over(index);
                continue;
            }
            if self.syncs.is_due() {
                self.sync();
                if self.syncs.is_due() {
                    return;
                }
            }
            if self.flushing && self.in_flight > 0 {
                return;
            }
            if let Some(issue_gate) = &mut self.parts.issue_gate
                && !issue_gate.may_issue(self.in_flight)
            {
                return;
            }
            if let Some(pacer) = &mut self.parts.pacer {
                let elapsed_ns = self.parts.shared.elapsed_ns(&self.parts.clock, now);
                if pacer.look(elapsed_ns) {
                    if self.in_flight > 0 {
                        return;
                    }
                    pacer.begin_rest(elapsed_ns);
                }
                pacer.choose(elapsed_ns);
                if elapsed_ns < pacer.next_ns() {
                    return;
                }
                match pacer.direction() {
                    Some(op) => self.parts.stream.direct(Some(op)),
                    None if pacer.is_open() => self.parts.stream.direct(None),
                    None => {}
                }
            }
            let index = match self.deferred.take() {
                Some(index) => Some(index),
                None if self.syncs.take_turns() => self.draw_or_sync(),
                None => self.draw(),
            };
            let Some(index) = index else { return };
            self.flushing = self.slots[index as usize].kind.flushes();
            if self.flushing {
                return self.flush(index);
            }
            if !self.admit(index) {
                match self.draining {
                    true => self.give_up(index),
                    false => self.deferred = Some(index),
                }
                return;
            }
            self.issue(index);
            if self.parts.trims && self.slots[index as usize].kind == Kind::Trim {
                // A trim blocks its thread; nothing is queued behind it.
                return;
            }
        }
    }

    #[inline(always)]
    fn hand_over(&mut self, index: u32) {
        self.batch.push(index);
        self.in_flight += 1;
    }

    /// All free slots become the batch, without moving one by one.
    #[inline(always)]
    fn fill_plain(&mut self) {
        std::mem::swap(&mut self.free, &mut self.batch);
        let issued = self
            .batch
            .iter()
            .take_while(|index| self.parts.stream.next(&mut self.slots[**index as usize]));
        let issued = issued.count();
        if issued < self.batch.len() {
            self.free.extend(self.batch.drain(issued..));
            self.drain(Ended::Done);
        }
        self.in_flight += issued;
    }

    /// The next operation in a free slot; none if there is no slot, or nothing more is to come.
    #[inline(always)]
    fn draw(&mut self) -> Option<u32> {
        let index = match self.parts.read_back.is_some() {
            true => self.prepare_or_repeat(),
            false => self.prepare(),
        };
        index.filter(|index| !self.ends_before(*index))
    }

    /// Puts the next operation into a free slot; none if there is no slot or no operation left.
    #[inline(always)]
    fn prepare(&mut self) -> Option<u32> {
        let index = self.free.pop()?;
        if self.parts.stream.next(&mut self.slots[index as usize]) {
            return Some(index);
        }
        self.free.push(index);
        self.drain(Ended::Done);
        None
    }

    /// False while a write to the same blocks is under way, or where an operation has no place.
    #[inline(always)]
    fn admit(&mut self, index: u32) -> bool {
        if let Some(issue_gate) = &self.parts.issue_gate
            && !issue_gate.admits(&self.slots, index)
        {
            return false;
        }
        if self.parts.zones.is_some() {
            if !self.is_placed && !self.place(index) {
                return false;
            }
            self.is_placed = true;
        }
        let begins = match &mut self.parts.verifier {
            None => true,
            Some(verifier) => verifier.begin(&mut self.slots[index as usize]),
        };
        self.is_placed &= !begins;
        begins
    }

    #[inline(always)]
    fn issue(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        if let Some(priorities) = &mut self.parts.priorities {
            slot.priority = priorities.of(slot);
        }
        if slot.kind == Kind::Write {
            match (&mut self.parts.content, &mut self.parts.verifier) {
                (Some(content), Some(verifier)) => verifier.write(slot, content),
                (Some(content), None) => content.write(slot),
                (None, _) => {}
            }
        }
        self.syncs.issues(slot);
        if let Some(pacer) = &mut self.parts.pacer {
            if let Some(op) = slot.kind.op() {
                pacer.drew(op);
            }
            let shared = &self.parts.shared;
            slot.intended = shared.tick_at(&self.parts.clock, pacer.intended_ns());
            pacer.issued(slot.length);
            if !slot.read_back {
                pacer.stepped();
            }
        }
        if let Some(issue_gate) = &mut self.parts.issue_gate {
            issue_gate.issued(index);
        }
        self.hand_over(index);
    }

    /// A flush of the stream, once everything before it has completed.
    #[cold]
    fn flush(&mut self, index: u32) {
        match self.in_flight {
            0 => {
                self.issue(index);
            }
            _ => self.deferred = Some(index),
        }
    }

    /// Stamps the batch with the tick of its hand-over; `filled_from` is when filling it began.
    #[inline(always)]
    fn stamp<const EXTRAS: bool>(&mut self, issued: u64, filled_from: u64) {
        for &index in &self.batch {
            let slot = &mut self.slots[index as usize];
            (slot.started, slot.submitted) = (issued, issued);
        }
        if EXTRAS && let Some(depths) = &mut self.depths {
            let count = self.batch.len();
            depths.hand_over(self.in_flight - count, count);
        }
        if EXTRAS && let Some(ring) = self.parts.hand_overs.as_ref().filter(|_| self.counting) {
            self.batch.iter().for_each(|index| ring.push(&self.slots[*index as usize], issued));
        }
        if EXTRAS && self.parts.content.is_some() {
            self.fill_ticks += issued - filled_from;
        }
    }

    /// Stamps the batch with the tick at which the call that handed it over returned.
    #[inline(always)]
    fn stamp_submitted(&mut self, submitted: u64) {
        for &index in &self.batch {
            self.slots[index as usize].submitted = submitted;
        }
    }

    /// How many completions to wait for, and how long.
    #[inline(always)]
    fn patience<const EXTRAS: bool>(&self, now: u64) -> (usize, Option<u64>) {
        if self.draining || (EXTRAS && self.must_wait()) {
            return (1, None);
        }
        if self.free.is_empty() {
            return (self.parts.reap.min(self.in_flight), None);
        }
        let Some(pacer) = self.parts.pacer.as_ref().filter(|_| EXTRAS) else { return (0, None) };
        let due_ns = pacer.next_ns();
        let elapsed_ns = self.parts.shared.elapsed_ns(&self.parts.clock, now);
        match due_ns.checked_sub(elapsed_ns) {
            None | Some(0) => (0, None),
            Some(ns) => (1, Some(ns.min(REST_NS_MAX))),
        }
    }

    /// Nothing may be issued before something in flight has completed.
    fn must_wait(&self) -> bool {
        let rests = self.parts.pacer.as_ref().is_some_and(Pacer::wants_rest);
        let held = self.parts.issue_gate.as_ref().is_some_and(IssueGate::holds);
        let settles = self.parts.read_back.as_ref().is_some_and(ReadBack::is_settling);
        let flushes = self.syncs.is_due() || self.flushing;
        flushes || self.deferred.is_some() || rests || held || settles
    }

    /// Waits for the next intended start, or for another worker's write to end.
    #[cold]
    fn rest(&mut self, now: u64) -> u64 {
        let (clock, shared) = (self.parts.clock, &self.parts.shared);
        let due = match &self.parts.pacer {
            Some(pacer) => shared.tick_at(&clock, pacer.next_ns()),
            None => now + clock.ticks(1000),
        };
        let held_ns = self.parts.issue_gate.as_ref().and_then(IssueGate::wait_ns).unwrap_or(0);
        let due = due.max(now + clock.ticks(held_ns));
        let ns = clock.ns(due.min(self.mark).saturating_sub(now)).min(REST_NS_MAX);
        let spin_ns = self.parts.pacer.as_ref().map_or(0, Pacer::spins_until_ns);
        let spin_until = shared.tick_at(&clock, spin_ns).min(now + clock.ticks(ns));
        if now < spin_until {
            while clock.now() < spin_until {
                std::hint::spin_loop();
            }
        } else if ns > 0 {
            std::thread::sleep(std::time::Duration::from_nanos(ns));
        }
        let after = clock.now();
        self.paced_ticks += after - now;
        after
    }

    /// Accounts for everything that completed in a turn.
    ///
    /// Operations of one batch have one start and one end; what is alike is counted at once.
    #[inline(always)]
    fn account<const EXTRAS: bool>(&mut self, bank: &Bank, now: u64) {
        let clock = self.parts.clock;
        let (mut alike, mut odd) = (Alike::default(), false);
        for completion in self.done.as_slice() {
            let slot = &self.slots[completion.slot as usize];
            if !alike.takes::<EXTRAS>(slot) {
                alike.count::<EXTRAS>(bank, &clock, now);
                alike = Alike::of(slot);
            }
            match completion.result == slot.length as i32 {
                true => alike.add(slot.length),
                false => odd = true,
            }
            self.free.push(completion.slot);
        }
        alike.count::<EXTRAS>(bank, &clock, now);
        self.in_flight -= self.done.len();
        if EXTRAS
            && !self.done.is_empty()
            && let Some(depths) = &mut self.depths
        {
            depths.take_back(self.done.len());
        }
        if odd || (EXTRAS && self.has_extras()) {
            self.account_extras(bank, now);
        }
        self.done.clear();
        self.last_completion = now;
    }
}
