//! What can be said before a phase runs.

use candor_plan::{Phase, Plan};
use candor_record::{Facts, Finding, Snapshot};

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
