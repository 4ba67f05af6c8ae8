//! What may hold a worker's next operation back, or end its work, beside its pace.

use candor_plan::Stop;
use candor_plan::blocks::Blocks;
use candor_plan::units::Direction;

use crate::gates::depth_search::Search;
use crate::gates::flow::FlowShare;
use crate::operations::slots::{Kind, Slot};

/// The issue_gate of one worker.
pub struct IssueGate {
    flow: Option<FlowShare>,
    search: Option<Search>,
    /// Longest latency by [`Kind::counted`], in ns.
    latency_max_ns: [u64; Kind::COUNTED],
    /// The queue is filled again once no more than these are in flight.
    depth_low: usize,
    depth: usize,
    /// The queue was full and runs down to `depth_low`.
    runs_down: bool,
    /// Which slots are in flight, where operations that overlap wait for each other.
    busy: Option<Box<[bool]>>,
    holds: bool,
}

/// What a completion means for the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It goes on.
    Fine,
    /// It took longer than this many ns, which is the most that is allowed.
    TooSlow(u64),
    /// The depth that was searched for is found.
    Found,
}

impl IssueGate {
    /// Of a worker with that depth; none where the plan asks for none of it.
    pub fn new(
        blocks: &Blocks,
        stop: &Stop,
        flow: Option<FlowShare>,
        depth: usize,
    ) -> Option<IssueGate> {
        let limit = |op: Direction| Some(stop.latency_max.of(op).0).filter(|ns| *ns > 0);
        let limited = Direction::ALL.into_iter().any(|op| limit(op).is_some());
        let low = blocks.depth_low.map_or(depth, |low| (low as usize).min(depth));
        let search = blocks.pace.goal.map(|goal| Search::new(goal, depth));
        // In zones no write falls on another's bytes but behind a reset, which waits for all.
        let serialize = blocks.serialize_overlap && blocks.zones.is_none();
        let wanted = limited || low < depth || serialize;
        if !wanted && flow.is_none() && search.is_none() {
            return None;
        }
        let mut latency_max_ns = [u64::MAX; Kind::COUNTED];
        for op in Direction::ALL {
            latency_max_ns[Kind::from(op).counted()] = limit(op).unwrap_or(u64::MAX);
        }
        Some(IssueGate {
            flow,
            search,
            latency_max_ns,
            depth_low: low,
            depth,
            runs_down: false,
            busy: serialize.then(|| vec![false; depth].into()),
            holds: false,
        })
    }

    /// True if one more operation may be prepared while that many are in flight.
    pub fn may_issue(&mut self, in_flight: usize) -> bool {
        if in_flight >= self.depth {
            self.runs_down = self.depth_low < self.depth;
        } else if in_flight <= self.depth_low {
            self.runs_down = false;
        }
        let deep = self.search.as_ref().is_some_and(|search| in_flight >= search.depth());
        self.holds = self.runs_down || deep || self.flow.as_mut().is_some_and(|f| !f.may_go());
        !self.holds
    }

    /// True while nothing may be issued until something completes.
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// How long to wait with nothing in flight, in ns.
    pub fn wait_ns(&self) -> Option<u64> {
        self.flow.as_ref().filter(|flow| flow.ahead).map(|flow| flow.wait_ns)
    }

    /// False while an operation in flight touches the same bytes.
    pub fn admits(&self, slots: &[Slot], index: u32) -> bool {
        let Some(busy) = &self.busy else { return true };
        let new = &slots[index as usize];
        let touches = |slot: &Slot| {
            slot.file == new.file
                && slot.offset < new.offset + u64::from(new.length)
                && new.offset < slot.offset + u64::from(slot.length)
        };
        !slots.iter().zip(busy).any(|(slot, busy)| *busy && touches(slot))
    }

    /// An operation is handed over.
    pub fn issued(&mut self, index: u32) {
        if let Some(busy) = &mut self.busy {
            busy[index as usize] = true;
        }
        if let Some(flow) = &mut self.flow {
            flow.issued();
        }
    }

    /// An operation completed.
    pub fn completed(&mut self, index: u32, kind: Kind, latency_ns: u64) -> Meaning {
        if let Some(busy) = &mut self.busy {
            busy[index as usize] = false;
        }
        if let Some(search) = &mut self.search {
            search.completed(latency_ns);
        }
        let limit_ns = self.latency_max_ns[kind.counted()];
        if latency_ns > limit_ns { Meaning::TooSlow(limit_ns) } else { Meaning::Fine }
    }

    /// The end of a turn at that time, in ns since any fixed moment.
    pub fn turned(&mut self, now_ns: u64) -> Meaning {
        let found = self.search.as_mut().is_some_and(|search| search.look(now_ns));
        if found { Meaning::Found } else { Meaning::Fine }
    }

    /// The greatest depth that met the latency goal, 0 if none did; none where there is no goal.
    pub fn depth_reached(&self) -> Option<usize> {
        self.search.as_ref().map(Search::reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue_gate(blocks: &Blocks, depth: usize) -> IssueGate {
        IssueGate::new(blocks, &Stop::default(), None, depth).expect("issue_gate")
    }

    #[test]
    fn a_full_queue_runs_down_before_it_is_filled_again() {
        let mut issue_gate = issue_gate(&Blocks { depth_low: Some(2), ..Blocks::default() }, 8);
        assert!((0..8).all(|in_flight| issue_gate.may_issue(in_flight)));
        assert!((3..=8).rev().all(|in_flight| !issue_gate.may_issue(in_flight)));
        assert!((2..8).all(|in_flight| issue_gate.may_issue(in_flight)));
    }

    #[test]
    fn overlapping_operations_wait_for_each_other() {
        let mut issue_gate =
            issue_gate(&Blocks { serialize_overlap: true, ..Blocks::default() }, 4);
        let slot =
            |offset, file| Slot { offset, file, length: 4096, ..Slot::empty(std::ptr::null_mut()) };
        let slots = [slot(0, 0), slot(4095, 0), slot(4096, 0), slot(0, 1)];
        issue_gate.issued(0);
        assert_eq!([1, 2, 3].map(|index| issue_gate.admits(&slots, index)), [false, true, true]);
        issue_gate.completed(0, Kind::Read, 1);
        assert!(issue_gate.admits(&slots, 1));
    }

    #[test]
    fn a_latency_above_the_most_allowed_is_told() {
        let mut stop = Stop::default();
        stop.latency_max.write = candor_plan::Nanos(1000);
        let mut issue_gate =
            IssueGate::new(&Blocks::default(), &stop, None, 1).expect("issue_gate");
        assert_eq!(issue_gate.completed(0, Kind::Read, 5000), Meaning::Fine);
        assert_eq!(issue_gate.completed(0, Kind::Write, 1000), Meaning::Fine);
        assert_eq!(issue_gate.completed(0, Kind::Write, 1001), Meaning::TooSlow(1000));
    }
}
