//! Figures of a run while it goes on, for Prometheus and its like.
//!
//! [`RunMetrics`] takes the events of a run, [`WatchMetrics`] the looks of `candor watch`. Both
//! fill a registry, which an [`Endpoint`] shows to whoever asks, on a thread of its own. Names
//! end in their unit, a base unit; numbers are those of the records, in that unit.

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
