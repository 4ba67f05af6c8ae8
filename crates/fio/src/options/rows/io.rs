//! RwMode, mix, engine and depth.

use crate::job_options::{OpenSync, RwMode, Sequencer, SubmitMode};
use crate::options::kind::{Kind, Row};
use crate::options::own;
use candor_front::{bare, row};

const MANY: u64 = u32::MAX as u64;

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    bare("rw", Kind::Own("DIRECTION[:N]", RwMode::CHOICES, own::rw),
        "direction and order; random: N in order between jumps; in order: N bytes left out each \
        time")
        .alias(&["readwrite"]).default("read").exact("blocks.mix, blocks.access", "randread"),
    row("rw_sequencer", Kind::Choice(Sequencer::CHOICES),
        |s, v| s.rw.sequencer = v.of(Sequencer::ALL), "what happens between the jumps of rw=…:N")
        .default("sequential").exact("blocks.stay", "identical"),
    bare("rwmixread", Kind::Own("0 to 100", &[], own::mix_read), "percent of a mix that are reads")
        .under("rw").when(|s| s.rw.direction.is_mixed()).default("50").exact("blocks.mix", "70"),
    bare("rwmixwrite", Kind::Own("0 to 100", &[], own::mix_write),
        "percent of a mix that are writes")
        .under("rw").when(|s| s.rw.direction.is_mixed()).default("50").exact("blocks.mix", "20"),
    bare("rwmixcycle", Kind::Deprecated, "no longer used").idle("10", "fio has dropped it"),
    row("ioengine", Kind::Text, |s, v| s.issue.engine = v.text(),
        "the way operations are issued; see --enghelp")
        .default("psync").exact("blocks.engine", "null"),
    row("iodepth", Kind::Int(1, MANY), |s, v| s.issue.depth = v.int(),
        "operations in flight per clone, where the engine can have several")
        .default("1").exact("blocks.depth", "8"),
    row("iodepth_batch", Kind::Int(0, MANY), |s, v| s.issue.batch = v.int(),
        "operations handed over at a time; 0 is as many as the depth")
        .alias(&["iodepth_batch_submit"]).under("iodepth").default("1")
        .exact("blocks.batch_submit", "4"),
    row("iodepth_batch_complete_min", Kind::Int(0, MANY), |s, v| s.issue.complete_min = v.int(),
        "completions to wait for at a time; 0 takes what is there")
        .alias(&["iodepth_batch_complete"]).under("iodepth").default("1")
        .exact("blocks.batch_reap", "4"),
    row("iodepth_batch_complete_max", Kind::Int(0, MANY),
        |s, v| s.issue.complete_max = Some(v.int()), "completions to take at a time, at most")
        .under("iodepth").exact("blocks.batch_reap_max", "4"),
    row("iodepth_low", Kind::Int(0, MANY), |s, v| s.issue.low = Some(v.int()),
        "once the queue is full, let it run down to this before it is filled again")
        .under("iodepth").exact("blocks.depth_low", "2"),
    row("serialize_overlap", Kind::Bool, |s, v| s.issue.serialize_overlap = v.bool(),
        "operations on the same bytes wait for each other")
        .under("iodepth").default("0").exact("blocks.serialize_overlap", "1"),
    row("io_submit_mode", Kind::Choice(SubmitMode::CHOICES),
        |s, v| s.issue.submit = v.of(SubmitMode::ALL), "who hands operations over")
        .default("inline").near("blocks.engine", "offload",
            "operations are done by as many threads of the job as iodepth, not by a pool"),
    row("direct", Kind::Bool, |s, v| s.issue.direct = v.bool(), "past the page cache (O_DIRECT)")
        .default("0").exact("blocks.direct", "1"),
    row("buffered", Kind::Bool, |s, v| s.issue.direct = !v.bool(),
        "through the page cache; the opposite of direct")
        .default("1").exact("blocks.direct", "0"),
    row("sync", Kind::Choice(OpenSync::CHOICES), |s, v| s.issue.sync = v.of(OpenSync::ALL),
        "flag that makes each write durable")
        .default("none").exact("blocks.durability.open", "dsync"),
    row("invalidate", Kind::Bool, |s, v| s.issue.invalidate = v.bool(),
        "drop what the cache holds of the files before the job")
        .default("1").exact("blocks.hints.invalidate", "0"),
];
