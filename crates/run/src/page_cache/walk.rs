//! The files below some paths: each once, without other filesystems.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};

use crate::error::RunError;

/// Files and mounts below the paths.
#[derive(Default)]
pub struct Found {
    /// Regular files, and block devices that were named.
    pub files: Vec<(PathBuf, Metadata)>,
    /// Directories that cannot be read, with why.
    pub closed: Vec<(PathBuf, String)>,
    /// Where other filesystems are mounted.
    pub mounts: Vec<PathBuf>,
    seen: HashSet<(u64, u64)>,
}

/// All files at and below the paths. Symbolic links are followed where they were named, and
/// nowhere else.
///
/// # Errors
/// A path does not exist, or is neither a file nor a directory nor a block device.
pub fn walk(paths: &[PathBuf]) -> Result<Found, RunError> {
    let mut found = Found::default();
    for path in paths {
        let at = path.canonicalize().map_err(RunError::find(path))?;
        let about = fs::metadata(&at).map_err(RunError::file("look at", path))?;
        let kind = about.file_type();
        if kind.is_dir() {
            found.below(at);
        } else if kind.is_file() || kind.is_block_device() {
            found.file(at, about);
        } else {
            let why = "is neither a file nor a directory nor a block device";
            return Err(RunError::BadPath { path: path.clone(), why });
        }
    }
    Ok(found)
}

impl Found {
    fn file(&mut self, path: PathBuf, about: Metadata) {
        // One device may have several nodes, one file several names.
        let id = if about.file_type().is_block_device() {
            (u64::MAX, about.rdev())
        } else {
            (about.dev(), about.ino())
        };
        if self.seen.insert(id) {
            self.files.push((path, about));
        }
    }

    /// Depth first, by name; directories wait on a list, so that no depth is too great.
    fn below(&mut self, top: PathBuf) {
        let mut waiting = vec![top];
        while let Some(dir) = waiting.pop() {
            let entries = match fs::read_dir(&dir) {
                Ok(entries) => entries,
                Err(error) => {
                    self.closed.push((dir, error.to_string()));
                    continue;
                }
            };
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            let mut dirs = Vec::new();
            for path in paths {
                // What vanished meanwhile is not there to be looked at.
                let Ok(about) = fs::symlink_metadata(&path) else { continue };
                match about.file_type() {
                    kind if kind.is_file() => self.file(path, about),
                    kind if kind.is_dir() && is_mounted(&path) => self.mounts.push(path),
                    kind if kind.is_dir() => dirs.push(path),
                    _ => {}
                }
            }
            waiting.extend(dirs.into_iter().rev());
        }
    }
}

/// Whether a directory is where a filesystem is mounted; kernels before 5.8 never say so.
fn is_mounted(dir: &Path) -> bool {
    let about = rustix::fs::statx(CWD, dir, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
    about.is_ok_and(|about| about.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(found: &Found) -> Vec<String> {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        found.files.iter().map(|(path, _)| name(path)).collect()
    }

    #[test]
    fn each_file_is_found_once() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        fs::create_dir_all(at("b/c")).unwrap();
        for name in ["a", "z", "b/1", "b/c/2"] {
            fs::write(at(name), name).unwrap();
        }
        fs::hard_link(at("a"), at("b/same")).unwrap();
        symlink(at("b"), at("loop")).unwrap();
        symlink(at("z"), at("link")).unwrap();
        let found = walk(&[top.path().to_owned(), at("b"), at("link")]).unwrap();
        assert_eq!(names(&found), ["a", "z", "1", "2"]);
        assert_eq!(names(&walk(&[at("link")]).unwrap()), ["z"]);
        assert!(found.mounts.is_empty() && found.closed.is_empty());
    }

    #[test]
    fn what_is_no_file_is_refused() {
        for (path, word) in [("/nowhere/at/all", "does not exist"), ("/dev/null", "neither")] {
            let error = walk(&[PathBuf::from(path)]).err().unwrap().to_string();
            assert!(error.contains(word) && error.contains(path), "{error}");
        }
    }

    #[test]
    fn other_filesystems_are_known() {
        // Neither before Linux 5.8.
        assert!(is_mounted(Path::new("/proc")) || !is_mounted(Path::new("/")));
        assert!(!is_mounted(Path::new("/proc/self")));
    }
}
