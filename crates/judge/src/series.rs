//! The rate from second to second.

use candor_plan::units::Direction;
use candor_record::fmt::ratio;
use candor_record::{Measurement, Sample};

use crate::thresholds::FULL_SECOND;

/// A full interval of a run, usually a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// End, in seconds since the start.
    pub at_s: f64,
    /// Operations per second.
    pub ops_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Bytes since the start, this second included.
    pub bytes_so_far: f64,
}

/// Every full interval; the last one is usually cut where the phase ends.
pub fn seconds(measured: &Measurement, does: impl Fn(Direction) -> bool) -> Vec<Second> {
    let longest = measured.samples.iter().map(|s| s.length_ns).max().unwrap_or(0);
    let mut bytes_so_far = 0.0;
    let mut found = Vec::new();
    for sample in &measured.samples {
        let (ops, bytes) = sums(sample, &does);
        bytes_so_far += bytes;
        let length_s = sample.length_ns as f64 / 1e9;
        if sample.length_ns > 0 && sample.length_ns as f64 >= longest as f64 * FULL_SECOND.value {
            found.push(Second {
                at_s: sample.at_ns as f64 / 1e9,
                ops_per_s: ratio(ops, length_s),
                bytes_per_s: ratio(bytes, length_s),
                bytes_so_far,
            });
        }
    }
    found
}

/// Operations per second of every full interval: reads, writes and trims, or all requests.
pub fn ops_rates(measured: &Measurement) -> Vec<f64> {
    if measured.http.is_some() {
        return full(measured).map(requests_per_s).collect();
    }
    seconds(measured, |_| true).iter().map(|second| second.ops_per_s).collect()
}

/// Samples of full length.
fn full(measured: &Measurement) -> impl Iterator<Item = &Sample> {
    let longest = measured.samples.iter().map(|s| s.length_ns).max().unwrap_or(0);
    let least = longest as f64 * FULL_SECOND.value;
    measured.samples.iter().filter(move |s| s.length_ns > 0 && s.length_ns as f64 >= least)
}

fn requests_per_s(sample: &Sample) -> f64 {
    ratio(sample.ops_done() as f64, sample.length_ns as f64 / 1e9)
}

fn sums(sample: &Sample, does: impl Fn(Direction) -> bool) -> (f64, f64) {
    let used = || Direction::ALL.into_iter().filter(|op| does(*op));
    let ops: u64 = used().map(|op| sample.ops(op)).sum();
    let bytes: u64 = used().map(|op| sample.bytes(op)).sum();
    (ops as f64, bytes as f64)
}
