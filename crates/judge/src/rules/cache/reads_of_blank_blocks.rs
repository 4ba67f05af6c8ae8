//! A10: blocks below the block layer that hold nothing.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceKind, value};
use candor_record::fmt::{self, ratio};
use candor_record::{
    Confidence, Finding, Limit, LimitClass, MeasuredInstead, PhaseRecord, Quantity, Severity,
    ZramPages,
};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BLANK, BLANK_SHARE, BYTES_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A10",
        title: "reads of blank blocks",
        explanation: "A drive answers reads of trimmed or never written blocks from its tables, \
            without access to the medium. A thin volume does the same, and the block layer counts \
            such reads like any other. zram reports its stored bytes. For other devices candor \
            compares passes of one run: if reads were 1.5 times faster before the blocks were \
            written than after, the first pass read blank blocks. Write the whole range with \
            random data before reading.",
    },
    stage: Stage::Target,
    limit: Some(LimitClass::Memory),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let blank = observed.host.after.state.zram.iter().filter_map(|zram| of_zram(observed, zram));
    let faster = observed.ran.iter().filter_map(|ran| before_writing(observed, ran));
    blank.chain(faster).collect::<Vec<_>>().into()
}

/// A zram device that holds less than was within reach: what it holds nothing of, or only one
/// repeated word, costs it nothing to read.
fn of_zram(observed: &Observed, zram: &ZramPages) -> Option<Finding> {
    let top = observed.tops().into_iter().find(|top| top.name == zram.device)?;
    if !observed.does(Direction::Read)
        || observed.does(Direction::Write)
        || top.kind != DeviceKind::Zram
    {
        return None;
    }
    // Without a word about the range, the run reached all of the device.
    let anywhere = |ran: &Ran| ran.blocks.range == Default::default();
    let target = observed.targets().into_iter().find(|t| value(&t.device) == Some(&top.name))?;
    let sized = observed.plan.target(&target.target).is_none_or(|target| target.size.is_some());
    let content = zram.stored_bytes.saturating_sub(zram.same_filled_bytes) as f64;
    let blank = 1.0 - ratio(content, top.size_bytes as f64);
    let covers =
        observed.app(Direction::Read).bytes >= BYTES_MIN.value && observed.ran.iter().all(anywhere);
    (covers && !sized && blank > BLANK_SHARE.value).then(|| {
        let sentence = format!(
            "{} of {} was never written, or holds one repeated value; reads need no stored data.",
            fmt::percent(blank),
            zram.device
        );
        let from = format!("/sys/class/block/{}/mm_stat", zram.device);
        FindingBuilder::new("A10", Severity::Wrong, sentence)
            .confidence(Confidence::Certain)
            .measures(MeasuredInstead::BlankBlocks)
            .limits(Limit::BlankBlocks)
            .evidence("stored bytes", Quantity::bytes(zram.stored_bytes as f64), from.clone())
            .evidence(
                "bytes of one repeated value",
                Quantity::bytes(zram.same_filled_bytes as f64),
                from,
            )
            .advice("Write all blocks with random data first.", None)
            .done()
    })
}

/// The same reads were much faster before a phase in between wrote the blocks.
fn before_writing(observed: &Observed, ran: &Ran) -> Option<Finding> {
    let reads_only = |ran: &Ran| ran.does(Direction::Read) && !ran.does(Direction::Write);
    if !reads_only(ran) || !ran.blocks.direct || observed.ran.len() > 1 {
        return None;
    }
    let now = ran.measured.of(Direction::Read).bytes_per_s;
    // The first phase that wrote, and one before it that read: whatever came later was not blank.
    let written = observed.earlier.iter().position(|report| wrote(observed, report, ran))?;
    let mut before = observed.earlier.iter().take(written).filter(|report| !report.search_step);
    let blank = before.find(|report| reads_alike(observed, report, ran))?;
    let before = blank.measurements.first()?.of(Direction::Read).bytes_per_s;
    let times = ratio(before, now);
    (times > BLANK.value).then(|| {
        let sentence = format!(
            "Phase {} read the same blocks {}× faster before they were written: the blocks were \
             blank.",
            blank.name,
            fmt::number(times)
        );
        FindingBuilder::new("A10", Severity::Explains, sentence)
            .confidence(Confidence::Likely)
            .evidence(
                "rate before the blocks were written",
                Quantity::bytes_per_s(before),
                "candor",
            )
            .evidence("rate now", Quantity::bytes_per_s(now), "candor")
            .advice("Use this rate; the earlier rate is the speed of blank blocks.", None)
            .done()
    })
}

