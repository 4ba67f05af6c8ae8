//! From a run to a plan.

mod jobs;
#[cfg(test)]
mod tests;

pub use jobs::log_file;

use candor_plan::{OnFailure, Phase, Plan};
use candor_record::Note;

use super::options::{Draft, Reading, TABLE};
use super::setup::{self, Setup};
use candor_front::{Diagnostic, Diagnostics, Host};

/// A phase as md-workbench counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Sets and objects are made.
    #[default]
    Precreate,
    /// Old objects go and new ones come.
    Benchmark,
    /// Objects and sets are removed.
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

/// Things on which a phase of the plan works.
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
    /// The phase as md-workbench counts them.
    pub stage: Stage,
    /// Part of that phase.
    pub part: Part,
    /// Number in the names of latency files: of benchmarks before it.
    pub iteration: u32,
    /// Waiting time, in times of an operation's.
    pub waiting: f64,
    /// The last part of its stage.
    pub is_last: bool,
}

/// A plan, and all that its report cannot tell.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// The phases of the plan.
    pub phases: Vec<BenchPhase>,
    /// The options, and where the window begins.
    pub setup: Setup,
    /// Places where the plan is not exactly what was asked.
    pub notes: Vec<Note>,
}

/// Makes a plan of a command line.
///
/// # Errors
/// Everything that is wrong.
pub fn lower(reading: &Reading, host: &dyn Host) -> Result<Lowered, Vec<Diagnostic>> {
    let mut out = Diagnostics::default();
    let setup = setup::settle(reading, host, &mut out);
    let draft = Draft::of(setup.asked.clone());
    let notes = TABLE.notes(&draft, &reading.given, &reading.texts);
    notes.into_iter().chain(reading.notes.clone()).for_each(|note| out.add_note(note));
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

/// Name of a phase of the plan, which no other one has.
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
