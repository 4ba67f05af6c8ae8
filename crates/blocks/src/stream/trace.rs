//! Replay of a trace: its steps in order, and again from the start.

use std::sync::Arc;

use candor_engine::gates::pace::Timetable;
use candor_plan::blocks::TraceFile;
use candor_plan::rank::Seat;
use candor_plan::trace::{Step, Trace};
use candor_plan::{Bytes, PathText};

/// Reads the file of a trace, unless the plan already holds its steps.
///
/// # Errors
/// A message with the file, and the line where there is one.
pub fn load(plan: &TraceFile) -> Result<Arc<Trace>, String> {
    if let Some(trace) = &plan.trace {
        return Ok(trace.clone());
    }
    let name = plan.file.text();
    let text = std::fs::read_to_string(&plan.file)
        .map_err(|cause| format!("cannot read the trace `{name}`: {cause}"))?;
    Trace::read(&name, &text).map(Arc::new)
}

/// Checks that every step lies within a file of the job.
///
/// # Errors
/// A message about the first step that does not.
pub fn check_fit(trace: &Trace, sizes: &[u64]) -> Result<(), String> {
    for (index, step) in trace.steps().iter().enumerate() {
        let nth = index + 1;
        let Some(size) = sizes.get(step.file as usize) else {
            let (file, files) = (step.file, sizes.len());
            return Err(format!("step {nth} of the trace is for file {file} of {files}, from 0"));
        };
        if step.end() > *size {
            let (offset, length) = (Bytes(step.offset), Bytes(step.length.into()));
            return Err(format!(
                "step {nth} of the trace: {offset} + {length} lies beyond the target's {}",
                Bytes(*size)
            ));
        }
    }
    Ok(())
}

/// Cursor of a worker in a trace: every `of`-th step, beginning with its rank's.
#[derive(Clone)]
pub struct Cursor {
    trace: Arc<Trace>,
    at: usize,
    step: usize,
    /// Start of the present pass over the trace: its first step is due together with the last step
    /// of the pass before.
    since_ns: u64,
}

impl Cursor {
    /// Cursor of one seat.
    pub fn new(trace: Arc<Trace>, seat: Seat) -> Cursor {
        let at = seat.seat as usize % trace.steps().len();
        Cursor { trace, at, step: seat.seats as usize, since_ns: 0 }
    }

    /// Next step.
    #[inline]
    pub fn next_step(&mut self) -> Step {
        let steps = self.trace.steps();
        let step = steps[self.at];
        self.at += self.step;
        if self.at >= steps.len() {
            self.at %= steps.len();
            let ends = steps.first().zip(steps.last());
            self.since_ns += ends.map_or(0, |(first, last)| last.at_ns - first.at_ns);
        }
        step
    }

    /// Time at which the next step is due, in ns since the start.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        self.since_ns + self.trace.steps()[self.at].at_ns
    }
}

impl Timetable for Cursor {
    fn due_ns(&self) -> u64 {
        self.due_ns()
    }

    fn step(&mut self) {
        self.next_step();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(rank: u64, of: u64) -> Cursor {
        let text = "read 0 1 0 1ms\nread 1 1 0 2ms\nfsync 0 0 0 4ms\n";
        let trace = Trace::read("t", text).expect("a trace");
        Cursor::new(Arc::new(trace), Seat::one_of(rank, of))
    }

    #[test]
    fn steps_come_in_order_and_again_later() {
        let mut cursor = cursor(0, 1);
        let mut seen = Vec::new();
        for _ in 0..5 {
            let due_ns = cursor.due_ns();
            seen.push((due_ns / 1_000_000, cursor.next_step().offset));
        }
        assert_eq!(seen, [(1, 0), (2, 1), (4, 0), (4, 0), (5, 1)]);
    }

    #[test]
    fn workers_take_turns() {
        let mut second = cursor(1, 2);
        assert_eq!((second.next_step().offset, second.next_step().offset), (1, 0));
        assert_eq!(second.due_ns(), 7_000_000);
    }

    #[test]
    fn steps_lie_within_their_files() {
        let fits =
            |text: &str, sizes: &[u64]| check_fit(&Trace::read("t", text).expect("a trace"), sizes);
        assert_eq!(fits("read 0 4k\nwrite 4k 4k 1", &[4096, 8192]), Ok(()));
        let message = "step 2 of the trace: 4KiB + 4KiB lies beyond the target's 4KiB";
        assert_eq!(fits("read 0 4k\nwrite 4k 4k 1", &[4096, 4096]), Err(message.into()));
        let message = "step 1 of the trace is for file 1 of 1, from 0";
        assert_eq!(fits("read 0 4k 1", &[4096]), Err(message.into()));
    }
}
