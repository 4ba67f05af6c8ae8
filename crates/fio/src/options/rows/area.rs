//! Sizes and offsets.

use crate::options::kind::{Kind, Row};
use candor_front::row;

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
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
