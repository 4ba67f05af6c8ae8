//! Results as text, in IOR's columns.

use super::figures::{Access, Figures, Statistics, Summary, TaskTimes};
use super::numbers::{KIB, MIB, bytes, cell};
use super::settings::{options, parameters};
use super::surroundings::Moment;
use super::{TestResults, VERSION};
use crate::options::{Api, Packet};
use crate::plan::{PhaseKind, TestPhase, first_path};
use crate::setup::{Setup, TestSetup};
use candor_front::Machine;

/// Bytes of a megabyte.
const MEGABYTE: f64 = 1e6;

/// Head of the table.
const TABLE: &str = concat!(
    "\naccess    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    ",
    "wr/rd(s)   close(s)   total(s)   iter\n",
    "------    ---------  ----       ----------  ---------- ---------  --------   ",
    "--------   --------   --------   ----\n",
);

/// Head of the summary.
const SUMMARY: &str = concat!(
    "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     ",
    "StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff ",
    "reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum\n",
);

/// `key                 : value`.
fn pair(key: &str, value: impl std::fmt::Display) -> String {
    format!("{key:<20}: {value}\n")
}

/// The lines before the first test.
pub(super) fn head(setup: &Setup, machine: &Machine, began: &Moment) -> String {
    let mut shown = format!("{} {}", machine.system, machine.node);
    if setup.output.verbose >= 2 {
        shown += &format!(" {}", machine.details);
    }
    format!("IOR-{VERSION}: MPI Coordinated Test of Parallel I/O\n")
        + &pair("Began", began.text())
        + &pair("Command line", setup.command.join(" "))
        + &pair("Machine", shown)
}

/// The lines of a test before its first phase.
pub(super) fn test_head(test: &TestResults<'_>) -> String {
    let setup = test.setup;
    let output = &setup.options.output;
    let started = test.started.clone().unwrap_or_default();
    let mut text = pair("TestID", setup.id) + &pair("StartTime", started.text());
    if let Some(of) = &test.space {
        text += &pair("Path", first_path(setup));
        text += &pair(
            "FS",
            format!(
                "{}   Used FS: {:.1}%   Inodes: {:.1} Mi   Used Inodes: {:.1}%",
                of.size(),
                of.used_percent(),
                of.inodes_mi(),
                of.inodes_used_percent()
            ),
        );
    }
    if output.verbose >= 3 {
        let parameters = parameters(setup, None);
        text += "\nParameters: \n";
        text += &parameters.iter().map(|(key, value)| pair(key, value)).collect::<String>();
    }
    if let Some(debug) = &output.debug {
        text += &format!("\n*** DEBUG MODE ***\n*** {debug} ***\n\n");
    }
    text += "\nOptions: \n";
    text += &options(setup).into_iter().map(|(key, value)| pair(key, value)).collect::<String>();
    text += "\nResults: \n";
    text += &warnings(setup);
    if output.verbose >= 2 {
        text += &signature(setup);
    }
    text + TABLE
}

fn warnings(setup: &TestSetup) -> String {
    setup.warnings.iter().map(|warning| format!("WARNING: {warning}\n")).collect()
}

fn signature(setup: &TestSetup) -> String {
    let stamp = setup.signature as u32;
    match setup.options.data.packet {
        Packet::Random => format!("Using Random Seed {stamp} (0x{stamp:x}) for Data Signature\n"),
        _ => format!("Using Time Stamp {stamp} (0x{stamp:x}) for Data Signature\n"),
    }
}

/// The lines of a phase that begins.
pub(super) fn phase_head(setup: &TestSetup, phase: &TestPhase, now: &Moment) -> String {
    let verbose = setup.options.output.verbose;
    match phase.kind {
        PhaseKind::Check if verbose >= 1 => {
            format!("Verifying contents of the file(s) just written.\n{}\n\n", now.text())
        }
        PhaseKind::Write | PhaseKind::Read if verbose >= 3 => {
            format!("Commencing {} performance test: {}\n", phase.kind.word(), now.text())
        }
        _ => String::new(),
    }
}

/// The row of a phase.
pub(super) fn row(setup: &TestSetup, figures: &Figures) -> String {
    let layout = &setup.options.layout;
    let mut text = format!("{:<10}", figures.access.word());
    text += &cell(figures.mib_per_s());
    text += &cell(figures.transfers_per_s());
    // This column is one character wider than the others.
    text += &format!("{} ", cell(figures.latency_s));
    text += &cell(layout.block_bytes as f64 / KIB);
    text += &cell(layout.transfer_bytes as f64 / KIB);
    for seconds in [figures.open_s, figures.transfer_s, figures.close_s, figures.total_s] {
        text += &cell(seconds);
    }
    text + &format!("{:<4}\n", figures.repetition)
}

