//! Every rule, one file each, in folders by the question that they answer.

pub mod array;
pub mod cache;
pub mod condition;
pub mod depth;
mod link;
mod method;
mod names;
mod queue;

use candor_record::{Finding, NotEvaluated};

use crate::observed::Observed;
use crate::rule::{Outcome, Rule};
use crate::stage::Stage;

/// The folders, in the order of the evidence book.
const FOLDERS: [&[Rule]; 8] = [
    cache::RULES,
    depth::RULES,
    queue::RULES,
    link::RULES,
    array::RULES,
    condition::RULES,
    method::RULES,
    names::RULES,
];

/// Every rule, in the order of the evidence book.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    FOLDERS.into_iter().flatten()
}

/// The rule with that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.text.id == id)
}

/// Runs every rule; where nothing was done there is nothing to judge, but perhaps a reason to tell.
pub fn evaluate(observed: &Observed) -> (Vec<Finding>, Vec<NotEvaluated>) {
    let (mut findings, mut not_evaluated) = (Vec::new(), Vec::new());
    let nothing_done = observed.nothing_done();
    let applies = |rule: &&Rule| !nothing_done || rule.stage == Stage::Failure;
    for rule in all().filter(applies) {
        match rule.evaluate(observed) {
            Outcome::Nothing => {}
            Outcome::Found(found) => findings.extend(found),
            Outcome::NotEvaluated(lacked) => {
                not_evaluated.push(NotEvaluated { rule: rule.text.id.into(), lacked });
            }
        }
    }
    (findings, not_evaluated)
}
