//! Means over the intervals of an operation, where its tool reports nothing else.

use candor_record::results::{Interval, LatencyResults, OpResults};

/// Mean of a figure over time.
fn over_time(intervals: &[Interval], figure: fn(&Interval) -> Option<f64>) -> Option<f64> {
    let known = || intervals.iter().filter_map(|of| Some((figure(of)?, of.length_ns as f64)));
    let length: f64 = known().map(|(_, length)| length).sum();
    let sum: f64 = known().map(|(value, length)| value * length).sum();
    (length > 0.0).then(|| sum / length)
}

/// Mean latency over operations, where each interval tells both.
fn latency_mean_ns(intervals: &[Interval]) -> Option<f64> {
    let of = |of: &Interval| {
        let ops = of.ops_per_s.map(|rate| rate * of.length_ns as f64);
        Some((of.latency_ns_mean?, ops))
    };
    let known: Vec<(f64, Option<f64>)> = intervals.iter().filter_map(of).collect();
    let ops: f64 = known.iter().map(|(_, ops)| *ops).sum::<Option<f64>>()?;
    let sum: f64 = known.iter().filter_map(|(mean, ops)| Some(mean * (*ops)?)).sum();
    (ops > 0.0).then(|| sum / ops)
}

/// Fills in rates and mean latency that are not known yet by those of the intervals.
pub fn fill(op: &mut OpResults) {
    let intervals = &op.intervals;
    op.ops_per_s = op.ops_per_s.or_else(|| over_time(intervals, |of| of.ops_per_s));
    op.bytes_per_s = op.bytes_per_s.or_else(|| over_time(intervals, |of| of.bytes_per_s));
    let mean_ns = latency_mean_ns(intervals);
    match &mut op.latency {
        Some(latency) => latency.mean_ns = latency.mean_ns.or(mean_ns),
        None if mean_ns.is_some() => {
            op.latency = Some(LatencyResults { mean_ns, ..LatencyResults::default() });
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(length_ns: u64, ops_per_s: Option<f64>, latency_ns_mean: Option<f64>) -> Interval {
        Interval { length_ns, ops_per_s, latency_ns_mean, ..Interval::default() }
    }

    #[test]
    fn means_weigh_time_and_operations() {
        let intervals = vec![
            interval(1_000_000_000, Some(100.0), Some(10.0)),
            interval(3_000_000_000, Some(20.0), None),
            interval(1_000_000_000, Some(300.0), Some(50.0)),
        ];
        let mut op = OpResults { intervals, ..OpResults::default() };
        fill(&mut op);
        assert_eq!((op.ops_per_s, op.bytes_per_s), (Some(92.0), None));
        assert_eq!(op.latency.and_then(|latency| latency.mean_ns), Some(40.0));
        // Windows without counts have no weights.
        let intervals = vec![interval(1, None, Some(10.0)), interval(1, Some(1.0), Some(5.0))];
        let mut op = OpResults { intervals, ..OpResults::default() };
        fill(&mut op);
        assert_eq!((op.ops_per_s, op.latency), (Some(1.0), None));
    }
}
