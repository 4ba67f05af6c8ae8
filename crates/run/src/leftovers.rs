//! Files that killed runs left: a run marks each directory in which it makes files, and a later run
//! removes what a mark without an owner names.
//!
//! A mark is a file that its owner keeps locked for as long as it lives, so that no number of a
//! process decides, which another container may use for something else. It names each file with its
//! inode and time of birth: what stands at that path later is removed only if it is still that file
//! and belongs to the user of the mark.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use candor_record::{Note, fmt};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

/// Beginning of the names of marks.
const PREFIX: &str = ".candor-mark-";
/// First word of a mark, with the number of its form.
const FORM: &str = "candor-mark-1";
/// First word of a record of what a directory holds; the next record is told by whoever made it.
const HOLDS: &[u8] = b"holds";
/// Longest mark that is read: some millions of names.
const MARK_BYTES_MAX: u64 = 1 << 30;
/// Files that a note names one by one.
const NAMED_MAX: usize = 3;

/// A mark of this process in a directory.
#[derive(Debug)]
pub struct Mark {
    file: File,
    path: PathBuf,
}

impl Mark {
    /// Makes a mark and locks it.
    ///
    /// # Errors
    /// The kernel's, most often because the filesystem has no locks.
    pub fn create(directory: &Path) -> io::Result<Mark> {
        // The keys of the hasher are random.
        let number = RandomState::new().hash_one(PREFIX);
        let path = directory.join(format!("{PREFIX}{number:016x}"));
        let mut options = File::options();
        options.read(true).append(true).create_new(true).custom_flags(libc::O_NOFOLLOW);
        let mark = Mark { file: options.open(&path)?, path };
        let header = || -> io::Result<()> {
            mark.file.try_lock()?;
            let owner = Owner::this();
            let Owner { process, host, boot } = &owner;
            (&mark.file).write_all(format!("{FORM} {process} {boot} {host}\0").as_bytes())
        };
        match header() {
            Ok(()) => Ok(mark),
            Err(error) => {
                // Without a lock it would be taken for one of a killed run.
                let _ = std::fs::remove_file(&mark.path);
                Err(error)
            }
        }
    }

    /// Names a file or directory that this process has just made in the directory.
    ///
    /// # Errors
    /// The kernel's; then it is not found after a kill.
    pub fn add(&self, path: &Path) -> io::Result<()> {
        let birth = Birth::of(path).ok_or(io::ErrorKind::Unsupported)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut record = format!("{} {} ", birth.inode, birth.at_ns).into_bytes();
        record.extend_from_slice(name.as_bytes());
        record.push(0);
        (&self.file).write_all(&record)
    }

    /// Tells what a directory that it names will hold, to whoever removes that.
    ///
    /// # Errors
    /// The kernel's.
    pub fn tell(&self, path: &Path, contents: &str) -> io::Result<()> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut record = [HOLDS, b" ", name.as_bytes(), &[0]].concat();
        record.extend_from_slice(contents.as_bytes());
        record.push(0);
        (&self.file).write_all(&record)
    }

    /// The path of the mark, for whoever removes it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Device and inode of the mark.
    ///
    /// # Errors
    /// The kernel's.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }
}

/// The process that made a mark.
#[derive(Debug, PartialEq, Eq)]
struct Owner {
    process: u32,
    /// The kernel's number of its present start.
    boot: String,
    host: String,
}

impl Owner {
    fn this() -> Owner {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        let host = rustix::system::uname().nodename().to_string_lossy().replace(' ', "-");
        let boot = boot.map_or_else(|_| "unknown".to_owned(), |boot| boot.trim().to_owned());
        Owner { process: std::process::id(), boot, host }
    }

    fn read(header: &str) -> Option<Owner> {
        let [FORM, process, boot, host] = header.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(Owner { process: process.parse().ok()?, boot: boot.into(), host: host.into() })
    }

    /// True where the lock tells of this owner: on its kernel, or on its host started anew. A lock
    /// on a server's file may not reach other hosts.
    fn is_of_this_host(&self) -> bool {
        let this = Owner::this();
        self.boot == this.boot || self.host == this.host
    }
}

/// Inode and time of birth: no two files of a filesystem have both.
#[derive(Debug, PartialEq, Eq)]
struct Birth {
    inode: u64,
    at_ns: i128,
}

