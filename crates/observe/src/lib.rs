//! What the host is and what the kernel saw: files of sysfs and procfs read into facts.
//!
//! Two kinds of answers. [`inspect`] tells what is true for the length of a run: the host, and the
//! chain from each target's path through its filesystem to the devices that hold the bytes.
//! [`Sampler`] takes the kernel's counters at a moment, cheaply enough for every second.
//! Beside them stand the active probes: [`accounting_probe`] proves by one read that the block layer counts
//! a target at all, [`cache`] asks (empties, fills) the page cache, [`mapped`] who maps what,
//! [`memory`] how fast memory copies.
//!
//! Nothing here fails because the host lacks something: a fact that cannot be read is absent, and
//! [`candor_record::Facts::missing`] says why. No file is trusted to have the shape it should.

mod about;
pub mod accounting_probe;
mod attributes;
mod bundle;
pub mod cache;
mod cgroup;
mod clock;
mod counters;
mod diskstats;
mod fiemap;
mod files;
mod holders;
mod host;
mod inspect;
mod kind;
mod link;
pub mod mapped;
mod mapper;
mod masked;
pub mod memory;
mod missed;
mod mounts;
mod net;
mod node;
mod nvme;
mod parse;
mod queue;
mod resolve;
mod roots;
mod sampler;
mod stack;
mod state;
pub mod trace;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod real;

pub use bundle::Bundle;
pub use diskstats::{Diskstat, cpu_times, diskstats, uptime};
pub use files::{file_facts, names_in};
pub use holders::{holders, partitions};
pub use inspect::inspect;
pub use resolve::{device_of_path, lies_in_memory};
pub use roots::Roots;
pub use sampler::{Sampler, SnapshotDetail};
