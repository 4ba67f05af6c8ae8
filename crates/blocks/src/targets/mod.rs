//! Targets of operations, files and devices: opening, layout, zones.

pub(crate) mod descriptors;
pub mod files;
pub mod layout;
pub mod zones;
