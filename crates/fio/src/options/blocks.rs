//! Block sizes.

use candor_plan::units::{Direction, PerDirection};

use super::JobOptions;
use super::kind::{Kind, Row};
use super::own::Done;
use super::value::per_op;
use crate::values::{self, Share, Units};
use candor_front::{Refused, bare, row};

/// Block sizes, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockSizes {
    /// `bs`.
    pub fixed: PerDirection<u64>,
    /// `bsrange`.
    pub range: Option<PerDirection<(u64, u64)>>,
    /// `bssplit`; an empty list is a direction without value.
    pub split: Option<PerDirection<Vec<Share>>>,
    /// `ba`.
    pub align: Option<PerDirection<u64>>,
    /// `bs_unaligned`: allow any number of bytes within bsrange.
    pub unaligned: bool,
    /// `num_range`: ranges per trim.
    pub trim_ranges: u64,
    /// `bs_is_seq_rand`: sizes are for sequential and random operations, not reads and writes.
    pub by_order: bool,
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("bs", Kind::Sizes(1), |s, v| v.ints(&mut s.blocks.fixed),
        "block size of reads, writes and trims")
        .alias(&["blocksize"]).under("rw").default("4096").exact("blocks.size", "8k"),
    bare("ba", Kind::Own("SIZE[,SIZE[,SIZE]]", &[], align),
        "alignment of offsets; defaults to the smallest block size")
        .alias(&["blockalign"]).under("rw").exact("blocks.align", "64k"),
    bare("bsrange", Kind::Own("SIZE-SIZE[,SIZE-SIZE[,SIZE-SIZE]]", &[], ranges),
        "range of block sizes")
        .alias(&["blocksize_range"]).under("rw").exact("blocks.size", "4k-16k"),
    bare("bssplit", Kind::Own("SIZE/PERCENT[:SIZE/PERCENT…][,…]", &[], splits),
        "block sizes with their percentages")
        .under("rw").exact("blocks.size", "4k/60:8k/40"),
    row("bs_unaligned", Kind::Flag, |s, v| s.blocks.unaligned = v.bool(),
        "allow any number of bytes within bsrange")
        .alias(&["blocksize_unaligned"]).under("rw").exact("blocks.size", "1"),
    row("bs_is_seq_rand", Kind::Bool, |s, v| s.blocks.by_order = v.bool(),
        "use the first size for sequential, the second for random operations")
        .under("bs").default("0").exact("blocks.size, blocks.jump_size", "1"),
    row("num_range", Kind::Int(1, 256), |s, v| s.blocks.trim_ranges = v.int(),
        "ranges per trim, each of bs bytes (io_uring_cmd only)")
        .default("1").exact("blocks.engine.io_uring_cmd.trim_ranges", "2"),
];

/// Overwrites the directions that were given.
fn merge<T: Clone>(into: &mut PerDirection<T>, given: PerDirection<Option<T>>) {
    let PerDirection { read, write, trim } = given;
    for (op, value) in [(Direction::Read, read), (Direction::Write, write), (Direction::Trim, trim)]
    {
        if let Some(value) = value {
            *into.of_mut(op) = value;
        }
    }
}

fn align(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let read = values::by_direction(text, &[','], |part| {
        let read = values::bytes(part, units)?;
        match read.value {
            0 => Err(Refused::whole(part, "the alignment is 0", "give 1 or more")),
            _ => Ok(read),
        }
    })?;
    let mut align = s.blocks.align.unwrap_or(PerDirection::all(0));
    merge(&mut align, per_op(read.value));
    s.blocks.align = Some(align);
    Ok(read.remark)
}

fn ranges(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let read = values::ranges_by_direction(text, units)?;
    if read.value.iter().flatten().any(|(low, _)| *low == 0) {
        return Err(Refused::whole(text, "a block of 0 bytes", "begin the range at 1 or more"));
    }
    let fixed = &s.blocks.fixed;
    let one = |size: u64| (size, size);
    let mut range = s.blocks.range.unwrap_or(PerDirection {
        read: one(fixed.read),
        write: one(fixed.write),
        trim: one(fixed.trim),
    });
    merge(&mut range, per_op(read.value));
    s.blocks.range = Some(range);
    Ok(read.remark)
}

fn splits(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let read = values::splits_by_direction(text, units)?;
    let sizes = || read.value.iter().flatten().flatten();
    if sizes().any(|share| share.value == 0) {
        return Err(Refused::whole(text, "a block of 0 bytes", "give sizes of 1 or more"));
    }
    let mut split = s.blocks.split.clone().unwrap_or_default();
    merge(&mut split, per_op(read.value.clone()));
    s.blocks.split = Some(split);
    Ok(read.remark)
}
