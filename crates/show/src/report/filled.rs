//! How much was stored by jobs that wrote until nothing more fits.

use candor_plan::units::Direction;
use candor_record::fmt::column;
use candor_record::{Ended, Measurement, PhaseRecord, Report};

use crate::layout::Page;

/// The sentences of [`lines`], below the results.
pub(super) fn section(page: &mut Page, report: &Report) {
    let lines = lines(report);
    if !lines.is_empty() {
        page.blank();
    }
    lines.iter().for_each(|line| page.paragraph("", line));
}

/// A sentence for each job that reached the end of the space.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let jobs =
        report.results().flat_map(|phase| phase.measurements.iter().map(move |m| (phase, m)));
    jobs.filter_map(|(phase, measured)| line(report, phase, measured)).collect()
}

fn line(report: &Report, phase: &PhaseRecord, measured: &Measurement) -> Option<String> {
    let planned = report.plan.phases.get(phase.phase)?;
    let job = planned.jobs.iter().find(|job| job.name == measured.job)?;
    let stop = job.stop.as_ref().unwrap_or(&planned.stop);
    let stored = column::size(measured.of(Direction::Write).bytes);
    let name = &phase.name;
    match measured.ended {
        Ended::Full => Some(format!("{name}: no space left after {stored}.")),
        Ended::Done if stop.until_full => {
            Some(format!("{name}: end reached after {stored}, with enough space."))
        }
        _ => None,
    }
}
