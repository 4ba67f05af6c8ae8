//! Runs a benchmark, prints its results, and writes them to a file.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use candor_fleet::{FleetOptions, Identity, with_port};
use candor_front::failures::{self, reason, with_options_page};
use candor_front::session::{Ending, FileText, Finish, Output, Start, VerdictIn};
use candor_front::{Session, verdict};
use candor_plan::{PathText, Problem, path_of};
use candor_record::{Ended, Event, JobSample, Measurement, Report};
use candor_s3::{Credentials, vault};
use candor_warp::autoterm::Autoterm;
use candor_warp::options::Options;
use candor_warp::plan::{self, BENCHMARK, Lowered};
use candor_warp::report::{Rate, Results};
use candor_warp::values::HostEntry;
use candor_warp::{file, results, text};
use jiff::Zoned;
use jiff::tz::TimeZone;

use super::COMPLAINTS;
use crate::commands::foreign::monitor::{Requests, Trigger};
use crate::commands::foreign::{Invocation, Place};
use crate::hosts::Keys;

/// Runs a benchmark, and returns the exit code.
pub fn main(options: &Options) -> u8 {
    run(options).unwrap_or_else(|sentence| COMPLAINTS.sentence(&sentence))
}

fn run(options: &Options) -> Result<u8, String> {
    let now = Zoned::now().with_time_zone(TimeZone::system()).time();
    let lowered = plan::lower(options, plan::Start::of(options, super::random(), now))?;
    give_keys(options)?;
    let name = options.output.benchdata.clone();
    let name = name.unwrap_or_else(|| super::usual_name(options.command.word())) + ".json.zst";
    let stop = Arc::<AtomicBool>::default();
    let session = &mut Run {
        options,
        lowered: &lowered,
        path: path_of(&name),
        seconds: VecDeque::new(),
        ran_ns: 0,
        stop: stop.clone(),
    };
    let trigger = Trigger { flag: Some(stop), ..Trigger::default() };
    let command = [options.command_line.clone()];
    let invocation = Invocation {
        requests: Requests { trigger, ..Requests::default() },
        place: Place::new(Vec::new(), fleet(options)?),
        ..Invocation::new(COMPLAINTS, Cow::Borrowed(&lowered.plan), &command)
    };
    Ok(invocation.run(session))
}

/// Gives the keys to the client of the servers: the plan has the name of the access key only.
fn give_keys(options: &Options) -> Result<(), String> {
    let connection = &options.connection;
    let (access, secret) = (&connection.access_key.0, &connection.secret_key.0);
    if access.is_empty() {
        return Ok(());
    }
    let token = Some(connection.session_token.0.as_str()).filter(|token| !token.is_empty());
    let keys = Credentials::new("--access-key and --secret-key", access, secret, token);
    vault::give(keys.map_err(|error| error.to_string())?);
    Ok(())
}

/// The agents that `--warp-client` names.
fn fleet(options: &Options) -> Result<Option<(Identity, FleetOptions)>, String> {
    let clients = &options.connection.clients;
    if clients.is_empty() {
        return Ok(None);
    }
    let identity = Keys::default().identity()?;
    let addresses = clients.iter().map(|client| match client {
        HostEntry::Host(name) | HostEntry::File(name) => with_port(name),
    });
    let hosts = addresses.collect();
    Ok(Some((identity, FleetOptions { hosts, at_once: true, ..FleetOptions::default() })))
}

/// A run of a benchmark.
struct Run<'a> {
    options: &'a Options,
    lowered: &'a Lowered,
    /// File of the results.
    path: PathBuf,
    /// Rates of the last seconds of the benchmark, for `--autoterm`.
    seconds: VecDeque<Rate>,
    /// Time of the benchmark so far.
    ran_ns: u64,
    /// Ends the run.
    stop: Arc<AtomicBool>,
}

