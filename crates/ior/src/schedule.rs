//! The order of phases: counts that a deadline left, times after which no phase begins, errors that
//! keep files.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use candor_front::Schedule;
use candor_front::schedule::{Kept, NextPhase};
use candor_front::session::FileText;
use candor_plan::{Plan, Stop};
use candor_record::{Measurement, PhaseRecord};

use super::options::EndOptions;
use super::plan::{Lowered, PhaseKind, TestPhase};

/// The phases of a plan.
pub struct Phases {
    phases: Vec<TestPhase>,
    tests: Vec<Rules>,
    /// Bytes of the files after each phase.
    sizes: Sender<Option<u64>>,
    /// Index of the next phase.
    next: usize,
    state: State,
}

/// Options of a test that decide over its phases.
struct Rules {
    ends: EndOptions,
    keep_with_error: bool,
}

/// Events of the current test.
struct State {
    began: Instant,
    /// Transfers of each task after which reads end; none if no deadline ended a write.
    transfers: Option<u64>,
    /// Verification found errors in this repetition.
    has_errors: bool,
    /// A phase of this repetition ran.
    has_run: bool,
}

impl Phases {
    /// The phases of a plan. After each phase, the bytes of its files are sent.
    pub fn new(lowered: &Lowered, sizes: Sender<Option<u64>>) -> Phases {
        let tests = lowered.setup.tests.iter().map(|test| Rules {
            ends: test.options.ends.clone(),
            keep_with_error: test.options.run.keep_with_error,
        });
        let (phases, tests) = (lowered.phases.clone(), tests.collect());
        Phases { phases, tests, sizes, next: 0, state: State::new() }
    }
}

impl Schedule for Phases {
    fn next(&mut self, plan: &Plan) -> Option<NextPhase> {
        loop {
            let (index, phase) = (self.next, self.phases.get(self.next)?);
            self.next += 1;
            let before = index.checked_sub(1).map(|before| &self.phases[before]);
            if before.is_none_or(|before| before.test != phase.test) {
                self.state = State::new();
            } else if before.is_none_or(|before| before.repetition != phase.repetition) {
                self.state = State { began: self.state.began, ..State::new() };
            }
            if self.state.leaves_out(phase.kind, &self.tests[phase.test]) {
                continue;
            }
            let ends_early = matches!(phase.kind, PhaseKind::Check | PhaseKind::Read);
            let stop = self.state.transfers.filter(|_| ends_early).map(|count| {
                let of_plan = plan.phases[index].jobs[0].stop.clone().unwrap_or_default();
                let ops = of_plan.ops.map_or(count, |ops| ops.min(count));
                Stop { ops: Some(ops), ..of_plan }
            });
            return Some(NextPhase { index, stop });
        }
    }

    fn ran(&mut self, record: &PhaseRecord, file_bytes: Option<u64>) -> Option<Kept> {
        // If the results cannot be written, the session has ended.
        let _ = self.sizes.send(file_bytes);
        let phase = self.phases.get(record.phase)?;
        self.state.ran(phase.kind, record, &self.tests[phase.test])
    }
}

impl State {
    fn new() -> State {
        State { began: Instant::now(), transfers: None, has_errors: false, has_run: false }
    }

    /// True for a phase that does not run.
    fn leaves_out(&self, kind: PhaseKind, rules: &Rules) -> bool {
        let minutes = rules.ends.max_time_min;
        let is_late =
            minutes > 0 && self.began.elapsed() >= Duration::from_secs(minutes.saturating_mul(60));
        match kind {
            PhaseKind::Remove => !self.has_run || (rules.keep_with_error && self.has_errors),
            PhaseKind::Clear | PhaseKind::Fill | PhaseKind::Write => is_late,
            PhaseKind::Check | PhaseKind::Read => is_late || self.transfers == Some(0),
        }
    }

    /// Notes everything that later phases depend on.
    fn ran(&mut self, kind: PhaseKind, record: &PhaseRecord, rules: &Rules) -> Option<Kept> {
        self.has_run |= kind != PhaseKind::Clear;
        let measured = record.measurements.first()?;
        self.has_errors |= measured.verify.as_ref().is_some_and(|verify| verify.mismatches() > 0);
        if kind != PhaseKind::Write || rules.ends.deadline_s == 0 {
            return None;
        }
        let count = transfers(measured);
        self.transfers = Some(count);
        let file = rules.ends.status_file.as_ref().filter(|_| rules.ends.wear_out)?;
        let file = FileText::whole(file, count.to_string());
        Some(Kept { content: "the count of transfers", file })
    }
}

/// Transfers that each task has certainly written: the common count, or the count of the slowest
/// task.
fn transfers(measured: &Measurement) -> u64 {
    let least = || measured.per_worker.iter().map(|worker| worker.ops).min().unwrap_or(0);
    // A task with fewer transfers than the common count is at its end.
    measured.wear_out.map_or_else(least, |wear_out| wear_out.ops)
}
