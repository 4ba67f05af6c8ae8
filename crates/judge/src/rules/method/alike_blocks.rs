//! G15: blocks that are all alike.

use candor_plan::blocks::{Content, Fill, Pattern, WordKind};
use candor_plan::units::Direction;
use candor_record::{Confidence, Finding, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{ALIKE_PERCENT, BYTES_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G15",
        title: "the written blocks were alike",
        explanation: "Drives, arrays and filesystems that compress or deduplicate store alike \
            blocks in almost no space, at rates impossible with real data. Alike blocks are zeros, \
            a pattern, or the same bytes in every block. candor checks the content in the plan: \
            content that repeats from block to block, or content set to compress or duplicate by \
            more than half. The number is valid for such data and for devices that store bytes \
            unchanged. In the default content (pool), no two blocks are alike.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let found = observed.ran.iter().filter_map(of_job);
    found.collect::<Vec<_>>().into()
}

fn of_job(ran: &Ran) -> Option<Finding> {
    let written = ran.measured.of(Direction::Write).bytes as f64;
    let how = alike(&ran.blocks.content)?;
    (ran.does(Direction::Write) && written >= BYTES_MIN.value).then(|| finding(ran, &how))
}

/// In what way blocks are alike.
fn alike(content: &Content) -> Option<String> {
    let much = |percent: u8| f64::from(percent) > ALIKE_PERCENT.value;
    match content.fill {
        Fill::Zero => Some("zeros".into()),
        Fill::Once => Some("the same bytes in every operation".into()),
        Fill::Pattern if !marked(content) => Some("a pattern that repeats".into()),
        _ if much(content.duplicate_percent) => {
            Some(format!("{} % copies of other blocks", content.duplicate_percent))
        }
        _ if much(content.compressible_percent) => {
            Some(format!("{} % compressible", content.compressible_percent))
        }
        Fill::Words => words(content),
        Fill::Pool | Fill::Fresh | Fill::Stamp | Fill::Pattern => None,
    }
}

/// In what way words are alike: most of them count up or repeat.
fn words(content: &Content) -> Option<String> {
    Some(match content.words?.kind {
        WordKind::Random => return None,
        WordKind::Timestamp => "integers that are the same in every operation of a rank".into(),
        WordKind::Offset => "integers that count up, except one in 512".into(),
        WordKind::Incompressible => "one integer repeated, except one in 512".into(),
    })
}

/// The pattern holds its offset, so that it differs from place to place.
fn marked(content: &Content) -> bool {
    let at = |offset| {
        let mut bytes = [0; Pattern::BYTES_MAX];
        if let Some(pattern) = &content.pattern {
            pattern.fill(&mut bytes, offset);
        }
        bytes
    };
    at(0) != at(1 << 20)
}

fn finding(ran: &Ran, how: &str) -> Finding {
    let sentence = format!(
        "The written content was {how}: storage that compresses or deduplicates had almost no \
         work."
    );
    FindingBuilder::new("G15", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Possible)
        .evidence("content", how, "plan")
        .advice("Write the default content without alike blocks.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::blocks::Words;

    use super::*;
    use crate::testcase::TestCase;

    fn writing(change: impl FnOnce(&mut Content)) -> Vec<Finding> {
        let mut case = TestCase::direct_write();
        change(&mut case.blocks().content);
        case.found(&RULE)
    }

    #[test]
    fn zeros_one_buffer_and_duplicates_are_reported() {
        for fill in [Fill::Zero, Fill::Once, Fill::Pattern] {
            assert_eq!(writing(|content| content.fill = fill).len(), 1, "{fill:?}");
        }
        let words = |kind| {
            writing(|content| {
                content.fill = Fill::Words;
                content.words = Some(Words { kind, ..Words::default() });
            })
        };
        assert_eq!(words(WordKind::Random), []);
        assert!(words(WordKind::Timestamp)[0].sentence.contains("same in every operation"));
        assert_eq!(words(WordKind::Offset).len() + words(WordKind::Incompressible).len(), 2);
        let found = writing(|content| content.duplicate_percent = 80);
        assert!(found[0].sentence.contains("80 % copies"), "{found:?}");
        assert_eq!(writing(|content| content.compressible_percent = 90).len(), 1);
    }

    #[test]
    fn distinct_blocks_are_silent_and_reads_too() {
        assert_eq!(writing(|_| {}), []);
        assert_eq!(writing(|content| content.compressible_percent = 30), []);
        fn marked(content: &mut Content) {
            content.fill = Fill::Pattern;
            content.pattern = Pattern::empty().then(b"abc").then_offset().finish();
        }
        assert_eq!(writing(marked), []);
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.blocks().content.fill = Fill::Zero;
        assert_eq!(case.found(&RULE), []);
    }
}
