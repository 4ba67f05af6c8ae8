//! Lowering of tests to one plan: the phases of each repetition of each test, in order.

mod files;
mod phases;
mod work;

use candor_plan::units::Extent;
use candor_plan::{Bytes, Plan};
use candor_record::Note;

use super::grammar::Memory;
use super::options::{Reading, TABLE};
use super::setup::{self, Setup, TestSetup};
use candor_front::{Diagnostic, Diagnostics, Host, Origins};

pub use files::first_path;

/// Operation of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// Delete existing files before the write; not measured.
    Clear,
    /// Fill files sequentially before a random write; not measured.
    Fill,
    /// Write files.
    Write,
    /// Read files back and verify them; not measured.
    Check,
    /// Files are read.
    Read,
    /// Files are removed.
    Remove,
}

/// A phase of the plan, with its position in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPhase {
    /// Number of the test.
    pub test: usize,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// Operation.
    pub kind: PhaseKind,
}

/// A plan, and data for the output that its report does not have.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// The phases of the plan.
    pub phases: Vec<TestPhase>,
    /// The tests.
    pub setup: Setup,
    /// Position of each part of the plan in the texts.
    pub origins: Origins,
    /// Differences between plan and request.
    pub notes: Vec<Note>,
}

/// Lowers a command line and its script to a plan.
///
/// # Errors
/// All errors.
pub fn lower(reading: &Reading, host: &dyn Host) -> Result<Lowered, Vec<Diagnostic>> {
    let mut out = Diagnostics::default();
    let mut setup = setup::settle(reading, host, &mut out);
    let mut plan = Plan { name: "ior".into(), seed: setup.seed.max(1), ..Plan::default() };
    plan.occupy_memory = memory(reading, &setup, &mut out);
    let present = files::Present::default();
    let mut lowering = phases::Lowering { plan, host, present, phases: Vec::new() };
    let mut origins = Origins::default();
    if out.errors.is_empty() {
        for (nth, test) in reading.tests.iter().enumerate() {
            let scope = reading.scope(test);
            lowering.test(nth, &mut setup.tests, &scope, &mut origins, &mut out);
        }
    }
    for test in &reading.tests {
        let notes = TABLE.notes(&test.options, &test.given, &reading.texts);
        notes.into_iter().for_each(|note| out.add_note(note));
    }
    reading.notes.iter().for_each(|note| out.add_note(note.clone()));
    if !out.errors.is_empty() {
        return Err(out.errors);
    }
    let phases::Lowering { plan, phases, .. } = lowering;
    Ok(Lowered { plan, phases, setup, origins, notes: out.notes })
}

/// Memory that the run occupies, the same for all tests.
fn memory(reading: &Reading, setup: &Setup, out: &mut Diagnostics) -> Option<Extent> {
    let of = |test: &TestSetup| {
        let run = &test.options.run;
        let bytes = match (run.memory_per_node, run.memory_per_task) {
            (Some(Memory::Percent(percent)), _) => {
                return (percent > 0).then(|| Extent::Percent(percent.into()));
            }
            (Some(Memory::Bytes(bytes)), _) => {
                let tasks_on_node = u64::from(test.tasks_on_node0.max(1));
                bytes / tasks_on_node * u64::from(test.tasks)
            }
            (None, Some(bytes)) => bytes.saturating_mul(test.tasks.into()),
            (None, None) => 0,
        };
        (bytes > 0).then_some(Extent::Bytes(Bytes(bytes)))
    };
    let first = setup.tests.first().and_then(of);
    for (test, asked) in setup.tests.iter().zip(&reading.tests) {
        if of(test) != first {
            let scope = reading.scope(asked);
            let option = match test.options.run.memory_per_task {
                Some(_) => "memoryPerTask",
                None => "memoryPerNode",
            };
            let message = "one run occupies one amount of memory for all its tests".to_owned();
            out.wrong(&scope, option, message, "give all tests the same amount");
        }
    }
    first
}

#[cfg(test)]
mod tests;
