//! Operations with an I/O priority of their own.

use candor_engine::source::{Next, Source, Turn};
use candor_plan::blocks::PriorityShare;
use candor_plan::units::Direction;

use crate::slot::BlocksSlot;
use candor_engine::operation::Slot;
use candor_engine::random::Random;

/// Draws priorities.
pub struct Priorities {
    shares: Box<[PriorityShare]>,
    /// Priority of all other operations: that of the thread.
    usual: u16,
    random: Random,
}

impl Priorities {
    /// Priorities to draw from; none where all operations have the same.
    pub fn new(seed: u64, shares: &[PriorityShare], usual: u16) -> Option<Priorities> {
        let random = Random::new(seed, 0x7072_696f);
        (!shares.is_empty()).then(|| Priorities { shares: shares.into(), usual, random })
    }

    /// Priority of an operation in the kernel's form.
    pub fn of(&mut self, slot: &Slot) -> u16 {
        let mut draw = self.random.below(100);
        for share in &self.shares {
            let fits = share.size.is_none_or(|size| size.0 == slot.length);
            if slot.direction() != Some(share.op) || !fits {
                continue;
            }
            match draw.checked_sub(share.percent.into()) {
                None => return share.priority.bits(),
                Some(left) => draw = left,
            }
        }
        self.usual
    }
}

/// A source that gives some of its operations priorities of their own.
pub struct Prioritised<S> {
    inner: S,
    priorities: Priorities,
}

impl<S> Prioritised<S> {
    /// Wraps a source.
    pub fn new(inner: S, priorities: Priorities) -> Prioritised<S> {
        Prioritised { inner, priorities }
    }
}

impl<S: Source> Source for Prioritised<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        let next = self.inner.next(slot, turn);
        if next == Next::Ready {
            slot.priority = self.priorities.of(slot);
        }
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }
}

/// Priorities that operations of a direction can have, the usual one first; empty where that is the
/// only one.
pub fn occurring(op: Direction, shares: &[PriorityShare], usual: u16) -> Box<[u16]> {
    let own = shares.iter().filter(|share| share.op == op && share.percent > 0);
    let mut all = vec![usual];
    for bits in own.map(|share| share.priority.bits()) {
        if !all.contains(&bits) {
            all.push(bits);
        }
    }
    if all.len() > 1 { all.into() } else { Box::default() }
}

#[cfg(test)]
mod tests {
    use candor_engine::operation::Buffer;
    use candor_plan::Bytes;
    use candor_plan::blocks::{IoPriority, PriorityClass};
    use candor_plan::units::Direction;

    use candor_plan::work::BlocksOp;

    use super::*;
    use crate::slot::op;

    fn share(op: Direction, size: Option<Bytes>, percent: u8, level: u8) -> PriorityShare {
        let priority = IoPriority { class: PriorityClass::Realtime, level, hint: 0 };
        PriorityShare { op, size, percent, priority }
    }

    #[test]
    fn shares_are_met_per_direction_and_size() {
        let shares = [
            share(Direction::Read, None, 25, 1),
            share(Direction::Write, Some(Bytes(4096)), 50, 2),
            share(Direction::Write, Some(Bytes(4096)), 50, 3),
        ];
        let mut priorities = Priorities::new(1, &shares, 0x4004).expect("there are shares");
        let mut count = |kind, length, level: u16| {
            let slot = Slot { op: op(kind), length, ..Slot::empty(Buffer::None) };
            (0..4000).filter(|_| priorities.of(&slot) == 0x2000 + level).count()
        };
        assert!((900..1100).contains(&count(BlocksOp::Read, 512, 1)));
        assert!((1900..2100).contains(&count(BlocksOp::Write, 4096, 2)));
        assert!((1900..2100).contains(&count(BlocksOp::Write, 4096, 3)));
        assert_eq!(count(BlocksOp::Write, 8192, 2) + count(BlocksOp::Trim, 4096, 2), 0);
        let others = Slot { op: op(BlocksOp::Trim), ..Slot::empty(Buffer::None) };
        assert_eq!(priorities.of(&others), 0x4004);
        assert_eq!(*occurring(Direction::Write, &shares, 0x4004), [0x4004, 0x2002, 0x2003]);
        assert!(occurring(Direction::Trim, &shares, 0x4004).is_empty());
        assert!(occurring(Direction::Read, &shares, 0x2001).is_empty());
    }
}
