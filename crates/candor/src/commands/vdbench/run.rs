//! Runs the phases and writes what they gave.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use candor_dialects::kit::{Diagnostic, Origins, verdict};
use candor_dialects::vdbench::definitions::commands::CommandOutput;
use candor_dialects::vdbench::lower::{Lowered, LoweredRun};
use candor_dialects::vdbench::options::Reading;
use candor_dialects::vdbench::output::{
    Book, FileSheet, Layout, LunSheet, Now, Setup, Sheet, used_operations,
};
use candor_plan::{Phase, Plan, Problem};
use candor_record::{Ended, Event, Measurement, Note, PhaseRecord, Report};
use candor_run::{HostOptions, Options};

use super::anchors;
use super::drive::{Drive, Shared};
use super::pages::Pages;
use super::{COMPLAINTS, REFUSED, WRONG};
use crate::commands::foreign::failures::reason;
use crate::commands::foreign::monitor::Requests;
use crate::commands::foreign::{self, Driver, Foreign};
use crate::screen;

/// The variable that lets a device be written that others hold.
const FORCE: &str = "CANDOR_FORCE";
/// The variable that asks for the columns of another version.
const LAYOUT: &str = "CANDOR_VDBENCH_LAYOUT";
/// Directory of the results, where none is named.
const DIRECTORY: &str = "output";

/// Runs the phases, and gives the exit code.
pub fn main(reading: &Reading, lowered: Lowered) -> u8 {
    let problems = problems(&lowered);
    if !problems.is_empty() {
        COMPLAINTS.diagnostics(&problems, &reading.texts);
        return REFUSED;
    }
    let made = match reading.options.is_simulation {
        true => Ok(()),
        false => anchors::prepare(&lowered.runs, reading.file.general().options.create_anchors),
    };
    let prepared = made.and_then(|()| layout()).and_then(|layout| {
        let asked = reading.options.output.as_deref().unwrap_or(DIRECTORY);
        Ok((layout, Pages::open(asked, &Now::here())?))
    });
    let (layout, pages) = match prepared {
        Ok(prepared) => prepared,
        Err(sentence) => {
            COMPLAINTS.sentence(&sentence);
            return REFUSED;
        }
    };
    let book = Book::open(setup(reading, layout, &pages), &lowered.runs, &Now::here());
    let written = RefCell::new(Written { book, pages });
    if reading.options.is_simulation {
        return simulate(&lowered, written);
    }
    let plan = Plan { name: "vdbench".into(), targets: lowered.targets, ..Plan::default() };
    let insists = std::env::var_os(FORCE).is_some_and(|value| value == "1");
    let paths = plan.targets.iter().map(|target| target.path.display().to_string());
    let force = if insists { paths.collect() } else { Vec::new() };
    let host = HostOptions { force, at_once: true, ..HostOptions::default() };
    let options = Options { command: reading.options.command.clone(), ..Options::default() };
    let run = &mut Run {
        reading,
        runs: Arc::new(lowered.runs),
        notes: lowered.notes,
        origins: lowered.origins,
        written,
        shared: Shared::default(),
        current: 0,
    };
    foreign::run(run, &plan, (options, host))
}

/// Everything wrong with the phases, in the user's words.
fn problems(lowered: &Lowered) -> Vec<Diagnostic> {
    let plan = Plan {
        targets: lowered.targets.clone(),
        phases: lowered.runs.iter().flat_map(phases).cloned().collect(),
        ..Plan::default()
    };
    let problems = candor_plan::check::check(&plan);
    match candor_plan::check::can_run(&problems) {
        true => Vec::new(),
        false => problems.iter().map(|problem| lowered.origins.diagnostic(problem)).collect(),
    }
}

/// All phases of a run.
fn phases(run: &LoweredRun) -> impl Iterator<Item = &Phase> {
    run.before().iter().chain([&run.phase])
}

/// The columns that are asked for.
fn layout() -> Result<Layout, String> {
    match std::env::var(LAYOUT).as_deref() {
        Ok("50406") => Ok(Layout::V50406),
        Ok("50407" | "") | Err(_) => Ok(Layout::V50407),
        Ok(other) => Err(format!("{LAYOUT}={other} is no version; use 50406 or 50407")),
    }
}

