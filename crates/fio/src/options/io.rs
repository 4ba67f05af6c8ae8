//! Direction, mix, engine and depth.

use super::JobOptions;
use super::kind::{Kind, MANY, Row};
use super::own::{Done, head};
use super::value::within;
use crate::values::{self, Units};
use candor_front::{Refused, bare, choices, choose, row};

choices! {
    /// `rw`: directions and order of offsets.
    pub enum RwMode {
        #[default]
        Read = "sequential reads": "read",
        Write = "sequential writes": "write",
        Trim = "sequential trims": "trim",
        RandRead = "random reads": "randread",
        RandWrite = "random writes": "randwrite",
        RandTrim = "random trims": "randtrim",
        ReadWrite = "sequential reads and writes": "rw" | "readwrite",
        RandReadWrite = "random reads and writes": "randrw",
        TrimWrite = "sequential; trim each block, then write it": "trimwrite",
        RandTrimWrite = "random; trim each block, then write it": "randtrimwrite",
    }
}

impl RwMode {
    /// True if offsets are random.
    pub fn is_random(self) -> bool {
        matches!(
            self,
            RwMode::RandRead
                | RwMode::RandWrite
                | RwMode::RandTrim
                | RwMode::RandReadWrite
                | RwMode::RandTrimWrite
        )
    }

    /// True if the job reads.
    pub fn reads(self) -> bool {
        matches!(self, RwMode::Read | RwMode::RandRead | RwMode::ReadWrite | RwMode::RandReadWrite)
    }

    /// True if the job writes.
    pub fn writes(self) -> bool {
        matches!(
            self,
            RwMode::Write
                | RwMode::RandWrite
                | RwMode::ReadWrite
                | RwMode::RandReadWrite
                | RwMode::TrimWrite
                | RwMode::RandTrimWrite
        )
    }

    /// True if the job trims.
    pub fn trims(self) -> bool {
        matches!(self, RwMode::Trim | RwMode::RandTrim | RwMode::TrimWrite | RwMode::RandTrimWrite)
    }

    /// True if the job reads and writes.
    pub fn is_mixed(self) -> bool {
        matches!(self, RwMode::ReadWrite | RwMode::RandReadWrite)
    }

    /// True if the job trims each block before it writes it.
    pub fn trims_and_writes(self) -> bool {
        matches!(self, RwMode::TrimWrite | RwMode::RandTrimWrite)
    }
}

choices! {
    /// `rw_sequencer`: offsets between the jumps of `rw=…:N`.
    pub enum Sequencer {
        #[default]
        Sequential = "continue after the last block": "sequential",
        Identical = "use the last block again": "identical",
    }
}

/// Direction, mix, and the number of `rw=…:N`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rw {
    /// Direction.
    pub direction: RwMode,
    /// Random: N sequential operations per jump. Sequential: N bytes to skip after each
    /// operation, possibly negative.
    pub suffix: Option<i64>,
    /// Offsets between two jumps.
    pub sequencer: Sequencer,
    /// Percent of reads in a mixed workload.
    pub mix_read: u64,
}

choices! {
    /// `sync`: open flag of files.
    pub enum OpenSync {
        #[default]
        None = "no flag": "none" | "0",
        Sync = "O_SYNC": "sync" | "1",
        Dsync = "O_DSYNC": "dsync",
    }
}

choices! {
    /// `io_submit_mode`.
    pub enum SubmitMode {
        #[default]
        Inline = "submit from the job's thread": "inline",
        Offload = "submit from additional threads": "offload",
    }
}

