//! Sizes and offsets.

use super::kind::{Kind, Row};
use crate::values::Amount;
use candor_front::row;

/// Amounts and offsets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Area {
    /// `size`: bytes of all files of a job together.
    pub size: Option<Amount>,
    /// `io_size`: bytes moved, where that is not `size`.
    pub io_size: Option<Amount>,
    /// `offset`: where each file is begun.
    pub offset: Amount,
    /// `offset_align`: offsets in percent are rounded up to it.
    pub offset_align: u64,
    /// `offset_increment`: each clone begins that much further on.
    pub offset_increment: Amount,
    /// `number_ios`: operations of one clone, 0 for no bound.
    pub number_ios: u64,
    /// `fill_device`: write until there is no space.
    pub fill_device: bool,
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("size", Kind::Amount, |s, v| s.area.size = Some(v.amount()),
        "bytes of all files of a clone together, and how much it moves")
        .exact("target.size, blocks.range", "2m"),
    row("io_size", Kind::Amount, |s, v| s.area.io_size = Some(v.amount()),
        "bytes to move, where that is not size")
        .alias(&["io_limit"]).exact("stop.bytes, stop.at_least", "256k"),
    row("offset", Kind::Amount, |s, v| s.area.offset = v.amount(), "where each file is begun")
        .alias(&["fileoffset"]).default("0").exact("blocks.range.start", "64k"),
    row("offset_align", Kind::Size(0), |s, v| s.area.offset_align = v.int(),
        "an offset in percent is rounded up to a multiple of it")
        .default("0").exact("blocks.range.start", "64k"),
    row("offset_increment", Kind::Amount, |s, v| s.area.offset_increment = v.amount(),
        "each clone begins this far after the previous one")
        .under("offset").default("0").exact("blocks.range.start", "64k"),
    row("number_ios", Kind::Size(0), |s, v| s.area.number_ios = v.int(),
        "stop after N operations; grows nothing beyond size")
        .default("0").exact("stop.ops", "16"),
    row("fill_device", Kind::Bool, |s, v| s.area.fill_device = v.bool(),
        "write until there is no space; only in order")
        .alias(&["fill_fs"]).default("0").exact("stop.until_full", "1"),
];
