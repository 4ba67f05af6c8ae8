//! Rates of an interval or of a result, each in its unit.

use candor_plan::work::{Figure, is_request};

use candor_record::fmt::{REQUESTS_PER_S, ratio};
use candor_record::{DeviceSample, Measurement, Sample};

/// Rates of all jobs together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Reads, writes and trims per second; absent if the work has none.
    pub io_per_s: Option<f64>,
    /// Operations on names per second; absent if the work has none.
    pub names_per_s: Option<f64>,
    /// Requests on objects per second; absent if the work has none.
    pub requests_per_s: Option<f64>,
    /// Bytes per second, without trims.
    pub bytes_per_s: f64,
}

impl Rates {
    /// Rates of samples of the same interval.
    pub fn of_samples<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Rates {
        let mut rates = Rates::default();
        for sample in samples.into_iter().filter(|sample| sample.length_ns > 0) {
            let is_http = sample.operations.iter().any(|op| is_request(&op.name));
            for op in &sample.operations {
                let [ops_per_s, bytes_per_s] =
                    [op.ops, op.bytes].map(|count| per_second(count, sample.length_ns));
                rates.add(Done { figure: op.figure, is_http, ops_per_s, bytes_per_s });
            }
        }
        rates
    }

    /// Rates of the jobs of a phase, each over its own time.
    pub fn of_results<'a>(measurements: impl IntoIterator<Item = &'a Measurement>) -> Rates {
        let mut rates = Rates::default();
        for measured in measurements {
            let is_http = measured.http.is_some();
            for op in &measured.operations {
                let (ops_per_s, bytes_per_s) = (op.ops_per_s, op.bytes_per_s);
                rates.add(Done { figure: op.figure, is_http, ops_per_s, bytes_per_s });
            }
        }
        rates
    }

    /// Operations per second; for work of several kinds, the largest rate.
    pub fn ops_per_s(&self) -> Option<f64> {
        self.largest().map(|(rate, _)| rate)
    }

    /// Unit of [`Rates::ops_per_s`].
    pub fn unit(&self) -> &'static str {
        self.largest().map_or("IOPS", |(_, unit)| unit)
    }

    fn largest(&self) -> Option<(f64, &'static str)> {
        let all = [
            (self.io_per_s, "IOPS"),
            (self.names_per_s, "ops/s"),
            (self.requests_per_s, REQUESTS_PER_S),
        ];
        let known = all.into_iter().filter_map(|(rate, unit)| Some((rate?, unit)));
        known.max_by(|(one, _), (other, _)| one.total_cmp(other))
    }

    fn add(&mut self, Done { figure, is_http, ops_per_s, bytes_per_s }: Done) {
        match figure {
            figure if is_http && figure.is_work() => {
                *self.requests_per_s.get_or_insert_default() += ops_per_s;
            }
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

/// Rates of one operation.
struct Done {
    figure: Figure,
    /// The operation is a request on objects.
    is_http: bool,
    ops_per_s: f64,
    bytes_per_s: f64,
}

/// A count within `length_ns`, per second; 0 if the time is 0.
pub fn per_second(count: u64, length_ns: u64) -> f64 {
    ratio(count as f64 * 1e9, length_ns as f64)
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

impl DeviceRates {
    /// Rates of a sample of `length_ns`.
    pub fn of(sample: &DeviceSample, length_ns: u64) -> DeviceRates {
        let [reads_per_s, writes_per_s, bytes_read_per_s, bytes_written_per_s, bytes_per_s] = [
            sample.reads,
            sample.writes,
            sample.bytes_read,
            sample.bytes_written,
            sample.bytes_read.saturating_add(sample.bytes_written),
        ]
        .map(|count| per_second(count, length_ns));
        DeviceRates {
            reads_per_s,
            writes_per_s,
            bytes_read_per_s,
            bytes_written_per_s,
            bytes_per_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::work::BlocksOp;
    use candor_record::OpSample;

    use super::*;

    fn sum(rates: &[(Figure, f64, f64)]) -> (Option<f64>, Option<f64>, f64) {
        let mut sum = Rates::default();
        for (figure, ops_per_s, bytes_per_s) in rates.iter().copied() {
            sum.add(Done { figure, is_http: false, ops_per_s, bytes_per_s });
        }
        (sum.io_per_s, sum.names_per_s, sum.bytes_per_s)
    }

    #[test]
    fn each_figure_has_its_unit() {
        let memory = (Figure::Memory, 40.0, 27e9);
        assert_eq!(sum(&[memory]), (None, None, 27e9));
        let names = (Figure::Names, 900.0, 0.0);
        let all = [(Figure::Read, 0.0, 0.0), names, memory];
        assert_eq!(sum(&all), (Some(0.0), Some(900.0), 27e9));
        let trims = [(Figure::Trim, 70.0, 3e9), (Figure::Flush, 9.0, 0.0)];
        assert_eq!(sum(&trims), (Some(70.0), None, 0.0));
        assert_eq!(sum(&[(Figure::Compute, 9.0, 0.0)]), (None, None, 0.0));
    }

    #[test]
    fn the_larger_part_stands_for_all() {
        let (io_per_s, names_per_s) = (Some(3.0), Some(9.0));
        let both = Rates { io_per_s, names_per_s, ..Rates::default() };
        assert_eq!((both.ops_per_s(), both.unit()), (Some(9.0), "ops/s"));
        let blocks = Rates { names_per_s: None, ..both };
        assert_eq!((blocks.ops_per_s(), blocks.unit()), (Some(3.0), "IOPS"));
        assert_eq!(Rates::default().ops_per_s(), None);
    }

    fn op(name: &str, figure: Figure, ops: u64) -> OpSample {
        OpSample { name: name.into(), figure, ops, bytes: 1000 * ops, ..OpSample::default() }
    }

    #[test]
    fn requests_on_objects_have_a_unit_of_their_own() {
        let all = vec![
            op("get", Figure::Read, 30),
            op("head", Figure::Names, 10),
            op("object", Figure::Item, 7),
        ];
        let sample = Sample { length_ns: 1_000_000_000, operations: all, ..Sample::default() };
        let rates = Rates::of_samples([&sample]);
        assert_eq!((rates.requests_per_s, rates.unit()), (Some(40.0), "req/s"));
        assert_eq!((rates.io_per_s, rates.names_per_s), (None, None));
        assert_eq!(rates.bytes_per_s, 40_000.0);
    }

    #[test]
    fn counts_become_rates_of_their_interval() {
        assert_eq!((per_second(50, 500_000_000), per_second(4096, 0)), (100.0, 0.0));
        let op = OpSample { ops: 50, bytes: 4096, ..OpSample::of(BlocksOp::Read.operation()) };
        let half = Sample { length_ns: 500_000_000, operations: vec![op], ..Sample::default() };
        let rates = Rates::of_samples(&[half.clone(), half, Sample::default()]);
        assert_eq!((rates.io_per_s, rates.bytes_per_s), (Some(200.0), 16384.0));
        let device =
            DeviceSample { reads: 4, bytes_read: 8, bytes_written: 2, ..DeviceSample::default() };
        let rates = DeviceRates::of(&device, 2_000_000_000);
        assert_eq!((rates.reads_per_s, rates.bytes_read_per_s, rates.bytes_per_s), (2.0, 4.0, 5.0));
    }
}
