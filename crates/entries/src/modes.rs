//! Access modes of new names, before the process's mask.

/// Mode of new files.
pub const FILE_MODE: libc::mode_t = 0o644;
/// Mode of new directories.
pub const DIRECTORY_MODE: libc::mode_t = 0o755;
