//! The live screen of a run, or the line of progress where there is no room for one.

use std::time::{Duration, Instant};

use candor_live::{Action, RunScreen, Screen, Session};
use candor_record::{Event, Report};
use candor_run::{Command, Control};
use candor_show::progress::Line;
use rustix::process::{Signal, getpid, kill_process};

use crate::output::Output;
use crate::screen;

/// Longest sleep between two looks at whether to go on.
const STEP: Duration = Duration::from_millis(20);

/// A consumer of events that shows how a run goes on: on the terminal as a screen, where there is
/// one with the room; else in a line on stderr.
pub fn progress(output: &Output) -> impl FnMut(&Event) + Send + use<> {
    let mut shown = Shown::new(output);
    move |event| shown.on(event)
}

/// A run as it is shown.
struct Shown {
    session: Option<Session<RunScreen>>,
    line: Option<Line>,
    begun: Instant,
    /// Warnings, which go with the screen and are told once more after it.
    warnings: Vec<String>,
}

impl Shown {
    fn new(output: &Output) -> Shown {
        let wanted = !output.quiet && !output.no_live && !output.streams_to_stdout();
        let start = || start(RunScreen::default(), output, 1.0, |Action::End| interrupt());
        let session = if wanted { start() } else { None };
        // A log on stderr does not disturb a screen on stdout.
        let line = !output.quiet && (session.is_none() || !screen::is_read_by_a_person());
        Shown {
            session,
            line: line.then(screen::progress_line),
            begun: Instant::now(),
            warnings: Vec::new(),
        }
    }

    fn on(&mut self, event: &Event) {
        if let Some(session) = &self.session {
            session.change(|screen, now_ns| screen.on(event, now_ns));
        }
        match &mut self.line {
            Some(line) => {
                // Half a millennium of nanoseconds fits.
                let now_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
                screen::tell_renewed(&line.on(event, now_ns));
            }
            None => {
                if let (Some(_), Event::Warned { sentence }) = (&self.session, event) {
                    self.warnings.push(sentence.clone());
                }
            }
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.session = None;
        self.warnings.drain(..).for_each(screen::tell_later);
    }
}

/// Puts a screen on the terminal, where there is one with the room. A second interrupt, which ends
/// the process at once, gives the terminal back too, and so does Ctrl-Z until the process goes on.
pub fn start<S: Screen + 'static>(
    screen: S,
    output: &Output,
    speed: f64,
    act: impl FnMut(Action) + Send + 'static,
) -> Option<Session<S>> {
    screen::room()?;
    candor_run::before_exit(candor_live::restore);
    candor_run::around_stop(candor_live::suspend, candor_live::resume);
    Session::start(screen, output.color.on(true), speed, act).ok()
}

/// Interrupts the run, as Ctrl-C does: the first time for a partial result, the second at once.
fn interrupt() {
    // Sending a signal to itself is always allowed.
    let _ = kill_process(getpid(), Signal::INT);
}

/// Plays the events of a stored report on the screen, so many times as fast as they came. The last
/// of them stays until the user ends it.
pub fn replay(report: &Report, output: &Output, speed: f64) -> Result<(), String> {
    let control = candor_run::interrupts();
    let end = end_by(&control);
    let Some(session) = start(RunScreen::of_replay(), output, speed, end) else {
        return Err("--live draws on a terminal of 80 columns and 24 rows, and stdout is none; \
                    leave --live out for the report as text"
            .to_owned());
    };
    let mut events = candor_derive::replay(report).into_iter().peekable();
    while !control.is_over() {
        let now_ns = session.now_ns();
        while let Some((at_ns, event)) = events.next_if(|(at_ns, _)| *at_ns <= now_ns) {
            session.change(|screen, _| screen.on(&event, at_ns));
        }
        std::thread::sleep(STEP);
    }
    Ok(())
}

/// Ends what looks at a control.
pub fn end_by(control: &Control) -> impl FnMut(Action) + Send + 'static + use<> {
    let control = control.clone();
    move |Action::End| {
        control.send(Command::Stop);
    }
}
