//! Plan in, measurements out: the only crate of candor with a hot loop.
//!
//! Control plane and data plane are apart. [`phase::Prepared`] decides, opens, allocates,
//! registers and pins everything; the loop in [`worker`] allocates nothing, locks nothing, logs
//! nothing and makes no system call that the workload does not ask for.

pub mod clock;
pub mod data;
pub mod engines;
mod error;
mod gates;
pub mod host;
pub mod operations;
pub mod phase;
pub mod random;
pub mod stream;
pub mod targets;
mod worker;

pub use error::{EngineError, remedy};
pub use phase::session::Session;
pub use phase::skipped::SkippedJob;
pub use phase::{Prepared, Task, Watch};
