//! Results in IOR's forms: tables, one document of JSON, rows of CSV, files of tasks and transfers.
//!
//! [`Results`] gathers the figures of phases as they end, and each form is a function of it. Where
//! IOR's figure is known to be wrong, the true one stands in its place.

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
use candor_front::verdict;

pub use figures::{Access, Figures, Statistics, Stonewall, Summary, TaskTimes};
pub use operations::operation_files;
pub use surroundings::{Filesystem, Machine, Moment};

/// Version of IOR whose words and forms are spoken.
pub const VERSION: &str = "4.1.0+candor";

/// Figures of all tests so far.
#[derive(Clone, Debug)]
pub struct Results<'a> {
    setup: &'a Setup,
    phases: &'a [TestPhase],
    machine: Machine,
    began: Moment,
    tests: Vec<TestResults<'a>>,
}

/// Figures of a test so far.
#[derive(Clone, Debug)]
struct TestResults<'a> {
    setup: &'a TestSetup,
    filesystem: Option<Filesystem>,
    /// When its first phase began; none before.
    started: Option<Moment>,
    rows: Vec<Figures>,
    /// Repetition and seconds of each removal.
    removals: Vec<(u32, f64)>,
    /// Transfers that verification found wrong, in checks and reads.
    errors: u64,
    /// The lines behind its last phase were given.
    ended: bool,
}

impl<'a> Results<'a> {
    /// None yet. `filesystems` are those of the tests, where they are known.
    pub fn new(
        (setup, phases): (&'a Setup, &'a [TestPhase]),
        machine: Machine,
        filesystems: &[Option<Filesystem>],
        began: Moment,
    ) -> Results<'a> {
        let test = |(nth, setup): (usize, &'a TestSetup)| TestResults {
            setup,
            filesystem: filesystems.get(nth).cloned().flatten(),
            started: None,
            rows: Vec::new(),
            removals: Vec::new(),
            errors: 0,
            ended: false,
        };
        let tests = setup.tests.iter().enumerate().map(test).collect();
        Results { setup, phases, machine, began, tests }
    }

    /// A phase begins: the lines that say so.
    pub fn started(&mut self, index: usize, now: &Moment) -> String {
        let Some(phase) = self.phases.get(index) else { return String::new() };
        // The last phases of a test may be left out.
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

    /// The warning of a phase that ended and whose files have that size, if it differs.
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

    /// A phase has ended: the lines that say so, with a warning before its row. Rows of files are
    /// in `files`.
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

    /// All of it as one document of JSON, with the verdict unless it stands elsewhere.
    pub fn json(&self, now: &Moment, verdict_of: Option<&Report>) -> String {
        json::document(self, now, verdict_of.map(verdict::tree))
    }

    /// Rows of CSV with their header.
    pub fn csv(&self) -> String {
        csv::document(&self.tests)
    }

    /// Rows of the file of tasks for what has been measured last; none where none is asked for.
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

    /// The phases, without doing them (`--dryRun`).
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

    /// Transfers that verification found wrong.
    pub fn errors(&self) -> u64 {
        self.tests.iter().map(|test| test.errors).sum()
    }
}

/// The lines behind the last phase of a test that has begun, once.
fn end_of(test: &mut TestResults<'_>) -> String {
    if test.ended || test.started.is_none() {
        return String::new();
    }
    test.ended = true;
    text::test_end(test)
}

/// candor's own words below the tables.
pub fn verdict(report: &Report) -> String {
    verdict::text(report, &[])
}

/// The notes on a back end that is another one here, a line each after `begin`.
pub fn back_end_notes(report: &Report, begin: &str) -> String {
    verdict::notes_text(report, begin, |note| note.asked.starts_with("api="))
}

/// Rows of transfers that follow others in a file.
pub fn without_header(rows: &str) -> &str {
    rows.split_once('\n').map_or("", |(_, rows)| rows)
}
