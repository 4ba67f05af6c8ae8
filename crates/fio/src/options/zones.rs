//! Zones of a device, and data placement.

use super::kind::{Kind, Row};
use super::own::word;
use crate::values::Amount;
use candor_front::{Choice, bare, choices, row};

choices! {
    /// `zonemode`.
    pub enum ZoneMode {
        #[default]
        None = "no zones": "none",
        Strided = "a range of each zone, zone after zone": "strided",
        Zbd = "zones of a zoned device, with write pointers": "zbd",
    }
}

/// Zones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zones {
    /// `zonemode`.
    pub mode: ZoneMode,
    /// `zonesize`.
    pub size: u64,
    /// `zonecapacity`.
    pub capacity: u64,
    /// `zonerange`.
    pub range: u64,
    /// `zoneskip`.
    pub skip: Amount,
    /// `read_beyond_wp`.
    pub read_beyond: bool,
    /// `write_zone_remainder`.
    pub write_remainder: bool,
    /// `recover_zbd_write_error`.
    pub recover: bool,
    /// `max_open_zones`.
    pub open: u64,
    /// `job_max_open_zones`.
    pub open_of_job: u64,
    /// `ignore_zone_limits`.
    pub ignore_limits: bool,
    /// `zone_reset_threshold`.
    pub reset_threshold: Option<f64>,
    /// `zone_reset_frequency`.
    pub reset_frequency: Option<f64>,
}

const FDP: &str = "commands carry no placement identifiers yet: no device was there to try them on";

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("zonemode", Kind::Choice(ZoneMode::CHOICES), |s, v| s.zones.mode = v.of(ZoneMode::ALL),
        "mode of zones")
        .default("none").exact("blocks.windows, blocks.zones", "zbd"),
    row("zonesize", Kind::Size(0), |s, v| s.zones.size = v.int(),
        "strided: bytes to move per zone; zbd: size of a zone")
        .default("0").exact("blocks.windows, blocks.zones.length", "128k"),
    row("zonecapacity", Kind::Size(0), |s, v| s.zones.capacity = v.int(),
        "writable bytes of a zone")
        .default("0").exact("blocks.zones.capacity", "512k"),
    row("zonerange", Kind::Size(0), |s, v| s.zones.range = v.int(), "strided: size of a zone")
        .default("0").exact("blocks.windows", "128k"),
    row("zoneskip", Kind::Amount, |s, v| s.zones.skip = v.amount(),
        "bytes to skip after a zone")
        .default("0").exact("blocks.windows, blocks.zones.gap", "64k"),
    row("read_beyond_wp", Kind::Bool, |s, v| s.zones.read_beyond = v.bool(),
        "allow reads beyond the write pointer")
        .default("0").exact("blocks.zones.read_unwritten", "1"),
    row("max_open_zones", Kind::Int(0, 4096), |s, v| s.zones.open = v.int(),
        "maximum of open zones of all jobs")
        .default("0").exact("blocks.zones.open_max", "4"),
    row("job_max_open_zones", Kind::Int(0, 4096), |s, v| s.zones.open_of_job = v.int(),
        "maximum of open zones per clone")
        .default("0").exact("blocks.zones.open_max_per_worker", "4"),
    row("ignore_zone_limits", Kind::Bool, |s, v| s.zones.ignore_limits = v.bool(),
        "ignore the device's limit of open zones")
        .default("0").exact("blocks.zones.open_max", "1"),
    row("zone_reset_threshold", Kind::Floats(0.0, 1.0, 1),
        |s, v| s.zones.reset_threshold = v.floats().first().copied(),
        "written fraction of the area that starts resets")
        .exact("blocks.zones.reset", "0.5"),
    row("zone_reset_frequency", Kind::Floats(0.0, 1.0, 1),
        |s, v| s.zones.reset_frequency = v.floats().first().copied(),
        "fraction of writes that reset a zone")
        .exact("blocks.zones.reset", "0.1"),
    row("recover_zbd_write_error", Kind::Bool, |s, v| s.zones.recover = v.bool(),
        "after a failed write, continue at the device's write pointer")
        .default("0").exact("blocks.zones.recover_pointers", "1"),
    row("write_zone_remainder", Kind::Bool, |s, v| s.zones.write_remainder = v.bool(),
        "fill the rest of a zone with short writes")
        .alias(&["write_zone_remainders"])
        .default("0").exact("blocks.zones.short_writes", "1"),
];

#[rustfmt::skip]
pub(super) const DATA_PLACEMENT: &[Row] = &[
    bare("fdp", Kind::Bool, "flexible data placement").default("0").refused("1", FDP),
    bare("dataplacement", Kind::Choice(PLACEMENT), "method of data placement")
        .alias(&["data_placement"]).default("none").refused("fdp", FDP),
    bare("plid_select", Kind::Choice(SELECT), "choice of the next placement")
        .alias(&["fdp_pli_select"]).default("roundrobin").refused("random", FDP),
    bare("plids", Kind::Text, "placements to use").alias(&["fdp_pli"]).refused("0,1", FDP),
    bare("dp_scheme", Kind::Text, "file with offsets and placements")
        .refused("/tmp/scheme", FDP),
];

/// Choices of `dataplacement`.
const PLACEMENT: &[Choice] =
    &[word("none", "none"), word("fdp", "flexible data placement"), word("streams", "streams")];

/// Choices of `plid_select`.
const SELECT: &[Choice] = &[
    word("random", "random"),
    word("roundrobin", "in turns"),
    word("scheme", "by offset, from dp_scheme"),
];
