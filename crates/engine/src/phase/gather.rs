//! From workers' counters and ends to a job's measurement.

use std::sync::atomic::Ordering::Relaxed;

use candor_plan::blocks::IoPriority;
use candor_plan::units::{Direction, PerDirection};
use candor_record::{
    Depths, Ended, EngineUsed, Latency, Measurement, OfPriority, OpStats, Progress, ReadBack,
    Sample, VerifyStats,
};

use crate::clock::Clock;
use crate::data::verifier;
use crate::operations::slots::Kind;
use crate::operations::stats::{ApartSum, CounterSum, Totals};
use crate::phase::failures::Failures;
use crate::phase::prepare::ReadyJob;
use crate::worker::{Spent, WorkerEnd};

/// What happened between two totals.
pub fn sample(before: &Totals, after: &Totals, at_ns: u64, length_ns: u64) -> Sample {
    let minus = |a: &PerDirection<u64>, b: &PerDirection<u64>| PerDirection {
        read: a.read.saturating_sub(b.read),
        write: a.write.saturating_sub(b.write),
        trim: a.trim.saturating_sub(b.trim),
    };
    Sample {
        at_ns,
        length_ns,
        ops: minus(&after.ops, &before.ops),
        bytes: minus(&after.bytes, &before.bytes),
        latency_sum_ns: after.latency_sum_ns.saturating_sub(before.latency_sum_ns),
    }
}

/// The measurement of a job whose workers have ended or, if `stalled`, were given up.
pub fn measurement(
    job: &ReadyJob,
    ends: Vec<WorkerEnd>,
    clock: Clock,
    stalled: bool,
) -> Measurement {
    let elapsed_ns = match stalled {
        // Counters include workers that have not ended, so time goes on to the present.
        true => clock.ns(clock.now().saturating_sub(job.shared.count_from.load(Relaxed))),
        false => ends.iter().map(|end| end.stats.elapsed_ns).max().unwrap_or(0),
    };
    let (mut failures, mut verify) = (Failures::default(), VerifyStats::default());
    let mut depths: Option<Depths> = None;
    let ended = ends.iter().map(|end| end.ended).max_by_key(severity).unwrap_or(Ended::Stalled);
    // Of several workers, what all of them reached.
    let depth_reached = ends.iter().filter_map(|end| end.depth_reached).min().map(|d| d as u32);
    let features = ends.first().map(|end| end.features.clone()).unwrap_or_default();
    let mut per_worker: Vec<_> = ends.iter().map(|end| end.stats).collect();
    per_worker.sort_by_key(|stats| stats.rank);
    let zone_resets = ends.iter().map(|end| end.zone_resets).sum();
    let fsyncs = ends.iter().map(|end| end.fsyncs).sum();
    let apart: Vec<_> = ends.iter().filter_map(|end| end.read_back).collect();
    for end in ends {
        failures.merge(end.failures);
        if let Some(found) = end.verify {
            verifier::add(&mut verify, found);
        }
        if let Some(more) = &end.depths {
            depths.get_or_insert_default().merge(more);
        }
    }
    let stats = |kind: Kind| op_stats(job, kind.counted(), elapsed_ns, &clock);
    let ops = PerDirection {
        read: stats(Kind::Read),
        write: stats(Kind::Write),
        trim: stats(Kind::Trim),
    };
    let sync = stats(Kind::Fsync);
    let latency_sum_ns = latency_sum_ns(&ops, &sync);
    Measurement {
        job: job.job.name.clone(),
        workers: job.job.workers,
        elapsed_ns,
        last_done: Progress {
            at_ns: elapsed_ns,
            ops: Direction::ALL.iter().map(|op| ops.of(*op).ops).sum(),
            bytes: Direction::ALL.iter().map(|op| ops.of(*op).bytes).sum(),
        },
        occupancy: if elapsed_ns == 0 { 0.0 } else { latency_sum_ns / elapsed_ns as f64 },
        sync,
        ops,
        per_worker,
        errors: failures.into_list(),
        verify: job.blocks.verify.as_ref().map(|_| verify),
        read_back: read_back(job, &apart, elapsed_ns, &clock),
        engine: EngineUsed {
            name: engine_name(job).into(),
            features,
            clock: clock.name().into(),
            clock_cost_ns: clock.cost_ns(),
        },
        depths,
        depth_reached,
        zone_resets,
        fsyncs,
        ended,
        ..Measurement::default()
    }
}

