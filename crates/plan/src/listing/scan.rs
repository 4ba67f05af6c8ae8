//! Lists of what is there below a directory.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fs, io};

use crate::PathText;

use super::{Found, List, ListError};

/// A thing in a directory that is walked over.
struct Child {
    /// Bytes of the name, among those of the directory.
    name: Range<u32>,
    /// Bytes of a file; none for a directory.
    bytes: Option<u64>,
}

/// A directory on the way to the one that is walked over.
struct Level {
    names: Vec<u8>,
    /// Things that are left, the next one last.
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
                    // Somebody has just removed it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                },
                (false, false) => continue,
            };
            let start = level.names.len();
            level.names.extend_from_slice(entry.file_name().as_bytes());
            let too_many = |_| io::Error::other("more than 4 GiB of names in one directory");
            let [start, end] = [start, level.names.len()].map(u32::try_from);
            let name = start.map_err(too_many)?..end.map_err(too_many)?;
            level.children.push(Child { name, bytes });
        }
        let Level { names, children, .. } = &mut level;
        let name = |child: &Child| &names[child.name.start as usize..child.name.end as usize];
        children.sort_unstable_by(|one, other| name(other).cmp(name(one)));
        Ok(level)
    }
}

impl List {
    /// All regular files and directories below a directory, in the order of their names; links are
    /// not followed.
    ///
    /// # Errors
    /// A directory cannot be listed.
    pub fn scan(root: &Path) -> Result<List, ListError> {
        let (mut found, mut path) = (Found::default(), Vec::new());
        let level = |path: &[u8]| {
            let directory = match path {
                [] => root.to_owned(),
                _ => root.join(OsStr::from_bytes(path)),
            };
            Level::of(&directory, path.len()).map_err(|error| {
                let message = format!("{} could not be listed: {error}", directory.text());
                ListError::new(message, "name a directory that is there and may be read")
            })
        };
        let mut levels = vec![level(&path)?];
        while let Some(here) = levels.last_mut() {
            path.truncate(here.path_bytes);
            let Some(Child { name, bytes }) = here.children.pop() else {
                levels.pop();
                continue;
            };
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(&here.names[name.start as usize..name.end as usize]);
            match bytes {
                Some(bytes) => found.add_file(&path, bytes)?,
                None => {
                    found.directories.push(&path)?;
                    levels.push(level(&path)?);
                }
            }
        }
        found.list()
    }
}
