//! A20: a cache that was wanted and did not answer.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage::{self, Cover};
use crate::entry_jobs::{self, EntryJob};
use crate::evidence;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, COVERAGE_MEMORY, NAME_BYTES};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A20",
        title: "the wanted cache missed",
        explanation: "The plan expects caches of this host to answer (`wants_cache`), as for an \
            application that relies on caches. A device may have supplied 5 % or more of the bytes \
            read, or half an inode or more for each name lookup. The number is then a mix of \
            memory and device, or the speed of the device. Run a pass first that reads all the \
            data, and check that the data fits into memory.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if !observed.wants_cache() {
        return Outcome::Nothing;
    }
    match coverage::of_reads(observed) {
        Cover::Unknown(lacked) => Outcome::lacks(lacked),
        Cover::Known { share, bytes, from, .. } if share >= COVERAGE_MEMORY.value => {
            let sentence = format!(
                "{} of the bytes read came from {}, although the plan expects a cache to answer.",
                fmt::percent(share),
                observed.device_names()
            );
            Outcome::one(finding(sentence, "bytes fetched from storage", bytes, from))
        }
        Cover::Known { .. } | Cover::Small => of_names(observed),
    }
}

fn of_names(observed: &Observed) -> Outcome {
    let on_names = entry_jobs::ran(observed);
    let looks: Vec<&EntryJob> = on_names.iter().filter(|names| names.looks()).collect();
    let Some(seen) = evidence::seen(observed, Direction::Read).filter(|_| !looks.is_empty()) else {
        return Outcome::Nothing;
    };
    let unique: f64 = looks.iter().map(|names| names.names_done(observed)).sum();
    if seen.bytes < (unique * NAME_BYTES.value).max(BYTES_MIN.value) {
        return Outcome::Nothing;
    }
    let sentence = format!(
        "{} supplied {} for each of {}, although the plan expects a cache to answer.",
        seen.by,
        fmt::size(ratio(seen.bytes, unique)),
        fmt::plural(unique, "name", "names")
    );
    Outcome::one(finding(sentence, "bytes read by the filesystem", seen.bytes, seen.from))
}

fn finding(sentence: String, quantity: &str, bytes: f64, from: String) -> Finding {
    FindingBuilder::new("A20", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .evidence(quantity, Quantity::bytes(bytes), from)
        .advice(
            "Run a pass over all the data first, and check that the data fits into memory.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Step;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn a_device_that_gave_half_of_the_bytes_is_remarked_and_no_denial() {
        let mut case = TestCase::buffered_read().wanting_cache();
        let bytes = case.record.measurements[0].of(Direction::Read).bytes;
        case.process_read(bytes / 2);
        let judged = case.judge();
        let found = judged.finding("A20").expect("it missed");
        assert!(found.sentence.starts_with("50 % of the bytes read came from vda"), "{found:?}");
        assert_eq!(judged.finding("A1"), None);
        assert_eq!(judged.verdict, Verdict::Caution);
    }

    #[test]
    fn names_that_a_device_gave_are_remarked() {
        let mut case = TestCase::on_names(Step::Stat, 5000, 9000.0).wanting_cache();
        case.process_read(5000 * 1000);
        case.after_top().read_sectors = 5000 * 1000 / 512;
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("for each of 5000 names"), "{found:?}");
    }

    #[test]
    fn caches_that_answered_and_caches_that_nobody_wants_are_silent() {
        assert_eq!(TestCase::buffered_read().wanting_cache().found(&RULE), []);
        let mut case = TestCase::buffered_read();
        let bytes = case.record.measurements[0].of(Direction::Read).bytes;
        case.process_read(bytes / 2);
        assert_eq!(case.found(&RULE), []);
        let mut few = TestCase::on_names(Step::Stat, 50, 9000.0).wanting_cache();
        few.process_read(50 * 1000);
        few.after_top().read_sectors = 50 * 1000 / 512;
        assert_eq!(few.found(&RULE), [], "others read as much");
    }
}
