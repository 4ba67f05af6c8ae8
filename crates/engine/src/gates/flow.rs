//! Flows: the gate keeps the operations, or the bytes, of a phase's jobs in proportion to their
//! weights.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use candor_plan::blocks::Flow;

/// Flows of a phase, by their numbers.
pub type Flows = HashMap<u32, Arc<FlowSum>>;

/// Sums over all parties of a flow.
#[derive(Debug, Default)]
pub struct FlowSum {
    weight: AtomicU64,
    amount: AtomicU64,
}

/// One share of a flow: of a worker, or of a job.
#[derive(Debug, Default)]
struct Party {
    weight: u64,
    /// Workers that have joined and not ended.
    members: AtomicU32,
    amount: AtomicU64,
}

/// A job's share of a flow.
#[derive(Debug)]
pub struct JobFlow {
    flow: Flow,
    sum: Arc<FlowSum>,
    /// The share of all workers, if they have one together.
    together: Option<Arc<Party>>,
}

impl JobFlow {
    /// Adds the job to a flow of its phase.
    pub fn join(flows: &mut Flows, flow: Flow) -> JobFlow {
        let sum = flows.entry(flow.id).or_default().clone();
        JobFlow { together: flow.together.then(|| Arc::new(Party::of(&flow))), sum, flow }
    }

    /// Share of a worker whose operations move at most `bytes_max` bytes. All workers of all jobs
    /// take their shares before any worker starts.
    pub fn share(&self, bytes_max: u64) -> FlowShare {
        let party = self.together.clone().unwrap_or_else(|| Arc::new(Party::of(&self.flow)));
        if party.members.fetch_add(1, Relaxed) == 0 {
            self.sum.weight.fetch_add(party.weight, Relaxed);
        }
        FlowShare {
            sum: self.sum.clone(),
            party,
            of_bytes: self.flow.bytes,
            claim: if self.flow.bytes { bytes_max } else { 1 },
            wait_ns: self.flow.wait.0,
            checks: 0,
        }
    }
}

impl Party {
    fn of(flow: &Flow) -> Party {
        Party { weight: flow.weight.into(), ..Party::default() }
    }
}

/// One worker's access to its share of a flow.
#[derive(Debug)]
pub struct FlowShare {
    sum: Arc<FlowSum>,
    party: Arc<Party>,
    of_bytes: bool,
    /// Maximum amount of one operation.
    claim: u64,
    /// Time between two checks while the worker waits, in ns; 0 if the plan sets none.
    wait_ns: u64,
    /// Checks in a row that found the share used up.
    checks: u32,
}

/// First wait if the plan sets none; each further wait is twice as long.
const WAIT_NS_MIN: u64 = 1_000;
/// Longest wait: a shorter maximum would waste CPU time while other workers are slow.
const WAIT_NS_MAX: u64 = 20_000;

impl FlowShare {
    /// True if the next operation may start because the share is not exceeded. The operation is
    /// claimed immediately, so workers of one share are never ahead by more than one operation. The
    /// caller must call [`FlowShare::settle`] next.
    pub fn may_go(&mut self) -> bool {
        let mine = &self.party.amount;
        // Read before the party's amount: an addition between the reads only makes it wait.
        let mut sum = self.sum.amount.load(Relaxed);
        let mut done = mine.load(Relaxed);
        loop {
            let weight = self.sum.weight.load(Relaxed);
            let is_ahead = u128::from(done) * u128::from(weight)
                > u128::from(sum) * u128::from(self.party.weight);
            if is_ahead {
                self.checks = self.checks.saturating_add(1);
                return false;
            }
            match mine.compare_exchange_weak(done, done + self.claim, Relaxed, Relaxed) {
                Ok(_) => break,
                Err(_) => {
                    sum = self.sum.amount.load(Relaxed);
                    done = mine.load(Relaxed);
                }
            }
        }
        self.sum.amount.fetch_add(self.claim, Relaxed);
        self.checks = 0;
        true
    }

    /// Time until the next check, in ns; none if the last check let an operation start.
    pub fn wait_ns(&self) -> Option<u64> {
        let doubled = WAIT_NS_MIN << self.checks.saturating_sub(1).min(16);
        let wait_ns = if self.wait_ns > 0 { self.wait_ns } else { doubled.min(WAIT_NS_MAX) };
        (self.checks > 0).then_some(wait_ns)
    }

