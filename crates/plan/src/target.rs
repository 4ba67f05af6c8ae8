//! Targets: what is exercised.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Bytes;

/// A thing to exercise: a file, a set of files under a directory, a block device, a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// The name by which jobs refer to it.
    pub name: String,
    /// File, directory or block device. Not used by the null engine.
    pub path: PathBuf,
    /// Kind of object that the path is taken for.
    pub kind: TargetKind,
    /// Bytes used of each file or of the device; absent means its present size.
    pub size: Option<Bytes>,
    /// Number of files, for a file set whose files are numbered.
    pub files: u32,
    /// The files of a file set by name, each with a size of its own, instead of numbered ones.
    pub members: Vec<Member>,
    /// How missing bytes of a file come into being before the first phase that needs them.
    pub layout: Layout,
    /// Objects to make where there is nothing.
    pub create: Create,
    /// The plan's bytes lie behind what a file holds when a phase begins.
    pub append: bool,
    /// Keep files that candor made. Files it did not make are never removed, but for `remove`.
    pub keep: bool,
    /// Remove the files after each phase that used them, whoever made them.
    pub remove: bool,
    /// Consent to destroy what is there: writing to a device or to a file candor did not make.
    pub overwrite: bool,
    /// I/O scheduler of the device, or of the one that holds the files, while a phase uses them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Shape of the tree, for entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<crate::entries::Tree>,
}

impl Default for Target {
    fn default() -> Self {
        Target {
            name: "target".into(),
            path: PathBuf::new(),
            kind: TargetKind::Auto,
            size: None,
            files: 1,
            members: Vec::new(),
            layout: Layout::Write,
            create: Create::Files,
            append: false,
            keep: false,
            remove: false,
            overwrite: false,
            scheduler: None,
            tree: None,
        }
    }
}

impl Target {
    /// Number of files that the plan names: one, or those of a set.
    pub fn files_named(&self) -> u64 {
        if self.members.is_empty() { u64::from(self.files) } else { self.members.len() as u64 }
    }
}

/// One file of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Member {
    /// Name, relative to the target's path.
    pub name: String,
    /// Bytes used of it; absent means the target's size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
}

/// Objects to make where there is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Create {
    /// Nothing: a file that is not there is an error.
    Nothing,
    /// Files, in directories that exist.
    #[default]
    Files,
    /// Files, and the directories they are in; those stay.
    Parents,
}

/// Kind of object that a target's path is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A directory holds a file set, a block device is a device, anything else is one file.
    #[default]
    Auto,
    /// One regular file.
    File,
    /// Files in the directory `path`: `members`, or `files` numbered ones.
    FileSet,
    /// All files that are there below the directory `path`.
    Existing,
    /// A block device.
    Device,
    /// A directory tree, for entries.
    Tree,
    /// Nothing at all: offsets are generated, no byte moves (null engine, ring no-ops).
    Null,
}

/// How missing bytes of a file come into being.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Written with the incompressible pool and flushed: the only honest ground for reads.
    #[default]
    Write,
    /// `fallocate`: blocks reserved, never written (reads measure the filesystem's zeros).
    Allocate,
    /// The same, but a file keeps its length until it is written.
    Reserve,
    /// `ftruncate`: a sparse file (reads measure holes).
    Sparse,
    /// Nothing is made; a short or missing file is an error for reads and grows under writes.
    Never,
}