impl Session for Run<'_> {
    fn begin(&mut self) -> Result<Start, String> {
        let mut files = vec![self.path.clone()];
        files.extend(self.options.analysis.out.as_deref().map(path_of));
        Ok(Start { output: Output::default(), files })
    }

    fn on(&mut self, event: &Event) -> Output {
        match event {
            Event::PhaseStarted { phase, .. } if !self.options.output.quiet => {
                let action = if phase == BENCHMARK { "runs" } else { "uploads its objects" };
                let stderr = format!("warp: {} {action}\n", self.lowered.plan.name);
                return Output { stderr, ..Output::default() };
            }
            Event::Sampled { phase, samples, in_ramp: false, .. } if phase == BENCHMARK => {
                samples.iter().for_each(|sample| self.second(sample));
            }
            _ => {}
        }
        Output::default()
    }

    fn finish(&mut self, report: &mut Report, ending: &Ending) -> Finish {
        report.notes.extend(self.lowered.notes.iter().cloned());
        let verdict = verdict::text(report, &[]);
        let mut failures = failures::sentences(report, has_failed, reason);
        let benchmark = report.phases.iter().rev().find(|phase| phase.name == BENCHMARK);
        let results = benchmark.map(|record| results::of(self.options, record));
        failures.extend(results.as_ref().and_then(without_success));
        let exit_code = u8::from(!failures.is_empty() || report.interrupted);
        Finish {
            results: results.as_ref().map_or_else(String::new, |results| {
                self.text(results, report, ending.verdict_in, &verdict)
            }),
            files: results.iter().filter_map(|results| self.segments(results)).collect(),
            written: results.as_ref().map_or(Ok(()), |results| self.write(results)),
            verdict,
            exit_code,
            failures: failures::capped(COMPLAINTS.tool, failures),
            logs: Vec::new(),
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        with_options_page(COMPLAINTS.tool, problems)
    }
}

impl Run<'_> {
    /// Adds an interval; ends the run if `--autoterm` finds its rate stable.
    fn second(&mut self, sample: &JobSample) {
        let ending = &self.options.ending;
        if !ending.autoterm {
            return;
        }
        let rule = Autoterm { duration_ns: ending.autoterm_ns, percent: ending.autoterm_percent };
        self.ran_ns = self.ran_ns.max(sample.sample.at_ns);
        self.seconds.push_back(results::rate(self.options, &sample.sample));
        while self.seconds.len() > rule.window() {
            self.seconds.pop_front();
        }
        let seconds = self.seconds.make_contiguous();
        let is_stable = match self.options.connection.clients.len() {
            0 | 1 => rule.is_stable(self.ran_ns, seconds),
            _ => rule.is_stable_on_all(seconds),
        };
        if is_stable {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn text(
        &self,
        results: &Results,
        report: &Report,
        verdict_in: VerdictIn,
        verdict: &str,
    ) -> String {
        match (self.options.output.json, verdict_in) {
            (true, VerdictIn::Nothing) => file::json::text(results),
            (true, _) => file::json::text_with_verdict(results, &verdict::tree(report)),
            (false, VerdictIn::Terminal) => {
                text::results(results, self.options.analysis.verbose) + verdict
            }
            (false, _) => text::results(results, self.options.analysis.verbose),
        }
    }

    /// The segments as a table, for `--analyze.out`.
    fn segments(&self, results: &Results) -> Option<FileText> {
        let file = self.options.analysis.out.as_ref()?;
        Some(FileText::whole(file, text::segments(results)))
    }

    /// Writes the file of the results. The error is a sentence.
    fn write(&self, results: &Results) -> Result<(), String> {
        let mut bytes = Vec::new();
        let written = file::json::write(results, &mut bytes);
        let written = written.and_then(|()| candor_files::replace(&self.path, &bytes));
        written.map_err(|error| super::unwritable(&self.path, &error))?;
        if !self.options.output.quiet {
            crate::screen::tell(&format!("warp: wrote {}\n", self.path.text()));
        }
        Ok(())
    }
}

fn has_failed(measured: &Measurement) -> bool {
    matches!(measured.ended, Ended::Failed | Ended::Stalled)
}

/// The sentence on a benchmark in which each request failed.
fn without_success(results: &Results) -> Option<String> {
    let total = &results.total;
    let first = total.first_errors.first().filter(|_| total.errors == total.requests)?;
    Some(format!("each of {} requests failed: {first}", total.requests))
}
