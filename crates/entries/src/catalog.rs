//! The table of a tree: what is there of it, how long each file is, and who is at work on what.
//!
//! A word per file and per directory, changed by compare-and-swap: workers take and give back items
//! without a lock. The table outlives a phase, so that the next one need not ask the host again.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use candor_plan::Tree;
use candor_plan::tree::{ItemPlaces, Place};

use crate::generations::Generations;

/// Tables of a session, by the paths of their trees.
pub type Catalogs = HashMap<PathBuf, Arc<Catalog>>;

/// Reasons for which an item was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Another worker has it in progress.
    Busy,
    /// Nothing is there.
    Absent,
    /// Something is there.
    Present,
    /// The file is as long as the plan has it.
    Whole,
    /// The file has no bytes to read.
    Empty,
    /// The directory above is not there.
    NoParent,
    /// A directory that has others in it.
    HasDirectories,
    /// A directory that has files in it.
    HasFiles,
}

impl Passed {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Passed; 8] = [
        Passed::Busy,
        Passed::Absent,
        Passed::Present,
        Passed::Whole,
        Passed::Empty,
        Passed::NoParent,
        Passed::HasDirectories,
        Passed::HasFiles,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Passed::Busy => "busy",
            Passed::Absent => "absent",
            Passed::Present => "present",
            Passed::Whole => "whole",
            Passed::Empty => "empty",
            Passed::NoParent => "no_parent",
            Passed::HasDirectories => "has_directories",
            Passed::HasFiles => "has_files",
        }
    }

    /// True where other work may soon make the item suit.
    pub fn may_pass(self) -> bool {
        use Passed::*;
        matches!(self, Busy | NoParent | HasDirectories | HasFiles)
    }
}

/// State of a thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// True where it is there.
    pub present: bool,
    /// Bytes of a file.
    pub length: u64,
}

/// Bit of a thing that is there.
const PRESENT: u64 = 1 << 63;
/// One user of a file; the length lies below.
const USER: u64 = 1 << 48;
const USERS: u64 = 0x7fff * USER;
const LENGTH: u64 = USER - 1;
/// Bit of a directory that is being made or removed.
const BUSY: u64 = 1 << 62;
/// One directory in a directory; the number of files lies below.
const SUBDIRECTORY: u64 = 1 << 32;
const SUBDIRECTORIES: u64 = BUSY - SUBDIRECTORY;
const FILES: u64 = SUBDIRECTORY - 1;

/// Changes that a worker may make in a tree, so that others know what to wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Makes files or directories.
    pub makes: bool,
    /// Removes files or directories.
    pub removes: bool,
}

impl Changes {
    /// One worker, in the word of those who wait.
    fn waiting(self) -> u64 {
        u64::from(self.makes) * MAKER + u64::from(self.removes)
    }
}

/// The word of workers that wait: the number of changes of the table so far, the makers that found
/// nothing that suits since the last one, and the removers.
const CHANGE: u64 = 1 << 32;
const MAKER: u64 = 1 << 16;
const REMOVERS: u64 = MAKER - 1;
const MAKERS: u64 = CHANGE - MAKER;

/// Table of a tree.
pub struct Catalog {
    tree: Tree,
    items: ItemPlaces,
    files: Box<[AtomicU64]>,
    directories: Box<[AtomicU64]>,
    /// Offset at which the next visit of each file goes on, where visits are parts.
    positions: OnceLock<Box<[AtomicU64]>>,
    /// Generations of the blocks of all files, once a job keeps them.
    generations: OnceLock<Generations>,
    makers: AtomicU32,
    removers: AtomicU32,
    waiting: AtomicU64,
}

