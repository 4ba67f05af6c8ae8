//! Threads and memory of this host: CPUs, priorities, credentials, descriptors, buffers.

pub mod descriptors;
pub mod idle;
pub mod memory;
pub mod placement;
pub mod priority;
pub mod thread_attributes;
