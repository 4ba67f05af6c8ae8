//! The text that mdtest or md-workbench prints.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::VERSION;
use super::results::{RankResult, TaskRun, TestResult};
use crate::setup::{Setup, Test};
use candor_front::Space;
use candor_ior_family::results::exponent;
use candor_stats::Summary;

/// Date and time: `11/25/2026 13:22:48`.
pub fn stamp() -> String {
    stamp_of(Timestamp::now(), TimeZone::system())
}

pub(super) fn stamp_of(at: Timestamp, zone: TimeZone) -> String {
    at.to_zoned(zone).strftime("%m/%d/%Y %H:%M:%S").to_string()
}

/// The line on the file system.
fn space_line(space: &Space) -> String {
    format!(
        "{:<20}: {}   Used FS: {:2.1}%   Inodes: {:.1} Mi   Used Inodes: {:2.1}%\n",
        "FS",
        space.size(),
        space.used_percent(),
        space.inodes_mi(),
        space.inodes_used_percent()
    )
}

/// The lines before the first block, for tasks on `nodes` hosts.
pub fn header(setup: &Setup, nodes: u32, stamp: &str, space: Option<Space>) -> String {
    let asked = &setup.asked;
    let (program, words) = asked
        .command
        .split_first()
        .map_or(("mdtest", &[][..]), |(first, rest)| (first.as_str(), rest));
    let words: String = words.iter().map(|word| format!(" '{word}'")).collect();
    // A digit per task: 1 if the task is on the host of the first task.
    let (ranks, with_first) = (asked.ranks as usize, (asked.ranks / nodes.max(1)) as usize);
    let nodemap = "1".repeat(with_first) + &"0".repeat(ranks.saturating_sub(with_first));
    let mut text = format!(
        "-- started at {stamp} --\n\nmdtest-{VERSION} was launched with {ranks} total task(s) on \
         {nodes} node(s)\nCommand line used: {program}{words}\nNodemap: {nodemap}\n"
    );
    let path = asked.tree.paths.first().map_or("", String::as_str);
    text += &format!("{:<20}: {path}\n", "Path");
    text += &space.map_or_else(String::new, |space| space_line(&space));
    if asked.run.shift > 0 {
        text += &verbose(0, &format!("Shifting ranks by {} for each phase.", asked.run.shift));
    }
    if let Some(seed) = setup.random_seed {
        text += &format!("random seed: {seed}\n");
    }
    text
}

/// A line for a verbosity level.
fn verbose(level: u32, text: &str) -> String {
    format!("V-{level}: Rank   0 Line     0 {text}\n")
}

/// The lines of an iteration at verbosity 1.
fn iteration_lines(run: &TaskRun, iteration: usize) -> String {
    let Some(rows) = run.iterations.get(iteration) else { return String::new() };
    let line = |(test, result): (&Test, &TestResult)| {
        let name = if test.is_of_tree() { "main:   " } else { "   " };
        let text = format!(
            "{name}{:<18}: {:14.3} sec, {:14.3} ops/sec",
            test.name(),
            result.seconds,
            result.rate
        );
        verbose(1, &text)
    };
    // The tree is created first, but blocks list it last.
    let (made, others): (Vec<_>, Vec<_>) =
        rows.iter().partition(|(test, _)| **test == Test::TreeCreate);
    made.into_iter().chain(others).map(line).collect()
}

/// Unit of the values of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Rate,
    Time,
}

impl Unit {
    fn of(self, result: &TestResult) -> f64 {
        match self {
            Unit::Rate => result.rate,
            Unit::Time => result.seconds,
        }
    }

    fn of_rank(self, rank: &RankResult) -> f64 {
        match self {
            Unit::Rate => rank.rate(),
            Unit::Time => rank.seconds,
        }
    }
}

/// Greatest, least and mean value, and the standard deviation.
fn columns(of: &Summary, with_deviation: bool) -> String {
    let three = format!("{:14.3} {:14.3} {:14.3} ", of.max, of.min, of.mean);
    if with_deviation { format!("{three}{:14.3}\n", of.deviation) } else { three }
}

/// Rows of the blocks for the tested files or directories.
fn rows(setup: &Setup) -> impl Iterator<Item = Test> {
    let phases = setup.asked.phases;
    Test::ALL.into_iter().filter(move |test| match test {
        Test::DirRead => false,
        test if test.is_of_tree() => true,
        test if test.is_of_dirs() => phases.dirs,
        _ => phases.files,
    })
}

/// The line about items, the values of each iteration if requested, and the block.
pub fn totals_and_block(setup: &Setup, run: &TaskRun) -> String {
    let lines = match setup.asked.run.verbosity {
        0 => String::new(),
        _ => (0..run.iterations.len()).map(|nth| iteration_lines(run, nth)).collect(),
    };
    let stonewalls = run.of(Test::FileCreate);
    let stonewalls: String = stonewalls.iter().map(|made| stonewall_line(setup, made)).collect();
    format!("{}\n{stonewalls}{lines}{}", setup.totals(run.tasks), block(setup, run))
}

/// The line about files at the time limit.
fn stonewall_line(setup: &Setup, result: &TestResult) -> String {
    let run = &setup.asked.run;
    let Some([least, most, mean]) = result.stonewall else {
        let is_told = run.stonewall_s > 0 && run.verbosity > 0 && result.items > 0;
        let all = format!("stonewall hit with {} items", setup.items);
        return if is_told { verbose(1, &all) } else { String::new() };
    };
    format!("Continue stonewall hit min: {least:.0} max: {most:.0} avg: {mean:.1} \n\n")
}

