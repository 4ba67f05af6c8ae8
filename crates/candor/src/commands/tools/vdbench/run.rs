//! Runs the phases and writes what they gave.

use std::borrow::Cow;
use std::sync::Arc;

use candor_front::session::{Ending, Finish, Output, Start, VerdictIn};
use candor_front::{Diagnostic, Origins, Session, failures, verdict};
use candor_plan::{PathText, Plan, Problem, path_of};
use candor_record::{Ended, Event, Note, PhaseRecord, Report};
use candor_run::Command;
use candor_vdbench::definitions::commands::CommandOutput;
use candor_vdbench::lower::{Lowered, LoweredRun};
use candor_vdbench::options::Reading;
use candor_vdbench::output::{
    Book, FileSheet, Layout, LunSheet, Now, Setup, Sheet, used_operations,
};
use candor_vdbench::runs::RunRate;

use super::drive::{Drive, Shared};
use super::monitor::{Ends, MonitorFile};
use super::outcome::{failed, is_corrupt, without_files};
use super::pages::Pages;
use super::{COMPLAINTS, FAILED, INTERRUPTED};
use super::{anchors, hosts};
use crate::commands::foreign::{Driver, Invocation, Place, force};
use crate::screen;

/// The variable that asks for the columns of another version.
const LAYOUT: &str = "CANDOR_VDBENCH_LAYOUT";
/// Directory of the results, where none is named.
const DIRECTORY: &str = "output";

/// Operations per second that a simulation takes for the fastest run of a curve.
const SIMULATED_MAX: f64 = 10_000.0;

/// Runs the phases, and gives the exit code.
pub fn main(reading: &Reading, lowered: Lowered) -> u8 {
    let problems = problems(&lowered);
    if !problems.is_empty() {
        return COMPLAINTS.diagnostics(&problems, &reading.texts);
    }
    let is_simulation = reading.options.is_simulation;
    let creates = reading.file.general().options.create_anchors;
    if !is_simulation && let Err(missing) = anchors::prepare(&lowered.runs, creates) {
        return COMPLAINTS.diagnostics(&[*missing], &reading.texts);
    }
    // Before pages of an earlier run are removed: a target may be among them.
    let targets = Plan { targets: lowered.targets.clone(), ..Plan::default() };
    let noted = candor_run::note_files(&targets).map_err(|error| error.to_string());
    let prepared = noted.and_then(|()| layout()).and_then(|layout| {
        let asked = reading.options.output.as_deref().unwrap_or(DIRECTORY);
        Ok((layout, Pages::open(asked, &Now::here())?))
    });
    let (layout, pages) = match prepared {
        Ok(prepared) => prepared,
        Err(sentence) => return COMPLAINTS.sentence(&sentence),
    };
    let setup = Setup { luns: luns(&lowered), ..setup(reading, layout, &pages) };
    let book = Book::open(setup, &lowered.runs, &Now::here());
    let written = Written { book, pages };
    if is_simulation {
        return simulate(reading, &lowered, written);
    }
    let hosts = lowered.systems.count();
    let plan = Plan { name: "vdbench".into(), hosts, targets: lowered.targets, ..Plan::default() };
    let paths = plan.targets.iter().map(|target| target.path.text());
    let force = if force::is_set() { paths.collect() } else { Vec::new() };
    let place = match hosts::fleet(&lowered.systems) {
        Ok(fleet) => Place::new(force, fleet),
        Err(sentence) => return COMPLAINTS.sentence(&sentence),
    };
    let session = &mut Run {
        reading,
        runs: Arc::new(lowered.runs),
        notes: lowered.notes,
        origins: lowered.origins,
        written,
        shared: Shared::default(),
        current: 0,
        monitor: None,
        is_ending: false,
    };
    let invocation = Invocation {
        place,
        driver: session.driver(),
        ..Invocation::new(COMPLAINTS, Cow::Owned(plan), &reading.options.command)
    };
    invocation.run(session)
}

/// Everything wrong with the phases, in the user's words.
fn problems(lowered: &Lowered) -> Vec<Diagnostic> {
    let plan = Plan {
        hosts: lowered.systems.count(),
        targets: lowered.targets.clone(),
        phases: lowered.runs.iter().flat_map(LoweredRun::phases).cloned().collect(),
        ..Plan::default()
    };
    let problems = candor_plan::check::check(&plan);
    if candor_plan::check::can_run(&problems) {
        Vec::new()
    } else {
        problems.iter().map(|problem| lowered.origins.diagnostic(problem)).collect()
    }
}

