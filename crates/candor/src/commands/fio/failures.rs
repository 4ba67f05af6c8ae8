//! Jobs that failed: why, and the exit code.

use candor_dialects::fio::job::FioJob;
use candor_record::{Ended, Measurement, Report};

use crate::commands::foreign::failures::{mismatch, reason};

/// A signal ended the run.
const INTERRUPTED: u8 = 128;
/// The number of failed jobs is the exit code as far as a code reaches.
const CODE_MAX: usize = 255;

/// The number of jobs that failed; a run that was cut short for another reason failed once.
pub fn exit_code(report: &Report, jobs: &[FioJob]) -> u8 {
    if report.interrupted {
        return INTERRUPTED;
    }
    let failed = failed(report, jobs).count();
    let failed = failed.max(usize::from(report.cut_short.is_some()));
    u8::try_from(failed.min(CODE_MAX)).unwrap_or(u8::MAX)
}

/// Why jobs failed: callers look whether stderr has anything.
pub fn sentences(report: &Report, jobs: &[FioJob]) -> Vec<String> {
    let mut lines: Vec<String> =
        failed(report, jobs).map(|(job, why)| format!("{}: {}", job.name, reason(why))).collect();
    if lines.is_empty() && !report.interrupted {
        lines.extend(report.cut_short.clone());
    }
    lines.extend(survived(report, jobs));
    lines
}

/// The jobs that failed, each with the measurement that says why.
fn failed<'a>(
    report: &'a Report,
    jobs: &'a [FioJob],
) -> impl Iterator<Item = (&'a FioJob, &'a Measurement)> {
    jobs.iter().filter_map(|job| {
        let phases = report.phases.iter().filter(|phase| phase.phase == job.phase);
        let mut measured = phases.filter_map(|phase| phase.measurements.get(job.job));
        let failed = |m: &&Measurement| matches!(m.ended, Ended::Failed | Ended::Stalled);
        measured.find(failed).map(|measured| (job, measured))
    })
}

/// Blocks that are not what was written, in jobs that went on all the same.
fn survived(report: &Report, jobs: &[FioJob]) -> Vec<String> {
    let measured = jobs.iter().flat_map(|job| {
        let phases = report.phases.iter().filter(|phase| phase.phase == job.phase);
        phases.filter_map(|phase| phase.measurements.get(job.job))
    });
    let went_on = measured.filter(|m| !matches!(m.ended, Ended::Failed | Ended::Stalled));
    let found = went_on.filter_map(|m| m.verify.as_ref()).flat_map(|verify| &verify.first);
    found.map(mismatch).collect()
}

#[cfg(test)]
mod tests {
    use candor_record::PhaseRecord;

    use super::*;

    fn job(phase: usize, job: usize) -> FioJob {
        FioJob { phase, job, ..FioJob::default() }
    }

    fn report(ends: &[&[Ended]]) -> Report {
        let measured = |ended: &Ended| Measurement { ended: *ended, ..Measurement::default() };
        let phase = |(phase, ends): (usize, &&[Ended])| PhaseRecord {
            phase,
            measurements: ends.iter().map(measured).collect(),
            ..PhaseRecord::default()
        };
        Report { phases: ends.iter().enumerate().map(phase).collect(), ..Report::default() }
    }

    #[test]
    fn failed_jobs_are_counted_and_not_wrapped() {
        let jobs = [job(0, 0), job(0, 1), job(1, 0), job(9, 0)];
        let of = |ends: &[&[Ended]]| exit_code(&report(ends), &jobs);
        assert_eq!(of(&[&[Ended::Done, Ended::Time], &[Ended::Steady]]), 0);
        assert_eq!(of(&[&[Ended::Failed, Ended::Done], &[Ended::Stalled]]), 2);
        let many: Vec<FioJob> = (0..300).map(|nth| job(0, nth)).collect();
        let failed = report(&[&[Ended::Failed; 300]]);
        assert_eq!(exit_code(&failed, &many), 255);
    }

    #[test]
    fn signals_and_other_ends() {
        let mut report = report(&[&[Ended::Failed]]);
        report.interrupted = true;
        assert_eq!(exit_code(&report, &[job(0, 0)]), 128);
        let cut = Report { cut_short: Some("no space".into()), ..Report::default() };
        assert_eq!(exit_code(&cut, &[]), 1);
    }
}
