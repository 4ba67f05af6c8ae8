//! Trees whose names are listed: in a file of lines, or by a walk over what is there.

mod base64;
mod scan;
mod text;

use std::cmp::Ordering;
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::{Bytes, PathText};

/// A tree whose names are listed, and how ranks divide its files.
///
/// Directories that are made or removed are dealt by the first part of their path, each with all
/// below it, so that none waits for another rank's.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Listing {
    /// File with a line for each directory (`d PATH`) and each file (`f BYTES PATH`), relative to
    /// the target's path. Absent means all that is there below that path when the run begins.
    #[serde(with = "crate::path_text::as_text_or_none")]
    #[schemars(with = "Option<PathBuf>")]
    pub file: Option<PathBuf>,
    /// Longer files are cut among all ranks; absent means none is.
    pub share_above: Option<Bytes>,
    /// Sizes of files are rounded up to a multiple of it; 0 leaves them as they are listed.
    pub round_up: Bytes,
    /// Ranks that get the files which are not cut.
    pub deal: Deal,
    /// Files come in an order drawn by the plan's seed, instead of the list's.
    pub shuffled: bool,
}

/// Ranks that get whole files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Deal {
    /// The rank with the fewest bytes so far gets the next file.
    #[default]
    ByBytes,
    /// Each rank gets one file in turn, whatever its size.
    InTurn,
}

/// Longest path that the kernel takes.
const PATH_BYTES_MAX: usize = 4095;

/// Names one after another: their bytes and 4 more each.
#[derive(Default)]
struct Names {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Names {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, nth: usize) -> &[u8] {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[nth] as usize]
    }

    fn push(&mut self, name: &[u8]) -> Result<(), ListError> {
        self.bytes.extend_from_slice(name);
        let end = u32::try_from(self.bytes.len()).map_err(|_| {
            ListError::new("there are more than 4 GiB of names", "divide them between several runs")
        })?;
        self.ends.push(end);
        Ok(())
    }
}

/// Directories and files of a listed tree, relative to its root, which is none of them.
pub struct List {
    /// Parents before their children, and all below a directory right after it.
    directories: Names,
    files: Names,
    sizes: Vec<u64>,
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List({} directories, {} files)", self.directories(), self.files())
    }
}

impl List {
    /// The list of a tree with that root: its file is read, or what is there is walked over.
    ///
    /// # Errors
    /// The file or a directory cannot be read, or a line is no name below the root.
    pub fn of(root: &Path, listing: &Listing) -> Result<List, ListError> {
        let Some(path) = &listing.file else { return List::scan(root) };
        let file =
            File::open(path).map_err(|error| ListError::of_io("read", &error).in_file(path))?;
        let mut list = List::read(BufReader::new(file)).map_err(|error| error.in_file(path))?;
        let unit = listing.round_up.0.max(1);
        let mut all: u64 = 0;
        for size in &mut list.sizes {
            let rounded = size.checked_next_multiple_of(unit);
            let sum = rounded.and_then(|rounded| all.checked_add(rounded));
            let (Some(rounded), Some(sum)) = (rounded, sum) else {
                let message = "the files have more bytes than 64 bits count";
                return Err(ListError::new(message, "list fewer or smaller files").in_file(path));
            };
            (*size, all) = (rounded, sum);
        }
        Ok(list)
    }

    /// Number of directories, including directories that only paths of others name.
    pub fn directories(&self) -> u64 {
        self.directories.len() as u64
    }

    /// Number of files.
    pub fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// Path of a directory.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn directory(&self, nth: usize) -> &[u8] {
        self.directories.get(nth)
    }

    /// Path of a file.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn file(&self, nth: usize) -> &[u8] {
        self.files.get(nth)
    }

    /// Bytes of a file.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn size(&self, nth: usize) -> u64 {
        self.sizes[nth]
    }

    /// Bytes of all files, at most what 64 bits hold.
    pub fn bytes(&self) -> u64 {
        self.sizes.iter().fold(0, |sum, size| sum.saturating_add(*size))
    }

    /// Number of the files that are longer.
    pub fn files_above(&self, bytes: u64) -> u64 {
        self.sizes.iter().filter(|size| **size > bytes).count() as u64
    }
}

