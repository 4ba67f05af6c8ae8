//! A run of mdtest: its lines, its files, its exit code.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use candor_front::session::{
    Ending, FileText, Finish, Leftovers, Output, Removed, Start, VerdictIn,
};
use candor_front::{
    About, Answer, Environment, Host, Nodes, Running, Session, Space, Tool, Work, failures,
    of_the_whole, verdict,
};
use candor_plan::{Plan, PlanPath, Problem, path_of};
use candor_record::{Ended, Event, IoFailure, Measurement, PhaseRecord, ProgramEnd, Report};

use super::options::{self, Reading, SummaryFormat};
use super::output::{self, Results, TaskRun};
use super::page::ABOUT;
use super::plan::{self, Lowered};

/// The tool mdtest.
pub struct Mdtest;

impl Tool for Mdtest {
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

    fn run<'a>(&'a self, host: &dyn Host, nodes: Option<&Nodes>) -> Running<'a> {
        let first = self.setup.asked.tree.paths.first();
        let first = first.filter(|_| !Nodes::are_elsewhere(nodes));
        Running::whole_plan(Run {
            lowered: self,
            started: output::stamp(),
            nodes: nodes.map_or(1, |nodes| nodes.count),
            space: first.and_then(|path| space(&path_of(path), host)),
            results: Results::default(),
            printed: 0,
        })
    }
}

/// Space of the file system of a path, or of the nearest directory above it that exists.
fn space(path: &Path, host: &dyn Host) -> Option<Space> {
    path.ancestors().find_map(|path| {
        let is_current = path.as_os_str().is_empty();
        host.space(if is_current { Path::new(".") } else { path })
    })
}

/// A run of the phases.
struct Run<'a> {
    lowered: &'a Lowered,
    started: String,
    /// Hosts of the tasks.
    nodes: u32,
    /// Space of the file system of the first tree, unless other hosts have it.
    space: Option<Space>,
    results: Results,
    /// Numbers of tasks whose block was printed.
    printed: usize,
}