fn setup(reading: &Reading, layout: Layout, pages: &Pages) -> Setup {
    let general = &reading.file.general().options;
    let is_decimal = reading.options.is_decimal;
    let texts = &reading.texts;
    let scanned = reading.file.scanned.iter().map(|written| {
        let place = written.keyword.at;
        format!("line {}: {}={}", texts.location(place), written.keyword.text, written.value.text)
    });
    Setup {
        directory: pages.directory().display().to_string(),
        sheet: sheet(reading, layout),
        megabyte: if is_decimal { 1e6 } else { 1_048_576.0 },
        buckets: general.buckets.clone(),
        reports: general.report,
        has_run_totals: general.run_totals,
        skew_max: general.abort_failed_skew,
        files: reading.files().map(|(name, text)| (name.to_owned(), text.to_owned())).collect(),
        scanned: scanned.collect(),
        is_simulation: reading.options.is_simulation,
    }
}

/// The columns of the work that the files define.
fn sheet(reading: &Reading, layout: Layout) -> Box<dyn Sheet + Send> {
    let (file, is_decimal) = (&reading.file, reading.options.is_decimal);
    match file.is_of_files() {
        true => Box::new(FileSheet { used: used_operations(file), is_decimal }),
        false => Box::new(LunSheet { layout, is_decimal }),
    }
}

/// Lists the runs.
fn simulate(lowered: &Lowered, written: RefCell<Written>) -> u8 {
    let mut written = written.into_inner();
    // Of luns, only a look at them tells what must be filled.
    for run in lowered.runs.iter().filter(|run| !run.is_format || run.files.is_some()) {
        written.book.begin(run, None, &Now::here());
    }
    written.book.close(true, &Now::here());
    let console = written.drain();
    match screen::data(&console).and(written.pages.undelivered()) {
        Ok(()) => 0,
        Err(sentence) => {
            COMPLAINTS.sentence(&sentence);
            WRONG
        }
    }
}

/// The book, and where its pages go.
struct Written {
    book: Book,
    pages: Pages,
}

impl Written {
    /// Writes what came; gives that for standard output.
    fn drain(&mut self) -> String {
        let parts = self.book.take();
        self.pages.add(parts)
    }
}

/// All runs.
struct Run<'a> {
    reading: &'a Reading,
    runs: Arc<Vec<LoweredRun>>,
    notes: Vec<Note>,
    origins: Origins,
    written: RefCell<Written>,
    shared: Shared,
    /// Index of the run under way.
    current: usize,
}

