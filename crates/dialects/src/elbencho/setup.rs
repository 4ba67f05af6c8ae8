//! A benchmark as it runs: what was asked, and what the paths are.

use super::options::Options;

/// Kind of the paths of a benchmark: all are of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathKind {
    /// Directories, for many small files.
    #[default]
    Directory,
    /// Files, there already or to be made.
    File,
    /// Block devices.
    BlockDevice,
}

impl PathKind {
    /// The word in result files.
    pub fn word(self) -> &'static str {
        match self {
            PathKind::Directory => "dir",
            PathKind::File => "file",
            PathKind::BlockDevice => "blockdev",
        }
    }
}

/// A benchmark as it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// The options as they were given.
    pub asked: Options,
    /// Kind of the paths.
    pub path_kind: PathKind,
    /// Bytes of each file or device that are used, a multiple of the block where access is direct,
    /// random or strided.
    pub file_bytes: u64,
    /// Bytes per I/O: those asked for, or of the whole file where that is smaller.
    pub block_bytes: u64,
    /// Bytes that all workers read or write together at random places; 0 without random access.
    pub random_bytes: u64,
}

/// Operation of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// All filesystems are synced.
    Sync,
    /// Caches of the kernel are dropped.
    DropCaches,
    /// Directories are made.
    MakeDirs,
    /// Files are written, or read and written.
    Write,
    /// Files are looked up.
    Stat,
    /// Files are read.
    Read,
    /// Files are removed.
    RemoveFiles,
    /// Directories are removed.
    RemoveDirs,
}

/// A phase of a benchmark, in the order in which it runs; each is a phase of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchPhase {
    /// The operation.
    pub kind: PhaseKind,
    /// The name in tables and result files: `MKDIRS`, `WRITE`, `RWMIX70`, `MIX-T4`, `READ+s`.
    pub name: String,
    /// Number of the iteration, from 0.
    pub iteration: u32,
}
