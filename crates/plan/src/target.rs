//! Targets: what is exercised.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::{Bytes, FileName, PathText, path_of};

/// A thing to exercise: a file, a set of files under a directory, a block device, a tree.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// The name by which jobs refer to it.
    #[default("target")]
    pub name: String,
    /// File, directory or block device. Not used by the null engine.
    #[serde(with = "crate::path_text::as_text")]
    #[schemars(with = "PathBuf")]
    pub path: PathBuf,
    /// Kind of object at the path.
    pub kind: TargetKind,
    /// Bytes used of each file or of the device; absent means its present size.
    #[serialize_always]
    pub size: Option<Bytes>,
    /// The same as a share, in whole percent: of the device or of a file that is there; of files to
    /// make, of what is free on their filesystem when the run begins, for all of them together.
    pub size_percent: Option<u8>,
    /// Number of files, for a file set with numbered files.
    #[default(1)]
    pub files: u32,
    /// Name of each numbered file; absent means `candor.<target>.{number}`.
    pub file_name: Option<FileName>,
    /// Number of the first file.
    pub first_file: u32,
    /// Files of a file set by name, each with its own size, instead of numbered ones.
    pub members: Vec<Member>,
    /// Creation of missing bytes of a file before the first phase that needs them.
    pub layout: Layout,
    /// Objects to make if they are missing.
    pub create: Create,
    /// Append: the bytes of the plan begin at the end of the existing content when a phase begins.
    pub append: bool,
    /// Keep files that candor made. Files it did not make are never removed, but for `remove`.
    pub keep: bool,
    /// Remove the files after each phase that used them, made by any program.
    pub remove: bool,
    /// Consent to destroy what is there: writing to a device or to a file candor did not make.
    pub overwrite: bool,
    /// I/O scheduler of the device, or of the device of the files, while a phase uses them.
    pub scheduler: Option<String>,
    /// Shape of the tree, for entries.
    pub tree: Option<crate::Tree>,
    /// List of the tree's names, instead of a shape.
    pub listing: Option<crate::Listing>,
}

impl Target {
    /// Number of files that the plan names: one, or all of a set.
    pub fn files_named(&self) -> u64 {
        if self.members.is_empty() { u64::from(self.files) } else { self.members.len() as u64 }
    }

    /// True where all files of a set lie in one directory.
    pub fn is_flat(&self) -> bool {
        self.members.iter().all(|member| !member.name.contains('/'))
            && self.file_name.as_ref().is_none_or(FileName::is_flat)
    }

    /// Name of the numbered files.
    pub fn file_name(&self) -> FileName {
        self.file_name
            .clone()
            .unwrap_or_else(|| FileName::joined([format!("candor.{}.", self.name), String::new()]))
    }

    /// One file of a set, counted from 0, with the size that the plan gives it.
    ///
    /// # Panics
    /// If the plan names fewer files.
    pub fn file_of_set(&self, nth: u64) -> (PathBuf, Option<Bytes>) {
        let (name, size) = match self.members.get(nth as usize) {
            Some(member) => (member.name.clone(), member.size),
            None => (self.file_name().name(u64::from(self.first_file) + nth), None),
        };
        assert!(nth < self.files_named(), "there is no file with a number this high");
        (self.directory().join(path_of(&name)), size.or(self.size))
    }

    /// Key of one file, counted from 0, in a bucket: its `file_name`, or the target's name if it
    /// has none, without `/BUCKET/` at its begin.
    ///
    /// # Panics
    /// If the plan names fewer files.
    pub fn key_of(&self, nth: u64, bucket: &str) -> String {
        let is_set = self.files_named() > 1 || self.file_name.is_some();
        let path = if is_set { self.file_of_set(nth).0.text() } else { self.name.clone() };
        let key = path.strip_prefix('/').and_then(|rest| rest.strip_prefix(bucket));
        let key = key.and_then(|rest| rest.strip_prefix('/')).unwrap_or(&path);
        key.trim_start_matches('/').to_owned()
    }

    /// Bytes used of a file that the plan names; none for one that it does not name.
    pub fn size_of(&self, path: &Path) -> Option<Option<Bytes>> {
        if self.kind != TargetKind::FileSet {
            return (self.path == path).then_some(self.size);
        }
        let name = path.strip_prefix(self.directory()).ok()?.text();
        if self.members.is_empty() {
            let first = u64::from(self.first_file);
            let numbers = first..first + u64::from(self.files);
            let number = self.file_name().number(&name)?;
            return numbers.contains(&number).then_some(self.size);
        }
        let member = self.members.iter().find(|member| member.name == name)?;
        Some(member.size.or(self.size))
    }

    /// Directory of a set, as its files' paths begin.
    fn directory(&self) -> &Path {
        if self.path == Path::new(".") { Path::new("") } else { &self.path }
    }
}

/// All regular files below a directory, in the order of their names; links are not followed. A
/// directory that cannot be listed has none.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let (mut files, mut left) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => left.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// One file of a set.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Member {
    /// Name, relative to the target's path, as text.
    pub name: String,
    /// Bytes used of it; absent means the target's size.
    pub size: Option<Bytes>,
}

/// Objects to make if they are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
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

/// Kind of object at a target's path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A directory holds a file set, a block device is a device, anything else is one file.
    #[default]
    Auto,
    /// One regular file.
    File,
    /// Files in the directory `path`: `members`, or `files` numbered ones named by `file_name`.
    FileSet,
    /// All files that are there below the directory `path`.
    Existing,
    /// A block device.
    Device,
    /// A directory tree, for entries.
    Tree,
    /// Nothing: offsets are generated, no byte moves (null engine, ring no-ops).
    Null,
}

/// How missing bytes of a file come into being.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Like `write`, except for files that the work itself writes in sequence from their start.
    #[default]
    Needed,
    /// Written with the incompressible pool and flushed: the only valid content for reads. Holes of
    /// a file that work may overwrite are written as well.
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
