//! Directories of the targets, open in each worker. Names are looked up relative to them, so calls
//! do not resolve the path above, like programs that walk a tree.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{CWD, Mode, OFlags, openat};

/// The open directories of a worker.
pub struct Roots(Box<[Root]>);

struct Root {
    path: PathBuf,
    directory: OwnedFd,
}

/// Directory from which a path is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct From {
    /// The open directory.
    pub directory: RawFd,
    /// Length of the directory's path, slash included.
    pub skipped: usize,
}

/// A name, and the directory from which it is looked up.
#[derive(Clone, Copy, Debug)]
pub struct NameAt {
    /// The open directory, or `AT_FDCWD`.
    pub directory: RawFd,
    /// The name, with a zero byte after it.
    pub name: *const libc::c_char,
}

impl From {
    /// A path that ends with a zero byte, without the part that leads to the directory.
    #[inline(always)]
    pub fn name(&self, path: &[u8]) -> NameAt {
        let name = path.get(self.skipped..).unwrap_or_default();
        NameAt { directory: self.directory, name: name.as_ptr().cast() }
    }
}

impl Default for From {
    fn default() -> Self {
        From { directory: libc::AT_FDCWD, skipped: 0 }
    }
}

impl Roots {
    /// Opens all directories that exist; names in other directories are looked up by whole paths.
    pub fn open(paths: impl IntoIterator<Item = PathBuf>) -> Roots {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = paths.into_iter().filter_map(|path| {
            let directory = openat(CWD, &path, flags, Mode::empty()).ok()?;
            Some(Root { path, directory })
        });
        Roots(opened.collect())
    }

    /// Directory from which a path that ends with a zero byte is looked up. A root itself is not
    /// below a root.
    #[inline(always)]
    pub fn of(&self, path: &[u8]) -> From {
        let mut roots = self.0.iter();
        let found = roots.find_map(|root| {
            let rest = path.strip_prefix(root.path.as_os_str().as_bytes())?.strip_prefix(b"/")?;
            let is_below = !matches!(rest, [] | [0, ..] | [b'/', ..]);
            let skipped = path.len() - rest.len();
            is_below.then(|| From { directory: root.directory.as_raw_fd(), skipped })
        });
        found.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_a_root_are_looked_up_from_there() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().to_str().expect("text").to_owned();
        let roots = Roots::open([dir.path().into(), "/no/such/directory".into()]);
        let of = |below: &str| roots.of(format!("{path}{below}\0").as_bytes());
        let from = of("/d1/f2");
        assert_eq!(from.skipped, path.len() + 1);
        assert_ne!(from.directory, libc::AT_FDCWD);
        for whole in ["", "/", "other/f", "//f"] {
            assert_eq!(of(whole), From::default(), "{whole}");
        }
        assert_eq!(roots.of(b"/no/such/directory/f\0"), From::default());
    }
}
