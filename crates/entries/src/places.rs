//! Names of a job by number: the names of its targets, or a worker's part of a tree, whose names
//! are computed or listed.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candor_engine::names::Names;
use candor_engine::random::mix;
use candor_plan::Tree;
use candor_plan::entries::{Entries, Over};
use candor_plan::rank::{HostIndex, Ranks, data_rank};
use candor_plan::tree::{ItemPlaces, Place, TreeNames};

use crate::listed::{self, Dealt};
use crate::roots::{From, Roots};

/// Names of all workers of a job on this host.
pub struct Places {
    origin: Origin,
    ranks: Ranks,
    rank_shift: i64,
    /// Most names of one worker; a handle is the worker's number times that, and the name's.
    most: u64,
    /// True where each worker has all names: a handle is the name's number.
    whole: bool,
}

/// Things of a tree that are worked on.
pub struct TreeThings {
    /// Paths of the targets, among which places are dealt.
    pub paths: Vec<PathBuf>,
    /// Shape of the tree.
    pub tree: Tree,
    /// Directories of the tree instead of items.
    pub directories: bool,
    /// The root is one of the directories: roots are made before the work and removed after it.
    pub root: bool,
    /// Seed by which sizes of files are drawn.
    pub seed: u64,
}

enum Origin {
    /// Names of the targets; a worker has every n-th.
    Targets(Names),
    Tree(Box<(TreeThings, TreeNames)>),
    List(Box<ListThings>),
}

/// Things of a listed tree that are worked on.
pub struct ListThings {
    /// Path of the target.
    pub path: PathBuf,
    /// Things by rank.
    pub dealt: Dealt,
    /// The first rank's first thing is the root.
    pub root: bool,
}

/// A named thing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Item {
    /// First byte of the part that is worked on.
    pub start: u64,
    /// Bytes of that part: all of a file that is not shared.
    pub bytes: u64,
    /// Bytes of the whole file.
    pub file_bytes: u64,
    /// Number by which it differs from all others.
    pub key: u64,
}

impl TreeThings {
    /// The things of a tree that entries work on.
    pub fn of(entries: &Entries, paths: Vec<PathBuf>, tree: Tree, seed: u64) -> TreeThings {
        let directories = entries.over == Over::Directories;
        let root = !entries.makes_or_removes_directories();
        TreeThings { paths, tree, directories, root, seed }
    }
}

impl Places {
    /// Names of targets.
    pub fn of_targets(names: Names, ranks: Ranks) -> Places {
        Places { origin: Origin::Targets(names), ranks, rank_shift: 0, most: 1, whole: false }
    }

    /// Things of a tree, for so many workers of this host.
    pub fn of_tree(things: TreeThings, workers: u32, ranks: Ranks, rank_shift: i64) -> Places {
        let names = things.tree.names();
        Places::numbered(Origin::Tree((things, names).into()), workers, ranks, rank_shift)
    }

    /// All things of a tree, for each worker.
    pub fn of_whole_tree(things: TreeThings) -> Places {
        Places { whole: true, ..Places::of_tree(things, 1, HostIndex::ALONE.ranks(1), 0) }
    }

    /// Things of a listed tree, for so many workers of this host.
    pub fn of_list(things: ListThings, workers: u32, ranks: Ranks, rank_shift: i64) -> Places {
        Places::numbered(Origin::List(things.into()), workers, ranks, rank_shift)
    }

    fn numbered(origin: Origin, workers: u32, ranks: Ranks, rank_shift: i64) -> Places {
        let places = Places { origin, ranks, rank_shift, most: 1, whole: false };
        let most = (0..workers).map(|worker| places.count(worker)).max().unwrap_or(0).max(1);
        Places { most, ..places }
    }

    /// Directory below which the names are, or that of the first of the targets.
    pub fn directory(&self) -> PathBuf {
        match &self.origin {
            Origin::Tree(tree) => tree.0.paths.first().cloned().unwrap_or_default(),
            Origin::List(things) => things.path.clone(),
            Origin::Targets(_) => {
                Path::new(&self.path_of(0)).parent().map(Path::to_owned).unwrap_or_default()
            }
        }
    }

    /// Directories of the targets.
    fn roots(&self) -> Vec<PathBuf> {
        match &self.origin {
            Origin::Tree(tree) => tree.0.paths.clone(),
            Origin::List(things) => vec![things.path.clone()],
            Origin::Targets(names) => names.directories().map(Path::to_owned).collect(),
        }
    }

