//! The core of every engine: the loop, clock, counters, gates, buffers, control.
//!
//! Control plane and data plane are apart. [`phase::Prepared`] has everything decided, opened,
//! allocated, registered and pinned; the loop in [`worker`] allocates nothing, locks nothing, logs
//! nothing and makes no system call that the workload does not ask for. Which operations there are
//! and how they are issued is known to families of work alone, in crates of their own
//! ([`family`]): no system call of I/O is made here.

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
