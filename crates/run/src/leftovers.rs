//! Files that killed runs left: a run marks each directory in which it makes files, and a later run
//! removes what a mark without an owner names.
//!
//! A mark is a file that its owner keeps locked for as long as it lives, so that no number of a
//! process decides, which another container may use for something else. It names each file with its
//! inode and time of birth: what stands at that path later is removed only if it is still that file
//! and belongs to the user of the mark. Marks of other users are not read. A mark stays as long as
//! something that it names stays.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use candor_plan::PathText;
use candor_record::{Note, fmt};

use crate::control::Control;
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

/// Beginning of the names of marks.
const PREFIX: &str = ".candor-mark-";
/// First word of a mark, with the number of its form.
const FORM: &str = "candor-mark-1";
/// First word of a record of what a directory holds; the next record is told by whoever made it.
const HOLDS: &[u8] = b"holds";
/// First word of a record of a file that keeps a setting of the host; the next record is its
/// earlier value.
const WAS: &[u8] = b"was";
/// Longest mark that is read: some millions of names.
const MARK_BYTES_MAX: u64 = 1 << 30;
/// Longest record of a mark: names of a tree take some hundred bytes.
const RECORD_BYTES_MAX: u64 = 64 << 10;
/// Marks that are read per directory; later runs read the others.
const MARKS_READ_MAX: usize = 1024;
/// Records between two checks for an interrupt.
const RECORDS_AT_ONCE: usize = 256;
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

    /// Keeps the earlier value of a setting of the host, before a run changes it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn keep(&self, file: &Path, value: &str) -> io::Result<()> {
        let path = file.as_os_str().as_bytes();
        let record = [WAS, b" ", path, &[0], value.as_bytes(), &[0]].concat();
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

/// How what killed runs left is removed.
pub struct Cleaning<'a> {
    /// Removes from a directory what the mark reports about its names.
    pub empty: &'a dyn Fn(&Path, &str),
    /// An interrupt ends the removal; marks then stay.
    pub control: &'a Control,
}

/// Removes what killed runs left in a directory; a note for each of those runs.
pub fn remove_in(directory: &Path, cleaning: &Cleaning<'_>) -> Vec<Note> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_mark = |name: &[u8]| name.starts_with(PREFIX.as_bytes());
    let marks = entries.filter(|entry| is_mark(entry.file_name().as_bytes()));
    let marks = marks.take_while(|_| !cleaning.control.is_stopped());
    let mapped = OnceCell::new();
    let is_own = |user: u32| {
        let own = rustix::process::geteuid().as_raw();
        user == own || *mapped.get_or_init(|| mapped_user(directory)) == Some(user)
    };
    let own = marks.filter_map(|entry| OrphanMark::open(directory, entry.path(), &is_own));
    own.take(MARKS_READ_MAX).filter_map(|mark| mark.remove(cleaning)).collect()
}

/// Restores settings of the host that killed runs have changed; a note for each of those runs.
pub fn restore_in(directory: &Path, restore: &dyn Fn(&Path, &str) -> io::Result<()>) -> Vec<Note> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let marks = entries.filter(|entry| entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()));
    let is_own = |user: u32| user == rustix::process::geteuid().as_raw();
    let own = marks.filter_map(|entry| OrphanMark::open(directory, entry.path(), &is_own));
    own.filter_map(|mark| mark.restore(restore)).collect()
}

/// The user to whom a server of files maps this one, root as a rule; none of other filesystems.
fn mapped_user(directory: &Path) -> Option<u32> {
    /// Type of NFS in the answer of statfs(2).
    const NFS: i64 = 0x6969;
    if !rustix::fs::statfs(directory).is_ok_and(|found| found.f_type == NFS) {
        return None;
    }
    let probe = Mark::create(directory).ok()?;
    let user = probe.metadata().ok().map(|metadata| metadata.uid());
    // The lock ends with the probe; the next run removes one that stays.
    let _ = std::fs::remove_file(probe.path());
    user
}

/// A mark of this user without an owner, locked.
struct OrphanMark<'a> {
    directory: &'a Path,
    path: PathBuf,
    file: File,
    metadata: Metadata,
}

