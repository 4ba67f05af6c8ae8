//! Values of intervals whose size stays bounded, however long a phase takes.
//!
//! Where they take too much room, each two neighbours become one interval of both. Counts stay
//! exact.

use crate::{PhaseRecord, Sample, Snapshot};

/// A value of an interval.
pub trait Interval {
    /// Adds the next interval.
    fn join(&mut self, next: Self);

    /// Approximate size in a report, in bytes.
    fn bytes(&self) -> u64;
}

/// Values of consecutive intervals.
#[derive(Clone, Debug)]
pub struct Thinned<T> {
    /// Number of intervals that are joined to one.
    stride: u64,
    /// Number of each joined interval, with its value.
    kept: Vec<(u64, T)>,
    bytes: u64,
}

impl<T> Default for Thinned<T> {
    fn default() -> Thinned<T> {
        Thinned { stride: 1, kept: Vec::new(), bytes: 0 }
    }
}

impl<T: Interval> Thinned<T> {
    /// Adds the value of an interval by its number. Numbers ascend, and need no beginning at 0.
    pub fn put(&mut self, nth: u64, value: T) {
        let nth = nth / self.stride;
        match self.kept.last_mut().filter(|(last, _)| *last == nth) {
            Some((_, last)) => {
                self.bytes -= last.bytes();
                last.join(value);
                self.bytes += last.bytes();
            }
            None => {
                self.bytes += value.bytes();
                self.kept.push((nth, value));
            }
        }
    }

    /// Joins each two neighbours, those that follow too.
    pub fn halve(&mut self) {
        let kept = std::mem::take(self);
        self.stride = kept.stride * 2;
        for (nth, value) in kept.kept {
            self.put(nth * kept.stride, value);
        }
    }

    /// Approximate size of all values in a report, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of intervals that are joined to one.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Value of the last interval.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.kept.last_mut().map(|(_, value)| value)
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().map(|(_, value)| value)
    }
}

impl Interval for Sample {
    fn join(&mut self, next: Sample) {
        Sample::join(self, next);
    }

    fn bytes(&self) -> u64 {
        let of_ops = self.operations.iter().map(|op| 560 + 15 * op.latency_counts.buckets() as u64);
        130 + of_ops.sum::<u64>()
    }
}

/// Counters at the end of an interval, which contain all earlier counters.
impl Interval for Snapshot {
    fn join(&mut self, next: Snapshot) {
        *self = next;
    }

    fn bytes(&self) -> u64 {
        let interrupts = self.interrupts.iter().map(|(_, counts)| 20 + 12 * counts.len());
        let lists =
            850 * self.devices.len() + 430 * self.cpus.len() + 14 * self.softirq_block.len();
        (1500 + lists + interrupts.sum::<usize>()) as u64
    }
}

impl PhaseRecord {
    /// Joins intervals of all jobs and hosts until they take at most that many bytes of a report;
    /// true if some were joined.
    pub fn thin(&mut self, most: u64) -> bool {
        let lengths = self.measurements.iter().flat_map(|of| &of.samples);
        let mut span_ns = lengths.map(|sample| sample.length_ns).max().unwrap_or(1).max(1);
        let mut thinned = false;
        while self.bytes_of_intervals() > most && span_ns < u64::MAX / 2 {
            span_ns *= 2;
            thinned = true;
            let of_hosts = self.hosts.iter_mut().flat_map(|host| &mut host.measurements);
            for measured in self.measurements.iter_mut().chain(of_hosts) {
                join_within(&mut measured.samples, |sample| {
                    sample.at_ns.saturating_sub(sample.length_ns / 2) / span_ns
                });
            }
            for host in &mut self.hosts {
                let begin_ns = host.before.at_ns;
                // The end of a span belongs to it.
                join_within(&mut host.during, |snapshot| {
                    snapshot.at_ns.saturating_sub(begin_ns + 1) / span_ns
                });
            }
        }
        thinned
    }

    /// Approximate size of all intervals in a report, in bytes.
    pub fn bytes_of_intervals(&self) -> u64 {
        let of_hosts = self.hosts.iter().flat_map(|host| &host.measurements);
        let samples = self.measurements.iter().chain(of_hosts).flat_map(|of| &of.samples);
        let snapshots = self.hosts.iter().flat_map(|host| &host.during);
        samples.map(Interval::bytes).sum::<u64>() + snapshots.map(Interval::bytes).sum::<u64>()
    }
}