impl Foreign for Run<'_> {
    const NAME: &'static str = "vdbench";
    const WRONG: u8 = REFUSED;

    fn output_file(&self) -> Option<&Path> {
        None
    }

    fn requests(&self) -> Requests {
        Requests::default()
    }

    fn driver(&self) -> Driver {
        let general = &self.reading.file.general().options;
        let drive = Drive {
            runs: self.runs.clone(),
            repeat: self.reading.options.repeat.or(general.repeat),
            start: general.start.clone(),
            end: general.end.clone(),
            directory: self.written.borrow().pages.directory().display().to_string(),
            shared: self.shared.clone(),
        };
        Box::new(|run| drive.drive(run))
    }

    fn preamble(&self) -> String {
        let (mut written, now) = (self.written.borrow_mut(), Now::here());
        let version = env!("CARGO_PKG_VERSION");
        let line = format!("Vdbench distribution: candor {version}");
        written.book.say(&now, &line);
        for word in self.reading.options.command.iter().skip(1) {
            written.book.say(&now, &format!("input argument scanned: '{word}'"));
        }
        for remark in &self.reading.remarks {
            written.book.log(&now, &remark.describe(&self.reading.texts));
        }
        for note in &self.notes {
            let place = note.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
            written.book.log(&now, &format!("{place}{}, {}", note.did, note.why));
        }
        written.drain()
    }

    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn on(&mut self, event: &Event) -> String {
        let (written, now) = (self.written.get_mut(), Now::here());
        commands(&mut written.book, &self.shared, &now);
        match event {
            Event::PhaseStarted { .. } => {
                let begun = self.shared.state().begun.pop_front();
                if let Some((run, rate, index)) =
                    begun.and_then(|(index, rate)| Some((self.runs.get(index)?, rate, index)))
                {
                    self.current = index;
                    written.book.begin(run, rate, &now);
                    let told = anchors::begin(run, &now);
                    told.iter().for_each(|sentence| written.book.error(&now, sentence));
                }
            }
            Event::Sampled { samples, host, .. } => written.book.interval(samples, host, &now),
            Event::PhaseDone { record } => {
                for sentence in failed(record) {
                    written.book.error(&now, &sentence);
                }
                // The first parts of a format belong to the run of its last one.
                let run = self.runs.get(self.current);
                match run.is_none_or(|run| run.phase.name == record.name) {
                    true => {
                        run.into_iter().for_each(anchors::end);
                        self.shared.ended(written.book.end(record, &now));
                    }
                    false => written.book.part(record),
                }
            }
            Event::Warned { sentence } => written.book.log(&now, sentence),
            _ => {}
        }
        written.drain()
    }

    fn interim(&self, _: &Report) -> String {
        String::new()
    }

    fn end(&mut self) {}

    fn complete(&mut self, report: &mut Report) {
        report.notes.extend(self.notes.iter().cloned());
    }

    fn write_files(&self, _: &Report) -> Result<(), String> {
        self.written.borrow().pages.undelivered()
    }

    fn results(&self, report: &Report, with_verdict: bool) -> String {
        let (mut written, now) = (self.written.borrow_mut(), Now::here());
        commands(&mut written.book, &self.shared, &now);
        let early = self.shared.state().ended_early.clone();
        if let Some(sentence) = early.as_ref().or(report.cut_short.as_ref()) {
            written.book.error(&now, sentence);
        }
        let succeeded = self.exit_code(report) == 0;
        written.book.close(succeeded, &now);
        let mut text = written.drain();
        if with_verdict {
            text += &self.verdict(report);
        }
        text
    }

    fn verdict(&self, report: &Report) -> String {
        verdict::text(report, &[])
    }

    fn failures(&self, report: &Report) -> String {
        let mut sentences: Vec<String> = report.phases.iter().flat_map(failed).collect();
        if sentences.is_empty() {
            sentences.extend(report.cut_short.clone());
        }
        if let Some(early) = self.shared.state().ended_early.clone() {
            sentences.push(early);
        }
        foreign::lines(Self::NAME, &foreign::capped(sentences))
    }

    fn exit_code(&self, report: &Report) -> u8 {
        let failed = report.phases.iter().any(|phase| failed(phase).next().is_some());
        let cut = report.cut_short.is_some() || report.interrupted;
        if failed || cut || self.shared.state().has_failed { WRONG } else { 0 }
    }

    fn complain(&self, problems: &[Problem]) {
        let remedy = format!("release it first, or insist with {FORCE}=1 in the environment");
        let of = |problem: &Problem| match problem.rule {
            "held-device" => self.origins.diagnostic(problem).remedy(remedy.clone()),
            _ => self.origins.diagnostic(problem),
        };
        let all: Vec<Diagnostic> = problems.iter().map(of).collect();
        COMPLAINTS.diagnostics(&all, &self.reading.texts);
    }
}

/// Writes what commands said where it belongs.
fn commands(book: &mut Book, shared: &Shared, now: &Now) {
    let said = std::mem::take(&mut shared.state().said);
    for (output, text) in said {
        for line in text.lines() {
            match output {
                CommandOutput::Console => book.say(now, line),
                CommandOutput::Summary => {
                    book.log(now, line);
                    book.write("summary", now, line);
                }
                CommandOutput::Log => book.log(now, line),
            }
        }
    }
}

/// Sentences about the jobs of a phase that failed.
fn failed(record: &PhaseRecord) -> impl Iterator<Item = String> + use<'_> {
    let has_failed =
        |measured: &&Measurement| matches!(measured.ended, Ended::Failed | Ended::Stalled);
    let failed = record.measurements.iter().filter(has_failed);
    failed.map(|measured| format!("{}: {}", record.name, reason(measured)))
}