/// Files that a mark names.
#[derive(Default)]
struct Named {
    files: Vec<(PathBuf, Birth)>,
    /// Contents of directories, as the mark reports them.
    held: HashMap<PathBuf, String>,
}

impl<'a> OrphanMark<'a> {
    /// Opens a mark; none of another user, and none whose owner lives.
    fn open(
        directory: &'a Path,
        path: PathBuf,
        is_own: &dyn Fn(u32) -> bool,
    ) -> Option<OrphanMark<'a>> {
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(&path).ok()?;
        let metadata = file.metadata().ok().filter(Metadata::is_file)?;
        let is_orphan = is_own(metadata.uid()) && file.try_lock().is_ok();
        is_orphan.then_some(OrphanMark { directory, path, file, metadata })
    }

    /// Removes what the mark names, and the mark.
    fn remove(&self, cleaning: &Cleaning<'_>) -> Option<Note> {
        if self.metadata.len() == 0 {
            // The owner was killed before the first word.
            let _ = std::fs::remove_file(&self.path);
            return None;
        }
        let mut reader = BufReader::new((&self.file).take(MARK_BYTES_MAX));
        let header = record(&mut reader)?;
        let owner = Owner::read(std::str::from_utf8(&header).ok()?)?;
        let named = self.read(&mut reader, cleaning.control)?;
        let mut left = Left { may: owner.is_of_this_host(), ..Left::default() };
        // Directories stand before their files.
        for (at, (path, birth)) in named.files.into_iter().rev().enumerate() {
            if at % RECORDS_AT_ONCE == 0 && cleaning.control.is_stopped() {
                left.stopped = true;
                break;
            }
            let is_left = || Birth::of(&path).as_ref() == Some(&birth);
            if let Some(told) = named.held.get(&path).filter(|_| left.may && is_left()) {
                (cleaning.empty)(&path, told);
            }
            left.take(path, &birth, &self.metadata);
        }
        if left.may && !left.stopped && left.kept.is_empty() {
            // The mark itself; where that fails, the next run tries again.
            let _ = std::fs::remove_file(&self.path);
        }
        left.note(self.directory, &owner)
    }

    /// Restores the settings that the mark keeps, and removes the mark.
    fn restore(&self, restore: &dyn Fn(&Path, &str) -> io::Result<()>) -> Option<Note> {
        let mut reader = BufReader::new((&self.file).take(MARK_BYTES_MAX));
        let owner = record(&mut reader)
            .and_then(|header| Owner::read(std::str::from_utf8(&header).ok()?))
            .filter(Owner::is_of_this_host);
        let mut kept = Vec::new();
        while let (Some(file), Some(value)) = (record(&mut reader), record(&mut reader)) {
            let Some(file) = file.strip_prefix(WAS).and_then(|file| file.strip_prefix(b" ")) else {
                break;
            };
            let file = PathBuf::from(OsStr::from_bytes(file));
            kept.push((file, String::from_utf8_lossy(&value).into_owned()));
        }
        let Owner { process, host, .. } = owner?;
        let mut failed = Vec::new();
        let shown: Vec<String> = kept
            .iter()
            .rev()
            .map(|(file, value)| {
                failed.extend(restore(file, value).err());
                format!("`{value}` in `{}`", file.text())
            })
            .collect();
        if failed.is_empty() {
            // A mark that stays restores the same once more.
            let _ = std::fs::remove_file(&self.path);
        }
        let done = match failed.first() {
            None => "restored".to_owned(),
            Some(why) => format!("could not restore ({why})"),
        };
        (!shown.is_empty()).then(|| Note {
            asked: "settings of the host that killed runs changed".into(),
            did: format!("{done} {}", some_of(shown.into_iter())),
            why: format!(
                "process {process} of candor on {host} ended before it could restore them"
            ),
            place: None,
        })
    }

    /// Records after the header, up to the first one that makes no sense; none after an interrupt.
    fn read(&self, reader: &mut impl BufRead, control: &Control) -> Option<Named> {
        let (mut named, mut count) = (Named::default(), 0);
        while let Some(text) = record(reader) {
            count += 1;
            if count % RECORDS_AT_ONCE == 0 && control.is_stopped() {
                return None;
            }
            match text.strip_prefix(HOLDS).and_then(|name| name.strip_prefix(b" ")) {
                Some(name) => {
                    let Some(contents) = record(reader) else { break };
                    let Ok(contents) = String::from_utf8(contents) else { break };
                    let path = self.directory.join(OsStr::from_bytes(name));
                    named.held.insert(path, contents);
                }
                None => match read(self.directory, &text) {
                    Some(file) => named.files.push(file),
                    None => break,
                },
            }
        }
        Some(named)
    }
}

