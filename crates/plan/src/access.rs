//! Orders: which place of which file an operation falls on.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::Bytes;
use crate::omit::is_default;
use crate::trace::Trace;
use crate::units::{Direction, Extent, Mix, PerDirection};

/// Order of offsets within a worker's share of a range.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
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
    /// From the start; each operation begins `step` bytes before the end of the last one, and
    /// where that would lie before the start, `step` bytes before the end of the range.
    Back {
        /// Bytes gone back from the end of each operation.
        step: Bytes,
    },
    /// Two ascending streams: hits in an area at the start of the range, misses in the rest. Each
    /// starts over by itself; the first that is used up ends a pass.
    HitArea {
        /// Bytes of the area.
        bytes: Bytes,
        /// Share of operations that hit the area, in percent, for all directions or per direction.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite_per_direction))]
        hit_percent: PerDirection<f64>,
        /// Bytes left out after each operation of either.
        #[serde(default, skip_serializing_if = "is_default")]
        hole: Bytes,
    },
    /// Uniform, offsets may repeat.
    Random,
    /// Uniform, every block exactly once per pass, in an order keyed by the seed. Where sizes
    /// differ, blocks are of the smallest, and an operation ends before the next block used up.
    /// Within segments, each block has its operations in one shuffled order, the same in every
    /// segment and phase.
    Permutation,
    /// Zipf over blocks, the k-th most popular drawn with weight k^-theta; popularity is scattered
    /// over the range.
    Zipf {
        /// Exponent, above 0 and not 1.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        theta: f64,
        /// Where the most popular block lies, in percent of the range; absent means anywhere.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite_or_none))]
        center_percent: Option<f64>,
    },
    /// Pareto over blocks: a share `h` of the space takes a share `1 - h` of the accesses.
    Pareto {
        /// Power, between 0 and 1.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        h: f64,
        /// Position of the most popular block, in percent of the range, with the others scattered;
        /// absent means at the start, with the others after it by popularity.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite_or_none))]
        center_percent: Option<f64>,
    },
    /// Normal distribution around one offset of the range.
    Normal {
        /// Standard deviation in percent of the range.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        deviation_percent: f64,
        /// Centre, in percent of the range; absent means the middle.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite_or_none))]
        center_percent: Option<f64>,
    },
    /// Shares of accesses on consecutive sections of the range.
    Zoned {
        /// The zones, from the start of the range, for all directions or per direction. Accesses
        /// add up to 100 %; sizes are all in percent that add up to 100, or all in bytes.
        zones: PerDirection<Vec<Zone>>,
    },
    /// A share of the accesses falls on one band of the range, the rest on all of it.
    HotBand {
        /// Share of accesses that hit the band, in percent.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        hit_percent: f64,
        /// Start of the band, in percent of the range.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        start_percent: f64,
        /// Length of the band, in percent of the range.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        length_percent: f64,
    },
    /// Blocks in the order of a list, repeated. Block n begins n times the alignment after the
    /// start of the range.
    List {
        /// Numbers of the blocks, from 0.
        blocks: Vec<u64>,
        /// Each pass of the list begins N blocks further on, with N entries; a pass ends with the
        /// first block beyond the end of the range.
        #[serde(default)]
        advances: bool,
    },
    /// Preconditioning of flash: random blocks, of which some come again, so that one pass writes
    /// as much as the device holds inside and leaves it as stale as random writes do in the long
    /// run.
    Precondition {
        /// Number of equal sections of the pass, each with its own share of repeated blocks.
        regions: u32,
        /// Bytes that the device holds beyond those that it shows, in percent of these.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        spare_percent: f64,
        /// Repeat blocks at the end of the next region instead of its start, so that they are not
        /// overwritten in the cache of the device.
        #[serde(default)]
        rewrites_last: bool,
    },
    /// From a file of lines `op offset size [file [time]]`, in order, starting over at the end; see
    /// [`crate::trace`].
    Trace(TraceFile),
}

/// A trace that is followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The trace file.
    #[serde(with = "crate::path_text::as_text")]
    #[schemars(with = "PathBuf")]
    pub file: PathBuf,
    /// The trace, if the author of the plan has read it already; not in the plan's text.
    #[serde(skip)]
    #[cfg_attr(test, arbitrary(default))]
    pub trace: Option<Arc<Trace>>,
}

