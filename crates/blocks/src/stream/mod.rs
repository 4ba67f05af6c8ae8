//! Stream of one worker's operations: direction, file, offset, length, one after another.
//!
//! `mod.rs` draws directions and counts against the budget. [`file_selection`] chooses the file,
//! [`offsets`] the offset in it. Files of one size share a [`pattern`] over the worker's share, its
//! [`region`].

pub mod file_selection;
pub mod offsets;
pub mod pattern;
pub mod precondition;
pub mod random_map;
pub mod region;
pub mod sizes;
pub mod skew;
pub mod trace;

use candor_plan::blocks::{Access, Blocks, Stay};
use candor_plan::units::{Direction, Mix, PerDirection};
use candor_plan::work::BlocksOp;
use std::ops::Range;

use self::file_selection::Rotation;
use self::offsets::{OffsetChoice, Offsets, fixed_size};
use self::trace::Cursor as TraceCursor;
use crate::slot::{self, BlocksSlot};
use candor_engine::clock::monotonic_ns;
use candor_engine::operation::{Op, Slot};
use candor_engine::random::Random;
use candor_plan::trace::Action;

/// Bounds of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Operations left.
    pub ops: u64,
    /// Bytes left.
    pub bytes: u64,
    /// Passes after which the stream ends.
    pub passes: u64,
    /// Bytes after which a pass ends, even if nothing is used up.
    pub pass_bytes: u64,
    /// Bytes until which further passes follow.
    pub at_least: u64,
    /// Time until which all of this repeats, in ns.
    pub min_ns: u64,
}

impl Budget {
    /// The rest of the budget after some bytes.
    pub fn less(self, bytes: u64) -> Budget {
        match self.bytes {
            u64::MAX => self,
            left => Budget { bytes: left.saturating_sub(bytes), ..self },
        }
    }

    /// Budget without bounds.
    pub const NONE: Budget = Budget {
        ops: u64::MAX,
        bytes: u64::MAX,
        passes: u64::MAX,
        pass_bytes: u64::MAX,
        at_least: 0,
        min_ns: 0,
    };
}

/// Bytes and passes that a stream has given.
#[derive(Clone, Copy, Debug, Default)]
struct Given {
    /// Bytes of all passes.
    bytes: u64,
    /// Bytes of this pass.
    pass_bytes: u64,
    /// Completed passes.
    passes: u64,
}

/// Second of a pair of operations at one offset.
#[derive(Clone, Copy)]
struct Second {
    op: Direction,
    file: u32,
    offset: u64,
    length: u32,
}

/// One worker's operations.
pub struct Stream {
    random: Random,
    mix: Mix,
    /// The only direction, or the next one of a schedule.
    direction: Option<Direction>,
    /// Number of the next operation, where that decides its direction.
    number: Option<u64>,
    /// Both directions of a pair, in order.
    pair: Option<(Direction, Direction)>,
    second: Option<Second>,
    random_percent: PerDirection<u8>,
    any_random_percent: bool,
    stay: Stay,
    stays: bool,
    run_left: u32,
    offsets: Offsets,
    rotation: Rotation,
    /// Bytes of the present file's turn, where a turn ends after as many bytes as the file has.
    turn_bytes: u64,
    leaves_by_bytes: bool,
    /// True where a direction that has used up the only file starts over by itself.
    wraps: bool,
    length_max: u64,
    /// The last operation of a budget of bytes is cut to its rest.
    short_last: bool,
    trace: Option<TraceCursor>,
    budget: Budget,
    /// The budget once more, and the end of its minimum time.
    repeats: Option<(Budget, u64)>,
    given: Given,
    /// An operation was given since the last restart, before or after bounds were set.
    gave: bool,
    /// The last pass left bytes that no operation fits into.
    has_rest: bool,
    uniform: Option<Uniform>,
    /// Called with the number of each file that starts over.
    on_restart: Option<Box<dyn Fn(u32)>>,
}

/// The most common stream, precomputed: one direction, one file, one length, uniform over a
/// contiguous share.
#[derive(Clone, Copy)]
struct Uniform {
    op: Op,
    file: u32,
    length: u64,
    start: u64,
    step: u64,
    positions: u64,
}

