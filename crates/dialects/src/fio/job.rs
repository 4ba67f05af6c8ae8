//! What the output needs to know about a job beside its measurement.

use std::path::PathBuf;

/// One process in fio's reckoning: a clone of a section. In the plan it is a job of one worker.
#[derive(Clone, Debug, PartialEq)]
pub struct FioJob {
    /// The section's name.
    pub name: String,
    /// `description`.
    pub description: Option<String>,
    /// Its phase, as an index into the plan's phases.
    pub phase: usize,
    /// Its job, as an index into that phase's jobs.
    pub job: usize,
    /// Number of its reporting group, from 0.
    pub group_id: u32,
    /// Its figures are shown with those of its group.
    pub group_reporting: bool,
    /// Options of the section as written, in order, without those of `[global]`.
    pub options: Vec<(String, String)>,
    /// What is reported, and how.
    pub reporting: Reporting,
}

/// What is reported about a job, and in which units.
#[derive(Clone, Debug, PartialEq)]
pub struct Reporting {
    /// Bytes in a "K": 1024 or 1000.
    pub kb_base: u32,
    /// 8 reports rates in bits, 1 in bytes, 0 decides by the target.
    pub unit_base: u32,
    /// 0 per direction, 1 mixed, 2 both.
    pub unified_rw: u32,
    /// Percentiles of completion latency.
    pub clat_percentiles: bool,
    /// Percentiles of total latency.
    pub lat_percentiles: bool,
    /// Percentiles of submission latency.
    pub slat_percentiles: bool,
    /// Which percentiles, ascending.
    pub percentiles: Vec<f64>,
    /// Total latency is shown.
    pub lat: bool,
    /// Completion latency is shown.
    pub clat: bool,
    /// Submission latency is shown.
    pub slat: bool,
    /// Sampled bandwidth is shown.
    pub bandwidth: bool,
    /// Counters of the devices are shown.
    pub disk_util: bool,
    /// Digits of rounded figures.
    pub significant_figures: u32,
    /// The job is reported at all.
    pub stats: bool,
    /// Latency is from the intended start and not from hand-over.
    pub from_intended: bool,
}

impl Default for Reporting {
    fn default() -> Self {
        Reporting {
            kb_base: 1024,
            unit_base: 0,
            unified_rw: 0,
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            percentiles: PERCENTILES.to_vec(),
            lat: true,
            clat: true,
            slat: true,
            bandwidth: true,
            disk_util: true,
            significant_figures: 4,
            stats: true,
            from_intended: false,
        }
    }
}

/// The percentiles that fio shows when none are asked for.
pub const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Where the results go and in which forms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Forms, in the order asked for; empty means the normal text.
    pub formats: Vec<Format>,
    /// Version of the terse line, 2 to 5; 3 unless told.
    pub terse_version: u32,
    /// The file that results go to instead of standard output.
    pub file: Option<PathBuf>,
    /// The terse line follows the normal text.
    pub append_terse: bool,
    /// Options of `[global]` as written, in order.
    pub global_options: Vec<(String, String)>,
}

/// A form of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    Normal,
    /// One line, fields separated by semicolons.
    Terse,
    /// JSON.
    Json,
    /// JSON with the bins of every latency.
    JsonPlus,
}
