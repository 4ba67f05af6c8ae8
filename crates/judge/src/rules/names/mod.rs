//! Files, names and passes over data.

mod changes_in_memory;
mod deletes_queued;
mod journal_commits;
mod large_directory;
mod later_passes_cached;
mod metadata_bound;
mod names_in_memory;
mod shared_directory;

use crate::rule::Rule;

/// These rules, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    metadata_bound::RULE,
    names_in_memory::RULE,
    large_directory::RULE,
    later_passes_cached::RULE,
    changes_in_memory::RULE,
    deletes_queued::RULE,
    shared_directory::RULE,
    journal_commits::RULE,
];
