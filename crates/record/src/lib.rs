//! The result model of candor.
//!
//! What a run produces, from the smallest to the whole: [`Histogram`], [`Measurement`] (what the
//! engine counted), [`facts`] (what the host is) and [`Snapshot`] (what the kernel had counted at
//! a moment), [`Finding`] (one diagnosis), [`Note`] (what ran is not exactly what was asked), and
//! the [`Report`] that holds them all with the plan. While a run goes on everything that happens
//! is an [`Event`]. An [`Explanation`] tells of a rule, [`Cached`] of files in the page cache.
//! Renderers read these types and compute nothing.

mod activity;
pub mod by_name;
mod cached;
pub mod comparison;
mod event;
mod expectation;
mod explanation;
pub mod facts;
mod finding;
pub mod fmt;
mod follow_up;
pub mod histogram;
mod host_sample;
mod hosts;
pub mod io500;
mod judgement;
mod latency_counts;
mod limit;
mod log;
mod measurement;
mod name_table;
pub mod quantity;
mod rates;
mod repeats;
mod replay;
mod report;
pub mod requests;
pub mod results;
mod run_progress;
pub mod series;
mod snapshot;
mod stored;
pub mod stream;
pub mod summary;
mod sweep;
mod thinned;
pub mod trend;

pub use activity::{Activity, ProcessTraffic, Traffic, Watched};
pub use cached::{CacheAction, Cached, CachedFile, Mapper};
pub use event::{Event, JobSample, PrepareStep, WorkerSample};
pub use expectation::{Expectation, ExpectationResult};
pub use explanation::{Explanation, Threshold};
pub use facts::Facts;
pub use finding::{
    Confidence, Consequence, Evidence, Finding, NotEvaluated, Note, Setting, Severity, TimeRange,
    Verdict, lost_share_max,
};
pub use follow_up::{Change, FollowUp};
pub use histogram::Histogram;
pub use host_sample::{
    CpuShares, DeviceSample, HostSample, HostWork, cpu_busy_between, cpu_busy_of,
};
pub use hosts::{HostRow, host_rows};
pub use judgement::*;
pub use latency_counts::LatencyCounts;
pub use limit::{Doubled, Limit, LimitClass, MeasuredInstead, round_rate};
pub use log::*;
pub use measurement::*;
pub use name_table::{NameRate, NameTable};
pub use quantity::{Quantity, Unit, Value};
pub use rates::{DeviceRates, Rates};
pub use repeats::{RepeatedOp, Repeats, Spread};
pub use replay::replay;
pub use report::*;
pub use run_progress::{Left, RunProgress};
pub use snapshot::*;
pub use stored::{REPORT_BYTES_MAX, read, read_unjudged};
pub use sweep::{Knee, Sweep, SweepKey, SweepRow};
pub use thinned::{Interval, Thinned};