impl Session for Run<'_> {
    fn begin(&mut self) -> Result<Start, String> {
        let setup = &self.lowered.setup;
        let asked = &setup.asked;
        let creates = asked.phases.create && asked.run.stonewall_s > 0;
        let status = asked.run.stonewall_file.as_ref().filter(|_| creates);
        let of_results = [&asked.output.rank_file, &asked.output.summary_file];
        let files = of_results.into_iter().flatten().chain(status);
        let header = if self.is_text() {
            output::header(setup, self.nodes, &self.started, self.space)
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

    /// The directories of the tests, and the directories of `-d` that the test has made.
    fn leftovers(&self) -> Leftovers {
        let setup = &self.lowered.setup;
        if !setup.asked.phases.remove {
            return Leftovers::default();
        }
        let iterations = 0..setup.asked.run.iterations;
        let test_directories = iterations.flat_map(|nth| setup.test_dirs(nth));
        Leftovers {
            always: test_directories.map(|text| path_of(&text)).collect(),
            if_made: setup.asked.tree.paths.iter().map(|text| path_of(text)).collect(),
        }
    }

    fn finish(&mut self, report: &mut Report, ending: &Ending) -> Finish {
        report.notes.extend(self.lowered.notes.iter().cloned());
        let verdict = verdict::text(report, output::FIGURES);
        let mut results = self.results(report);
        if self.is_text() && ending.verdict_in == VerdictIn::Terminal {
            results += &verdict;
        }
        let mut is_success = self.is_success(report);
        let mut failures = failures::sentences(report, has_failed, why);
        if let Removed::Failed(sentence) = &ending.removed {
            is_success = false;
            failures.push(sentence.clone());
        }
        Finish {
            results,
            verdict,
            failures: failures::capped(ABOUT.name, failures),
            files: self.files(report),
            logs: output::time_logs(self.lowered),
            written: Ok(()),
            exit_code: u8::from(!is_success),
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        failures::with_options_page(ABOUT.name, problems)
    }
}

impl Run<'_> {
    /// True if mdtest would end with exit code 0.
    fn is_success(&self, report: &Report) -> bool {
        let asked = &self.lowered.setup.asked.run;
        let mut measured = report.phases.iter().flat_map(|phase| &phase.measurements);
        let failed = measured.any(|measured| {
            asked.warnings_are_errors && has_failed(measured) || ends_mdtest(measured)
        });
        !failed && report.cut_short.is_none() && !report.interrupted
    }

    /// The rates of tasks, the number of files that were made in time, and the document.
    fn files(&self, report: &Report) -> Vec<FileText> {
        let (setup, mut files) = (&self.lowered.setup, Vec::new());
        let asked = &setup.asked;
        if let Some(file) = &asked.output.rank_file {
            files.push(FileText::whole(file, output::rank_file(setup, &self.results.runs)));
        }
        let made = self.results.files_made().filter(|_| asked.run.stonewall_s > 0);
        if let (Some(file), Some(made)) = (&asked.run.stonewall_file, made) {
            files.push(FileText::whole(file, made.to_string()));
        }
        if let Some(file) = &asked.output.summary_file {
            files.push(FileText::whole(file, self.document(report)));
        }
        files
    }

    fn results(&self, report: &Report) -> String {
        if !self.is_text() {
            return self.document(report);
        }
        let mut text = String::new();
        if self.lowered.phases.is_empty() {
            text += &self.blocks_of_nothing();
        }
        // A run that ended early has a block for its finished part.
        for run in self.results.runs.iter().skip(self.printed) {
            text += &output::totals_and_block(&self.lowered.setup, run);
        }
        text + &format!("-- finished at {} --\n\n", output::stamp())
    }

    /// Blocks without a rate, for tasks without items.
    fn blocks_of_nothing(&self) -> String {
        let setup = &self.lowered.setup;
        let block = |tasks: &u32| {
            let iterations = vec![BTreeMap::new(); setup.asked.run.iterations as usize];
            let run = TaskRun { tasks: *tasks, iterations, is_complete: true };
            output::totals_and_block(setup, &run)
        };
        setup.task_counts.iter().map(block).collect()
    }

    /// True if the results are mdtest's text.
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
                output::json(setup, &self.results, report, &self.started, &output::stamp())
            }
        }
    }

    /// Adds the result of a phase, and returns the block of a number of tasks after its last phase.
    fn phase_done(&mut self, record: &PhaseRecord) -> String {
        let Some(bench) = self.lowered.phases.get(record.phase) else { return String::new() };
        self.results.add(self.lowered, bench, record);
        let Some(run) = self.results.runs.get(self.printed).filter(|run| run.is_complete) else {
            return String::new();
        };
        self.printed += 1;
        if self.is_text() {
            output::totals_and_block(&self.lowered.setup, run)
        } else {
            String::new()
        }
    }
}

/// Why a phase failed.
fn why(measured: &Measurement) -> String {
    match command_failure(measured) {
        Some(status) => format!("the command failed: {status}"),
        None if measured.errors.is_empty() && output::short_reads(measured) > 0 => {
            output::SHORT_READS.to_owned()
        }
        None => failures::of_name(measured),
    }
}

/// The end of a command that failed.
fn command_failure(measured: &Measurement) -> Option<ProgramEnd> {
    measured.program_end.filter(|end| !end.is_success())
}

/// Operations whose failure mdtest reports as a warning: its exit code stays 0.
const WARNED: [&str; 5] = ["mkdir", "rmdir", "stat", "rename", "unlink"];

/// True for a phase after which mdtest's exit code is not 0. Failures of [`WARNED`] operations,
/// short reads and wrong data are warnings there.
fn ends_mdtest(measured: &Measurement) -> bool {
    let unexplained = measured.ended == Ended::Failed
        && measured.errors.is_empty()
        && measured.verify.as_ref().is_none_or(|verify| verify.first.is_empty())
        && output::short_reads(measured) == 0;
    measured.errors.iter().any(|error| !is_warned(error))
        || unexplained
        || measured.ended == Ended::Stalled
        || command_failure(measured).is_some()
}

fn is_warned(error: &IoFailure) -> bool {
    let op = error.op.as_deref().unwrap_or_default();
    WARNED.contains(&op) || output::is_at_end(error)
}

/// True for a job with any failure: failed operations are not work.
fn has_failed(measured: &Measurement) -> bool {
    let mismatches = measured.verify.as_ref().is_some_and(|verify| !verify.first.is_empty());
    let ended = matches!(measured.ended, Ended::Failed | Ended::Stalled);
    let short = output::short_reads(measured) > 0;
    ended
        || mismatches
        || short
        || !measured.errors.is_empty()
        || command_failure(measured).is_some()
}
