//! State of the page cache that `candor cache` found, and what it did about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::snapshot::CacheState;

/// Action that was to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheAction {
    /// Look.
    #[default]
    Status,
    /// Write what is dirty, drop everything, look again.
    Evict,
    /// Read everything, look again.
    Warm,
}

/// Files in the page cache: what `candor cache` gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cached {
    /// Version of the report's shape, to which the parts of this one belong.
    pub report_version: u32,
    /// Action that was to be taken.
    pub action: CacheAction,
    /// The files, in the order in which they were found; each once, however many names it has.
    pub files: Vec<CachedFile>,
    /// All files that could be looked at, afterwards.
    pub total: CacheState,
    /// The same before anything was done; as `total` where nothing was to be done.
    pub before: CacheState,
    /// Bytes that are not as asked: still resident after `evict`, not resident after `warm`.
    pub rest_bytes: u64,
    /// Places where other filesystems are mounted below the paths; they were left out.
    pub mounts_left_out: Vec<String>,
    /// Processes whose mappings this user may not see.
    pub processes_unseen: u64,
    /// An interrupt ended it before all files had their turn.
    pub interrupted: bool,
}

impl Cached {
    /// Whether everything is as asked: all files had their turn, and nothing is left over.
    pub fn is_done(&self) -> bool {
        self.action == CacheAction::Status
            || (self.rest_bytes == 0
                && !self.interrupted
                && self.files.iter().all(|file| file.trouble.is_none()))
    }
}

/// One file or block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CachedFile {
    /// Path.
    pub path: String,
    /// Pages, afterwards; absent where nobody says.
    pub state: Option<CacheState>,
    /// The same before anything was done; absent where nobody tells.
    pub before: Option<CacheState>,
    /// Processes that map it, as far as this user may see.
    pub mapped_by: Vec<Mapper>,
    /// Why it could not be looked at, or not be read or written.
    pub trouble: Option<String>,
    /// Bytes that are not as asked, as in [`Cached::rest_bytes`].
    pub rest_bytes: u64,
    /// Why they are not; absent where all is as asked.
    pub rest: Option<String>,
}

/// A process that maps a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mapper {
    /// Number.
    pub pid: u32,
    /// Command's name.
    pub command: String,
}
