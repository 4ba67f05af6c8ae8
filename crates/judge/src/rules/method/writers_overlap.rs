//! G22: several workers write the same bytes of a file.

use candor_plan::blocks::{Access, Range, Share};
use candor_plan::units::Direction;
use candor_plan::{Bytes, Sharing, Target, TargetKind};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, REWRITTEN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G22",
        title: "workers write the same range",
        explanation: "Several jobs or workers that write the same range of one file, like clones \
            of a fio job with one filename, replace each other's data. A page cache or a device \
            cache may keep only the last version of a block. The media then receive fewer bytes \
            than all workers wrote. candor reads the ranges of the workers from the plan. candor \
            always reports overlaps of sequential writers; for random writers only after they \
            wrote half the bytes of the range. Give each worker its own range or its own file.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

/// Workers of one job that may write the same bytes of each file of a target.
struct Writers<'a> {
    ran: &'a Ran<'a>,
    target: &'a Target,
    count: u64,
    /// First byte of their range, and the byte after its end.
    range: (u64, u64),
}

fn after(observed: &Observed) -> Outcome {
    let ran =
        observed.ran.iter().filter(|ran| ran.does(Direction::Write) && ran.blocks.zones.is_none());
    let all: Vec<_> = ran.flat_map(|ran| of_job(observed, ran)).collect();
    let groups = all
        .iter()
        .map(|first| -> Vec<&Writers> { all.iter().filter(|other| first.meets(other)).collect() });
    let most = groups.max_by_key(|group| group.iter().map(|writers| writers.count).sum::<u64>());
    most.and_then(|group| finding(&group)).map_or(Outcome::Nothing, Outcome::one)
}

fn of_job<'a>(observed: &Observed<'a>, ran: &'a Ran<'a>) -> Vec<Writers<'a>> {
    let named = || ran.job.targets.iter().filter_map(|name| observed.plan.target(name));
    let files: u64 = named().map(Target::files_named).sum();
    let workers = u64::from(ran.job.workers);
    let count = match (&ran.blocks.share, ran.job.sharing) {
        (Share::Whole, Sharing::Shared) => workers,
        (Share::Whole, Sharing::Own) => workers.div_ceil(files.max(1)),
        _ => 1,
    };
    named()
        .filter_map(|target| {
            let facts = observed.facts.targets.iter().find(|facts| facts.target == target.name);
            let file = || facts?.files.iter().map(|file| file.size_bytes).max();
            let device = || Some(observed.facts.device(&facts?.device.as_ref()?.value)?.size_bytes);
            let size = target.size.map(|size| size.0);
            let size = size.or_else(file).or_else(device).filter(|size| *size > 0)?;
            Some(Writers { ran, target, count, range: bounds(&ran.blocks.range, size)? })
        })
        .collect()
}

/// First byte of the part of a file of that size, and the byte after its end.
fn bounds(range: &Range, size: u64) -> Option<(u64, u64)> {
    let part = |extent: candor_plan::units::Extent| extent.of(Bytes(size)).0;
    let start = part(range.start);
    let end = range.length.map_or(size, |length| start.saturating_add(part(length)));
    (start < end).then_some((start, end))
}

impl Writers<'_> {
    /// Both write common bytes of one file at the same time.
    fn meets(&self, other: &Writers) -> bool {
        let alone = |target: &Target| target.kind != TargetKind::FileSet;
        let same_path = self.target.path == other.target.path;
        let same = same_path && alone(self.target) && alone(other.target);
        (self.target.name == other.target.name || same)
            && self.range.0 < other.range.1
            && other.range.0 < self.range.1
            && self.ran.job.after == other.ran.job.after
    }

    /// Workers write in one order, so that all of them write the same bytes.
    fn in_order(&self) -> bool {
        use Access::{Back, Backward, Holes, Sequential};
        matches!(self.ran.blocks.access, Sequential | Backward | Holes { .. } | Back { .. })
    }
}

