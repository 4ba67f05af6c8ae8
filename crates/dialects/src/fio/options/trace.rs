//! Traces.

use super::kind::Kind;
use super::own;
use super::row::{Category, Row, bare, row};

pub(super) const CATEGORY: Category = Category::Trace;

const MANY: u64 = u32::MAX as u64;
const LATER: &str = "traces in fio's formats are not built yet";

pub(super) const ROWS: &[Row] = &[
    row(
        "write_iolog",
        Kind::Text,
        |s, v| s.trace.write = Some(v.text()),
        "write every operation into this file",
    )
    .refused("/tmp/x.log", LATER),
    row(
        "read_iolog",
        Kind::Text,
        |s, v| s.trace.read = Some(v.text()),
        "do the operations of this file: an iolog, or a trace of blktrace",
    )
    .refused("/tmp/x.log", LATER),
    row(
        "read_iolog_chunked",
        Kind::Bool,
        |s, v| s.trace.chunked = v.bool(),
        "read the file in parts",
    )
    .under("read_iolog")
    .when(|s| s.trace.read.is_some())
    .default("0")
    .beside("read_iolog=/tmp/x.log")
    .refused("1", LATER),
    row(
        "replay_no_stall",
        Kind::Bool,
        |s, v| s.trace.no_stall = v.bool(),
        "without the waits that the file has",
    )
    .under("read_iolog")
    .when(|s| s.trace.read.is_some())
    .default("0")
    .beside("read_iolog=/tmp/x.log")
    .refused("1", LATER),
    row(
        "replay_redirect",
        Kind::Text,
        |s, v| s.trace.redirect = Some(v.text()),
        "on this device, whatever the file names",
    )
    .under("read_iolog")
    .when(|s| s.trace.read.is_some())
    .beside("read_iolog=/tmp/x.log")
    .refused("/tmp/y", LATER),
    row(
        "replay_scale",
        Kind::Int(0, MANY),
        |s, v| s.trace.scale = v.int(),
        "offsets are divided by it",
    )
    .under("read_iolog")
    .when(|s| s.trace.read.is_some())
    .default("1")
    .beside("read_iolog=/tmp/x.log")
    .refused("2", LATER),
    row(
        "replay_align",
        Kind::Size(0),
        |s, v| s.trace.align = v.int(),
        "offsets are rounded to a multiple of it, a power of two",
    )
    .under("read_iolog")
    .when(|s| s.trace.read.is_some())
    .default("0")
    .beside("read_iolog=/tmp/x.log")
    .refused("4k", LATER),
    row(
        "replay_time_scale",
        Kind::Int(1, MANY),
        |s, v| s.trace.time_scale = v.int(),
        "speed in percent: 50 waits twice as long",
    )
    .under("read_iolog")
    .when(|s| s.trace.read.is_some())
    .default("100")
    .beside("read_iolog=/tmp/x.log")
    .refused("50", LATER),
    bare("replay_skip", Kind::Own("KIND[,KIND…]", own::SKIP, own::skip), "operations to leave out")
        .under("read_iolog")
        .when(|s| s.trace.read.is_some())
        .beside("read_iolog=/tmp/x.log")
        .refused("write", LATER),
    row(
        "merge_blktrace_file",
        Kind::Text,
        |s, v| s.trace.merge = Some(v.text()),
        "merge the traces of read_iolog into this file first",
    )
    .beside("read_iolog=/tmp/x.log:/tmp/y.log")
    .refused("/tmp/z.log", LATER),
    row(
        "merge_blktrace_scalars",
        Kind::Floats(0.0, f64::MAX, 1024),
        |s, v| s.trace.merge_scalars = v.floats(),
        "speed of each of them, in percent",
    )
    .beside("read_iolog=/tmp/x.log:/tmp/y.log merge_blktrace_file=/tmp/z.log")
    .refused("50:100", LATER),
    row(
        "merge_blktrace_iters",
        Kind::Floats(0.0, f64::MAX, 1024),
        |s, v| s.trace.merge_iterations = v.floats(),
        "how often each of them is taken",
    )
    .beside("read_iolog=/tmp/x.log:/tmp/y.log merge_blktrace_file=/tmp/z.log")
    .refused("2:1", LATER),
];