/// Engine and depth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Issue {
    /// `ioengine`, as written.
    pub engine: String,
    /// `iodepth`.
    pub depth: u64,
    /// `iodepth_batch`.
    pub batch: u64,
    /// `iodepth_batch_complete_min`.
    pub complete_min: u64,
    /// `iodepth_batch_complete_max`.
    pub complete_max: Option<u64>,
    /// `iodepth_low`.
    pub low: Option<u64>,
    /// `serialize_overlap`.
    pub serialize_overlap: bool,
    /// `io_submit_mode`.
    pub submit: SubmitMode,
    /// `direct`, or the opposite of `buffered`.
    pub direct: bool,
    /// `sync`.
    pub sync: OpenSync,
    /// `invalidate`.
    pub invalidate: bool,
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    bare("rw", Kind::Own("DIRECTION[:N]", RwMode::CHOICES, rw),
        "direction and order of I/O; N operations per jump, or N bytes to skip")
        .alias(&["readwrite"]).default("read").exact("blocks.mix, blocks.access", "randread"),
    row("rw_sequencer", Kind::Choice(Sequencer::CHOICES),
        |s, v| s.rw.sequencer = v.of(Sequencer::ALL), "offsets between the jumps of rw=…:N")
        .default("sequential").exact("blocks.stay", "identical"),
    bare("rwmixread", Kind::Own("0 to 100", &[], mix_read), "percent of reads in a mix")
        .under("rw").when(|s| s.rw.direction.is_mixed()).default("50").exact("blocks.mix", "70"),
    bare("rwmixwrite", Kind::Own("0 to 100", &[], mix_write),
        "percent of writes in a mix")
        .under("rw").when(|s| s.rw.direction.is_mixed()).default("50").exact("blocks.mix", "20"),
    bare("rwmixcycle", Kind::Deprecated, "no longer used").idle("10", "fio has dropped it"),
    row("ioengine", Kind::Text, |s, v| s.issue.engine = v.text(),
        "I/O engine; see --enghelp")
        .default("psync").exact("blocks.engine", "null"),
    row("iodepth", Kind::Int(1, MANY), |s, v| s.issue.depth = v.int(),
        "operations in flight per clone, for asynchronous engines")
        .default("1").exact("blocks.depth", "8"),
    row("iodepth_batch", Kind::Int(0, MANY), |s, v| s.issue.batch = v.int(),
        "submit N operations at a time; 0 means iodepth")
        .alias(&["iodepth_batch_submit"]).under("iodepth").default("1")
        .exact("blocks.batch_submit", "4"),
    row("iodepth_batch_complete_min", Kind::Int(0, MANY), |s, v| s.issue.complete_min = v.int(),
        "wait for N completions at a time; 0 only polls")
        .alias(&["iodepth_batch_complete"]).under("iodepth").default("1")
        .exact("blocks.batch_reap", "4"),
    row("iodepth_batch_complete_max", Kind::Int(0, MANY),
        |s, v| s.issue.complete_max = Some(v.int()), "reap at most N completions at a time")
        .under("iodepth").exact("blocks.batch_reap_max", "4"),
    row("iodepth_low", Kind::Int(0, MANY), |s, v| s.issue.low = Some(v.int()),
        "refill a full queue when it falls to N")
        .under("iodepth").exact("blocks.depth_low", "2"),
    row("serialize_overlap", Kind::Bool, |s, v| s.issue.serialize_overlap = v.bool(),
        "serialize operations that overlap")
        .under("iodepth").default("0").exact("blocks.serialize_overlap", "1"),
    row("io_submit_mode", Kind::Choice(SubmitMode::CHOICES),
        |s, v| s.issue.submit = v.of(SubmitMode::ALL), "thread that submits operations")
        .default("inline").near("blocks.engine", "offload",
            "operations are done by as many threads of the job as iodepth, not by a pool"),
    row("direct", Kind::Bool, |s, v| s.issue.direct = v.bool(), "bypass the page cache (O_DIRECT)")
        .default("0").exact("blocks.direct", "1"),
    row("buffered", Kind::Bool, |s, v| s.issue.direct = !v.bool(),
        "use the page cache; the opposite of direct")
        .default("1").exact("blocks.direct", "0"),
    row("sync", Kind::Choice(OpenSync::CHOICES), |s, v| s.issue.sync = v.of(OpenSync::ALL),
        "open flag that makes each write durable")
        .default("none").exact("blocks.durability.open", "dsync"),
    row("invalidate", Kind::Bool, |s, v| s.issue.invalidate = v.bool(),
        "drop cached pages of the files before the job")
        .default("1").exact("blocks.hints.invalidate", "0"),
];

fn rw(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (name, suffix) = head(text);
    let direction = RwMode::ALL[choose(name, RwMode::CHOICES)?];
    let mut remark = None;
    s.rw.suffix = match suffix {
        None => None,
        Some(suffix) => {
            let read = values::integer(suffix, units)?;
            remark = read.remark;
            let value = i64::try_from(read.value).ok();
            let value = value.filter(|value| !direction.is_random() || *value >= 1);
            Some(value.ok_or_else(|| {
                let message = format!("`{suffix}` is no number of operations between jumps");
                Refused::whole(text, message, "give 1 or more")
            })?)
        }
    };
    s.rw.direction = direction;
    Ok(remark)
}

/// Reads a percentage of a mix. fio reads a percent sign as a number above all percentages.
fn mix(text: &str, units: Units) -> Result<(Option<u64>, Option<String>), Refused> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let read = values::count(number, units)?;
    within(text, read.value, 0, 100)?;
    if number.len() == text.len() {
        return Ok((Some(read.value), read.remark));
    }
    let remark = format!(
        "`{text}` is read as fio does: every operation is a read, for percentages have no sign \
         here; {number} % would be {number}"
    );
    Ok((None, Some(remark)))
}

fn mix_read(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (percent, remark) = mix(text, units)?;
    s.rw.mix_read = percent.unwrap_or(100);
    Ok(remark)
}

fn mix_write(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (percent, remark) = mix(text, units)?;
    s.rw.mix_read = 100 - percent.unwrap_or(0);
    Ok(remark)
}
