//! The order of runs: rates that depend on earlier runs, repeats, and commands between runs.

use std::collections::VecDeque;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use candor_plan::path_text::word_of;
use candor_run::{Control, Run, Step, Stopped};
use candor_vdbench::definitions::commands::{CommandOutput, Commands};
use candor_vdbench::definitions::general::Repeat;
use candor_vdbench::lower::LoweredRun;
use candor_vdbench::output::RunResult;
use candor_vdbench::runs::RunRate;

/// How long the results of a run are waited for that has ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// Messages between the driver of the runs and the writer of their pages.
#[derive(Clone, Default)]
pub struct Shared(Arc<(Mutex<State>, Condvar)>);

/// The state of both.
#[derive(Default)]
pub struct State {
    /// Runs that begin: index and rate.
    pub begun: VecDeque<(usize, Option<f64>)>,
    /// Results of the runs that ended.
    pub results: Vec<RunResult>,
    /// Output of commands.
    pub said: Vec<(CommandOutput, String)>,
    /// Why the runs ended before the last.
    pub ended_early: Option<String>,
    /// True where that is a failure.
    pub has_failed: bool,
    /// Sentences about what went wrong while others went on.
    pub failures: Vec<String>,
    /// True once no further run is to begin, which is no failure.
    pub ends_all: bool,
    /// Commands to the run, once it goes on.
    pub control: Option<Control>,
}

impl Shared {
    /// The state.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the result of a run.
    pub fn ended(&self, result: RunResult) {
        self.state().results.push(result);
        self.0.1.notify_all();
    }

    /// The result of the run of that number, once it is there.
    fn result(&self, number: usize) -> RunResult {
        let state = self.state();
        let waited =
            self.0.1.wait_timeout_while(state, PATIENCE, |state| state.results.len() <= number);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.results.get(number).cloned().unwrap_or_default()
    }
}

/// The runs, and all that orders them.
pub struct Drive {
    pub runs: Arc<Vec<LoweredRun>>,
    pub repeat: Option<Repeat>,
    pub start: Option<Commands>,
    pub end: Option<Commands>,
    /// Directory of the results, for commands.
    pub directory: String,
    pub shared: Shared,
}

/// Rates that later runs depend on.
#[derive(Default)]
struct Reached {
    /// Of the last run as fast as possible.
    max: f64,
}

impl Drive {
    /// Runs all.
    pub fn drive(self, run: &mut Run) -> Result<(), Stopped> {
        let clock = Instant::now();
        self.shared.state().control = Some(run.control().clone());
        self.commands(self.start.as_ref());
        let (mut number, mut round) = (0, 0_u64);
        let mut ended = Ok(true);
        loop {
            ended = ended.and_then(|_| self.round(run, round == 0, &mut number));
            round += 1;
            let goes_on = match self.repeat {
                None => false,
                Some(Repeat::Endless) => true,
                Some(Repeat::Times(times)) => round < times,
                Some(Repeat::Seconds(seconds)) => clock.elapsed() < Duration::from_secs(seconds),
            };
            if !goes_on || !matches!(ended, Ok(true)) {
                break;
            }
        }
        self.commands(self.end.as_ref());
        ended.map(|_| ())
    }

    /// Runs all once; false where the rest is left out.
    fn round(&self, run: &mut Run, is_first: bool, number: &mut usize) -> Result<bool, Stopped> {
        let mut reached = Reached::default();
        for (index, lowered) in self.runs.iter().enumerate() {
            if lowered.is_format && !is_first {
                continue;
            }
            let rate = match lowered.rate {
                Some(RunRate::Fixed(rate)) => Some(rate),
                Some(RunRate::OfCurve(percent) | RunRate::OfPrevious(percent)) => {
                    Some(rounded(reached.max * percent / 100.0))
                }
                _ => None,
            };
            let phase = match rate {
                Some(rate) => lowered.at_rate(rate),
                None => lowered.phase.clone(),
            };
            self.commands(lowered.start.as_ref());
            self.shared.state().begun.push_back((index, rate));
            for before in lowered.before() {
                run.phase(Step::Added(before))?;
            }
            // Nobody asks whether a format of luns can be believed.
            let is_asked = !lowered.is_format || lowered.files.is_some();
            run.phase(if is_asked { Step::Added(&phase) } else { Step::Search(&phase) })?;
            let result = self.shared.result(*number);
            *number += 1;
            self.commands(lowered.end.as_ref());
            if matches!(lowered.rate, Some(RunRate::Max | RunRate::CurveMax)) {
                reached.max = result.rate;
            }
            if !self.goes_on(lowered, &result) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// False where a run ends all.
    fn goes_on(&self, lowered: &LoweredRun, result: &RunResult) -> bool {
        if let Some(sentence) = &result.failed_skew {
            let mut state = self.shared.state();
            (state.ended_early, state.has_failed) = (Some(sentence.clone()), true);
            return false;
        }
        if self.shared.state().ends_all {
            return false;
        }
        let is_point = matches!(lowered.rate, Some(RunRate::OfCurve(_)));
        let limit = lowered.curve_stop_ms.filter(|limit| is_point && result.response_ms > *limit);
        if let Some(limit) = limit {
            let sentence = format!(
                "the response time of {:.3} ms is above stopcurve={limit}: the curve ends",
                result.response_ms
            );
            self.shared.state().ended_early = Some(sentence);
            return false;
        }
        true
    }

    /// Runs commands, one after another.
    fn commands(&self, commands: Option<&Commands>) {
        let Some(commands) = commands else { return };
        for line in &commands.lines {
            let line = line.replace("$output", &self.directory);
            self.shared.state().said.push((commands.output, output_of(&line)));
        }
    }
}

/// Runs a command of the shell; how it ended and what it said.
pub fn output_of(line: &str) -> String {
    match Command::new("sh").arg("-c").arg(word_of(line)).output() {
        Ok(done) => {
            let text = [done.stdout, done.stderr]
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            format!("Command `{line}` ended with {}\n{}", done.status, text.concat())
        }
        Err(error) => format!("Command `{line}` could not be started: {error}\n"),
    }
}

/// A rate as vdbench rounds it: up to hundreds, and below a thousand up to tens.
fn rounded(rate: f64) -> f64 {
    let unit = if rate > 1000.0 { 100.0 } else { 10.0 };
    ((rate / unit).ceil() * unit).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_up() {
        let of = |rates: &[f64]| rates.iter().map(|rate| rounded(*rate)).collect::<Vec<_>>();
        assert_eq!(of(&[1234.0, 1200.0, 999.0, 41.0, 0.0]), [1300.0, 1200.0, 1000.0, 50.0, 1.0]);
    }

    #[test]
    fn results_are_waited_for() {
        let shared = Shared::default();
        let other = shared.clone();
        let result = RunResult { rate: 7.0, ..RunResult::default() };
        let ended = result.clone();
        let thread = std::thread::spawn(move || other.ended(ended));
        assert_eq!(shared.result(0), result);
        thread.join().expect("ended");
    }
}
