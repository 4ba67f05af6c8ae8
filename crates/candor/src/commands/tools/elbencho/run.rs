//! Runs the phases and prints their results.

use std::borrow::Cow;
use std::time::Duration;

use candor_elbencho::options::Reading;
use candor_elbencho::output::{self, Notes, PhaseResult};
use candor_elbencho::plan::Lowered;
use candor_elbencho::setup::PathKind;
use candor_front::failures::{self, reason};
use candor_front::session::{Ending, Finish, Output, Start, VerdictIn};
use candor_front::{Session, verdict};
use candor_plan::Problem;
use candor_record::{Ended, Event, Measurement, PhaseRecord, Report};
use candor_s3::{Credentials, vault};

use super::files::{self, ResultFiles};
use super::live::{self, LiveOutput};
use super::{COMPLAINTS, hosts};
use crate::commands::foreign::monitor::Requests;
use crate::commands::foreign::{Invocation, Place, force};
use crate::screen;

/// Warning before buckets are locked.
const LOCKED: &str = "elbencho: WARNING: --s3olockcfg locks buckets in the mode COMPLIANCE: no \
                      user can delete an object before one day after its upload.\n";

/// Runs the phases, and returns the exit code.
pub fn main(reading: &Reading, lowered: &Lowered) -> u8 {
    run(reading, lowered).unwrap_or_else(|sentence| COMPLAINTS.sentence(&sentence))
}

fn run(reading: &Reading, lowered: &Lowered) -> Result<u8, String> {
    let asked = &lowered.setup.asked;
    let is_forced = force::is_set() && lowered.setup.path_kind == PathKind::BlockDevice;
    let force = if is_forced { asked.paths.clone() } else { Vec::new() };
    files::check(&lowered.setup)?;
    for secret in asked.s3.secrets() {
        let token = secret.token.as_ref().map(|token| token.0.as_str());
        let keys = Credentials::new("--s3key", &secret.access_key, &secret.secret.0, token);
        vault::give(keys.map_err(|error| error.to_string())?);
    }
    let live = LiveOutput::open(lowered)?;
    let session = &mut Run {
        reading,
        lowered,
        live,
        files: ResultFiles::new(&lowered.setup),
        notes: Notes::default(),
        begun: 0,
    };
    let interval = Duration::from_millis(asked.output.live_interval_ms);
    let of_workers = asked.output.live_csv_extended;
    let invocation = Invocation {
        requests: Requests { interval: of_workers.then_some(interval), ..Requests::default() },
        place: Place::new(force, hosts::fleet(&asked.hosts)?),
        ..Invocation::new(COMPLAINTS, Cow::Borrowed(&lowered.plan), &asked.command)
    };
    Ok(invocation.run(session))
}

/// A run of the phases.
struct Run<'a> {
    reading: &'a Reading,
    lowered: &'a Lowered,
    live: LiveOutput<'a>,
    files: ResultFiles<'a>,
    /// Differences from elbencho's figures in the results so far.
    notes: Notes,
    /// Repeats of all phases that have begun.
    begun: u32,
}

impl Session for Run<'_> {
    fn begin(&mut self) -> Result<Start, String> {
        let locks = self.lowered.setup.asked.s3.phases.locks.wanted;
        let warning = if locks && self.lowered.setup.store.is_some() { LOCKED } else { "" };
        let stderr = warning.to_owned();
        let output = Output { stdout: self.live.head()?, stderr, ..Output::default() };
        Ok(Start { output, files: Vec::new() })
    }

    fn on(&mut self, event: &Event) -> Output {
        let lines = self.live.on(event);
        let lines = match event {
            Event::Interim { report } => self.live.workers(report),
            Event::PhaseStarted { index: 0, .. } => lines + &self.repeat_begins(),
            Event::PhaseDone { record } => lines + &self.phase_done(record),
            _ => lines,
        };
        lines.into()
    }

    fn finish(&mut self, report: &mut Report, ending: &Ending) -> Finish {
        report.notes.extend(self.lowered.notes.iter().cloned());
        let verdict = verdict::text(report, &[]);
        let mut results = self.notes.text();
        if ending.verdict_in == VerdictIn::Terminal {
            results += &verdict;
        }
        let mut failures = failures::sentences(report, has_failed, why);
        failures.iter_mut().for_each(|failure| self.explain(failure));
        Finish {
            results: self.aside(results),
            verdict,
            exit_code: u8::from(!failures.is_empty() || report.interrupted),
            failures: failures::capped(COMPLAINTS.tool, failures),
            files: Vec::new(),
            logs: Vec::new(),
            written: self.files.end(&self.notes),
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        let sentence = |problem: &Problem| format!("{}; {}", problem.message, self.remedy(problem));
        problems.iter().map(sentence).collect()
    }
}

impl Run<'_> {
    /// Text for standard output; where live figures take that, it goes to stderr.
    fn aside(&self, text: String) -> String {
        if live::takes_stdout(&self.lowered.setup) {
            screen::tell(&text);
            String::new()
        } else {
            text
        }
    }

    /// The head of the table of a repeat.
    fn repeat_begins(&mut self) -> String {
        self.begun += 1;
        let iterations = self.lowered.setup.asked.run.iterations;
        let which = match iterations {
            1 => String::new(),
            all => format!("[Starting iteration {} of {all}...]\n", self.begun),
        };
        self.aside(which + output::HEADER)
    }

    /// Adds the result of a phase to the result files, and gives its rows of the table; a phase
    /// that failed has none.
    fn phase_done(&mut self, record: &PhaseRecord) -> String {
        let Lowered { setup, phases, .. } = self.lowered;
        let Some(bench) = phases.get(record.phase) else { return String::new() };
        if record.measurements.iter().any(has_failed) {
            return String::new();
        }
        let result = PhaseResult::of(setup, bench, record);
        self.notes.add(&result);
        self.files.add(&result, record.repeat);
        let is_over = record.measurements.iter().any(|job| job.ended == Ended::Time);
        let end = if is_over { "Terminating due to phase time limit.\n" } else { "" };
        self.aside(result.table() + end)
    }

    /// A remedy for this command line; remedies of plans name plan keys.
    fn remedy(&self, problem: &Problem) -> String {
        match problem.rule {
            "held-device" => failures::RELEASE_DEVICE.to_owned(),
            _ => format!("see `candor options {}`", self.reading_name()),
        }
    }

    /// Adds the option that accepts a server's certificate to a failure that is due to one.
    fn explain(&self, failure: &mut String) {
        let access = &self.lowered.setup.asked.s3.access;
        let is_due = failure.contains("certificate") && !access.insecure;
        if is_due && self.lowered.setup.store.is_some() {
            failure.push_str("; elbencho accepts any certificate: add --s3insecure to do so, too");
        }
    }

    fn reading_name(&self) -> &str {
        candor_front::Scope::name(self.reading)
    }
}

/// Why a job failed; of corrupt data, the place of the first wrong byte in its file.
fn why(measured: &Measurement) -> String {
    let first = measured.verify.as_ref().and_then(|verify| verify.first.first());
    match first.and_then(|found| Some((found, found.wrong_byte?))) {
        Some((found, byte)) if measured.errors.is_empty() => format!(
            "Data verification failed. Offset: {}; Expected value: {}; Actual value: {}; {}",
            found.offset + byte.at,
            byte.expected,
            byte.found,
            reason(measured)
        ),
        _ => reason(measured),
    }
}

fn has_failed(measured: &Measurement) -> bool {
    matches!(measured.ended, Ended::Failed | Ended::Stalled)
}
