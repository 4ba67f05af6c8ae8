//! What can be said before a phase runs.

use candor_plan::{Phase, Plan};
use candor_record::{Facts, Finding, PhaseReport, Snapshot};

use crate::causes;
use crate::rule::{Outcome, Rule};
use crate::rules;
use crate::setup::SetupFacts;

/// What can be said before a phase runs, heaviest first: depth that the engine ignores, targets in
/// memory, files with holes or unwritten or already cached, loop devices over the page cache,
/// operations smaller than a sector.
pub fn preflight(plan: &Plan, phase: &Phase, facts: &Facts, before: &Snapshot) -> Vec<Finding> {
    let setup = SetupFacts::new(plan, phase, facts, before);
    let found = |rule: &Rule| match (rule.before?)(&setup) {
        Outcome::Found(findings) => Some(findings),
        Outcome::Nothing | Outcome::NotEvaluated(_) => None,
    };
    let mut findings: Vec<Finding> = rules::all().filter_map(found).flatten().collect();
    if setup.all_memory() {
        findings = causes::in_memory(findings);
    }
    causes::sort(&mut findings);
    findings
}

/// Of what was said before a phase, what still has to be said after it: what its rule could not
/// decide from the measurement. A phase in which nothing was done decides nothing.
pub fn undecided(preflight: Vec<Finding>, report: &PhaseReport) -> Vec<Finding> {
    let done = report.measurements.iter().any(|m| m.directions().any(|(_, stats)| stats.ops > 0));
    let silent = |finding: &Finding| report.not_evaluated.iter().any(|s| s.rule == finding.rule);
    preflight.into_iter().filter(|finding| !done || silent(finding)).collect()
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
        assert_eq!(undecided(preflight.clone(), &case.report), []);
        case.report.not_evaluated =
            vec![NotEvaluated { rule: "A16".into(), lacked: "something".into() }];
        assert_eq!(undecided(preflight.clone(), &case.report), preflight);
        case.report.not_evaluated.clear();
        case.measured().operations.clear();
        assert_eq!(undecided(preflight.clone(), &case.report), preflight);
    }
}
