//! The kernel's counters at a moment.

mod diskstats;
pub(crate) mod formats;
mod sampler;
mod state;

pub(crate) use diskstats::diskstats_line;
pub use diskstats::{Diskstat, cpu_times, diskstats, uptime, user_diskstats};
pub use sampler::{Paths, Sampler, SnapshotDetail};