    /// Releases the unused part of the claim. `issued_bytes` is none if no operation was issued.
    pub fn settle(&self, issued_bytes: Option<u64>) {
        let used = match (issued_bytes, self.of_bytes) {
            (None, _) => 0,
            (Some(bytes), true) => bytes,
            (Some(_), false) => 1,
        };
        let over = self.claim.saturating_sub(used);
        if over > 0 {
            self.party.amount.fetch_sub(over, Relaxed);
            self.sum.amount.fetch_sub(over, Relaxed);
        }
    }
}

/// Removes a share from the sums once its last worker has ended, so that other shares do not wait
/// for it.
impl Drop for FlowShare {
    fn drop(&mut self) {
        if self.party.members.fetch_sub(1, Relaxed) == 1 {
            self.sum.amount.fetch_sub(self.party.amount.load(Relaxed), Relaxed);
            self.sum.weight.fetch_sub(self.party.weight, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Nanos;

    use super::*;

    fn flow(weight: u32, bytes: bool, together: bool) -> Flow {
        Flow { id: 0, weight, wait: Nanos(0), bytes, together }
    }

    fn shares(weights: &[u32]) -> Vec<FlowShare> {
        let mut flows = Flows::default();
        let flows_of_weights = weights.iter().map(|weight| flow(*weight, false, false));
        flows_of_weights.map(|flow| JobFlow::join(&mut flows, flow).share(9)).collect()
    }

    fn amount(share: &FlowShare) -> u64 {
        share.party.amount.load(Relaxed)
    }

    fn goes(share: &mut FlowShare) -> bool {
        let goes = share.may_go();
        if goes {
            share.settle(Some(4096));
        }
        goes
    }

    #[test]
    fn operations_are_in_the_proportion_of_weights() {
        let mut shares = shares(&[3, 2, 1]);
        for _ in 0..10_000 {
            for share in &mut shares {
                goes(share);
            }
        }
        let ops: Vec<f64> = shares.iter().map(|share| amount(share) as f64).collect();
        assert!((ops[0] / ops[2] - 3.0).abs() < 0.01, "{ops:?}");
        assert!((ops[1] / ops[2] - 2.0).abs() < 0.01, "{ops:?}");
    }

    #[test]
    fn one_that_is_ahead_waits_until_another_has_ended() {
        let mut shares = shares(&[1, 1, 0]);
        assert!(goes(&mut shares[0]));
        assert!(!goes(&mut shares[0]), "the second one has done nothing yet");
        let mut waits = (0..8).map(|_| (shares[0].wait_ns(), shares[0].may_go()).0);
        assert_eq!((waits.next(), waits.last()), (Some(Some(1_000)), Some(Some(20_000))));
        drop(shares.remove(1));
        assert!(goes(&mut shares[0]));
    }

    #[test]
    fn a_claim_without_an_operation_is_given_back() {
        let mut shares = shares(&[1, 1, 0]);
        assert!(shares[0].may_go());
        shares[0].settle(None);
        assert_eq!((amount(&shares[0]), goes(&mut shares[0])), (0, true));
    }

    #[test]
    fn bytes_of_two_jobs_keep_their_proportion_to_a_block_whoever_is_fast() {
        const BLOCK: u64 = 4096;
        let mut flows = Flows::default();
        let (read, write) = (flow(70, true, true), flow(30, true, true));
        let jobs = [(read, 3), (write, 2)].map(|(flow, n)| (JobFlow::join(&mut flows, flow), n));
        let each = |(job, workers): &(JobFlow, usize)| {
            (0..*workers).map(|_| job.share(2 * BLOCK)).collect::<Vec<_>>()
        };
        let mut shares: Vec<FlowShare> = jobs.iter().flat_map(each).collect();
        std::thread::scope(|scope| {
            for (nth, share) in shares.iter_mut().enumerate() {
                scope.spawn(move || {
                    let mut left = 2000 * (nth + 1);
                    while left > 0 {
                        if share.may_go() {
                            share.settle(Some(BLOCK));
                        } else {
                            std::thread::yield_now();
                        }
                        left -= 1;
                    }
                });
            }
        });
        let (read, write) = (amount(&shares[0]) as f64, amount(&shares[3]) as f64);
        assert!(read > 0.0 && write > 0.0);
        let off = (read - (read + write) * 0.7).abs();
        assert!(off <= 3.0 * BLOCK as f64, "{read} {write}: {off}");
    }
}
