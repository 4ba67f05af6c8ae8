//! This host's threads and memory: CPUs, credentials, buffers.

pub mod idle;
pub mod memory;
pub mod placement;
pub mod thread_attributes;
