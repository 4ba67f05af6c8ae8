//! Runs the tests and delivers what they gave.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};

use candor_dialects::ior::options::{Format, Reading};
use candor_dialects::ior::output::{self, Moment, Results};
use candor_dialects::ior::plan::Lowered;
use candor_plan::{PathText, Problem, TargetKind, path_of};
use candor_record::{Ended, Event, Measurement, PhaseRecord, Report};
use candor_run::{HostOptions, Options};

use super::drive::Driver;
use super::{COMPLAINTS, WRONG, host};
use crate::commands;
use crate::commands::foreign::failures::{mismatch, reason};
use crate::commands::foreign::launch::is_launched;
use crate::commands::foreign::monitor::Requests;
use crate::commands::foreign::ranks::RankHosts;
use crate::commands::foreign::verdict::VerdictIn;
use crate::commands::foreign::{self, Foreign};
use crate::screen;

/// The variable that lets a device be written that others hold.
const FORCE: &str = "CANDOR_FORCE";

/// Mismatches that are shown one by one.
const MISMATCHES_SHOWN: usize = 8;

/// Prints what would be done, and gives the exit code.
pub fn dry(lowered: &Lowered, hosts: Option<&RankHosts>) -> u8 {
    let text = results(lowered, hosts).dry_run(&Moment::now());
    commands::printed(&text)
}

/// Runs the tests, and gives the exit code.
pub fn main(reading: &Reading, lowered: &Lowered, hosts: Option<&RankHosts>) -> u8 {
    let insists = std::env::var_os(FORCE).is_some_and(|value| value == "1");
    let devices = lowered.plan.targets.iter().filter(|target| target.kind == TargetKind::Device);
    let devices = devices.map(|target| target.path.text());
    let force = if insists { devices.collect() } else { Vec::new() };
    let host = HostOptions { force, at_once: true, ..HostOptions::default() };
    let command = lowered.setup.command.clone();
    let options = Options { command, ..Options::default() };
    let run = &mut Tests {
        reading,
        lowered,
        results: results(lowered, hosts),
        sizes: RefCell::default(),
        is_elsewhere: hosts.and_then(RankHosts::first_elsewhere).is_some(),
        made: HashSet::new(),
        failed: Ok(()),
    };
    foreign::run_ranked(run, &lowered.plan, (options, host), hosts)
}

fn results<'a>(lowered: &'a Lowered, hosts: Option<&RankHosts>) -> Results<'a> {
    let elsewhere = hosts.and_then(RankHosts::first_elsewhere);
    let of = |test: &candor_dialects::ior::setup::TestSetup| {
        // Nobody tells how full the filesystems of others are.
        let file = &test.options.layout.test_file;
        if elsewhere.is_none() { host::filesystem(file) } else { None }
    };
    let filesystems: Vec<_> = lowered.setup.tests.iter().map(of).collect();
    let of = (&lowered.setup, &lowered.phases[..]);
    Results::new(of, host::machine(elsewhere), &filesystems, Moment::now())
}

/// A run of the tests.
struct Tests<'a> {
    reading: &'a Reading,
    lowered: &'a Lowered,
    results: Results<'a>,
    /// Bytes of the files after each phase, from the driver.
    sizes: RefCell<Option<Receiver<Option<u64>>>>,
    /// Other hosts have the files.
    is_elsewhere: bool,
    /// Files of rows that this run has begun.
    made: HashSet<String>,
    /// Why a file could not be written, where one could not.
    failed: Result<(), String>,
}

