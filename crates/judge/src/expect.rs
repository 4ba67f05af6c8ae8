//! Expectations from earlier phases of the same run, where no link or limit gives one.
//!
//! Two extrapolations, both with their arithmetic: small operations cannot move more bytes than
//! large sequential ones did, and N at a time cannot do more than N times what one at a time did.
//! Whole small files are held against the same, on one file of the same device. They are
//! expectations, not laws: a cache that has warmed up may pass them, so no rule takes them for a
//! limit.

use candor_plan::entries::Step;
use candor_plan::units::{Direction, SizeSpec};
use candor_plan::{Blocks, Job};
use candor_record::facts::{TargetFacts, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Ceiling, OpStats};

use crate::bound::{Bound, Kind, as_ops};
use crate::entry_jobs::{self, EntryJob};
use crate::observed::{Observed, Ran};
use crate::thresholds::MUCH_SMALLER;

/// Expectations for the phase's only job; none where several jobs share the target.
pub fn bounds(observed: &Observed) -> Vec<Bound> {
    let [ran] = observed.ran.as_slice() else { return files(observed).into_iter().collect() };
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
    fn durable(blocks: &Blocks) -> (candor_plan::blocks::OpenSync, u64, u64) {
        let d = &blocks.durability;
        (d.open, d.fsync_every, d.fdatasync_every)
    }
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
    let element = format!("bytes that `{name}` moved");
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
    Some(bound("scaled from one operation at a time".into(), ops_per_s, arithmetic, stats))
}

/// Expectation for the phase's only job, where it writes or reads whole files of one size: what one
/// file on the same device gave before.
fn files(observed: &Observed) -> Option<Bound> {
    let ([names], [_]) = (&entry_jobs::ran(observed)[..], &observed.phase.jobs[..]) else {
        return None;
    };
    let size = size_of_files(names, observed)?;
    let (writes, reads) = (names.entries.has(Step::Write), names.entries.has(Step::Read));
    let op = match (writes, reads) {
        (true, false) if names.entries.syncfs_at_end || names.entries.direct => Direction::Write,
        (false, true) if names.entries.direct => Direction::Read,
        _ => return None,
    };
    let stats = names.measured.operation("item");
    let before = observed.believed_before().filter_map(|report| {
        let job = observed.only_job_of(report)?;
        let blocks = job.blocks().filter(|blocks| blocks.mix.of(op) == 100)?;
        on_same_device(observed, job, names).then_some((report, job, blocks))
    });
    let bounds = before.filter_map(|(report, job, blocks)| {
        let before = report.measurements[0].of(op);
        let (_, at_once) = single(blocks)?;
        let is_alone = job.workers == 1 && blocks.depth == 1 && blocks.access.is_random();
        if op == Direction::Read && is_alone && at_once == size && blocks.direct {
            let (mean_ns, workers) = (before.latency.as_ref()?.mean_ns, names.in_progress());
            let per_s = ratio(workers * 1e9, mean_ns);
            let text = format!("{workers} ÷ {} = {}", fmt::time(mean_ns), fmt::iops(per_s));
            return Some(bound(format!("the read rate of `{}`", report.name), per_s, text, stats));
        }
        let is_large = !blocks.access.is_random() && at_once >= MUCH_SMALLER.value * size;
        let (per_s, text) = as_ops(before.bytes_per_s, size).filter(|_| is_large)?;
        Some(bound(format!("bytes that `{}` moved", report.name), per_s, text, stats))
    });
    let rate = |bound: &Bound| bound.ceiling.ops_per_s.unwrap_or(f64::INFINITY);
    bounds.min_by(|a, b| rate(a).total_cmp(&rate(b)))
}

/// The one size of all files of a tree that are read or written by one call each.
fn size_of_files(names: &EntryJob, observed: &Observed) -> Option<f64> {
    let [target] = names.planned(observed)[..] else { return None };
    match (&target.tree.as_ref()?.file_size, names.entries.size) {
        (SizeSpec::Fixed(size), None) if size.0 > 0 => Some(size.0 as f64),
        _ => None,
    }
}

/// All targets of a job lie on the device that those on names lie on.
fn on_same_device(observed: &Observed, job: &Job, names: &EntryJob) -> bool {
    let device_of = |target: &TargetFacts| value(&target.device).cloned();
    let known = names.targets(observed);
    let Some(device) = known.first().and_then(|target| device_of(target)) else { return false };
    let of_job = |target: &&TargetFacts| job.targets.contains(&target.target);
    let mut facts = observed.facts.targets.iter().filter(of_job).peekable();
    facts.peek().is_some() && facts.all(|target| device_of(target).as_ref() == Some(&device))
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

    /// Files of 4 KiB read past the cache, after random reads of 4 KiB one at a time.
    fn files_after(earlier: TestCase, target: &str) -> Vec<Bound> {
        let mut case = TestCase::on_names(Step::Open, 5000, 8000.0);
        let mut phase = earlier.plan.phases[0].clone();
        phase.jobs[0].targets = vec![target.into()];
        let mut facts = earlier.host.facts.targets[0].clone();
        facts.target = "one file".into();
        case.host.facts.targets.push(facts);
        let name = case.plan.phases[0].jobs[0].targets[0].clone();
        let named = case.plan.targets.iter_mut().find(|target| target.name == name).unwrap();
        named.tree = Some(candor_plan::Tree {
            items: 5000,
            file_size: SizeSpec::Fixed(Bytes(4096)),
            ..candor_plan::Tree::default()
        });
        let candor_plan::Work::Entries(entries) = &mut case.plan.phases[0].jobs[0].work else {
            panic!("names")
        };
        entries.over = candor_plan::entries::Over::Items;
        entries.steps = vec![Step::Open, Step::Read, Step::Close];
        entries.direct = true;
        let item = &candor_plan::entries::OPERATIONS[candor_plan::entries::ITEM as usize];
        *case.measured().operation_mut(item) =
            OpStats { ops: 5000, ops_per_s: 8000.0, ..OpStats::of(item) };
        case.plan.phases.insert(0, phase);
        case.record.phase = 1;
        case.after(vec![PhaseRecord { phase: 0, name: "random".into(), ..earlier.recorded() }]);
        bounds(&case.observed())
    }

    #[test]
    fn files_are_held_against_one_file_of_the_device() {
        let bounds = files_after(TestCase::direct(4096, 1, 1, 10_000.0), "one file");
        assert_eq!(bounds.len(), 1);
        assert_eq!(bounds[0].ceiling.arithmetic, "1 ÷ 100 µs = 10k IOPS");
        assert_eq!(bounds[0].ceiling.used, Some(0.8));
        assert_eq!(files_after(TestCase::direct(4096, 1, 1, 10_000.0), "elsewhere"), []);
    }

    #[test]
    fn other_work_bounds_nothing() {
        let buffered = after(TestCase::direct(4096, 1, 1, 10_000.0), |blocks| {
            (blocks.depth, blocks.direct) = (1, false);
        });
        assert_eq!(buffered, []);
    }
}
