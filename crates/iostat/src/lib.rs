//! sysstat's iostat: its command line, and its text and JSON from the kernel's counters.
//!
//! [`options`] reads the command line. A [`Printer`] turns two [`Sample`]s of counters into a
//! report; the caller reads the counters. The format follows sysstat 12.6.
//!
//! ```
//! let coverage = candor_iostat::options::TABLE.coverage();
//! assert!(coverage.works > 10 && coverage.works <= coverage.listed);
//! ```

mod columns;
mod figures;
mod json;
pub mod moment;
pub mod options;
mod rows;
#[cfg(test)]
mod tests;
mod text;

use candor_record::{CpuTimes, DiskCounters};

pub use figures::elapsed_ns;
use options::Options;

/// Counters of the host at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Time since boot in ns. The default sample is the time of boot, with counters of 0.
    pub uptime_ns: u64,
    /// Time of all CPUs together.
    pub cpu: CpuTimes,
    /// Block devices, including partitions.
    pub disks: Vec<Disk>,
}

/// A block device and its counters since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// The kernel's name.
    pub name: String,
    /// The disk of a partition.
    pub partition_of: Option<String>,
    /// Name in the device mapper, if any.
    pub mapped: Option<String>,
    /// The disk's counters.
    pub counters: DiskCounters,
}

/// The header before the reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Name of the host.
    pub nodename: String,
    /// `Linux`.
    pub sysname: String,
    /// Release of the kernel.
    pub release: String,
    /// Architecture.
    pub machine: String,
    /// CPUs that are online.
    pub cpus: u64,
    /// The date as printed.
    pub date: String,
}

/// Turns samples into iostat's output, report by report.
#[derive(Debug)]
pub struct Printer<'a> {
    options: &'a Options,
    reports: usize,
}

impl<'a> Printer<'a> {
    /// A printer without output.
    pub fn new(options: &'a Options) -> Self {
        Printer { options, reports: 0 }
    }

    /// The header before all reports.
    pub fn head(&self, host: &Host) -> String {
        if self.options.json { json::head(host) } else { text::head(host) }
    }

    /// The text in place of a skipped report, also in JSON.
    pub fn passed_over(&self) -> &'static str {
        "\n"
    }

    /// The report on the interval between two samples; `timestamp` is the printed time of the later
    /// one, if requested.
    pub fn report(&mut self, before: &Sample, now: &Sample, timestamp: Option<&str>) -> String {
        let report = rows::report(self.options, before, now);
        let is_first = self.reports == 0;
        self.reports += 1;
        if self.options.json {
            json::report(self.options, &report, timestamp, is_first)
        } else {
            text::report(self.options, &report, timestamp)
        }
    }

    /// The end after all reports.
    pub fn tail(&self) -> String {
        if self.options.json { json::tail() } else { String::new() }
    }
}
