//! Results of a phase that ran several times: mean and spread of each figure over the repeats.

use candor_plan::work::Figure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Measurement, OpStats, PhaseJudgement, PhaseRecord, Verdict};

/// A phase that ran several times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repeats {
    /// Index of the phase in the plan.
    pub phase: usize,
    /// Name of the phase.
    pub name: String,
    /// How often it ran.
    pub count: u32,
    /// Numbers of the repeats, from 0, that no mean contains: they did not end well, or can be
    /// believed less than the others.
    pub left_out: Vec<u32>,
    /// The worst verdict of the others.
    pub verdict: Verdict,
    /// Figures of each operation of each job over the others; none where fewer than two are left.
    pub results: Vec<RepeatedOp>,
}

/// Figures of an operation of a job over the repeats of its phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedOp {
    /// Name of the job.
    pub job: String,
    /// Name of the operation.
    pub operation: String,
    /// Figure under which it is grouped.
    pub figure: Figure,
    /// Operations per second.
    pub ops_per_s: Spread,
    /// Bytes per second; absent where no bytes moved.
    pub bytes_per_s: Option<Spread>,
    /// Mean latency of each repeat, in ns.
    pub latency_ns_mean: Option<Spread>,
    /// Median latency of each repeat, in ns.
    pub latency_ns_p50: Option<Spread>,
    /// 99th percentile of each repeat, in ns, where the samples of all carry it.
    pub latency_ns_p99: Option<Spread>,
}

/// A figure over repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Number of repeats.
    pub count: u32,
    /// Mean of the repeats.
    pub mean: f64,
    /// Standard deviation of a single repeat, estimated from these.
    pub stddev: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
    /// Half the width of the 95 % interval of the mean (Student's t), for repeats that are
    /// independent of each other.
    pub interval_95: f64,
}

impl Spread {
    /// The spread of two values or more.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let count = u32::try_from(values.len()).ok().filter(|count| *count > 1)?;
        let n = f64::from(count);
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let stddev = (squares / (n - 1.0)).sqrt();
        let ends = |value: f64, (min, max): (f64, f64)| (value.min(min), value.max(max));
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let (min, max) = values.iter().fold(start, |all, value| ends(*value, all));
        let interval_95 = t_975(count - 1) * stddev / n.sqrt();
        Some(Spread { count, mean, stddev, min, max, interval_95 })
    }

    /// Half the width of the interval as a share of the mean.
    pub fn interval_share(&self) -> f64 {
        crate::fmt::ratio(self.interval_95, self.mean)
    }
}

/// The 97.5th percentile of Student's t distribution, by degrees of freedom.
fn t_975(freedom: u32) -> f64 {
    const FIRST: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    let of_table = (freedom as usize).checked_sub(1).and_then(|at| FIRST.get(at));
    // The expansion about the normal distribution, exact to four digits from there on.
    let (z, v) = (1.959_964_f64, f64::from(freedom));
    let first = (z.powi(3) + z) / (4.0 * v);
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v);
    of_table.copied().unwrap_or(z + first + second)
}

impl RepeatedOp {
    /// The rate by which people compare such results: pieces of memory are candor's choice, their
    /// bytes are not.
    pub fn rate(&self) -> Spread {
        match self.figure {
            Figure::Memory => self.bytes_per_s.unwrap_or(self.ops_per_s),
            _ => self.ops_per_s,
        }
    }
}

