//! Blocks: a stream of (operation, target, offset, size).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

pub use crate::access::{
    Access, FileOrder, Position, Rotation, Stay, StayAt, TraceFile, Windows, Zone,
};
pub use crate::advice::{Advice, MapAdvice, Pieces};
pub use crate::content::{Content, Duplicates, Fill, HotSets, Pattern, WordKind, Words};
pub use crate::engine::{
    Buffers, CallFlags, Carries, Engine, Http, IoPriority, Libaio, Lock, MemoryKind, Mmap,
    NvmeWrite, ObjectMode, PriorityClass, PriorityShare, Protection, Pvsync, RingOptions,
    ScsiWrite, Sg, Uring, UringCmd,
};
use crate::omit::is_default;
use crate::operation::BlocksOp;
use crate::units::{Direction, Extent, Mix, PerDirection, SizeSpec};
use crate::upload_headers::UploadHeaders;
pub use crate::verify::{
    Finished, Format, HeaderVersion, Journal, JournalLog, LastWrite, ReadBack, Sum, TrimWritten,
    UnknownBlocks, Verify, Written,
};
use crate::{Bytes, Measure};

pub use crate::pace::*;
pub use crate::zones::{ZoneReset, Zones};

/// A stream of reads, writes and trims, as one worker issues it.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Blocks {
    /// Share of reads, writes and trims: `"read"`, `"write"`, `"read:70,write:30"`.
    #[default(Mix::READ)]
    pub mix: Mix,
    /// The number of an operation determines its direction: of each hundred of a worker, the first
    /// ones read, then some write, the rest trims; the count begins at the worker's rank.
    #[serde(skip_serializing_if = "is_default")]
    pub mix_by_number: bool,
    /// Operations come in pairs of the two directions of a half and half mix: both at the same
    /// offset, a trim before a read before a write.
    pub pairs: bool,
    /// Bucket that holds the target's bytes, for the engine `http`.
    pub bucket: Option<String>,
    /// Headers of uploads, for the engine `http`.
    #[serde(skip_serializing_if = "is_default")]
    pub headers: UploadHeaders,
    /// Order of offsets.
    pub access: Access,
    /// One common position for all directions of an ordered access, or one per direction.
    pub position: Position,
    /// Percentage of operations that jump to a random offset instead of following `access`, per
    /// direction. Only with an ordered access.
    pub random_percent: PerDirection<u8>,
    /// How operations of a random access stay where the last one was.
    pub stay: Stay,
    /// Sections of the range, used one after another.
    pub windows: Option<Windows>,
    /// Zones with write pointers.
    pub zones: Option<Zones>,
    /// Selection of the next file of a worker.
    pub rotation: Rotation,
    /// Bytes per operation: `"4k"`, `"4k-64k"`, `"4k:60,64k:40"`, or one of these per direction.
    #[default(PerDirection::all(SizeSpec::Fixed(Bytes(4096))))]
    pub size: PerDirection<SizeSpec>,
    /// Bytes of operations at a random offset, in any direction, if others follow the last one;
    /// absent means the size of their direction.
    pub jump_size: Option<SizeSpec>,
    /// Offsets are multiples of it; absent means the smallest size.
    pub align: Option<PerDirection<Bytes>>,
    /// A read or write that does not fit into what is left of its share, or of `stop.bytes`, is
    /// shortened to it.
    #[serde(skip_serializing_if = "is_default")]
    pub short_last: bool,
    /// Section of each file or device to use.
    pub range: Range,
    /// How workers divide that range.
    pub share: Share,
    /// Operations in flight per worker.
    #[default(1)]
    pub depth: u32,
    /// Operations handed over in one submission; absent means as many as are ready.
    pub batch_submit: Option<u32>,
    /// Completions to wait for at a time.
    #[default(1)]
    pub batch_reap: u32,
    /// Completions to take at a time, at most, and only once the queue is full; absent means all
    /// that are there, at any time.
    pub batch_reap_max: Option<u32>,
    /// Once the queue is full, it runs down to this many operations before it is filled again.
    /// While it is filled, no completions are taken.
    pub depth_low: Option<u32>,
    /// An operation that touches bytes of one in flight waits for it.
    pub serialize_overlap: bool,
    /// Locks between operations on a file by different workers and jobs.
    #[serde(skip_serializing_if = "is_default")]
    pub lock: Lock,
    /// Empty the files as they are made ready for a phase, before any of their bytes are made.
    #[serde(skip_serializing_if = "is_default")]
    pub truncate_at_open: bool,
    /// Time of opening files, and the thread that opens them.
    #[serde(skip_serializing_if = "is_default")]
    pub opening: Opening,
    /// Engine that issues the I/O, with its options.
    pub engine: Engine,
    /// Shares of operations with their own I/O priority, for libaio and io_uring.
    #[serde(skip_serializing_if = "is_default")]
    pub priorities: Vec<PriorityShare>,
    /// Memory that holds the buffers.
    #[serde(skip_serializing_if = "is_default")]
    pub buffers: Buffers,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Time and method of flushes.
    pub durability: Durability,
    /// Advice to the kernel about the access, and the state of the cache beforehand.
    pub hints: Hints,
    /// Rate.
    pub pace: Pace,
    /// Measurements in addition to counts and latency.
    pub measure: Measure,
    /// Content of written blocks.
    pub content: Content,
    /// Headers in written blocks, checked on reads.
    pub verify: Option<Verify>,
}

