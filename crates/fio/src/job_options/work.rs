//! The work: directions, block sizes, offsets, their order, engine and depth.

use candor_plan::units::PerDirection;

use crate::values::{Amount, Share};
use candor_front::choices;

choices! {
    /// `rw`: directions and whether offsets are random.
    pub enum RwMode {
        #[default]
        Read = "reads in order": "read",
        Write = "writes in order": "write",
        Trim = "trims in order": "trim",
        RandRead = "reads at random places": "randread",
        RandWrite = "writes at random places": "randwrite",
        RandTrim = "trims at random places": "randtrim",
        ReadWrite = "reads and writes, each in order": "rw" | "readwrite",
        RandReadWrite = "reads and writes at random places": "randrw",
        TrimWrite = "each block is trimmed, then written, in order": "trimwrite",
        RandTrimWrite = "each block is trimmed, then written, at random places": "randtrimwrite",
    }
}

impl RwMode {
    /// Offsets are random.
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

    /// True where the job reads.
    pub fn reads(self) -> bool {
        matches!(self, RwMode::Read | RwMode::RandRead | RwMode::ReadWrite | RwMode::RandReadWrite)
    }

    /// True where the job writes.
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

    /// True where the job trims.
    pub fn trims(self) -> bool {
        matches!(self, RwMode::Trim | RwMode::RandTrim | RwMode::TrimWrite | RwMode::RandTrimWrite)
    }

    /// True where the job reads and writes.
    pub fn is_mixed(self) -> bool {
        matches!(self, RwMode::ReadWrite | RwMode::RandReadWrite)
    }

    /// True where the job trims each block before it writes it.
    pub fn trims_and_writes(self) -> bool {
        matches!(self, RwMode::TrimWrite | RwMode::RandTrimWrite)
    }
}

choices! {
    /// `rw_sequencer`: what happens to offsets between the jumps of `rw=…:N`.
    pub enum Sequencer {
        #[default]
        Sequential = "continue after the last block": "sequential",
        Identical = "use the last block again": "identical",
    }
}

/// RwMode, mix, and the number behind `rw=…:N`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rw {
    /// The direction.
    pub direction: RwMode,
    /// Random: so many operations at a time are in order. In order: so many bytes are left out
    /// after each operation, which may be negative.
    pub suffix: Option<i64>,
    /// Offsets between two jumps.
    pub sequencer: Sequencer,
    /// Share of reads in a mixed workload.
    pub mix_read: u64,
}

/// Block sizes, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockSizes {
    /// `bs`.
    pub fixed: PerDirection<u64>,
    /// `bsrange`.
    pub range: Option<PerDirection<(u64, u64)>>,
    /// `bssplit`; an empty list is a direction that was not given.
    pub split: Option<PerDirection<Vec<Share>>>,
    /// `ba`.
    pub align: Option<PerDirection<u64>>,
    /// `bs_unaligned`: sizes of a range are any number of bytes.
    pub unaligned: bool,
    /// `num_range`: ranges of each trim.
    pub trim_ranges: u64,
    /// `bs_is_seq_rand`: sizes are of ordered and random operations, not of reads and writes.
    pub by_order: bool,
}

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

choices! {
    /// `random_generator`.
    pub enum Generator {
        #[default]
        Tausworthe = "the usual one": "tausworthe",
        Lfsr = "every block once without a map": "lfsr",
        Tausworthe64 = "the usual one with 64 bits": "tausworthe64",
    }
}

/// `random_distribution`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Uniform.
    #[default]
    Uniform,
    /// Zipf with its exponent.
    Zipf(f64, Option<f64>),
    /// Pareto with its power.
    Pareto(f64, Option<f64>),
    /// Normal with its deviation in percent of the range.
    Normal(f64, Option<f64>),
    /// Shares of accesses (percent) on shares of the range (percent), per direction.
    Zoned(PerDirection<Vec<(u64, u64)>>),
    /// Shares of accesses (percent) on numbers of bytes, per direction.
    ZonedAbsolute(PerDirection<Vec<(u64, u64)>>),
    /// Blocks in this order, by their numbers.
    Sequence(Vec<u64>),
}

/// Random offsets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Random {
    /// `randrepeat`: the same offsets in every run.
    pub repeat: bool,
    /// `randseed`.
    pub seed: u64,
    /// `norandommap`: blocks may come twice.
    pub no_map: bool,
    /// `random_generator`.
    pub generator: Generator,
    /// `random_distribution`.
    pub distribution: Distribution,
    /// `random_sequence_stride`: a sequence goes on behind itself.
    pub stride: bool,
    /// `percentage_random`.
    pub percent: PerDirection<u64>,
    /// `sprandom` and its options.
    pub precondition: Precondition,
}

/// Preconditioning of flash.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Precondition {
    /// `sprandom`.
    pub on: bool,
    /// `spr_num_regions`.
    pub regions: u64,
    /// `spr_op`: space beyond the size, as a share of it.
    pub spare: f64,
    /// `spr_cs`: bytes of the device's cache.
    pub cache: u64,
}

choices! {
    /// `sync`: flag with which files are opened.
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
        Inline = "the job's own thread hands operations over": "inline",
        Offload = "additional threads submit operations": "offload",
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
