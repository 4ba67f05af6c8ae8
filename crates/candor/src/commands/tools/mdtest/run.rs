//! Runs the phases and prints their results.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use candor_front::verdict;
use candor_mdtest::options::SummaryFormat;
use candor_mdtest::output::{self, Results, TaskRun};
use candor_mdtest::plan::Lowered;
use candor_plan::Problem;
use candor_record::{Ended, Event, IoFailure, Measurement, PhaseRecord, ProgramEnd, Report};

use super::{COMPLAINTS, files, operations, space};
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
    let directories = match hosts.filter(|hosts| hosts.first_elsewhere().is_some()) {
        None => Directories::Here { missing: files::missing(&lowered.setup) },
        Some(hosts) => Directories::Elsewhere(files::removal(&lowered.setup, hosts)?),
    };
    let session = &mut Run {
        lowered,
        started: output::stamp(),
        nodes: hosts.map_or(1, RankHosts::count),
        directories,
        results: Results::default(),
        printed: 0,
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

/// Directories around the trees.
enum Directories<'a> {
    /// This host's, with those that were not there before.
    Here { missing: Vec<PathBuf> },
    /// Those of hosts that this one need not be among.
    Elsewhere(Removal<'a>),
}

/// A run of the phases.
struct Run<'a> {
    lowered: &'a Lowered,
    started: String,
    /// Hosts that have the tasks.
    nodes: u32,
    directories: Directories<'a>,
    results: Results,
    /// Numbers of tasks whose block was printed.
    printed: usize,
}

impl Session for Run<'_> {
    fn begin(&mut self) -> Result<String, String> {
        if !self.is_text() {
            return Ok(String::new());
        }
        let setup = &self.lowered.setup;
        let space = match self.directories {
            Directories::Here { .. } => setup.asked.tree.paths.first(),
            Directories::Elsewhere(_) => None,
        };
        let space = space.and_then(|path| space::of(path));
        Ok(output::header(setup, self.nodes, &self.started, space))
    }

    fn on(&mut self, event: &Event) -> String {
        match event {
            Event::PhaseDone { record } => self.phase_done(record),
            _ => String::new(),
        }
    }

    fn finish(&mut self, report: &mut Report, verdict_in: VerdictIn) -> Finish {
        let removed = match &self.directories {
            Directories::Here { missing } => {
                files::remove_directories(&self.lowered.setup, missing)
            }
            Directories::Elsewhere(removal) => removal.run(),
        };
        report.notes.extend(self.lowered.notes.iter().cloned());
        let verdict = verdict::text(report, output::FIGURES);
        let mut results = self.results(report);
        if self.is_text() && verdict_in == VerdictIn::Terminal {
            results += &verdict;
        }
        let is_success = removed.is_ok() && self.is_success(report);
        let mut failures = failures::sentences(report, has_failed, why);
        failures.extend(removed.err());
        Finish {
            results,
            verdict,
            failures: COMPLAINTS.lines(failures),
            files: self.write_files(report),
            exit_code: if is_success { 0 } else { COMPLAINTS.exit_code },
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        COMPLAINTS.with_options_page(problems)
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

    fn write_files(&self, report: &Report) -> Result<(), String> {
        files::write_results(self.lowered, &self.results)?;
        operations::write(self.lowered)?;
        let file = self.lowered.setup.asked.output.summary_file.as_ref();
        file.map_or(Ok(()), |file| files::write(file, &self.document(report)))
    }

    fn results(&self, report: &Report) -> String {
        if !self.is_text() {
            let to_file = self.lowered.setup.asked.output.summary_file.is_some();
            return if to_file { String::new() } else { self.document(report) };
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

    /// Blocks without a rate, where the items that each task is to have are none.
    fn blocks_of_nothing(&self) -> String {
        let setup = &self.lowered.setup;
        let block = |tasks: &u32| {
            let iterations = vec![BTreeMap::new(); setup.asked.run.iterations as usize];
            let run = TaskRun { tasks: *tasks, iterations, is_complete: true };
            output::totals_and_block(setup, &run)
        };
        setup.task_counts.iter().map(block).collect()
    }

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

    /// Adds the result of a phase, and gives the block of so many tasks once all of theirs are
    /// done.
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

/// How a command ended, where that was no success.
fn command_failure(measured: &Measurement) -> Option<ProgramEnd> {
    measured.program_end.filter(|end| !end.is_success())
}

/// Operations whose failure mdtest reports as a warning: its exit code stays 0.
const WARNED: [&str; 5] = ["mkdir", "rmdir", "stat", "rename", "unlink"];

/// True for a phase after which mdtest's exit code is not 0. Failures of [`WARNED`] operations,
/// short reads and wrong data are warnings there.
fn ends_mdtest(measured: &Measurement) -> bool {
    let is_warned = |error: &IoFailure| {
        let op = error.op.as_deref().unwrap_or_default();
        WARNED.contains(&op) || output::is_at_end(error)
    };
    let mut errors = measured.errors.iter();
    let unexplained = measured.ended == Ended::Failed
        && measured.errors.is_empty()
        && measured.verify.as_ref().is_none_or(|verify| verify.first.is_empty())
        && output::short_reads(measured) == 0;
    errors.any(|error| !is_warned(error))
        || unexplained
        || measured.ended == Ended::Stalled
        || command_failure(measured).is_some()
}

/// True for a phase in which anything went wrong: what failed is no work.
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