    /// Highest handle for so many workers.
    pub fn handle_max(&self, workers: u32) -> u64 {
        match &self.origin {
            Origin::Targets(names) => names.count() as u64,
            _ if self.whole => self.most,
            Origin::Tree(_) | Origin::List(_) => self.most.saturating_mul(workers.into()),
        }
    }

    /// Rank whose things a worker works on.
    fn rank(&self, worker: u32) -> u64 {
        data_rank(self.ranks.rank(worker), self.ranks.ranks, self.rank_shift)
    }

    /// Number of names that a worker has.
    pub fn count(&self, worker: u32) -> u64 {
        let (rank, ranks) = (self.rank(worker), self.ranks.ranks.max(1));
        match &self.origin {
            Origin::Targets(names) => (names.count() as u64).saturating_sub(rank).div_ceil(ranks),
            Origin::Tree(tree) => {
                let (things, _) = &**tree;
                let part = things.tree.part(rank, ranks);
                match things.directories {
                    true => part.directories() + u64::from(things.root(rank, ranks).is_some()),
                    false => part.items(),
                }
            }
            Origin::List(things) => u64::from(things.has_root(rank)) + things.dealt.count(rank),
        }
    }

    /// Handle of a worker's name.
    pub fn handle(&self, worker: u32, nth: u64) -> u32 {
        let handle = match &self.origin {
            Origin::Targets(_) => self.rank(worker) + nth * self.ranks.ranks.max(1),
            _ if self.whole => nth,
            Origin::Tree(_) | Origin::List(_) => u64::from(worker) * self.most + nth,
        };
        // More names than handles were refused when the job was prepared.
        handle as u32
    }

    /// Bytes that the plan gives a file of a tree.
    pub fn bytes_of(&self, nth: u64) -> u64 {
        match &self.origin {
            Origin::Tree(tree) if !tree.0.directories => {
                let place = tree.0.place(self.rank(0), self.ranks.ranks, nth);
                file_size(&tree.0.tree, tree.0.seed, &place)
            }
            _ => 0,
        }
    }

    /// Path behind a handle.
    pub fn path_of(&self, handle: u32) -> String {
        let mut path = Vec::new();
        let (worker, nth) = (u64::from(handle) / self.most, u64::from(handle) % self.most);
        match &self.origin {
            Origin::Targets(names) => names.write_path(handle as usize, &mut path),
            Origin::Tree(tree) => {
                let (things, names) = &**tree;
                let place = things.place(self.rank(worker as u32), self.ranks.ranks, nth);
                things.write(names, &place, &mut Prefix::default(), &mut path);
            }
            Origin::List(things) => {
                let rank = self.rank(worker as u32);
                things.write(rank, nth, false, (&mut path, &mut Prefix::default()));
            }
        }
        path.pop();
        String::from_utf8_lossy(&path).into_owned()
    }

    /// Most bytes of a file.
    pub fn bytes_max(&self) -> u64 {
        match &self.origin {
            Origin::Targets(names) => names.iter().map(|named| named.length()).max().unwrap_or(0),
            Origin::Tree(tree) => tree.0.tree.file_size.max().0,
            Origin::List(things) => things.dealt.bytes_max(),
        }
    }
}

/// The directory at the beginning of a path, and the length of its part.
#[derive(Debug, Default)]
pub struct Prefix {
    directory: Option<u64>,
    length: usize,
}

impl TreeThings {
    fn root(&self, rank: u64, ranks: u64) -> Option<Place> {
        self.tree.part(rank, ranks).root().filter(|_| self.root)
    }

    fn place(&self, rank: u64, ranks: u64, nth: u64) -> Place {
        let part = self.tree.part(rank, ranks);
        match (self.directories, self.root(rank, ranks)) {
            (false, _) => part.item(nth),
            (true, Some(root)) if nth == 0 => root,
            (true, root) => part.directory(nth - u64::from(root.is_some())),
        }
    }

    /// Writes the path of a place, with a zero byte behind it. The directory of a place is written
    /// only where it is another one than before.
    fn write(&self, names: &TreeNames, place: &Place, prefix: &mut Prefix, to: &mut Vec<u8>) {
        if prefix.directory != Some(place.directory) {
            to.clear();
            let home = self.tree.home(place, self.paths.len() as u64) as usize;
            to.extend_from_slice(self.paths[home].as_os_str().as_bytes());
            names.write_directory(place, to);
            *prefix = Prefix { directory: Some(place.directory), length: to.len() };
        }
        to.truncate(prefix.length);
        if !self.directories {
            names.write_item(place, to);
        }
        to.push(0);
    }
}

