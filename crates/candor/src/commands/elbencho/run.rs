//! Runs the phases and delivers what they gave.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use candor_dialects::elbencho::options::Reading;
use candor_dialects::elbencho::output::{self, Notes, PhaseResult};
use candor_dialects::elbencho::plan::Lowered;
use candor_dialects::elbencho::setup::PathKind;
use candor_dialects::kit::verdict;
use candor_fleet::FleetOptions;
use candor_plan::Problem;
use candor_record::{Ended, Event, Measurement, PhaseRecord, Report};
use candor_run::{HostOptions, Options};

use super::files::{self, ResultFiles};
use super::live::{self, LiveOutput};
use super::{COMPLAINTS, WRONG, hosts};
use crate::commands::foreign::failures::reason;
use crate::commands::foreign::monitor::Requests;
use crate::commands::foreign::verdict::VerdictIn;
use crate::commands::foreign::{self, Foreign, Place};
use crate::screen;

/// The variable that lets a device be written that others hold.
const FORCE: &str = "CANDOR_FORCE";

/// Runs the phases, and gives the exit code.
pub fn main(reading: &Reading, lowered: &Lowered) -> u8 {
    let asked = &lowered.setup.asked;
    let insists = std::env::var_os(FORCE).is_some_and(|value| value == "1");
    let devices = insists && lowered.setup.path_kind == PathKind::BlockDevice;
    let force = if devices { asked.paths.clone() } else { Vec::new() };
    let host = HostOptions { force, at_once: true, ..HostOptions::default() };
    let options = Options { command: asked.command.clone(), ..Options::default() };
    let opened = files::check(&lowered.setup).and_then(|()| LiveOutput::open(lowered));
    let live = match opened {
        Ok(live) => live,
        Err(sentence) => {
            COMPLAINTS.sentence(&sentence);
            return WRONG;
        }
    };
    let files = ResultFiles::new(&lowered.setup);
    let (live, notes) = (RefCell::new(live), Notes::default());
    let run = &mut Run { reading, lowered, live, files, notes, begun: 0 };
    let place = match hosts::fleet(&asked.hosts) {
        Ok(Some((identity, fleet))) => {
            Place::Fleet(identity, FleetOptions { force: host.force, ..fleet })
        }
        Ok(None) => Place::Here(host),
        Err(sentence) => {
            COMPLAINTS.sentence(&sentence);
            return WRONG;
        }
    };
    foreign::run_on(run, &lowered.plan, (options, place))
}

/// A run of the phases.
struct Run<'a> {
    reading: &'a Reading,
    lowered: &'a Lowered,
    live: RefCell<LiveOutput<'a>>,
    files: ResultFiles<'a>,
    /// Differences from elbencho's figures in the results so far.
    notes: Notes,
    /// Repeats of all phases that have begun.
    begun: u32,
}

impl Foreign for Run<'_> {
    const NAME: &'static str = "elbencho";
    const WRONG: u8 = WRONG;

    fn output_file(&self) -> Option<&Path> {
        None
    }

    fn requests(&self) -> Requests {
        let asked = &self.lowered.setup.asked.output;
        let of_workers = asked.live_csv_extended;
        let interval = Duration::from_millis(asked.live_interval_ms);
        Requests { interval: of_workers.then_some(interval), ..Requests::default() }
    }

    fn preamble(&self) -> String {
        String::new()
    }

    fn begin(&mut self) -> Result<(), String> {
        screen::data(&self.live.get_mut().head()?)
    }

    fn on(&mut self, event: &Event) -> String {
        let lines = self.live.get_mut().on(event);
        match event {
            Event::PhaseStarted { index: 0, .. } => lines + &self.repeat_begins(),
            Event::PhaseDone { record } => lines + &self.phase_done(record),
            _ => lines,
        }
    }

    fn interim(&self, report: &Report) -> String {
        self.live.borrow_mut().workers(report)
    }

    fn end(&mut self) {}

    fn complete(&mut self, report: &mut Report) {
        report.notes.extend(self.lowered.notes.iter().cloned());
    }

    fn write_files(&self, _: &Report) -> Result<(), String> {
        self.files.end(&self.notes)
    }

    fn results(&self, report: &Report, verdict_in: VerdictIn) -> String {
        let mut text = self.notes.text();
        if verdict_in == VerdictIn::Terminal {
            text += &self.verdict(report);
        }
        self.aside(text)
    }

    fn verdict(&self, report: &Report) -> String {
        verdict::text(report, &[])
    }

    fn failures(&self, report: &Report) -> String {
        let failed = report.phases.iter().flat_map(|phase| {
            let failed = phase.measurements.iter().filter(|measured| has_failed(measured));
            failed.map(move |measured| format!("{}: {}", phase.name, why(measured)))
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
        let sentence = |problem: &Problem| format!("{}; {}", problem.message, self.remedy(problem));
        COMPLAINTS.sentences(&problems.iter().map(sentence).collect::<Vec<_>>());
    }
}

impl Run<'_> {
    /// Text for standard output; where live figures take that, it goes to stderr.
    fn aside(&self, text: String) -> String {
        if live::takes_stdout(&self.lowered.setup) {
            screen::tell(&text);
            String::new()
        } else {
            text
        }
    }

    /// The head of the table of a repeat.
    fn repeat_begins(&mut self) -> String {
        self.begun += 1;
        let iterations = self.lowered.setup.asked.run.iterations;
        let which = match iterations {
            1 => String::new(),
            all => format!("[Starting iteration {} of {all}...]\n", self.begun),
        };
        self.aside(which + output::HEADER)
    }

    /// Adds the result of a phase to the result files, and gives its rows of the table; a phase
    /// that failed has none.
    fn phase_done(&mut self, record: &PhaseRecord) -> String {
        let Lowered { setup, phases, .. } = self.lowered;
        let Some(bench) = phases.get(record.phase) else { return String::new() };
        if record.measurements.iter().any(has_failed) {
            return String::new();
        }
        let result = PhaseResult::of(setup, bench, record);
        self.notes.add(&result);
        self.files.add(&result, record.repeat);
        let is_over = record.measurements.iter().any(|job| job.ended == Ended::Time);
        let end = if is_over { "Terminating due to phase time limit.\n" } else { "" };
        self.aside(result.table() + end)
    }

    /// A remedy in words of this command line; those of plans speak of keys.
    fn remedy(&self, problem: &Problem) -> String {
        match problem.rule {
            "held-device" => {
                format!("release it first, or insist with {FORCE}=1 in the environment")
            }
            _ => format!("see `candor options {}`", self.reading_name()),
        }
    }

    fn reading_name(&self) -> &str {
        candor_dialects::kit::Scope::name(self.reading)
    }
}

/// Why a job failed; of corrupt data, the place of the first wrong byte in its file.
fn why(measured: &Measurement) -> String {
    let first = measured.verify.as_ref().and_then(|verify| verify.first.first());
    match first.and_then(|found| Some((found, found.wrong_byte?))) {
        Some((found, byte)) if measured.errors.is_empty() => format!(
            "Data verification failed. Offset: {}; Expected value: {}; Actual value: {}; {}",
            found.offset + byte.at,
            byte.expected,
            byte.found,
            reason(measured)
        ),
        _ => reason(measured),
    }
}

fn has_failed(measured: &Measurement) -> bool {
    matches!(measured.ended, Ended::Failed | Ended::Stalled)
}
