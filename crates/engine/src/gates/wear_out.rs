//! Gate that carries every worker to the furthest one's count once time is up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use candor_plan::rank::Ranks;
use candor_plan::{Stonewall, Stop};
use candor_record::{Ended, WearOut};

use crate::operation::{Outcome, Slot};
use crate::source::{LOOK_AGAIN_NS, Next, Source, Turn, Wait};
use crate::worker_end::WorkerEnd;

/// Counts of a job's workers when time was up.
#[derive(Debug)]
pub struct Furthest {
    /// Most operations of a worker.
    ops: AtomicU64,
    /// Fewest operations of a worker.
    ops_least: AtomicU64,
    /// Operations of all workers.
    ops_sum: AtomicU64,
    /// Time since the start of the job at which the last count was made, in ns.
    at_ns: AtomicU64,
    /// Workers whose count is known.
    known: AtomicU32,
    workers: u32,
    /// Operations that belong together: counts are whole multiples of them.
    unit: u64,
    /// Count of the furthest worker of all hosts; [`NOT_AGREED`] until these have agreed on it.
    agreed: AtomicU64,
    /// Other hosts have workers of the job.
    has_others: bool,
}

/// Value of a count on which hosts have not agreed yet.
const NOT_AGREED: u64 = u64::MAX;

impl Furthest {
    /// Counts of the workers that this host has of a job; none where the plan stops them at once.
    /// Of `unit` operations that belong together, all are done once one was begun.
    pub fn of(stop: &Stop, ranks: Ranks, unit: u64) -> Option<Arc<Furthest>> {
        let hosts = ranks.host.hosts.max(1);
        let workers = (ranks.ranks / u64::from(hosts)) as u32;
        let carries = stop.stonewall == Stonewall::WearOut;
        let zero = || AtomicU64::new(0);
        carries.then(|| {
            Arc::new(Furthest {
                ops: zero(),
                ops_least: AtomicU64::new(u64::MAX),
                ops_sum: zero(),
                at_ns: zero(),
                known: AtomicU32::new(0),
                workers,
                unit: unit.max(1),
                agreed: AtomicU64::new(NOT_AGREED),
                has_others: hosts > 1,
            })
        })
    }

    /// The counts, once all workers' are known.
    pub fn counts(&self) -> Option<WearOut> {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let ops = self.ops_here()?;
        Some(WearOut {
            ops,
            ops_least: load(&self.ops_least),
            ops_sum: load(&self.ops_sum),
            at_ns: load(&self.at_ns),
        })
    }

    fn tell(&self, ops: u64, at_ns: u64) {
        self.ops.fetch_max(ops.next_multiple_of(self.unit), Ordering::Relaxed);
        self.ops_least.fetch_min(ops, Ordering::Relaxed);
        self.ops_sum.fetch_add(ops, Ordering::Relaxed);
        self.at_ns.fetch_max(at_ns, Ordering::Relaxed);
        // The count is seen by whoever sees that it is known.
        self.known.fetch_add(1, Ordering::Release);
    }

    /// Count of the furthest worker of this host, once all are known.
    pub fn ops_here(&self) -> Option<u64> {
        let all = self.known.load(Ordering::Acquire) >= self.workers;
        all.then(|| self.ops.load(Ordering::Relaxed))
    }

    /// Count to which all workers go on: that of the furthest worker of all hosts.
    pub fn ops(&self) -> Option<u64> {
        if self.has_others { self.agreed() } else { self.ops_here() }
    }

    /// Count on which the hosts have agreed.
    pub fn agreed(&self) -> Option<u64> {
        Some(self.agreed.load(Ordering::Acquire)).filter(|ops| *ops != NOT_AGREED)
    }

    /// Sets the count on which the hosts have agreed.
    pub fn agree(&self, ops: u64) {
        self.agreed.store(ops, Ordering::Release);
    }
}

/// A source that goes on after its time until it has done as much as any other worker.
pub struct WornOut<S> {
    inner: S,
    furthest: Arc<Furthest>,
    /// Operations drawn since they count.
    drawn: u64,
    /// Time of the last look at the schedule, since the start of the job, in ns.
    at_ns: u64,
    has_told: bool,
    is_late: bool,
}

impl<S> WornOut<S> {
    /// Wraps a source of a worker.
    pub fn new(inner: S, furthest: Arc<Furthest>) -> WornOut<S> {
        WornOut { inner, furthest, drawn: 0, at_ns: 0, has_told: false, is_late: false }
    }

    fn tell_count(&mut self) {
        if !std::mem::replace(&mut self.has_told, true) {
            self.furthest.tell(self.drawn, self.at_ns);
        }
    }
}

