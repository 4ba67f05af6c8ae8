//! Jobs that failed: why, and the exit code.

use candor_fio::job::FioJob;
use candor_front::failures::{capped, reason};
use candor_record::{Ended, Measurement, Mismatch, Report};

use super::COMPLAINTS;

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

/// Lines about failures: callers look whether stderr has anything. Blocks that are not what was
/// written have fio's own lines, everything else a sentence.
pub fn lines(report: &Report, jobs: &[FioJob]) -> String {
    let mut sentences: Vec<String> = failed(report, jobs)
        .filter(|(_, why)| !ended_by_mismatch(why))
        .map(|(job, why)| format!("{}: {}", job.name, reason(why)))
        .collect();
    let verified = mismatches(report, jobs);
    if sentences.is_empty() && verified.is_empty() && !report.interrupted {
        sentences.extend(report.cut_short.clone());
    }
    verified + &capped(COMPLAINTS.tool, sentences)
}

/// True for a job that only blocks which are not what was written have ended.
fn ended_by_mismatch(measured: &Measurement) -> bool {
    let found = measured.verify.as_ref().is_some_and(|verify| !verify.first.is_empty());
    measured.errors.is_empty() && found
}

/// The jobs that failed, each with the measurement that says why.
fn failed<'a>(
    report: &'a Report,
    jobs: &'a [FioJob],
) -> impl Iterator<Item = (&'a FioJob, &'a Measurement)> {
    jobs.iter().filter_map(|job| {
        let phases = report.phases.iter().filter(|phase| phase.phase == job.phase);
        let mut measured = phases.filter_map(|phase| phase.measurements.get(job.job));
        let counted = |m: &Measurement| job.counts_mismatches && ended_by_mismatch(m);
        measured
            .find(|m| matches!(m.ended, Ended::Failed | Ended::Stalled) && !counted(m))
            .map(|measured| (job, measured))
    })
}

/// Blocks that are not what was written, in the order in which each job found them.
fn mismatches(report: &Report, jobs: &[FioJob]) -> String {
    let measured = jobs.iter().flat_map(|job| {
        let phases = report.phases.iter().filter(|phase| phase.phase == job.phase);
        phases.filter_map(|phase| phase.measurements.get(job.job)).map(move |m| (job, m))
    });
    let mut text = String::new();
    for (job, verify) in measured.filter_map(|(job, m)| Some((job, m.verify.as_ref()?))) {
        verify.first.iter().for_each(|found| text += &mismatch(found));
        let all = verify.flipped + verify.torn + verify.misdirected + verify.stale + verify.foreign;
        let rest = all.saturating_sub(verify.first.len() as u64);
        if rest > 0 {
            text += &format!("fio: {}: {rest} more blocks are not what was written\n", job.name);
        }
    }
    text
}

/// A block that is not what was written, as fio reports it: the check that failed, where, and the
/// values on lines of their own.
fn mismatch(found: &Mismatch) -> String {
    let Mismatch { path, offset, length, read_offset, read_length, .. } = found;
    let (check, values) = found.detail.split_once("; ").unwrap_or((&found.detail, ""));
    let mut text = format!(
        "{check} at file {path} offset {offset}, length {} (requested block: \
         offset={read_offset}, length={})\n",
        length.0, read_length.0
    );
    for value in values.split("; ").filter(|value| !value.is_empty()) {
        text += &format!("       {value}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use candor_plan::Bytes;
    use candor_record::{MismatchKind, PhaseRecord, VerifyStats};

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
    fn each_mismatch_has_the_lines_of_fio() {
        let found = |detail: &str| Mismatch {
            path: "f".into(),
            offset: 8192,
            length: Bytes(4096),
            kind: MismatchKind::Flipped,
            detail: detail.into(),
            read_offset: 4096,
            read_length: Bytes(8192),
            ..Mismatch::default()
        };
        let sum = found("crc32c: verify failed; Expected CRC: 1; Received CRC: 2");
        let header = found("verify: bad magic header 0, wanted acca");
        let mut report = report(&[&[Ended::Failed]]);
        let first = vec![sum, header];
        report.phases[0].measurements[0].verify =
            Some(VerifyStats { flipped: 3, first, ..VerifyStats::default() });
        let place =
            "at file f offset 8192, length 4096 (requested block: offset=4096, length=8192)";
        let named = FioJob { name: "r".into(), ..job(0, 0) };
        assert_eq!(
            lines(&report, &[named]),
            format!(
                "crc32c: verify failed {place}\n       Expected CRC: 1\n       Received CRC: 2\n\
                 verify: bad magic header 0, wanted acca {place}\n\
                 fio: r: 1 more blocks are not what was written\n"
            )
        );
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
