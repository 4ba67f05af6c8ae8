//! Results of a phase that ran several times: mean and spread of each figure over the repeats.

use candor_record::{OpStats, PhaseJudgement, PhaseRecord, RepeatedOp, Repeats, Spread, Verdict};
use candor_stats::Summary;

/// The phases of a run that ran more than once, in the order of their first results.
pub fn repeats(results: &[(&PhaseRecord, &PhaseJudgement)]) -> Vec<Repeats> {
    let mut seen: Vec<usize> = Vec::new();
    let mut all = Vec::new();
    for (record, _) in results.iter().filter(|(record, _)| !record.search_step) {
        if seen.contains(&record.phase) {
            continue;
        }
        seen.push(record.phase);
        let same = results.iter().filter(|(other, _)| other.phase == record.phase);
        let same: Vec<_> = same.copied().collect();
        if same.iter().any(|(record, _)| record.repeat > 0) {
            all.push(of_phase(&same));
        }
    }
    all
}

/// The spread of at least two values.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let summary = Summary::of(values).filter(|summary| summary.count > 1)?;
    Some(Spread {
        count: summary.count as u32,
        mean: summary.mean,
        stddev: summary.deviation,
        min: summary.min,
        max: summary.max,
        interval_95: summary.interval_95(),
    })
}

/// The repeats of one phase. Only sound repeats with the best class of verdict count.
fn of_phase(results: &[(&PhaseRecord, &PhaseJudgement)]) -> Repeats {
    let sound = results.iter().filter(|(record, _)| is_sound(record));
    let best = sound.map(|(_, judged)| class(judged.verdict)).min();
    let (kept, left_out): (Vec<_>, Vec<_>) = results
        .iter()
        .partition(|(record, judged)| is_sound(record) && Some(class(judged.verdict)) == best);
    let first = results[0].0;
    Repeats {
        phase: first.phase,
        name: first.name.clone(),
        count: results.len() as u32,
        left_out: left_out.iter().map(|(record, _)| record.repeat).collect(),
        verdict: kept.iter().map(|(_, judged)| judged.verdict).max().unwrap_or_default(),
        results: operations(&kept.iter().map(|(record, _)| *record).collect::<Vec<_>>()),
    }
}

fn is_sound(record: &PhaseRecord) -> bool {
    let mut all = record.measurements.iter();
    all.all(|measured| measured.ended.is_sound() && measured.ops_done() > 0)
}

/// Class of verdicts that share a mean: numbers of the storage are not averaged with others.
fn class(verdict: Verdict) -> Verdict {
    verdict.max(Verdict::Caution)
}

fn operations(records: &[&PhaseRecord]) -> Vec<RepeatedOp> {
    let jobs = records.first().map_or(&[][..], |first| &first.measurements);
    let mut all = Vec::new();
    for job in jobs {
        let done = job.operations.iter().filter(|op| op.ops > 0);
        all.extend(done.filter_map(|op| of_operation(records, &job.job, &op.name)));
    }
    all
}

/// Figures of an operation; absent if a repeat did not execute the operation, and for one repeat.
fn of_operation(records: &[&PhaseRecord], job: &str, operation: &str) -> Option<RepeatedOp> {
    let stats = records.iter().map(|record| {
        let measured = record.measurements.iter().find(|measured| measured.job == job)?;
        Some(measured.operation(operation).clone()).filter(|op| op.ops > 0)
    });
    let all: Vec<OpStats> = stats.collect::<Option<_>>()?;
    Some(RepeatedOp {
        job: job.to_owned(),
        operation: operation.to_owned(),
        figure: all.first()?.figure,
        ops_per_s: over(&all, |op| Some(op.ops_per_s))?,
        bytes_per_s: over(&all, |op| (op.bytes > 0).then_some(op.bytes_per_s)),
        latency_ns_mean: over(&all, |op| op.latency.as_ref()?.valid_mean_ns()),
        latency_ns_p50: over(&all, |op| percentile_ns(op, 50.0)),
        latency_ns_p99: over(&all, |op| percentile_ns(op, 99.0)),
    })
}

