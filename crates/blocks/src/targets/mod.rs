//! Targets of operations, files and devices: opening, zones.

pub(crate) mod descriptors;
pub mod files;
pub mod zones;
