//! Run time and repeats.

use crate::job_options::SteadyOf;
use crate::options::kind::{Kind, Row};
use crate::options::own;
use crate::values::TimeUnit::Seconds;
use candor_front::{Choice, bare, row};

/// The words of `clocksource`.
const CLOCKS: &[Choice] = &[
    own::word("", "the best one"),
    own::word("gettimeofday", "gettimeofday"),
    own::word("clock_gettime", "clock_gettime"),
    own::word("cpu", "the processor's own"),
];

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    row("loops", Kind::Int(0, u32::MAX as u64), |s, v| s.runtime.loops = v.int(),
        "how often the job does its work")
        .default("1").exact("stop.bytes", "3"),
    row("numjobs", Kind::Int(1, u32::MAX as u64), |s, v| s.runtime.clones = v.int(),
        "number of clones of the job, all doing the same")
        .default("1").exact("phase.job", "3"),
    bare("startdelay", Kind::Own("TIME or TIME-TIME, in seconds", &[], own::start_delay),
        "wait before the job starts; of a range, each clone draws its own")
        .default("0").exact("job.delay", "2s"),
    row("runtime", Kind::Time(Seconds), |s, v| s.runtime.runtime = v.time(), "stop after this time")
        .alias(&["timeout"]).default("0").exact("stop.time", "10s"),
    row("time_based", Kind::Flag, |s, v| s.runtime.time_based = v.bool(),
        "continue until runtime is over, and repeat the work as often as needed")
        .exact("stop", "1"),
    row("ramp_time", Kind::Time(Seconds), |s, v| s.runtime.ramp = v.time(),
        "run that long before anything counts")
        .exact("phase.ramp", "2s"),
    row("ramp_size", Kind::Size(1), |s, v| s.runtime.ramp_bytes = v.int(),
        "move that much before anything counts; with group_reporting, all of the group together")
        .exact("phase.ramp_amount", "1m"),
    bare("clocksource", Kind::Choice(CLOCKS), "the clock that latencies are taken from")
        .idle("clock_gettime",
            "candor uses the best clock of the host and names it in its report"),
    bare("gtod_cpu", Kind::Int(0, u32::MAX as u64), "a CPU that only reads the clock")
        .idle("1",
            "candor reads the clock without a system call, so that no CPU is set apart for it"),
    row("job_start_clock_id", Kind::Int(0, 64), |s, v| s.runtime.start_clock_id = v.int(),
        "clock of job_start in the results")
        .default("0").exact("output", "1"),
    bare("steadystate", Kind::Own("CRITERION:LIMIT[%]", SteadyOf::CHOICES, own::steady),
        "end the job when what is watched stays within the limit")
        .alias(&["ss"]).default("iops_slope:0.01%").when(|s| s.runtime.steady.duration.0 > 0)
        .exact("stop.steady", "iops:5%"),
    row("steadystate_duration", Kind::Time(Seconds), |s, v| s.runtime.steady.duration = v.time(),
        "how long the criterion must hold")
        .alias(&["ss_dur"]).under("steadystate").default("0").exact("stop.steady", "10s"),
    row("steadystate_ramp_time", Kind::Time(Seconds), |s, v| s.runtime.steady.ramp = v.time(),
        "time at the start that the criterion does not see")
        .alias(&["ss_ramp"]).under("steadystate").default("0")
        .when(|s| s.runtime.steady.duration.0 > 0).exact("stop.steady", "5s"),
    row("steadystate_check_interval", Kind::Time(Seconds),
        |s, v| s.runtime.steady.interval = v.time(), "time between two checks of the criterion")
        .alias(&["ss_interval"]).under("steadystate").default("1")
        .when(|s| s.runtime.steady.duration.0 > 0).exact("stop.steady", "2"),
];