impl Birth {
    fn of(path: &Path) -> Option<Birth> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let stat = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
        let born = stat.stx_btime;
        let at_ns = i128::from(born.tv_sec) * 1_000_000_000 + i128::from(born.tv_nsec);
        (stat.stx_mask & wanted.bits() == wanted.bits())
            .then_some(Birth { inode: stat.stx_ino, at_ns })
    }
}

/// Removes what killed runs left in a directory; a note for each of those runs. `empty` takes from
/// a directory what its maker told of it.
pub fn remove_in(directory: &Path, empty: &dyn Fn(&Path, &str)) -> Vec<Note> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_mark = |name: &[u8]| name.starts_with(PREFIX.as_bytes());
    let marks = entries.filter(|entry| is_mark(entry.file_name().as_bytes()));
    marks.filter_map(|entry| remove_of(directory, &entry.path(), empty)).collect()
}

/// Removes what a mark names, and the mark; none where its owner lives.
fn remove_of(directory: &Path, path: &Path, empty: &dyn Fn(&Path, &str)) -> Option<Note> {
    let mut options = File::options();
    let file = options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let file = file.ok()?;
    let metadata = file.metadata().ok().filter(Metadata::is_file)?;
    file.try_lock().ok()?;
    let mut text = Vec::new();
    (&file).take(MARK_BYTES_MAX).read_to_end(&mut text).ok()?;
    if text.is_empty() {
        // Its owner was killed before the first word.
        let _ = std::fs::remove_file(path);
        return None;
    }
    let mut records = text.split(|byte| *byte == 0);
    let owner = Owner::read(std::str::from_utf8(records.next()?).ok()?)?;
    let mut left = Left::default();
    let may = owner.is_of_this_host();
    let (mut named, mut held) = (Vec::new(), HashMap::new());
    while let Some(record) = records.next() {
        match record.strip_prefix(HOLDS).and_then(|name| name.strip_prefix(b" ")) {
            Some(name) => {
                let contents = records.next().and_then(|told| std::str::from_utf8(told).ok());
                held.extend(contents.map(|told| (directory.join(OsStr::from_bytes(name)), told)));
            }
            None => named.extend(read(directory, record)),
        }
    }
    // Nobody has another user's files removed by what a mark of his tells.
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    // Directories stand before their files.
    for (path, birth) in named.into_iter().rev() {
        let is_left = || Birth::of(&path).as_ref() == Some(&birth);
        if let Some(told) = held.get(&path).filter(|_| may && is_own && is_left()) {
            empty(&path, told);
        }
        left.take(path, &birth, &metadata, may);
    }
    if may && left.kept.is_empty() {
        // The mark itself; where that fails, the next run tries again.
        let _ = std::fs::remove_file(path);
    }
    left.note(directory, &owner)
}

/// One record of a mark: `INODE BIRTH NAME`. The last one may have been cut off.
fn read(directory: &Path, record: &[u8]) -> Option<(PathBuf, Birth)> {
    let mut words = record.splitn(3, |byte| *byte == b' ');
    let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<i128>().ok();
    let (inode, at_ns) = (u64::try_from(number()?).ok()?, number()?);
    let name = PathBuf::from(std::ffi::OsString::from_vec(words.next()?.to_vec()));
    let mut parts = name.components();
    let is_plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    is_plain.then(|| (directory.join(name), Birth { inode, at_ns }))
}

/// Files that a killed run left.
#[derive(Debug, Default)]
struct Left {
    removed: Vec<PathBuf>,
    bytes: u64,
    /// Files that could not be removed, or may not be.
    kept: Vec<PathBuf>,
}

impl Left {
    fn take(&mut self, path: PathBuf, birth: &Birth, mark: &Metadata, may: bool) {
        let Ok(metadata) = path.symlink_metadata() else { return };
        let is_same_user = (metadata.dev(), metadata.uid()) == (mark.dev(), mark.uid());
        if !is_same_user || Birth::of(&path).as_ref() != Some(birth) {
            return;
        }
        let removed = match metadata.is_dir() {
            _ if !may => false,
            true => std::fs::remove_dir(&path).is_ok(),
            false => std::fs::remove_file(&path).is_ok(),
        };
        if removed {
            self.bytes += if metadata.is_file() { metadata.len() } else { 0 };
            self.removed.push(path);
        } else if !metadata.is_dir() {
            self.kept.push(path);
        }
    }

