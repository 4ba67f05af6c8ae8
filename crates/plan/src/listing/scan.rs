//! Lists of what is there below a directory.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fs, io};

use crate::PathText;

use super::{Found, List, ListError};

/// An entry of a directory that the walk has entered.
struct Child {
    /// Range of the name in the names of the directory.
    name: Range<u32>,
    /// Bytes of a file; none for a directory.
    bytes: Option<u64>,
}

impl Child {
    fn name_in<'n>(&self, names: &'n [u8]) -> &'n [u8] {
        &names[self.name.start as usize..self.name.end as usize]
    }
}

/// A directory that the walk has entered.
struct Level {
    names: Vec<u8>,
    /// Remaining entries, the next one last.
    children: Vec<Child>,
    /// Length of its path below the root.
    path_bytes: usize,
}

impl Level {
    fn of(directory: &Path, path_bytes: usize) -> io::Result<Level> {
        let mut level = Level { names: Vec::new(), children: Vec::new(), path_bytes };
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let bytes = match (kind.is_dir(), kind.is_file()) {
                (true, _) => None,
                (false, true) => match entry.metadata() {
                    Ok(metadata) => Some(metadata.len()),
                    // Another process has just removed it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                },
                (false, false) => continue,
            };
            let start = level.names.len();
            level.names.extend_from_slice(entry.file_name().as_bytes());
            let name = name_offset(start)?..name_offset(level.names.len())?;
            level.children.push(Child { name, bytes });
        }
        let Level { names, children, .. } = &mut level;
        children.sort_unstable_by(|one, other| other.name_in(names).cmp(one.name_in(names)));
        Ok(level)
    }

    /// A directory below the root.
    fn below(root: &Path, path: &[u8]) -> Result<Level, ListError> {
        let directory = match path {
            [] => root.to_owned(),
            _ => root.join(OsStr::from_bytes(path)),
        };
        Level::of(&directory, path.len()).map_err(|error| {
            let message = format!("{} could not be listed: {error}", directory.text());
            ListError::new(message, "name a directory that is there and may be read")
        })
    }
}

fn name_offset(bytes: usize) -> io::Result<u32> {
    u32::try_from(bytes).map_err(|_| io::Error::other("more than 4 GiB of names in one directory"))
}

impl List {
    /// All regular files and directories below a directory, in the order of their names; links are
    /// not followed.
    ///
    /// # Errors
    /// A directory cannot be listed.
    pub fn scan(root: &Path) -> Result<List, ListError> {
        let (mut found, mut path) = (Found::default(), Vec::new());
        let mut levels = vec![Level::below(root, &path)?];
        while let Some(here) = levels.last_mut() {
            path.truncate(here.path_bytes);
            let Some(child) = here.children.pop() else {
                levels.pop();
                continue;
            };
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(child.name_in(&here.names));
            match child.bytes {
                Some(bytes) => found.add_file(&path, bytes)?,
                None => {
                    found.directories.push(&path)?;
                    levels.push(Level::below(root, &path)?);
                }
            }
        }
        found.list()
    }
}