/// Reads a record; none at the end, where it was cut off, and where it is too long.
fn record(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    reader.take(RECORD_BYTES_MAX).read_until(0, &mut text).ok()?;
    (text.pop() == Some(0)).then_some(text)
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
    /// True where this host may remove them.
    may: bool,
    removed: Vec<PathBuf>,
    bytes: u64,
    /// Files and directories that stay.
    kept: Vec<PathBuf>,
    /// Reason why the first of them stays.
    why: Option<io::Error>,
    /// An interrupt has ended the removal.
    stopped: bool,
}

impl Left {
    fn take(&mut self, path: PathBuf, birth: &Birth, mark: &Metadata) {
        let Ok(metadata) = path.symlink_metadata() else { return };
        let is_same_user = (metadata.dev(), metadata.uid()) == (mark.dev(), mark.uid());
        if !is_same_user || Birth::of(&path).as_ref() != Some(birth) {
            return;
        }
        let removed = match metadata.is_dir() {
            _ if !self.may => Err(None),
            true => std::fs::remove_dir(&path).map_err(Some),
            false => std::fs::remove_file(&path).map_err(Some),
        };
        match removed {
            Ok(()) => {
                self.bytes += if metadata.is_file() { metadata.len() } else { 0 };
                self.removed.push(path);
            }
            // Someone else has removed it just now.
            Err(Some(why)) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) => {
                self.why = self.why.take().or(why);
                self.kept.push(path);
            }
        }
    }

    fn note(&self, directory: &Path, owner: &Owner) -> Option<Note> {
        let of = |paths: &[PathBuf]| some_of(paths.iter().map(|path| format!("`{}`", path.text())));
        let size = fmt::size(self.bytes as f64);
        let mut done = Vec::new();
        if !self.removed.is_empty() {
            done.push(format!("removed {} ({size})", of(&self.removed)));
        }
        if !self.kept.is_empty() {
            let why = self.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            done.push(format!("left {} there{why}", of(&self.kept)));
        }
        let Owner { process, host, .. } = owner;
        let ended = if owner.is_of_this_host() {
            "ended before it could remove them"
        } else {
            "made them, and only there it is known whether that one still runs"
        };
        (!done.is_empty()).then(|| Note {
            asked: format!("files of killed runs in `{}`", directory.text()),
            did: done.join(", "),
            why: format!("process {process} of candor on {host} {ended}"),
            place: None,
        })
    }
}

