//! `sd=`: storage definitions, luns and files.

use smart_default::SmartDefault;

use super::dedup::{self, Dedup};
use super::open_flags::{OpenFlags, open_flags};
use super::replay;
use super::shared::{THREADS_MAX, count, count_row, host_row, open_flags_row};
use super::transfer::{LunRange, range};
use super::{Defined, Definition, numbered, put, put_some};
use crate::kind::{Parameter, known, parameter, whole};
use crate::values::{self, Unit};
use candor_front::{Group, Refused, Row, Table};

/// A storage definition.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub struct Sd {
    /// Files or devices; several if hosts use different names for the lun.
    pub luns: Vec<String>,
    /// Hosts that use each lun.
    pub hosts: Vec<Vec<String>>,
    /// First number and number of copies of this definition.
    pub count: Option<(u64, u64)>,
    /// Bytes to use; a negative number is percent of the lun.
    pub size: Option<f64>,
    /// Operations in flight.
    #[default(8)]
    pub threads: u32,
    /// Bytes at the start that receive cache hits.
    #[default(1 << 20)]
    pub hit_area: u64,
    /// Offset added to all operations.
    pub offset: u64,
    /// Alignment of offsets.
    pub align: Option<u64>,
    /// Range of the lun.
    pub range: Option<LunRange>,
    /// Open flags of the lun.
    pub open_flags: OpenFlags,
    /// Directory or device of the validation's journal.
    pub journal: Option<String>,
    /// Deduplication of this lun.
    pub dedup: Dedup,
}

/// Reads a multiple of a sector.
fn sectors(text: &str) -> Result<u64, Refused> {
    let bytes = values::whole(text, Unit::Size, 0..=1 << 62)?;
    match bytes % 512 {
        0 => Ok(bytes),
        _ => Err(Refused::whole(text, format!("{bytes} is no multiple of 512"), "use 4k")),
    }
}

fn threads(text: &str) -> Result<u32, Refused> {
    let threads = values::divided(text, Unit::Size)?;
    if threads >= 1.0 && threads <= THREADS_MAX as f64 {
        Ok(threads as u32)
    } else {
        let remedy = format!("give 1 to {THREADS_MAX}");
        Err(Refused::whole(text, format!("{text} is no number of threads"), remedy))
    }
}

const KSTAT: &str = "Kstat is a part of Solaris; candor reads the kernel's counters by itself";
const RESET: &str = "candor resets no device";

/// Expands `count=` into one definition per number.
pub fn counted(all: &mut Vec<Definition<Sd>>) {
    super::counted(
        all,
        |sd| sd.count.take(),
        |sd, number| {
            sd.luns.iter_mut().for_each(|lun| *lun = numbered(lun, number));
        },
    );
}

type SdRow = Row<Parameter<Sd>>;

#[rustfmt::skip]
const ROWS: &[SdRow] = &[
    host_row(|sd: &mut Sd, text| { sd.hosts.push(values::words(text)?); Ok(()) },
        "hosts that use the lun"),
    parameter("lun", "FILE|DEVICE",
        |sd: &mut Sd, text| { sd.luns.push(values::word(text)?); Ok(()) },
        "file or block device; missing or short files are filled first")
        .exact("target.path", "/dev/sdx"),
    count_row(|sd: &mut Sd, text| put_some(&mut sd.count, count(text)),
        "make N definitions with numbers after the names of sd and lun"),
    parameter("size", "SIZE",
        |sd: &mut Sd, text| put_some(&mut sd.size, values::divided(text, Unit::Size)),
        "bytes to use, or percent of the lun").exact("target.size", "10g"),
    parameter("threads", "N", |sd: &mut Sd, text| put(&mut sd.threads, threads(text)),
        "operations in flight").default("8").exact("blocks.depth, job.workers", "32"),
    parameter("hitarea", "SIZE", |sd: &mut Sd, text| put(&mut sd.hit_area, sectors(text)),
        "bytes at the start that receive cache hits").default("1m").exact("blocks.access", "4m"),
    parameter("offset", "SIZE", |sd: &mut Sd, text| put(&mut sd.offset, sectors(text)),
        "offset of all operations").default("0").exact("blocks.range.start", "64k"),
    parameter("align", "SIZE", |sd: &mut Sd, text| put_some(&mut sd.align, sectors(text)),
        "alignment of offsets").exact("blocks.align", "8k"),
    known("kstat", "NAME,…", "names of Kstat instances").refused("ssd1", KSTAT),
    known("instance", "NAME", "name of a Kstat instance").refused("ssd1", KSTAT),
    known("replay", "GROUP,…", "traced devices or replay groups")
        .refused("group1", replay::REFUSED),
    parameter("journal", "DIRECTORY|DEVICE",
        |sd: &mut Sd, text| put_some(&mut sd.journal, values::word(text)),
        "location of the validation's journal").exact("blocks.verify.journal.directory", "/tmp"),
    known("resetlun", "SECONDS", "reset the lun every N seconds").refused("60", RESET),
    known("resetbus", "SECONDS", "reset the bus every N seconds").refused("60", RESET),
    open_flags_row(|sd: &mut Sd, text| put(&mut sd.open_flags, open_flags(text)),
        |sd| sd.open_flags.is_sync(),
        "o_direct, o_dsync, o_sync, fsync, or their number", "blocks.direct, blocks.durability"),
    parameter("range", "(FROM,TO)", |sd: &mut Sd, text| put_some(&mut sd.range, range(text)),
        "range of the lun, in percent or bytes").exact("blocks.range", "(10,60)"),
    whole("dedupratio", "RATIO",
        |sd: &mut Sd, text| put_some(&mut sd.dedup.ratio, dedup::ratio(text)),
        "deduplication ratio of this lun").exact("blocks.content.duplicate_percent", "2"),
    whole("dedupsets", "N|PERCENT",
        |sd: &mut Sd, text| put_some(&mut sd.dedup.sets, dedup::sets(text)),
        "number of repeated blocks of this lun").exact("blocks.content.duplicates", "10%"),
    whole("deduphotsets", "(SETS,BLOCKS,…)",
        |sd: &mut Sd, text| put(&mut sd.dedup.hot_sets, dedup::hot_sets(text)),
        "most frequently written sets of this lun").exact("blocks.content.hot_sets", "(10,2)"),
    whole("dedupflipflop", "yes|no|hotsets",
        |sd: &mut Sd, text| put(&mut sd.dedup.flip_flop, dedup::flip_flop(text)),
        "change blocks of this lun with each rewrite").exact("blocks.content.fill", "yes"),
    known("streams", "N", "streams of a lun")
        .refused("2", "streams belong to a workload (wd=…,streams=), as in vdbench"),
];

impl Defined for Sd {
    const WORD: &'static str = "sd";
    const WHAT: &'static str = "storage definition";
    const TABLE: Table<Parameter<Sd>> =
        Table(&[Group { title: "Storage definitions (sd=)", rows: ROWS }]);
}