impl<S: Source> Source for WornOut<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if !self.has_told {
            self.at_ns = turn.elapsed_ns();
        }
        if self.is_late {
            match self.furthest.ops() {
                Some(ops) if self.drawn >= ops => {
                    self.is_late = false;
                    // What follows the time, such as reading back, follows the last operation now.
                    if !self.inner.time_is_up() {
                        return Next::End(Ended::Time);
                    }
                }
                Some(_) => {}
                None if turn.in_flight > 0 => return Next::Wait(Wait::InFlight),
                None => return Next::Wait(Wait::Others(LOOK_AGAIN_NS)),
            }
        }
        let next = self.inner.next(slot, turn);
        match next {
            Next::Ready => self.drawn += 1,
            Next::End(_) => self.tell_count(),
            Next::Wait(_) => {}
        }
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        self.inner.completed(slot, outcome, turn);
    }

    fn begin(&mut self) {
        self.drawn = 0;
        self.inner.begin();
    }

    fn give_up(&mut self, slot: &Slot) {
        self.drawn = self.drawn.saturating_sub(1);
        self.inner.give_up(slot);
    }

    /// Whoever ends early for another reason holds nobody up.
    fn drain(&mut self) {
        self.tell_count();
        self.inner.drain();
    }

    fn time_is_up(&mut self) -> bool {
        self.is_late = true;
        self.tell_count();
        true
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        self.inner.tell(end, turn);
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::rank::HostIndex;

    use super::*;
    use crate::operation::{Buffer, Op};
    use crate::source::Repeated;
    use crate::source::tests::turn;

    fn workers() -> [WornOut<Repeated>; 2] {
        let stop = Stop { stonewall: Stonewall::WearOut, ..Stop::default() };
        let furthest = Furthest::of(&stop, HostIndex::ALONE.ranks(2), 1).expect("asked for");
        [5, 100].map(|ops| {
            let mut source = WornOut::new(Repeated::new(Op(0), 0, ops), furthest.clone());
            source.begin();
            source
        })
    }

    #[test]
    fn all_do_as_much_as_the_furthest_one() {
        let [_, mut slow] = workers();
        let furthest = slow.furthest.clone();
        let mut fast = WornOut::new(Repeated::new(Op(0), 0, 1000), furthest);
        fast.begin();
        let (mut slot, mut turn) = (Slot::empty(Buffer::None), turn());
        let mut next = |source: &mut WornOut<Repeated>| source.next(&mut slot, &mut turn);
        (0..7).for_each(|_| assert_eq!(next(&mut fast), Next::Ready));
        (0..3).for_each(|_| assert_eq!(next(&mut slow), Next::Ready));
        assert!(slow.time_is_up());
        assert_eq!(next(&mut slow), Next::Wait(Wait::Others(LOOK_AGAIN_NS)), "one is not known");
        assert!(fast.time_is_up());
        assert_eq!(next(&mut fast), Next::End(Ended::Time));
        (3..7).for_each(|_| assert_eq!(next(&mut slow), Next::Ready));
        assert_eq!(next(&mut slow), Next::End(Ended::Time));
        let counts = slow.furthest.counts().expect("both have told");
        assert_eq!((counts.ops, counts.ops_least, counts.ops_sum), (7, 3, 10));
    }

    #[test]
    fn operations_that_belong_together_are_all_done() {
        let stop = Stop { stonewall: Stonewall::WearOut, ..Stop::default() };
        let furthest = Furthest::of(&stop, HostIndex::ALONE.ranks(1), 3).expect("asked for");
        let mut source = WornOut::new(Repeated::new(Op(0), 0, 100), furthest.clone());
        source.begin();
        let (mut slot, mut turn) = (Slot::empty(Buffer::None), turn());
        let mut next = |source: &mut WornOut<Repeated>| source.next(&mut slot, &mut turn);
        (0..4).for_each(|_| assert_eq!(next(&mut source), Next::Ready));
        assert!(source.time_is_up());
        (4..6).for_each(|_| assert_eq!(next(&mut source), Next::Ready));
        assert_eq!(next(&mut source), Next::End(Ended::Time));
        assert_eq!(furthest.ops(), Some(6));
    }

    #[test]
    fn workers_go_on_to_the_count_on_which_the_hosts_have_agreed() {
        let stop = Stop { stonewall: Stonewall::WearOut, ..Stop::default() };
        let second = HostIndex { host: 1, hosts: 2 };
        let furthest = Furthest::of(&stop, second.ranks(1), 1).expect("asked for");
        let mut source = WornOut::new(Repeated::new(Op(0), 0, 100), furthest.clone());
        source.begin();
        let (mut slot, mut turn) = (Slot::empty(Buffer::None), turn());
        let mut next = |source: &mut WornOut<Repeated>| source.next(&mut slot, &mut turn);
        (0..4).for_each(|_| assert_eq!(next(&mut source), Next::Ready));
        assert!(source.time_is_up());
        assert_eq!(furthest.ops_here(), Some(4));
        assert_eq!(next(&mut source), Next::Wait(Wait::Others(LOOK_AGAIN_NS)), "not agreed yet");
        furthest.agree(6);
        (4..6).for_each(|_| assert_eq!(next(&mut source), Next::Ready));
        assert_eq!(next(&mut source), Next::End(Ended::Time));
        assert_eq!(furthest.counts().expect("all are known").ops, 4, "of this host");
    }

    #[test]
    fn a_worker_that_has_no_more_holds_nobody_up() {
        let [mut few, mut many] = workers();
        let (mut slot, mut turn) = (Slot::empty(Buffer::None), turn());
        let mut next = |source: &mut WornOut<Repeated>| source.next(&mut slot, &mut turn);
        (0..5).for_each(|_| assert_eq!(next(&mut few), Next::Ready));
        assert_eq!(next(&mut few), Next::End(Ended::Done));
        few.drain();
        assert!(many.time_is_up());
        (0..5).for_each(|_| assert_eq!(next(&mut many), Next::Ready));
        assert_eq!(next(&mut many), Next::End(Ended::Time));
    }
}
