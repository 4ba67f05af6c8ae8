//! Rates of an interval or of a result, each in the unit of its figures.

use candor_plan::work::Figure;

use crate::fmt::ratio;
use crate::{DeviceSample, Measurement, OpSample, Sample, WorkerSample};

/// Rates of all jobs together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Reads, writes and trims per second; absent where none belong to the work.
    pub io_per_s: Option<f64>,
    /// Operations on names per second; absent where none belong to the work.
    pub names_per_s: Option<f64>,
    /// Bytes per second, trims apart.
    pub bytes_per_s: f64,
}

impl Rates {
    /// Of some samples that were taken at the same time.
    pub fn of_samples<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Rates {
        let mut rates = Rates::default();
        for sample in samples.into_iter().filter(|sample| sample.length_ns > 0) {
            for op in &sample.operations {
                let per_second = |count| per_second(count, sample.length_ns);
                rates.add(op.figure, per_second(op.ops), per_second(op.bytes));
            }
        }
        rates
    }

    /// Of the jobs of a phase, each over its own time.
    pub fn of_results<'a>(measurements: impl IntoIterator<Item = &'a Measurement>) -> Rates {
        let mut rates = Rates::default();
        for op in measurements.into_iter().flat_map(|measured| &measured.operations) {
            rates.add(op.figure, op.ops_per_s, op.bytes_per_s);
        }
        rates
    }

    /// Operations per second, of whatever kind the work is: the larger part where it is of both.
    pub fn ops_per_s(&self) -> Option<f64> {
        let (io, names) = (self.io_per_s, self.names_per_s);
        if io.unwrap_or(0.0) < names.unwrap_or(0.0) { names } else { io.or(names) }
    }

    /// True where operations on names are the larger part of the work.
    pub fn is_of_names(&self) -> bool {
        self.names_per_s.is_some()
            && self.io_per_s.unwrap_or(0.0) <= self.names_per_s.unwrap_or(0.0)
    }

    fn add(&mut self, figure: Figure, ops_per_s: f64, bytes_per_s: f64) {
        match figure {
            Figure::Read | Figure::Write | Figure::Trim => {
                *self.io_per_s.get_or_insert_default() += ops_per_s;
            }
            Figure::Names => *self.names_per_s.get_or_insert_default() += ops_per_s,
            // Rounds of a program or of memory have no size of their own.
            Figure::Compute | Figure::Memory => {}
            Figure::Flush | Figure::ReadBack | Figure::Opening => return,
            Figure::Item | Figure::Commit => return,
        }
        self.bytes_per_s += if figure == Figure::Trim { 0.0 } else { bytes_per_s };
    }
}

/// A count within a time, per second.
fn per_second(count: u64, length_ns: u64) -> f64 {
    ratio(count as f64 * 1e9, length_ns as f64)
}

impl OpSample {
    /// Operations per second in an interval of that length.
    pub fn ops_per_s(&self, length_ns: u64) -> f64 {
        per_second(self.ops, length_ns)
    }

    /// Bytes per second in an interval of that length.
    pub fn bytes_per_s(&self, length_ns: u64) -> f64 {
        per_second(self.bytes, length_ns)
    }

    /// Mean latency, in ns; none where no operation completed.
    pub fn latency_mean_ns(&self) -> Option<u64> {
        self.latency_sum_ns.checked_div(self.ops)
    }
}

impl WorkerSample {
    /// Operations per second in an interval of that length.
    pub fn ops_per_s(&self, length_ns: u64) -> f64 {
        per_second(self.ops, length_ns)
    }

    /// Bytes per second in an interval of that length.
    pub fn bytes_per_s(&self, length_ns: u64) -> f64 {
        per_second(self.bytes, length_ns)
    }
}

/// Rates of a device within an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceRates {
    /// Reads per second.
    pub reads_per_s: f64,
    /// Writes per second.
    pub writes_per_s: f64,
    /// Bytes read per second.
    pub bytes_read_per_s: f64,
    /// Bytes written per second.
    pub bytes_written_per_s: f64,
    /// Bytes read and written per second.
    pub bytes_per_s: f64,
}

impl DeviceSample {
    /// Rates in an interval of that length.
    pub fn rates(&self, length_ns: u64) -> DeviceRates {
        let per_second = |count| per_second(count, length_ns);
        DeviceRates {
            reads_per_s: per_second(self.reads),
            writes_per_s: per_second(self.writes),
            bytes_read_per_s: per_second(self.bytes_read),
            bytes_written_per_s: per_second(self.bytes_written),
            bytes_per_s: per_second(self.bytes_read.saturating_add(self.bytes_written)),
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::work::BlocksOp;

    use super::*;

    #[test]
    fn each_figure_has_its_unit() {
        let rates = |rates: &[(Figure, f64, f64)]| {
            let mut sum = Rates::default();
            rates.iter().for_each(|(figure, ops, bytes)| sum.add(*figure, *ops, *bytes));
            (sum.io_per_s, sum.names_per_s, sum.bytes_per_s)
        };
        let memory = (Figure::Memory, 40.0, 27e9);
        assert_eq!(rates(&[memory]), (None, None, 27e9));
        let names = (Figure::Names, 900.0, 0.0);
        let all = [(Figure::Read, 0.0, 0.0), names, memory];
        assert_eq!(rates(&all), (Some(0.0), Some(900.0), 27e9));
        let trims = [(Figure::Trim, 70.0, 3e9), (Figure::Flush, 9.0, 0.0)];
        assert_eq!(rates(&trims), (Some(70.0), None, 0.0));
        assert_eq!(rates(&[(Figure::Compute, 9.0, 0.0)]), (None, None, 0.0));
    }

    #[test]
    fn the_larger_part_stands_for_all() {
        let rates = |io_per_s, names_per_s| Rates { io_per_s, names_per_s, bytes_per_s: 0.0 };
        let both = rates(Some(3.0), Some(9.0));
        assert_eq!((both.ops_per_s(), both.is_of_names()), (Some(9.0), true));
        let blocks = rates(Some(3.0), None);
        assert_eq!((blocks.ops_per_s(), blocks.is_of_names()), (Some(3.0), false));
        assert_eq!(rates(None, None).ops_per_s(), None);
    }

    #[test]
    fn counts_become_rates_of_their_interval() {
        let op = OpSample {
            ops: 50,
            bytes: 4096,
            latency_sum_ns: 5000,
            ..OpSample::of(BlocksOp::Read.operation())
        };
        assert_eq!((op.ops_per_s(500_000_000), op.latency_mean_ns()), (100.0, Some(100)));
        assert_eq!(op.bytes_per_s(0), 0.0, "an interval without length has no rate");
        assert_eq!(OpSample::default().latency_mean_ns(), None);
        let half = |operations| Sample { length_ns: 500_000_000, operations, ..Sample::default() };
        let rates = Rates::of_samples(&[half(vec![op.clone()]), half(vec![op]), Sample::default()]);
        assert_eq!((rates.io_per_s, rates.bytes_per_s), (Some(200.0), 16384.0));
        let device =
            DeviceSample { reads: 4, bytes_read: 8, bytes_written: 2, ..DeviceSample::default() };
        let rates = device.rates(2_000_000_000);
        assert_eq!((rates.reads_per_s, rates.bytes_read_per_s, rates.bytes_per_s), (2.0, 4.0, 5.0));
    }
}