impl Catalog {
    /// The table of a tree at that path, as the host has it now.
    pub fn scan(path: &Path, tree: &Tree) -> Catalog {
        let part = tree.part(0, 1);
        let zeros = |count: u64| (0..count).map(|_| AtomicU64::new(0)).collect();
        let catalog = Catalog {
            items: part.item_places(),
            files: zeros(part.items()),
            directories: zeros(tree.directories()),
            tree: tree.clone(),
            positions: OnceLock::new(),
            generations: OnceLock::new(),
            makers: AtomicU32::new(0),
            removers: AtomicU32::new(0),
            waiting: AtomicU64::new(0),
        };
        catalog.look(path);
        catalog
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Number of files that the tree has in all.
    pub fn file_count(&self) -> u64 {
        self.files.len() as u64
    }

    /// True for a table of the same names.
    pub fn is_of(&self, tree: &Tree) -> bool {
        self.tree == *tree
    }

    /// Asks the host for each directory, and for each file whose directory is there.
    fn look(&self, path: &Path) {
        let names = self.tree.names();
        let mut name = path.as_os_str().as_bytes().to_vec();
        let root = name.len();
        let here = |name: &[u8]| fs::symlink_metadata(std::ffi::OsStr::from_bytes(name)).ok();
        self.directories[0].store(PRESENT, Ordering::Relaxed);
        for number in 1..self.directories.len() as u64 {
            let parent = &self.directories[self.parent(number) as usize];
            if parent.load(Ordering::Relaxed) & PRESENT == 0 {
                continue;
            }
            name.truncate(root);
            names.write_directory(&Place { directory: number, ..Place::default() }, &mut name);
            if here(&name).is_some_and(|found| found.is_dir()) {
                self.directories[number as usize].store(PRESENT, Ordering::Relaxed);
                parent.fetch_add(SUBDIRECTORY, Ordering::Relaxed);
            }
        }
        for nth in 0..self.files.len() as u64 {
            let place = self.items.place(nth);
            let parent = &self.directories[place.directory as usize];
            if parent.load(Ordering::Relaxed) & PRESENT == 0 {
                continue;
            }
            name.truncate(root);
            names.write_directory(&place, &mut name);
            names.write_item(&place, &mut name);
            if let Some(found) = here(&name).filter(fs::Metadata::is_file) {
                let word = PRESENT | found.len().min(LENGTH);
                self.files[nth as usize].store(word, Ordering::Relaxed);
                parent.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Number of the directory that a directory below the root is in.
    fn parent(&self, directory: u64) -> u64 {
        (directory - 1) / u64::from(self.tree.width.max(1))
    }

    /// Files and directories below the root that are there.
    #[cfg(test)]
    fn present(&self) -> [u64; 2] {
        let of = |words: &[AtomicU64]| {
            words.iter().filter(|word| word.load(Ordering::Relaxed) & PRESENT != 0).count() as u64
        };
        [of(&self.files), of(&self.directories[1..])]
    }

    /// State of a file.
    pub fn file(&self, nth: u64) -> Known {
        known(self.files[nth as usize].load(Ordering::Acquire))
    }

    /// Offset at which the next visit of a file goes on.
    pub fn position(&self, nth: u64) -> u64 {
        self.positions().get(nth as usize).map_or(0, |at| at.load(Ordering::Relaxed))
    }

    /// Notes that offset.
    pub fn set_position(&self, nth: u64, position: u64) {
        if let Some(at) = self.positions().get(nth as usize) {
            at.store(position, Ordering::Relaxed);
        }
    }

    /// The offsets of all files; 8 bytes each, once a job visits parts of files.
    pub fn positions(&self) -> &[AtomicU64] {
        self.positions.get_or_init(|| self.files.iter().map(|_| AtomicU64::new(0)).collect())
    }

    /// Generations of the blocks of all files, where they are kept.
    pub fn generations(&self) -> Option<&Generations> {
        self.generations.get()
    }

    /// Keeps generations of blocks of so many bytes from now on.
    pub fn keep_generations(&self, interval: u64, bytes_of: impl Fn(u64) -> u64) -> &Generations {
        self.generations
            .get_or_init(|| Generations::new(&self.tree, self.file_count(), interval, bytes_of))
    }

    /// Takes a file in that state, alone or beside others.
    ///
    /// # Errors
    /// Another worker has it in progress, or its state is another one by now.
    pub fn take_file(&self, nth: u64, state: Known, alone: bool) -> Result<(), Passed> {
        let word = &self.files[nth as usize];
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let users = seen & USERS;
            let is_taken = if alone { users != 0 } else { users >= USERS - USER };
            if is_taken || known(seen) != state {
                return Err(Passed::Busy);
            }
            let taken = if alone { seen | USERS } else { seen + USER };
            let exchanged =
                word.compare_exchange_weak(seen, taken, Ordering::AcqRel, Ordering::Relaxed);
            match exchanged {
                Ok(_) => return Ok(()),
                Err(other) => seen = other,
            }
        }
    }

    /// Gives a file back, in its new state.
    pub fn give_file(&self, nth: u64, state: Known, alone: bool) {
        let word = &self.files[nth as usize];
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let users = if alone { 0 } else { (seen & USERS) - USER };
            // Several at work on one file know its end best by the furthest of them.
            let others = if alone { 0 } else { seen & LENGTH };
            let length = state.length.max(others).min(LENGTH);
            let present = if state.present { PRESENT } else { 0 };
            let given = present | users | if state.present { length } else { 0 };
            let exchanged =
                word.compare_exchange_weak(seen, given, Ordering::AcqRel, Ordering::Relaxed);
            match exchanged {
                Ok(_) if known(seen) == known(given) => return,
                Ok(_) => return self.changed(),
                Err(other) => seen = other,
            }
        }
    }

    /// Holds the directory of a file that is to be made, so that it stays.
    ///
    /// # Errors
    /// The directory is not there, or about to go.
    pub fn hold_parent(&self, nth: u64) -> Result<(), Passed> {
        self.add_to(self.items.place(nth).directory, 1)
    }

    /// Lets the directory of a file go, which is not there any more.
    pub fn leave_parent(&self, nth: u64) {
        let directory = self.items.place(nth).directory;
        self.directories[directory as usize].fetch_sub(1, Ordering::AcqRel);
        self.changed();
    }

    /// True while a file may be made where it belongs.
    ///
    /// # Errors
    /// The directory is not there, or about to go.
    pub fn has_parent(&self, nth: u64) -> Result<(), Passed> {
        self.is_there(self.items.place(nth).directory)
    }

    /// True while the parent of a directory is there.
    ///
    /// # Errors
    /// It is not, or about to go.
    pub fn has_parent_directory(&self, number: u64) -> Result<(), Passed> {
        self.is_there(self.parent(number))
    }

    fn is_there(&self, directory: u64) -> Result<(), Passed> {
        let word = self.directories[directory as usize].load(Ordering::Acquire);
        if word & (PRESENT | BUSY) == PRESENT { Ok(()) } else { Err(Passed::NoParent) }
    }

    fn add_to(&self, directory: u64, amount: u64) -> Result<(), Passed> {
        let word = &self.directories[directory as usize];
        let added = word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |seen| {
            (seen & (PRESENT | BUSY) == PRESENT).then_some(seen + amount)
        });
        added.map(drop).map_err(|_| Passed::NoParent)
    }

    /// State of a directory.
    pub fn directory(&self, number: u64) -> Known {
        let word = self.directories[number as usize].load(Ordering::Acquire);
        Known { present: word & PRESENT != 0, length: 0 }
    }

    /// Takes a directory that is to be made; its parent stays meanwhile.
    ///
    /// # Errors
    /// It is there, another worker makes it, or its parent is not there.
    pub fn take_to_make(&self, number: u64) -> Result<(), Passed> {
        let parent = self.parent(number);
        self.add_to(parent, SUBDIRECTORY)?;
        let word = &self.directories[number as usize];
        match word.compare_exchange(0, BUSY, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            Err(seen) => {
                self.directories[parent as usize].fetch_sub(SUBDIRECTORY, Ordering::AcqRel);
                Err(if seen & BUSY != 0 { Passed::Busy } else { Passed::Present })
            }
        }
    }

    /// Takes a directory that is to be removed.
    ///
    /// # Errors
    /// It is not there or not empty, or another worker removes it.
    pub fn take_to_remove(&self, number: u64) -> Result<(), Passed> {
        let word = &self.directories[number as usize];
        let taken = word.compare_exchange(PRESENT, BUSY, Ordering::AcqRel, Ordering::Acquire);
        taken.map(drop).map_err(|seen| kept_by(seen).unwrap_or(Passed::Busy))
    }

    /// True while a directory may be removed.
    ///
    /// # Errors
    /// It is not there or not empty, or another worker removes it.
    pub fn is_empty(&self, number: u64) -> Result<(), Passed> {
        let word = self.directories[number as usize].load(Ordering::Acquire);
        kept_by(word).map_or(Ok(()), Err)
    }

    /// Gives back a directory that was taken to be made or removed.
    pub fn give_directory(&self, number: u64, is_present: bool) {
        let word = if is_present { PRESENT } else { 0 };
        self.directories[number as usize].store(word, Ordering::Release);
        if !is_present {
            let parent = self.parent(number);
            self.directories[parent as usize].fetch_sub(SUBDIRECTORY, Ordering::AcqRel);
        }
        self.changed();
    }

    /// Notes a change: those who wait look again.
    fn changed(&self) {
        // The closure always gives a word.
        let _ = self.waiting.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |word| {
            Some((word / CHANGE).wrapping_add(1).wrapping_mul(CHANGE))
        });
    }

