//! Exit codes. Documented in `docs/reference/exit-codes.md` and in `candor --help`.
//!
//! Errors of the runner bring their own: 2 for a plan that makes no sense, 3 for a refusal because
//! data could have been lost.

use candor_record::{Measurement, Report};
use candor_run::NOT_REMOVED;

/// The run ended. Whether to believe its numbers is in the report: a verdict is data.
pub const RAN: u8 = 0;
/// The run ended, and an operation failed, or the run was cut short.
pub const TROUBLE: u8 = 1;
/// The run ended, and a latency goal of the plan was met at no depth.
pub const GOAL_UNMET: u8 = 4;
/// The words or the plan make no sense.
pub const USAGE: u8 = 2;
/// Refused, because data could have been lost.
pub const REFUSED: u8 = 3;
/// Data that was read is not what was written.
pub const CORRUPT: u8 = 5;

/// The run ended, and the verdict is worse than `--require` takes.
pub const UNBELIEVED: u8 = 6;

/// A comparison found a change beyond `--fail-if`.
pub const CHANGED: u8 = 7;

/// A comparison could not tell whether there is a change beyond `--fail-if`.
pub const UNDECIDED: u8 = 8;

/// The run ended, and a figure is beyond a limit of `--expect`.
pub const NOT_MET: u8 = 9;

/// The run ended, and the storage's number for a condition of `--expect` is unknown.
pub const CANNOT_TELL: u8 = 10;

/// The part of the help that tells about exit codes.
pub const HELP: &str = "Exit codes:
  0    it ran; the verdict is in the report
  1    the run met errors, was cut short, or could not remove its files
  2    the command line or the plan is invalid
  3    refused, because data could have been lost or there is too little room
  4    the run took place, and no depth met the plan's latency goal
  5    data that was read is not what was written
  6    it ran, and the verdict is worse than --require takes
  9    it ran, and a result is beyond a limit of --expect
  10   it ran, and the storage's number for a condition of --expect is unknown
  128+ interrupted by the signal of that number; the report covers what ran until then";

/// The code for a run that gave a report.
pub fn of(report: &Report) -> u8 {
    let mut all = report.phases.iter().flat_map(|phase| &phase.measurements);
    if let Some(code) = candor_run::interrupt_exit_code().filter(|_| report.interrupted) {
        return code;
    }
    if all.clone().any(is_corrupt) {
        return CORRUPT;
    }
    // Files that stay take room, and the next run refuses them.
    let files_stay = report.notes.iter().any(|note| note.asked.starts_with(NOT_REMOVED));
    if report.cut_short.is_some() || files_stay || all.clone().any(troubled) {
        return TROUBLE;
    }
    if all.any(|measurement| measurement.depth_reached == Some(0)) { GOAL_UNMET } else { RAN }
}

fn is_corrupt(measurement: &Measurement) -> bool {
    measurement.verify.as_ref().is_some_and(|verify| verify.mismatches() > 0)
}

fn troubled(measurement: &Measurement) -> bool {
    let failed = measurement.operations.iter().any(|stats| stats.failed > 0);
    failed || !measurement.errors.is_empty()
}
