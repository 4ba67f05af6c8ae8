//! A13: loop devices and the cache of their backing file.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, LoopBacking, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, MeasuredInstead, Severity};

use crate::builder::FindingBuilder;
use crate::flow::Flow;
use crate::foreign;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::SetupFacts;
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, COVERAGE_MEMORY, LEAF_COVERAGE, WRITTEN_OUT};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A13",
        title: "loop device over page cache",
        explanation: "A loop device reads and writes a file, by default through the page cache of \
            that file: direct I/O on the loop is then still answered from memory, and the loop's \
            own counters count it all. candor looks whether the loop bypasses the cache \
            (loop/dio) and compares its bytes with those of the disk below. If the disk moved \
            them it is a remark; if not, the number is that of memory. Set up the loop with \
            losetup --direct-io=on, on a file that was fully written.",
    },
    stage: Stage::LowerCache,
    limit: Some(LimitClass::Memory),
    before: Some(before),
    after,
};

fn loops<'a>(setup: &SetupFacts<'a>) -> Vec<(&'a DeviceFacts, &'a LoopBacking)> {
    let devices = setup.devices().into_iter();
    devices.filter_map(|device| Some((device, device.loop_backing.as_ref()?))).collect()
}

fn before(setup: &SetupFacts) -> Outcome {
    let buffered = |(_, backing): &(_, &LoopBacking)| value(&backing.direct) == Some(&false);
    let found = loops(setup).into_iter().filter(buffered).map(|(device, backing)| {
        let sentence = format!(
            "{} goes through the page cache of {}; direct I/O on it is not direct.",
            device.name, backing.file.value
        );
        draft(device, backing, Severity::Remark, sentence).done()
    });
    found.collect::<Vec<_>>().into()
}

fn after(observed: &Observed) -> Outcome {
    let mut found = Vec::new();
    for (device, backing) in loops(&observed.setup) {
        let Some(direct) = value(&backing.direct) else {
            return Outcome::lacks(format!("whether {} bypasses the page cache", device.name));
        };
        match (direct, below(observed, device, *direct)) {
            (false, share) => found.push(buffered(observed, device, backing, share)),
            (true, Some((Direction::Read, share))) if share < LEAF_COVERAGE.value => {
                found.push(unwritten(device, backing, share));
            }
            (true, _) => {}
        }
    }
    found.into()
}

/// Of what the loop moved in the main direction, the share that the disks below moved.
fn below(observed: &Observed, device: &DeviceFacts, direct: bool) -> Option<(Direction, f64)> {
    let op = observed.main_op();
    let end = observed.host.after_flush.as_ref().unwrap_or(&observed.host.after);
    let upper = observed.flow_of(&device.name)?;
    let leaves = leaves(observed, device);
    let counted = leaves.iter().all(|leaf| value(&leaf.counts_io) != Some(&false));
    let lower = Flow::between(&leaves, &observed.host.before, end).filter(|_| counted)?;
    // What others did on the disk is none of the loop's; one that bypasses the cache does its own.
    let others = if direct { 0.0 } else { foreign::share_below(observed, &leaves, op) };
    let own = 1.0 - others;
    let (upper, lower) = (upper.side(op).bytes, own * lower.side(op).bytes);
    let share = ratio(lower + observed.slack_bytes(op), upper).min(1.0);
    (upper >= BYTES_MIN.value).then_some((op, share))
}

fn leaves<'a>(observed: &Observed<'a>, device: &DeviceFacts) -> Vec<&'a DeviceFacts> {
    let below = observed.chain(&device.name).into_iter().filter(|leaf| leaf.name != device.name);
    let ends = |d: &&DeviceFacts| d.below.iter().all(|b| observed.facts.device(b).is_none());
    below.filter(ends).collect()
}

fn buffered(
    observed: &Observed,
    device: &DeviceFacts,
    backing: &LoopBacking,
    share: Option<(Direction, f64)>,
) -> Finding {
    let names: Vec<_> = leaves(observed, device).iter().map(|leaf| leaf.name.as_str()).collect();
    let least = |op| if op == Direction::Write { WRITTEN_OUT.value } else { LEAF_COVERAGE.value };
    let file = &backing.file.value;
    let (severity, sentence) = match share {
        Some((op, share)) if share < least(op) => (
            Severity::MeasuresElse,
            format!(
                "{} is backed by the cached file {file}: {} moved only {} of its bytes, the rest \
                 is memory.",
                device.name,
                names.join(", "),
                fmt::percent(share)
            ),
        ),
        _ => (
            Severity::Remark,
            format!("{} is backed by {file} through the page cache.", device.name),
        ),
    };
    let draft = draft(device, backing, severity, sentence);
    match severity {
        Severity::MeasuresElse if share.is_some_and(|(_, s)| s >= COVERAGE_MEMORY.value) => {
            draft.measures(MeasuredInstead::PageCacheAndDevice)
        }
        Severity::MeasuresElse => {
            draft.measures(MeasuredInstead::LoopPageCache).limits(Limit::LoopPageCache)
        }
        _ => draft,
    }
    .done()
}