fn wrote(observed: &Observed, report: &PhaseRecord, ran: &Ran) -> bool {
    let jobs = observed.phase_of(report).into_iter().flat_map(|phase| &phase.jobs);
    let ours = jobs.flat_map(|job| &job.targets).any(|name| ran.job.targets.contains(name));
    ours && report
        .measurements
        .iter()
        .any(|m| m.of(Direction::Write).bytes as f64 >= BYTES_MIN.value)
}

fn reads_alike(observed: &Observed, report: &PhaseRecord, ran: &Ran) -> bool {
    let Some(job) = observed.only_job_of(report) else { return false };
    let alike = |blocks: &candor_plan::Blocks| {
        blocks.mix == ran.blocks.mix
            && blocks.size == ran.blocks.size
            && blocks.depth == ran.blocks.depth
            && blocks.access == ran.blocks.access
            && blocks.direct == ran.blocks.direct
            && blocks.pace == ran.blocks.pace
    };
    let same = job.targets == ran.job.targets && job.workers == ran.job.workers;
    same && job.blocks().is_some_and(alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};
    use candor_plan::units::Mix;

    fn zram(stored_mib: u64, same_mib: u64) -> TestCase {
        let mut case = TestCase::direct(MIB, 1, 1, 5000.0).on_zram();
        case.disk().size_bytes = 64 * MIB;
        case.host.after.state.zram = vec![ZramPages {
            device: "zram0".into(),
            stored_bytes: stored_mib * MIB,
            same_filled_bytes: same_mib * MIB,
        }];
        case
    }

    #[test]
    fn zeros_in_zram_are_nothing() {
        // 64 MiB of zeros: 16384 pages that are the same, no content.
        let found = zram(64, 64).found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert!(found[0].sentence.starts_with("100 % of zram0 was never written"));
        let judgement = zram(0, 0).judge();
        assert_eq!(judgement.rules(), ["A10"], "that it is memory is folded into it");
        assert_eq!(zram(64, 0).found(&RULE), []);
    }

    /// A read pass, a write pass, the read pass again.
    fn rewritten(faster: f64) -> TestCase {
        let mut case = TestCase::direct(MIB, 4, 1, 500.0);
        let read = case.plan.phases[0].clone();
        let mut write = read.clone();
        write.jobs[0].blocks_mut().unwrap().mix = Mix::WRITE;
        case.plan.phases = vec![read.clone(), write, read];
        let mut first = case.record.clone();
        first.measurements[0].of_mut(Direction::Read).bytes_per_s *= faster;
        let mut second = case.record.clone();
        second.phase = 1;
        second.measurements[0].of_mut(Direction::Write).bytes = 1024 * MIB;
        case.record.phase = 2;
        case.earlier = vec![first, second];
        case
    }

    #[test]
    fn what_was_faster_before_it_was_written_was_blank() {
        let found = rewritten(6.1).found(&RULE);
        assert!(found[0].sentence.contains("read the same blocks 6.1× faster before"));
        assert_eq!(rewritten(1.2).found(&RULE), []);
        let mut never = rewritten(6.1);
        never.earlier.remove(1);
        assert_eq!(never.found(&RULE), []);
    }
}
