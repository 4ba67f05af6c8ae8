//! Objects of servers, reached by HTTP requests.

mod alike_objects;
mod answered_between;
mod bucket_features;
mod client_cpu;
mod clocks_differ;
mod cold_start;
mod connection_cap;
mod connections_not_reused;
mod data_not_checked;
mod delayed_acknowledgements;
mod failed_operations;
mod hashing_and_tls;
mod hot_prefix;
mod idle_requests;
mod incomplete_lists;
mod leftovers;
mod ranges_across_parts;
mod read_after_write;
mod redirects;
mod request_overhead;
mod retries_in_latency;
mod server_cache;
mod server_on_this_host;
mod slow_server;
mod tcp_limits;
mod throttled;
mod too_few_in_flight;
mod unused_addresses;
mod waits_for_connections;
mod waits_for_consent;
mod waves;

use crate::rule::Rule;

/// Rules of this letter, in the order of the object notes.
pub const RULES: &[Rule] = &[
    client_cpu::RULE,
    hashing_and_tls::RULE,
    unused_addresses::RULE,
    slow_server::RULE,
    too_few_in_flight::RULE,
    waits_for_connections::RULE,
    connections_not_reused::RULE,
    cold_start::RULE,
    server_cache::RULE,
    read_after_write::RULE,
    alike_objects::RULE,
    data_not_checked::RULE,
    throttled::RULE,
    retries_in_latency::RULE,
    failed_operations::RULE,
    clocks_differ::RULE,
    answered_between::RULE,
    server_on_this_host::RULE,
    tcp_limits::RULE,
    connection_cap::RULE,
    request_overhead::RULE,
    ranges_across_parts::RULE,
    hot_prefix::RULE,
    waits_for_consent::RULE,
    waves::RULE,
    idle_requests::RULE,
    incomplete_lists::RULE,
    leftovers::RULE,
    bucket_features::RULE,
    redirects::RULE,
    delayed_acknowledgements::RULE,
];
