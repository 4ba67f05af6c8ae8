//! A9: reading blocks that were reserved but never written.

use candor_plan::units::Direction;
use candor_record::facts::value;
use candor_record::{Confidence, Finding, Weight};

use super::unread::{self, Verdict};
use crate::draft::Draft;
use crate::fmt::{self, ratio};
use crate::ground::Ground;
use crate::rule::{Outcome, Rule, RuleText};
use crate::thresholds::UNREAD_GROUND;
use crate::view::View;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A9",
        title: "reads of unwritten blocks need no disk",
        explanation: "fallocate reserves blocks without writing them; the filesystem remembers \
            that and gives zeros without asking the disk, also with O_DIRECT, although st_blocks \
            looks complete. candor asks for the extents of the files (FIEMAP) and looks for the \
            unwritten ones. Where the bytes really fetched cover the reads, they were not touched \
            and nothing is said. Write the file once; never preallocate for a read test.",
    },
    before: Some(before),
    after,
};

/// Share and bytes of what was reserved and never written.
fn share(ground: &Ground) -> Option<(f64, f64)> {
    let files = unread::read_files(ground);
    let unwritten = |file: &&candor_record::facts::FileFacts| {
        value(&file.extents).map_or(0.0, |extents| extents.unwritten_bytes as f64)
    };
    let bytes: f64 = files.iter().map(unwritten).sum();
    let size: f64 = files.iter().map(|file| file.size_bytes as f64).sum();
    (bytes > 0.0).then(|| (ratio(bytes, size).min(1.0), bytes))
}

fn before(ground: &Ground) -> Outcome {
    let Some((share, bytes)) = share(ground).filter(|_| ground.written_by().is_none()) else {
        return Outcome::Nothing;
    };
    let heavy = share >= UNREAD_GROUND.value;
    let weight = if heavy { Weight::MeasuresElse } else { Weight::Remark };
    let sentence = format!(
        "{} of the data set was preallocated and never written; reading it needs no disk.",
        fmt::percent(share)
    );
    Outcome::one(finding(weight, sentence, bytes))
}

fn after(view: &View) -> Outcome {
    let Some((share, bytes)) = share(&view.ground) else { return Outcome::Nothing };
    let weight = match unread::verdict(view, share, true) {
        Verdict::Untouched => return Outcome::Nothing,
        Verdict::Remark => Weight::Remark,
        Verdict::Decides => Weight::MeasuresElse,
    };
    let sentence = format!(
        "{} of the data set was preallocated and never written: {} is the filesystem returning \
         zeros.",
        fmt::percent(share),
        fmt::rate(view.bytes_per_s(Direction::Read))
    );
    Outcome::one(finding(weight, sentence, bytes))
}

fn finding(weight: Weight, sentence: String, bytes: f64) -> Finding {
    let draft = Draft::new("A9", weight, sentence)
        .confidence(Confidence::Certain)
        .evidence("bytes never written", fmt::size(bytes), "FIEMAP flag UNWRITTEN")
        .advice("Write the file once with random data: layout = \"write\".", None);
    match weight {
        Weight::MeasuresElse => draft
            .measures("unwritten blocks: zeros made in memory")
            .limits("memory: the reads hit unwritten blocks"),
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
        assert_eq!(found[0].weight, Weight::MeasuresElse);
        assert!(found[0].sentence.contains("5.9 GB/s"), "{}", found[0].sentence);
        assert!(preallocated().ahead().iter().any(|finding| finding.rule == "A9"));
    }

    #[test]
    fn written_files_and_write_tests_are_silent() {
        assert_eq!(TestCase::direct(4096, 1, 1, 1e4).found(&RULE), []);
        let mut write = TestCase::direct_write();
        write.file().extents.as_mut().unwrap().value.unwritten_bytes = 1024 * MIB;
        assert_eq!(write.found(&RULE), []);
        assert!(write.ahead().iter().all(|finding| finding.rule != "A9"));
    }

    #[test]
    fn a_phase_that_writes_it_first_makes_it_good() {
        let mut case = preallocated();
        let mut fill = case.plan.phases[0].clone();
        fill.name = "fill".into();
        fill.jobs[0].blocks_mut().unwrap().mix = candor_plan::units::Mix::WRITE;
        case.plan.phases.insert(0, fill);
        assert!(case.ahead().iter().all(|finding| finding.rule != "A9"));
    }
}
