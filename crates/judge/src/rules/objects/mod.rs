//! Objects of servers, reached by HTTP requests.

mod answered_between;
mod client_cpu;
mod data_not_checked;
mod failed_operations;
mod hashing_and_tls;
mod idle_requests;
mod retries_in_latency;
mod server_on_this_host;
mod tcp_limits;
mod throttled;
mod too_few_in_flight;

use crate::rule::Rule;

/// These rules, in the order of the object notes.
pub const RULES: &[Rule] = &[
    client_cpu::RULE,
    hashing_and_tls::RULE,
    too_few_in_flight::RULE,
    data_not_checked::RULE,
    throttled::RULE,
    retries_in_latency::RULE,
    failed_operations::RULE,
    answered_between::RULE,
    server_on_this_host::RULE,
    tcp_limits::RULE,
    idle_requests::RULE,
];
