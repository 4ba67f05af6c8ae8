//! Every rule, one file each, in folders by the question that they answer.

pub mod array;
pub mod cache;
pub mod condition;
pub mod depth;
pub mod link;
pub mod method;
mod names;
pub mod objects;
mod queue;

use candor_record::{Finding, NotEvaluated};

use crate::observed::Observed;
use crate::parts;
use crate::rule::{Outcome, Rule};
use crate::stage::Stage;

/// The folders, in the order of the evidence book.
const FOLDERS: [&[Rule]; 9] = [
    cache::RULES,
    depth::RULES,
    queue::RULES,
    link::RULES,
    array::RULES,
    condition::RULES,
    method::RULES,
    names::RULES,
    objects::RULES,
];

/// Rules about a phase of several hosts as a whole. Where there is one host, they find nothing,
/// except for the last, which then looks at its workers.
const ACROSS: [&Rule; 11] = [
    &cache::cache_on_some_hosts::RULE,
    &cache::reads_of_other_hosts::RULE,
    &condition::one_host_limited::RULE,
    &depth::slow_host::RULE,
    &link::slow_host_link::RULE,
    &link::host_links_full::RULE,
    &method::hosts_not_together::RULE,
    &method::hosts_share_kernel::RULE,
    &method::host_lost::RULE,
    &method::host_silent::RULE,
    &method::early_finishers::RULE,
];

/// A rule looks at the hosts of a phase together.
pub fn is_across(id: &str) -> bool {
    ACROSS.iter().any(|rule| rule.text.id == id)
}

/// Every rule, in the order of the evidence book.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    FOLDERS.into_iter().flatten()
}

/// The rule with that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.text.id == id)
}

/// Runs every rule, or those about several hosts as a whole where there are several; where nothing
/// was done there is nothing to judge, but perhaps a reason to tell.
pub fn evaluate(observed: &Observed) -> (Vec<Finding>, Vec<NotEvaluated>) {
    let (mut findings, mut not_evaluated) = (Vec::new(), Vec::new());
    let nothing_done = observed.nothing_done();
    let are_several = parts::are_several(observed.record);
    for rule in all().filter(|rule| {
        let is_asked = !are_several || is_across(rule.text.id);
        is_asked && (!nothing_done || rule.stage == Stage::Failure)
    }) {
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
