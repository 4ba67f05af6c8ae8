//! Writes a report in fio's output formats: text, JSON, terse lines, status line, log files.
//!
//! [`preamble`] has the lines before the run, [`write`] the results in every requested format,
//! [`status::Status::line`] the progress, [`logs::files`] the logs. Metrics that candor did not
//! measure are computed from others, or appear as in fio: without a line in text, as zero with `N`
//! 0 in JSON.

pub mod clients;
mod figures;
pub mod idleness;
mod json;
pub mod logs;
mod moment;
mod normal;
mod number;
mod preamble;
pub mod status;
mod terse;
#[cfg(test)]
mod tests;
mod tree;

use candor_record::Report;

use super::job::{FioJob, Format, Output, VerdictPlace};
use moment::Moment;

pub use preamble::{capped, laying_out, preamble};

use super::help::VERSION;

/// Results in every requested format, in fio's order: terse lines, JSON, text.
///
/// During a run, each call writes complete documents of the report so far.
pub fn write(report: &Report, jobs: &[FioJob], output: &Output) -> String {
    write_at(report, jobs, output, &Moment::now())
}

fn write_at(report: &Report, jobs: &[FioJob], output: &Output, now: &Moment) -> String {
    if !output.clients.is_empty() {
        return clients::write(report, jobs, output, now);
    }
    let entries = figures::entries(report, jobs);
    let wanted = |format| output.formats.contains(&format);
    let mut text = String::new();
    if wanted(Format::Terse) || output.append_terse {
        text += &terse::document(report, &entries, terse_version(output));
    }
    if wanted(Format::Json) || wanted(Format::JsonPlus) {
        text += &json::document(report, &entries, output, wanted(Format::JsonPlus), now);
    }
    if wanted(Format::Normal) || output.formats.is_empty() {
        text += &normal::jobs(&entries, now);
        text += &normal::groups(report, &entries);
        text.extend(output.idleness.as_ref().map(idleness::text));
        if output.verdict == VerdictPlace::AtEnd {
            text += &verdict(report);
        }
    }
    text
}

/// Labels of fio's metrics, and replacements in candor's sentences, because scripts select lines of
/// fio by these labels.
const FIGURES: &[(&str, &str)] = &[
    ("IOPS", "I/O per second"),
    ("iops", "I/O per second"),
    ("bw=", "bandwidth "),
    ("BW=", "bandwidth "),
    ("READ:", "reads"),
    ("WRITE:", "writes"),
    ("clat", "latency"),
];

/// The verdict as text, if not within fio's output.
pub fn verdict(report: &Report) -> String {
    candor_front::verdict::text(report, FIGURES)
}

/// Default: version 3.
fn terse_version(output: &Output) -> u32 {
    match output.terse_version {
        2..=5 => output.terse_version,
        _ => 3,
    }
}