    /// Number of changes so far.
    pub fn changes(&self) -> u64 {
        self.waiting.load(Ordering::Acquire) / CHANGE
    }

    /// Counts a worker that found nothing that suits after so many changes; false where there was
    /// one more meanwhile.
    pub fn wait(&self, changes: u64, worker: Changes) -> bool {
        self.count_waiting(changes, |word| word + worker.waiting())
    }

    /// Takes a worker out of that count, where it still stands.
    pub fn go_on(&self, changes: u64, worker: Changes) {
        self.count_waiting(changes, |word| word - worker.waiting());
    }

    fn count_waiting(&self, changes: u64, count: impl Fn(u64) -> u64) -> bool {
        let updated = self.waiting.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |word| {
            (word / CHANGE == changes).then(|| count(word))
        });
        updated.is_ok()
    }

    /// Counts a worker that makes or removes things.
    pub fn begin(&self, changes: Changes) {
        self.makers.fetch_add(u32::from(changes.makes), Ordering::AcqRel);
        self.removers.fetch_add(u32::from(changes.removes), Ordering::AcqRel);
    }

    /// Counts its end.
    pub fn end(&self, changes: Changes) {
        self.makers.fetch_sub(u32::from(changes.makes), Ordering::AcqRel);
        self.removers.fetch_sub(u32::from(changes.removes), Ordering::AcqRel);
    }

    /// True where nobody will make an item suit that was passed over for that reason: all who could
    /// have found nothing that suits since the last change.
    pub fn is_stuck(&self, changes: u64, why: Passed) -> bool {
        let word = self.waiting.load(Ordering::Acquire);
        let all_wait = |alive: &AtomicU32, waiting: u64| {
            word / CHANGE == changes && waiting >= alive.load(Ordering::Acquire).into()
        };
        match why {
            Passed::Busy => false,
            Passed::Absent | Passed::NoParent | Passed::Empty => {
                all_wait(&self.makers, (word & MAKERS) / MAKER)
            }
            Passed::Present | Passed::Whole | Passed::HasDirectories | Passed::HasFiles => {
                all_wait(&self.removers, word & REMOVERS)
            }
        }
    }
}

