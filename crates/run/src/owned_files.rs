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
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use candor_plan::PathText;
use candor_record::{Note, fmt};

use crate::leftovers::{self, Mark};

/// A file or directory that the handler of the second interrupt removes.
struct Listed {
    name: CString,
    identity: Identity,
    is_mark: bool,
}

/// All files to remove, for the handler of the second interrupt. A mark, and a directory, is listed
/// before the files in it.
static TO_REMOVE: Mutex<Vec<Listed>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<Listed>> {
    TO_REMOVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A mark as the handler of the second interrupt removes it.
fn listed(mark: &Mark) -> Option<Listed> {
    let name = CString::new(mark.path().as_os_str().as_bytes()).ok()?;
    let metadata = mark.metadata().ok()?;
    Some(Listed { name, identity: (metadata.dev(), metadata.ino()), is_mark: true })
}

/// Start of the request in notes of files that a run made and could not remove.
pub const NOT_REMOVED: &str = "to remove what the run made";

/// The directory that holds a path. Marks of a directory have one spelling, `.` for the parent of
/// a bare name.
pub fn directory_of(path: &Path) -> Option<&Path> {
    let parent = path.parent()?;
    Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
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
        let Some(directory) = directory_of(path) else { return };
        if !self.marks.contains_key(directory) {
            let room = self.marks.len() < MARKS_MAX;
            let mark = room.then(|| Mark::create(directory).ok()).flatten();
            list().extend(mark.as_ref().and_then(listed));
            self.marks.insert(directory.to_owned(), mark);
        }
        if let Some(Some(mark)) = self.marks.get(directory) {
            let _ = mark.add(path);
        }
    }

    /// Tells in the mark what a directory that this run has made will hold.
    pub fn tell(&self, path: &Path, contents: &str) {
        if let Some(Some(mark)) = directory_of(path).and_then(|parent| self.marks.get(parent)) {
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
            self.mark(path);
            list().push(Listed { name, identity, is_mark: false });
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
            self.mark(path);
            list().push(Listed { name, identity, is_mark: false });
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

    /// Removes what is not kept, and reports what could not be removed. The mark of a directory
    /// stays as long as something that it names stays.
    pub fn remove(&mut self) -> Vec<Note> {
        let mut removal = Removal::default();
        for (path, own) in self.to_remove.drain() {
            removal.remove(path, own, |path| std::fs::remove_file(path));
        }
        for (path, own) in self.directories.drain(..).rev() {
            // The mark in a directory would keep that directory.
            if let Some(Some(mark)) = self.marks.remove(&path) {
                removal.remove_mark(&path, &mark);
            }
            removal.remove(path, own, |path| std::fs::remove_dir(path));
        }
        for (directory, mark) in self.marks.drain() {
            mark.iter().for_each(|mark| removal.remove_mark(&directory, mark));
        }
        list().retain(|listed| !removal.tried.contains(listed.name.as_bytes()));
        removal.notes()
    }
}

/// A file or directory that could not be removed, and the reason.
struct Stays {
    path: PathBuf,
    bytes: u64,
    why: io::Error,
}

/// The removal of a run's files and directories.
#[derive(Default)]
struct Removal {
    /// All paths that were to be removed.
    tried: HashSet<Vec<u8>>,
    /// Directories in which something stays.
    held: HashSet<PathBuf>,
    stays: Vec<Stays>,
}

impl Removal {
    fn remove(
        &mut self,
        path: PathBuf,
        own: Identity,
        remove: impl FnOnce(&Path) -> io::Result<()>,
    ) {
        self.tried.insert(path.as_os_str().as_bytes().to_vec());
        let found = path.symlink_metadata();
        let bytes = found.as_ref().map_or(0, std::fs::Metadata::len);
        let removed = match found {
            // Another file has that name now.
            Ok(found) if (found.dev(), found.ino()) != own => return,
            Ok(_) => remove(&path),
            Err(why) => Err(why),
        };
        // Someone else may have removed it.
        if let Err(why) = removed
            && why.kind() != io::ErrorKind::NotFound
        {
            self.held.extend(directory_of(&path).map(Path::to_owned));
            self.stays.push(Stays { path, bytes, why });
        }
    }

    fn remove_mark(&mut self, directory: &Path, mark: &Mark) {
        self.tried.insert(mark.path().as_os_str().as_bytes().to_vec());
        if !self.held.contains(directory) {
            let Ok(metadata) = mark.metadata() else { return };
            let own = (metadata.dev(), metadata.ino());
            self.remove(mark.path().to_owned(), own, |path| std::fs::remove_file(path));
        }
    }

    /// A note for files that stay, and one for each directory that others use.
    fn notes(self) -> Vec<Note> {
        let is_used = |stays: &Stays| stays.why.kind() == io::ErrorKind::DirectoryNotEmpty;
        let (used, stays): (Vec<_>, Vec<_>) = self.stays.into_iter().partition(is_used);
        // A directory is held by what stays in it.
        let is_held = |used: &Stays| self.held.contains(&used.path);
        let used = used.iter().filter(|used| !is_held(used)).map(|used| Note {
            asked: format!("to remove the directory `{}`", used.path.text()),
            did: "left it there".into(),
            why: used.why.to_string(),
            place: None,
        });
        let mut notes: Vec<Note> = used.collect();
        notes.extend(stays.first().map(|first| {
            let shown = stays.iter().map(|stays| {
                format!("`{}` ({})", stays.path.text(), fmt::size(stays.bytes as f64))
            });
            Note {
                asked: NOT_REMOVED.into(),
                did: format!("left {} there", leftovers::some_of(shown)),
                why: first.why.to_string(),
                place: None,
            }
        }));
        notes
    }
}

impl Drop for OwnedFiles {
    fn drop(&mut self) {
        // Whoever wants to report what stays calls it before.
        let _ = self.remove();
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

/// Removes everything on the list, with calls that a signal handler may make. Once something
/// stays, marks stay too.
///
/// If the list is locked at that moment the interrupted thread is changing it; then nothing is
/// removed rather than waiting for ever.
pub fn remove_from_signal_handler() {
    let Ok(list) = TO_REMOVE.try_lock() else { return };
    let mut all_gone = true;
    for Listed { name, identity, is_mark } in list.iter().rev() {
        if *is_mark && !all_gone {
            continue;
        }
        // SAFETY: the path is a valid C string and an all-zero stat is valid; lstat, unlink and
        // rmdir may be called from a handler.
        unsafe {
            let mut found: libc::stat = std::mem::zeroed();
            let is_there = libc::lstat(name.as_ptr(), &raw mut found) == 0;
            if is_there && (found.st_dev, found.st_ino) == *identity {
                let removed = match found.st_mode & libc::S_IFMT {
                    libc::S_IFDIR => libc::rmdir(name.as_ptr()),
                    _ => libc::unlink(name.as_ptr()),
                };
                all_gone &= removed == 0;
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
    fn a_bare_name_is_held_by_the_current_directory() {
        let held =
            |path: &str| directory_of(Path::new(path)).map(|path| path.display().to_string());
        for (path, directory) in
            [("tr", "."), ("./tr", "."), ("../D/tr", "../D"), ("/a/tr", "/a"), ("a/tr/", "a")]
        {
            assert_eq!(held(path).as_deref(), Some(directory), "{path}");
        }
        assert_eq!(held("/"), None);
    }

    #[test]
    fn a_directory_that_others_use_keeps_its_mark_and_is_noted() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let set = dir.path().join("set");
        let mut files = OwnedFiles::default();
        files.create_directory(&set, false).expect("made");
        files.create(&set.join("own"), false).expect("made");
        std::fs::write(set.join("thesis"), "words").expect("written");
        let notes = files.remove();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].asked.contains("set") && !notes[0].asked.starts_with(NOT_REMOVED));
        assert_eq!(std::fs::read_dir(&set).expect("listed").count(), 1, "the file of others");
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 2, "set and its mark");
        assert_eq!(files.remove(), [], "it is reported once");
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
