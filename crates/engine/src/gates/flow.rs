//! Flows: the gate keeps the operations of a phase's jobs in proportion to their weights.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use candor_plan::blocks::Flow;

/// State shared by the workers of one flow.
#[derive(Debug, Default)]
pub struct FlowSum {
    weight: AtomicU64,
    ops: AtomicU64,
}

/// One worker's share of a flow.
#[derive(Debug)]
pub struct FlowShare {
    sum: Arc<FlowSum>,
    weight: u64,
    ops: u64,
    /// Time between two checks while the worker waits, in ns.
    pub wait_ns: u64,
    /// True where the last check found the worker ahead of its share.
    pub ahead: bool,
}

/// Least wait where the plan sets none, so that checks do not burn CPU.
const WAIT_NS_MIN: u64 = 20_000;

impl FlowShare {
    /// Joins a flow; all workers join before any of them begins.
    pub fn new(sum: Arc<FlowSum>, flow: &Flow) -> FlowShare {
        sum.weight.fetch_add(u64::from(flow.weight), Relaxed);
        let wait_ns = flow.wait.0.max(WAIT_NS_MIN);
        FlowShare { sum, weight: u64::from(flow.weight), ops: 0, wait_ns, ahead: false }
    }

    /// True if the next operation may start: the worker has not done more than its share.
    pub fn may_go(&mut self) -> bool {
        let (weight, ops) = (self.sum.weight.load(Relaxed), self.sum.ops.load(Relaxed));
        let (mine, share) = (u128::from(self.ops), u128::from(self.weight));
        self.ahead = mine * u128::from(weight) > u128::from(ops) * share;
        !self.ahead
    }

    /// Counts an issued operation.
    pub fn issued(&mut self) {
        self.ops += 1;
        self.sum.ops.fetch_add(1, Relaxed);
    }
}

/// Removes the worker from the sums, so that the others do not wait for it.
impl Drop for FlowShare {
    fn drop(&mut self) {
        self.sum.ops.fetch_sub(self.ops, Relaxed);
        self.sum.weight.fetch_sub(self.weight, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Nanos;

    use super::*;

    fn shares(weights: [u32; 3]) -> Vec<FlowShare> {
        let sum = Arc::new(FlowSum::default());
        let share = |weight| FlowShare::new(sum.clone(), &Flow { id: 0, weight, wait: Nanos(0) });
        weights.into_iter().map(share).collect()
    }

    #[test]
    fn operations_are_in_the_proportion_of_weights() {
        let mut shares = shares([3, 2, 1]);
        for _ in 0..10_000 {
            for share in &mut shares {
                if share.may_go() {
                    share.issued();
                }
            }
        }
        let ops: Vec<f64> = shares.iter().map(|share| share.ops as f64).collect();
        assert!((ops[0] / ops[2] - 3.0).abs() < 0.01, "{ops:?}");
        assert!((ops[1] / ops[2] - 2.0).abs() < 0.01, "{ops:?}");
    }

    #[test]
    fn one_that_is_ahead_waits_until_another_has_ended() {
        let mut shares = shares([1, 1, 0]);
        shares[0].issued();
        assert!(!shares[0].may_go(), "the second one has done nothing yet");
        drop(shares.remove(1));
        assert!(shares[0].may_go());
    }
}