/// Warning of a phase that moved other bytes than the test requests, or whose files have another
/// size.
pub(super) fn size_warning(setup: &TestSetup, figures: &Figures, stat_bytes: u64) -> String {
    let (expected, moved) = (setup.aggregate_bytes(), figures.bytes);
    if expected == moved && stat_bytes == moved {
        return String::new();
    }
    let mut text = format!(
        "WARNING: Expected aggregate file size       = {expected}\n\
         WARNING: Stat() of aggregate file size      = {stat_bytes}\n\
         WARNING: Using actual aggregate bytes moved = {moved}\n"
    );
    if setup.options.ends.deadline_s > 0 {
        text += "WARNING: Maybe caused by deadlineForStonewalling\n";
    }
    text
}

/// Progress of the tasks at the time limit.
pub(super) fn stonewall(setup: &TestSetup, figures: &Figures) -> String {
    let Some(stonewall) = figures.stonewall else { return String::new() };
    const GIB: f64 = (1_u64 << 30) as f64;
    let transfer = setup.options.layout.transfer_bytes as f64;
    format!(
        "stonewalling pairs accessed min: {} max: {} -- min data: {:.1} GiB mean data: {:.1} GiB \
         time: {:.1}s\n",
        stonewall.transfers_min,
        stonewall.transfers_max,
        stonewall.transfers_min as f64 * transfer / GIB,
        stonewall.bytes_mean / GIB,
        stonewall.seconds
    )
}

/// Times of each task, by rank.
pub(super) fn times(setup: &TestSetup, figures: &Figures) -> String {
    if setup.options.output.verbose < 3 {
        return String::new();
    }
    let access = figures.access.word();
    let mut text = String::new();
    for (rank, task) in figures.tasks.iter().enumerate() {
        let named = [
            (task.open[0], "open start"),
            (task.open[1], "open stop"),
            (task.transfer[0], "start"),
            (task.transfer[1], "stop"),
            (task.close[0], "close start"),
            (task.close[1], "close stop"),
        ];
        for (seconds, name) in named {
            text += &format!(
                "Test {}: Iter={}, Task={rank}, Time={seconds:.6}, {access} {name}\n",
                setup.id, figures.repetition
            );
        }
    }
    text
}

/// A time of a task in seconds.
type TimeOf = fn(&TaskTimes) -> f64;

/// Tasks far from the mean.
pub(super) fn outliers(setup: &TestSetup, figures: &Figures) -> String {
    let threshold_s = setup.options.output.outlier_s as f64;
    if threshold_s == 0.0 {
        return String::new();
    }
    let times: [(&str, TimeOf); 5] = [
        ("start time", |task| task.open[0]),
        ("elapsed create time", |task| task.open[1] - task.open[0]),
        ("elapsed transfer time", TaskTimes::transfer_s),
        ("elapsed close time", |task| task.close[1] - task.close[0]),
        ("end time", |task| task.close[1]),
    ];
    let mut text = String::new();
    for (name, of) in times {
        let all: Vec<f64> = figures.tasks.iter().map(of).collect();
        let Statistics { mean, deviation, .. } = Statistics::of(&all);
        for (rank, time) in all.iter().enumerate() {
            if (time - mean).abs() > threshold_s {
                text += &format!(
                    "WARNING: for {}, task {rank}, {name} is {time:.6} (mean={mean:.6}, \
                     stddev={deviation:.6})\n",
                    figures.access.word()
                );
            }
        }
    }
    text
}

/// Verification errors.
pub(super) fn errors(setup: &TestSetup, kind: PhaseKind, errors: u64) -> String {
    if errors == 0 {
        return String::new();
    }
    let phase = if kind == PhaseKind::Check { "write" } else { "read" };
    let stamp = setup.signature as u32;
    format!(
        "WARNING: Incorrect data on {phase} ({errors} errors found).\n\
         Used Time Stamp {stamp} (0x{stamp:x}) for Data Signature\n"
    )
}