impl Uniform {
    fn of(parts: &Parts<'_>) -> Option<Uniform> {
        let (blocks, offsets) = (parts.blocks, &parts.offsets);
        let op = only_direction(blocks.mix)?;
        let start = offsets.contiguous()?;
        let length = fixed_size(blocks)?;
        let plain = parts.trace.is_none()
            && blocks.access == Access::Random
            && blocks.stay.is_never()
            && blocks.windows.is_none()
            && !blocks.short_last
            && *blocks.random_percent.of(op) == 0;
        let (step, positions) = (offsets.align(op), offsets.positions(length, op));
        plain.then_some(Uniform {
            op: slot::op(op),
            file: offsets.file(0),
            length: u64::from(length),
            start,
            step,
            positions,
        })
    }
}

fn only_direction(mix: Mix) -> Option<Direction> {
    Direction::ALL.into_iter().find(|op| mix.of(*op) == 100)
}

/// Parts of a [`Stream`].
pub struct Parts<'p> {
    /// Plan of the blocks.
    pub blocks: &'p Blocks,
    /// Generator of the random choices.
    pub random: Random,
    /// Seed that separates its permutations from those of other streams.
    pub seed: u64,
    /// Offsets of the operations.
    pub offsets: Offsets,
    /// True where a direction that has used up the only file starts over by itself, and no pass
    /// ends.
    pub wraps: bool,
    /// Rank of the worker.
    pub rank: u64,
    /// Trace; where there is one, it decides everything else.
    pub trace: Option<TraceCursor>,
}

impl Stream {
    /// Stream made from its parts.
    pub fn new(parts: Parts<'_>) -> Stream {
        let (uniform, blocks) = (Uniform::of(&parts), parts.blocks);
        let bytes = |file| parts.offsets.length(file);
        let rotation = Rotation::new(&blocks.rotation, parts.offsets.files(), bytes, parts.seed);
        let sizes = blocks.size.iter().map(|(_, size)| size).chain(&blocks.jump_size);
        Stream {
            random: parts.random,
            mix: blocks.mix,
            direction: only_direction(blocks.mix),
            number: blocks.mix_by_number.then_some(parts.rank % 100),
            pair: blocks.pairs.then(|| pair(blocks.mix)).flatten(),
            second: None,
            any_random_percent: blocks.random_percent.iter().any(|(_, percent)| *percent > 0),
            random_percent: blocks.random_percent,
            stay: blocks.stay,
            stays: !blocks.stay.is_never(),
            run_left: 0,
            leaves_by_bytes: rotation.is_whole() && !blocks.access.is_finite(),
            wraps: parts.wraps && parts.offsets.files() == 1,
            offsets: parts.offsets,
            rotation,
            turn_bytes: 0,
            length_max: sizes.map(|size| size.max().0).max().unwrap_or(1),
            short_last: blocks.short_last,
            trace: parts.trace,
            budget: Budget::NONE,
            repeats: None,
            given: Given::default(),
            gave: false,
            has_rest: false,
            uniform,
            on_restart: None,
        }
    }

    /// Has a function called with the number of each file that starts over, before its first
    /// operation is drawn again.
    pub fn on_restart(self, call: impl Fn(u32) + 'static) -> Stream {
        Stream { on_restart: Some(Box::new(call)), ..self }
    }

    /// Bounds the stream by that budget, in passes that begin now.
    pub fn bound(&mut self, budget: Budget) {
        let until_ns = || monotonic_ns().saturating_add(budget.min_ns);
        self.repeats = (budget.min_ns > 0).then(|| (budget, until_ns()));
        self.bound_once(budget);
    }

    fn bound_once(&mut self, budget: Budget) {
        if budget.passes != u64::MAX && self.given.bytes > 0 {
            self.offsets.restart();
            self.rotation.reset();
        }
        (self.budget, self.given, self.turn_bytes) = (budget, Given::default(), 0);
        if self.offsets.files() == 0 {
            self.budget.ops = 0;
        }
        if let Some(uniform) = &self.uniform {
            let length = uniform.length.max(1);
            self.budget.ops = budget.ops.min(budget.bytes.div_ceil(length));
            if budget.passes != u64::MAX {
                // Whole passes, and more of them where that is not enough.
                let pass = budget.pass_bytes.div_ceil(length).max(1);
                let passes = budget.passes.saturating_mul(pass);
                let ops = passes.max(budget.at_least.div_ceil(length));
                self.budget.ops = self.budget.ops.min(ops);
            }
        }
    }

    /// True where the budget is used up. False tells nothing: an operation may be drawn yet.
    pub fn is_over(&self) -> bool {
        if self.repeats.is_some() {
            return false;
        }
        let is_last_pass = self.given.passes + 1 >= self.budget.passes;
        let is_pass_done = self.given.pass_bytes >= self.budget.pass_bytes;
        self.budget.ops == 0
            || self.budget.bytes == 0
            || (is_last_pass && is_pass_done && self.given.bytes >= self.budget.at_least)
    }

