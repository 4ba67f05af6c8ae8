//! Walk of a worker over names: each name in turn, with every step in order.

use std::cell::RefCell;
use std::rc::Rc;

use candor_engine::operation::{Op, Slot};
use candor_engine::permutation::Permutation;
use candor_engine::random::{Random, mix};
use candor_engine::source::{Bare, Next, Source, Turn};
use candor_plan::Stop;
use candor_plan::entries::{ALIAS, Entries, Select, Step};
use candor_record::Ended;

use crate::places::WorkerNames;

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
struct At {
    /// Names before it in this pass.
    turn: u64,
    /// Index of the step.
    step: usize,
    /// Offset of the next read or write.
    offset: u64,
}

/// Order in which a worker takes its names.
enum Order {
    Forward,
    /// Children before their parents.
    Backward,
    /// Each once per pass, in an order of that pass.
    Shuffled(Permutation, u64),
    Random(Random),
}

impl Order {
    fn of(entries: &Entries, count: u64, seed: u64) -> Order {
        match entries.select {
            Select::Shuffled => Order::Shuffled(Permutation::new(count, mix(seed, 0)), 0),
            Select::Random => Order::Random(Random::new(seed, 0)),
            Select::Sequential if entries.removes_directories() => Order::Backward,
            Select::Sequential => Order::Forward,
        }
    }

    fn nth(&mut self, turn: u64, count: u64) -> u64 {
        match self {
            Order::Forward => turn,
            Order::Backward => count - 1 - turn,
            Order::Shuffled(permutation, _) => permutation.at(turn),
            Order::Random(random) => random.below(count),
        }
    }

    fn next_pass(&mut self, count: u64, seed: u64) {
        if let Order::Shuffled(permutation, pass) = self {
            *pass += 1;
            *permutation = Permutation::new(count, mix(seed, *pass));
        }
    }
}

/// The present names of a worker, each with a zero byte behind it: written by the walk, outside of
/// the time of any operation, and used by the calls.
#[derive(Default)]
pub struct Paths {
    /// The name that steps work on.
    pub path: Vec<u8>,
    /// The other name, where steps have one.
    pub other: Vec<u8>,
}

/// Paths that walk and calls share.
pub type SharedPaths = Rc<RefCell<Paths>>;

/// A worker's walk over its names.
pub struct Walk {
    names: WorkerNames,
    order: Order,
    seed: u64,
    steps: Box<[Step]>,
    has_alias: bool,
    on_alias: bool,
    bytes: u64,
    budget: Budget,
    left: Budget,
    at: At,
    paths: SharedPaths,
    /// Name in `paths`, by its number, and its bytes.
    present: Option<(u64, u64)>,
}

impl Walk {
    /// Walk without bounds at first; a read or write moves `bytes` at most.
    pub fn new(
        entries: &Entries,
        names: WorkerNames,
        budget: Budget,
        bytes: u64,
        (paths, seed): (SharedPaths, u64),
    ) -> Walk {
        Walk {
            order: Order::of(entries, names.count(), seed),
            seed,
            names,
            steps: entries.steps.as_slice().into(),
            has_alias: entries.uses_alias(),
            on_alias: entries.on_alias,
            bytes,
            budget,
            left: Budget::NONE,
            at: At::default(),
            paths,
            present: None,
        }
    }

    /// Goes on to the next name; false after the last one of the last pass.
    fn next_name(&mut self) -> bool {
        self.at = At { turn: self.at.turn + 1, ..At::default() };
        self.present = None;
        if self.at.turn < self.names.count() {
            return true;
        }
        self.at.turn = 0;
        self.order.next_pass(self.names.count(), self.seed);
        self.left.passes = self.left.passes.saturating_sub(1);
        self.left.passes > 0
    }

    /// Number and bytes of the present name; its path is written if it is a new one.
    fn name(&mut self) -> (u64, u64) {
        if let Some(present) = self.present {
            return present;
        }
        let nth = self.order.nth(self.at.turn, self.names.count());
        let mut paths = self.paths.borrow_mut();
        let paths = &mut *paths;
        let size = self.names.write(nth, self.bytes > 0, &mut paths.path);
        if self.has_alias {
            paths.other.clear();
            paths.other.extend_from_slice(paths.path.strip_suffix(b"\0").unwrap_or(&paths.path));
            paths.other.extend_from_slice(ALIAS.as_bytes());
            paths.other.push(0);
            if self.on_alias {
                std::mem::swap(&mut paths.path, &mut paths.other);
            }
        }
        self.present = Some((nth, size));
        (nth, size)
    }

    /// Bytes that the step moves in one operation at the present offset of a file.
    fn bytes_at(&self, step: Step, size: u64) -> u64 {
        let size = if matches!(step, Step::Read | Step::Write) { size } else { 0 };
        (size - self.at.offset.min(size)).min(self.bytes)
    }
}

impl Bare for Walk {
    fn draw(&mut self, slot: &mut Slot) -> bool {
        if self.names.count() == 0 || self.left.ops == 0 || self.left.bytes == 0 {
            return false;
        }
        if self.at.step == self.steps.len() && !self.next_name() {
            return false;
        }
        let (nth, size) = self.name();
        let step = self.steps[self.at.step];
        let length = self.bytes_at(step, size);
        slot.op = Op(step as u8);
        (slot.handle, slot.offset, slot.length) = (self.names.handle(nth), self.at.offset, length);
        self.at.offset += length;
        if self.bytes_at(step, size) == 0 {
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
            (self.at, self.present) = (At::default(), None);
        }
        self.left = self.budget;
    }
}