/// The row of a removal.
pub(super) fn removal(setup: &TestSetup, repetition: u32, seconds: f64) -> String {
    if setup.options.output.verbose == 0 {
        return String::new();
    }
    let dash = format!("{:<11}", "-");
    let dashes = format!("{dash}{dash}{dash} {}", dash.repeat(5));
    format!("{:<10}{dashes}{}{repetition:<4}\n", "remove", cell(seconds))
}

/// The lines after the last phase of a test.
pub(super) fn test_end(test: &TestResults<'_>) -> String {
    let output = &test.setup.options.output;
    let mut text = String::new();
    if output.summary_always {
        text += &format!("\n{SUMMARY}{}", summary_rows(test));
    } else if output.verbose >= 1 {
        text += &maxima(test);
    }
    text + &pairs(test)
}

/// The transfers that all tasks of the first write reached, unless a status file has the number.
fn pairs(test: &TestResults<'_>) -> String {
    let ends = &test.setup.options.ends;
    if !ends.wear_out || ends.status_file.is_some() {
        return String::new();
    }
    let write = test.rows.iter().find(|figures| figures.access == Access::Write);
    let count = write.and_then(|figures| figures.stonewall).map_or(0, |wall| wall.transfers_max);
    format!("Pairs deadlineForStonewallingaccessed: {count}\n")
}

fn maxima(test: &TestResults<'_>) -> String {
    let mut text = String::new();
    for (access, word) in [(Access::Write, "Write:"), (Access::Read, "Read: ")] {
        if let Some(summary) = Summary::of(access, &test.rows) {
            let mib = summary.mib_per_s.max;
            let mb = mib * MIB / MEGABYTE;
            text += &format!("Max {word} {mib:.2} MiB/sec ({mb:.2} MB/sec)\n");
        }
    }
    text
}

/// The summary of all tests, and the last line.
pub(super) fn tail(tests: &[TestResults<'_>], now: &Moment) -> String {
    let rows: String = tests.iter().map(summary_rows).collect();
    format!("\nSummary of all tests:\n{SUMMARY}{rows}{}", pair("Finished", now.text()))
}

fn summary_rows(test: &TestResults<'_>) -> String {
    let both = [Access::Write, Access::Read].into_iter();
    both.filter_map(|access| Summary::of(access, &test.rows))
        .map(|summary| summary_row(test.setup, &summary))
        .collect()
}

fn summary_row(setup: &TestSetup, summary: &Summary) -> String {
    let options = &setup.options;
    let (layout, order) = (&options.layout, &options.order);
    let mut text = format!("{:<9} ", summary.access.word());
    for Statistics { max, min, mean, deviation } in [summary.mib_per_s, summary.transfers_per_s] {
        text += &format!("{max:>10.2} {min:>10.2} {mean:>10.2} {deviation:>10.2} ");
    }
    text += &format!("{:>10.5} ", summary.mean_s);
    text += &match summary.stonewall {
        Some(stonewall) => {
            format!("{:>10.2} {:>13.2} ", stonewall.seconds, stonewall.bytes_mean / MIB)
        }
        None => format!("{:>10} {:>13} ", "NA", "NA"),
    };
    text += &format!("{:>5} {:>6} {:>3} ", setup.id, setup.tasks, setup.tasks_on_node0);
    text += &format!("{:>4} ", options.run.repetitions);
    text += &format!("{:>3} {:>5} ", u8::from(layout.file_per_process), u8::from(order.constant));
    text += &format!("{:>8} {:>9} {:>4} ", order.offset, order.random, order.seed);
    text += &format!("{:>6} ", layout.segments);
    text += &format!("{:>8} {:>8} ", layout.block_bytes, layout.transfer_bytes);
    text += &format!("{:>9.1} ", summary.bytes as f64 / MIB);
    text + &format!("{:>3} {:>6}\n", options.io.api.word(), options.output.reference)
}

/// A phase of a dry run.
pub(super) fn planned(nth: usize, phase: &TestPhase, test: &TestResults<'_>) -> String {
    let setup = test.setup;
    let moves = match phase.kind {
        PhaseKind::Clear | PhaseKind::Fill | PhaseKind::Remove => "files".to_owned(),
        _ if setup.options.io.api == Api::Dummy => "nothing".to_owned(),
        _ => format!(
            "{} tasks, {} transfers of {} each",
            setup.tasks,
            setup.task_transfers(),
            bytes(setup.options.layout.transfer_bytes)
        ),
    };
    let (id, word, repetition) = (setup.id, phase.kind.word(), phase.repetition);
    format!("phase {nth}: test {id}, repetition {repetition}: {word} {moves}\n")
}
