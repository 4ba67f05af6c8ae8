//! Bytes from a source to a sink, block by block, as dd copies.
//!
//! A copy is people's data, so it stands apart from the families: its loop reads no clock per
//! block, opens nothing by itself, and ends only as the plan of the copy says. [`copy()`] reads
//! input blocks, pads and converts them, gathers output blocks and counts both; an [`Observer`]
//! hears of everything on the way and holds the words for it. [`process`] is what a copying process
//! inherits and which signals it takes.

mod cache;
mod copier;
mod plan;
pub mod process;
mod sink;
mod source;

pub use copier::{Ended, OutOfMemory, copy};
pub use plan::{Amount, Convert, CopyPlan, Counts, Flush, Notice, Observer, Put, WriteFailed};
