//! Rates, think time, latency goals, flow.

use candor_plan::Nanos;
use candor_plan::units::PerDirection;

use super::kind::{Kind, MANY, Row};
use crate::values::TimeUnit::{Micros, Seconds};
use candor_front::{choices, row};

choices! {
    /// `rate_process`.
    pub enum RateProcess {
        #[default]
        Linear = "constant gaps": "linear",
        Poisson = "exponential gaps, as from many independent users": "poisson",
    }
}

/// Rates; 0 is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rate {
    /// `rate`: bytes per second.
    pub bytes: PerDirection<u64>,
    /// `rate_min`: bytes per second.
    pub bytes_min: PerDirection<u64>,
    /// `rate_iops`.
    pub iops: PerDirection<u64>,
    /// `rate_iops_min`.
    pub iops_min: PerDirection<u64>,
    /// `rate_process`.
    pub process: RateProcess,
    /// `rate_cycle` in milliseconds.
    pub cycle_ms: u64,
    /// `rate_ignore_thinktime`.
    pub ignore_think: bool,
}

impl Rate {
    /// True if a rate limits the job.
    pub fn is_set(&self) -> bool {
        self.bytes.iter().chain(self.iops.iter()).any(|(_, rate)| *rate > 0)
    }

    /// True if the job fails below a rate.
    pub fn has_floor(&self) -> bool {
        self.bytes_min.iter().chain(self.iops_min.iter()).any(|(_, rate)| *rate > 0)
    }
}

choices! {
    /// `thinktime_blocks_type`.
    pub enum ThinkBlocks {
        #[default]
        Complete = "count completed operations": "complete",
        Issue = "count issued operations": "issue",
    }
}

/// Think time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Think {
    /// `thinktime`.
    pub time: Nanos,
    /// `thinktime_spin`.
    pub spin: Nanos,
    /// `thinkcycles`.
    pub cycles: u64,
    /// `thinktime_blocks`.
    pub blocks: u64,
    /// `thinktime_blocks_type`.
    pub blocks_type: ThinkBlocks,
    /// `thinktime_iotime`.
    pub io_time: Nanos,
}

impl Think {
    /// True if the job sleeps between operations.
    pub fn rests(&self) -> bool {
        self.time > Nanos(0) || self.cycles > 0
    }
}

/// Latency goals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Goals {
    /// `max_latency`; 0 is none.
    pub max: PerDirection<Nanos>,
    /// `latency_target`; 0 is none.
    pub target: Nanos,
    /// `latency_window`.
    pub window: Nanos,
    /// `latency_percentile`.
    pub percentile: f64,
    /// `latency_run`.
    pub run: bool,
}

/// Flow between jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// `flow_id`.
    pub id: u64,
    /// `flow`: the job's weight; 0 is none.
    pub weight: u64,
    /// `flow_sleep`.
    pub sleep: Nanos,
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("rate", Kind::Sizes(0), |s, v| v.ints(&mut s.rate.bytes),
        "limit bandwidth of reads, writes and trims")
        .exact("blocks.pace.bytes", "1m"),
    row("rate_min", Kind::Sizes(0), |s, v| v.ints(&mut s.rate.bytes_min),
        "end the job below this bandwidth")
        .alias(&["ratemin"]).under("rate").exact("blocks.pace.floor", "1m"),
    row("rate_iops", Kind::Ints(0, MANY), |s, v| v.ints(&mut s.rate.iops),
        "limit IOPS of reads, writes and trims")
        .exact("blocks.pace.ops", "1000"),
    row("rate_iops_min", Kind::Ints(0, MANY), |s, v| v.ints(&mut s.rate.iops_min),
        "end the job below these IOPS")
        .under("rate_iops").exact("blocks.pace.floor", "100"),
    row("rate_process", Kind::Choice(RateProcess::CHOICES),
        |s, v| s.rate.process = v.of(RateProcess::ALL), "arrival of operations under a rate")
        .under("rate").default("linear").exact("blocks.pace.arrival", "poisson"),
    row("rate_cycle", Kind::Int(0, MANY), |s, v| s.rate.cycle_ms = v.int(),
        "average rate_min and rate_iops_min over N ms")
        .alias(&["ratecycle"]).under("rate").default("1000").when(|s| s.rate.has_floor())
        .exact("blocks.pace.floor.cycle", "500"),
    row("rate_ignore_thinktime", Kind::Bool, |s, v| s.rate.ignore_think = v.bool(),
        "exclude think time from the rate")
        .under("rate").default("0").exact("blocks.pace.think_shifts", "1"),
];

