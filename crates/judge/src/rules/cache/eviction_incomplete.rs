//! A6: eviction that left pages behind.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::{Planned, SetupFacts};
use crate::stage::Stage;
use crate::thresholds::EVICTION_LEFT;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A6",
        title: "eviction left pages cached",
        explanation: "Dropping a file from the page cache is only a request. For dirty pages the \
            kernel starts writing and drops nothing, and pages mapped by any process stay. candor \
            flushes, drops, checks and repeats. candor then reports the pages still resident, with \
            a caution from 1 % on. Close processes that map the file, drop all caches as root, or \
            run in a control group with little memory.",
    },
    stage: Stage::CacheState,
    limit: None,
    before: Some(before),
    after,
};

fn evicts(job: &Planned) -> bool {
    job.blocks.hints.evict && !job.blocks.direct && job.does(Direction::Read)
}

fn before(setup: &SetupFacts) -> Outcome {
    if !setup.jobs.iter().any(evicts) {
        return Outcome::Nothing;
    }
    if setup.phase.has_ramp() {
        return Outcome::lacks("the cached share before the ramp; the ramp itself fills the cache");
    }
    let Some(cache) = setup.before.cache else {
        return Outcome::lacks("the cached share of the files after the eviction");
    };
    if cache.resident_bytes == 0 {
        return Outcome::Nothing;
    }
    let share = ratio(cache.resident_bytes as f64, cache.size_bytes as f64);
    let severity = if share > EVICTION_LEFT.value { Severity::Caution } else { Severity::Explains };
    let sentence = format!(
        "Eviction left {} of the data set resident: dirty, or mapped by another process.",
        fmt::percent(share)
    );
    Outcome::one(
        FindingBuilder::new("A6", severity, sentence)
            .confidence(Confidence::Certain)
            .evidence(
                "resident",
                Quantity::bytes(cache.resident_bytes as f64),
                "cachestat or mincore",
            )
            .evidence("files together", Quantity::bytes(cache.size_bytes as f64), "stat")
            .advice(
                "End processes that map the files, or drop all caches as root: sync; echo 1 > \
                 /proc/sys/vm/drop_caches",
                None,
            )
            .done(),
    )
}

fn after(observed: &Observed) -> Outcome {
    before(&observed.setup)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    fn evicted(left_mib: u64) -> TestCase {
        let mut case = TestCase::buffered_read();
        case.blocks().hints.evict = true;
        case.host.before.cache.as_mut().unwrap().resident_bytes = left_mib * MIB;
        case
    }

    #[test]
    fn what_is_left_is_said() {
        let found = evicted(389).found(&RULE);
        assert_eq!(found[0].severity, Severity::Caution);
        assert!(found[0].sentence.starts_with("Eviction left 38 %"), "{}", found[0].sentence);
        assert_eq!(evicted(2).found(&RULE)[0].severity, Severity::Explains);
    }

    #[test]
    fn a_clean_eviction_and_none_at_all_are_silent() {
        assert_eq!(evicted(0).found(&RULE), []);
        let mut none = evicted(500);
        none.blocks().hints.evict = false;
        assert_eq!(none.found(&RULE), []);
    }

    #[test]
    fn after_a_ramp_nobody_can_tell() {
        let mut case = evicted(500);
        case.plan.phases[0].ramp = candor_plan::Nanos::from_secs(2);
        assert!(case.lacked(&RULE).unwrap().contains("ramp"));
        assert!(case.judge().finding("A6").is_none(), "nor may what is foreseen say it");
    }
}
