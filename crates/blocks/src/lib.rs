//! Block I/O: reads, writes and trims of files and devices, and the engines that issue them.
//!
//! [`BlocksFamily`] takes a job whose work is [`candor_plan::Blocks`] and gives workers: a stream
//! of operations, wrappers around it, and an engine. The engine crate runs them. The crate opens no
//! target without a job, and checks that all ranges fit before anything is written.
//!
//! | module | content |
//! | --- | --- |
//! | [`stream`] | file, offset, length and direction of the next operation |
//! | `sources` | wrappers around the stream: verification, zones, syncs, opening |
//! | `verifier` | checks of what operations read; content and headers are in the crate `bytes` |
//! | [`targets`], [`layout`] | files, devices, zones; files written before a phase |
//! | [`engines`] | one file per way to issue I/O |
//! | `ready` | a prepared job, and the chain of sources of each worker |
//!
//! A job that this family runs:
//!
//! ```toml
//! [[phase.job]]
//! targets = ["data"]
//! work.blocks = { access = "random", size = "4k", direct = true, engine = "io_uring", depth = 32 }
//! ```

pub mod engines;
mod known;
pub mod layout;
mod ready;
mod slot;
mod sources;
pub mod stream;
pub mod targets;
mod verifier;

pub use known::Known;
pub use ready::BlocksFamily;
