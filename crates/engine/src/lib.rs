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
mod failures;
pub mod family;
mod first_done;
pub mod gates;
pub mod host;
pub mod issue;
pub mod names;
pub mod operation;
mod operation_log;
pub mod phase;
pub mod random;
mod shared;
pub mod source;
pub mod stops;
pub mod worker;
pub mod worker_end;

pub use candor_plan::permutation;
pub use error::{EngineError, remedy};
pub use failures::Failures;
pub use phase::session::Session;
pub use phase::skipped::SkippedJob;
pub use phase::{LoggedOperation, LoggedOperations, Prepared, Task, Watch};
