//! The rows, one file per topic.

pub(super) mod area;
pub(super) mod blocks;
pub(super) mod buffers;
pub(super) mod description;
pub(super) mod engines;
pub(super) mod files;
pub(super) mod io;
pub(super) mod logs;
pub(super) mod pace;
pub(super) mod processes;
pub(super) mod random;
pub(super) mod runtime;
pub(super) mod trace;
pub(super) mod verify;
pub(super) mod zones;