#[rustfmt::skip]
pub(super) const THINK: &[Row] = &[
    row("thinktime", Kind::Time(Micros), |s, v| s.think.time = v.time(), "sleep between operations")
        .default("0").exact("blocks.pace.think", "1ms"),
    row("thinktime_spin", Kind::Time(Micros), |s, v| s.think.spin = v.time(),
        "busy part of the think time")
        .under("thinktime").when(|s| s.think.time.0 > 0).default("0")
        .exact("blocks.pace.think.spin", "1ms"),
    row("thinkcycles", Kind::Int(0, MANY), |s, v| s.think.cycles = v.int(),
        "CPU cycles between operations, in addition to thinktime")
        .under("thinktime").default("0").exact("blocks.pace.think.spin_cycles", "1000"),
    row("thinktime_blocks", Kind::Int(0, MANY), |s, v| s.think.blocks = v.int(),
        "sleep after N operations")
        .under("thinktime").when(|s| s.think.rests()).default("1")
        .exact("blocks.pace.think.every", "8"),
    row("thinktime_blocks_type", Kind::Choice(ThinkBlocks::CHOICES),
        |s, v| s.think.blocks_type = v.of(ThinkBlocks::ALL),
        "operations that thinktime_blocks counts")
        .under("thinktime").when(|s| s.think.rests()).default("complete")
        .exact("blocks.pace.think.count", "issue"),
    row("thinktime_iotime", Kind::Time(Seconds), |s, v| s.think.io_time = v.time(),
        "sleep after this I/O time")
        .under("thinktime").when(|s| s.think.rests()).default("0")
        .exact("blocks.pace.think.every_time", "1s"),
];

#[rustfmt::skip]
pub(super) const GOALS: &[Row] = &[
    row("max_latency", Kind::Times(Micros), |s, v| v.times(&mut s.goals.max),
        "fail the job if an operation takes longer")
        .exact("stop.latency_max", "1s"),
    row("latency_target", Kind::Time(Micros), |s, v| s.goals.target = v.time(),
        "find the highest depth that keeps this latency")
        .exact("blocks.pace.goal", "1ms"),
    row("latency_window", Kind::Time(Micros), |s, v| s.goals.window = v.time(),
        "time to try each depth")
        .when(|s| s.goals.target.0 > 0).exact("blocks.pace.goal.window", "1s"),
    row("latency_percentile", Kind::Floats(0.0, 100.0, 1),
        |s, v| s.goals.percentile = v.floats().first().copied().unwrap_or(100.0),
        "percent of operations that must meet latency_target")
        .default("100").when(|s| s.goals.target.0 > 0).exact("blocks.pace.goal.percentile", "99.9"),
    row("latency_run", Kind::Bool, |s, v| s.goals.run = v.bool(),
        "continue to adjust the depth after it is found")
        .default("0").when(|s| s.goals.target.0 > 0).exact("blocks.pace.goal.goes_on", "1"),
];

#[rustfmt::skip]
pub(super) const FLOW: &[Row] = &[
    row("flow_id", Kind::Int(0, MANY), |s, v| s.flow.id = v.int(),
        "group of jobs that share flow")
        .default("0").when(|s| s.flow.weight > 0).exact("blocks.pace.flow.id", "1"),
    row("flow", Kind::Int(0, 1000), |s, v| s.flow.weight = v.int(),
        "weight of the job in its flow group")
        .under("flow_id").default("0").exact("blocks.pace.flow", "2"),
    row("flow_watermark", Kind::Deprecated, |_, _| (), "no longer used")
        .idle("10", "fio has dropped it"),
    row("flow_sleep", Kind::Time(Micros), |s, v| s.flow.sleep = v.time(),
        "sleep of a job that exceeds its share")
        .under("flow_id").default("0").when(|s| s.flow.weight > 0)
        .exact("blocks.pace.flow.wait", "1ms"),
];
