//! Directories of the targets, open in each worker: names are looked up from there, so that no call
//! walks the path above them, as little as programs do that walk a tree.

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

/// Place from which a path is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct From {
    /// The open directory.
    pub directory: RawFd,
    /// Bytes of the path that lead there, the slash included.
    pub skipped: usize,
}

impl Default for From {
    fn default() -> Self {
        From { directory: libc::AT_FDCWD, skipped: 0 }
    }
}

impl Roots {
    /// Opens those directories that are there; names below others are looked up by whole paths.
    pub fn open(paths: impl IntoIterator<Item = PathBuf>) -> Roots {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = paths.into_iter().filter_map(|path| {
            let directory = openat(CWD, &path, flags, Mode::empty()).ok()?;
            Some(Root { path, directory })
        });
        Roots(opened.collect())
    }

    /// Place from which a path that ends with a zero byte is looked up. A root itself is not below
    /// a root.
    #[inline(always)]
    pub fn of(&self, path: &[u8]) -> From {
        let below = |root: &Root| {
            let rest = path.strip_prefix(root.path.as_os_str().as_bytes())?.strip_prefix(b"/")?;
            let is_below = !matches!(rest, [] | [0, ..] | [b'/', ..]);
            let skipped = path.len() - rest.len();
            is_below.then(|| From { directory: root.directory.as_raw_fd(), skipped })
        };
        self.0.iter().find_map(below).unwrap_or_default()
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
