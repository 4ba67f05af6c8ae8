//! Results as one document of JSON.

use super::figures::{Access, Figures, Stonewall, Summary};
use super::numbers::{KIB, MIB};
use super::settings::{Value, options, parameters};
use super::surroundings::{Moment, platform};
use super::{Results, TestResults, VERSION};
use crate::options::Options;
use crate::plan::first_path;
use crate::setup::TestSetup;
use candor_front::{Object, Space, Tree};

/// The whole document, with the verdict unless another output has it.
pub(super) fn document(results: &Results<'_>, now: &Moment, verdict: Option<Object>) -> String {
    let machine = &results.machine;
    let mut shown = format!("{} {}", machine.system, machine.node);
    if results.setup.output.verbose >= 2 {
        shown += &format!(" {}", machine.details);
    }
    let tests: Vec<Object> = results.tests.iter().map(|of| test(of, &platform(machine))).collect();
    let summary: Vec<Object> = results.tests.iter().flat_map(summaries).collect();
    let mut all = Object::default()
        .with("Version", VERSION)
        .with("Began", results.began.text())
        .with("Command line", results.setup.command.join(" "))
        .with("Machine", shown)
        .with("tests", tests)
        .with("summary", summary)
        .with("Finished", now.text());
    if let Some(verdict) = verdict {
        all.put("candor", verdict);
    }
    // A tree of texts and finite numbers can always be formatted.
    serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
}

fn test(of: &TestResults<'_>, platform: &str) -> Object {
    let started = of.started.clone().unwrap_or_default();
    let mut test = Object::default().with("TestID", of.setup.id).with("StartTime", started.text());
    if let Some(space) = &of.space {
        put_space(&mut test, &first_path(of.setup), space);
    }
    let parameters = parameters(of.setup, Some(platform));
    let parameters = parameters
        .into_iter()
        .fold(Object::default(), |all, (key, value)| all.with(key, tree(value)));
    test.put("Parameters", parameters);
    let mut options = Object::default();
    for (key, value) in self::options(of.setup) {
        // IOR's JSON has numbers for counts, and text for all other values.
        match value.parse::<u64>() {
            Ok(number) if key != "GPUDirect" && key != "test filename" => options.put(key, number),
            _ => options.put(key, value),
        }
    }
    test.put("Options", options);
    test.put("Results", rows(of));
    test.put("max", maxima(of));
    if of.errors > 0 {
        test.put("errors", of.errors);
    }
    test
}

fn put_space(test: &mut Object, path: &str, of: &Space) {
    test.put("Path", path);
    test.put("Capacity", of.size());
    test.put("Used Capacity", format!("{:.1}%", of.used_percent()));
    test.put("Inodes", format!("{:.1} Mi", of.inodes_mi()));
    test.put("Used Inodes", format!("{:.1}%", of.inodes_used_percent()));
}

fn tree(value: Value) -> Tree {
    match value {
        Value::Number(number) => number.into(),
        Value::Text(text) => text.into(),
    }
}

fn rows(of: &TestResults<'_>) -> Vec<Object> {
    let layout = &of.setup.options.layout;
    let row = |figures: &Figures| {
        Object::default()
            .with("access", figures.access.word())
            .with("bwMiB", figures.mib_per_s())
            .with("blockKiB", layout.block_bytes as f64 / KIB)
            .with("xferKiB", layout.transfer_bytes as f64 / KIB)
            .with("iops", figures.transfers_per_s())
            .with("latency", figures.latency_s)
            .with("openTime", figures.open_s)
            .with("wrRdTime", figures.transfer_s)
            .with("closeTime", figures.close_s)
            .with("totalTime", figures.total_s)
    };
    let mut all: Vec<(u32, Object)> =
        of.rows.iter().map(|figures| (figures.repetition, row(figures))).collect();
    // Like in the table, `-v` adds removals.
    if of.setup.options.output.verbose > 0 {
        all.extend(of.removals.iter().map(|(repetition, seconds)| {
            (*repetition, Object::default().with("access", "remove").with("totalTime", *seconds))
        }));
    }
    all.sort_by_key(|(repetition, _)| *repetition);
    all.into_iter().map(|(_, row)| row).collect()
}

fn maxima(of: &TestResults<'_>) -> Object {
    let mut all = Object::default();
    for (access, [mib, mb]) in
        [(Access::Write, ["writeMiB", "writeMB"]), (Access::Read, ["readMiB", "readMB"])]
    {
        if let Some(summary) = Summary::of(access, &of.rows) {
            all.put(mib, summary.mib_per_s.max);
            all.put(mb, summary.mib_per_s.max * MIB / 1e6);
        }
    }
    all
}

fn summaries<'a>(of: &'a TestResults<'_>) -> impl Iterator<Item = Object> + 'a {
    let both = [Access::Write, Access::Read].into_iter();
    both.filter_map(|access| Summary::of(access, &of.rows))
        .map(|summary| summary_tree(of.setup, &summary))
}

fn summary_tree(setup: &TestSetup, summary: &Summary) -> Object {
    let Options { run, layout, order, io, output, .. } = &setup.options;
    let mut all = Object::default()
        .with("operation", summary.access.word())
        .with("API", io.api.word())
        .with("TestID", setup.id)
        .with("ReferenceNumber", output.reference)
        .with("segmentCount", layout.segments)
        .with("blockSize", layout.block_bytes)
        .with("transferSize", layout.transfer_bytes)
        .with("numTasks", setup.tasks)
        .with("tasksPerNode", setup.tasks_on_node0)
        .with("repetitions", run.repetitions)
        .with("filePerProc", u32::from(layout.file_per_process))
        .with("reorderTasks", u32::from(order.constant))
        .with("taskPerNodeOffset", order.offset)
        .with("reorderTasksRandom", order.random)
        .with("reorderTasksRandomSeed", i64::from(order.seed))
        .with("bwMaxMIB", summary.mib_per_s.max)
        .with("bwMinMIB", summary.mib_per_s.min)
        .with("bwMeanMIB", summary.mib_per_s.mean)
        .with("bwStdMIB", summary.mib_per_s.deviation)
        .with("OPsMax", summary.transfers_per_s.max)
        .with("OPsMin", summary.transfers_per_s.min)
        .with("OPsMean", summary.transfers_per_s.mean)
        .with("OPsSD", summary.transfers_per_s.deviation)
        .with("MeanTime", summary.mean_s);
    if let Some(Stonewall { seconds, bytes_mean, .. }) = summary.stonewall {
        all.put("StoneWallTime", seconds);
        all.put("StoneWallbwMeanMIB", bytes_mean / MIB);
    }
    all.put("xsizeMiB", summary.bytes as f64 / MIB);
    all
}
