//! Blocks: reads, writes and trims of files and devices, and engines that issue them.

pub mod data;
pub mod engines;
pub mod journal;
mod known;
pub mod layout;
mod ready;
mod slot;
mod sources;
pub mod stream;
pub mod targets;

pub use known::{Known, Mismatches};
pub use ready::BlocksFamily;
