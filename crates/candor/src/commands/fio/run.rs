//! Runs jobs and delivers what they gave.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;

use candor_dialects::fio::flags::Flags;
use candor_dialects::fio::job::{FioJob, Output};
use candor_dialects::fio::lower::Lowered;
use candor_dialects::fio::words::Written;
use candor_dialects::fio::write;
use candor_record::{Ended, Report};
use candor_run::RunError;

use super::verdict::Verdict;
use super::{WRONG, complain, logs, tell};
use crate::screen;

/// A signal ended the run.
const INTERRUPTED: u8 = 128;
/// The number of failed jobs is the exit code as far as a code reaches.
const FAILED_MAX: usize = 255;

/// Runs the jobs, and gives the exit code.
pub fn main(written: &Written, mut lowered: Lowered, flags: &Flags, argv: &[OsString]) -> u8 {
    let mut output = flags.output.clone();
    output.global_options = std::mem::take(&mut lowered.global_options);
    let verdict = Verdict::chosen();
    output.without_verdict = verdict != Verdict::Beside;
    let mut sink = match Sink::open(&output) {
        Ok(sink) => sink,
        Err(sentence) => return refused(&sentence, flags),
    };
    if let Err(sentence) = sink.put(&write::preamble(&lowered.jobs, &output)) {
        return refused(&sentence, flags);
    }
    candor_run::install_interrupt_handlers();
    let options = candor_run::Options {
        command: argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        force: held_targets(&lowered),
        // Who calls fio expects the first I/O at once.
        at_once: true,
        ..candor_run::Options::default()
    };
    let mut report = match candor_run::execute(&lowered.plan, &options, &mut |_| ()) {
        Ok(report) => report,
        Err(error) => return not_started(&error, written, &lowered, flags),
    };
    report.notes.append(&mut lowered.notes);
    let logs = logs::write(&report, &lowered.jobs);
    let mut text = String::new();
    if report.interrupted {
        text.push_str("\nfio: terminating on signal 2\n");
    }
    text.push_str(&write::write(&report, &lowered.jobs, &output));
    match sink.put(&text).and(verdict.deliver(&report)).and(logs) {
        Ok(()) => exit_code(&report, &lowered.jobs),
        Err(sentence) => refused(&sentence, flags),
    }
}

/// Targets that may be written to although they are held, where `allow_mounted_write` says so.
fn held_targets(lowered: &Lowered) -> Vec<String> {
    let paths = lowered.plan.targets.iter().map(|target| &target.path);
    match lowered.mounted_write {
        true => paths.map(|path| path.to_string_lossy().into_owned()).collect(),
        false => Vec::new(),
    }
}

fn refused(sentence: &str, flags: &Flags) -> u8 {
    complain(&[sentence.to_owned()], flags);
    WRONG
}

/// Tells why nothing ran, at the words that are to blame where they are known.
fn not_started(error: &RunError, written: &Written, lowered: &Lowered, flags: &Flags) -> u8 {
    match error.problems() {
        [] => refused(&error.to_string(), flags),
        problems => {
            let mistake = |problem| lowered.origins.mistake(problem);
            tell(&problems.iter().map(mistake).collect::<Vec<_>>(), &written.texts, flags)
        }
    }
}

/// The number of jobs that failed; a run that was cut short for another reason failed once.
fn exit_code(report: &Report, jobs: &[FioJob]) -> u8 {
    if report.interrupted {
        return INTERRUPTED;
    }
    let failed = jobs.iter().filter(|job| has_failed(report, job)).count();
    let failed = failed.max(usize::from(report.cut_short.is_some()));
    u8::try_from(failed.min(FAILED_MAX)).unwrap_or(u8::MAX)
}

fn has_failed(report: &Report, job: &FioJob) -> bool {
    let mut phases = report.phases.iter().filter(|phase| phase.plan_phase == job.phase);
    phases.any(|phase| {
        let measured = phase.measurements.get(job.job);
        measured.is_some_and(|measured| matches!(measured.ended, Ended::Failed | Ended::Stalled))
    })
}

/// Where results go.
enum Sink {
    Stdout,
    File(File, String),
}

impl Sink {
    fn open(output: &Output) -> Result<Sink, String> {
        let Some(path) = &output.file else { return Ok(Sink::Stdout) };
        match File::create(path) {
            Ok(file) => Ok(Sink::File(file, path.display().to_string())),
            Err(error) => Err(format!("--output {} cannot be made: {error}", path.display())),
        }
    }

    fn put(&mut self, text: &str) -> Result<(), String> {
        match self {
            Sink::Stdout => screen::data(text),
            Sink::File(file, path) => file
                .write_all(text.as_bytes())
                .map_err(|error| format!("{path} cannot be written: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_record::{Measurement, PhaseReport};

    use super::*;

    fn job(phase: usize, job: usize) -> FioJob {
        FioJob { phase, job, ..FioJob::default() }
    }

    fn report(ends: &[&[Ended]]) -> Report {
        let measured = |ended: &Ended| Measurement { ended: *ended, ..Measurement::default() };
        let phase = |(plan_phase, ends): (usize, &&[Ended])| PhaseReport {
            plan_phase,
            measurements: ends.iter().map(measured).collect(),
            ..PhaseReport::default()
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
