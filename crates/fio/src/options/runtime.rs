//! Run time and repeats.

use candor_plan::Nanos;

use super::JobOptions;
use super::kind::{Kind, MANY, Row};
use super::own::{Done, head, word};
use crate::values::TimeUnit::{self, Seconds};
use crate::values::{self, Units};
use candor_front::{Choice, Refused, bare, choices, choose, row};

choices! {
    /// `steadystate`, without its limit.
    pub enum SteadyOf {
        Iops = "operations per second, largest distance from their mean": "iops",
        #[default]
        IopsSlope = "operations per second, slope of a line through them": "iops_slope",
        Bandwidth = "bytes per second, largest distance from their mean": "bw",
        BandwidthSlope = "bytes per second, slope of a line through them": "bw_slope",
        Latency = "latency, largest distance from its mean": "lat",
        LatencySlope = "latency, slope of a line through it": "lat_slope",
    }
}

/// `steadystate` and its options.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steady {
    /// Metric that must be steady.
    pub of: SteadyOf,
    /// Limit.
    pub limit: f64,
    /// True if the limit is in percent of the mean.
    pub percent: bool,
    /// `ss_dur`: time for which the criterion must hold; 0 disables it.
    pub duration: Nanos,
    /// `ss_ramp`.
    pub ramp: Nanos,
    /// `ss_interval`.
    pub interval: Nanos,
}

impl Steady {
    /// Number of windows in the duration; 0 disables the steady state.
    pub fn windows(&self) -> u32 {
        u32::try_from(self.duration.0 / self.window().0).unwrap_or(u32::MAX)
    }

    /// Length of a window.
    pub fn window(&self) -> Nanos {
        self.interval.max(Nanos(1_000_000))
    }
}

/// Run time and repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runtime {
    /// `runtime`; 0 is unlimited.
    pub runtime: Nanos,
    /// `time_based`.
    pub time_based: bool,
    /// `loops`.
    pub loops: u64,
    /// `numjobs`.
    pub clones: u64,
    /// `ramp_size`; 0 is none.
    pub ramp_bytes: u64,
    /// `ramp_time`.
    pub ramp: Nanos,
    /// `startdelay`: minimum and maximum.
    pub delay: (Nanos, Nanos),
    /// `steadystate`.
    pub steady: Steady,
    /// `job_start_clock_id`.
    pub start_clock_id: u64,
}

/// Choices of `clocksource`.
const CLOCKS: &[Choice] = &[
    word("", "the best clock"),
    word("gettimeofday", "gettimeofday"),
    word("clock_gettime", "clock_gettime"),
    word("cpu", "CPU timestamp counter"),
];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("loops", Kind::Int(0, MANY), |s, v| s.runtime.loops = v.int(),
        "repeat the job's work N times")
        .default("1").exact("stop.bytes", "3"),
    row("numjobs", Kind::Int(1, MANY), |s, v| s.runtime.clones = v.int(),
        "number of clones of the job")
        .default("1").exact("phase.job", "3"),
    bare("startdelay", Kind::Own("TIME or TIME-TIME, in seconds", &[], start_delay),
        "wait before the start; clones draw from a range")
        .default("0").exact("job.delay", "2s"),
    row("runtime", Kind::Time(Seconds), |s, v| s.runtime.runtime = v.time(), "stop after this time")
        .alias(&["timeout"]).default("0").exact("stop.time", "10s"),
    row("time_based", Kind::Flag, |s, v| s.runtime.time_based = v.bool(),
        "repeat the work until runtime is over")
        .exact("stop", "1"),
    row("ramp_time", Kind::Time(Seconds), |s, v| s.runtime.ramp = v.time(),
        "exclude this time from the results")
        .exact("phase.ramp", "2s"),
    row("ramp_size", Kind::Size(1), |s, v| s.runtime.ramp_bytes = v.int(),
        "exclude this amount from the results; per group with group_reporting")
        .exact("phase.ramp_amount", "1m"),
    bare("clocksource", Kind::Choice(CLOCKS), "clock of latencies")
        .idle("clock_gettime",
            "candor uses the best clock of the host and names it in its report"),
    bare("gtod_cpu", Kind::Int(0, MANY), "CPU reserved to read the clock")
        .idle("1",
            "candor reads the clock without a system call, so that no CPU is set apart for it"),
    row("job_start_clock_id", Kind::Int(0, 64), |s, v| s.runtime.start_clock_id = v.int(),
        "clock id of job_start in the results")
        .default("0").exact("output", "1"),
    bare("steadystate", Kind::Own("CRITERION:LIMIT[%]", SteadyOf::CHOICES, steady),
        "end the job when a metric is steady within LIMIT")
        .alias(&["ss"]).default("iops_slope:0.01%").when(|s| s.runtime.steady.duration.0 > 0)
        .exact("stop.steady", "iops:5%"),
    row("steadystate_duration", Kind::Time(Seconds), |s, v| s.runtime.steady.duration = v.time(),
        "time for which the criterion must hold")
        .alias(&["ss_dur"]).under("steadystate").default("0").exact("stop.steady", "10s"),
    row("steadystate_ramp_time", Kind::Time(Seconds), |s, v| s.runtime.steady.ramp = v.time(),
        "time before the criterion applies")
        .alias(&["ss_ramp"]).under("steadystate").default("0")
        .when(|s| s.runtime.steady.duration.0 > 0).exact("stop.steady", "5s"),
    row("steadystate_check_interval", Kind::Time(Seconds),
        |s, v| s.runtime.steady.interval = v.time(), "interval between two checks of the criterion")
        .alias(&["ss_interval"]).under("steadystate").default("1")
        .when(|s| s.runtime.steady.duration.0 > 0).exact("stop.steady", "2"),
];

fn start_delay(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let read = values::time_range(text, TimeUnit::Seconds)?;
    s.runtime.delay = read.value;
    Ok(read.remark)
}

fn steady(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (name, limit) = head(text);
    let of = SteadyOf::ALL[choose(name, SteadyOf::CHOICES)?];
    let limit = limit.ok_or_else(|| {
        Refused::whole(text, format!("`{text}` has no limit"), format!("write {name}:5%"))
    })?;
    let steady = &mut s.runtime.steady;
    let (value, remark) = match limit.trim().strip_suffix('%') {
        Some(percent) => (values::decimal(percent)?.value, None),
        None => match of {
            SteadyOf::Iops | SteadyOf::IopsSlope => (values::decimal(limit)?.value, None),
            SteadyOf::Bandwidth | SteadyOf::BandwidthSlope => {
                let read = values::bytes(limit, units)?;
                (read.value as f64, read.remark)
            }
            SteadyOf::Latency | SteadyOf::LatencySlope => {
                let read = values::time(limit, TimeUnit::Micros)?;
                (read.value.0 as f64, read.remark)
            }
        },
    };
    steady.of = of;
    steady.limit = value;
    steady.percent = limit.trim().ends_with('%');
    Ok(remark)
}
