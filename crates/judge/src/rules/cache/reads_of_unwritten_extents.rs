//! A9: reading blocks that were reserved but never written.

use candor_plan::units::Direction;
use candor_record::facts::value;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, MeasuredInstead, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::cache::unread_ranges::{self, Verdict};
use crate::setup::SetupFacts;
use crate::stage::Stage;
use crate::thresholds::UNREAD_SHARE;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A9",
        title: "reads of unwritten blocks",
        explanation: "fallocate reserves blocks without writing them. The filesystem marks such \
            blocks and returns zeros without disk access, also with O_DIRECT, although st_blocks \
            shows a complete file. candor reads the extents of the files (FIEMAP) and finds \
            unwritten extents. If the bytes really fetched cover the reads, the test read no \
            unwritten extents and candor reports nothing. Write the file once; never preallocate \
            for a read test.",
    },
    stage: Stage::Content,
    limit: Some(LimitClass::Memory),
    before: Some(before),
    after,
};

/// Share and bytes of what was reserved and never written.
fn share(setup: &SetupFacts) -> Option<(f64, f64)> {
    let files = unread_ranges::read_files(setup);
    let bytes: f64 = files
        .iter()
        .map(|file| value(&file.extents).map_or(0.0, |extents| extents.unwritten_bytes as f64))
        .sum();
    let size: f64 = files.iter().map(|file| file.size_bytes as f64).sum();
    (bytes > 0.0).then(|| (ratio(bytes, size).min(1.0), bytes))
}

fn before(setup: &SetupFacts) -> Outcome {
    let Some((share, bytes)) = share(setup).filter(|_| setup.written_by().is_none()) else {
        return Outcome::Nothing;
    };
    let heavy = share >= UNREAD_SHARE.value;
    let severity = if heavy { Severity::Wrong } else { Severity::Caution };
    let sentence = format!(
        "{} of the data set was preallocated and never written; reads need no disk.",
        fmt::percent(share)
    );
    Outcome::one(finding(severity, sentence, bytes))
}

fn after(observed: &Observed) -> Outcome {
    let Some((share, bytes)) = share(&observed.setup) else { return Outcome::Nothing };
    let severity = match unread_ranges::verdict(observed, share, true) {
        Verdict::Untouched => return Outcome::Nothing,
        Verdict::Caution => Severity::Caution,
        Verdict::Decides => Severity::Wrong,
    };
    let sentence = format!(
        "{} of the data set was preallocated and never written: {} is the filesystem returning \
         zeros.",
        fmt::percent(share),
        fmt::rate(observed.bytes_per_s(Direction::Read))
    );
    Outcome::one(finding(severity, sentence, bytes))
}

fn finding(severity: Severity, sentence: String, bytes: f64) -> Finding {
    let draft = FindingBuilder::new("A9", severity, sentence)
        .confidence(Confidence::Certain)
        .evidence("bytes never written", Quantity::bytes(bytes), "FIEMAP flag UNWRITTEN")
        .advice("Write the file once with random data: layout = \"write\".", None);
    match severity {
        Severity::Wrong => {
            draft.measures(MeasuredInstead::UnwrittenBlocks).limits(Limit::UnwrittenBlocks)
        }
        _ => draft,
    }
    .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    fn preallocated() -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 1_440_000.0);
        case.file().extents.as_mut().unwrap().value.unwritten_bytes = 1024 * MIB;
        case.process_read(0);
        case
    }

    #[test]
    fn zeros_of_the_filesystem_are_not_the_disk() {
        let found = preallocated().found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert!(found[0].sentence.contains("5.9 GB/s"), "{}", found[0].sentence);
        assert!(preallocated().preflight().iter().any(|finding| finding.rule == "A9"));
    }

    #[test]
    fn written_files_and_write_tests_are_silent() {
        assert_eq!(TestCase::direct(4096, 1, 1, 1e4).found(&RULE), []);
        let mut write = TestCase::direct_write();
        write.file().extents.as_mut().unwrap().value.unwritten_bytes = 1024 * MIB;
        assert_eq!(write.found(&RULE), []);
        assert!(write.preflight().iter().all(|finding| finding.rule != "A9"));
    }

    #[test]
    fn a_phase_that_writes_it_first_makes_it_good() {
        let mut case = preallocated();
        let mut fill = case.plan.phases[0].clone();
        fill.name = "fill".into();
        fill.jobs[0].blocks_mut().unwrap().mix = candor_plan::units::Mix::WRITE;
        case.plan.phases.insert(0, fill);
        case.record.phase = 1;
        assert!(case.preflight().iter().all(|finding| finding.rule != "A9"));
    }
}