/// The result for one number of tasks.
pub fn block(setup: &Setup, run: &TaskRun) -> String {
    let output = &setup.asked.output;
    let units: &[Unit] = match (output.both, output.times) {
        (true, _) => &[Unit::Rate, Unit::Time],
        (false, true) => &[Unit::Time],
        (false, false) => &[Unit::Rate],
    };
    let mut text: String = units.iter().map(|unit| summary(setup, run, *unit)).collect();
    text += &latencies(setup, run);
    text += &warnings(run);
    let count = run.data_errors();
    if count > 0 {
        text += &format!(
            "\nERROR: verifying the data on read ({count} errors)! Take the performance values \
             with care!\n\n"
        );
    }
    text
}

fn summary(setup: &Setup, run: &TaskRun, unit: Unit) -> String {
    let output = &setup.asked.output;
    let mut text = String::new();
    if output.all_procs {
        text += &per_process(setup, run, unit);
    }
    let title = match unit {
        Unit::Rate => "rate (in ops/sec)",
        Unit::Time => "time (in s)",
    };
    text += &format!("\nSUMMARY {title}: (of {} iterations)\n", run.iterations.len());
    let by_rank = output.rank_statistics;
    text += "   Operation     ";
    text += if by_rank {
        "per Rank: Max            Min           Mean      per Iteration:"
    } else {
        "               "
    };
    text += " Max            Min           Mean        Std Dev\n   ---------      ";
    if by_rank {
        text += "         ---            ---           ----       ";
    }
    text += "               ---            ---           ----        -------\n";
    for test in rows(setup) {
        text += &row(run, test, unit, by_rank);
    }
    text
}

fn row(run: &TaskRun, test: Test, unit: Unit, by_rank: bool) -> String {
    let results = run.of(test);
    let values: Vec<f64> = results.iter().map(|result| unit.of(result)).collect();
    let summary = Summary::of(&values).unwrap_or_default();
    let name = test.name();
    if !by_rank {
        return format!("   {name:<22} {}", columns(&summary, true));
    }
    if test.is_of_tree() {
        // Only task 0 has a value for the tree.
        return format!(
            "   {name:<22} {}    {}",
            columns(&summary, false),
            columns(&summary, true)
        );
    }
    let of_ranks: Vec<f64> =
        results.iter().flat_map(|result| &result.ranks).map(|rank| unit.of_rank(rank)).collect();
    let of_ranks = columns(&Summary::of(&of_ranks).unwrap_or_default(), false);
    format!("   {name:<18} {of_ranks}        {}", columns(&summary, true))
}

fn per_process(setup: &Setup, run: &TaskRun, unit: Unit) -> String {
    let word = if unit == Unit::Rate { "rate" } else { "time" };
    let mut text = format!("\nPer process result ({word}):\n");
    let from = if setup.asked.phases.dirs { Test::DirCreate } else { Test::FileCreate };
    for (nth, iteration) in run.iterations.iter().enumerate() {
        text += &format!("iteration: {nth}\n");
        for test in Test::ALL.into_iter().filter(|test| *test >= from) {
            let ranks = iteration.get(&test).map_or(&[][..], |result| &result.ranks);
            let value = |nth: usize| ranks.get(nth).map_or(0.0, |rank| unit.of_rank(rank));
            let values: Vec<String> =
                (0..run.tasks as usize).map(|nth| exponent(value(nth), 6)).collect();
            text += &format!("Test {} {}\n", test.name(), values.join(","));
        }
    }
    text
}

/// Names of operations outside of the block, which differ from its rows, because scripts search for
/// these.
pub fn operation(test: Test) -> &'static str {
    match test {
        Test::DirCreate => "create directory",
        Test::DirStat => "stat directory",
        Test::DirRead => "read directory",
        Test::DirRename => "rename directory",
        Test::DirRemove => "remove directory",
        Test::FileCreate => "create file",
        Test::FileStat => "stat file",
        Test::FileRead => "read file",
        Test::FileRemove => "remove file",
        Test::TreeCreate => "make tree",
        Test::TreeRemove => "remove tree",
    }
}

/// Percentiles of the table of latencies.
pub const QUOTED: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// Microseconds in a column of the table of latencies.
fn us(ns: f64) -> String {
    format!("{:12.1}", ns / 1e3)
}

/// Latencies of all items, iterations and tasks.
fn latencies(setup: &Setup, run: &TaskRun) -> String {
    let mut text = String::new();
    for test in rows(setup) {
        let Some(latency) = run.latency(test) else { continue };
        let quoted = QUOTED.map(|percentile| {
            let value = latency.percentile_ns(percentile);
            value.map_or_else(|| format!("{:>12}", "-"), |ns| us(ns as f64))
        });
        text += &format!(
            "   {:<18}{:12}{}{}{}\n",
            operation(test),
            latency.count,
            us(latency.mean_ns),
            quoted.concat(),
            us(latency.max_ns as f64)
        );
    }
    if text.is_empty() {
        text
    } else {
        format!(
            "\nLATENCY (in us/op): (of all tasks and iterations)\n   {:<18}{:>12}{:>12}{:>12}\
             {:>12}{:>12}{:>12}{:>12}\n{text}",
            "", "Count", "Mean", "50%", "90%", "99%", "99.9%", "Max"
        )
    }
}

/// Lines about errors of each row.
fn warnings(run: &TaskRun) -> String {
    let mut text = String::new();
    for (nth, iteration) in run.iterations.iter().enumerate() {
        for (test, result) in iteration.iter().filter(|(_, result)| result.failed > 0) {
            let reason = result.reason.as_deref().unwrap_or("no reason is known");
            text += &format!(
                "\nWARNING: {} of iteration {nth}: {} operations failed and are in no rate; the \
                 first: {reason}\n",
                test.name(),
                result.failed
            );
        }
    }
    text
}
