//! Block sizes.

use crate::options::kind::{Kind, Row};
use crate::options::own;
use candor_front::{bare, row};

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    row("bs", Kind::Sizes(1), |s, v| v.ints(&mut s.blocks.fixed),
        "bytes of an operation: for reads, writes and trims")
        .alias(&["blocksize"]).under("rw").default("4096").exact("blocks.size", "8k"),
    bare("ba", Kind::Own("SIZE[,SIZE[,SIZE]]", &[], own::align),
        "offsets are multiples of it; the smallest block size where not given")
        .alias(&["blockalign"]).under("rw").exact("blocks.align", "64k"),
    bare("bsrange", Kind::Own("SIZE-SIZE[,SIZE-SIZE[,SIZE-SIZE]]", &[], own::ranges),
        "block sizes between two bounds")
        .alias(&["blocksize_range"]).under("rw").exact("blocks.size", "4k-16k"),
    bare("bssplit", Kind::Own("SIZE/PERCENT[:SIZE/PERCENT…][,…]", &[], own::splits),
        "block sizes with their shares")
        .under("rw").exact("blocks.size", "4k/60:8k/40"),
    row("bs_unaligned", Kind::Flag, |s, v| s.blocks.unaligned = v.bool(),
        "sizes of a range are any number of bytes")
        .alias(&["blocksize_unaligned"]).under("rw").exact("blocks.size", "1"),
    row("bs_is_seq_rand", Kind::Bool, |s, v| s.blocks.by_order = v.bool(),
        "the first size is of ordered operations, the second of random ones")
        .under("bs").default("0").exact("blocks.size, blocks.jump_size", "1"),
    row("num_range", Kind::Int(1, 256), |s, v| s.blocks.trim_ranges = v.int(),
        "ranges in one trim, each of bs bytes; io_uring_cmd alone has several")
        .default("1").exact("blocks.engine.io_uring_cmd.trim_ranges", "2"),
];
