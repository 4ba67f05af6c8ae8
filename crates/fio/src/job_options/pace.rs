//! Pacing: rates, think time, latency goals, flow between jobs.

use candor_plan::Nanos;
use candor_plan::units::PerDirection;

use candor_front::choices;

choices! {
    /// `rate_process`.
    pub enum RateProcess {
        #[default]
        Linear = "gaps are all the same": "linear",
        Poisson = "gaps are drawn, as between many independent users": "poisson",
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
    /// A rate is set above which the job does not go.
    pub fn is_set(&self) -> bool {
        self.bytes.iter().chain(self.iops.iter()).any(|(_, rate)| *rate > 0)
    }

    /// A rate is set below which the job fails.
    pub fn has_floor(&self) -> bool {
        self.bytes_min.iter().chain(self.iops_min.iter()).any(|(_, rate)| *rate > 0)
    }
}

choices! {
    /// `thinktime_blocks_type`.
    pub enum ThinkBlocks {
        #[default]
        Complete = "completed operations count": "complete",
        Issue = "issued operations count": "issue",
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
    /// The job rests.
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

/// Shares between jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// `flow_id`.
    pub id: u64,
    /// `flow`: the job's weight, 0 for none.
    pub weight: u64,
    /// `flow_sleep`.
    pub sleep: Nanos,
}
