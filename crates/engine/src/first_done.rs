//! Counters of all workers of a job at the moment when the first of them ended.

use std::sync::{Mutex, PoisonError};

use crate::clock::{Clock, Ticks};
use crate::counters::{Live, Totals};

/// Counts of all workers when the first one that had work ended.
#[derive(Clone)]
pub struct FirstCounts {
    /// Tick at which they were read.
    pub at: Ticks,
    /// Totals of all workers.
    pub totals: Totals,
    /// Operations of each worker.
    pub worker_ops: Vec<u64>,
}

/// The counts, once a worker has ended.
#[derive(Default)]
pub struct FirstDone(Mutex<Option<FirstCounts>>);

impl FirstDone {
    /// Reads the totals, unless an earlier worker did. A worker that completed something calls this
    /// when it leaves its loop. The clock is read after the counters, so that a rate of these
    /// counts is never too high.
    pub fn mark(&self, workers: &[Live], clock: &Clock) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            // Read one by one first: their sum is at most the total.
            let of_worker = |live: &Live| Totals::of(std::iter::once(live), true).work().ops;
            let worker_ops = workers.iter().map(of_worker).collect();
            let totals = Totals::of(workers.iter(), true);
            *first = Some(FirstCounts { at: clock.now(), totals, worker_ops });
        }
    }

    /// True once a worker has ended.
    pub fn is_marked(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The counts, once a worker has ended.
    pub fn get(&self) -> Option<FirstCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;
    use std::thread;

    use candor_plan::work::BlocksOp;

    use super::*;
    use crate::counters::Recorded;
    use crate::operation::Op;

    #[test]
    fn counts_of_the_first_end_lie_between_its_own_and_those_of_all() {
        let recorded = Recorded::of(BlocksOp::TABLE, |_| true);
        let (clock, read) = (Clock::calibrated(), Op::default());
        for round in 0..50 {
            let live: Vec<Live> = (0..4).map(|_| Live::new(&recorded)).collect();
            let (first, is_over) = (FirstDone::default(), AtomicBool::new(false));
            let mut others_before = 0;
            thread::scope(|scope| {
                for worker in &live[1..] {
                    scope.spawn(|| {
                        while !is_over.load(Relaxed) {
                            worker.bank(true).of(read).completed(1, 4096, 100);
                        }
                    });
                }
                (0..=round).for_each(|_| live[0].bank(true).of(read).completed(1, 4096, 100));
                others_before = Totals::of(live[1..].iter(), true).work().ops;
                first.mark(&live, &clock);
                is_over.store(true, Relaxed);
            });
            let FirstCounts { at, totals: then, worker_ops } = first.get().expect("marked");
            first.mark(&live, &clock);
            let last = Totals::of(live.iter(), true).work();
            let then = then.work();
            assert!(worker_ops[0] == round + 1 && worker_ops.iter().sum::<u64>() <= then.ops);
            assert!(then.ops > round + others_before.saturating_sub(1) && then.ops <= last.ops);
            assert!(then.bytes <= last.bytes && at <= clock.now());
            assert_eq!(first.get().expect("marked").at, at, "a later end changes nothing");
        }
    }
}
