//! The result model of candor: types for everything that a run produces.
//!
//! From small to large: [`Histogram`], [`Measurement`] (counts of the engine), [`facts`] (the host)
//! and [`Snapshot`] (counters of the kernel at a moment), [`Finding`] (one diagnosis), [`Note`] (a
//! difference between request and run), and the [`Report`] that holds them all with the plan. An
//! [`Event`] is one moment of a run in progress. An [`Explanation`] describes a rule, [`Cached`]
//! the cached pages of files. [`results`] is the common form of results of any tool.
//!
//! `candor-derive` computes what follows from these types; [`fmt`] formats every number.
//!
//! ```
//! use candor_record::{Histogram, fmt};
//!
//! let mut latencies = Histogram::new();
//! latencies.record(70_000);
//! latencies.record(90_000);
//! assert_eq!(latencies.mean_ns(), Some(80_000.0));
//! assert_eq!(fmt::time(80_000.0), "80 µs");
//! ```
//!
//! `docs/report-schema.json` is derived from these types; a test of `candor-show` compares it.

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
pub mod http;
mod job_sample;
mod judgement;
mod latency_counts;
mod limit;
mod log;
mod measurement;
mod quantity;
mod repeats;
mod report;
pub mod requests;
pub mod results;
mod snapshot;
mod stored;
pub mod stream;
mod sweep;
mod thinned;
mod unit;

pub use activity::{Activity, ProcessTraffic, Traffic, Watched};
pub use cached::{CacheAction, Cached, CachedFile, Mapper};
pub use event::{Event, PrepareStep};
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
pub use http::HttpStats;
pub use job_sample::{JobSample, WorkerSample};
pub use judgement::*;
pub use latency_counts::LatencyCounts;
pub use limit::{Doubled, Limit, LimitClass, MeasuredInstead, TcpLimit, round_rate};
pub use log::*;
pub use measurement::*;
pub use quantity::Quantity;
pub use repeats::{RepeatedOp, Repeats, Spread};
pub use report::*;
pub use snapshot::*;
pub use stored::{REPORT_BYTES_MAX, read, read_unjudged};
pub use sweep::{Knee, Sweep, SweepKey, SweepRow};
pub use thinned::{Interval, Thinned};
pub use unit::{Unit, Value};
