//! Blocks: a stream of (operation, target, offset, size).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use crate::content::{Content, Duplicates, Fill, Pattern};
use crate::engine::is_default;
pub use crate::engine::{
    Burn, Engine, IoPriority, Memory, MemoryKind, Mmap, PriorityClass, PriorityShare, Rwf, Uring,
};
use crate::units::{Extent, Mix, PerOp, SizeSpec};
pub use crate::verify::{Format, ReadBack, Sum, Verify};
use crate::{Bytes, Measure};

pub use crate::pace::*;

/// A stream of reads, writes and trims, as one worker issues it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Blocks {
    /// Share of reads, writes and trims: `"read"`, `"write"`, `"read:70,write:30"`.
    pub mix: Mix,
    /// Order of offsets.
    pub access: Access,
    /// Share of operations that jump to a random place instead of following `access`, in percent,
    /// per direction. Only with an ordered access.
    pub random_percent: PerOp<u8>,
    /// Bytes per operation: `"4k"`, `"4k-64k"`, `"4k:60,64k:40"`, or one of these per direction.
    pub size: PerOp<SizeSpec>,
    /// Offsets are multiples of it; absent means the smallest size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
    /// Part of each file or device that is used.
    pub range: Range,
    /// How workers divide that range.
    pub share: Share,
    /// Operations in flight per worker.
    pub depth: u32,
    /// Operations handed over in one submission; absent means as many as are ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_submit: Option<u32>,
    /// Completions to wait for at a time.
    pub batch_reap: u32,
    /// Once the queue was full, it runs down to this many operations before it is filled again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_low: Option<u32>,
    /// An operation that touches bytes of one in flight waits for it.
    pub serialize_overlap: bool,
    /// How I/O is issued.
    pub engine: Engine,
    /// Details of io_uring.
    pub uring: Uring,
    /// Flags of each call of pvsync, libaio and io_uring.
    pub rwf: Rwf,
    /// Operations that have an I/O priority of their own, for libaio and io_uring.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityShare>,
    /// Details of mmap.
    #[serde(skip_serializing_if = "is_default")]
    pub mmap: Mmap,
    /// What one operation of the cpu engine is.
    #[serde(skip_serializing_if = "is_default")]
    pub burn: Burn,
    /// Where the buffers lie.
    #[serde(skip_serializing_if = "is_default")]
    pub memory: Memory,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// When writes are made durable.
    pub durability: Durability,
    /// What the kernel is told about the access, and what happens to the cache beforehand.
    pub hints: Hints,
    /// How fast.
    pub pace: Pace,
    /// What is measured beside counts and latency.
    pub measure: Measure,
    /// What is written.
    pub content: Content,
    /// Headers in written blocks, checked on reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
}

impl Default for Blocks {
    fn default() -> Self {
        Blocks {
            mix: Mix::READ,
            access: Access::Sequential,
            random_percent: PerOp::all(0),
            size: PerOp::all(SizeSpec::Fixed(Bytes(4096))),
            align: None,
            range: Range::default(),
            share: Share::Whole,
            depth: 1,
            batch_submit: None,
            batch_reap: 1,
            depth_low: None,
            serialize_overlap: false,
            engine: Engine::Psync,
            uring: Uring::default(),
            rwf: Rwf::default(),
            priorities: Vec::new(),
            mmap: Mmap::default(),
            burn: Burn::default(),
            memory: Memory::default(),
            direct: false,
            durability: Durability::default(),
            hints: Hints::default(),
            pace: Pace::default(),
            measure: Measure::default(),
            content: Content::default(),
            verify: None,
        }
    }
}

impl Blocks {
    /// False where there is nothing to open: candor, the ring or the CPU itself is measured.
    pub fn uses_targets(&self) -> bool {
        self.engine.uses_targets() && !self.is_nop()
    }

    /// False where no byte goes to or comes from a target.
    pub fn moves_bytes(&self) -> bool {
        self.engine.moves_bytes() && !self.is_nop()
    }

    /// True where what a target holds afterwards may be something else.
    pub fn destroys(&self) -> bool {
        self.mix.destroys() || self.engine == Engine::Fallocate
    }

    fn is_nop(&self) -> bool {
        self.engine == Engine::IoUring && self.uring.nop
    }
}