/// The reason for which a directory cannot be removed.
fn kept_by(word: u64) -> Option<Passed> {
    match word {
        _ if word & BUSY != 0 => Some(Passed::Busy),
        _ if word & PRESENT == 0 => Some(Passed::Absent),
        _ if word & SUBDIRECTORIES != 0 => Some(Passed::HasDirectories),
        _ if word & FILES != 0 => Some(Passed::HasFiles),
        _ => None,
    }
}

fn known(word: u64) -> Known {
    Known { present: word & PRESENT != 0, length: word & LENGTH }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        Tree { depth: 2, width: 2, items: 3, root_is_bare: true, ..Tree::default() }
    }

    fn empty() -> Catalog {
        let dir = tempfile::tempdir().expect("a scratch directory");
        Catalog::scan(dir.path(), &tree())
    }

    #[test]
    fn a_scan_finds_what_is_there_and_how_long() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        fs::create_dir_all(dir.path().join("d0/d1")).expect("made");
        fs::write(dir.path().join("d0/f2"), [1; 700]).expect("written");
        fs::write(dir.path().join("other"), "not of the tree").expect("written");
        let catalog = Catalog::scan(dir.path(), &tree());
        assert_eq!(catalog.present(), [1, 2]);
        assert_eq!(catalog.file(2), Known { present: true, length: 700 });
        assert_eq!(catalog.take_to_remove(1), Err(Passed::HasDirectories));
        assert!(catalog.directory(4).present && !catalog.directory(2).present);
    }

    #[test]
    fn a_directory_comes_after_its_parent_and_goes_after_all_in_it() {
        let catalog = empty();
        assert_eq!(catalog.take_to_make(3), Err(Passed::NoParent));
        assert_eq!(catalog.hold_parent(0), Err(Passed::NoParent));
        catalog.take_to_make(1).expect("the root is there");
        assert_eq!(catalog.take_to_make(1), Err(Passed::Busy));
        assert_eq!(catalog.take_to_make(3), Err(Passed::NoParent), "it is being made");
        catalog.give_directory(1, true);
        assert_eq!(catalog.take_to_make(1), Err(Passed::Present));
        catalog.take_to_make(3).expect("its parent is there");
        catalog.give_directory(3, true);
        assert_eq!(catalog.take_to_remove(1), Err(Passed::HasDirectories));
        catalog.take_to_remove(3).expect("empty");
        catalog.give_directory(3, false);
        catalog.hold_parent(0).expect("its directory is there");
        assert_eq!(catalog.take_to_remove(1), Err(Passed::HasFiles));
        catalog.leave_parent(0);
        catalog.take_to_remove(1).expect("empty again");
        catalog.give_directory(1, false);
        assert_eq!(catalog.present(), [0, 0]);
        assert_eq!(catalog.take_to_remove(1), Err(Passed::Absent));
    }

    #[test]
    fn a_file_is_one_workers_unless_all_share_it() {
        let catalog = empty();
        let absent = Known::default();
        catalog.take_file(5, absent, true).expect("free");
        assert_eq!(catalog.take_file(5, absent, true), Err(Passed::Busy));
        assert_eq!(catalog.take_file(5, absent, false), Err(Passed::Busy));
        let made = Known { present: true, length: 4096 };
        catalog.give_file(5, made, true);
        assert_eq!(catalog.take_file(5, absent, true), Err(Passed::Busy), "it is there by now");
        catalog.take_file(5, made, false).expect("free");
        catalog.take_file(5, made, false).expect("shared");
        assert_eq!(catalog.take_file(5, made, true), Err(Passed::Busy));
        catalog.give_file(5, Known { length: 9000, ..made }, false);
        catalog.give_file(5, made, false);
        assert_eq!(catalog.file(5), Known { length: 9000, ..made });
        catalog.take_file(5, Known { length: 9000, ..made }, true).expect("free again");
    }

    #[test]
    fn workers_are_stuck_once_all_who_could_help_found_nothing() {
        let catalog = empty();
        let [maker, other] = [Changes { makes: true, removes: false }, Changes::default()];
        assert!(catalog.is_stuck(0, Passed::Absent), "nobody makes anything");
        catalog.begin(maker);
        catalog.begin(maker);
        assert!(catalog.wait(0, other) && catalog.wait(0, maker));
        assert!(!catalog.is_stuck(0, Passed::NoParent), "one is still at work");
        assert!(catalog.is_stuck(0, Passed::Present), "nobody removes anything");
        catalog.take_to_make(1).expect("free");
        catalog.give_directory(1, true);
        assert!(!catalog.wait(0, maker), "there was a change");
        let now = catalog.changes();
        assert!(catalog.wait(now, maker) && !catalog.is_stuck(now, Passed::Absent));
        assert!(catalog.wait(now, maker) && catalog.is_stuck(now, Passed::Absent));
        catalog.go_on(now, maker);
        assert!(!catalog.is_stuck(now, Passed::Absent) && !catalog.is_stuck(now, Passed::Busy));
        catalog.end(maker);
        assert!(catalog.is_stuck(now, Passed::Absent), "the other one has ended");
    }

    #[test]
    fn many_workers_make_each_thing_once() {
        use std::sync::atomic::AtomicUsize;
        let (catalog, made) = (empty(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for nth in (0..18).cycle().take(18 * 200) {
                        if catalog.take_file(nth, Known::default(), true).is_ok() {
                            made.fetch_add(1, Ordering::Relaxed);
                            catalog.give_file(nth, Known { present: true, length: nth }, true);
                        }
                    }
                });
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 18);
        assert_eq!(catalog.present()[0], 18);
    }
}
