//! Results in elbencho's formats: table, CSV and JSON.
//!
//! Each format is a function of [`PhaseResult`], the metrics of one phase. Metrics that elbencho
//! counts wrongly are correct here; [`Notes`] lists them below the table.

mod csv;
mod figures;
mod json;
pub mod live;
mod notes;
mod numbers;
mod summary;
mod text;

#[cfg(test)]
mod tests;

use candor_record::PhaseRecord;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::setup::{BenchPhase, Setup};
use figures::Figures;

pub use csv::{COLUMNS, head_for};
pub use notes::Notes;
pub use summary::summary;
pub use text::HEADER;

/// Version of elbencho whose formats are used.
pub const VERSION: &str = "3.1-10";

/// Protocol version of its services.
pub const PROTOCOL: &str = "3.1.3";

/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// The result of one phase.
pub struct PhaseResult<'a> {
    setup: &'a Setup,
    phase: &'a BenchPhase,
    figures: Figures,
}

impl<'a> PhaseResult<'a> {
    /// The result of a phase as it was recorded.
    pub fn of(setup: &'a Setup, phase: &'a BenchPhase, record: &PhaseRecord) -> PhaseResult<'a> {
        PhaseResult { setup, phase, figures: Figures::of(setup, phase, record) }
    }

    /// Lines before the first table of a results file: date, label and command line.
    pub fn head(setup: &Setup, now: &Moment) -> String {
        let label = match setup.asked.run.label.as_str() {
            "" => String::new(),
            label => format!("LABEL: {label}\n"),
        };
        let words = setup.asked.command.iter().map(|word| format!("\"{word}\" "));
        let date = now.at.to_zoned(now.zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%z");
        format!("ISO DATE: {date}\n{label}COMMAND LINE: {}\n\n{HEADER}", words.collect::<String>())
    }

    /// Rows of the table, and the separator.
    pub fn table(&self) -> String {
        text::phase(self.setup, &self.phase.name, &self.figures)
    }

    /// One line of CSV.
    pub fn csv(&self, now: &Moment) -> String {
        csv::line(self.setup, &self.phase.name, &self.figures, now)
    }

    /// One line of JSON.
    pub fn json(&self, now: &Moment) -> String {
        json::line(self.setup, &self.phase.name, &self.figures, now)
    }
}

/// Time of a result, and a unique name of the phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    at: Timestamp,
    zone: TimeZone,
    /// A random UUID.
    id: String,
}

impl Moment {
    /// The current time, in the zone of this host.
    pub fn now() -> Moment {
        Moment::of(Timestamp::now(), TimeZone::system(), [random(), random()])
    }

    fn of(at: Timestamp, zone: TimeZone, [high, low]: [u64; 2]) -> Moment {
        // Version 4, variant 1.
        let (high, low) = (high & !0xf000 | 0x4000, low & (u64::MAX >> 2) | 1 << 63);
        let id = format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & (u64::MAX >> 16)
        );
        Moment { at, zone, id }
    }

    /// Date and time with the zone: `2026-11-23T11:18:30.170-0500`.
    fn iso(&self) -> String {
        self.date(self.at)
    }

    /// Start of the phase, or the current time if unknown.
    fn start(&self, figures: &Figures) -> String {
        figures.start_unix_ms.map_or_else(|| self.iso(), |ms| self.iso_of(ms))
    }

    /// Another time, in ms since 1970.
    fn iso_of(&self, unix_ms: u64) -> String {
        let at = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        self.date(at.unwrap_or(self.at))
    }

    fn date(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%.3f%z").to_string()
    }
}

/// A random number from the random keys of hash maps.
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}
