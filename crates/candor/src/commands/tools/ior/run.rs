//! Runs the tests and prints their results.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};

use candor_front::Session;
use candor_front::failures::{self, mismatch, reason};
use candor_front::session::{Ending, Finish, Output, Start, VerdictIn};
use candor_ior::options::{Format, Reading};
use candor_ior::output::{self, Moment, Results};
use candor_ior::plan::Lowered;
use candor_plan::{PathText, Problem, TargetKind, path_of};
use candor_record::{Ended, Event, Measurement, PhaseRecord, Report};

use super::drive::Driver;
use super::{COMPLAINTS, WRONG, host};
use crate::commands;
use crate::commands::foreign::launch::is_launched;
use crate::commands::foreign::ranks::RankHosts;
use crate::commands::foreign::{Complaints, Invocation, Place, force};
use crate::screen;

/// Mismatches that are shown one by one.
const MISMATCHES_SHOWN: usize = 8;

/// Prints what would be done, and gives the exit code.
pub fn dry(lowered: &Lowered, hosts: Option<&RankHosts>) -> u8 {
    let text = results(lowered, hosts).dry_run(&Moment::now());
    commands::printed(&text)
}

/// Runs the tests, and returns the exit code.
pub fn main(reading: &Reading, lowered: &Lowered, hosts: Option<&RankHosts>) -> u8 {
    let devices = lowered.plan.targets.iter().filter(|target| target.kind == TargetKind::Device);
    let devices = devices.map(|target| target.path.text());
    let (sizes, received) = mpsc::channel();
    let driver = Driver::new(lowered, sizes);
    let session = &mut Tests {
        reading,
        lowered,
        results: results(lowered, hosts),
        sizes: received,
        is_elsewhere: hosts.and_then(RankHosts::first_elsewhere).is_some(),
        made: HashSet::new(),
        failed: Ok(()),
    };
    let file = lowered.setup.output.summary_file.as_ref().map(Path::new);
    let complaints = Complaints { file, ..COMPLAINTS };
    let invocation = Invocation {
        driver: Box::new(move |run| driver.drive(run)),
        place: Place::new(if force::is_set() { devices.collect() } else { Vec::new() }, None),
        ..Invocation::new(complaints, Cow::Borrowed(&lowered.plan), &lowered.setup.command)
    };
    match invocation.on(hosts) {
        Ok(invocation) => invocation.run(session),
        Err(sentence) => COMPLAINTS.sentence(&sentence),
    }
}

fn results<'a>(lowered: &'a Lowered, hosts: Option<&RankHosts>) -> Results<'a> {
    let elsewhere = hosts.and_then(RankHosts::first_elsewhere);
    let of = |test: &candor_ior::setup::TestSetup| {
        // Nobody tells how full the filesystems of others are.
        let file = &test.options.layout.test_file;
        if elsewhere.is_none() { host::filesystem(file) } else { None }
    };
    let filesystems: Vec<_> = lowered.setup.tests.iter().map(of).collect();
    let machine = host::machine(elsewhere);
    Results::new(&lowered.setup, &lowered.phases, machine, &filesystems, Moment::now())
}

/// A run of the tests.
struct Tests<'a> {
    reading: &'a Reading,
    lowered: &'a Lowered,
    results: Results<'a>,
    /// Bytes of the files after each phase, from the driver.
    sizes: Receiver<Option<u64>>,
    /// Other hosts have the files.
    is_elsewhere: bool,
    /// Files of rows that this run has begun.
    made: HashSet<String>,
    /// Why a file could not be written, where one could not.
    failed: Result<(), String>,
}

impl Session for Tests<'_> {
    fn begin(&mut self) -> Result<Start, String> {
        if let Some(file) = &self.lowered.setup.output.summary_file {
            screen::data(&format!("Writing output to {file}\n"))?;
        }
        Ok(Start { output: self.as_text(self.results.head()).into(), files: Vec::new() })
    }

    fn on(&mut self, event: &Event) -> Output {
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
        self.as_text(text).into()
    }

    fn finish(&mut self, report: &mut Report, ending: &Ending) -> Finish {
        report.notes.extend(self.lowered.notes.iter().cloned());
        let verdict = output::verdict(report);
        let mut failures = failures::sentences(report, has_failed, reason);
        let code = u8::from(!failures.is_empty() || report.interrupted);
        failures.extend(wrong_data(report));
        Finish {
            results: self.results(report, &verdict, ending.verdict_in),
            verdict,
            failures: failures::capped(COMPLAINTS.tool, failures),
            files: Vec::new(),
            logs: Vec::new(),
            written: self.failed.clone(),
            exit_code: if self.results.errors() > 0 { WRONG } else { code },
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        let sentence = |problem: &Problem| {
            let said = self.lowered.origins.diagnostic(problem).describe(&self.reading.texts);
            match problem.rule {
                "held-device" => format!("{said}; {}", force::REMEDY),
                _ => said,
            }
        };
        problems.iter().map(sentence).collect()
    }
}

impl Tests<'_> {
    fn results(&mut self, report: &Report, verdict: &str, verdict_in: VerdictIn) -> String {
        let now = Moment::now();
        match self.lowered.setup.output.format {
            Format::Default if verdict_in == VerdictIn::Terminal => {
                self.results.tail(&now) + verdict
            }
            Format::Default => {
                tell_aside(report, verdict, verdict_in);
                self.results.tail(&now)
            }
            Format::Json => {
                let with_verdict = verdict_in != VerdictIn::Nothing;
                self.results.json(&now, with_verdict.then_some(report))
            }
            Format::Csv => {
                // Only rows, because scripts take the last line.
                tell_aside(report, verdict, verdict_in);
                self.results.csv()
            }
        }
    }

    /// The warning that the files of a phase have another size, for the table; files and rows
    /// have no place for it, and stderr gets it. A document has the bytes themselves.
    fn size_warning(&self, record: &PhaseRecord) -> String {
        // The driver ends without a size where the run ends with the phase.
        let size = self.sizes.recv().ok().flatten();
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
        let Lowered { setup, phases, plan, .. } = self.lowered;
        let transfers = output::operation_files(setup, phases, plan, record);
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

/// Prints on stderr what text without a verdict does not have: the verdict to a person, else the
/// notes on a different back end.
fn tell_aside(report: &Report, verdict: &str, verdict_in: VerdictIn) {
    let is_for_person = !is_launched() && screen::is_read_by_a_person();
    match verdict_in {
        VerdictIn::Nothing => {}
        _ if is_for_person => screen::tell(verdict),
        _ => screen::tell(&output::back_end_notes(report, "ior: ")),
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
