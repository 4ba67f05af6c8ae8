//! Targets of operations, files and devices: opening, zones, commands past the block layer.

pub mod descriptors;
pub mod files;
pub mod passthrough;
pub mod zones;
