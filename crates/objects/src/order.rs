//! Order of a worker's objects, and the amount of its work.

use candor_engine::random::{Random, mix};
use candor_plan::Stop;
use candor_plan::entries::Select;
use candor_plan::objects::{ObjectOp, Objects};
use candor_plan::permutation::Permutation;

/// Choices of a worker's seed: the order of its objects.
const ORDER: u64 = 0x6f62_6a65;
/// Choices of a worker's seed: operations of a mix.
const MIX: u64 = 0x6d69_7865;

/// Amount of a worker's work, in addition to its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Requests that move bytes or change objects.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// Objects per pass, multiplied by passes.
    pub passes: u64,
}

impl Budget {
    /// Budget of a job's stop: one pass if nothing else bounds it.
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

/// An object to work on: its number among the worker's, and the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Number among the worker's objects.
    pub nth: u64,
    /// Operation.
    pub op: ObjectOp,
}

/// Order of a worker's objects.
pub struct Order {
    select: Select,
    permutation: Permutation,
    random: Random,
    seed: u64,
    count: u64,
    /// Objects chosen so far.
    turn: u64,
    /// Objects to choose.
    left: u64,
    mix: Option<OpMix>,
    op: ObjectOp,
    /// Existing objects of a mix that puts and deletes; none if the objects stay the same.
    window: Option<Window>,
}

/// Operations by weight.
struct OpMix {
    ops: Vec<(u64, ObjectOp)>,
    total: u64,
    random: Random,
}

/// A worker's objects that exist: puts add at the end, deletes remove at the start.
#[derive(Clone, Copy, Debug)]
struct Window {
    first: u64,
    end: u64,
}

impl OpMix {
    fn of(objects: &Objects, seed: u64) -> Option<OpMix> {
        let mut total = 0;
        let weighted = objects.mix.iter().map(|weighted| {
            total += u64::from(weighted.weight);
            (total, weighted.op)
        });
        let ops: Vec<_> = weighted.collect();
        (!ops.is_empty()).then(|| OpMix { ops, total, random: Random::new(mix(seed, MIX), 0) })
    }

    fn draw(&mut self) -> ObjectOp {
        let at = self.random.below(self.total);
        let drawn = self.ops.iter().find(|(end, _)| at < *end);
        drawn.map_or(ObjectOp::Get, |(_, op)| *op)
    }
}

impl Order {
    /// Order over `count` objects, of which `existing` exist at the start.
    pub fn new(objects: &Objects, count: u64, existing: u64, seed: u64) -> Order {
        let seed = mix(seed, ORDER);
        let moves = !objects.mix.is_empty() && objects.has(ObjectOp::Put);
        Order {
            select: objects.select,
            permutation: Permutation::new(count, seed),
            random: Random::new(seed, 0),
            seed,
            count,
            turn: 0,
            left: u64::MAX,
            mix: OpMix::of(objects, seed),
            op: objects.op,
            window: moves.then_some(Window { first: 0, end: existing.min(count) }),
        }
    }

    /// Begins the measured part.
    pub fn begin(&mut self, budget: Budget) {
        self.turn = 0;
        self.left = self.count.saturating_mul(budget.passes);
    }

    /// Objects chosen so far.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// True if no object follows.
    pub fn is_over(&self) -> bool {
        self.left == 0 || self.count == 0
    }

    /// The next object. `busy` is true for numbers of objects in progress.
    pub fn next(&mut self, busy: impl Fn(u64) -> bool) -> Option<Chosen> {
        if self.is_over() {
            return None;
        }
        let op = self.mix.as_mut().map_or(self.op, OpMix::draw);
        let chosen = match self.window {
            Some(window) => self.in_window(window, op, busy)?,
            None => Chosen { nth: self.nth(), op },
        };
        self.left -= 1;
        self.turn += 1;
        Some(chosen)
    }

    /// The next object of a batch, if it fits.
    pub fn next_in(&mut self, fits: impl Fn(u64) -> bool) -> Option<u64> {
        if self.is_over() || self.window.is_some() {
            return None;
        }
        let nth = self.nth();
        fits(nth).then(|| {
            self.left -= 1;
            self.turn += 1;
            nth
        })
    }

