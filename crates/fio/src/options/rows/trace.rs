//! Traces.

use crate::job_options::JobOptions;
use crate::options::kind::{Kind, Row};
use crate::options::own;
use candor_front::{bare, row};

const MANY: u64 = u32::MAX as u64;
const TRACE: &str = "blocks.access.trace";

fn reads(s: &JobOptions) -> bool {
    !s.trace.read.is_empty()
}

fn merges(s: &JobOptions) -> bool {
    reads(s) && s.trace.merge.is_some()
}

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    row("write_iolog", Kind::Text,
        |s, v| s.trace.write = Some(v.text()).filter(|name| !name.is_empty()),
        "write every operation into this file")
        .exact("measure.log.trace", "/tmp/x.log"),
    bare("read_iolog", Kind::Own("PATH[:PATH…]", &[], own::traces),
        "do the operations of this file: an iolog, or a trace of blktrace")
        .exact(TRACE, "/tmp/x.log"),
    bare("read_iolog_chunked", Kind::Bool, "read the file in parts")
        .under("read_iolog").when(reads).default("0")
        .near(TRACE, "1", "the whole file is read before the job begins"),
    row("replay_no_stall", Kind::Bool, |s, v| s.trace.no_stall = v.bool(),
        "without the waits that the file has")
        .under("read_iolog").when(reads).default("0").exact(TRACE, "1"),
    row("replay_redirect", Kind::Text,
        |s, v| s.trace.redirect = Some(v.text()).filter(|path| !path.is_empty()),
        "on this device, whatever the file names")
        .under("read_iolog").when(reads).exact("target.path", "/tmp/y"),
    row("replay_scale", Kind::Int(0, MANY), |s, v| s.trace.scale = v.int(),
        "offsets are divided by it")
        .under("read_iolog").when(reads).default("1").exact(TRACE, "2"),
    bare("replay_align", Kind::Own("BYTES", &[], own::replay_align),
        "offsets are rounded to a multiple of it, a power of two")
        .under("read_iolog").when(reads).default("0").exact(TRACE, "4k"),
    row("replay_time_scale", Kind::Int(1, MANY), |s, v| s.trace.time_scale = v.int(),
        "speed in percent: 50 waits twice as long")
        .under("read_iolog").when(reads).default("100").exact(TRACE, "50"),
    bare("replay_skip", Kind::Own("KIND[,KIND…]", own::SKIP, own::skip), "operations to leave out")
        .under("read_iolog").when(reads).exact(TRACE, "write"),
    row("merge_blktrace_file", Kind::Text,
        |s, v| s.trace.merge = Some(v.text()).filter(|path| !path.is_empty()),
        "merge the traces of read_iolog into this file first")
        .when(merges).exact(TRACE, "/tmp/z.log"),
    row("merge_blktrace_scalars", Kind::Floats(0.0, f64::MAX, 1024),
        |s, v| s.trace.merge_scalars = v.floats(),
        "how long each of them takes, in percent: 50 is twice as fast")
        .when(merges).exact(TRACE, "50:100"),
    row("merge_blktrace_iters", Kind::Floats(0.0, f64::MAX, 1024),
        |s, v| s.trace.merge_iterations = v.floats(), "how often each of them is taken")
        .when(merges).exact(TRACE, "2:1"),
];
