//! Runs the phases and prints their results.

use std::borrow::Cow;
use std::time::Instant;

use candor_front::verdict;
use candor_md_workbench::options::SummaryFormat;
use candor_md_workbench::output::{self, Results};
use candor_md_workbench::plan::{Lowered, Stage};
use candor_plan::Problem;
use candor_record::{Ended, Event, Measurement, PhaseRecord, Report};

use super::{COMPLAINTS, files, latencies};
use crate::commands::foreign::monitor::Requests;
use crate::commands::foreign::ranks::RankHosts;
use crate::commands::foreign::removal::Removal;
use crate::commands::foreign::verdict::VerdictIn;
use crate::commands::foreign::{Finish, Invocation, Place, Session, failures};

/// Runs the phases, and returns the exit code.
pub fn main(lowered: &Lowered, hosts: Option<&RankHosts>) -> u8 {
    run(lowered, hosts).unwrap_or_else(|sentence| COMPLAINTS.sentence(&sentence))
}

fn run(lowered: &Lowered, hosts: Option<&RankHosts>) -> Result<u8, String> {
    files::check(lowered)?;
    let elsewhere = hosts.filter(|hosts| hosts.first_elsewhere().is_some());
    let removal = elsewhere.map(|hosts| files::removal(lowered, hosts)).transpose()?;
    let session = &mut Run {
        lowered,
        started: output::stamp(),
        began: Instant::now(),
        results: Results::default(),
        removal,
    };
    let invocation = Invocation {
        complaints: COMPLAINTS,
        requests: Requests::default(),
        plan: Cow::Borrowed(&lowered.plan),
        command: &lowered.setup.asked.command,
        place: Place::new(Vec::new(), None),
    };
    Ok(invocation.on(hosts)?.run(session))
}

/// A run of the phases.
struct Run<'a> {
    lowered: &'a Lowered,
    started: String,
    began: Instant,
    results: Results,
    /// Removal of the directory of the sets, if other hosts have it.
    removal: Option<Removal<'a>>,
}

impl Session for Run<'_> {
    fn begin(&mut self) -> Result<String, String> {
        Ok(if self.is_text() {
            output::header(&self.lowered.setup, &self.started)
        } else {
            String::new()
        })
    }

    fn on(&mut self, event: &Event) -> String {
        match event {
            Event::PhaseDone { record } => self.phase_done(record),
            _ => String::new(),
        }
    }

    fn finish(&mut self, report: &mut Report, verdict_in: VerdictIn) -> Finish {
        let is_left = !self.remove_directory();
        report.notes.extend(self.lowered.notes.iter().cloned());
        let verdict = verdict::text(report, output::FIGURES);
        let failures = failures::sentences(report, has_failed, failures::of_name);
        let mut results = self.results(report, is_left);
        if self.is_text() && verdict_in == VerdictIn::Terminal {
            results += &verdict;
        }
        Finish {
            results,
            verdict,
            exit_code: COMPLAINTS.exit_code_of(report, &failures),
            failures: COMPLAINTS.lines(failures),
            files: self.write_files(report),
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        COMPLAINTS.with_options_page(problems)
    }
}

impl Run<'_> {
    /// True where the familiar text is printed.
    fn is_text(&self) -> bool {
        let asked = &self.lowered.setup.asked.output;
        asked.summary_format == SummaryFormat::Default || asked.summary_file.is_some()
    }

    /// Removes the directory of the sets after a complete clean-up; false if it is still there.
    /// A failed clean-up has its own line.
    fn remove_directory(&self) -> bool {
        let is_empty = self.results.stages.iter().any(|result| {
            result.stage == Stage::Cleanup && result.is_complete && result.failed() == 0
        });
        !is_empty
            || match &self.removal {
                None => files::remove_directory(self.lowered),
                Some(removal) => removal.run().is_ok(),
            }
    }

    fn write_files(&self, report: &Report) -> Result<(), String> {
        files::write_position(self.lowered, &self.results)?;
        latencies::write(self.lowered)?;
        let file = self.lowered.setup.asked.output.summary_file.as_ref();
        file.map_or(Ok(()), |file| files::write(file, &self.document(report)))
    }

    fn results(&self, report: &Report, is_left: bool) -> String {
        let setup = &self.lowered.setup;
        if !self.is_text() {
            let to_file = setup.asked.output.summary_file.is_some();
            return if to_file { String::new() } else { self.document(report) };
        }
        let mut text = String::new();
        // A phase that ended early has a line for its finished part.
        if let Some(last) = self.results.stages.last().filter(|result| !result.is_complete) {
            text += &output::line(setup, last);
        }
        if is_left {
            text += &format!("Unable to remove directory {}\n", setup.asked.objects.prefix);
        }
        text + &output::closing(setup, self.began.elapsed().as_secs_f64(), &output::stamp())
    }

    /// The results as one document.
    fn document(&self, report: &Report) -> String {
        let setup = &self.lowered.setup;
        match setup.asked.output.summary_format {
            SummaryFormat::Csv => output::csv(&self.results),
            SummaryFormat::Default | SummaryFormat::Json => {
                output::json(setup, &self.results, report, [&self.started, &output::stamp()])
            }
        }
    }

    /// Adds the result of a phase, and gives its line once all of its parts are done.
    fn phase_done(&mut self, record: &PhaseRecord) -> String {
        let Some(bench) = self.lowered.phases.get(record.phase) else { return String::new() };
        self.results.add(self.lowered, bench, record);
        let done = self.results.stages.last().filter(|result| result.is_complete);
        match done.filter(|_| self.is_text()) {
            Some(result) => output::line(&self.lowered.setup, result),
            None => String::new(),
        }
    }
}

/// True for a phase in which anything went wrong: what failed is no work.
fn has_failed(measured: &Measurement) -> bool {
    let mismatches = measured.verify.as_ref().is_some_and(|verify| !verify.first.is_empty());
    let ended = matches!(measured.ended, Ended::Failed | Ended::Stalled);
    ended || mismatches || !measured.errors.is_empty()
}