/// The first few of some names, and the number of the others.
pub fn some_of(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let named = names.take(NAMED_MAX).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a file with some bytes and names it.
    fn make(mark: &Mark, path: &Path) {
        std::fs::write(path, [7; 4096]).expect("written");
        mark.add(path).expect("named");
    }

    /// Notes of a run that removes nothing but the names of a mark.
    fn removed(directory: &Path) -> Vec<Note> {
        remove_in(directory, &Cleaning { empty: &|_, _| {}, control: &Control::default() })
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
        assert_eq!(removed(dir.path()), [], "its owner lives");
        assert_eq!(names(dir.path()), ["a\nb", "own", "set", "thesis"]);
        // Another file at the path of one that was left is somebody else's.
        std::fs::rename(at("thesis"), at("own")).expect("renamed");
        drop(mark);
        let notes = removed(dir.path());
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
        let empty = |path: &Path, told: &str| {
            assert_eq!((path, told), (at("tree").as_path(), "names of tree"));
            std::fs::remove_file(path.join("f0")).expect("removed");
        };
        let control = Control::default();
        let notes = remove_in(dir.path(), &Cleaning { empty: &empty, control: &control });
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
            let found = removed(dir.path());
            assert_eq!(found.len(), notes, "{text}");
            assert!(found.iter().all(|note| note.did.contains("left")), "{found:?}");
            assert!(own.exists() && mark.exists());
        }
        std::fs::write(&mark, "").expect("written");
        assert!(removed(dir.path()).is_empty() && !mark.exists());
    }

    #[test]
    fn a_directory_that_stays_keeps_its_mark_and_is_reported() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let set = dir.path().join("set");
        let mark = Mark::create(dir.path()).expect("marked");
        std::fs::create_dir(&set).expect("made");
        mark.add(&set).expect("named");
        std::fs::write(set.join("thesis"), "words").expect("written");
        drop(mark);
        for _ in 0..2 {
            let notes = removed(dir.path());
            assert_eq!(notes.len(), 1, "{notes:?}");
            assert!(
                notes[0].did.contains("set") && notes[0].did.contains("not empty"),
                "{notes:?}"
            );
        }
        std::fs::remove_file(set.join("thesis")).expect("removed");
        assert!(removed(dir.path())[0].did.starts_with("removed"));
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 0);
    }

    #[test]
    fn an_interrupt_ends_the_removal_and_keeps_the_mark() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mark = Mark::create(dir.path()).expect("marked");
        make(&mark, &dir.path().join("own"));
        drop(mark);
        let control = Control::default();
        control.send(crate::control::Command::Stop);
        let stopped = remove_in(dir.path(), &Cleaning { empty: &|_, _| {}, control: &control });
        assert_eq!(stopped, []);
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 2);
        assert_eq!(removed(dir.path()).len(), 1);
    }

    #[test]
    fn marks_without_end_are_read_up_to_what_makes_no_sense() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let own = dir.path().join("own");
        std::fs::write(&own, "words").expect("written");
        let Birth { inode, at_ns } = Birth::of(&own).expect("born");
        let Owner { process, boot, host } = Owner::this();
        let path = dir.path().join(format!("{PREFIX}1"));
        let head = format!("{FORM} {process} {boot} {host}\0");
        for text in [String::new(), head.clone(), format!("{head}{inode} {at_ns} own\0")] {
            std::fs::write(&path, &text).expect("written");
            let file = File::options().write(true).open(&path).expect("opened");
            // Holes take no room, and would take minutes to read.
            file.set_len(1 << 40).expect("a long file");
            drop(file);
            assert_eq!(removed(dir.path()).len(), usize::from(text.len() > head.len()), "{text}");
        }
        assert!(!own.exists());
    }

    #[test]
    fn marks_of_other_users_are_not_read() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: marks_of_other_users_are_not_read: it needs root");
            return;
        }
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mark = Mark::create(dir.path()).expect("marked");
        make(&mark, &dir.path().join("own"));
        let path = mark.path().to_owned();
        drop(mark);
        for file in [path, dir.path().join("own")] {
            std::os::unix::fs::chown(file, Some(65534), None).expect("given away");
        }
        assert_eq!(removed(dir.path()), []);
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 2);
    }

    #[test]
    fn settings_of_killed_runs_are_restored_once_from_the_last_to_the_first() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mark = Mark::create(dir.path()).expect("marked");
        for value in ["none", "kyber"] {
            mark.keep(Path::new("/sys/a/queue/scheduler"), value).expect("kept");
        }
        let values = std::cell::RefCell::new(Vec::new());
        let restore = |file: &Path, value: &str| {
            values.borrow_mut().push((file.to_owned(), value.to_owned()));
            Ok(())
        };
        assert_eq!(restore_in(dir.path(), &restore), [], "its owner lives");
        drop(mark);
        let refused = |_: &Path, _: &str| Err(io::Error::from_raw_os_error(libc::EACCES));
        assert!(restore_in(dir.path(), &refused)[0].did.contains("could not restore"));
        let notes = restore_in(dir.path(), &restore);
        assert!(notes.len() == 1 && notes[0].did.contains("`none`"), "{notes:?}");
        let all = values.take();
        assert_eq!(all.len(), 2);
        assert_eq!(all[1], ("/sys/a/queue/scheduler".into(), "none".into()));
        assert_eq!(restore_in(dir.path(), &restore), []);
    }
}
