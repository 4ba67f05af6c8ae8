//! Walk of a worker over names: each name in turn, with every step in order.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use candor_engine::family::Seat;
use candor_engine::names::Names;
use candor_engine::operation::{Op, Slot};
use candor_engine::source::{Bare, Next, Source, Turn};
use candor_plan::Stop;
use candor_plan::entries::{Entries, Step};
use candor_record::Ended;

/// Path of the present name, with a zero byte behind it: written by the walk, outside of the time
/// of any operation, and used by the calls.
pub type SharedPath = Rc<RefCell<Vec<u8>>>;

/// Bounds of a walk, beside time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    ops: u64,
    bytes: u64,
    passes: u64,
}

impl Budget {
    const NONE: Budget = Budget { ops: u64::MAX, bytes: u64::MAX, passes: u64::MAX };

    /// Budget that a job's stop sets: one pass, where nothing else bounds it.
    pub fn of(stop: &Stop) -> Budget {
        let timed = stop.time.is_some() || stop.steady.is_some();
        let bounded = timed || stop.bytes.is_some() || stop.ops.is_some();
        let passes = stop.passes.map(u64::from);
        Budget {
            ops: stop.ops.unwrap_or(u64::MAX),
            bytes: stop.bytes.map_or(u64::MAX, |bytes| bytes.0),
            passes: passes.unwrap_or(if bounded { u64::MAX } else { 1 }),
        }
    }
}

/// Position of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    /// Number of the name.
    number: u64,
    /// Index of the step.
    step: usize,
    /// Offset of the next read or write.
    offset: u64,
}

/// A worker's walk: every n-th name.
pub struct Walk {
    names: Arc<Names>,
    count: u64,
    steps: Box<[Step]>,
    first: u64,
    stride: u64,
    bytes: u64,
    budget: Budget,
    left: Budget,
    at: Place,
    path: SharedPath,
    /// Number of the name in `path`, and its bytes.
    present: Option<(u64, u64)>,
}

impl Walk {
    /// Walk without bounds at first; a read or write moves `bytes` at most.
    pub fn new(
        entries: &Entries,
        names: Arc<Names>,
        budget: Budget,
        bytes: u64,
        (path, seat): (SharedPath, &Seat),
    ) -> Walk {
        let first = seat.ranks.rank(seat.rank);
        Walk {
            count: names.count() as u64,
            names,
            steps: entries.steps.as_slice().into(),
            first,
            stride: seat.ranks.ranks.max(1),
            bytes,
            budget,
            left: Budget::NONE,
            at: Place { number: first, ..Place::default() },
            path,
            present: None,
        }
    }

    fn next_name(&mut self) -> bool {
        self.at = Place { number: self.at.number + self.stride, ..Place::default() };
        if self.at.number < self.count {
            return true;
        }
        self.at.number = self.first;
        self.left.passes = self.left.passes.saturating_sub(1);
        self.left.passes > 0
    }

    /// Writes the path of the present name, if it is a new one.
    fn name(&mut self) {
        let number = self.at.number;
        if self.present.is_none_or(|(of, _)| of != number) {
            self.names.write_path(number as usize, &mut self.path.borrow_mut());
            let moves = self.bytes > 0;
            let size = || self.names.name(number as usize).length();
            let planned = self.names.size(number as usize);
            self.present = Some((number, if moves { planned.unwrap_or_else(size) } else { 0 }));
        }
    }

    /// Bytes that the step moves in one operation at the present offset.
    fn bytes_at(&self, step: Step) -> u64 {
        let moves = matches!(step, Step::Read | Step::Write);
        let size = self.present.filter(|_| moves).map_or(0, |(_, size)| size);
        (size - self.at.offset.min(size)).min(self.bytes)
    }
}

impl Bare for Walk {
    fn draw(&mut self, slot: &mut Slot) -> bool {
        if self.count <= self.first || self.left.ops == 0 || self.left.bytes == 0 {
            return false;
        }
        if self.at.step == self.steps.len() && !self.next_name() {
            return false;
        }
        self.name();
        let step = self.steps[self.at.step];
        let length = self.bytes_at(step);
        slot.op = Op(step as u8);
        (slot.handle, slot.offset, slot.length) = (self.at.number as u32, self.at.offset, length);
        self.at.offset += length;
        if self.bytes_at(step) == 0 {
            (self.at.step, self.at.offset) = (self.at.step + 1, 0);
        }
        self.left.ops -= 1;
        self.left.bytes = self.left.bytes.saturating_sub(length);
        true
    }
}

impl Source for Walk {
    fn next(&mut self, slot: &mut Slot, _: &mut Turn) -> Next {
        if self.draw(slot) { Next::Ready } else { Next::End(Ended::Done) }
    }

    fn begin(&mut self) {
        if self.budget.passes != u64::MAX {
            self.at = Place { number: self.first, ..Place::default() };
        }
        self.left = self.budget;
    }
}
