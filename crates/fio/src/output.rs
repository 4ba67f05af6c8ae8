//! A report into fio's output: text, JSON, terse lines, the status line, log files.
//!
//! [`preamble`] is what fio says before it runs, [`write`] its results in every form asked for,
//! [`status::Status::line`] how far it is, [`logs::files`] the logs. What candor did not measure is
//! computed from what it did, or shown as fio shows what was not measured: without a line in text,
//! as zero with `N` 0 in JSON.

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

/// The results, in every form asked for. In fio's order, whatever the order of the words: terse
/// lines, JSON, text.
///
/// Also for the report so far of a run that goes on: each call gives whole documents.
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

/// Words of fio's figures, and what stands for them in candor's sentences: scripts pick lines of
/// fio by such words.
const FIGURES: &[(&str, &str)] = &[
    ("IOPS", "I/O per second"),
    ("iops", "I/O per second"),
    ("bw=", "bandwidth "),
    ("BW=", "bandwidth "),
    ("READ:", "reads"),
    ("WRITE:", "writes"),
    ("clat", "latency"),
];

/// candor's own words as text, where they do not stand beside fio's.
pub fn verdict(report: &Report) -> String {
    candor_front::verdict::text(report, FIGURES)
}

/// Version 3 unless told.
fn terse_version(output: &Output) -> u32 {
    match output.terse_version {
        2..=5 => output.terse_version,
        _ => 3,
    }
}
