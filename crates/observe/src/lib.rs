//! Facts of the host and counters of the kernel, read from sysfs, procfs and a few system calls.
//!
//! [`inspect()`] reads what stays true for the length of a run: the host, and the chain from each
//! target's path through its filesystem to the devices that hold the bytes. [`Sampler`] reads the
//! kernel's counters at a moment, cheaply enough for every second. [`trace`] counts single
//! requests. The active probes: [`accounting_probe`] proves by one read that the block layer counts
//! a target at all, [`cache`] queries, evicts and warms the page cache, [`mapped`] finds the
//! processes that map a file, [`memory`] knows the sizes of caches.
//!
//! No function fails because the host lacks something: a fact that cannot be read is absent, and
//! [`candor_record::Facts::missing`] says why. No file is trusted to have the right format.

pub mod accounting_probe;
pub mod cache;
mod counters;
mod host;
mod inspect;
mod net;
mod path;
mod read_again;
mod source;
mod stack;
pub mod trace;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod real;

pub use cache::mapped;
pub use counters::{
    Diskstat, Paths, Sampler, SnapshotDetail, cpu_times, diskstats, uptime, user_diskstats,
};
pub use host::memory;
pub use inspect::{device_note, inspect, inspect_again, names_no_device, take_search};
pub use path::files::{file_facts, names_in, shared_bytes};
pub use path::generic::block_device_of_commands;
pub use path::layers::{Access, lies_in_memory};
pub use path::resolve::device_of_path;
pub use read_again::read_again;
pub use source::{Bundle, Roots};
pub use stack::holders::{LoopFile, holders, loop_files, partitions};
