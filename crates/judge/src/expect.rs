//! Expectations from earlier phases of the same run, where no link or limit gives one.
//!
//! Two extrapolations, both with their arithmetic: small operations cannot move more bytes than
//! large sequential ones did, and N at a time cannot do more than N times what one at a time did.
//! They are expectations, not laws: a cache that has warmed up may pass them, so no rule takes
//! them for a limit.

use candor_plan::units::{Direction, SizeSpec};
use candor_plan::{Blocks, Job};
use candor_record::fmt::{self, ratio};
use candor_record::{Ceiling, OpStats};

use crate::bound::{Bound, Kind, as_ops};
use crate::observed::{Observed, Ran};
use crate::thresholds::MUCH_SMALLER;

/// Expectations for the phase's only job; none where several jobs share the target.
pub fn bounds(observed: &Observed) -> Vec<Bound> {
    let [ran] = observed.ran.as_slice() else { return Vec::new() };
    let Some((op, size)) = single(ran.blocks) else { return Vec::new() };
    let stats = ran.measured.of(op);
    let alike = observed.believed_before().filter_map(|report| {
        let blocks = alike(observed.only_job_of(report)?, ran, op)?;
        Some((report, blocks))
    });
    let mut bounds = Vec::new();
    for (report, blocks) in alike {
        let before = report.measurements[0].of(op);
        bounds.extend(as_sequential(blocks, before, size, stats, &report.name));
        bounds.extend(as_one_at_a_time(blocks, before, ran, size, stats));
    }
    bounds
}

/// The work of a job that differs from this one's in nothing but the number in flight.
pub fn same_work<'a>(job: &'a Job, ran: &Ran) -> Option<&'a Blocks> {
    let (op, size) = single(ran.blocks)?;
    let blocks = alike(job, ran, op)?;
    let (_, other) = single(blocks)?;
    let order = blocks.access.is_random() == ran.blocks.access.is_random();
    (other == size && order).then_some(blocks)
}

/// The only direction and the only size of some work.
fn single(blocks: &Blocks) -> Option<(Direction, f64)> {
    let op = Direction::ALL.into_iter().find(|op| blocks.mix.of(*op) == 100)?;
    match blocks.size.of(op) {
        SizeSpec::Fixed(size) => Some((op, size.0 as f64)),
        _ => None,
    }
}

/// The work of an earlier phase that differs from this one in size, order or depth only.
fn alike<'a>(job: &'a Job, ran: &Ran, op: Direction) -> Option<&'a Blocks> {
    let blocks = job.blocks()?;
    let durable = |blocks: &Blocks| {
        let d = &blocks.durability;
        (d.open, d.fsync_every, d.fdatasync_every)
    };
    let same = job.targets == ran.job.targets
        && blocks.mix.of(op) == 100
        && blocks.direct == ran.blocks.direct
        && durable(blocks) == durable(ran.blocks);
    let at_full_speed = blocks.pace == candor_plan::blocks::Pace::default();
    (same && at_full_speed).then_some(blocks)
}

fn as_sequential(
    blocks: &Blocks,
    before: &OpStats,
    size: f64,
    stats: &OpStats,
    name: &str,
) -> Option<Bound> {
    let (_, large) = single(blocks)?;
    let applies = !blocks.access.is_random() && large >= MUCH_SMALLER.value * size;
    let (ops_per_s, arithmetic) = as_ops(before.bytes_per_s, size).filter(|_| applies)?;
    let element = format!("what `{name}` moved");
    Some(bound(element, ops_per_s, arithmetic, stats))
}

fn as_one_at_a_time(
    blocks: &Blocks,
    before: &OpStats,
    ran: &Ran,
    size: f64,
    stats: &OpStats,
) -> Option<Bound> {
    let (_, other) = single(blocks)?;
    let concurrency = ran.concurrency();
    let random = blocks.access.is_random() == ran.blocks.access.is_random();
    if other != size || blocks.depth != 1 || concurrency <= 1.0 || !random {
        return None;
    }
    let mean_ns = before.latency.as_ref()?.mean_ns;
    let ops_per_s = ratio(concurrency * 1e9, mean_ns);
    let time = fmt::time(mean_ns);
    let arithmetic = format!("{concurrency} ÷ {time} = {}", fmt::iops(ops_per_s));
    Some(bound("one at a time, so many times over".into(), ops_per_s, arithmetic, stats))
}

fn bound(element: String, ops_per_s: f64, arithmetic: String, stats: &OpStats) -> Bound {
    let used = (ops_per_s > 0.0 && stats.ops_per_s > 0.0).then(|| stats.ops_per_s / ops_per_s);
    let ceiling =
        Ceiling { element, bytes_per_s: None, ops_per_s: Some(ops_per_s), arithmetic, used };
    Bound { kind: Kind::Earlier, ceiling }
}

#[cfg(test)]
mod tests {
    use candor_plan::Bytes;
    use candor_plan::blocks::Access;
    use candor_plan::units::PerDirection;

    use super::*;
    use crate::testcase::TestCase;
    use candor_record::PhaseRecord;

    /// A random read at depth 32, after `earlier` with its work changed by `change`.
    fn after(earlier: TestCase, change: impl FnOnce(&mut Blocks)) -> Vec<Bound> {
        let mut case = TestCase::direct(4096, 32, 1, 64_000.0);
        let mut phase = case.plan.phases[0].clone();
        if let Some(blocks) = phase.jobs[0].blocks_mut() {
            change(blocks);
        }
        case.plan.phases.insert(0, phase);
        case.record.phase = 1;
        case.after(vec![PhaseRecord { phase: 0, name: "before".into(), ..earlier.recorded() }]);
        bounds(&case.observed())
    }

    #[test]
    fn one_at_a_time_bounds_many() {
        let bounds = after(TestCase::direct(4096, 1, 1, 10_000.0), |blocks| blocks.depth = 1);
        assert_eq!(bounds.len(), 1);
        assert_eq!(bounds[0].ceiling.arithmetic, "32 ÷ 100 µs = 320k IOPS");
        assert!((bounds[0].ceiling.used.unwrap() - 0.2).abs() < 0.01);
    }

    #[test]
    fn the_sequential_rate_bounds_small_operations() {
        let bounds = after(TestCase::direct(1 << 20, 8, 1, 500.0), |blocks| {
            blocks.access = Access::Sequential;
            blocks.size = PerDirection::all(SizeSpec::Fixed(Bytes(1 << 20)));
        });
        assert_eq!(bounds.len(), 1);
        assert_eq!(bounds[0].ceiling.arithmetic, "524 MB/s ÷ 4 KiB = 128k IOPS");
    }

    #[test]
    fn other_work_bounds_nothing() {
        let buffered = after(TestCase::direct(4096, 1, 1, 10_000.0), |blocks| {
            (blocks.depth, blocks.direct) = (1, false);
        });
        assert_eq!(buffered, []);
    }
}
