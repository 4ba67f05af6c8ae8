//! Interval samples of one job, from totals that grow.

use candor_plan::work::Operation;
use candor_record::Sample;

use crate::operations::stats::Totals;
use crate::phase::gather;

/// What was sampled of a job. Times are ns since the release of the barrier.
pub struct Sampling {
    last: Totals,
    /// Everything before is in a sample, or was before the job began.
    until_ns: u64,
    samples: Vec<Sample>,
    operations: Vec<(usize, &'static Operation)>,
}

impl Sampling {
    /// Of a job with these operations that begins at that time.
    pub fn new(operations: Vec<(usize, &'static Operation)>, begins_ns: u64) -> Sampling {
        Sampling { last: Totals::default(), until_ns: begins_ns, samples: Vec::new(), operations }
    }

    /// Counts begin anew at that time: the ramp is over.
    pub fn count_from(&mut self, begins_ns: u64) {
        (self.last, self.until_ns) = (Totals::default(), begins_ns);
    }

    /// What happened since the last sample; nothing if that was less than `short_ns` ago, in which
    /// case the next sample covers it too. `zero_ns` is when counting began in the phase.
    pub fn take(
        &mut self,
        totals: impl FnOnce() -> Totals,
        now_ns: u64,
        zero_ns: u64,
        short_ns: u64,
    ) -> Option<Sample> {
        let length_ns = now_ns.saturating_sub(self.until_ns);
        if length_ns == 0 || length_ns < short_ns {
            return None;
        }
        let totals = totals();
        let (both, at_ns) = ([&self.last, &totals], now_ns.saturating_sub(zero_ns));
        let sample = gather::sample(&self.operations, both, at_ns, length_ns);
        (self.last, self.until_ns) = (totals, now_ns);
        Some(sample)
    }

    /// Keeps a sample.
    pub fn keep(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// All that were kept.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::work::BlocksOp;

    use super::*;

    fn totals(reads: u64) -> Totals {
        let mut totals = Totals::default();
        totals.0[0].ops = reads;
        totals
    }

    fn sampling(begins_ns: u64) -> Sampling {
        Sampling::new(vec![(0, BlocksOp::Read.operation())], begins_ns)
    }

    #[test]
    fn a_late_job_is_sampled_from_its_own_beginning() {
        let mut sampling = sampling(700);
        assert_eq!(sampling.take(|| totals(0), 500, 0, 50), None, "it has not begun");
        let first = sampling.take(|| totals(30), 1000, 0, 50).unwrap();
        assert_eq!((first.at_ns, first.length_ns, first.ops_done()), (1000, 300, 30));
        let second = sampling.take(|| totals(130), 1500, 0, 50).unwrap();
        assert_eq!((second.at_ns, second.length_ns, second.ops_done()), (1500, 500, 100));
    }

    #[test]
    fn a_short_rest_goes_into_the_next_sample() {
        let mut sampling = sampling(0);
        assert_eq!(sampling.take(|| totals(4), 40, 0, 50), None);
        assert_eq!(sampling.take(|| totals(10), 100, 0, 50).unwrap().ops_done(), 10);
    }

    #[test]
    fn the_ramp_is_left_out() {
        let mut sampling = sampling(0);
        sampling.take(|| totals(80), 400, 0, 50).unwrap();
        sampling.count_from(400);
        let sample = sampling.take(|| totals(7), 500, 400, 50).unwrap();
        assert_eq!((sample.at_ns, sample.length_ns, sample.ops_done()), (100, 100, 7));
    }
}
