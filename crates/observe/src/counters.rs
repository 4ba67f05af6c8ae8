//! The kernel's counters at a moment.

mod diskstats;
pub(crate) mod formats;
mod sampler;
mod state;

pub use diskstats::{Diskstat, cpu_times, diskstats, uptime, user_diskstats};
pub(crate) use diskstats::{diskstats_line, in_lines, of_device};
pub use sampler::{Paths, Sampler, SnapshotDetail};