impl TraceFile {
    /// A file that is still to be read.
    pub fn named(file: impl Into<PathBuf>) -> TraceFile {
        TraceFile { file: file.into(), trace: None }
    }
}

impl Access {
    /// Directions and order as `--rw` has them: `randread`, `write`, `randrw 70/30`.
    pub fn word(&self, mix: Mix) -> String {
        let random = if self.is_random() { "rand" } else { "" };
        let pure = Direction::ALL.into_iter().find(|op| mix.of(*op) == 100);
        match (pure, mix) {
            (Some(op), _) => format!("{random}{}", op.name()),
            (None, Mix { read: 50, write: 50, .. }) => format!("{random}rw"),
            (None, mix) => format!("{random}rw {mix}"),
        }
    }

    /// True where the next offset does not follow from the last one.
    pub fn is_random(&self) -> bool {
        !matches!(
            self,
            Access::Sequential
                | Access::Backward
                | Access::Holes { .. }
                | Access::Back { .. }
                | Access::HitArea { .. }
                | Access::Trace(_)
        )
    }

    /// True where a pass uses up the range, so that there is an end to it.
    pub fn is_finite(&self) -> bool {
        matches!(
            self,
            Access::Sequential
                | Access::Backward
                | Access::Holes { .. }
                | Access::HitArea { .. }
                | Access::Permutation
                | Access::List { advances: true, .. }
                | Access::Precondition { .. }
                | Access::Trace(_)
        )
    }

    /// The greatest number of a list of blocks.
    pub fn last_listed(&self) -> Option<u64> {
        match self {
            Access::List { blocks, .. } => blocks.iter().copied().max(),
            _ => None,
        }
    }
}

/// One zone of [`Access::Zoned`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of the accesses, in percent.
    #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
    pub access_percent: f64,
    /// How much of the range it is.
    pub size: Extent,
}

/// Whether reads, writes and trims share a position in an ordered access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// One position: each operation follows the last, whatever their directions.
    #[default]
    Shared,
    /// Each direction goes through the range by itself.
    PerDirection,
}

/// How operations of a random access stay where the last one of their direction was.
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Stay {
    /// Share of operations that stay, in percent, per direction.
    pub percent: PerDirection<u8>,
    /// Of N operations in a row, the first takes a new offset and the others stay.
    #[default(1)]
    pub run: u32,
    /// Offset of operations that stay.
    pub at: StayAt,
}

impl Stay {
    /// True where every operation takes a new place.
    pub fn is_never(&self) -> bool {
        self.run <= 1 && self.percent.iter().all(|(_, percent)| *percent == 0)
    }
}

/// Where an operation begins that stays where the last one was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum StayAt {
    /// At its end.
    #[default]
    End,
    /// The position where the pass began.
    Start,
}

/// Sections of the range, used one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct Windows {
    /// Length of a section: the access stays within it.
    pub length: Bytes,
    /// Bytes that a worker moves in one section before the next.
    pub bytes: Bytes,
    /// Bytes between the end of a section and the start of the next.
    #[serde(default)]
    pub gap: Bytes,
}

/// Selection of a worker's next file. A file that a pass has used up is left out until all are used
/// up.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Rotation {
    /// The order.
    pub order: FileOrder,
    /// Operations on a file before the next one is chosen.
    #[default(1)]
    pub every: u32,
    /// Most files in use at a time; the next one joins when one is used up.
    pub at_once: Option<u32>,
}

/// Order of a worker's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FileOrder {
    /// One after another, over and over.
    #[default]
    RoundRobin,
    /// Any, all alike.
    Random,
    /// Any, in proportion to the bytes of the worker's share of each.
    ByBytes,
    /// Each until it is used up.
    Sequential,
    /// Zipf over files, scattered; a file that is used up starts over.
    Zipf {
        /// Exponent, above 0 and not 1.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        theta: f64,
    },
    /// Pareto over files, scattered; a file that is used up starts over.
    Pareto {
        /// Power, between 0 and 1.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        h: f64,
    },
    /// Normal around the middle of the list; a file that is used up starts over.
    Normal {
        /// Standard deviation in percent of the number of files.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        deviation_percent: f64,
    },
}