impl Blocks {
    /// Directions and order in one word ([`Access::word`]).
    pub fn access_word(&self) -> String {
        self.access.word(self.mix)
    }

    /// False where there is no file to open: objects, candor or the ring itself is measured.
    pub fn uses_targets(&self) -> bool {
        self.engine.uses_targets()
    }

    /// False where no byte goes to or comes from a target.
    pub fn moves_bytes(&self) -> bool {
        self.engine.moves_bytes()
    }

    /// The first direction after which a target may hold something else; `fallocate` changes files
    /// by reads too.
    pub fn destroys(&self) -> Option<BlocksOp> {
        if !self.uses_targets() {
            return None;
        }
        let used = Direction::ALL.into_iter().filter(|op| self.mix.of(*op) > 0);
        let changes_all = self.engine == Engine::Fallocate;
        used.map(BlocksOp::from).find(|op| changes_all || op.operation().destroys)
    }

    /// True where flushes are operations of the work, or end it.
    pub fn flushes(&self) -> bool {
        let Durability { fsync_every, fdatasync_every, fsync_at_end, .. } = self.durability;
        let at_end = fsync_at_end && self.opening.is_in_phase();
        self.mix.write > 0 && (fsync_every > 0 || fdatasync_every > 0 || at_end)
    }

    /// The smallest operation of any direction that occurs, at least 1 byte.
    pub fn smallest(&self) -> Bytes {
        let used = self.size.iter().filter(|(op, _)| self.mix.of(*op) > 0);
        let specs = used.map(|(_, size)| size).chain(&self.jump_size);
        Bytes(specs.map(|size| size.min().0).min().unwrap_or(1).max(1))
    }

    /// Alignment of the offsets of a direction, at least 1 byte.
    pub fn alignment(&self, op: Direction) -> Bytes {
        let align = self.align.as_ref().map(|align| *align.of(op));
        Bytes(align.unwrap_or(self.smallest()).0.max(1))
    }

    /// Unit of writes that are shortened to the rest of a zone; none where none is. Blocks that are
    /// verified are written whole, and other rests are whole sectors anyway.
    pub fn short_write_unit(&self) -> Option<u64> {
        let zones = self.zones.as_ref().filter(|zones| zones.short_writes);
        zones.map(|_| self.verify.as_ref().map_or(1, |verify| verify.interval.0.max(1)))
    }

    /// End of the last block of a list, from the start of the range; none without a list.
    pub fn listed_end(&self) -> Option<Bytes> {
        let number = self.access.last_listed()?;
        let used = self.size.iter().filter(|(op, _)| self.mix.of(*op) > 0);
        let ends = used.map(|(op, size)| {
            number.saturating_mul(self.alignment(op).0).saturating_add(size.min().0)
        });
        ends.max().map(Bytes)
    }

    /// Alignment of parts of a range: the coarsest of any direction that occurs.
    pub fn alignment_max(&self) -> Bytes {
        let used = Direction::ALL.into_iter().filter(|op| self.mix.of(*op) > 0);
        used.map(|op| self.alignment(op)).max().unwrap_or(Bytes(1))
    }
}

/// Part of a file or device.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Range {
    /// Start of the range; a share of the whole is rounded up to `start_align`.
    #[default(Extent::Bytes(Bytes(0)))]
    pub start: Extent,
    /// Alignment to which a start in percent is rounded up; absent means the alignment of
    /// operations.
    pub start_align: Option<Bytes>,
    /// How long it is; absent means to the end.
    pub length: Option<Extent>,
}

