//! Metrics of a run in progress, for Prometheus and compatible systems.
//!
//! [`RunMetrics`] takes the events of a run, [`WatchMetrics`] the activity of `candor watch`. Both
//! fill a [`Registry`], which an [`Endpoint`] serves over HTTP on its own thread. Metric names end
//! in a base unit; values have that unit. When a phase ends, its counters become the report's.
//!
//! ```
//! let metrics = candor_metrics::RunMetrics::default();
//! let registry = metrics.registry();                   // for Endpoint::open
//! let address = candor_metrics::address("9500").unwrap();
//! assert_eq!(address.to_string(), "127.0.0.1:9500");
//! # drop(registry);
//! ```

mod devices;
mod endpoint;
mod run;
mod series;
mod text;
mod watch;

pub use endpoint::{Endpoint, address};
pub use prometheus_client::registry::Registry;
pub use run::RunMetrics;
pub use text::Format;
pub use watch::WatchMetrics;
