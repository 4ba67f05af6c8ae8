//! The core of every engine: the loop, clock, counters, gates, buffers and control.
//!
//! The control plane and the data plane are separate. [`Prepared`] has everything decided, opened,
//! allocated, registered and pinned. The loop in [`worker`] allocates nothing, takes no lock, logs
//! nothing, and makes no system call other than the workload's own.
//!
//! Families of work, in separate crates, know the operations and how to issue them ([`family`]).
//! This crate makes no system call of I/O.
//!
//! ```text
//! let mut session = Session::new(families);                  // clock, families
//! let mut prepared = Prepared::new(&mut session, &Task::of(&plan, 0))?;
//! let measurements = prepared.run(&stop, &mut watch);        // one per job
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | [`source`], [`gates`] | origin of operations; pace and limits around a source |
//! | [`issue`], [`operation`] | engines; slots and outcomes |
//! | [`worker`], [`worker_end`] | the two loops; the results of a worker |
//! | [`counters`], [`clock`] | counters with one writer; ticks and nanoseconds |
//! | [`phase`], [`stops`] | the control plane; stops of the process |
//! | [`host`], [`names`], [`random`] | CPUs and buffers; names of files; random choices |

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
