//! What can be said before a phase runs.

use candor_plan::{Phase, Plan};
use candor_record::{Facts, Finding, PhaseReport, Snapshot};

use crate::fold;
use crate::ground::Ground;
use crate::rule::{Outcome, Rule};
use crate::rules::RULES;

/// What can be said before a phase runs, heaviest first: depth that the engine ignores, targets in
/// memory, files with holes or unwritten or already cached, loop devices over the page cache,
/// operations smaller than a sector.
pub fn ahead(plan: &Plan, phase: &Phase, facts: &Facts, before: &Snapshot) -> Vec<Finding> {
    let ground = Ground::new(plan, phase, facts, before);
    let found = |rule: &Rule| match (rule.before?)(&ground) {
        Outcome::Found(findings) => Some(findings),
        Outcome::Nothing | Outcome::Silent(_) => None,
    };
    let mut findings: Vec<Finding> = RULES.iter().filter_map(found).flatten().collect();
    if ground.all_memory() {
        findings = fold::under_memory(findings);
    }
    fold::sort(&mut findings);
    findings
}

/// Of what was said before a phase, what still has to be said after it: what its rule could not
/// decide from the measurement. A phase in which nothing was done decides nothing.
pub fn undecided(ahead: Vec<Finding>, report: &PhaseReport) -> Vec<Finding> {
    let done = report.measurements.iter().any(|m| m.ops.iter().any(|(_, stats)| stats.ops > 0));
    let silent = |finding: &Finding| report.silent.iter().any(|s| s.rule == finding.rule);
    ahead.into_iter().filter(|finding| !done || silent(finding)).collect()
}

#[cfg(test)]
mod tests {
    use candor_record::Silence;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn what_the_measurement_decided_is_not_said_again() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0).on_zram();
        let ahead = case.ahead();
        assert_eq!(ahead.len(), 1);
        assert_eq!(undecided(ahead.clone(), &case.report), []);
        case.report.silent = vec![Silence { rule: "A16".into(), lacked: "something".into() }];
        assert_eq!(undecided(ahead.clone(), &case.report), ahead);
        case.report.silent.clear();
        case.measured().ops = Default::default();
        assert_eq!(undecided(ahead.clone(), &case.report), ahead);
    }
}