/// Order of offsets within a worker's share of a range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Access {
    /// Ascending; starts over at the end.
    #[default]
    Sequential,
    /// Descending from the end.
    Backward,
    /// Ascending, leaving `hole` bytes untouched after each operation.
    Holes {
        /// Bytes left out after each operation.
        hole: Bytes,
    },
    /// Uniform, places may repeat.
    Random,
    /// Uniform, every block exactly once per pass, in an order keyed by the seed.
    Permutation,
    /// Zipf over blocks, the k-th most popular drawn with weight k^-theta; popularity is scattered
    /// over the range.
    Zipf {
        /// Exponent, above 0 and not 1.
        theta: f64,
    },
    /// Pareto over blocks: a share `h` of the space takes a share `1 - h` of the accesses.
    Pareto {
        /// Power, between 0 and 1.
        h: f64,
    },
    /// Normal around the middle of the range.
    Normal {
        /// Standard deviation in percent of the range.
        deviation_percent: f64,
    },
    /// Shares of accesses fall on shares of the range, in order; both columns add up to 100.
    Zoned {
        /// The zones, from the start of the range.
        zones: Vec<Zone>,
    },
    /// A share of the accesses falls on one band of the range, the rest on all of it.
    HotBand {
        /// Share of accesses that hit the band, in percent.
        hit_percent: f64,
        /// Start of the band, in percent of the range.
        start_percent: f64,
        /// Length of the band, in percent of the range.
        length_percent: f64,
    },
    /// From a file of lines `op offset size`, in order, starting over at the end.
    Trace {
        /// The trace file.
        file: PathBuf,
    },
}

impl Access {
    /// True where the next offset does not follow from the last one.
    pub fn is_random(&self) -> bool {
        !matches!(
            self,
            Access::Sequential | Access::Backward | Access::Holes { .. } | Access::Trace { .. }
        )
    }
}

/// One zone of [`Access::Zoned`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of the accesses, in percent.
    pub access_percent: f64,
    /// Share of the range, in percent.
    pub size_percent: f64,
}

/// Part of a file or device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Range {
    /// Where it starts.
    pub start: Extent,
    /// How long it is; absent means to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<Extent>,
}

impl Default for Range {
    fn default() -> Self {
        Range { start: Extent::Bytes(Bytes(0)), length: None }
    }
}

/// How the workers of a job divide the range of a file that they share.
///
/// The n workers meant here are those that use the same file: all of the job's, or with
/// [`crate::Sharing::Own`] those whose file it is ([`crate::rank::Seat`] computes them).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Share {
    /// Every worker uses all of it.
    #[default]
    Whole,
    /// Worker r of n uses the r-th of n contiguous slices; the last takes the remainder.
    Slice,
    /// Worker r of n takes every n-th operation-sized block, beginning with the r-th.
    Interleave,
    /// `count` segments, each with one block per rank: rank r's j-th transfer of segment s lies at
    /// s·n·block + r·block + j·size.
    Segments {
        /// Contiguous bytes per rank and segment.
        block: Bytes,
        /// Number of segments.
        count: u32,
    },
}

/// When writes are made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Durability {
    /// Flag with which files are opened.
    pub open: OpenSync,
    /// `fsync` after every n writes of a worker; 0 means never.
    pub fsync_every: u64,
    /// `fdatasync` after every n writes of a worker; 0 means never.
    pub fdatasync_every: u64,
    /// `fsync` after the last write, counted in the time to media.
    pub fsync_at_end: bool,
}

/// Flag with which files are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenSync {
    /// Neither.
    #[default]
    None,
    /// `O_DSYNC`: data and what is needed to find it.
    Dsync,
    /// `O_SYNC`: data and all metadata.
    Sync,
}

/// What the kernel is told, and what happens to the cache beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hints {
    /// Before the phase: flush the files, drop their pages, verify, repeat; what stays resident
    /// is written into the report.
    pub evict: bool,
    /// When opening: drop the pages that can be dropped at once.
    pub invalidate: bool,
    /// Before the phase: read the files once, so that they are in the cache.
    pub pre_read: bool,
    /// `posix_fadvise` (and `madvise` for mmap) when opening.
    pub advice: Advice,
    /// Buffers from huge pages.
    pub huge_pages: bool,
}

/// Advice to the kernel about the access pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// None is given.
    #[default]
    None,
    /// Read ahead more.
    Sequential,
    /// Read nothing ahead.
    Random,
    /// Used once.
    Noreuse,
}
