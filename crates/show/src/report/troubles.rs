//! Troubles while it ran: failed operations, short ones, blocks that are not as written.

use candor_plan::work::Figure;
use candor_record::fmt::column::size;
use candor_record::fmt::{counted, exact, time};
use candor_record::{IoFailure, Measurement, Report, VerifyStats};

use crate::layout::Page;

/// Mismatches told in full; the JSON report has more.
const MISMATCHES_MAX: usize = 5;

/// Errors, then blocks that were verified, a line each.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let [clean, idle] = verified(report);
    [errors_of(report, has_no_failures), clean, idle].concat()
}

/// Errors, a line each.
pub(super) fn errors(report: &Report) -> Vec<String> {
    errors_of(report, |_| true)
}

/// True if no line about failed HTTP requests covers the errors.
fn has_no_failures(measurement: &Measurement) -> bool {
    measurement.http.as_ref().is_none_or(|http| http.failures.is_empty())
}

/// Errors of the jobs that are wanted.
fn errors_of(report: &Report, is_wanted: fn(&Measurement) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    for phase in &report.phases {
        for measurement in phase.measurements.iter().filter(|measured| is_wanted(measured)) {
            lines
                .extend(job(measurement).into_iter().map(|line| format!("{}: {line}", phase.name)));
        }
    }
    lines
}

/// Errors and the results of verification.
pub(super) fn section(page: &mut Page, report: &Report) {
    let lines = errors(report);
    if !lines.is_empty() {
        page.heading("Errors");
    }
    for line in lines {
        page.paragraph("  ", &line);
    }
    for (heading, lines) in ["Verified", "Not verified"].into_iter().zip(verified(report)) {
        if !lines.is_empty() {
            page.heading(heading);
        }
        for line in lines {
            page.paragraph("  ", &line);
        }
    }
}

fn job(measurement: &Measurement) -> Vec<String> {
    let mut lines: Vec<String> = measurement.errors.iter().map(failure).collect();
    for op in measurement.operations.iter().filter(|op| op.short > 0) {
        lines.push(format!("{} moved fewer bytes than requested", counted(op.short, &op.name)));
    }
    let Some(verify) = &measurement.verify else { return lines };
    if verify.mismatches() > 0 {
        lines.push(mismatches(verify));
        for mismatch in verify.first.iter().take(MISMATCHES_MAX) {
            lines.push(format!(
                "{} at offset {} of {}: {}",
                size(mismatch.length.0),
                mismatch.offset,
                mismatch.path,
                mismatch.detail
            ));
        }
    }
    lines
}

fn failure(failure: &IoFailure) -> String {
    let IoFailure { path, offset, message, .. } = failure;
    let times = counted(failure.count, "time");
    match failure.op.as_deref() {
        None => format!("flush or set-up of {path} failed {times}: {message}"),
        Some(op @ ("read" | "write" | "trim" | "read_back")) => {
            format!("{op} of {path} failed {times}, first at offset {offset}: {message}")
        }
        Some(op) => format!("{op} of {path} failed {times}: {message}"),
    }
}

/// How many blocks are wrong in which way.
fn kinds(verify: &VerifyStats) -> [(u64, &'static str); 5] {
    [
        (verify.flipped, "flipped"),
        (verify.torn, "torn"),
        (verify.misdirected, "misdirected"),
        (verify.stale, "stale"),
        (verify.foreign, "not written by this run"),
    ]
}

fn mismatches(verify: &VerifyStats) -> String {
    let kinds: Vec<_> = kinds(verify)
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, kind)| format!("{} {kind}", exact(n)))
        .collect();
    let blocks = counted(verify.blocks, "block");
    let unknown = match verify.unknown {
        0 => String::new(),
        blocks => format!("; {} unknown, not checked", counted(blocks, "block")),
    };
    format!("{blocks} checked, not all match the written data: {}{unknown}", kinds.join(", "))
}

/// Results of verification that found nothing wrong, and those that had nothing to look at.
pub(super) fn verified(report: &Report) -> [Vec<String>; 2] {
    let (mut clean, mut idle) = (Vec::new(), Vec::new());
    for phase in &report.phases {
        for measurement in &phase.measurements {
            match measurement.verify.as_ref().map(|verify| (verify.mismatches(), verify.blocks)) {
                // A later phase may read the uploaded objects.
                Some((0, 0)) if measurement.http.is_some() && wrote_only(measurement) => {}
                Some((0, 0)) => idle.push(format!("{}: {}", phase.name, unverified(measurement))),
                Some((0, blocks)) => {
                    let (blocks, journal) = (counted(blocks, "block"), journal(measurement));
                    let unknown = unknown(measurement);
                    clean.push(format!(
                        "{}: {blocks}, all match the written data{unknown}{journal}",
                        phase.name
                    ));
                }
                _ => {}
            }
        }
    }
    [clean, idle]
}

/// Blocks of which nothing tells what was written, where there are any.
fn unknown(measurement: &Measurement) -> String {
    match measurement.verify.as_ref().map_or(0, |verify| verify.unknown) {
        0 => String::new(),
        blocks => format!("; {} unknown, not verified", counted(blocks, "block")),
    }
}

/// Work of the journal, where there is one.
fn journal(measurement: &Measurement) -> String {
    let Some(journal) = measurement.verify.as_ref().and_then(|verify| verify.journal) else {
        return String::new();
    };
    let pending = match journal.pending {
        0 => String::new(),
        pending => format!("; {} pending when the journal was loaded", counted(pending, "write")),
    };
    format!(
        "; journal: {} in {}, {} of all workers, excluded from the latencies and included in the \
         elapsed time{pending}",
        counted(journal.records, "record"),
        counted(journal.writes, "write"),
        time(journal.elapsed_ns as f64)
    )
}

/// Why no block was verified.
fn unverified(measurement: &Measurement) -> String {
    let unknown = measurement.verify.as_ref().map_or(0, |verify| verify.unknown);
    if unknown > 0 {
        let blocks = counted(unknown, "block");
        return format!(
            "nothing was verified: {blocks} read, none written by this run or with a header of \
             its seed. --verify-all reports such blocks as corrupt."
        );
    }
    let why = if wrote_only(measurement) {
        "nothing was verified: this run only wrote. --verify-after reads the written data back \
             (in a plan: read_back of verify)."
    } else {
        "nothing was verified: no block with a header was read."
    };
    why.to_owned()
}

/// Whether a job wrote, and read nothing.
fn wrote_only(measurement: &Measurement) -> bool {
    measurement.figure(Figure::Write).ops > 0 && measurement.figure(Figure::Read).ops == 0
}
