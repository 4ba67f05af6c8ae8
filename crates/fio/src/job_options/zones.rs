//! Zones of a device, and where its controller is asked to put data.

use crate::values::Amount;
use candor_front::choices;

choices! {
    /// `zonemode`.
    pub enum ZoneMode {
        #[default]
        None = "no zones": "none",
        Strided = "one stretch of each zone, one zone after the other": "strided",
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
