//! State of the media, throttles, others.

mod burst_allowance;
mod cgroup_limit;
mod drive_was_trimmed;
mod error_counters;
mod ext4_lazy_init;
mod full_or_fragmented;
mod held_above;
pub mod one_host_limited;
mod other_users;
mod part_of_rotating_disk;
mod settings_changed;
mod snapshot_hydration;
mod thermal_throttling;
mod unseen_limiter;
mod write_cliff;
mod write_rate_unsettled;
mod zone_order;

use crate::rule::Rule;

/// These rules, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    write_rate_unsettled::RULE,
    write_cliff::RULE,
    burst_allowance::RULE,
    cgroup_limit::RULE,
    unseen_limiter::RULE,
    thermal_throttling::RULE,
    drive_was_trimmed::RULE,
    full_or_fragmented::RULE,
    ext4_lazy_init::RULE,
    other_users::RULE,
    part_of_rotating_disk::RULE,
    zone_order::RULE,
    snapshot_hydration::RULE,
    error_counters::RULE,
    settings_changed::RULE,
    one_host_limited::RULE,
    held_above::RULE,
];