/// The columns that are asked for.
fn layout() -> Result<Layout, String> {
    match std::env::var(LAYOUT).as_deref() {
        Ok("50406") => Ok(Layout::V50406),
        Ok("50407" | "") | Err(_) => Ok(Layout::V50407),
        Ok(other) => Err(format!("{LAYOUT}={other} is no version; use 50406 or 50407")),
    }
}

/// Paths and names of the luns.
fn luns(lowered: &Lowered) -> Vec<(String, String)> {
    lowered.targets.iter().map(|target| (target.path.text(), target.name.clone())).collect()
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
        directory: pages.directory().text(),
        luns: Vec::new(),
        is_of_files: reading.file.is_of_files(),
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
    if file.is_of_files() {
        Box::new(FileSheet { used: used_operations(file), is_decimal })
    } else {
        Box::new(LunSheet { layout, is_decimal })
    }
}

/// Lists the runs.
fn simulate(reading: &Reading, lowered: &Lowered, mut written: Written) -> u8 {
    written.remark(reading);
    // Of luns, only a look at them tells what must be filled.
    for run in lowered.runs.iter().filter(|run| !run.is_format || run.files.is_some()) {
        let rate = match run.rate {
            Some(RunRate::OfCurve(percent) | RunRate::OfPrevious(percent)) => {
                Some(SIMULATED_MAX * percent / 100.0)
            }
            _ => None,
        };
        written.book.begin(run, rate, &Now::here());
    }
    written.book.close(true, &Now::here());
    let console = written.drain();
    COMPLAINTS.done(screen::data(&console).and(written.pages.undelivered()))
}

/// The book, and where its pages go.
struct Written {
    book: Book,
    pages: Pages,
}

impl Written {
    /// Tells of places that are perhaps not read as they are meant.
    fn remark(&mut self, reading: &Reading) {
        for remark in &reading.remarks {
            self.book.warn(&Now::here(), &remark.describe(&reading.texts));
        }
    }

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
    written: Written,
    shared: Shared,
    /// Index of the run under way.
    current: usize,
    /// The file that ends runs.
    monitor: Option<MonitorFile>,
    /// That file has ended the run under way: none of its parts goes on.
    is_ending: bool,
}

impl Run<'_> {
    /// The order of the runs.
    fn driver(&self) -> Driver {
        let general = &self.reading.file.general().options;
        let drive = Drive {
            runs: self.runs.clone(),
            repeat: self.reading.options.repeat.or(general.repeat),
            start: general.start.clone(),
            end: general.end.clone(),
            directory: self.written.pages.directory().text(),
            shared: self.shared.clone(),
        };
        Box::new(|run| drive.drive(run))
    }

    /// A run begins, or a further part of its format.
    fn phase_started(&mut self, now: &Now) {
        let begun = self.shared.state().begun.pop_front();
        let Some((index, rate)) = begun else {
            if self.is_ending {
                self.end_phase();
            }
            return;
        };
        (self.current, self.is_ending) = (index, false);
        let (Some(run), book) = (self.runs.get(index), &mut self.written.book) else {
            return;
        };
        book.begin(run, rate, now);
        anchors::begin(run, now).iter().for_each(|sentence| book.error(now, sentence));
    }

    /// A run has ended, or a part of its format.
    fn phase_done(&mut self, record: &PhaseRecord, now: &Now) {
        let book = &mut self.written.book;
        if book.corruptions(record, now) > 0 {
            data_errors(book, self.reading, &self.shared, record, now);
        }
        failed(record).for_each(|sentence| book.error(now, &sentence));
        let Some(run) = self.runs.get(self.current) else { return };
        // The first parts of a format belong to the run of its last one.
        if run.phase.name != record.name {
            return book.part(record);
        }
        for sentence in without_files(run, record) {
            book.error(now, &sentence);
            self.shared.state().failures.push(sentence);
        }
        anchors::end(run);
        self.shared.ended(book.end(record, now));
    }

    /// Does what the file that ends runs asks for.
    fn look_at_monitor(&mut self, now: &Now) {
        let Some((word, ends)) = self.monitor.as_ref().and_then(MonitorFile::take) else { return };
        let book = &mut self.written.book;
        book.say(now, &format!("monitor= asks for {word}: this run ends with this interval."));
        self.is_ending = true;
        self.shared.state().ends_all |= ends == Ends::All;
        self.end_phase();
    }

    fn failures(&self, report: &Report) -> Vec<String> {
        let mut sentences: Vec<String> = report.phases.iter().flat_map(failed).collect();
        if sentences.is_empty() {
            sentences.extend(report.cut_short.clone());
        }
        let state = self.shared.state();
        sentences.extend(state.failures.iter().chain(&state.ended_early).cloned());
        sentences
    }

    fn exit_code(&self, report: &Report) -> u8 {
        let has_failed = |phase: &PhaseRecord| {
            failed(phase).next().is_some() || phase.measurements.iter().any(is_corrupt)
        };
        let state = self.shared.state();
        let failed = report.phases.iter().any(has_failed)
            || report.cut_short.is_some()
            || state.has_failed
            || !state.failures.is_empty();
        match (report.interrupted, failed) {
            (true, _) => INTERRUPTED,
            (false, true) => FAILED,
            (false, false) => 0,
        }
    }

    fn end_phase(&self) {
        if let Some(control) = &self.shared.state().control {
            control.send(Command::EndPhase);
        }
    }
}

