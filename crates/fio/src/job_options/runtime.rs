//! Name and run time of a job.

use candor_plan::Nanos;

use candor_front::choices;

/// Name and description of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// `name`, where it is not the section's.
    pub name: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `wait_for`.
    pub wait_for: Option<String>,
    /// `comm`.
    pub comm: Option<String>,
}

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

/// `steadystate` and its friends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steady {
    /// The figure that must be steady.
    pub of: SteadyOf,
    /// The limit.
    pub limit: f64,
    /// The limit is in percent of the mean.
    pub percent: bool,
    /// `ss_dur`: the time over which it must hold; 0 turns it off.
    pub duration: Nanos,
    /// `ss_ramp`.
    pub ramp: Nanos,
    /// `ss_interval`.
    pub interval: Nanos,
}

impl Steady {
    /// Windows that fit into the duration; 0 turns the search for a steady state off.
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
    /// `runtime`; 0 is no bound.
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
    /// `startdelay`, from and to.
    pub delay: (Nanos, Nanos),
    /// `steadystate`.
    pub steady: Steady,
    /// `job_start_clock_id`.
    pub start_clock_id: u64,
}
