//! The figures that both runs have, each with its change.

use candor_plan::work::Figure;
use candor_record::comparison::{FigureChange, Outcome};
use candor_record::results::{DisturbanceKind, FigureKind, Interval, JobResults, OpResults};

use crate::estimate::{self, Side};
use crate::pairing::{Pair, Repeated};
use crate::thresholds::{CONFIDENCE, PERCENTILES, RATE_KEPT, STARVED};

/// The changes of all figures of all pairs, including requested figures. The confidence of the
/// comparison holds for all changes together.
pub fn changes(pairs: &[Pair<'_>], asked: &[FigureKind]) -> Vec<FigureChange> {
    let mut all: Vec<FigureChange> = pairs.iter().flat_map(|pair| of_pair(pair, asked)).collect();
    let known: Vec<f64> = all.iter().filter_map(|of| of.p_value).collect();
    let corrected = candor_stats::holm(&known);
    let tested = all.iter_mut().filter(|of| of.p_value.is_some());
    for (figure, corrected) in tested.zip(corrected) {
        figure.p_value_corrected = Some(corrected);
        figure.outcome = outcome(figure, corrected);
    }
    all
}

fn outcome(figure: &FigureChange, corrected: f64) -> Outcome {
    let limit = 1.0 - CONFIDENCE;
    let is_better = (figure.change > 0.0) == figure.kind.is_better_higher();
    match figure.p_value {
        // Only numbers of the storage are better or worse.
        _ if figure.unbelieved => Outcome::Unknown,
        _ if corrected < limit && is_better => Outcome::Better,
        _ if corrected < limit => Outcome::Worse,
        Some(alone) if alone < limit => Outcome::Suspected,
        _ => Outcome::NotShown,
    }
}

fn of_pair(pair: &Pair<'_>, asked: &[FigureKind]) -> Vec<FigureChange> {
    let sides = pair.measured();
    let phases = [&pair.baseline, &pair.run];
    let starved = phases.map(|phase| {
        phase.disturbance(DisturbanceKind::WaitedForCpu).is_some_and(|share| share >= STARVED)
    });
    let mut all = Vec::new();
    for operation in pair.operations() {
        let done: Vec<&OpResults> =
            sides.iter().flatten().filter_map(|job| job.operation(operation)).collect();
        for kind in kinds(&done, asked) {
            let [baseline, run] = [0, 1].map(|at| side(&sides[at], operation, kind, starved[at]));
            all.extend(baseline.zip(run).and_then(|(baseline, run)| {
                let change = estimate::change(kind, &baseline, &run)?;
                Some(FigureChange {
                    phase: pair.baseline.name.to_owned(),
                    job: pair.jobs[0].to_owned(),
                    operation: operation.to_owned(),
                    kind,
                    baseline: baseline.mean(),
                    run: run.mean(),
                    change: change.share,
                    interval: change.interval,
                    p_value: change.p_value,
                    p_value_corrected: None,
                    basis: change.basis,
                    outcome: Outcome::Unknown,
                    unbelieved: phases.iter().any(|phase| is_doubted(phase)),
                })
            }));
        }
    }
    all
}

fn is_doubted(phase: &Repeated<'_>) -> bool {
    phase.verdict().is_some_and(|(verdict, _)| !verdict.is_trusted())
}

/// Figures of an operation to compare. With a fixed size, the rate in bytes would be a second test
/// of the same change.
fn kinds(done: &[&OpResults], asked: &[FigureKind]) -> Vec<FigureKind> {
    let sizes = done.iter().filter_map(|op| Some(op.bytes_per_s? / op.ops_per_s?));
    let sizes: Vec<f64> = sizes.filter(|size| *size > 0.0).collect();
    let is_fixed = sizes.iter().all(|size| (size / sizes[0] - 1.0).abs() < 1e-3);
    let of_memory = done.iter().any(|op| op.figure == Figure::Memory);
    let rates = match (of_memory, is_fixed) {
        // The tool chooses pieces of memory, but not their bytes.
        (true, _) => &[FigureKind::BytesPerS][..],
        (_, true) => &[FigureKind::OpsPerS],
        _ => &[FigureKind::OpsPerS, FigureKind::BytesPerS],
    };
    let percentiles = PERCENTILES.map(FigureKind::LatencyPercentile);
    let usual = rates.iter().copied().chain([FigureKind::LatencyMean]).chain(percentiles);
    let usual: Vec<FigureKind> = usual.collect();
    let more = asked.iter().filter(|kind| !usual.contains(kind));
    let more = more.filter(|kind| matches!(kind, FigureKind::LatencyPercentile(_))).copied();
    let more: Vec<FigureKind> = more.collect();
    usual.into_iter().chain(more).collect()
}

/// A figure on one side; absent if a repeat does not have it.
fn side(jobs: &[&JobResults], operation: &str, kind: FigureKind, is_starved: bool) -> Option<Side> {
    let operations: Vec<&OpResults> =
        jobs.iter().filter_map(|job| job.operation(operation)).collect();
    let values: Option<Vec<f64>> = operations.iter().map(|op| op.figure_value(kind)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    let is_rate = kind.is_better_higher();
    Some(Side {
        values,
        intervals: operations.iter().map(|op| intervals(op, kind)).collect(),
        is_held: is_rate && jobs.iter().all(|job| kept_its_rate(job)),
        is_idle: !is_rate && jobs.iter().any(|job| is_idle(job)),
        is_starved,
    })
}

/// Values of a figure in the intervals of a run, in order.
fn intervals(op: &OpResults, kind: FigureKind) -> Vec<f64> {
    // The last interval may be cut, and its rate is unreliable.
    let longest = op.intervals.iter().map(|of| of.length_ns).max().unwrap_or_default();
    let whole = op.intervals.iter().filter(|of| of.length_ns >= longest / 2);
    whole.filter_map(|interval| value(interval, kind)).collect()
}

fn value(interval: &Interval, kind: FigureKind) -> Option<f64> {
    match kind {
        FigureKind::OpsPerS => interval.ops_per_s,
        FigureKind::BytesPerS => interval.bytes_per_s,
        FigureKind::LatencyMean => interval.latency_ns_mean,
        FigureKind::LatencyPercentile(50.0) => interval.latency_ns_p50.map(|ns| ns as f64),
        FigureKind::LatencyPercentile(99.0) => interval.latency_ns_p99.map(|ns| ns as f64),
        FigureKind::LatencyPercentile(_) => None,
    }
}

/// The job did as much as its even rate let it.
fn kept_its_rate(job: &JobResults) -> bool {
    let mut work = job.work();
    let (Some(only), None) = (work.next(), work.next()) else { return false };
    let held =
        [(job.load.held_ops_per_s, only.ops_per_s), (job.load.held_bytes_per_s, only.bytes_per_s)];
    held.into_iter().any(|of| {
        let (Some(asked), Some(reached)) = of else { return false };
        let off: f64 = reached / asked - 1.0;
        off.abs() <= 1.0 - RATE_KEPT
    })
}

/// The job did less than it could.
fn is_idle(job: &JobResults) -> bool {
    let is_held = job.load.held_ops_per_s.is_some() || job.load.held_bytes_per_s.is_some();
    job.load.is_paced && (!is_held || kept_its_rate(job) || job.work().count() > 1)
}