impl Session for Run<'_> {
    fn begin(&mut self) -> Result<Start, String> {
        let path = &self.reading.file.general().options.monitor;
        self.monitor = path.as_deref().map(MonitorFile::open).transpose()?;
        let (written, now) = (&mut self.written, Now::here());
        let version = env!("CARGO_PKG_VERSION");
        written.book.say(&now, &format!("Vdbench distribution: candor {version}"));
        for word in self.reading.options.command.iter().skip(1) {
            written.book.say(&now, &format!("input argument scanned: '{word}'"));
        }
        written.remark(self.reading);
        for note in &self.notes {
            let place = note.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
            written.book.log(&now, &format!("{place}{}, {}", note.did, note.why));
        }
        if let Some(path) = path {
            written.book.say(&now, &format!("{path} is read at the end of each interval."));
        }
        Ok(Start { output: written.drain().into(), files: Vec::new() })
    }

    fn on(&mut self, event: &Event) -> Output {
        let now = Now::here();
        commands(&mut self.written.book, &self.shared, &now);
        match event {
            Event::PhaseStarted { .. } => self.phase_started(&now),
            Event::Sampled { samples, hosts, .. } => {
                self.written.book.interval(samples, hosts, &now);
                self.look_at_monitor(&now);
            }
            Event::PhaseDone { record } => self.phase_done(record, &now),
            Event::Warned { sentence } => self.written.book.log(&now, sentence),
            _ => {}
        }
        self.written.drain().into()
    }

    fn finish(&mut self, report: &mut Report, ending: &Ending) -> Finish {
        report.notes.extend(self.notes.iter().cloned());
        let now = Now::here();
        commands(&mut self.written.book, &self.shared, &now);
        let early = self.shared.state().ended_early.clone();
        if let Some(sentence) = early.as_ref().or(report.cut_short.as_ref()) {
            self.written.book.error(&now, sentence);
        }
        let exit_code = self.exit_code(report);
        self.written.book.close(exit_code == 0, &now);
        let verdict = verdict::text(report, &[]);
        let mut results = self.written.drain();
        if ending.verdict_in == VerdictIn::Terminal {
            results += &verdict;
        }
        Finish {
            results,
            verdict,
            failures: failures::capped(COMPLAINTS.tool, self.failures(report)),
            files: Vec::new(),
            logs: Vec::new(),
            written: self.written.pages.undelivered(),
            exit_code,
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        let of = |problem: &Problem| match problem.rule {
            "held-device" => {
                self.origins.diagnostic(problem).remedy(failures::RELEASE_DEVICE.to_owned())
            }
            _ => self.origins.diagnostic(problem),
        };
        problems.iter().map(|problem| of(problem).describe(&self.reading.texts)).collect()
    }
}

/// Does what `data_errors=` asks for once a run has found corruptions.
fn data_errors(
    book: &mut Book,
    reading: &Reading,
    shared: &Shared,
    record: &PhaseRecord,
    now: &Now,
) {
    let asked = &reading.file.general().options.data_errors;
    shared.state().has_failed = true;
    let ended = record.measurements.iter().any(|job| is_corrupt(job) && job.ended == Ended::Failed);
    let limit = asked.command.clone().unwrap_or(asked.errors_max.to_string());
    if ended {
        let line =
            format!("'data_errors={limit}' requested. Abort rd={} after last error.", record.name);
        book.error(now, &line);
        // Below the limit the next run begins, and its errors are counted anew.
        shared.state().ends_all = true;
    }
    let command = asked.command.as_ref().filter(|command| !command.starts_with("stop"));
    let mut found = record.measurements.iter().filter_map(|job| job.verify.as_ref()?.first.first());
    let Some((command, first)) = command.zip(found.next()) else { return };
    let directory = std::env::current_dir().unwrap_or_default();
    let output = reading.options.output.as_deref().unwrap_or(DIRECTORY);
    let line = command
        .replace("$output", &directory.join(path_of(output)).text())
        .replace("$lun", &first.path)
        .replace("$lba", &first.read_offset.to_string())
        .replace("$size", &first.read_length.0.to_string());
    for said in super::drive::output_of(&line).lines() {
        book.say(now, said);
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
