//! Files and devices that operations go to: opening, laying out, zones.

pub(crate) mod descriptors;
pub mod files;
pub mod layout;
pub mod zones;
