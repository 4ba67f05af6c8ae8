//! Traces.

use super::JobOptions;
use super::kind::{Kind, MANY, Row};
use super::own::{Done, some_paths, word};
use crate::values::{self, Units};
use candor_front::{Choice, Refused, bare, choose, row};

/// Operations of a trace to skip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skip {
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Trims.
    pub trim: bool,
    /// Flushes.
    pub flush: bool,
}

/// Traces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// `write_iolog`.
    pub write: Option<String>,
    /// `read_iolog`, split at its colons.
    pub read: Vec<String>,
    /// `replay_no_stall`.
    pub no_stall: bool,
    /// `replay_redirect`.
    pub redirect: Option<String>,
    /// `replay_scale`.
    pub scale: u64,
    /// `replay_align`.
    pub align: u64,
    /// `replay_time_scale`.
    pub time_scale: u64,
    /// `replay_skip`.
    pub skip: Skip,
    /// `merge_blktrace_file`.
    pub merge: Option<String>,
    /// `merge_blktrace_scalars`.
    pub merge_scalars: Vec<f64>,
    /// `merge_blktrace_iters`.
    pub merge_iterations: Vec<f64>,
}

const TRACE: &str = "blocks.access.trace";

fn reads(s: &JobOptions) -> bool {
    !s.trace.read.is_empty()
}

fn merges(s: &JobOptions) -> bool {
    reads(s) && s.trace.merge.is_some()
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("write_iolog", Kind::Text,
        |s, v| s.trace.write = Some(v.text()).filter(|name| !name.is_empty()),
        "write every operation to FILE")
        .exact("measure.log.trace", "/tmp/x.log"),
    bare("read_iolog", Kind::Own("PATH[:PATH…]", &[], traces),
        "replay an iolog or a blktrace file")
        .exact(TRACE, "/tmp/x.log"),
    bare("read_iolog_chunked", Kind::Bool, "read the file in chunks")
        .under("read_iolog").when(reads).default("0")
        .near(TRACE, "1", "the whole file is read before the job begins"),
    row("replay_no_stall", Kind::Bool, |s, v| s.trace.no_stall = v.bool(),
        "ignore the waits of the trace")
        .under("read_iolog").when(reads).default("0").exact(TRACE, "1"),
    row("replay_redirect", Kind::Text,
        |s, v| s.trace.redirect = Some(v.text()).filter(|path| !path.is_empty()),
        "replay on this device instead of the traced ones")
        .under("read_iolog").when(reads).exact("target.path", "/tmp/y"),
    row("replay_scale", Kind::Int(0, MANY), |s, v| s.trace.scale = v.int(),
        "divide offsets by N")
        .under("read_iolog").when(reads).default("1").exact(TRACE, "2"),
    bare("replay_align", Kind::Own("BYTES", &[], replay_align),
        "round offsets to a multiple of BYTES, a power of two")
        .under("read_iolog").when(reads).default("0").exact(TRACE, "4k"),
    row("replay_time_scale", Kind::Int(1, MANY), |s, v| s.trace.time_scale = v.int(),
        "replay speed in percent; 50 waits twice as long")
        .under("read_iolog").when(reads).default("100").exact(TRACE, "50"),
    bare("replay_skip", Kind::Own("KIND[,KIND…]", SKIP, skip), "operations to skip")
        .under("read_iolog").when(reads).exact(TRACE, "write"),
    row("merge_blktrace_file", Kind::Text,
        |s, v| s.trace.merge = Some(v.text()).filter(|path| !path.is_empty()),
        "first merge the traces of read_iolog into FILE")
        .when(merges).exact(TRACE, "/tmp/z.log"),
    row("merge_blktrace_scalars", Kind::Floats(0.0, f64::MAX, 1024),
        |s, v| s.trace.merge_scalars = v.floats(),
        "duration of each trace in percent; 50 is twice as fast")
        .when(merges).exact(TRACE, "50:100"),
    row("merge_blktrace_iters", Kind::Floats(0.0, f64::MAX, 1024),
        |s, v| s.trace.merge_iterations = v.floats(), "repeats of each trace")
        .when(merges).exact(TRACE, "2:1"),
];

/// Choices of `replay_skip`.
const SKIP: &[Choice] = &[
    word("read", "reads"),
    word("write", "writes"),
    word("trim", "trims"),
    word("flush", "flushes"),
];

fn traces(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.trace.read = some_paths(text)?;
    Ok(None)
}

fn replay_align(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let align = values::bytes(text, units)?;
    if align.value > 0 && !align.value.is_power_of_two() {
        let message = format!("`{text}` is no power of two");
        return Err(Refused::whole(text, message, "write 4k, for example"));
    }
    s.trace.align = align.value;
    Ok(align.remark)
}

fn skip(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let mut skip = Skip::default();
    for name in text.split(',') {
        // fio also calls flushes `sync`.
        match choose(if name.trim() == "sync" { "flush" } else { name }, SKIP)? {
            0 => skip.read = true,
            1 => skip.write = true,
            2 => skip.trim = true,
            _ => skip.flush = true,
        }
    }
    s.trace.skip = skip;
    Ok(None)
}
