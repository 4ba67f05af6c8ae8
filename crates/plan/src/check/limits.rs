//! Limits on everything: beyond them a plan is a typing error, or would not fit into any host.

use crate::{Bytes, Nanos};

/// Most repeats of a plan or phase.
pub const REPEATS_MAX: u32 = 100_000;

/// Most phases of a plan, most jobs of a phase, and most targets of a job.
pub const PARTS_MAX: usize = 4096;

/// Most targets of a plan: a job whose files differ by a block has two.
pub const TARGETS_MAX: usize = 2 * PARTS_MAX;

/// Most files of a set that are named one by one, or that are open: blocks keep theirs open.
pub const FILES_MAX: u32 = 1 << 20;

/// Most numbered files of a file set.
pub const NUMBERED_MAX: u32 = 1 << 30;

/// Most workers of a phase on one host.
pub const WORKERS_MAX: u32 = 4096;

/// Most operations in flight per worker.
pub const DEPTH_MAX: u32 = 4096;

/// Largest operation: the kernel moves no more in one call.
pub const OPERATION_MAX: Bytes = Bytes((1 << 31) - 4096);

/// Longest file of a tree, as in ext4.
pub const FILE_MAX: Bytes = Bytes(1 << 44);

/// Largest trim, which moves nothing.
pub const TRIM_MAX: Bytes = Bytes((1 << 32) - 4096);

/// Most memory for the buffers of a job on one host.
pub const BUFFERS_MAX: Bytes = Bytes(1 << 40);

/// Largest size of a target: offsets in the kernel are signed.
pub const TARGET_MAX: Bytes = Bytes(i64::MAX as u64);

/// Most sizes with weights, and most zones.
pub const WEIGHTS_MAX: usize = 256;

/// Most blocks of a list.
pub const LISTED_MAX: usize = 65_536;
/// Regions of a preconditioning pass.
pub const REGIONS_MAX: u64 = 1 << 20;

/// Most segments.
pub const SEGMENTS_MAX: u32 = 1 << 30;

/// Longest time of any kind: a year.
pub const TIME_MAX: Nanos = Nanos::from_secs(366 * 86_400);

/// Most windows that are judged for steadiness at a time.
pub const WINDOWS_MAX: u32 = 100_000;

/// Shortest interval of which counts are kept.
pub const INTERVAL_MIN: Nanos = Nanos(1_000_000);

/// Highest number of a CPU or NUMA node.
pub const CPU_MAX: u32 = 8191;

/// Most directories of a tree.
pub const DIRECTORIES_MAX: u64 = 1 << 32;

/// Deepest tree.
pub const TREE_DEPTH_MAX: u32 = 64;

/// Unit of direct I/O: offsets, sizes and buffers are multiples of it on every device.
pub const SECTOR: Bytes = Bytes(512);