impl ListThings {
    fn has_root(&self, rank: u64) -> bool {
        self.root && rank == 0
    }

    /// Writes the path of one of a rank's things, with a zero byte behind it. The path of the root
    /// is written once. Only what has bytes needs its key.
    #[inline]
    fn write(
        &self,
        rank: u64,
        nth: u64,
        with_key: bool,
        (to, prefix): (&mut Vec<u8>, &mut Prefix),
    ) -> Item {
        if prefix.directory.is_none() {
            to.clear();
            to.extend_from_slice(self.path.as_os_str().as_bytes());
            *prefix = Prefix { directory: Some(0), length: to.len() };
        }
        to.truncate(prefix.length);
        let mut item = Item::default();
        if let Some(nth) = nth.checked_sub(u64::from(self.has_root(rank))) {
            let part = self.dealt.part(rank, nth);
            let name = self.dealt.path(&part);
            to.push(b'/');
            to.extend_from_slice(name);
            let key = if with_key { listed::key(name) } else { 0 };
            let file_bytes = self.dealt.file_bytes(&part);
            item = Item { start: part.offset, bytes: part.bytes, file_bytes, key };
        }
        to.push(0);
        item
    }
}

/// The names of one worker.
pub struct WorkerNames {
    /// Places of its items, where they are those of a tree.
    items: Option<ItemPlaces>,
    places: Arc<Places>,
    roots: Roots,
    worker: u32,
    rank: u64,
    count: u64,
}

impl WorkerNames {
    /// The names of that worker.
    pub fn new(places: Arc<Places>, worker: u32) -> WorkerNames {
        let (rank, count) = (places.rank(worker), places.count(worker));
        let items = match &places.origin {
            Origin::Tree(tree) if !tree.0.directories => {
                Some(tree.0.tree.part(rank, places.ranks.ranks.max(1)).item_places())
            }
            _ => None,
        };
        let roots = Roots::open(places.roots());
        WorkerNames { items, places, roots, worker, rank, count }
    }

    /// Number of names.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of the path of the tree, before those of names in it.
    pub fn root_length(&self) -> usize {
        self.places.directory().as_os_str().len()
    }

    /// Place from which a path that was written is looked up.
    #[inline(always)]
    pub fn looked_up_from(&self, path: &[u8]) -> From {
        self.roots.of(path)
    }

    /// Rank whose names they are.
    pub fn rank(&self) -> u64 {
        self.rank
    }

    /// Handle of a name.
    pub fn handle(&self, nth: u64) -> u32 {
        self.places.handle(self.worker, nth)
    }

    /// Writes the path of a name, with a zero byte behind it, over the path of an earlier one.
    #[inline]
    pub fn write(
        &self,
        nth: u64,
        with_size: bool,
        (to, prefix): (&mut Vec<u8>, &mut Prefix),
    ) -> Item {
        match &self.places.origin {
            Origin::Targets(names) => {
                let number = self.places.handle(self.worker, nth) as usize;
                names.write_path(number, to);
                let size = || names.size(number).unwrap_or_else(|| names.name(number).length());
                let bytes = if with_size { size() } else { 0 };
                Item { start: 0, bytes, file_bytes: bytes, key: number as u64 }
            }
            Origin::Tree(tree) => {
                let (things, names) = &**tree;
                let place = match &self.items {
                    Some(items) => items.place(nth),
                    None => things.place(self.rank, self.places.ranks.ranks, nth),
                };
                things.write(names, &place, prefix, to);
                let size = || file_size(&things.tree, things.seed, &place);
                let bytes = if with_size { size() } else { 0 };
                Item { start: 0, bytes, file_bytes: bytes, key: key(&place) }
            }
            Origin::List(things) => things.write(self.rank, nth, with_size, (to, prefix)),
        }
    }
}

/// Number of a place: the same whoever asks.
fn key(place: &Place) -> u64 {
    mix(mix(place.tree, place.rank), place.item)
}

/// Bytes of a file of a tree: the same whoever asks.
pub fn file_size(tree: &Tree, seed: u64, place: &Place) -> u64 {
    tree.file_size.drawn(mix(seed, key(place))).0
}
