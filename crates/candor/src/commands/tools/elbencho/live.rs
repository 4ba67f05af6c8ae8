//! Live figures of the phases: on the terminal, and in files or on stdout.

use std::fs::File;
use std::io::{IsTerminal, Write};

use candor_elbencho::output::Moment;
use candor_elbencho::output::live::{self, Interval, Live, WorkerSoFar};
use candor_elbencho::plan::Lowered;
use candor_elbencho::setup::Setup;
use candor_plan::path_of;
use candor_record::{Event, Measurement, Report, WorkerStats};

use crate::screen;

/// Name of a file that stands for standard output.
const STDOUT: &str = "stdout";

/// Consumer of events that writes live figures.
pub struct LiveOutput<'a> {
    lowered: &'a Lowered,
    terminal: Terminal,
    csv: Option<Sink>,
    phase: Option<Running<'a>>,
}

/// The phase that runs.
struct Running<'a> {
    live: Live<'a>,
    index: usize,
    active: u32,
    /// An interval whose figures of workers are still to come.
    waiting: Option<Interval>,
    /// Figures of workers whose interval is still to come.
    workers: Option<Vec<WorkerSoFar>>,
}

/// How live figures stand on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terminal {
    /// Not at all.
    None,
    /// On a line that is overwritten.
    Line,
    /// On a new line each.
    Lines,
}

/// A file that lines are added to, or standard output.
enum Sink {
    Stdout,
    File(File),
}

/// True where lines of live figures take standard output, and everything else goes to stderr.
pub fn takes_stdout(setup: &Setup) -> bool {
    setup.asked.output.live_csv_file.as_deref() == Some(STDOUT)
}