impl Foreign for Tests<'_> {
    const NAME: &'static str = "ior";
    const WRONG: u8 = WRONG;

    fn output_file(&self) -> Option<&Path> {
        self.lowered.setup.output.summary_file.as_ref().map(Path::new)
    }

    fn requests(&self) -> Requests {
        Requests::default()
    }

    fn driver(&self) -> foreign::Driver {
        let (sizes, received) = mpsc::channel();
        self.sizes.replace(Some(received));
        let driver = Driver::new(self.lowered, sizes);
        Box::new(move |run| driver.drive(run))
    }

    fn preamble(&self) -> String {
        self.as_text(self.results.head())
    }

    fn begin(&mut self) -> Result<(), String> {
        match &self.lowered.setup.output.summary_file {
            Some(file) => screen::data(&format!("Writing output to {file}\n")),
            None => Ok(()),
        }
    }

    fn on(&mut self, event: &Event) -> String {
        let text = match event {
            Event::PhaseStarted { index, search_step: false, .. } => {
                self.results.started(*index, &Moment::now())
            }
            Event::PhaseDone { record } => {
                let warning = self.size_warning(record);
                let text = self.results.ended(record, &warning);
                self.rows(record);
                text
            }
            _ => String::new(),
        };
        self.as_text(text)
    }

    fn interim(&self, _: &Report) -> String {
        String::new()
    }

    fn end(&mut self) {}

    fn complete(&mut self, report: &mut Report) {
        report.notes.extend(self.lowered.notes.iter().cloned());
    }

    fn write_files(&self, _: &Report) -> Result<(), String> {
        self.failed.clone()
    }

    fn results(&self, report: &Report, verdict_in: VerdictIn) -> String {
        let now = Moment::now();
        match self.lowered.setup.output.format {
            Format::Default if verdict_in == VerdictIn::Terminal => {
                self.results.clone().tail(&now) + &self.verdict(report)
            }
            Format::Default => {
                self.tell_beside(report, verdict_in);
                self.results.clone().tail(&now)
            }
            Format::Json => {
                let with_verdict = verdict_in != VerdictIn::Nothing;
                self.results.json(&now, with_verdict.then_some(report))
            }
            Format::Csv => {
                // Nothing but rows: scripts take the last line.
                self.tell_beside(report, verdict_in);
                self.results.csv()
            }
        }
    }

    fn verdict(&self, report: &Report) -> String {
        output::verdict(report)
    }

    fn failures(&self, report: &Report) -> String {
        let failed = report.phases.iter().flat_map(|phase| {
            let failed = phase.measurements.iter().filter(|measured| has_failed(measured));
            failed.map(move |measured| format!("{}: {}", phase.name, reason(measured)))
        });
        let mut sentences: Vec<String> = failed.collect();
        if sentences.is_empty() {
            sentences.extend(report.cut_short.clone());
        }
        sentences.extend(wrong_data(report));
        foreign::lines(Self::NAME, &foreign::capped(sentences))
    }

    fn exit_code(&self, report: &Report) -> u8 {
        let mut measured = report.phases.iter().flat_map(|phase| &phase.measurements);
        let failed = measured.any(has_failed) || report.cut_short.is_some();
        let wrong = failed || report.interrupted || self.results.errors() > 0;
        if wrong { WRONG } else { 0 }
    }

    fn complain(&self, problems: &[Problem]) {
        let sentence = |problem: &Problem| {
            let said = self.lowered.origins.diagnostic(problem).describe(&self.reading.texts);
            match problem.rule {
                "held-device" => {
                    format!("{said}; release it first, or insist with {FORCE}=1 in the environment")
                }
                _ => said,
            }
        };
        COMPLAINTS.sentences(&problems.iter().map(sentence).collect::<Vec<_>>());
    }
}

impl Tests<'_> {
    /// Tells on stderr what text without a verdict does not have: the verdict to a person, else the
    /// notes on a back end that is another one here.
    fn tell_beside(&self, report: &Report, verdict_in: VerdictIn) {
        let is_for_person = !is_launched() && screen::is_read_by_a_person();
        match verdict_in {
            VerdictIn::Nothing => {}
            _ if is_for_person => screen::tell(&self.verdict(report)),
            _ => screen::tell(&output::back_end_notes(report, "ior: ")),
        }
    }

    /// The warning that the files of a phase have another size, for the table; files and rows
    /// have no place for it, and stderr gets it. A document has the bytes themselves.
    fn size_warning(&self, record: &PhaseRecord) -> String {
        let sizes = self.sizes.borrow();
        // The driver ends without a size where the run ends with the phase.
        let size = sizes.as_ref().and_then(|sizes| sizes.recv().ok()).flatten();
        let size = size.filter(|_| !self.is_elsewhere);
        let text = size.map_or_else(String::new, |size| self.results.size_warning(record, size));
        let output = &self.lowered.setup.output;
        match output.format {
            Format::Default if output.summary_file.is_none() => return text,
            Format::Default | Format::Csv => screen::tell(&text),
            Format::Json => {}
        }
        String::new()
    }

    /// Lines of the tables; the other forms are written at the end.
    fn as_text(&self, text: String) -> String {
        match self.lowered.setup.output.format {
            Format::Default => text,
            Format::Json | Format::Csv => String::new(),
        }
    }

    /// Adds the rows of a phase to the files that are asked for.
    fn rows(&mut self, record: &PhaseRecord) {
        let of = (&self.lowered.setup, &self.lowered.phases[..], &self.lowered.plan);
        let transfers = output::operation_files(of, record);
        let tasks = self.results.task_rows(record);
        for (file, rows) in transfers {
            let begins = self.made.insert(file.clone());
            let rows = if begins { &rows[..] } else { output::without_header(&rows) };
            self.add(&file, rows, begins);
        }
        if let Some((file, rows)) = tasks {
            let begins = self.made.insert(file.clone());
            let header = if begins { Results::task_header() } else { "" };
            self.add(&file, &format!("{header}{rows}"), begins);
        }
    }

    fn add(&mut self, file: &str, rows: &str, begins: bool) {
        let path = &path_of(file);
        let written = if begins {
            candor_files::replace(path, rows)
        } else {
            candor_files::append(path).and_then(|mut open| open.write_all(rows.as_bytes()))
        };
        if let Err(error) = written
            && self.failed.is_ok()
        {
            self.failed = Err(format!("{file} cannot be written: {error}"));
        }
    }
}

fn has_failed(measured: &Measurement) -> bool {
    matches!(measured.ended, Ended::Failed | Ended::Stalled)
}

/// The first transfers that verification found wrong.
fn wrong_data(report: &Report) -> impl Iterator<Item = String> + '_ {
    report.phases.iter().flat_map(|phase| {
        let found = phase.measurements.iter().filter(|measured| !has_failed(measured));
        let found = found.filter_map(|measured| measured.verify.as_ref());
        found
            .flat_map(|verify| verify.first.iter().take(MISMATCHES_SHOWN))
            .map(move |found| format!("{}: {}", phase.name, mismatch(found)))
    })
}
