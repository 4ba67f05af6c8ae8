//! From a path to its filesystem, its extents and the block device below.

pub(crate) mod fiemap;
pub(crate) mod files;
pub(crate) mod generic;
pub(crate) mod layers;
pub(crate) mod mounts;
pub(crate) mod resolve;
