//! Runs the phases and delivers what they gave.

use std::path::Path;
use std::time::Instant;

use candor_dialects::kit::verdict;
use candor_dialects::md_workbench::options::SummaryFormat;
use candor_dialects::md_workbench::output::{self, Results};
use candor_dialects::md_workbench::plan::{Lowered, Stage};
use candor_plan::Problem;
use candor_record::{Ended, Event, Measurement, PhaseRecord, Report};
use candor_run::{HostOptions, Options};

use super::{COMPLAINTS, WRONG, files, latencies};
use crate::commands::foreign::failures::of_name;
use crate::commands::foreign::monitor::Requests;
use crate::commands::foreign::ranks::RankHosts;
use crate::commands::foreign::removal::Removal;
use crate::commands::foreign::verdict::VerdictIn;
use crate::commands::foreign::{self, Foreign};

/// Runs the phases, and gives the exit code.
pub fn main(lowered: &Lowered, hosts: Option<&RankHosts>) -> u8 {
    let asked = &lowered.setup.asked;
    if let Err(sentence) = files::check(lowered) {
        COMPLAINTS.sentence(&sentence);
        return WRONG;
    }
    let host = HostOptions { at_once: true, ..HostOptions::default() };
    let options = Options { command: asked.command.clone(), ..Options::default() };
    let elsewhere = hosts.filter(|hosts| hosts.first_elsewhere().is_some());
    let removal = match elsewhere.map(|hosts| files::removal(lowered, hosts)).transpose() {
        Ok(removal) => removal,
        Err(sentence) => {
            COMPLAINTS.sentence(&sentence);
            return WRONG;
        }
    };
    let run = &mut Run {
        lowered,
        started: output::stamp(),
        began: Instant::now(),
        results: Results::default(),
        removal,
        stays: false,
    };
    foreign::run_ranked(run, &lowered.plan, (options, host), hosts)
}

/// A run of the phases.
struct Run<'a> {
    lowered: &'a Lowered,
    started: String,
    began: Instant,
    results: Results,
    /// Removal of the directory of the sets, where this host need not be among those that have it.
    removal: Option<Removal<'a>>,
    /// The directory of the sets was to be removed, and is still there.
    stays: bool,
}

impl Foreign for Run<'_> {
    const NAME: &'static str = "md-workbench";
    const WRONG: u8 = WRONG;

    fn output_file(&self) -> Option<&Path> {
        None
    }

    fn requests(&self) -> Requests {
        Requests::default()
    }

    fn preamble(&self) -> String {
        if self.is_text() {
            output::header(&self.lowered.setup, &self.started)
        } else {
            String::new()
        }
    }

    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn on(&mut self, event: &Event) -> String {
        match event {
            Event::PhaseDone { record } => self.phase_done(record),
            _ => String::new(),
        }
    }

    fn interim(&self, _: &Report) -> String {
        String::new()
    }

    fn end(&mut self) {
        // Sets that could not be removed were told already.
        let removed = self.results.stages.iter().any(|result| {
            result.stage == Stage::Cleanup && result.is_complete && result.failed() == 0
        });
        if removed {
            self.stays = match &self.removal {
                None => !files::remove_directory(self.lowered),
                Some(removal) => removal.run().is_err(),
            };
        }
    }

    fn complete(&mut self, report: &mut Report) {
        report.notes.extend(self.lowered.notes.iter().cloned());
    }

    fn write_files(&self, report: &Report) -> Result<(), String> {
        files::write_position(self.lowered, &self.results)?;
        latencies::write(self.lowered)?;
        let file = self.lowered.setup.asked.output.summary_file.as_ref();
        file.map_or(Ok(()), |file| files::write(file, &self.document(report)))
    }

    fn results(&self, report: &Report, verdict_in: VerdictIn) -> String {
        let to_file = self.lowered.setup.asked.output.summary_file.is_some();
        if !self.is_text() {
            return if to_file { String::new() } else { self.document(report) };
        }
        let setup = &self.lowered.setup;
        let mut text = String::new();
        // A run that ended early has a line of what it did.
        if let Some(last) = self.results.stages.last().filter(|result| !result.is_complete) {
            text += &output::line(setup, last);
        }
        if self.stays {
            text += &format!("Unable to remove directory {}\n", setup.asked.objects.prefix);
        }
        text += &output::closing(setup, self.began.elapsed().as_secs_f64(), &output::stamp());
        if verdict_in == VerdictIn::Terminal {
            text += &self.verdict(report);
        }
        text
    }

    fn verdict(&self, report: &Report) -> String {
        verdict::text(report, output::FIGURES)
    }

    fn failures(&self, report: &Report) -> String {
        let failed = report.phases.iter().flat_map(|phase| {
            let failed = phase.measurements.iter().filter(|measured| has_failed(measured));
            failed.map(move |measured| format!("{}: {}", phase.name, of_name(measured)))
        });
        let mut sentences: Vec<String> = failed.collect();
        if sentences.is_empty() {
            sentences.extend(report.cut_short.clone());
        }
        foreign::lines(Self::NAME, &foreign::capped(sentences))
    }

    fn exit_code(&self, report: &Report) -> u8 {
        let mut measured = report.phases.iter().flat_map(|phase| &phase.measurements);
        let failed = measured.any(has_failed) || report.cut_short.is_some();
        if failed || report.interrupted { WRONG } else { 0 }
    }

    fn complain(&self, problems: &[Problem]) {
        let sentence =
            |problem: &Problem| format!("{}; see `candor options {}`", problem.message, Self::NAME);
        COMPLAINTS.sentences(&problems.iter().map(sentence).collect::<Vec<_>>());
    }
}

impl Run<'_> {
    /// True where the familiar text is printed.
    fn is_text(&self) -> bool {
        let asked = &self.lowered.setup.asked.output;
        asked.summary_format == SummaryFormat::Default || asked.summary_file.is_some()
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
