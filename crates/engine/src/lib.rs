//! Plan in, measurements out: the only crate of candor with a hot loop.
//!
//! Control plane and data plane are apart. [`phase::Prepared`] decides, opens, allocates,
//! registers and pins everything; the loop in [`worker`] allocates nothing, locks nothing, logs
//! nothing and makes no system call that the workload does not ask for.

mod absent;
pub mod clock;
pub mod clock_check;
pub mod content;
mod control;
mod course;
mod descriptors;
pub mod engines;
mod error;
mod failures;
pub mod files;
mod floor;
mod flow;
mod gather;
mod goal;
mod guards;
pub mod idle;
pub mod layout;
mod logging;
pub mod memory;
pub mod pace;
pub mod phase;
pub mod placement;
mod prepare;
mod priority;
pub mod random;
mod ring;
mod sampling;
pub mod session;
mod shared;
pub mod slots;
mod so_far;
pub mod standing;
mod stats;
mod steady;
pub mod stream;
mod verifier;
pub mod verify;
mod worker;
mod zones;

pub use absent::Absent;
pub use error::{EngineError, remedy};
pub use phase::{Prepared, Watch};
pub use session::Session;