    /// Writes the next operation into `slot`; false once the budget is used up.
    #[inline(always)]
    pub fn next(&mut self, slot: &mut Slot) -> bool {
        self.next_of_budget(slot) || self.repeat(slot)
    }

    /// Begins the budget again before its minimum time has passed.
    #[cold]
    fn repeat(&mut self, slot: &mut Slot) -> bool {
        let Some((budget, until_ns)) = self.repeats else { return false };
        if monotonic_ns() >= until_ns {
            self.repeats = None;
            return false;
        }
        self.offsets.restart();
        self.rotation.reset();
        self.bound_once(budget);
        self.restarted(0..self.offsets.files());
        self.next_of_budget(slot)
    }

    #[inline(always)]
    fn next_of_budget(&mut self, slot: &mut Slot) -> bool {
        if self.budget.ops == 0 {
            return false;
        }
        if let Some(uniform) = &self.uniform {
            self.budget.ops -= 1;
            slot.op = uniform.op;
            slot.handle = uniform.file;
            slot.length = uniform.length;
            slot.offset = uniform.start + self.random.below(uniform.positions) * uniform.step;
            return true;
        }
        self.next_general(slot)
    }

    fn next_general(&mut self, slot: &mut Slot) -> bool {
        if self.budget.bytes == 0 {
            return false;
        }
        if self.given.pass_bytes >= self.budget.pass_bytes && !self.end_pass() {
            return false;
        }
        if self.trace.is_some() {
            self.follow_trace(slot);
        } else if !self.draw(slot) {
            return false;
        }
        if self.short_last && slot.issued() != BlocksOp::Trim {
            slot.length = slot.length.min(self.budget.bytes);
        }
        let length = slot.length;
        self.budget.ops -= 1;
        self.budget.bytes = self.budget.bytes.saturating_sub(length);
        self.given.bytes += length;
        self.given.pass_bytes += length;
        self.gave = true;
        true
    }

    #[inline(always)]
    fn draw(&mut self, slot: &mut Slot) -> bool {
        if let Some(second) = self.second.take() {
            slot.set(second.op);
            (slot.handle, slot.offset) = (second.file, second.offset);
            slot.length = u64::from(second.length);
            return true;
        }
        let op = match (self.direction, self.pair) {
            (_, Some((first, _))) => first,
            (Some(op), None) => op,
            (None, None) => self.pick_direction(),
        };
        loop {
            let index = self.rotation.current(&mut self.random);
            let choice = self.choose(op);
            let Some((offset, length)) = self.offsets.next(index, op, choice, &mut self.random)
            else {
                if self.used_up(index, op) {
                    continue;
                }
                return false;
            };
            self.rotation.served();
            slot.set(op);
            (slot.handle, slot.offset) = (self.offsets.file(index), offset);
            slot.length = u64::from(length);
            if let Some((_, op)) = self.pair {
                self.second = Some(Second { op, file: slot.handle, offset, length });
            }
            if self.leaves_by_bytes {
                self.count_turn(index, length);
            }
            return true;
        }
    }

    #[inline(always)]
    fn choose(&mut self, op: Direction) -> OffsetChoice {
        if self.any_random_percent && self.random.percent(*self.random_percent.of(op)) {
            return OffsetChoice::Jump;
        }
        if self.stays { self.choose_stay(op) } else { OffsetChoice::Pattern }
    }

    fn choose_stay(&mut self, op: Direction) -> OffsetChoice {
        let percent = *self.stay.percent.of(op);
        if self.run_left > 0 {
            self.run_left -= 1;
            return OffsetChoice::Stay;
        }
        self.run_left = self.stay.run.saturating_sub(1);
        let stays = percent > 0 && self.random.percent(percent);
        if stays { OffsetChoice::Stay } else { OffsetChoice::Pattern }
    }

    /// Counts a turn's bytes. An access without an end leaves a file once it has moved as many
    /// bytes as the file has.
    fn count_turn(&mut self, index: usize, length: u32) {
        self.turn_bytes += u64::from(length);
        if self.turn_bytes + u64::from(length) > self.offsets.length(index) {
            self.turn_bytes = 0;
            if !self.rotation.leave() {
                self.rotation.restart();
            }
        }
    }

