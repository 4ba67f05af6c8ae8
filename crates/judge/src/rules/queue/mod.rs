//! Shape of requests between application and device.

mod device_misaligned;
mod flush_latency;
mod flushes_skipped;
mod io_scheduler;
mod latency_above_driver;
mod not_durable;
mod one_request_at_a_time;
mod parity_reads_before_writes;
mod read_amplification;
mod readahead;
mod requests_merged;
mod requests_split;
mod sector_misfit;
mod write_amplification;

use crate::rule::Rule;

/// These rules, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    requests_split::RULE,
    readahead::RULE,
    requests_merged::RULE,
    sector_misfit::RULE,
    device_misaligned::RULE,
    one_request_at_a_time::RULE,
    parity_reads_before_writes::RULE,
    io_scheduler::RULE,
    flush_latency::RULE,
    not_durable::RULE,
    write_amplification::RULE,
    latency_above_driver::RULE,
    flushes_skipped::RULE,
    read_amplification::RULE,
];