/// Latencies of all operations together, in ns. A worker that waits for a flush is as busy as one
/// that waits for a write.
fn latency_sum_ns(ops: &PerDirection<OpStats>, sync: &OpStats) -> f64 {
    let all = ops.iter().map(|(_, stats)| stats).chain([sync]);
    let latencies = all.filter_map(|stats| stats.latency.as_ref());
    latencies.map(|latency| latency.histogram.sum_ns() as f64).sum()
}

/// The engine, or the step that is done to names.
fn engine_name(job: &ReadyJob) -> &'static str {
    let step = job.job.entries().and_then(candor_plan::Entries::single);
    match (&job.job.work, step) {
        (_, Some(step)) => step.name(),
        (candor_plan::Work::Blocks(blocks), _) => blocks.engine.name(),
        (work, _) => work.name(),
    }
}

/// Takes bytes out of a measurement of work that moved none.
pub fn forget_bytes(measurement: &mut Measurement) {
    for op in Direction::ALL {
        let stats = measurement.ops.of_mut(op);
        (stats.bytes, stats.bytes_per_s) = (0, 0.0);
    }
    measurement.per_worker.iter_mut().for_each(|worker| worker.bytes = 0);
    measurement.samples.iter_mut().for_each(|sample| sample.bytes = PerDirection::all(0));
    measurement.last_done.bytes = 0;
    if let Some(first) = &mut measurement.first_done {
        first.bytes = 0;
    }
}

/// Of several workers' reasons to end, the one that tells most.
fn severity(ended: &Ended) -> u8 {
    match ended {
        Ended::Done => 0,
        Ended::Time => 1,
        Ended::Steady => 2,
        Ended::Interrupted => 3,
        Ended::Stalled => 4,
        Ended::Failed => 5,
    }
}

/// What reading back did: its time is that of reading back alone, and where it also ran beside the
/// work, the work's as well.
fn read_back(job: &ReadyJob, apart: &[Spent], elapsed_ns: u64, clock: &Clock) -> Option<ReadBack> {
    let plan = job.blocks.verify.as_ref()?.read_back?;
    let alone_ns = clock.ns(apart.iter().map(|spent| spent.ticks).max().unwrap_or(0));
    let beside = plan.every > 0 || plan.only;
    let elapsed_ns = if beside { elapsed_ns + alone_ns } else { alone_ns };
    let mut reads = op_stats(job, Kind::READ_BACK, elapsed_ns, clock);
    reads.elapsed_ns = elapsed_ns;
    Some(ReadBack {
        reads,
        elapsed_ns,
        cpu_user_ns: apart.iter().map(|spent| spent.user_ns).sum(),
        cpu_system_ns: apart.iter().map(|spent| spent.system_ns).sum(),
    })
}

fn op_stats(job: &ReadyJob, counted: usize, elapsed_ns: u64, clock: &Clock) -> OpStats {
    let mut sum = CounterSum::default();
    job.live.iter().for_each(|live| live.bank(true).all()[counted].add_to(&mut sum));
    let per_second = |count: u64| match elapsed_ns {
        0 => 0.0,
        ns => count as f64 * 1e9 / ns as f64,
    };
    OpStats {
        ops: sum.ops,
        bytes: sum.bytes,
        short: sum.short,
        failed: sum.failed,
        ops_per_s: per_second(sum.ops),
        bytes_per_s: per_second(sum.bytes),
        // The loop of plain reads does not note when the last one ended: it is the job's end.
        elapsed_ns: match (sum.ops, sum.last) {
            (0, _) => 0,
            (_, 0) => elapsed_ns,
            (_, last) => clock.ns(last.saturating_sub(job.shared.count_from.load(Relaxed))),
        },
        latency: Latency::from_histogram(sum.latency),
        submission: Latency::from_histogram(sum.submission),
        completion: Latency::from_histogram(sum.completion),
        from_intended: Latency::from_histogram(sum.intended),
        by_priority: sum.by_priority.into_iter().map(of_priority).collect(),
    }
}

fn of_priority(sum: ApartSum) -> OfPriority {
    OfPriority {
        latency: Latency::from_histogram(sum.latency),
        completion: Latency::from_histogram(sum.completion),
        ..OfPriority::of(IoPriority::from_bits(sum.priority))
    }
}