    /// Handles a file that a pass has used up; false when no more operations are to come.
    #[cold]
    fn used_up(&mut self, index: usize, op: Direction) -> bool {
        if self.wraps {
            self.offsets.restart_direction(index, op);
            self.restarted(index..index + 1);
        } else if self.rotation.is_skewed() {
            self.offsets.restart_file(index);
            self.restarted(index..index + 1);
        } else if !self.rotation.leave() {
            // After a pass without operations, all later passes would have none either.
            self.has_rest = self.leaves_rest();
            if !self.gave || (self.given.pass_bytes > 0 && !self.end_pass()) {
                return false;
            }
            self.gave = false;
            self.offsets.restart();
            self.rotation.restart();
            self.restarted(0..self.offsets.files());
        }
        true
    }

    /// True where a pass has left less than an operation of a file. Gaps leave out more,
    /// and an amount may end a pass anywhere.
    fn leaves_rest(&self) -> bool {
        let files = self.offsets.files();
        let all: u64 = (0..files).map(|index| self.offsets.length(index)).sum();
        let left = all.saturating_sub(self.given.pass_bytes);
        let most = self.length_max.saturating_mul(files as u64);
        self.budget.at_least == 0 && (1..most).contains(&left)
    }

    /// Bytes of the operations that were given since bounds were set.
    pub fn given_bytes(&self) -> u64 {
        self.given.bytes
    }

    /// True where the last pass left bytes that no operation fits into.
    pub fn has_rest(&self) -> bool {
        self.has_rest
    }

    /// Tells that files start over.
    fn restarted(&self, files: Range<usize>) {
        if let Some(call) = &self.on_restart {
            files.for_each(|index| call(self.offsets.file(index)));
        }
    }

    /// Ends a pass; false if it was the last one.
    fn end_pass(&mut self) -> bool {
        self.given.passes += 1;
        self.given.pass_bytes = 0;
        let missing = self.budget.at_least.saturating_sub(self.given.bytes);
        let enough = missing == 0 || missing < self.length_max;
        let more = self.given.passes < self.budget.passes || !enough;
        if !more {
            self.budget.ops = 0;
        }
        more
    }

    /// Skips the turn of a file without an operation; returns the file.
    #[cold]
    pub fn pass_over(&mut self) -> u32 {
        let index = self.rotation.current(&mut self.random);
        self.rotation.served();
        self.offsets.file(index)
    }

    /// Sets the direction of the next operation; none lets the mix choose.
    pub fn direct(&mut self, op: Option<Direction>) {
        self.direction = op;
    }

    /// Returns bytes that an operation drew but did not use; later operations may have them.
    #[cold]
    pub fn give_back(&mut self, file: u32, left: Range<u64>) {
        let bytes = left.end - left.start;
        self.offsets.give_back(file, left);
        self.budget.bytes = self.budget.bytes.saturating_add(bytes);
        self.given.bytes -= bytes.min(self.given.bytes);
        self.given.pass_bytes -= bytes.min(self.given.pass_bytes);
    }

    /// Continues a sequential access at that byte of a file.
    #[cold]
    pub fn continue_at(&mut self, file: u32, op: Direction, offset: u64) {
        self.offsets.continue_at(file, op, offset);
    }

    fn pick_direction(&mut self) -> Direction {
        let draw = match &mut self.number {
            Some(number) => {
                let place = *number;
                *number = (place + 1) % 100;
                place as u8
            }
            None => self.random.below(100) as u8,
        };
        if draw < self.mix.read {
            Direction::Read
        } else if draw < self.mix.read.saturating_add(self.mix.write) {
            Direction::Write
        } else {
            Direction::Trim
        }
    }

    fn follow_trace(&mut self, slot: &mut Slot) {
        let Some(trace) = &mut self.trace else { return };
        let step = trace.next_step();
        slot.set(match step.action {
            Action::Move(direction) => direction.into(),
            Action::Fsync => BlocksOp::Fsync,
            Action::Fdatasync => BlocksOp::Fdatasync,
        });
        (slot.handle, slot.offset, slot.length) = (step.file, step.offset, u64::from(step.length));
    }
}

/// Both directions of a pair, in order.
fn pair(mix: Mix) -> Option<(Direction, Direction)> {
    let mut used = [Direction::Trim, Direction::Read, Direction::Write]
        .into_iter()
        .filter(|op| mix.of(*op) > 0);
    Some((used.next()?, used.next()?))
}

#[cfg(test)]
mod tests;
