//! Threads and memory of this host: CPUs, credentials, buffers.

pub mod idle;
pub mod memory;
pub mod placement;
pub mod thread_attributes;
