//! Phases, and their ends.

use super::{Value, flag, put, put_number, put_text, value};
use crate::grammar;
use candor_front::{Row, store};

const COUNT_MAX: i64 = u32::MAX as i64;

#[rustfmt::skip]
pub(super) const PHASES: &[Row<Value>] = &[
    flag("writeFile", |d, t| put(&mut d.options.run.write, t), "write the files")
        .letter('w').exact("phase", "1"),
    flag("readFile", |d, t| put(&mut d.options.run.read, t), "read the files")
        .letter('r').exact("phase", "1"),
    flag("checkWrite", |d, t| put(&mut d.options.run.check_write, t),
        "read the files back after the write, and verify them").letter('W')
        .exact("phase", "1"),
    flag("checkRead", |d, t| put(&mut d.options.run.check_read, t),
        "verify what is read").letter('R').exact("blocks.verify", "1"),
    value("repetitions", "N", |d, t| put_number(&mut d.options.run.repetitions, t, [1, 100_000]),
        "repetitions of the test").letter('i').default("1").exact("phase", "2"),
    value("interTestDelay", "SECONDS",
        |d, t| store(&mut d.options.run.delay, grammar::seconds(t)?),
        "wait before each write and each read").letter('d').default("0")
        .exact("phase.delay", "1"),
    value("maxTimeDuration", "MINUTES",
        |d, t| put_number(&mut d.options.ends.max_time_min, t, [0, COUNT_MAX]),
        "begin no other phase after N minutes").letter('T').default("0")
        .exact("", "1"),
    flag("intraTestBarriers", |d, t| put(&mut d.options.run.barriers, t),
        "all tasks wait for each other between open, transfer and close").letter('g')
        .exact("blocks.opening", "1"),
    flag("useExistingTestFile", |d, t| put(&mut d.options.run.use_existing, t),
        "do not delete files before the write").letter('E').exact("phase", "1"),
    flag("keepFile", |d, t| put(&mut d.options.run.keep, t), "keep the files at the end")
        .letter('k').exact("phase", "1"),
    flag("keepFileWithError", |d, t| put(&mut d.options.run.keep_with_error, t),
        "keep files in which verification found errors").letter('K').exact("", "1"),
];

#[rustfmt::skip]
pub(super) const ENDS: &[Row<Value>] = &[
    value("deadlineForStonewalling", "SECONDS",
        |d, t| put_number(&mut d.options.ends.deadline_s, t, [0, COUNT_MAX]),
        "end each phase after SECONDS").letter('D').default("0")
        .exact("stop.time", "5"),
    flag("stoneWallingWearOut", |d, t| put(&mut d.options.ends.wear_out, t),
        "when time is over, all tasks continue to the largest count that any task reached")
        .exact("stop.stonewall", "1"),
    value("stoneWallingWearOutIterations", "N",
        |d, t| put_number(&mut d.options.ends.wear_out_iterations, t, [0, i64::MAX]),
        "each task ends after N transfers").default("0").exact("stop.ops", "8"),
    value("stoneWallingStatusFile", "FILE", |d, t| put_text(&mut d.options.ends.status_file, t),
        "keep the count of a write there, for a later read").exact("stop.ops", "status"),
    value("minTimeDuration", "SECONDS",
        |d, t| put_number(&mut d.options.ends.min_s, t, [0, COUNT_MAX]),
        "repeat the transfers of each task until N seconds have passed").default("0")
        .exact("stop.min_time", "5"),
];
