//! Live figures of the phases: on the terminal, and in files or on stdout.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;

use candor_dialects::elbencho::output::Moment;
use candor_dialects::elbencho::output::live::{self, Interval, Live};
use candor_dialects::elbencho::plan::Lowered;
use candor_dialects::elbencho::setup::Setup;
use candor_record::{Event, Report};

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
    active: u32,
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
                    return self.interval(&interval);
                }
            }
            Event::PhaseDone { .. } => {
                self.phase = None;
                if self.terminal == Terminal::Line {
                    screen::tell_renewed("\r\x1b[K");
                }
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
        self.phase = Some(Running { live: Live::new(setup, bench), active });
    }

    fn interval(&mut self, interval: &Interval) -> String {
        let Some(phase) = &self.phase else { return String::new() };
        let now = Moment::now();
        match self.terminal {
            Terminal::None => {}
            Terminal::Line => {
                screen::tell_renewed(&format!("\r\x1b[K{}", phase.live.line(interval)));
            }
            Terminal::Lines => screen::tell(&format!("{}\n", phase.live.line(interval))),
        }
        delivered(self.csv.as_mut().map(|csv| csv.put(phase.live.csv(interval, &now))))
    }

    /// Takes results so far, which have figures of each worker, and gives the lines for standard
    /// output.
    pub fn workers(&mut self, report: &Report) -> String {
        let (Some(phase), Some(record)) = (&self.phase, report.phases.last()) else {
            return String::new();
        };
        let asked = &self.lowered.setup.asked.output;
        let jobs = &record.measurements;
        let workers: Vec<_> = jobs.iter().flat_map(|job| job.per_worker.iter().copied()).collect();
        let now = Moment::now();
        let csv = self.csv.as_mut().filter(|_| asked.live_csv_extended);
        delivered(csv.map(|csv| csv.put(phase.live.worker_csv(&workers, &now))))
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
        let path = Path::new(name);
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
