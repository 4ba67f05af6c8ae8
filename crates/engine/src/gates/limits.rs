//! Limits on a worker's operations: a share of a flow, a depth search, a maximum latency.

use candor_plan::blocks::LatencyGoal;
use candor_plan::units::{Direction, PerDirection};
use candor_plan::{Nanos, Stop};
use candor_record::Ended;

use crate::gates::depth_search::Search;
use crate::gates::flow::FlowShare;
use crate::operation::{Ops, Outcome, Slot};
use crate::source::{LOOK_AGAIN_NS, Next, Source, Turn, Wait};
use crate::worker_end::WorkerEnd;

/// Limits of a worker.
pub struct Limits {
    flow: Option<FlowShare>,
    /// Operations that the share counts.
    counted: Ops,
    search: Option<Search>,
    /// Greatest latency allowed per direction; 0 for no limit.
    latency_max: PerDirection<Nanos>,
}

impl Limits {
    /// Limits of a worker with that depth; none where the plan sets none.
    pub fn new(
        depth: usize,
        goal: Option<LatencyGoal>,
        stop: &Stop,
        flow: Option<FlowShare>,
    ) -> Option<Limits> {
        let search = goal.map(|goal| Search::new(goal, depth));
        let latency_max = stop.latency_max;
        let limited = Direction::ALL.into_iter().any(|op| latency_max.of(op).0 > 0);
        let wanted = limited || flow.is_some() || search.is_some();
        wanted.then_some(Limits { flow, counted: Ops::ALL, search, latency_max })
    }

    /// The same, with a share of those operations alone.
    pub fn counting(self, counted: Ops) -> Limits {
        Limits { counted, ..self }
    }

    /// Reason why nothing more may be issued with that many in flight; none where an operation may
    /// start.
    fn holds(&mut self, in_flight: usize) -> Option<Wait> {
        let holds = self.search.as_ref().is_some_and(|search| in_flight >= search.depth());
        // Asked last: a share that may go has claimed an operation.
        if !holds && self.flow.as_mut().is_none_or(FlowShare::may_go) {
            return None;
        }
        if in_flight > 0 {
            return Some(Wait::InFlight);
        }
        let flow_ns = self.flow.as_ref().filter(|_| !holds).and_then(FlowShare::wait_ns);
        Some(Wait::Others(flow_ns.unwrap_or(LOOK_AGAIN_NS)))
    }

    /// Limit that a latency exceeds, in ns.
    fn exceeded_ns(&self, direction: Option<Direction>, latency_ns: u64) -> Option<u64> {
        let limit_ns = self.latency_max.of(direction?).0;
        (limit_ns > 0 && latency_ns > limit_ns).then_some(limit_ns)
    }
}

/// A source that keeps within limits.
pub struct Limited<S> {
    inner: S,
    limits: Limits,
}

impl<S> Limited<S> {
    /// Wraps a source.
    pub fn new(inner: S, limits: Limits) -> Limited<S> {
        Limited { inner, limits }
    }
}

impl<S: Source> Source for Limited<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if let Some(wait) = self.limits.holds(turn.in_flight) {
            return Next::Wait(wait);
        }
        let next = self.inner.next(slot, turn);
        if let Some(flow) = &self.limits.flow {
            let counts = next == Next::Ready && self.limits.counted.has(slot.op);
            flow.settle(counts.then_some(slot.length));
        }
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        let latency_ns = turn.clock.ns(turn.now.saturating_sub(slot.started));
        if let Some(search) = &mut self.limits.search {
            search.completed(latency_ns);
        }
        let direction = turn.direction_of(slot.op);
        if let Some(limit_ns) = self.limits.exceeded_ns(direction, latency_ns) {
            turn.fail_slow(slot, latency_ns, limit_ns);
            turn.end(Ended::Failed);
        }
        self.inner.completed(slot, outcome, turn);
    }

    fn turned(&mut self, turn: &mut Turn) {
        let now_ns = turn.clock.ns(turn.now);
        if self.limits.search.as_mut().is_some_and(|search| search.check(now_ns)) {
            turn.end(Ended::Done);
        }
        self.inner.turned(turn);
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        end.depth_reached = self.limits.search.as_ref().map(Search::reached);
        self.inner.tell(end, turn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_above_the_most_allowed_is_an_end() {
        let mut stop = Stop::default();
        stop.latency_max.write = Nanos(1000);
        let limits = Limits::new(1, None, &stop, None).expect("limits");
        assert_eq!(limits.exceeded_ns(Some(Direction::Read), 5000), None);
        assert_eq!(limits.exceeded_ns(Some(Direction::Write), 1000), None);
        assert_eq!(limits.exceeded_ns(Some(Direction::Write), 1001), Some(1000));
        assert_eq!(limits.exceeded_ns(None, 5000), None);
    }

    #[test]
    fn a_plan_without_limits_needs_no_gate() {
        assert!(Limits::new(8, None, &Stop::default(), None).is_none());
    }
}
