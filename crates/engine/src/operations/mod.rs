//! Operations in flight, and the counters and logs that account for them.

pub mod ring;
pub mod slots;
pub mod stats;
