//! `wd=`: workloads on luns.

use smart_default::SmartDefault;

use super::open_flags::{OpenFlags, open_flags};
use super::shared::{host_row, open_flags_row, percent, skew_row, threads};
use super::transfer::{LunRange, Seek, TransferSize, range, seek, transfer_size};
use super::{Defined, put, put_some};
use crate::kind::{Parameter, parameter, whole};
use crate::values::{self, Unit};
use candor_front::{Group, Refused, Row, Table};

/// A workload.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub struct Wd {
    /// Storage definitions, by name or wildcard.
    pub sds: Vec<String>,
    /// Hosts that run the workload.
    pub hosts: Vec<String>,
    /// Percent of the run's rate.
    pub skew: Option<f64>,
    /// Bytes per operation.
    pub transfer_size: TransferSize,
    /// Percent of reads.
    #[default(100.0)]
    pub read_percent: f64,
    /// Order of offsets.
    pub seek: Seek,
    /// Minimum and maximum distance of a forward skip.
    pub stride: Option<(u64, u64)>,
    /// Percent of reads in the hit area.
    pub read_hit_percent: f64,
    /// Percent of writes in the hit area.
    pub write_hit_percent: f64,
    /// Rate of this workload in operations per second.
    pub rate: Option<f64>,
    /// Priority of the workload; 1 is first.
    pub priority: Option<u64>,
    /// Range of the lun.
    pub range: Option<LunRange>,
    /// Range of the lun with the most frequent offsets.
    pub hot_band: Option<LunRange>,
    /// Operations in flight, with concatenated luns.
    pub threads: Option<u32>,
    /// Sequential streams.
    pub streams: Option<u64>,
    /// Open flags of luns.
    pub open_flags: Option<OpenFlags>,
}

fn stride(text: &str) -> Result<(u64, u64), Refused> {
    let [min, max] = values::pair(text, Unit::Size)?;
    if min >= 0.0 && max >= min && max <= 1e18 {
        Ok((min as u64, max as u64))
    } else {
        let message = format!("`{text}` is no stride");
        Err(Refused::whole(text, message, "write (min,max) with min up to max"))
    }
}

fn rate(text: &str) -> Result<f64, Refused> {
    let rate = values::number(text, Unit::Size)?;
    if rate > 0.0 && rate <= 1e12 {
        Ok(rate)
    } else {
        Err(Refused::whole(text, format!("{text} is no rate"), "give one above 0"))
    }
}

fn priority(text: &str) -> Result<u64, Refused> {
    values::whole(text, Unit::Size, 1..=1 << 20)
}

type WdRow = Row<Parameter<Wd>>;

#[rustfmt::skip]
const ROWS: &[WdRow] = &[
    whole("sd", "NAME,…", |wd: &mut Wd, text| put(&mut wd.sds, values::names(text)),
        "luns: names, ranges, or a prefix with *").exact("job.targets", "sd*"),
    skew_row(|wd: &mut Wd, text| put_some(&mut wd.skew, percent(text)), "blocks.pace.flow"),
    parameter("xfersize", "SIZE|(SIZE,PERCENT,…)|(MIN,MAX,ALIGN)",
        |wd: &mut Wd, text| put(&mut wd.transfer_size, transfer_size(text)), "bytes per operation")
        .default("4k").exact("blocks.size", "16k"),
    parameter("readpct", "PERCENT", |wd: &mut Wd, text| put(&mut wd.read_percent, percent(text)),
        "percent of reads").alias(&["rdpct"]).default("100").exact("blocks.mix", "70"),
    parameter("writepct", "PERCENT",
        |wd: &mut Wd, text| put(&mut wd.read_percent, percent(text).map(|writes| 100.0 - writes)),
        "share of writes").alias(&["wrpct"]).default("0").exact("blocks.mix", "30"),
    parameter("range", "(FROM,TO)", |wd: &mut Wd, text| put_some(&mut wd.range, range(text)),
        "range of the lun, in percent or bytes").exact("blocks.range", "(10,60)"),
    parameter("hotband", "(FROM,TO)", |wd: &mut Wd, text| put_some(&mut wd.hot_band, range(text)),
        "part of the lun whose first places are used most").near("blocks.access", "(10,60)",
        "offsets follow a Pareto distribution over the band, not vdbench's table of cache sizes"),
    parameter("seekpct", "PERCENT|random|seq|eof|poisson",
        |wd: &mut Wd, text| put(&mut wd.seek, seek(text)),
        "percent of random offsets; eof ends the run after one pass").default("100")
        .exact("blocks.access", "seq"),
    parameter("stride", "(MIN,MAX)", |wd: &mut Wd, text| put_some(&mut wd.stride, stride(text)),
        "skip forwards by N bytes").exact("blocks.access", "(1m,1m)"),
    parameter("priority", "N",
        |wd: &mut Wd, text| put_some(&mut wd.priority, priority(text)),
        "priority of the workload; 1 is first").near("blocks.pace.ops", "1",
            "workloads with a rate get it; the others share the rest of the run's rate"),
    parameter("iorate", "RATE", |wd: &mut Wd, text| put_some(&mut wd.rate, rate(text)),
        "operations per second of this workload").exact("blocks.pace.ops", "100"),
    parameter("rhpct", "PERCENT", |wd: &mut Wd, text| put(&mut wd.read_hit_percent, percent(text)),
        "share of reads in the hit area").default("0").exact("blocks.access", "20"),
    parameter("whpct", "PERCENT", |wd: &mut Wd, text| put(&mut wd.write_hit_percent, percent(text)),
        "share of writes in the hit area").default("0").exact("blocks.access", "20"),
    host_row(|wd: &mut Wd, text| put(&mut wd.hosts, values::words(text)),
        "hosts that run the workload"),
    open_flags_row(|wd: &mut Wd, text| put_some(&mut wd.open_flags, open_flags(text)),
        |wd| wd.open_flags.is_some_and(OpenFlags::is_sync),
        "open flags of luns, overriding sd=", "blocks.direct, blocks.durability"),
    whole("user", "CLASS,…", |_: &mut Wd, _| Ok(()), "Java class that makes operations")
        .refused("X", "classes of Java are not loaded"),
    parameter("threads", "N", |wd: &mut Wd, text| put_some(&mut wd.threads, threads(text)),
        "operations in flight, with concatenatesds=yes").exact("job.workers", "16"),
    parameter("streams", "N",
        |wd: &mut Wd, text| put_some(&mut wd.streams, values::whole(text, Unit::Size, 2..=65_536)),
        "sequential streams, each in its own section of the lun").exact("blocks.share", "4"),
];

impl Defined for Wd {
    const WORD: &'static str = "wd";
    const WHAT: &'static str = "workload";
    const TABLE: Table<Parameter<Wd>> = Table(&[Group { title: "Workloads (wd=)", rows: ROWS }]);
}