/// A list that is no good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    /// Line of the file, from 1.
    pub line: Option<u64>,
    /// The fault.
    pub message: String,
    /// The way out of it.
    pub remedy: &'static str,
}

impl ListError {
    fn new(message: impl Into<String>, remedy: &'static str) -> ListError {
        ListError { line: None, message: message.into(), remedy }
    }

    fn in_file(self, path: &Path) -> ListError {
        let message = match self.line {
            Some(line) => format!("{}:{line}: {}", path.text(), self.message),
            None => format!("{}: {}", path.text(), self.message),
        };
        ListError { message, ..self }
    }

    fn of_io(what: &str, error: &std::io::Error) -> ListError {
        let remedy = "name what is there and may be read";
        ListError::new(format!("it could not be {what}: {error}"), remedy)
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.remedy)
    }
}

impl std::error::Error for ListError {}

/// Order in which a directory comes right before all that is below it.
fn tree_order(one: &[u8], other: &[u8]) -> Ordering {
    one.iter().map(tree_key).cmp(other.iter().map(tree_key))
}

/// Sorts slashes first: names hold no zero byte.
fn tree_key(byte: &u8) -> u8 {
    if *byte == b'/' { 0 } else { *byte }
}

/// True where a path is `directory` or lies below it.
fn is_in(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
}

/// Directories and files as they are found, before they make a list.
#[derive(Default)]
struct Found {
    directories: Names,
    files: Names,
    sizes: Vec<u64>,
}

impl Found {
    fn add_file(&mut self, path: &[u8], bytes: u64) -> Result<(), ListError> {
        self.sizes.push(bytes);
        self.files.push(path)
    }

    /// Name by its number: files come before directories.
    fn name(&self, number: u32) -> (&[u8], bool) {
        let nth = number as usize;
        match nth.checked_sub(self.files.len()) {
            None => (self.files.get(nth), false),
            Some(directory) => (self.directories.get(directory), true),
        }
    }

    /// The list: directories in order, with those that only paths of others name.
    fn list(self) -> Result<List, ListError> {
        let all = u32::try_from(self.files.len() + self.directories.len()).map_err(|_| {
            ListError::new(
                "there are more than 4 billion names",
                "divide them between several runs",
            )
        })?;
        let mut order: Vec<u32> = (0..all).collect();
        order.sort_by(|one, other| tree_order(self.name(*one).0, self.name(*other).0));
        let mut directories = Names::default();
        let mut before: Option<(&[u8], bool)> = None;
        for number in order {
            let (name, is_directory) = self.name(number);
            if before.is_some_and(|(last, _)| last == name) {
                if !is_directory || before.is_some_and(|(_, was_directory)| !was_directory) {
                    let message = format!("`{}` is listed twice", name.escape_ascii());
                    return Err(ListError::new(message, "list each name once"));
                }
                continue;
            }
            let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            for parent in slashes.map(|(at, _)| &name[..at]) {
                match before.filter(|(last, _)| is_in(last, parent)) {
                    Some((last, false)) if last == parent => {
                        let message =
                            format!("the file `{}` has names below it", last.escape_ascii());
                        return Err(ListError::new(message, "list it as a directory"));
                    }
                    Some(_) => {}
                    None => directories.push(parent)?,
                }
            }
            if is_directory {
                directories.push(name)?;
            }
            before = Some((name, is_directory));
        }
        let Found { mut files, mut sizes, .. } = self;
        files.bytes.shrink_to_fit();
        files.ends.shrink_to_fit();
        sizes.shrink_to_fit();
        Ok(List { directories, files, sizes })
    }
}

#[cfg(test)]
mod tests;
