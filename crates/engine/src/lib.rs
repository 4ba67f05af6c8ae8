//! The core of every engine: the loop, clock, counters, gates, buffers, control.
//!
//! Control plane and data plane are apart. [`phase::Prepared`] has everything decided, opened,
//! allocated, registered and pinned. The loop in [`worker`] allocates nothing, locks nothing, logs
//! nothing, and makes no system call beyond the workload's own. Only families of work, in crates of
//! their own ([`family`]), know the operations and the ways to issue them: this crate makes no
//! system call of I/O.

pub mod clock;
pub mod counters;
mod error;
pub mod family;
pub mod gates;
pub mod host;
pub mod issue;
pub mod names;
pub mod operation;
mod operation_log;
pub mod phase;
pub mod random;
pub mod source;
pub mod worker;

pub use error::{EngineError, remedy};
pub use phase::failures::Failures;
pub use phase::session::Session;
pub use phase::skipped::SkippedJob;
pub use phase::{Prepared, Task, Watch};
