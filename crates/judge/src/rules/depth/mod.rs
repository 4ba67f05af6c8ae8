//! Concurrency, CPU and clock.

pub mod block_allocation;
mod buffered_libaio;
mod clock_cost;
mod completions_on_one_cpu;
mod cpu_steal;
mod cpu_wakeup;
mod depth_beyond_knee;
pub mod device_queue_full;
mod device_starved;
mod emulated_cpu;
mod far_from_device;
pub mod host_cpus_busy;
pub mod io_uring_thread_pool;
pub mod memory_bandwidth;
mod page_faults;
mod polling_unavailable;
mod shared_files;
pub mod slow_host;
mod synchronous_engine;
mod thread_cpu_bound;
pub mod workers_starved_of_cpu;

use crate::rule::Rule;

/// These rules, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    synchronous_engine::RULE,
    buffered_libaio::RULE,
    io_uring_thread_pool::RULE,
    device_starved::RULE,
    device_queue_full::RULE,
    depth_beyond_knee::RULE,
    thread_cpu_bound::RULE,
    workers_starved_of_cpu::RULE,
    host_cpus_busy::RULE,
    completions_on_one_cpu::RULE,
    far_from_device::RULE,
    cpu_wakeup::RULE,
    cpu_steal::RULE,
    page_faults::RULE,
    memory_bandwidth::RULE,
    clock_cost::RULE,
    polling_unavailable::RULE,
    block_allocation::RULE,
    shared_files::RULE,
    slow_host::RULE,
    emulated_cpu::RULE,
];