/// Spread of a figure; absent if a repeat does not have the figure.
fn over(all: &[OpStats], figure: fn(&OpStats) -> Option<f64>) -> Option<Spread> {
    let values: Option<Vec<f64>> = all.iter().map(figure).collect();
    spread(&values?)
}

fn percentile_ns(op: &OpStats, percentile: f64) -> Option<f64> {
    Some(op.latency.as_ref()?.percentile_ns(percentile)? as f64)
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;
    use candor_record::{Ended, Histogram, Latency, Measurement};

    use super::*;

    #[test]
    fn a_single_value_has_no_spread() {
        let spread_of_two = spread(&[1.0, 3.0]).expect("two values");
        assert_eq!((spread_of_two.count, spread_of_two.mean), (2, 2.0));
        assert_eq!((spread(&[]), spread(&[1.0])), (None, None));
    }

    fn repeat(repeat: u32, ops_per_s: f64, ended: Ended) -> PhaseRecord {
        let mut latency = Histogram::new();
        (0..200).for_each(|_| latency.record(1000));
        let stats = OpStats {
            ops: 200,
            bytes: 200 * 4096,
            ops_per_s,
            bytes_per_s: ops_per_s * 4096.0,
            latency: Latency::from_histogram(latency),
            ..OpStats::default()
        };
        let mut measured = Measurement { job: "job".into(), ended, ..Measurement::default() };
        measured.put(Direction::Read, stats);
        PhaseRecord {
            name: "read".into(),
            repeat,
            measurements: vec![measured],
            ..PhaseRecord::default()
        }
    }

    fn repeats_of(of: &[(f64, Verdict, Ended)]) -> Vec<Repeats> {
        let of = of.iter().zip(0..).map(|((rate, verdict, ended), nth)| {
            let judged = PhaseJudgement { verdict: *verdict, ..PhaseJudgement::default() };
            (repeat(nth, *rate, *ended), judged)
        });
        let of: Vec<_> = of.collect();
        repeats(&of.iter().map(|(record, judged)| (record, judged)).collect::<Vec<_>>())
    }

    #[test]
    fn repeats_of_one_class_have_a_mean() {
        let (good, mild) = (Verdict::Ok, Verdict::Caution);
        let all = repeats_of(&[
            (100.0, good, Ended::Time),
            (110.0, mild, Ended::Time),
            (120.0, good, Ended::Time),
        ]);
        assert_eq!(all.len(), 1);
        let Repeats { name, count, left_out, verdict, results, .. } = &all[0];
        assert_eq!(
            (name.as_str(), *count, left_out.as_slice(), *verdict),
            ("read", 3, &[][..], mild)
        );
        let read = &results[0];
        assert_eq!((read.job.as_str(), read.operation.as_str()), ("job", "read"));
        assert_eq!(
            (read.ops_per_s.mean, read.ops_per_s.min, read.ops_per_s.max),
            (110.0, 100.0, 120.0)
        );
        assert_eq!(read.bytes_per_s.map(|bytes| bytes.mean), Some(110.0 * 4096.0));
        assert_eq!(read.latency_ns_p50.map(|p50| p50.stddev), Some(0.0));
        // 200 samples are too few for p99.
        assert_eq!(read.latency_ns_p99, None);
        assert_eq!(repeats_of(&[(100.0, good, Ended::Time)]), []);
    }

    #[test]
    fn repeats_that_measured_something_else_are_left_out() {
        let (good, cached) = (Verdict::Ok, Verdict::Wrong);
        let all = repeats_of(&[
            (100.0, good, Ended::Time),
            (9000.0, cached, Ended::Time),
            (104.0, good, Ended::Time),
            (50.0, good, Ended::Failed),
        ]);
        assert_eq!((&all[0].left_out[..], all[0].results[0].ops_per_s.mean), (&[1, 3][..], 102.0));
        let all = repeats_of(&[(100.0, good, Ended::Time), (9000.0, cached, Ended::Time)]);
        assert_eq!((&all[0].left_out[..], all[0].results.len()), (&[1][..], 0));
        let all = repeats_of(&[(8000.0, cached, Ended::Time), (9000.0, cached, Ended::Time)]);
        assert_eq!((&all[0].left_out[..], all[0].verdict), (&[][..], cached));
        assert_eq!(all[0].results[0].ops_per_s.mean, 8500.0);
    }
}
