//! The stream of operations of one worker: direction, file, offset, length, one after another.

pub mod order;
pub mod permutation;
pub mod sizes;
pub mod skew;
pub mod space;
pub mod trace;

use candor_plan::units::{Mix, Op, PerOp};

use self::order::Order;
use self::sizes::Sizes;
use self::space::Space;
use self::trace::Cursor as TraceCursor;
use crate::random::Random;
use crate::slots::Slot;

/// Where operations fall in one file.
pub struct Place {
    /// The file, as an index into the job's files.
    pub file: u32,
    /// The worker's share of the file.
    pub space: Space,
    /// The order of offsets in it.
    pub order: Order,
}

/// What bounds a stream.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Operations it may still give.
    pub ops: u64,
    /// Bytes it may still give.
    pub bytes: u64,
}

impl Budget {
    /// No bound at all.
    pub const NONE: Budget = Budget { ops: u64::MAX, bytes: u64::MAX };
}

/// One worker's operations.
pub struct Stream {
    random: Random,
    mix: Mix,
    /// The only direction, or the one that a schedule wants next.
    direction: Option<Op>,
    sizes: PerOp<Sizes>,
    random_percent: PerOp<u8>,
    any_random_percent: bool,
    places: Box<[Place]>,
    file_next: usize,
    trace: Option<TraceCursor>,
    budget: Budget,
    uniform: Option<Uniform>,
}

/// The commonest stream, with everything worked out beforehand: one direction, one file, one
/// length, uniform over a contiguous share.
#[derive(Clone, Copy)]
struct Uniform {
    op: Op,
    file: u32,
    length: u32,
    start: u64,
    step: u64,
    positions: u64,
}

impl Uniform {
    fn of(parts: &Parts) -> Option<Uniform> {
        let op = Op::ALL.into_iter().find(|op| parts.mix.of(*op) == 100)?;
        let [place] = parts.places.as_slice() else { return None };
        let Order::UniformFixed { positions, length } = place.order else { return None };
        let plain = parts.trace.is_none() && *parts.random_percent.of(op) == 0;
        let (start, step) = place.space.contiguous().filter(|_| plain)?;
        Some(Uniform { op, file: place.file, length, start, step, positions })
    }
}

/// What a stream is made from.
pub struct Parts {
    /// Its source of choices.
    pub random: Random,
    /// Share of the directions.
    pub mix: Mix,
    /// Lengths per direction.
    pub sizes: PerOp<Sizes>,
    /// Share of jumps per direction.
    pub random_percent: PerOp<u8>,
    /// One place per file of the worker.
    pub places: Vec<Place>,
    /// The trace, which then decides everything else.
    pub trace: Option<TraceCursor>,
}

impl Stream {
    /// From its parts.
    pub fn new(parts: Parts) -> Stream {
        let uniform = Uniform::of(&parts);
        Stream {
            random: parts.random,
            mix: parts.mix,
            direction: Op::ALL.into_iter().find(|op| parts.mix.of(*op) == 100),
            sizes: parts.sizes,
            any_random_percent: parts.random_percent.iter().any(|(_, percent)| *percent > 0),
            random_percent: parts.random_percent,
            places: parts.places.into(),
            file_next: 0,
            trace: parts.trace,
            budget: Budget::NONE,
            uniform,
        }
    }

    /// From now on it gives no more than that.
    pub fn bound(&mut self, budget: Budget) {
        self.budget = budget;
        if let Some(uniform) = &self.uniform {
            let length = u64::from(uniform.length.max(1));
            self.budget.ops = budget.ops.min(budget.bytes.div_ceil(length));
        }
    }

    /// Writes the next operation into `slot`; false when the budget is spent.
    #[inline(always)]
    pub fn next(&mut self, slot: &mut Slot) -> bool {
        if self.budget.ops == 0 {
            return false;
        }
        if let Some(uniform) = &self.uniform {
            self.budget.ops -= 1;
            slot.kind = uniform.op.into();
            slot.file = uniform.file;
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
        if self.trace.is_some() {
            self.follow_trace(slot);
        } else {
            self.draw(slot);
        }
        self.budget.ops -= 1;
        self.budget.bytes = self.budget.bytes.saturating_sub(u64::from(slot.length));
        true
    }

    #[inline(always)]
    fn draw(&mut self, slot: &mut Slot) {
        let op = match self.direction {
            Some(op) => op,
            None => self.pick_direction(),
        };
        let length = self.sizes.of(op).pick(&mut self.random);
        let file = self.pick_file();
        let jump = self.any_random_percent && self.random.percent(*self.random_percent.of(op));
        let place = &mut self.places[file];
        slot.kind = op.into();
        slot.length = length;
        slot.file = place.file;
        slot.offset = if jump {
            order::uniform(&place.space, length, &mut self.random)
        } else {
            place.order.next(&place.space, length, &mut self.random)
        };
    }

    #[inline(always)]
    fn pick_file(&mut self) -> usize {
        let file = self.file_next;
        self.file_next += 1;
        if self.file_next >= self.places.len() {
            self.file_next = 0;
        }
        file
    }

    /// The next operation is to have that direction.
    pub fn direct(&mut self, op: Op) {
        self.direction = Some(op);
    }

    fn pick_direction(&mut self) -> Op {
        let draw = self.random.below(100) as u8;
        if draw < self.mix.read {
            Op::Read
        } else if draw < self.mix.read.saturating_add(self.mix.write) {
            Op::Write
        } else {
            Op::Trim
        }
    }

    fn follow_trace(&mut self, slot: &mut Slot) {
        let Some(trace) = &mut self.trace else { return };
        let line = trace.next_line();
        slot.kind = line.op.into();
        slot.length = line.length;
        slot.offset = line.offset;
        slot.file = 0;
    }
}

#[cfg(test)]
mod tests;