fn unwritten(device: &DeviceFacts, backing: &LoopBacking, share: f64) -> Finding {
    let sentence = format!(
        "The disk below {} moved only {} of its bytes: {} has holes or was never fully written.",
        device.name,
        fmt::percent(share),
        backing.file.value
    );
    draft(device, backing, Severity::MeasuresElse, sentence)
        .confidence(Confidence::Likely)
        .measures(MeasuredInstead::LoopHoles)
        .limits(Limit::LoopHoles)
        .advice("Write the backing file once with random data.", None)
        .done()
}

fn draft(
    device: &DeviceFacts,
    backing: &LoopBacking,
    severity: Severity,
    sentence: String,
) -> FindingBuilder {
    let dio = backing.direct.as_ref().map(|direct| {
        let value = if direct.value { "1" } else { "0" };
        (format!("loop/dio of {}", device.name), value, direct.from.clone())
    });
    FindingBuilder::new("A13", severity, sentence)
        .evidence("backing file", backing.file.value.clone(), backing.file.from.clone())
        .evidence_if(dio)
        .advice(
            format!(
                "Let the loop bypass the cache: losetup --direct-io=on /dev/{} (as root); then \
                 run again.",
                device.name
            ),
            // No run changes how the loop reads its file.
            None,
        )
}

#[cfg(test)]
mod tests {
    use candor_record::requests::{Issuer, RequestStats, Requests};

    use super::*;
    use crate::testcase::{TestCase, fact, moved};

    #[test]
    fn a_cached_backing_file_is_memory() {
        let mut case = TestCase::direct(4096, 32, 1, 400_000.0).on_loop(false);
        case.after_disk(moved(
            Direction::Read,
            100,
            case.record.measurements[0].of(Direction::Read).bytes / 3,
        ));
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::MeasuresElse);
        assert!(found[0].sentence.contains("vda moved only 34 %"), "{}", found[0].sentence);
        assert!(case.preflight().iter().any(|finding| finding.rule == "A13"));
    }

    #[test]
    fn a_part_of_the_bytes_is_a_mix_and_none_of_them_is_the_cache() {
        let of = |share: f64| {
            let mut case = TestCase::direct(4096, 32, 1, 40_000.0).on_loop(false);
            let bytes = case.record.measurements[0].of(Direction::Read).bytes;
            case.after_disk(moved(Direction::Read, 100, (bytes as f64 * share) as u64));
            case.found(&RULE)[0].measures
        };
        assert_eq!(of(0.9), Some(MeasuredInstead::PageCacheAndDevice));
        assert_eq!(of(0.01), Some(MeasuredInstead::LoopPageCache));
    }

    #[test]
    fn bytes_of_others_on_the_disk_are_none_of_the_loops() {
        let mut case = TestCase::direct(4096, 1, 1, 80_000.0).on_loop(false);
        assert_eq!(case.found(&RULE)[0].severity, Severity::Remark);
        let bytes = case.record.measurements[0].of(Direction::Read).bytes;
        let who = Issuer { pid: 99, command: "rsync".into(), count: 9, bytes: bytes / 10 * 9 };
        let seen =
            Requests { device: "vda".into(), bytes, issuers: vec![who], ..Requests::default() };
        case.host.requests = Some(RequestStats { requests: vec![seen], ..RequestStats::default() });
        assert_eq!(case.found(&RULE)[0].severity, Severity::MeasuresElse);
    }

    #[test]
    fn a_cold_backing_file_is_a_remark() {
        let found = TestCase::direct(4096, 32, 1, 40_000.0).on_loop(false).found(&RULE);
        assert_eq!(found[0].severity, Severity::Remark);
    }

    #[test]
    fn a_direct_loop_is_silent_unless_its_file_has_holes() {
        let mut case = TestCase::direct(4096, 32, 1, 40_000.0).on_loop(true);
        assert_eq!(case.found(&RULE), []);
        assert_eq!(case.preflight(), []);
        case.after_disk(moved(Direction::Read, 1, 4096));
        assert_eq!(case.found(&RULE)[0].severity, Severity::MeasuresElse);
    }

    #[test]
    fn a_read_that_never_reached_the_loop_says_nothing_of_its_file() {
        let mut case = TestCase::buffered_read().on_loop(true);
        *case.after_top() = Default::default();
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn without_the_flag_it_says_so() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0).on_loop(true);
        case.host.facts.devices[0].loop_backing.as_mut().unwrap().direct = None;
        assert!(case.lacked(&RULE).unwrap().contains("loop0"));
        case.host.facts.devices[0].loop_backing.as_mut().unwrap().direct = fact(true);
        assert_eq!(case.lacked(&RULE), None);
    }
}
