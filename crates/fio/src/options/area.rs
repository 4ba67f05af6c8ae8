//! Sizes and offsets.

use super::kind::{Kind, Row};
use crate::values::Amount;
use candor_front::row;

/// Amounts and offsets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Area {
    /// `size`: total size of a job's files.
    pub size: Option<Amount>,
    /// `io_size`: bytes to move, if not `size`.
    pub io_size: Option<Amount>,
    /// `offset`: start of each file's range.
    pub offset: Amount,
    /// `offset_align`: alignment of offsets in percent.
    pub offset_align: u64,
    /// `offset_increment`: distance between the offsets of two clones.
    pub offset_increment: Amount,
    /// `number_ios`: operations per clone; 0 is unlimited.
    pub number_ios: u64,
    /// `fill_device`: write until the device is full.
    pub fill_device: bool,
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("size", Kind::Amount, |s, v| s.area.size = Some(v.amount()),
        "total file size of a clone, and bytes to move")
        .exact("target.size, blocks.range", "2m"),
    row("io_size", Kind::Amount, |s, v| s.area.io_size = Some(v.amount()),
        "bytes to move, if not size")
        .alias(&["io_limit"]).exact("stop.bytes, stop.at_least", "256k"),
    row("offset", Kind::Amount, |s, v| s.area.offset = v.amount(), "start offset in each file")
        .alias(&["fileoffset"]).default("0").exact("blocks.range.start", "64k"),
    row("offset_align", Kind::Size(0), |s, v| s.area.offset_align = v.int(),
        "round offsets in percent up to a multiple of SIZE")
        .default("0").exact("blocks.range.start", "64k"),
    row("offset_increment", Kind::Amount, |s, v| s.area.offset_increment = v.amount(),
        "distance between the offsets of two clones")
        .under("offset").default("0").exact("blocks.range.start", "64k"),
    row("number_ios", Kind::Size(0), |s, v| s.area.number_ios = v.int(),
        "stop after N operations or size, whichever is first")
        .default("0").exact("stop.ops", "16"),
    row("fill_device", Kind::Bool, |s, v| s.area.fill_device = v.bool(),
        "write sequentially until the device is full")
        .alias(&["fill_fs"]).default("0").exact("stop.until_full", "1"),
];
