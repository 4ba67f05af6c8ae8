//! The operations of a worker once more: its work again, from the start.
//!
//! Single operations are not kept. A copy of the work is put through the same calls as the work, in
//! the same order, and so gives the same operations.

use std::collections::VecDeque;

use candor_engine::operation::Slot;
use candor_plan::units::Direction;

use super::work::Work;

/// A call of the work other than one that gave an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// The budget began.
    Begin,
    /// A further round began.
    BeginRound,
    /// A schedule set the direction of the operations that follow.
    Direct(Option<Direction>),
    /// No operation was left.
    End,
    /// The turn of a file was skipped.
    PassOver,
}

/// A copy of a worker's work.
pub struct Replay {
    work: Work,
    /// Calls that the copy has not made, each with the number of operations between it and the call
    /// before.
    calls: VecDeque<(u64, Call)>,
    /// Operations that the work has given since the last of these calls.
    since: u64,
    /// Operations that the copy has given since the last call that it made.
    done: u64,
    /// Operations that the work has given and the copy has not.
    ahead: u64,
    direction: Option<Option<Direction>>,
}

impl Replay {
    /// A copy, before any call of the work.
    pub fn new(work: Work) -> Replay {
        Replay { work, calls: VecDeque::new(), since: 0, done: 0, ahead: 0, direction: None }
    }

    /// Counts an operation that the work has given, in the direction that a schedule has set.
    pub fn gave(&mut self, direction: Option<Option<Direction>>) {
        self.directed(direction);
        self.since += 1;
        self.ahead += 1;
    }

    /// Notes that the work had no operation left.
    pub fn ended(&mut self, direction: Option<Option<Direction>>) {
        self.directed(direction);
        self.called(Call::End);
    }

    fn directed(&mut self, direction: Option<Option<Direction>>) {
        if direction.is_some() && direction != self.direction {
            self.direction = direction;
            self.called(Call::Direct(direction.flatten()));
        }
    }

    /// Notes another call of the work.
    pub fn called(&mut self, call: Call) {
        self.calls.push_back((self.since, call));
        self.since = 0;
    }

    /// Next operation that the work has given; false if there is none.
    pub fn next(&mut self, slot: &mut Slot) -> bool {
        while let Some((after, call)) = self.calls.front().copied() {
            if self.done < after {
                break;
            }
            self.calls.pop_front();
            self.done = 0;
            match call {
                Call::Begin => self.work.begin(),
                Call::BeginRound => self.work.begin_round(),
                Call::Direct(direction) => self.work.direct(direction),
                Call::End => {
                    self.work.step(&mut { *slot });
                }
                Call::PassOver => {
                    self.work.skip();
                }
            }
        }
        if self.ahead == 0 {
            return false;
        }
        self.ahead -= 1;
        self.done += 1;
        self.work.step(slot)
    }
}