fn finding(group: &[&Writers<'_>]) -> Option<Finding> {
    let count: u64 = group.iter().map(|writers| writers.count).sum();
    let target = group.first()?.target;
    let of_files = |writers: &Writers| writers.ran.measured.of(Direction::Write).bytes as f64;
    let written: f64 = group.iter().map(|writers| of_files(writers)).sum();
    let start = group.iter().map(|writers| writers.range.0).min()?;
    let end = group.iter().map(|writers| writers.range.1).max()?;
    let range = (end - start) as f64 * target.files_named().max(1) as f64;
    let in_order = group.iter().all(|writers| writers.in_order());
    let enough = in_order || ratio(written, range) >= REWRITTEN.value;
    if count < 2 || written < BYTES_MIN.value || !enough {
        return None;
    }
    let sentence = format!(
        "{} workers write the same range of {}: later writes replace earlier ones, and a cache or \
         the device may keep fewer bytes than the {} written.",
        fmt::count(count as f64),
        target.path.display(),
        fmt::size(written)
    );
    let confidence = if in_order { Confidence::Certain } else { Confidence::Likely };
    let draft = FindingBuilder::new("G22", Severity::Explains, sentence)
        .confidence(confidence)
        .evidence("workers that write the range", fmt::count(count as f64), "plan")
        .evidence("bytes written", Quantity::bytes(written), "candor")
        .evidence("bytes of the range", Quantity::bytes(range), "plan")
        .advice("Give each worker its own range or its own file.", None);
    Some(match group {
        [only] => draft.job(&only.ran.job.name).done(),
        _ => draft.done(),
    })
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Extent;

    use super::*;
    use crate::testcase::{MIB, TestCase, Workload};

    /// Workers that write one file of 1 GiB in order.
    fn writers(workers: u32) -> TestCase {
        let op = Direction::Write;
        let mut case = Workload { op, workers, ..Workload::default() }.case();
        case.blocks().access = Access::Sequential;
        case.plan.targets[0].size = Some(Bytes(1024 * MIB));
        case
    }

    /// Adds a second job, whose range begins there.
    fn with_second_at(mut case: TestCase, start: u64) -> TestCase {
        let mut second = case.plan.phases[0].jobs[0].clone();
        second.name = "second".into();
        let range = &mut second.blocks_mut().unwrap().range;
        range.start = Extent::Bytes(Bytes(start));
        range.length = Some(Extent::Bytes(Bytes(512 * MIB)));
        case.blocks().range.length = Some(Extent::Bytes(Bytes(512 * MIB)));
        case.plan.phases[0].jobs.push(second);
        let mut measured = case.measured().clone();
        measured.job = "second".into();
        case.record.measurements.push(measured);
        case
    }

    fn silent(case: &TestCase) {
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn workers_in_one_file_are_reported_without_a_doubt() {
        let case = writers(4);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "4 workers write the same range of /data/file: later writes replace earlier ones, and \
             a cache or the device may keep fewer bytes than the 391 MiB written."
        );
        assert_eq!(found[0].severity, Severity::Explains);
        let mut apart = writers(4);
        apart.blocks().share = Share::Slice;
        assert_eq!(case.judge().verdict, apart.judge().verdict);
    }

    #[test]
    fn jobs_with_overlapping_ranges_are_counted_together() {
        let found = with_second_at(writers(1), 256 * MIB).found(&RULE);
        assert_eq!(found.len(), 1);
        assert!(found[0].sentence.starts_with("2 workers write the same range"), "{found:?}");
        silent(&with_second_at(writers(1), 512 * MIB));
        let mut after = with_second_at(writers(1), 0);
        after.plan.phases[0].jobs[1].after = vec!["job".into()];
        silent(&after);
    }

    #[test]
    fn slices_own_files_reads_and_one_worker_are_silent() {
        silent(&writers(1));
        let mut slices = writers(4);
        slices.blocks().share = Share::Slice;
        silent(&slices);
        let mut own = writers(4);
        (own.plan.phases[0].jobs[0].sharing, own.plan.targets[0].files) = (Sharing::Own, 4);
        own.plan.targets[0].kind = TargetKind::FileSet;
        silent(&own);
        own.plan.targets[0].files = 2;
        assert_eq!(own.found(&RULE).len(), 1);
        silent(&TestCase::direct(4096, 32, 4, 60_000.0));
    }

    #[test]
    fn random_writes_are_reported_once_they_covered_half_a_range() {
        let mut case = writers(4);
        case.blocks().access = Access::Random;
        silent(&case);
        case.plan.targets[0].size = Some(Bytes(512 * MIB));
        assert_eq!(case.found(&RULE).len(), 1);
    }
}
