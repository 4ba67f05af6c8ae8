//! A job's measurement, made from its workers' counters and ends.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use candor_plan::blocks::IoPriority;
use candor_plan::work::{Figure, Operation};
use candor_record::{
    Depths, Ended, EngineUsed, FirstDone, Latency, Measurement, OfPriority, OpCount, OpSample,
    OpStats, Progress, ReadBack, Sample, Stages, VerifyStats, WorkerStats,
};

use crate::clock::{Clock, Ticks};
use crate::counters::{CounterSum, OfPrioritySum, Totals};
use crate::failures::Failures;
use crate::first_done::FirstCounts;
use crate::phase::ready_job::ReadyJob;
use crate::worker_end::{Spent, WorkerEnd};

/// Sample of the counts between two totals.
pub fn sample(
    operations: &[(usize, &Operation)],
    before: &Totals,
    after: &Totals,
    at_ns: u64,
    length_ns: u64,
) -> Sample {
    let samples = operations.iter().map(|(at, row)| {
        let grown = after.at(*at).since(&before.at(*at));
        OpSample {
            ops: grown.ops,
            bytes: if counts_bytes(row) { grown.bytes } else { 0 },
            latency_sum_ns: grown.latency_sum_ns,
            ..OpSample::of(row)
        }
    });
    Sample { at_ns, length_ns, operations: samples.collect() }
}

/// Measurement of a job whose workers have ended or, if `stalled`, were given up.
pub fn measurement(
    job: &ReadyJob,
    ends: Vec<WorkerEnd>,
    clock: Clock,
    stalled: bool,
) -> Measurement {
    let elapsed_ns = if stalled {
        // Counters include workers that have not ended, so the time runs to the present.
        clock.ns(clock.now().saturating_sub(job.shared.count_from.load(Relaxed)))
    } else {
        ends.iter().map(|end| end.stats.elapsed_ns).max().unwrap_or(0)
    };
    let (mut failures, mut verify) = (Failures::default(), VerifyStats::default());
    let mut depths: Option<Depths> = None;
    let (mut targets, passed_over) = (Vec::new(), passed_over(&ends));
    let ended = ends.iter().map(|end| end.ended).max().unwrap_or(Ended::Stalled);
    // Depth that all workers reached.
    let depth_reached = ends.iter().filter_map(|end| end.depth_reached).min().map(|d| d as u32);
    let features = ends.first().map(|end| end.features.clone()).unwrap_or_default();
    let mut per_worker: Vec<_> = ends.iter().map(|end| end.stats).collect();
    per_worker.sort_by_key(|stats| stats.rank);
    let zone_resets = ends.iter().map(|end| end.zone_resets).sum();
    let apart: Vec<_> = ends.iter().filter_map(|end| end.read_back).collect();
    for end in ends {
        failures.merge(end.failures);
        targets.extend(end.per_target);
        if let Some(found) = end.verify {
            verify.merge(found);
        }
        if let Some(more) = &end.depths {
            depths.get_or_insert_default().merge(more);
        }
    }
    let rows = job.recorded.operations().into_iter();
    let operations: Vec<_> =
        rows.map(|(at, row)| op_stats(job, at, row, elapsed_ns, &clock)).collect();
    let work = || operations.iter().filter(|op| op.figure.is_work());
    let (ops, bytes) = (work().map(|op| op.ops).sum(), work().map(|op| op.bytes).sum());
    let mut measurement = Measurement {
        job: job.job.name.clone(),
        workers: job.job.workers,
        elapsed_ns,
        last_done: Progress { at_ns: elapsed_ns, ops, bytes },
        operations,
        first_done: first_done(job, &apart, elapsed_ns, &clock),
        stages: stages(&per_worker),
        per_worker,
        errors: failures.into_list(),
        // Wrong tags of blocks are reported even if the job does not verify.
        verify: (job.work.verifies() || verify.mismatches() > 0).then_some(verify),
        read_back: read_back(job, &apart, elapsed_ns, &clock),
        engine: EngineUsed {
            name: job.work.engine_name().into(),
            features,
            clock: clock.name().into(),
            clock_cost_ns: clock.cost_ns(),
        },
        depths,
        depth_reached,
        zone_resets,
        passed_over,
        ended,
        ..Measurement::default()
    };
    measurement.add_targets(targets);
    measurement.derive();
    job.work.finish(&mut measurement);
    measurement
}