    /// Number of the object in this turn.
    fn nth(&mut self) -> u64 {
        let (pass, turn) = (self.turn / self.count, self.turn % self.count);
        match self.select {
            Select::Sequential => turn,
            Select::Shuffled => self.permutation.with_key(mix(self.seed, pass)).at(turn),
            Select::Random => self.random.below(self.count),
            Select::Exponential { midpoint } => {
                let mean = self.count as f64 / midpoint.max(f64::MIN_POSITIVE);
                (-mean * (1.0 - self.random.unit()).ln()) as u64 % self.count
            }
        }
    }

    /// An object of the window for an operation; a put if no object exists.
    fn in_window(
        &mut self,
        window: Window,
        op: ObjectOp,
        busy: impl Fn(u64) -> bool,
    ) -> Option<Chosen> {
        let Window { first, end } = window;
        // An object that is being put or deleted is not read.
        let ready = first..end;
        let nth = match op {
            ObjectOp::Put => None,
            ObjectOp::Delete if !ready.is_empty() && !busy(first) => {
                self.window = Some(Window { first: first + 1, end });
                return Some(Chosen { nth: first, op });
            }
            _ if ready.is_empty() => None,
            _ => {
                let drawn = first + self.random.below(end - first);
                ready
                    .clone()
                    .map(|at| first + (drawn - first + at - first) % (end - first))
                    .take(8)
                    .find(|nth| !busy(*nth))
            }
        };
        match nth {
            Some(nth) => {
                let op = if op == ObjectOp::Delete { ObjectOp::Get } else { op };
                Some(Chosen { nth, op })
            }
            None if end >= self.count => None,
            None => {
                self.window = Some(Window { first, end: end + 1 });
                Some(Chosen { nth: end, op: ObjectOp::Put })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use candor_plan::objects::WeightedOp;

    use super::*;

    fn all(order: &mut Order) -> Vec<Chosen> {
        std::iter::from_fn(|| order.next(|_| false)).collect()
    }

    #[test]
    fn a_shuffled_pass_has_each_object_once() {
        let work = Objects { select: Select::Shuffled, ..Objects::default() };
        let mut order = Order::new(&work, 100, 100, 1);
        order.begin(Budget::of(&Stop { passes: Some(2), ..Stop::default() }));
        let chosen: Vec<u64> = all(&mut order).iter().map(|chosen| chosen.nth).collect();
        assert_eq!(chosen.len(), 200);
        assert_eq!(chosen[..100].iter().collect::<BTreeSet<_>>().len(), 100);
        assert_ne!(chosen[..100], chosen[100..], "each pass has its own order");
    }

    fn weighted(weight: u32, op: ObjectOp) -> WeightedOp {
        WeightedOp { weight, op }
    }

    #[test]
    fn a_mix_reads_only_objects_that_exist() {
        let mix = vec![
            weighted(5, ObjectOp::Get),
            weighted(2, ObjectOp::Put),
            weighted(2, ObjectOp::Delete),
        ];
        let work = Objects { mix, ..Objects::default() };
        let mut order = Order::new(&work, 1_000_000, 10, 1);
        let mut exist: BTreeSet<u64> = (0..10).collect();
        for _ in 0..5000 {
            let Chosen { nth, op } = order.next(|_| false).expect("more objects");
            match op {
                ObjectOp::Put => assert!(exist.insert(nth)),
                ObjectOp::Delete => assert!(exist.remove(&nth)),
                _ => assert!(exist.contains(&nth), "{nth}"),
            }
        }
    }

    #[test]
    fn objects_in_progress_are_neither_read_nor_deleted() {
        let mix = vec![weighted(1, ObjectOp::Put), weighted(1, ObjectOp::Delete)];
        let work = Objects { mix, ..Objects::default() };
        let mut order = Order::new(&work, 1000, 3, 1);
        for _ in 0..100 {
            let chosen = order.next(|nth| nth == 0).expect("more objects");
            assert_ne!(chosen.nth, 0);
        }
    }
}