impl Repeats {
    /// The phases of a run that ran more than once, in the order of their first results.
    pub fn of(results: &[(&PhaseRecord, &PhaseJudgement)]) -> Vec<Repeats> {
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
}

fn of_phase(results: &[(&PhaseRecord, &PhaseJudgement)]) -> Repeats {
    let sound = |(record, _): &&(&PhaseRecord, &PhaseJudgement)| is_sound(record);
    let best = results.iter().filter(sound).map(|(_, judged)| class(judged.verdict)).min();
    let is_kept = |result: &&(&PhaseRecord, &PhaseJudgement)| {
        sound(result) && Some(class(result.1.verdict)) == best
    };
    let kept: Vec<_> = results.iter().filter(is_kept).copied().collect();
    let left_out = results.iter().filter(|result| !is_kept(result));
    let first = results[0].0;
    Repeats {
        phase: first.phase,
        name: first.name.clone(),
        count: results.len() as u32,
        left_out: left_out.map(|(record, _)| record.repeat).collect(),
        verdict: kept.iter().map(|(_, judged)| judged.verdict).max().unwrap_or_default(),
        results: figures(&kept.iter().map(|(record, _)| *record).collect::<Vec<_>>()),
    }
}

fn is_sound(record: &PhaseRecord) -> bool {
    let mut all = record.measurements.iter();
    all.all(|measured| measured.ended.is_sound() && measured.ops_done() > 0)
}

/// Verdicts that may share a mean: a number of the storage is none of the page cache.
fn class(verdict: Verdict) -> Verdict {
    verdict.max(Verdict::Caution)
}

fn figures(records: &[&PhaseRecord]) -> Vec<RepeatedOp> {
    let Some(first) = records.first() else { return Vec::new() };
    let of_job = |job: &Measurement| {
        let operations = job.operations.iter().filter(|op| op.ops > 0);
        let of = |op: &OpStats| of_operation(records, &job.job, &op.name);
        operations.filter_map(of).collect::<Vec<_>>()
    };
    first.measurements.iter().flat_map(of_job).collect()
}

/// The figures of an operation; absent where a repeat did not do it, or there is only one.
fn of_operation(records: &[&PhaseRecord], job: &str, operation: &str) -> Option<RepeatedOp> {
    let stats = |record: &&PhaseRecord| {
        let measured = record.measurements.iter().find(|measured| measured.job == job)?;
        Some(measured.operation(operation).clone()).filter(|op| op.ops > 0)
    };
    let all: Vec<OpStats> = records.iter().map(stats).collect::<Option<_>>()?;
    let over = |figure: &dyn Fn(&OpStats) -> Option<f64>| {
        let values: Option<Vec<f64>> = all.iter().map(figure).collect();
        Spread::of(&values?)
    };
    let percentile = |p: f64| over(&|op| Some(op.latency.as_ref()?.percentile_ns(p)? as f64));
    Some(RepeatedOp {
        job: job.to_owned(),
        operation: operation.to_owned(),
        figure: all.first()?.figure,
        ops_per_s: over(&|op| Some(op.ops_per_s))?,
        bytes_per_s: over(&|op| (op.bytes > 0).then_some(op.bytes_per_s)),
        latency_ns_mean: over(&|op| op.latency.as_ref()?.valid_mean_ns()),
        latency_ns_p50: percentile(50.0),
        latency_ns_p99: percentile(99.0),
    })
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::{Ended, Histogram, Latency};

    #[test]
    fn the_interval_is_students() {
        // Mean 10, deviation 1: t of 4 degrees of freedom is 2.776.
        let spread = Spread::of(&[9.0, 9.5, 10.0, 10.5, 11.0]).unwrap();
        assert_eq!((spread.count, spread.mean, spread.min, spread.max), (5, 10.0, 9.0, 11.0));
        assert!((spread.stddev - 0.790_569).abs() < 1e-6, "{spread:?}");
        assert!((spread.interval_95 - 0.981_5).abs() < 1e-3, "{spread:?}");
        assert!((spread.interval_share() - 0.098_15).abs() < 1e-4);
        assert_eq!((Spread::of(&[]), Spread::of(&[1.0])), (None, None));
        let known = [(1, 12.706), (30, 2.042), (31, 2.0395), (60, 2.0003), (1000, 1.9623)];
        for (freedom, t) in known {
            assert!((t_975(freedom) - t).abs() < 1e-3, "{freedom}: {}", t_975(freedom));
        }
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

    fn repeats(of: &[(f64, Verdict, Ended)]) -> Vec<Repeats> {
        let of = of.iter().zip(0..).map(|((rate, verdict, ended), nth)| {
            let judged = PhaseJudgement { verdict: *verdict, ..PhaseJudgement::default() };
            (repeat(nth, *rate, *ended), judged)
        });
        let of: Vec<_> = of.collect();
        Repeats::of(&of.iter().map(|(record, judged)| (record, judged)).collect::<Vec<_>>())
    }

    #[test]
    fn repeats_of_one_kind_have_a_mean() {
        let (good, mild) = (Verdict::Ok, Verdict::Caution);
        let all = repeats(&[
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
        // 200 samples carry no p99.
        assert_eq!(read.latency_ns_p99, None);
        assert_eq!(repeats(&[(100.0, good, Ended::Time)]), []);
    }

    #[test]
    fn repeats_that_measured_something_else_are_left_out() {
        let (good, cached) = (Verdict::Ok, Verdict::Wrong);
        let all = repeats(&[
            (100.0, good, Ended::Time),
            (9000.0, cached, Ended::Time),
            (104.0, good, Ended::Time),
            (50.0, good, Ended::Failed),
        ]);
        assert_eq!((&all[0].left_out[..], all[0].results[0].ops_per_s.mean), (&[1, 3][..], 102.0));
        let all = repeats(&[(100.0, good, Ended::Time), (9000.0, cached, Ended::Time)]);
        assert_eq!((&all[0].left_out[..], all[0].results.len()), (&[1][..], 0));
        let all = repeats(&[(8000.0, cached, Ended::Time), (9000.0, cached, Ended::Time)]);
        assert_eq!((&all[0].left_out[..], all[0].verdict), (&[][..], cached));
        assert_eq!(all[0].results[0].ops_per_s.mean, 8500.0);
    }
}
