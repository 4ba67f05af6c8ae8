//! The bandwidth of all jobs together over time: the logs of `--bandwidth-log`.

use std::collections::BTreeMap;

use candor_plan::units::{Direction, PerDirection};
use candor_record::Report;

/// Names of the three logs.
pub fn names(name: &str) -> [String; 3] {
    ["read", "write", "trim"].map(|op| format!("{name}-{op}_bw.log"))
}

/// Name and text of each of the three logs.
pub fn files(report: &Report, name: &str) -> [(String, String); 3] {
    let rates = rates(report);
    let text = |op: Direction, number: u8| {
        rates
            .iter()
            .map(|(ns, rates)| {
                format!("{}, {:.0}, {number}, 0, 0\n", ns / 1_000_000, rates.of(op) / 1024.0)
            })
            .collect()
    };
    let [read, write, trim] = names(name);
    [
        (read, text(Direction::Read, 0)),
        (write, text(Direction::Write, 1)),
        (trim, text(Direction::Trim, 2)),
    ]
}

/// Bytes per second of all jobs, each with the end of its interval in ns since the first phase
/// began.
fn rates(report: &Report) -> Vec<(u64, PerDirection<f64>)> {
    let (mut rates, mut begin_ns) = (Vec::new(), 0);
    for phase in report.results() {
        let planned = report.plan.phases.get(phase.phase);
        let interval_ns = planned.map_or(1, |planned| planned.interval.0.max(1));
        let mut intervals = BTreeMap::<u64, (u64, PerDirection<f64>)>::new();
        for sample in phase.measurements.iter().flat_map(|measured| &measured.samples) {
            // Jobs that end a little sooner than others still share the last interval.
            let nearest = (sample.at_ns + interval_ns / 2) / interval_ns;
            let (end_ns, all) = intervals.entry(nearest).or_default();
            *end_ns = (*end_ns).max(begin_ns + sample.at_ns);
            let per_second = 1e9 / sample.length_ns.max(1) as f64;
            for op in Direction::ALL {
                *all.of_mut(op) += sample.bytes(op) as f64 * per_second;
            }
        }
        rates.extend(intervals.into_values());
        begin_ns += phase.measurements.iter().map(|m| m.elapsed_ns).max().unwrap_or(0);
    }
    rates
}

#[cfg(test)]
mod tests {
    use candor_plan::{Nanos, Phase, Plan};
    use candor_record::{Measurement, PhaseRecord, Sample};

    use super::*;

    #[test]
    fn jobs_are_summed_and_phases_follow_each_other() {
        let sample = |at_ns, read| {
            let mut sample = Sample { at_ns, length_ns: 500_000_000, ..Sample::default() };
            sample.of_mut(Direction::Read).bytes = read;
            sample
        };
        let job = |reads: [u64; 2]| Measurement {
            elapsed_ns: 1_000_000_000,
            samples: vec![sample(500_000_000, reads[0]), sample(1_000_000_000, reads[1])],
            ..Measurement::default()
        };
        let phase = |measurements| PhaseRecord { measurements, ..PhaseRecord::default() };
        let half = |name: &str| Phase {
            name: name.into(),
            interval: Nanos(500_000_000),
            ..Phase::default()
        };
        let plan = Plan { phases: vec![half("a"), half("b")], ..Plan::default() };
        let mut report = Report {
            plan,
            phases: vec![
                phase(vec![job([1024, 2048]), job([1024, 0])]),
                phase(vec![job([0, 512])]),
            ],
            ..Report::default()
        };
        report.phases[1].phase = 1;
        report.phases[0].measurements[1].samples[1].at_ns -= 1_000_000;
        let [(name, reads), (_, writes), _] = files(&report, "agg");
        assert_eq!(name, "agg-read_bw.log");
        assert_eq!(
            reads,
            "500, 4, 0, 0, 0\n1000, 4, 0, 0, 0\n1500, 0, 0, 0, 0\n2000, 1, 0, 0, 0\n"
        );
        assert!(writes.starts_with("500, 0, 1, 0, 0\n"), "{writes}");
    }
}