/// Joins neighbours that lie in the same span.
fn join_within<T: Interval>(list: &mut Vec<T>, span: impl Fn(&T) -> u64) {
    let mut last = None;
    for value in std::mem::take(list) {
        let nth = span(&value);
        match list.last_mut().filter(|_| last == Some(nth)) {
            Some(known) => known.join(value),
            None => list.push(value),
        }
        last = Some(nth);
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::work::BlocksOp;
    use proptest::prelude::*;

    use super::*;
    use crate::{HostRecord, Measurement, OpSample};

    const SECOND: u64 = 1_000_000_000;

    fn sample(nth: u64, ops: u64) -> Sample {
        let read = OpSample {
            ops,
            bytes: ops * 4096,
            latency_sum_ns: ops * 77,
            latency_ns_max: Some(ops),
            ..OpSample::of(BlocksOp::Read.operation())
        };
        Sample { at_ns: (nth + 1) * SECOND, length_ns: SECOND, operations: vec![read] }
    }

    fn sums(samples: &[Sample]) -> (u64, u64, u64, u64) {
        let mut all = (0, 0, 0, 0);
        for sample in samples {
            let op = &sample.operations[0];
            all.0 += op.ops;
            all.1 += op.bytes;
            all.2 += op.latency_sum_ns;
            all.3 += sample.length_ns;
        }
        all
    }

    #[test]
    fn the_size_is_bounded_and_the_sums_are_exact() {
        let (mut thinned, mut all) = (Thinned::default(), Vec::new());
        for nth in 0..100_000 {
            thinned.put(nth, sample(nth, nth % 7));
            all.push(sample(nth, nth % 7));
            if thinned.bytes() > 100_000 {
                thinned.halve();
            }
        }
        let kept: Vec<Sample> = thinned.iter().cloned().collect();
        assert_eq!(sums(&kept), sums(&all));
        assert_eq!(thinned.bytes(), kept.iter().map(Interval::bytes).sum::<u64>());
        assert!((70..150).contains(&kept.len()) && thinned.stride() == 1024, "{}", kept.len());
        let aligned = |sample: &Sample| sample.at_ns.is_multiple_of(1024 * SECOND);
        assert!(kept[..kept.len() - 1].iter().all(aligned), "jobs have the same intervals");
        assert_eq!(kept.last().map(|last| last.at_ns), Some(100_000 * SECOND));
    }

    #[test]
    fn jobs_that_begin_late_have_intervals_with_the_same_ends() {
        let mut late = Thinned::default();
        (3..9).for_each(|nth| late.put(nth, sample(nth, 1)));
        late.halve();
        let ends: Vec<_> = late.iter().map(|sample| sample.at_ns / SECOND).collect();
        assert_eq!(ends, [4, 6, 8, 9]);
    }

    proptest! {
        #[test]
        fn a_phase_is_thinned_to_any_size(
            ops in proptest::collection::vec(0u64..1000, 1..300),
            most in 3_000u64..400_000,
        ) {
            let samples: Vec<Sample> =
                ops.iter().enumerate().map(|(nth, ops)| sample(nth as u64, *ops)).collect();
            let moment = |nth: usize| {
                Snapshot { at_ns: 5 + nth as u64 * SECOND, ..Snapshot::default() }
            };
            let during: Vec<Snapshot> = (1..=ops.len()).map(moment).collect();
            let before = moment(0);
            let host = HostRecord { before, during: during.clone(), ..HostRecord::default() };
            let measured = Measurement { samples: samples.clone(), ..Measurement::default() };
            let mut record = PhaseRecord {
                measurements: vec![measured],
                hosts: vec![host],
                ..PhaseRecord::default()
            };
            let fits = record.bytes_of_intervals() <= most;
            prop_assert_eq!(record.thin(most), !fits);
            prop_assert!(record.bytes_of_intervals() <= most);
            prop_assert_eq!(sums(&record.measurements[0].samples), sums(&samples));
            // Counters at the end of the last interval contain all others.
            prop_assert_eq!(record.hosts[0].during.last(), during.last());
        }
    }
}
