//! Phases, and their ends.

use super::{Row, flag, put, put_count, put_natural, put_number, put_text};
use crate::grammar;
use candor_front::store;

#[rustfmt::skip]
pub(super) const PHASES: &[Row] = &[
    flag("writeFile", |o, t| put(&mut o.run.write, t), "Write the files").letter('w')
        .exact("phase", "1"),
    flag("readFile", |o, t| put(&mut o.run.read, t), "Read the files").letter('r')
        .exact("phase", "1"),
    flag("checkWrite", |o, t| put(&mut o.run.check_write, t),
        "Read files back after the write, and verify them").letter('W').exact("phase", "1"),
    flag("checkRead", |o, t| put(&mut o.run.check_read, t), "Verify the data of reads").letter('R')
        .exact("blocks.verify", "1"),
    Row::value("repetitions", "N", |o, t| put_number(&mut o.run.repetitions, t, 1..=100_000),
        "Repeat the test N times").letter('i').default("1").exact("phase", "2"),
    Row::value("interTestDelay", "SECONDS", |o, t| store(&mut o.run.delay, grammar::seconds(t)?),
        "Wait SECONDS before each write and each read").letter('d').default("0")
        .exact("phase.delay", "1"),
    Row::value("maxTimeDuration", "MINUTES", |o, t| put_count(&mut o.ends.max_time_min, t),
        "Start no phase after N minutes").letter('T').default("0").exact("", "1"),
    flag("intraTestBarriers", |o, t| put(&mut o.run.barriers, t),
        "Wait for all tasks between open, transfer and close").letter('g')
        .exact("blocks.opening", "1"),
    flag("useExistingTestFile", |o, t| put(&mut o.run.use_existing, t),
        "Keep existing files before the write").letter('E').exact("phase", "1"),
    flag("keepFile", |o, t| put(&mut o.run.keep, t), "Keep the files at the end").letter('k')
        .exact("phase", "1"),
    flag("keepFileWithError", |o, t| put(&mut o.run.keep_with_error, t),
        "Keep files with verification errors").letter('K').exact("", "1"),
];

#[rustfmt::skip]
pub(super) const ENDS: &[Row] = &[
    Row::value("deadlineForStonewalling", "SECONDS", |o, t| put_count(&mut o.ends.deadline_s, t),
        "End each phase after SECONDS").letter('D').default("0").exact("stop.time", "5"),
    flag("stoneWallingWearOut", |o, t| put(&mut o.ends.wear_out, t),
        "After the deadline, let all tasks reach the largest count").exact("stop.stonewall", "1"),
    Row::value("stoneWallingWearOutIterations", "N",
        |o, t| put_natural(&mut o.ends.wear_out_iterations, t), "End each task after N transfers")
        .default("0").exact("stop.ops", "8"),
    Row::value("stoneWallingStatusFile", "FILE", |o, t| put_text(&mut o.ends.status_file, t),
        "Store the count of a write in FILE for a later read").exact("stop.ops", "status"),
    Row::value("minTimeDuration", "SECONDS", |o, t| put_count(&mut o.ends.min_s, t),
        "Repeat each task's transfers for at least SECONDS").default("0")
        .exact("stop.min_time", "5"),
];
