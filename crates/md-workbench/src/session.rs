//! A run of md-workbench: its lines, its files, its exit code.

use std::ffi::OsString;
use std::time::Instant;

use candor_front::session::{
    Ending, FileText, Finish, Leftovers, Output, Removed, Start, VerdictIn,
};
use candor_front::{
    About, Answer, Environment, Host, Nodes, Running, Session, Tool, Work, failures, of_the_whole,
    verdict,
};
use candor_plan::{Plan, PlanPath, Problem, path_of};
use candor_record::{Ended, Event, Measurement, PhaseRecord, Report};

use super::options::{self, Reading, SummaryFormat};
use super::output::{self, Results};
use super::page::ABOUT;
use super::plan::{self, Lowered, Stage};

/// The tool md-workbench.
pub struct MdWorkbench;

impl Tool for MdWorkbench {
    const ABOUT: &'static About = &ABOUT;
    type Reading = Reading;
    type Work = Lowered;

    fn read(
        argv: &[OsString],
        environment: &mut dyn Environment,
        _: Option<&Nodes>,
    ) -> Result<Reading, Answer> {
        options::read(argv, environment).to_run(options::help)
    }

    fn lower(reading: Reading, host: &dyn Host) -> Result<Lowered, Answer> {
        plan::lower(&reading, host).map_err(|errors| Answer::Refused(errors, reading.texts))
    }
}

impl Work for Lowered {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn command(&self) -> &[String] {
        &self.setup.asked.command
    }

    fn comments(&self) -> Vec<(PlanPath, String)> {
        of_the_whole(&self.notes)
    }

    fn run<'a>(&'a self, _: &dyn Host, _: Option<&Nodes>) -> Running<'a> {
        Running::whole_plan(Run {
            lowered: self,
            started: output::stamp(),
            began: Instant::now(),
            results: Results::default(),
        })
    }
}

/// A run of the phases.
struct Run<'a> {
    lowered: &'a Lowered,
    started: String,
    began: Instant,
    results: Results,
}

impl Session for Run<'_> {
    fn begin(&mut self) -> Result<Start, String> {
        let asked = &self.lowered.setup.asked;
        // The position file keeps an earlier run's number until this run replaces it.
        let position = Some(&asked.run.run_info_file).filter(|_| !asked.run.cleanup);
        let files = asked.output.summary_file.iter().chain(position);
        let header = if self.is_text() {
            output::header(&self.lowered.setup, &self.started)
        } else {
            String::new()
        };
        Ok(Start { output: header.into(), files: files.map(|file| path_of(file)).collect() })
    }

    fn on(&mut self, event: &Event) -> Output {
        match event {
            Event::PhaseDone { record } => self.phase_done(record).into(),
            _ => Output::default(),
        }
    }

    /// The directory of the sets, after a complete clean-up. A failed clean-up has its own line.
    fn leftovers(&self) -> Leftovers {
        let mut stages = self.results.stages.iter();
        let is_empty = stages.any(|result| {
            result.stage == Stage::Cleanup && result.is_complete && result.failed() == 0
        });
        let directory = is_empty.then(|| path_of(&self.lowered.setup.asked.objects.prefix));
        Leftovers { always: directory.into_iter().collect(), if_made: Vec::new() }
    }

    fn finish(&mut self, report: &mut Report, ending: &Ending) -> Finish {
        report.notes.extend(self.lowered.notes.iter().cloned());
        let verdict = verdict::text(report, output::FIGURES);
        let failures = failures::sentences(report, has_failed, failures::of_name);
        let mut results = self.results(report, ending.removed != Removed::All);
        if self.is_text() && ending.verdict_in == VerdictIn::Terminal {
            results += &verdict;
        }
        Finish {
            results,
            verdict,
            exit_code: u8::from(!failures.is_empty() || report.interrupted),
            failures: failures::capped(ABOUT.name, failures),
            files: self.files(report),
            logs: output::latency_logs(self.lowered),
            written: Ok(()),
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        failures::with_options_page(ABOUT.name, problems)
    }
}

impl Run<'_> {
    /// True if the results are md-workbench's text.
    fn is_text(&self) -> bool {
        let asked = &self.lowered.setup.asked.output;
        asked.summary_format == SummaryFormat::Default || asked.summary_file.is_some()
    }

    /// The number of the oldest object, unless all objects are removed; and the document.
    fn files(&self, report: &Report) -> Vec<FileText> {
        let setup = &self.lowered.setup;
        let mut files = Vec::new();
        if !setup.asked.run.cleanup {
            let text = format!("pos: {}\n", self.results.position(setup));
            files.push(FileText::whole(&setup.asked.run.run_info_file, text));
        }
        if let Some(file) = &setup.asked.output.summary_file {
            files.push(FileText::whole(file, self.document(report)));
        }
        files
    }

    fn results(&self, report: &Report, is_left: bool) -> String {
        let setup = &self.lowered.setup;
        if !self.is_text() {
            return self.document(report);
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
                output::json(setup, &self.results, report, &self.started, &output::stamp())
            }
        }
    }

    /// Adds the result of a phase, and returns its line after the last part.
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

/// True for a job with any failure: failed operations are not work.
fn has_failed(measured: &Measurement) -> bool {
    let mismatches = measured.verify.as_ref().is_some_and(|verify| !verify.first.is_empty());
    let ended = matches!(measured.ended, Ended::Failed | Ended::Stalled);
    ended || mismatches || !measured.errors.is_empty()
}