    fn note(&self, directory: &Path, owner: &Owner) -> Option<Note> {
        let of = |paths: &[PathBuf]| {
            let named = paths.iter().take(NAMED_MAX).map(|path| format!("`{}`", path.display()));
            let named = named.collect::<Vec<_>>().join(", ");
            match paths.len().saturating_sub(NAMED_MAX) {
                0 => named,
                more => format!("{named} and {more} more"),
            }
        };
        let size = fmt::size(self.bytes as f64);
        let mut done = Vec::new();
        if !self.removed.is_empty() {
            done.push(format!("removed {} ({size})", of(&self.removed)));
        }
        if !self.kept.is_empty() {
            done.push(format!("left {} there", of(&self.kept)));
        }
        let Owner { process, host, .. } = owner;
        let ended = match owner.is_of_this_host() {
            true => "ended before it could remove them",
            false => "made them, and only there it is known whether that one still runs",
        };
        (!done.is_empty()).then(|| Note {
            asked: format!("files of killed runs in `{}`", directory.display()),
            did: done.join(", "),
            why: format!("process {process} of candor on {host} {ended}"),
            place: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a file with some bytes and names it.
    fn make(mark: &Mark, path: &Path) {
        std::fs::write(path, [7; 4096]).expect("written");
        mark.add(path).expect("named");
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).expect("listed").flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| !name.starts_with(PREFIX));
        names.sort();
        names
    }

    #[test]
    fn what_has_an_owner_stays_and_what_has_none_goes() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let at = |name: &str| dir.path().join(name);
        let mark = Mark::create(dir.path()).expect("marked");
        std::fs::create_dir(at("set")).expect("made");
        mark.add(&at("set")).expect("named");
        make(&mark, &at("a\nb"));
        make(&mark, &at("own"));
        std::fs::write(at("thesis"), "words").expect("written");
        assert_eq!(remove_in(dir.path(), &|_, _| {}), [], "its owner lives");
        assert_eq!(names(dir.path()), ["a\nb", "own", "set", "thesis"]);
        // Another file at the path of one that was left is somebody else's.
        std::fs::rename(at("thesis"), at("own")).expect("renamed");
        drop(mark);
        let notes = remove_in(dir.path(), &|_, _| {});
        assert_eq!(notes.len(), 1);
        assert!(notes[0].did.contains("(4 KiB)") && !notes[0].did.contains("own"), "{notes:?}");
        assert_eq!(std::fs::read_to_string(at("own")).expect("still there"), "words");
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_directory_is_emptied_by_what_was_told_of_it() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let at = |name: &str| dir.path().join(name);
        let mark = Mark::create(dir.path()).expect("marked");
        for name in ["tree", "other"] {
            std::fs::create_dir(at(name)).expect("made");
            mark.add(&at(name)).expect("named");
            mark.tell(&at(name), &format!("names of {name}")).expect("told");
        }
        // Another directory at the path of one that was left is somebody else's.
        std::fs::rename(at("other"), at("moved")).expect("renamed");
        std::fs::create_dir(at("other")).expect("made");
        std::fs::write(at("tree").join("f0"), "words").expect("written");
        drop(mark);
        let notes = remove_in(dir.path(), &|path, told| {
            assert_eq!((path, told), (at("tree").as_path(), "names of tree"));
            std::fs::remove_file(path.join("f0")).expect("removed");
        });
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert_eq!(names(dir.path()), ["moved", "other"]);
    }

    #[test]
    fn marks_of_other_hosts_and_forged_ones_remove_nothing() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let own = dir.path().join("own");
        std::fs::write(&own, "words").expect("written");
        let Birth { inode, at_ns } = Birth::of(&own).expect("born");
        let mark = dir.path().join(format!("{PREFIX}1"));
        let name = dir.path().file_name().expect("a name").display();
        for (text, notes) in [
            (format!("{FORM} 1 other elsewhere\0{inode} {at_ns} own\0"), 1),
            (format!("{FORM} 1 other elsewhere\0{inode} {at_ns} ../{name}/own\0"), 0),
            (format!("{FORM} 1 other elsewhere\0{inode} {} own\0", at_ns + 1), 0),
            (format!("nothing 1 other elsewhere\0{inode} {at_ns} own\0"), 0),
        ] {
            std::fs::write(&mark, &text).expect("written");
            let found = remove_in(dir.path(), &|_, _| {});
            assert_eq!(found.len(), notes, "{text}");
            assert!(found.iter().all(|note| note.did.contains("left")), "{found:?}");
            assert!(own.exists() && mark.exists());
        }
        std::fs::write(&mark, "").expect("written");
        assert!(remove_in(dir.path(), &|_, _| {}).is_empty() && !mark.exists());
    }
}
