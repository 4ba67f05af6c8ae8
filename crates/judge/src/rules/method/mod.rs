//! Is the measurement itself sound?

mod access_times;
mod alike_blocks;
mod busy_not_full;
mod coordinated_omission;
pub mod early_finishers;
mod few_samples;
pub mod host_lost;
pub mod host_silent;
pub mod hosts_not_together;
pub mod hosts_share_kernel;
mod other_work_timed;
mod repeats_vary;
mod same_blocks_again;
mod seconds_vary;
mod size_before_time;
mod stopped;
mod too_short;
mod traced;
mod tracing_cost;
mod trend;
mod unit_gap;
mod writers_overlap;

use crate::rule::Rule;

/// These rules, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    too_short::RULE,
    seconds_vary::RULE,
    trend::RULE,
    coordinated_omission::RULE,
    few_samples::RULE,
    early_finishers::RULE,
    unit_gap::RULE,
    other_work_timed::RULE,
    same_blocks_again::RULE,
    tracing_cost::RULE,
    busy_not_full::RULE,
    access_times::RULE,
    hosts_not_together::RULE,
    alike_blocks::RULE,
    repeats_vary::RULE,
    hosts_share_kernel::RULE,
    host_lost::RULE,
    stopped::RULE,
    host_silent::RULE,
    size_before_time::RULE,
    writers_overlap::RULE,
    traced::RULE,
];
