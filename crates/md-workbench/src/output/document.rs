//! All results as one document: JSON, or a table of CSV.

use candor_record::Report;

use super::VERSION;
use super::results::{OpResult, ProcessResult, Results, StageResult};
use crate::setup::Setup;
use candor_front::{Object, verdict};
use candor_ior_family::results::latency_object;

/// Names of the printed latencies.
const SEVEN: [&str; 7] = ["min", "q1", "median", "q3", "q90", "q99", "max"];

/// One JSON document: options, each phase, and candor's verdict.
pub fn json(
    setup: &Setup,
    results: &Results,
    report: &Report,
    started: &str,
    finished: &str,
) -> String {
    let asked = &setup.asked;
    let document = Object::default()
        .with("tool", "md-workbench")
        .with("version", VERSION)
        .with("command", asked.command.clone())
        .with("started", started)
        .with("finished", finished)
        .with("processes", asked.ranks)
        .with("sets_per_process", asked.objects.sets)
        .with("objects_per_set", asked.objects.precreate)
        .with("object_bytes", asked.data.size)
        .with("position_before", setup.start)
        .with("position_after", results.position(setup))
        .with(
            "phases",
            results.stages.iter().map(|result| stage(setup, result)).collect::<Vec<_>>(),
        )
        .with("candor", verdict::tree(report));
    // Keys are text; values are numbers, texts and lists of them.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn stage(setup: &Setup, result: &StageResult) -> Object {
    let mut object = Object::default()
        .with("phase", result.stage.name())
        .with("iteration", result.iteration)
        .with("waiting_factor", result.waiting)
        .with("complete", u32::from(result.is_complete))
        .with("seconds", result.seconds())
        .with("rate_per_s", result.per_second(result.done()))
        .with("objects", result.objects())
        .with("objects_per_s", result.per_second(result.objects()))
        .with("sets", result.sets.done)
        .with("mib_per_s", result.mib_per_s(setup.asked.data.size))
        .with("longest_s", result.longest_s())
        .with("failed", result.failed())
        .with("mismatches", result.mismatches);
    if let Some(reason) = &result.reason {
        object.put("reason", reason.as_str());
    }
    if let Some((reached, at_s)) = result.stonewall {
        object.put("stonewall_iterations", reached);
        object.put("stonewall_s", at_s);
    }
    let mut operations = Object::default();
    for (name, op) in occurring(result) {
        operations.put(name, operation(result, op));
    }
    object
        .with("operations", operations)
        .with("processes", result.processes.iter().map(process).collect::<Vec<_>>())
}

fn process(process: &ProcessResult) -> Object {
    let objects = process.objects.round() as u64;
    Object::default().with("objects", objects).with("seconds", process.seconds)
}

fn occurring(result: &StageResult) -> impl Iterator<Item = (&'static str, &OpResult)> {
    result.operations().into_iter().filter(|(_, op)| op.done + op.failed > 0)
}

fn operation(result: &StageResult, op: &OpResult) -> Object {
    let mut object = Object::default()
        .with("count", op.done)
        .with("failed", op.failed)
        .with("rate_per_s", result.per_second(op.done));
    for (name, seconds) in SEVEN.iter().zip(op.seven().into_iter().flatten()) {
        object.put(format!("{name}_s"), seconds);
    }
    if let Some(latency) = &op.latency {
        object.put("latency", latency_object(latency));
    }
    object
}

/// One table: a line for each operation of each phase.
pub fn csv(results: &Results) -> String {
    let columns = SEVEN.map(|name| format!(",{name}_s")).concat();
    let mut text = format!(
        "phase,iteration,waiting_factor,operation,count,failed,seconds,rate_per_s{columns}\n"
    );
    for result in &results.stages {
        for (name, op) in occurring(result) {
            let cells = op.seven().map_or(",".repeat(SEVEN.len()), |seven| {
                seven.map(|seconds| format!(",{seconds}")).concat()
            });
            text += &format!(
                "{},{},{},{name},{},{},{},{}{cells}\n",
                result.stage.name(),
                result.iteration,
                result.waiting,
                op.done,
                op.failed,
                result.seconds(),
                result.per_second(op.done)
            );
        }
    }
    text
}