/// First begin and last end of each stage over all workers; none if no worker opened files.
fn stages(per_worker: &[WorkerStats]) -> Option<Stages> {
    let each = per_worker.iter().filter_map(|worker| worker.stages);
    each.reduce(|mut all, next| {
        all.merge(&next);
        all
    })
}

/// Items that workers skipped, by reason.
fn passed_over(ends: &[WorkerEnd]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::<String, u64>::new();
    for (why, items) in ends.iter().flat_map(|end| &end.passed_over) {
        *all.entry((*why).into()).or_default() += items;
    }
    all
}

/// Counts of all workers when the first worker ended. Unknown if workers read back after their
/// work: a worker then ends later than its work.
fn first_done(
    job: &ReadyJob,
    apart: &[Spent],
    elapsed_ns: u64,
    clock: &Clock,
) -> Option<FirstDone> {
    let FirstCounts { at, totals, worker_ops } = job.first_done.get()?;
    if apart.iter().any(|spent| spent.ticks > Ticks(0)) {
        return None;
    }
    let rows = job.recorded.operations().into_iter();
    let counts = rows.map(|(at, row)| {
        let counted = totals.at(at);
        let bytes = if counts_bytes(row) { counted.bytes } else { 0 };
        OpCount { ops: counted.ops, bytes, ..OpCount::of(row) }
    });
    let operations: Vec<OpCount> = counts.collect();
    let work = || operations.iter().filter(|op| op.figure.is_work());
    let since = at.saturating_sub(job.shared.count_from.load(Relaxed));
    Some(FirstDone {
        // The last completion is the limit: the totals may be read a moment later.
        at_ns: clock.ns(since).min(elapsed_ns),
        ops: work().map(|op| op.ops).sum(),
        bytes: work().map(|op| op.bytes).sum(),
        operations,
        worker_ops,
    })
}

/// True for operations whose bytes are reported: bytes moved, or trimmed.
fn counts_bytes(row: &Operation) -> bool {
    row.moves_bytes || row.figure == Figure::Trim
}

/// Results of reading back. Elapsed time is the time of reading back alone, plus the time of the
/// work if reading back also ran during the work.
fn read_back(job: &ReadyJob, apart: &[Spent], elapsed_ns: u64, clock: &Clock) -> Option<ReadBack> {
    let beside = job.work.reads_back()?;
    let at = job.recorded.index_of(Figure::ReadBack)?;
    let ticks = apart.iter().map(|spent| spent.ticks).max().unwrap_or_default();
    let alone_ns = clock.ns(ticks);
    let elapsed_ns = if beside { elapsed_ns + alone_ns } else { alone_ns };
    let mut reads = op_stats(job, at, &job.recorded.table[at], elapsed_ns, clock);
    reads.elapsed_ns = elapsed_ns;
    Some(ReadBack {
        reads,
        elapsed_ns,
        cpu_user_ns: apart.iter().map(|spent| spent.user_ns).sum(),
        cpu_system_ns: apart.iter().map(|spent| spent.system_ns).sum(),
    })
}

fn op_stats(
    job: &ReadyJob,
    index: usize,
    row: &Operation,
    elapsed_ns: u64,
    clock: &Clock,
) -> OpStats {
    let mut sum = CounterSum::default();
    job.live.iter().for_each(|live| live.bank(true).all()[index].add_to(&mut sum));
    if !counts_bytes(row) {
        sum.bytes = 0;
    }
    OpStats {
        ops: sum.ops,
        bytes: sum.bytes,
        short: sum.short,
        failed: sum.failed,
        // The loop of plain reads does not record the last completion; use the job's end.
        elapsed_ns: match (sum.ops, sum.last) {
            (0, _) => 0,
            (_, Ticks(0)) => elapsed_ns,
            // The job's time excludes stops of the process.
            (_, last) => {
                clock.ns(last.saturating_sub(job.shared.count_from.load(Relaxed))).min(elapsed_ns)
            }
        },
        latency: Latency::from_histogram(sum.latency),
        submission: Latency::from_histogram(sum.submission),
        completion: Latency::from_histogram(sum.completion),
        from_intended: Latency::from_histogram(sum.intended),
        by_priority: sum.by_priority.into_iter().map(of_priority).collect(),
        ..OpStats::of(row)
    }
}

fn of_priority(sum: OfPrioritySum) -> OfPriority {
    OfPriority {
        latency: Latency::from_histogram(sum.latency),
        completion: Latency::from_histogram(sum.completion),
        ..OfPriority::of(IoPriority::from_bits(sum.priority))
    }
}
