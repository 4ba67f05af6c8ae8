//! Every rule, one file each, in folders by the question that they answer.

pub mod array;
pub mod cache;
pub mod condition;
pub mod depth;
mod link;
mod method;
mod names;
mod queue;

use crate::rule::Rule;

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
