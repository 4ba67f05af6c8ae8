//! Findings that need no run.

use candor_record::{Finding, PhaseJudgement};

use crate::case::Case;
use crate::causes;
use crate::rules;
use crate::setup::SetupFacts;
use crate::wanted_cache;

/// The findings that follow from the plan, the facts and the first snapshot alone, heaviest first:
/// depth that the engine ignores, targets in memory, files with holes or unwritten or already
/// cached, loop devices over the page cache, operations smaller than a sector.
pub fn preflight(case: &Case) -> Vec<Finding> {
    let setup = SetupFacts::new(case);
    let mut findings: Vec<Finding> = rules::all().flat_map(|rule| rule.foresee(&setup)).collect();
    if setup.all_memory() {
        findings = causes::in_memory(findings);
    }
    findings = wanted_cache::credit(setup.phase, findings);
    causes::sort(&mut findings);
    findings
}

/// Those findings whose rule could not decide from the measurement. A phase in which nothing was
/// done decides nothing.
pub fn undecided(case: &Case, judged: &PhaseJudgement) -> Vec<Finding> {
    let done = case.record.measurements.iter().any(|m| m.ops_done() > 0);
    let open = |finding: &Finding| judged.not_evaluated.iter().any(|s| s.rule == finding.rule);
    preflight(case).into_iter().filter(|finding| !done || open(finding)).collect()
}

#[cfg(test)]
mod tests {
    use candor_record::NotEvaluated;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn what_the_measurement_decided_is_not_said_again() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0).on_zram();
        let preflight = case.preflight();
        assert_eq!(preflight.len(), 1);
        let mut judged = PhaseJudgement::default();
        assert_eq!(undecided(&case.case(), &judged), []);
        judged.not_evaluated =
            vec![NotEvaluated { rule: "A16".into(), lacked: "something".into() }];
        assert_eq!(undecided(&case.case(), &judged), preflight);
        judged.not_evaluated.clear();
        case.measured().operations.clear();
        assert_eq!(undecided(&case.case(), &judged), preflight);
    }
}
