//! Sources of a worker's operations: its stream, and wrappers that each own their state.
//!
//! From the outside in: opening and closing, counts by target, a low-water mark, syncs, flushes of
//! a trace in order, limits, a schedule, priorities, protection information, contents or
//! verification, zones, overlaps or ranges of trims, reading back, the work itself. A job has only
//! the sources that it uses ([`crate::ready`] builds the chain).

pub mod commits;
pub mod filled;
pub mod opened;
pub mod ordered;
pub mod per_target;
pub mod prioritised;
pub mod protected;
mod ranges;
pub mod read_back;
pub mod replay;
pub mod synced;
pub mod trim_ranges;
pub mod trims;
pub mod verified;
pub mod work;
pub mod zoned;
