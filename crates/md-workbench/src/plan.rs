//! Lowering of a run to a plan.

mod jobs;
#[cfg(test)]
mod tests;

pub use jobs::log_file;

use candor_plan::{OnFailure, Phase, Plan};
use candor_record::Note;

use super::options::Reading;
use super::setup::{self, Setup};
use candor_front::{Diagnostic, Diagnostics, Host};

/// A phase of md-workbench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Create sets and objects.
    #[default]
    Precreate,
    /// Replace old objects with new ones.
    Benchmark,
    /// Remove objects and sets.
    Cleanup,
}

impl Stage {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Precreate => "precreate",
            Stage::Benchmark => "benchmark",
            Stage::Cleanup => "cleanup",
        }
    }
}

/// Entries that a phase of the plan handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The directories.
    Sets,
    /// The files.
    Objects,
}

/// A phase of the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BenchPhase {
    /// The phase of md-workbench.
    pub stage: Stage,
    /// Part of that phase.
    pub part: Part,
    /// Number in the names of latency files: number of earlier benchmarks.
    pub iteration: u32,
    /// Waiting time as a multiple of an operation's duration.
    pub waiting: f64,
    /// The last part of its stage.
    pub is_last: bool,
}

/// A plan, and data for the output that its report does not have.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// The phases of the plan.
    pub phases: Vec<BenchPhase>,
    /// The options, and the start of the window.
    pub setup: Setup,
    /// Differences between plan and request.
    pub notes: Vec<Note>,
}

/// Lowers a command line to a plan.
///
/// # Errors
/// All errors.
pub fn lower(reading: &Reading, host: &dyn Host) -> Result<Lowered, Vec<Diagnostic>> {
    let mut out = Diagnostics::default();
    let setup = setup::settle(reading, host, &mut out);
    reading.all_notes(&setup.asked).into_iter().for_each(|note| out.add_note(note));
    if !out.errors.is_empty() {
        return Err(out.errors);
    }
    let phases = order(&setup);
    let plan = Plan {
        name: "md-workbench".into(),
        seed: setup.data_seed,
        targets: jobs::targets(&setup),
        phases: phases.iter().map(|bench| phase(&setup, bench)).collect(),
        ..Plan::default()
    };
    Ok(Lowered { plan, phases, notes: out.notes, setup })
}

/// The phases in their order.
fn order(setup: &Setup) -> Vec<BenchPhase> {
    use {Part::*, Stage::*};
    let run = &setup.asked.run;
    let mut phases = Vec::new();
    let mut add = |stage, parts: &[Part], (iteration, waiting)| {
        let last = parts.len() - 1;
        phases.extend(parts.iter().enumerate().map(|(nth, part)| BenchPhase {
            stage,
            part: *part,
            iteration,
            waiting,
            is_last: nth == last,
        }));
    };
    if run.precreate {
        add(Precreate, &[Sets, Objects], (0, run.waiting));
    }
    for iteration in (0..run.iterations).filter(|_| run.benchmark) {
        for waiting in setup.waiting_times() {
            add(Benchmark, &[Objects], (iteration, waiting));
        }
    }
    if run.cleanup {
        add(Cleanup, &[Objects, Sets], setup.after_benchmarks());
    }
    phases
}

/// Unique name of a phase of the plan.
fn phase_name(setup: &Setup, bench: &BenchPhase) -> String {
    let (name, run) = (bench.stage.name(), &setup.asked.run);
    let number = if bench.stage == Stage::Benchmark && run.iterations > 1 {
        format!(" {}", bench.iteration + 1)
    } else {
        String::new()
    };
    match (bench.stage, bench.part) {
        (_, Part::Sets) => format!("{name} of sets"),
        (Stage::Benchmark, _) if run.adaptive => {
            format!("{name}{number}, waiting {}", bench.waiting)
        }
        _ => format!("{name}{number}"),
    }
}

/// A phase of the plan.
fn phase(setup: &Setup, bench: &BenchPhase) -> Phase {
    Phase {
        name: phase_name(setup, bench),
        on_failure: if jobs::goes_on(setup, bench) { OnFailure::EndJob } else { OnFailure::EndRun },
        jobs: vec![jobs::job(setup, bench)],
        ..Phase::default()
    }
}