/// How the workers of a job divide the range of a file that they share.
///
/// The n workers meant here are those that use the same file: all of the job's, or with
/// [`crate::Sharing::Own`] those whose file it is ([`crate::rank::Seat`] computes them).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Share {
    /// Every worker uses all of it.
    #[default]
    Whole,
    /// Worker r of n uses the r-th of n contiguous slices; the last takes the remainder.
    Slice,
    /// All files, one after the other, are one range of blocks of the greatest size, each file
    /// beginning with a new one: worker r of n uses the r-th of n contiguous slices, which may be
    /// empty; the last has the remainder.
    Span,
    /// Worker r of n takes every n-th operation-sized block, beginning with the r-th.
    Interleave,
    /// `count` segments, each with one block per rank: rank r's j-th transfer of segment s lies at
    /// s·n·block + r·block + j·size.
    Segments {
        /// Contiguous bytes per rank and segment.
        block: Bytes,
        /// Number of segments.
        count: u32,
        /// Assignment of ranks to transfers of a segment.
        #[serde(default, skip_serializing_if = "is_default")]
        deal: SegmentDeal,
    },
}

/// Assignment of ranks to transfers of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum SegmentDeal {
    /// Each rank has the transfers of its block.
    #[default]
    ByRank,
    /// Each transfer belongs to any rank, all ranks have the same number of them, and each segment
    /// is dealt alike; keyed by the plan's seed, so that later phases deal alike too.
    Scattered,
}

/// Time of opening files, and the thread that opens them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Opening {
    /// Before the clock, once for all workers of a job.
    #[default]
    Before,
    /// Each worker opens its own descriptors in the phase, makes missing files if needed, and
    /// closes them after its last operation and their sync. Opening, sync and closing count in the
    /// time of the phase.
    InPhase,
    /// The same, and the workers of the job wait for each other between opening, operations and
    /// closing.
    InStages,
}

impl Opening {
    /// True where each worker opens its files within the phase.
    pub fn is_in_phase(self) -> bool {
        self != Opening::Before
    }
}

/// Time and method of flushes.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Durability {
    /// Flag with which files are opened.
    pub open: OpenSync,
    /// `fsync` after every n writes of a worker; 0 means never. An fsync is an operation like any
    /// other: at a depth above 1 it is in flight together with writes, and covers writes that
    /// completed before its start.
    pub fsync_every: u64,
    /// `fdatasync` after every n writes of a worker, unless `fsync` is due; 0 means never.
    pub fdatasync_every: u64,
    /// `fsync` after the last write, counted in the time to media.
    pub fsync_at_end: bool,
    /// `syncfs` on each file's filesystem after the last write, counted likewise.
    #[serde(skip_serializing_if = "is_default")]
    pub syncfs_at_end: bool,
    /// `sync_file_range` over what was written since the last one.
    pub range: Option<RangeSync>,
    /// A due sync takes the turn of the next operation, for the file in turn; there is none after
    /// the last operation. By default a due sync runs at once, for all files that the worker wrote
    /// since their last sync.
    #[serde(skip_serializing_if = "is_default")]
    pub in_turn: bool,
}

/// `sync_file_range` after some writes of a worker. It makes nothing durable: metadata and the
/// device's cache stay out of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct RangeSync {
    /// After every n writes.
    pub every: u64,
    /// Wait for write-back in progress.
    pub wait_before: bool,
    /// Begins to write what is dirty.
    pub write: bool,
    /// Waits for that.
    pub wait_after: bool,
}

/// Flag with which files are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
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

/// Advice to the kernel, and the state of the cache beforehand.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Hints {
    /// Before the phase: flush the files, drop their pages, verify, repeat; what stays resident
    /// is written into the report.
    pub evict: bool,
    /// When opening, and each time a pass over a file begins again: drop the pages that can be
    /// dropped at once.
    pub invalidate: bool,
    /// Before the phase: read the files once, so that they are in the cache.
    pub pre_read: bool,
    /// `posix_fadvise` when opening: one piece, or several in turn.
    pub advice: Pieces<Advice>,
    /// `madvise` on each mapping of mmap; absent means the same as `advice`.
    pub map_advice: Option<Pieces<MapAdvice>>,
    /// Buffers from huge pages, reserved or transparent ones, or from ordinary pages only. Absent,
    /// large buffers of direct I/O are from transparent huge pages where there are any.
    pub huge_pages: Option<bool>,
    /// How long what is written is expected to live (`F_SET_RW_HINT`), for devices that sort by it.
    pub write_life: Option<WriteLife>,
}

impl Hints {
    /// Advice about mappings.
    pub fn of_maps(&self) -> Vec<MapAdvice> {
        match &self.map_advice {
            Some(pieces) => pieces.0.clone(),
            None => self.advice.of_maps(),
        }
    }
}

/// How long what is written is expected to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum WriteLife {
    /// No difference from other data.
    None,
    /// Shortest.
    Short,
    /// Longer than that.
    Medium,
    /// Longer still.
    Long,
    /// For ever.
    Extreme,
}
