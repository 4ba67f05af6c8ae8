//! Results in IOR's formats: tables, JSON, CSV, and files for tasks and transfers.
//!
//! [`Results`] collects the metrics of finished phases; each format is a function of it. Metrics
//! that IOR counts wrongly are correct here.

mod csv;
mod figures;
mod json;
mod numbers;
mod operations;
mod settings;
mod surroundings;
mod text;

#[cfg(test)]
mod tests;

use candor_record::{PhaseRecord, Report, VerifyStats};

use super::plan::{PhaseKind, TestPhase};
use super::setup::{Setup, TestSetup};
use candor_front::{Machine, Space, verdict};

pub use figures::{Access, Figures, Statistics, Stonewall, Summary, TaskTimes};
pub use operations::operation_files;
pub use surroundings::Moment;

/// Version of IOR whose formats are used.
pub const VERSION: &str = "4.1.0+candor";

/// Metrics of all tests so far.
#[derive(Clone, Debug)]
pub struct Results<'a> {
    setup: &'a Setup,
    phases: &'a [TestPhase],
    machine: Machine,
    began: Moment,
    tests: Vec<TestResults<'a>>,
}

/// Metrics of a test so far.
#[derive(Clone, Debug)]
struct TestResults<'a> {
    setup: &'a TestSetup,
    space: Option<Space>,
    /// Start of its first phase, if that has started.
    started: Option<Moment>,
    rows: Vec<Figures>,
    /// Repetition and time in seconds of each removal.
    removals: Vec<(u32, f64)>,
    /// Wrong transfers, found by checks and reads.
    errors: u64,
    /// True after the lines that follow the last phase.
    ended: bool,
}

impl<'a> Results<'a> {
    /// Empty results. `spaces` has the space of each test's file system, if it is known.
    pub fn new(
        setup: &'a Setup,
        phases: &'a [TestPhase],
        machine: Machine,
        spaces: &[Option<Space>],
        began: Moment,
    ) -> Results<'a> {
        let test = |(nth, setup): (usize, &'a TestSetup)| TestResults {
            setup,
            space: spaces.get(nth).copied().flatten(),
            started: None,
            rows: Vec::new(),
            removals: Vec::new(),
            errors: 0,
            ended: false,
        };
        let tests = setup.tests.iter().enumerate().map(test).collect();
        Results { setup, phases, machine, began, tests }
    }

    /// Starts a phase, and returns its first lines.
    pub fn started(&mut self, index: usize, now: &Moment) -> String {
        let Some(phase) = self.phases.get(index) else { return String::new() };
        // The last phases of a test may be missing.
        let mut text = String::new();
        for earlier in &mut self.tests[..phase.test] {
            text += &end_of(earlier);
        }
        let test = &mut self.tests[phase.test];
        if test.started.is_none() {
            test.started = Some(now.clone());
            text += &text::test_head(test);
        }
        text + &text::phase_head(test.setup, phase, now)
    }

    /// The warning of a finished phase if its files have another size than expected.
    pub fn size_warning(&self, record: &PhaseRecord, stat_bytes: u64) -> String {
        let measured = self.phases.get(record.phase).zip(record.measurements.first());
        let Some((phase, measured)) = measured.filter(|(_, measured)| measured.ended.is_sound())
        else {
            return String::new();
        };
        if !matches!(phase.kind, PhaseKind::Write | PhaseKind::Read) {
            return String::new();
        }
        let setup = self.tests[phase.test].setup;
        text::size_warning(setup, &Figures::of(setup, phase, measured), stat_bytes)
    }

    /// Ends a phase, and returns its lines, with a warning before its row. Rows of files go to
    /// `files`.
    pub fn ended(&mut self, record: &PhaseRecord, warning: &str) -> String {
        let Some(phase) = self.phases.get(record.phase) else { return String::new() };
        let test = &mut self.tests[phase.test];
        let Some(measured) = record.measurements.first() else { return String::new() };
        let errors = measured.verify.as_ref().map_or(0, VerifyStats::mismatches);
        test.errors += errors;
        let mut text = text::errors(test.setup, phase.kind, errors);
        match phase.kind {
            PhaseKind::Write | PhaseKind::Read if measured.ended.is_sound() => {
                let figures = Figures::of(test.setup, phase, measured);
                text = text::times(test.setup, &figures) + &text;
                text = text::row(test.setup, &figures) + &text;
                text.insert_str(0, warning);
                text = text::stonewall(test.setup, &figures) + &text;
                text += &text::outliers(test.setup, &figures);
                test.rows.push(figures);
            }
            PhaseKind::Remove => {
                let seconds = measured.elapsed_ns as f64 / 1e9;
                test.removals.push((phase.repetition, seconds));
                text += &text::removal(test.setup, phase.repetition, seconds);
            }
            _ => {}
        }
        text
    }

    /// The lines before the first test.
    pub fn head(&self) -> String {
        text::head(self.setup, &self.machine, &self.began)
    }

    /// The summary of all tests, and the last line.
    pub fn tail(&mut self, now: &Moment) -> String {
        let ends: String = self.tests.iter_mut().map(end_of).collect();
        ends + &text::tail(&self.tests, now)
    }

    /// The whole document as JSON, with the verdict unless another output has it.
    pub fn json(&self, now: &Moment, verdict_of: Option<&Report>) -> String {
        json::document(self, now, verdict_of.map(verdict::tree))
    }

    /// Rows of CSV with their header.
    pub fn csv(&self) -> String {
        csv::document(&self.tests)
    }

    /// Rows of the latest phase for the file of tasks; `None` if not requested.
    pub fn task_rows(&self, record: &PhaseRecord) -> Option<(String, String)> {
        let phase = self.phases.get(record.phase)?;
        let test = &self.tests[phase.test];
        let file = test.setup.options.output.rank_csv.clone()?;
        let is_measured = matches!(phase.kind, PhaseKind::Write | PhaseKind::Read);
        let figures = test.rows.last().filter(|_| is_measured)?;
        Some((file, csv::tasks(figures)))
    }

    /// The header of those rows, for a new file.
    pub fn task_header() -> &'static str {
        csv::TASKS_HEADER
    }

    /// The phases of a dry run (`--dryRun`).
    pub fn dry_run(&mut self, now: &Moment) -> String {
        let mut text = self.head();
        for test in &mut self.tests {
            test.started = Some(now.clone());
            text += &text::test_head(test);
        }
        for (nth, phase) in self.phases.iter().enumerate() {
            text += &text::planned(nth, phase, &self.tests[phase.test]);
        }
        text
    }

    /// Number of wrong transfers.
    pub fn errors(&self) -> u64 {
        self.tests.iter().map(|test| test.errors).sum()
    }
}

/// The lines after the last phase of a test; empty if no test has started, or the second time.
fn end_of(test: &mut TestResults<'_>) -> String {
    if test.ended || test.started.is_none() {
        return String::new();
    }
    test.ended = true;
    text::test_end(test)
}

/// candor's notes below the tables.
pub fn verdict(report: &Report) -> String {
    verdict::text(report, &[])
}

/// Notes on replaced back ends, one line each with the prefix `begin`.
pub fn back_end_notes(report: &Report, begin: &str) -> String {
    verdict::notes_text(report, begin, |note| note.asked.starts_with("api="))
}

/// Rows without their header, for an existing file.
pub fn without_header(rows: &str) -> &str {
    rows.split_once('\n').map_or("", |(_, rows)| rows)
}
