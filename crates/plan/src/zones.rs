//! Zones with write pointers: how a zoned device is written to, or an ordinary one as if it were.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::Bytes;
use crate::omit::is_default;

/// Zones of each file or device, in which writes go to write pointers and nowhere else.
///
/// An access still draws a place for each operation. A write goes to the pointer of the zone that
/// was drawn, which is reset first where it is full; a read moves to where something was written in
/// this run, by whichever job; a trim resets a whole zone. Only whole zones of a job's range are
/// used. On an ordinary target, which is taken to be empty at first, pointers are kept in memory
/// alone and a reset touches no data.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Zones {
    /// From the start of a zone to the start of the next; absent means the device's own, which an
    /// ordinary target has none of.
    pub length: Option<Bytes>,
    /// Bytes of a zone that can be used, from its start on; absent means all, and a zoned device
    /// knows better.
    pub capacity: Option<Bytes>,
    /// Bytes that a sequential access leaves out after a zone that it used up: whole zones.
    pub gap: Bytes,
    /// Zones of a target that are written to at a time, by all jobs that use it; absent sets no
    /// limit.
    pub open_max: Option<u32>,
    /// The same for each worker.
    pub open_max_per_worker: Option<u32>,
    /// Reads go wherever they are drawn, also where nothing was written.
    pub read_unwritten: bool,
    /// A write that the rest of its zone is too short for is shortened to it. Else that rest stays
    /// unwritten, and the zone is finished.
    #[serde(skip_serializing_if = "is_default")]
    pub short_writes: bool,
    /// After a write that failed or was short, asks a zoned device for the zone's write pointer,
    /// and writes on from there; without it the next writes to that zone fail as well. Needs errors
    /// of writes that are tolerated.
    #[serde(skip_serializing_if = "is_default")]
    pub recover_pointers: bool,
    /// Additional resets; full zones are always reset.
    pub reset: Option<ZoneReset>,
}

/// Resets as a running cleaner makes them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct ZoneReset {
    /// Start of the resets: share of a worker's range with data, in percent.
    #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
    pub above_percent: f64,
    /// From then on, every N writes of a worker, reset the next zone before its write.
    pub every: u32,
}
