//! Operations of all runs, named by what tells them apart.

use candor_plan::work::is_request;
use candor_record::results::{JobResults, OpResults, PhaseResults};
use candor_record::{Verdict, fmt};

use super::Run;

/// One operation of one job in one phase of one run.
#[derive(Clone, Copy)]
pub struct Curve<'a> {
    /// Index of the run.
    pub run: usize,
    /// Index of the phase within the run.
    pub at: usize,
    pub phase: &'a PhaseResults,
    pub job: &'a JobResults,
    pub op: &'a OpResults,
}

/// A part of the name of a curve.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Run,
    Phase,
    Repeat,
    Job,
    Op,
}

/// All operations that are work, in the order of runs, phases and jobs.
pub fn all<'a>(runs: &[Run<'a>]) -> Vec<Curve<'a>> {
    let mut curves = Vec::new();
    for (run, of) in runs.iter().enumerate() {
        for (at, phase) in of.results.phases.iter().enumerate() {
            for job in &phase.jobs {
                curves.extend(job.work().map(|op| Curve { run, at, phase, job, op }));
            }
        }
    }
    curves
}

/// Label of an axis for rates of these operations.
pub fn rate_label(curves: &[Curve<'_>]) -> &'static str {
    let mut names: Vec<&str> = curves.iter().map(|curve| curve.op.operation.as_str()).collect();
    // Files and memory have copies, too.
    names.retain(|name| *name != "copy");
    let is_http = !names.is_empty() && names.into_iter().all(is_request);
    if is_http { "Requests" } else { "IOPS" }
}

impl Curve<'_> {
    /// Whether its numbers cannot be believed.
    pub fn is_doubtful(&self) -> bool {
        self.phase.verdict.is_some_and(|verdict| verdict > Verdict::Caution)
    }

    /// Whether both are the same operation of the same work, in repeats of one phase.
    pub fn is_repeat_of(&self, other: &Curve<'_>) -> bool {
        let key = |of: &Curve<'_>| (of.run, of.phase.name.clone(), of.job.job.clone());
        key(self) == key(other)
            && self.op.operation == other.op.operation
            && self.phase.repeat != other.phase.repeat
    }

    fn part(&self, part: Part, runs: &[Run<'_>]) -> String {
        match part {
            Part::Run => runs[self.run].name.to_owned(),
            Part::Phase => self.phase.name.clone(),
            Part::Repeat => format!("#{}", self.phase.repeat + 1),
            Part::Job => self.job.job.clone(),
            Part::Op => self.op.operation.clone(),
        }
    }
}

/// Names of curves, each of those parts in which they differ; the operation where they differ in
/// none.
pub fn names(curves: &[Curve<'_>], runs: &[Run<'_>], parts: &[Part]) -> Vec<String> {
    let differs = |part: &&Part| {
        let mut texts = curves.iter().map(|curve| curve.part(**part, runs));
        let first = texts.next();
        texts.any(|text| Some(&text) != first.as_ref())
    };
    let telling: Vec<Part> = parts.iter().filter(differs).copied().collect();
    // The operation of `random read, depth 1` is known from its name, where it has only one.
    let says_op = |curve: &Curve<'_>| {
        let place = |of: &Curve<'_>| (of.run, of.at);
        let mut words = curve.phase.name.split(|c: char| !c.is_alphanumeric());
        telling.contains(&Part::Phase)
            && words.any(|word| word == curve.op.operation)
            && curves.iter().filter(|other| place(other) == place(curve)).count() == 1
    };
    let name = |curve: &Curve<'_>| {
        let mut texts: Vec<String> = Vec::new();
        let parts = telling.iter().filter(|part| **part != Part::Op || !says_op(curve));
        for text in parts.map(|part| curve.part(*part, runs)) {
            // A job is often named as its phase.
            if !text.is_empty() && texts.last() != Some(&text) {
                texts.push(text);
            }
        }
        if texts.is_empty() { curve.op.operation.clone() } else { texts.join(" ") }
    };
    curves.iter().map(name).collect()
}

/// Names in the order of their first use: the place of each is its slot.
pub fn slots(names: &[String]) -> Vec<String> {
    let mut slots: Vec<String> = Vec::new();
    for name in names {
        if !slots.contains(name) {
            slots.push(name.clone());
        }
    }
    slots
}

/// The figures of a curve in words.
pub fn in_words(curve: &Curve<'_>) -> String {
    let latency = curve.op.latency.as_ref();
    let bytes = curve.op.bytes_per_s.filter(|rate| *rate > 0.0);
    let parts = [
        curve.op.ops_per_s.map(fmt::iops),
        bytes.map(fmt::rate_decimal),
        latency.and_then(|of| of.mean_ns).map(|ns| format!("mean {}", fmt::time(ns))),
        latency
            .and_then(|of| of.percentile_ns(99.0))
            .map(|ns| format!("p99 {}", fmt::time(ns as f64))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
