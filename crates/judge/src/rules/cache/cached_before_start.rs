//! A2: the data set is cached before it is read.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{CacheState, Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::coverage;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::SetupFacts;
use crate::stage::Stage;
use crate::thresholds::CACHED_AT_START;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A2",
        title: "data cached before the phase",
        explanation: "A host that has just written or read a file still has the data in memory, \
            and a buffered read never leaves the host. Whole clusters have published the speed of \
            their memory because of this. candor reads the cached share of the files from the \
            kernel before the start and warns from 5 % on. After the run, the bytes really fetched \
            decide (A1). Read data that another host wrote, evict the files, or read directly.",
    },
    stage: Stage::CacheState,
    limit: None,
    before: Some(before),
    after,
};

fn before(setup: &SetupFacts) -> Outcome {
    if !reads_buffered(setup) {
        return Outcome::Nothing;
    }
    let Some(cache) = setup.before.cache else {
        return Outcome::lacks("the cached share of the files");
    };
    let share = ratio(cache.resident_bytes as f64, cache.size_bytes as f64);
    if share <= CACHED_AT_START.value {
        return Outcome::Nothing;
    }
    Outcome::one(finding(setup, cache, share))
}

fn reads_buffered(setup: &SetupFacts) -> bool {
    setup.jobs.iter().any(|job| job.does(Direction::Read) && !job.blocks.direct)
}

/// After the run, what was fetched says more than what was cached: where all was fetched, nothing
/// is left to say; else this is the reason that A1 has. After a ramp the cache shows what the ramp
/// has read.
fn after(observed: &Observed) -> Outcome {
    if observed.phase.has_ramp() || coverage::of_reads(observed).is_full() {
        return Outcome::Nothing;
    }
    before(&observed.setup)
}

fn finding(setup: &SetupFacts, cache: CacheState, share: f64) -> Finding {
    let since = match setup.written_by() {
        Some(phase) => format!(" from phase {phase}, which wrote it on this host"),
        None => String::new(),
    };
    let sentence = format!(
        "{} of the data set is still cached{since}; reading it measures memory.",
        fmt::percent(share)
    );
    let reader = setup.jobs.iter().find(|job| job.does(Direction::Read) && !job.blocks.direct);
    let command = reader.and_then(|job| Command::of(setup.plan, job));
    FindingBuilder::new("A2", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("cached", Quantity::bytes(cache.resident_bytes as f64), "cachestat or mincore")
        .evidence("files together", Quantity::bytes(cache.size_bytes as f64), "stat")
        .advice(
            "Evict the files first, read data that another host wrote, or read directly.",
            command.map(Command::evict),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    fn cached(mib: u64) -> TestCase {
        let mut case = TestCase::buffered_read();
        case.host.before.cache.as_mut().unwrap().resident_bytes = mib * MIB;
        case
    }

    #[test]
    fn a_cached_file_is_warned_of_before_the_run() {
        let preflight = cached(635).preflight();
        let found = preflight.iter().find(|finding| finding.rule == "A2").unwrap();
        assert_eq!(found.severity, Severity::Caution);
        assert!(found.sentence.starts_with("62 % of the data set"), "{}", found.sentence);
    }

    #[test]
    fn the_phase_that_wrote_it_is_named() {
        let mut case = cached(635);
        let mut write = case.plan.phases[0].clone();
        write.name = "fill".into();
        write.jobs[0].blocks_mut().unwrap().mix = candor_plan::units::Mix::WRITE;
        case.plan.phases.insert(0, write);
        case.record.phase = 1;
        let preflight = case.preflight();
        let found = preflight.iter().find(|finding| finding.rule == "A2").unwrap();
        assert!(found.sentence.contains("from phase fill"), "{}", found.sentence);
    }

    #[test]
    fn a_cold_file_or_a_direct_read_is_not() {
        assert!(cached(10).preflight().iter().all(|finding| finding.rule != "A2"));
        let mut direct = cached(1024);
        direct.blocks().direct = true;
        assert!(direct.preflight().iter().all(|finding| finding.rule != "A2"));
    }

    #[test]
    fn after_the_run_the_bytes_decide() {
        let mut case = cached(635);
        let judgement = case.judge();
        assert!(judgement.finding("A2").is_none());
        let consequences = &judgement.finding("A1").unwrap().consequences;
        assert!(consequences.iter().any(|of| of.is_reason && of.rule == "A2"), "{consequences:?}");
        let read = case.measured().of(Direction::Read).bytes;
        case.process_read(read);
        assert_eq!(case.found(&RULE), []);
        case.host.after.process_io = None;
        case.host.facts.targets[0].device = None;
        assert_eq!(case.found(&RULE).len(), 1);
    }
}
