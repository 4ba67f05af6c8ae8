//! Arrays and stacks of devices.

mod busy_partition;
mod chunk_crossings;
pub mod degraded;
mod encryption;
mod fast_tier;
mod hot_member;
mod no_own_queue;
mod one_disk_of_volume;
mod slow_member;
mod starved_members;

use crate::rule::Rule;

/// These rules, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    hot_member::RULE,
    chunk_crossings::RULE,
    degraded::RULE,
    one_disk_of_volume::RULE,
    encryption::RULE,
    fast_tier::RULE,
    starved_members::RULE,
    no_own_queue::RULE,
    busy_partition::RULE,
];
