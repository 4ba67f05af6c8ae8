//! Files that a run made: removed at the end of a run, whatever ends it.
//!
//! A file is made only where there is nothing, not even a dangling link, and it is remembered
//! with its device and inode: what stands at its path later is only ever touched or removed if it
//! is still that file. A directory with files to remove is marked, so that a later run finds what a
//! kill left.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::leftovers::Mark;

/// All files to remove, for the handler of the second interrupt.
static TO_REMOVE: Mutex<Vec<(CString, Identity)>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<(CString, Identity)>> {
    TO_REMOVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A mark as the handler of the second interrupt removes it.
fn to_remove(mark: &Mark) -> Option<(CString, Identity)> {
    let name = CString::new(mark.path().as_os_str().as_bytes()).ok()?;
    let metadata = mark.metadata().ok()?;
    Some((name, (metadata.dev(), metadata.ino())))
}

/// Directories that are marked: each keeps a file open.
const MARKS_MAX: usize = 64;

/// Names tried for a probe before giving up.
const PROBES_MAX: u32 = 16;

/// Which file it is, whatever its path: device and inode.
type Identity = (u64, u64);

fn identity(path: &Path) -> Option<Identity> {
    path.symlink_metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// The files made by one run.
#[derive(Debug, Default)]
pub struct OwnedFiles {
    /// Hashes of path and identity of all of them: there may be millions.
    made: HashSet<u64>,
    hasher: RandomState,
    /// Those to remove at the end.
    to_remove: HashMap<PathBuf, Identity>,
    /// Directories to remove at the end, if nothing else is in them by then.
    directories: Vec<(PathBuf, Identity)>,
    /// Marks by directory; none where one could not be made.
    marks: HashMap<PathBuf, Option<Mark>>,
}

impl OwnedFiles {
    /// Makes an empty file, to be kept or removed at the end.
    ///
    /// # Errors
    /// Something is there already, or the kernel refuses.
    pub fn create(&mut self, path: &Path, keep: bool) -> io::Result<()> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        let mut options = File::options();
        options.write(true).create_new(true).custom_flags(libc::O_NOFOLLOW);
        let metadata = options.open(path)?.metadata()?;
        self.remember(path, name, (metadata.dev(), metadata.ino()), keep);
        Ok(())
    }

    /// Names a file in the mark of its directory. Without a mark the file is not found after a
    /// kill, which keeps no run from going on.
    fn mark(&mut self, path: &Path) {
        let Some(directory) = path.parent() else { return };
        let is_empty = directory.as_os_str().is_empty();
        let directory = if is_empty { Path::new(".") } else { directory };
        if !self.marks.contains_key(directory) {
            let room = self.marks.len() < MARKS_MAX;
            let mark = room.then(|| Mark::create(directory).ok()).flatten();
            list().extend(mark.as_ref().and_then(to_remove));
            self.marks.insert(directory.to_owned(), mark);
        }
        if let Some(Some(mark)) = self.marks.get(directory) {
            let _ = mark.add(path);
        }
    }

    /// Tells in the mark what a directory that this run has made will hold.
    pub fn tell(&self, path: &Path, contents: &str) {
        if let Some(Some(mark)) = path.parent().and_then(|parent| self.marks.get(parent)) {
            let _ = mark.tell(path, contents);
        }
    }

    /// Makes a directory for files, to be kept or removed at the end.
    ///
    /// # Errors
    /// Something is there already, or the kernel refuses.
    pub fn create_directory(&mut self, path: &Path, keep: bool) -> io::Result<()> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        std::fs::create_dir(path)?;
        if let (false, Some(identity)) = (keep, identity(path)) {
            self.directories.push((path.to_owned(), identity));
            list().push((name, identity));
            self.mark(path);
        }
        Ok(())
    }

    /// Makes an empty file in a directory under a name that nobody else has.
    ///
    /// # Errors
    /// The kernel's.
    pub fn create_probe(&mut self, directory: &Path) -> io::Result<PathBuf> {
        let mut tried = 0;
        loop {
            // The keys of the hasher are random.
            let number = RandomState::new().hash_one(tried);
            let path = directory.join(format!(".candor-probe-{number:016x}"));
            tried += 1;
            match self.create(&path, false) {
                Ok(()) => return Ok(path),
                Err(error) if is_taken(&error) && tried < PROBES_MAX => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Remembers what workers of this run made at a path, to be kept or removed at the end.
    pub fn adopt(&mut self, path: &Path, keep: bool) {
        let name = CString::new(path.as_os_str().as_bytes());
        let (Some(identity), Ok(name)) = (identity(path), name) else { return };
        self.remember(path, name, identity, keep);
    }

    fn remember(&mut self, path: &Path, name: CString, identity: Identity, keep: bool) {
        self.made.insert(self.hasher.hash_one((path, identity)));
        if !keep {
            self.to_remove.insert(path.to_owned(), identity);
            list().push((name, identity));
            self.mark(path);
        }
    }

    /// True where that path still is a file that this run made.
    pub fn contains(&self, path: &Path) -> bool {
        let of = |identity| self.hasher.hash_one((path, identity));
        identity(path).is_some_and(|identity| self.made.contains(&of(identity)))
    }

    /// A file that is removed at the end.
    pub fn first_to_remove(&self) -> Option<&Path> {
        self.to_remove.keys().next().map(PathBuf::as_path)
    }

    /// Removes what is not kept.
    pub fn remove(&mut self) {
        let mut gone = HashSet::new();
        for (path, own) in self.to_remove.drain() {
            if identity(&path) == Some(own) {
                // A file that someone else removes just now is gone either way.
                let _ = std::fs::remove_file(&path);
            }
            gone.insert(path.into_os_string().into_vec());
        }
        for mark in self.marks.drain().filter_map(|(_, mark)| mark) {
            let _ = std::fs::remove_file(mark.path());
            gone.insert(mark.path().as_os_str().as_bytes().to_vec());
        }
        for (path, own) in self.directories.drain(..).rev() {
            if identity(&path) == Some(own) {
                // Somebody else's file in it keeps it.
                let _ = std::fs::remove_dir(&path);
            }
            gone.insert(path.into_os_string().into_vec());
        }
        list().retain(|(name, _)| !gone.contains(name.as_bytes()));
    }
}

impl Drop for OwnedFiles {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Makes the directories that a file is to be in.
///
/// # Errors
/// The kernel's.
pub fn create_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}

/// Makes a directory where there is none. A link is none: it leads out of where the names are to
/// be.
///
/// # Errors
/// The kernel's, or something else is there.
pub fn create_directory(path: &Path) -> io::Result<()> {
    let is_there = || path.symlink_metadata().is_ok_and(|found| found.is_dir());
    match std::fs::create_dir(path) {
        Err(error) if is_taken(&error) && is_there() => Ok(()),
        made => made,
    }
}

/// True for the kernel's answer that something of that name exists.
pub fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
}

/// Removes everything on the list, with calls that a signal handler may make.
///
/// If the list is locked at that moment the interrupted thread is changing it; then nothing is
/// removed rather than waiting for ever.
pub fn remove_from_signal_handler() {
    if let Ok(list) = TO_REMOVE.try_lock() {
        // A directory stands before its files.
        for (name, identity) in list.iter().rev() {
            // SAFETY: the path is a valid C string and an all-zero stat is valid; lstat, unlink
            // and rmdir may be called from a handler.
            unsafe {
                let mut found: libc::stat = std::mem::zeroed();
                let is_there = libc::lstat(name.as_ptr(), &raw mut found) == 0;
                if is_there && (found.st_dev, found.st_ino) == *identity {
                    match found.st_mode & libc::S_IFMT {
                        libc::S_IFDIR => libc::rmdir(name.as_ptr()),
                        _ => libc::unlink(name.as_ptr()),
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_what_is_not_kept() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (kept, gone) = (dir.path().join("kept"), dir.path().join("gone"));
        let mut files = OwnedFiles::default();
        files.create(&kept, true).expect("made");
        files.create(&gone, false).expect("made");
        assert!(files.contains(&kept) && files.contains(&gone));
        drop(files);
        assert!(kept.exists() && !gone.exists());
    }

    #[test]
    fn a_directory_goes_with_its_files_unless_others_use_it() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        for foreign in [false, true] {
            let set = dir.path().join("set");
            let mut files = OwnedFiles::default();
            files.create_directory(&set, false).expect("made");
            files.create(&set.join("own"), false).expect("made");
            if foreign {
                std::fs::write(set.join("thesis"), "words").expect("written");
            }
            drop(files);
            assert_eq!((set.exists(), set.join("thesis").exists()), (foreign, foreign));
        }
    }

    #[test]
    fn what_is_there_is_never_taken_over() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (file, link) = (dir.path().join("thesis"), dir.path().join("link"));
        std::fs::write(&file, "words").expect("written");
        std::os::unix::fs::symlink(dir.path().join("nothing"), &link).expect("linked");
        let mut files = OwnedFiles::default();
        for path in [&file, &link] {
            let error = files.create(path, false).expect_err("it is taken");
            assert!(is_taken(&error) && !files.contains(path), "{error}");
        }
        drop(files);
        assert_eq!(std::fs::read_to_string(&file).expect("still there"), "words");
        assert!(!dir.path().join("nothing").exists() && link.is_symlink());
    }

    #[test]
    fn a_file_put_in_its_place_is_left_alone() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (own, other) = (dir.path().join("own"), dir.path().join("other"));
        let mut files = OwnedFiles::default();
        files.create(&own, false).expect("made");
        std::fs::write(&other, "words").expect("written");
        std::fs::rename(&other, &own).expect("renamed");
        assert!(!files.contains(&own));
        drop(files);
        assert_eq!(std::fs::read_to_string(&own).expect("still there"), "words");
    }

    #[test]
    fn probes_have_names_of_their_own() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mut files = OwnedFiles::default();
        let first = files.create_probe(dir.path()).expect("made");
        assert_ne!(files.create_probe(dir.path()).expect("made"), first);
        drop(files);
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 0);
    }
}
