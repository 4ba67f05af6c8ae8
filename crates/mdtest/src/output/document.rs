//! All results as one document: JSON, or a table of CSV.

use candor_record::{Latency, Report};

use super::VERSION;
use super::results::{Iteration, RankResult, Results, TaskRun, TestResult};
use super::text::QUOTED;
use crate::setup::{Setup, Test};
use candor_front::{Object, verdict};
use candor_ior_family::results::latency_object;
use candor_stats::Summary;

/// One JSON document: options, each row of each iteration, statistics, and candor's verdict.
pub fn json(
    setup: &Setup,
    results: &Results,
    report: &Report,
    started: &str,
    finished: &str,
) -> String {
    let asked = &setup.asked;
    let document = Object::default()
        .with("tool", "mdtest")
        .with("version", VERSION)
        .with("command", asked.command.clone())
        .with("started", started)
        .with("finished", finished)
        .with("tasks", asked.ranks)
        .with("directories_per_tree", setup.directories)
        .with("items_per_directory", setup.items_per_dir)
        .with("items_per_task", setup.items)
        .with("runs", results.runs.iter().map(run).collect::<Vec<_>>())
        .with("candor", verdict::tree(report));
    // Keys are text; values are numbers, texts and lists of them.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn run(run: &TaskRun) -> Object {
    let iterations = run.iterations.iter().map(iteration).collect::<Vec<Object>>();
    let ran = |test: &Test| run.iterations.iter().any(|rows| rows.contains_key(test));
    let summary = Test::ALL.into_iter().filter(ran).map(|test| {
        let rates: Vec<f64> = run.of(test).iter().map(|result| result.rate).collect();
        let summary = Summary::of(&rates).unwrap_or_default();
        let mut row = Object::default()
            .with("operation", test.name())
            .with("rate_per_s_max", summary.max)
            .with("rate_per_s_min", summary.min)
            .with("rate_per_s_mean", summary.mean)
            .with("rate_per_s_stddev", summary.deviation);
        if let Some(latency) = run.latency(test) {
            row.put("latency", latency_object(&latency));
        }
        row
    });
    Object::default()
        .with("tasks", run.tasks)
        .with("complete", u32::from(run.is_complete))
        .with("iterations", iterations)
        .with("summary", summary.collect::<Vec<_>>())
}

fn iteration(rows: &Iteration) -> Object {
    let mut object = Object::default();
    for (test, result) in rows {
        object.put(test.name(), row(result));
    }
    object
}

fn row(result: &TestResult) -> Object {
    let mut row = Object::default()
        .with("items", result.items)
        .with("seconds", result.seconds)
        .with("rate_per_s", result.rate)
        .with("failed", result.failed)
        .with("mismatches", result.mismatches);
    if let Some(reason) = &result.reason {
        row.put("reason", reason.as_str());
    }
    if let Some(latency) = &result.latency {
        row.put("latency", latency_object(latency));
    }
    if !result.steps.is_empty() {
        let steps = result.steps.iter().fold(Object::default(), |steps, (name, latency)| {
            steps.with(name.as_str(), latency_object(latency))
        });
        row.put("steps", steps);
    }
    row.with("ranks", result.ranks.iter().map(rank).collect::<Vec<_>>())
}

fn rank(rank: &RankResult) -> Object {
    Object::default()
        .with("items", rank.items.round() as u64)
        .with("seconds", rank.seconds)
        .with("rate_per_s", rank.rate())
}

/// One table: a line for each row of each iteration.
pub fn csv(results: &Results) -> String {
    let mut text = String::from(
        "tasks,iteration,operation,items,failed,mismatches,seconds,rate_per_s,latency_ns_min,\
         latency_ns_mean,latency_ns_p50,latency_ns_p90,latency_ns_p99,latency_ns_p99.9,\
         latency_ns_max\n",
    );
    for run in &results.runs {
        for (nth, iteration) in run.iterations.iter().enumerate() {
            for (test, result) in iteration {
                let TestResult { items, failed, mismatches, seconds, rate, latency, .. } = result;
                text += &format!(
                    "{},{nth},{},{items},{failed},{mismatches},{seconds},{rate},{}\n",
                    run.tasks,
                    test.name(),
                    latency_cells(latency.as_ref())
                );
            }
        }
    }
    text
}

fn latency_cells(latency: Option<&Latency>) -> String {
    let Some(latency) = latency else { return ",".repeat(QUOTED.len() + 2) };
    let quoted = QUOTED.map(|percentile| {
        let value = latency.percentile_ns(percentile);
        value.map_or_else(String::new, |ns| ns.to_string())
    });
    let Latency { min_ns, mean_ns, max_ns, .. } = latency;
    format!("{min_ns},{mean_ns},{},{max_ns}", quoted.join(","))
}
