//! Facts of the host and counters of the kernel, from sysfs, procfs and a few system calls.
//!
//! [`inspect()`] reads facts that stay true during a run: the host, and the chain from each
//! target's path through its filesystem to the devices with the bytes. [`Sampler`] reads the
//! kernel's counters at a moment, in a time short enough for every second. [`trace`] counts single
//! requests. [`accounting_probe`] proves by one read that the block layer counts a target.
//! [`cache`] queries, evicts and warms the page cache, [`mapped`] finds the processes that map a
//! file, [`memory`] sizes buffers that no cache holds.
//!
//! ```
//! use candor_observe::{Roots, inspect};
//!
//! let facts = inspect(&[("data".into(), "/tmp".into())], &Roots::default());
//! assert_eq!(facts.targets.len(), 1);
//! ```
//!
//! No function fails because a fact cannot be read: the fact is absent, and
//! [`candor_record::Facts::missing`] has the reason. No file is trusted to have the right format.
//! [`Roots`] can record the answers of a host and replay them ([`Bundle`]).

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