impl<'a> LiveOutput<'a> {
    /// Opens what was asked for.
    ///
    /// # Errors
    /// A sentence, for a file that cannot be opened.
    pub fn open(lowered: &'a Lowered) -> Result<LiveOutput<'a>, String> {
        let asked = &lowered.setup.asked.output;
        let terminal = match (asked.no_live, asked.live_lines) {
            (true, _) => Terminal::None,
            (false, true) => Terminal::Lines,
            (false, false) if asked.live_line || std::io::stderr().is_terminal() => Terminal::Line,
            (false, false) => Terminal::None,
        };
        let csv = asked.live_csv_file.as_deref().map(Sink::open).transpose()?;
        Ok(LiveOutput { lowered, terminal, csv, phase: None })
    }

    /// The head of the CSV where it goes to standard output; a new file has it at once.
    ///
    /// # Errors
    /// A sentence, for a file that cannot be written.
    pub fn head(&mut self) -> Result<String, String> {
        match &mut self.csv {
            Some(csv) if csv.is_new() => csv.put(live::header()),
            _ => Ok(String::new()),
        }
    }

    /// Takes an event, and gives the lines for standard output. Files that cannot be written on the
    /// way get no further lines: the result is worth more.
    pub fn on(&mut self, event: &Event) -> String {
        match event {
            Event::PhaseStarted { index, .. } => self.begin(*index),
            Event::WorkerDone { .. } => {
                if let Some(phase) = &mut self.phase {
                    phase.active = phase.active.saturating_sub(1);
                }
            }
            Event::Sampled { samples, hosts, in_ramp: false, .. } => {
                if let Some(phase) = &mut self.phase {
                    let interval = phase.live.add(samples, hosts, phase.active);
                    return self.interval(interval);
                }
            }
            Event::PhaseDone { .. } => {
                let waiting = self.phase.as_mut().and_then(|phase| phase.waiting.take());
                let lines = waiting.map(|interval| self.csv(&interval, &[]));
                self.phase = None;
                if self.terminal == Terminal::Line {
                    screen::tell_renewed("\r\x1b[K");
                }
                return lines.unwrap_or_default();
            }
            _ => {}
        }
        String::new()
    }

    fn begin(&mut self, index: usize) {
        let Lowered { setup, phases, plan, .. } = self.lowered;
        let (Some(bench), Some(planned)) = (phases.get(index), plan.phases.get(index)) else {
            return;
        };
        let active = planned.jobs.iter().map(|job| job.workers).sum();
        let live = Live::new(setup, bench);
        self.phase = Some(Running { live, index, active, waiting: None, workers: None });
    }

    fn interval(&mut self, interval: Interval) -> String {
        let Some(phase) = &mut self.phase else { return String::new() };
        match self.terminal {
            Terminal::None => {}
            Terminal::Line => {
                screen::tell_renewed(&format!("\r\x1b[K{}", phase.live.line(&interval)));
            }
            Terminal::Lines => screen::tell(&format!("{}\n", phase.live.line(&interval))),
        }
        if !self.lowered.setup.asked.output.live_csv_extended {
            return self.csv(&interval, &[]);
        }
        if let Some(workers) = phase.workers.take() {
            return self.csv(&interval, &workers);
        }
        let earlier = phase.waiting.replace(interval);
        earlier.map_or(String::new(), |interval| self.csv(&interval, &[]))
    }

    fn csv(&mut self, interval: &Interval, workers: &[WorkerSoFar]) -> String {
        let Some(phase) = &self.phase else { return String::new() };
        delivered(
            self.csv.as_mut().map(|csv| csv.put(phase.live.csv(interval, workers, &Moment::now()))),
        )
    }

    /// Takes results so far, which have figures of each worker, and gives the lines for standard
    /// output.
    pub fn workers(&mut self, report: &Report) -> String {
        let (Some(phase), Some(record)) = (&mut self.phase, report.phases.last()) else {
            return String::new();
        };
        let planned = self.lowered.plan.phases.get(phase.index);
        let first_of = |name: &str| {
            let job = planned.and_then(|phase| phase.jobs.iter().find(|job| job.name == name));
            job.and_then(|job| job.part).map_or(0, |part| part.first as u32)
        };
        let of_job = |job: &Measurement| {
            let first = first_of(&job.job);
            let of = |stats: &WorkerStats| WorkerSoFar::of(&job.job, first, stats);
            job.per_worker.iter().map(of).collect::<Vec<_>>()
        };
        let mut workers: Vec<WorkerSoFar> = record.measurements.iter().flat_map(of_job).collect();
        workers.sort_by_key(|worker| worker.rank);
        match phase.waiting.take() {
            Some(interval) => self.csv(&interval, &workers),
            None => {
                phase.workers = Some(workers);
                String::new()
            }
        }
    }
}

/// Lines for standard output; a file that cannot be written is told of.
fn delivered(put: Option<Result<String, String>>) -> String {
    let put = put.map(|put| put.inspect_err(|sentence| complain(sentence)));
    put.and_then(Result::ok).unwrap_or_default()
}

fn complain(sentence: &str) {
    screen::tell(&format!("elbencho: {sentence}\n"));
}

impl Sink {
    fn open(name: &str) -> Result<Sink, String> {
        if name == STDOUT {
            return Ok(Sink::Stdout);
        }
        let path = &path_of(name);
        let claimed = candor_files::claim(path).map_err(std::io::Error::from);
        let opened = claimed.and_then(|()| candor_files::append(path));
        opened.map(Sink::File).map_err(|error| format!("{name} cannot be opened: {error}"))
    }

    /// True where nothing was written before.
    fn is_new(&self) -> bool {
        match self {
            Sink::Stdout => true,
            Sink::File(file) => file.metadata().is_ok_and(|metadata| metadata.len() == 0),
        }
    }

    /// Adds lines to a file, or gives them back for standard output.
    fn put(&mut self, lines: String) -> Result<String, String> {
        match self {
            Sink::Stdout => Ok(lines),
            Sink::File(file) => match file.write_all(lines.as_bytes()) {
                Ok(()) => Ok(String::new()),
                Err(error) => Err(format!("live figures cannot be written: {error}")),
            },
        }
    }
}
