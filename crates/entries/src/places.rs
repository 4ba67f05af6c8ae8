//! Names of a job by number: the names of its targets, or a worker's part of a tree, whose names
//! are computed or listed.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candor_engine::names::Names;
use candor_plan::Tree;
use candor_plan::entries::{Division, Entries, Over};
use candor_plan::path_text::{path_of, text_of};
use candor_plan::rank::{HostIndex, Ranks, data_rank};
use candor_plan::tree::{ItemPlaces, Place, Spread, TreeNames};

use crate::listed::{self, Dealt, Part};
use crate::roots::{From, Roots};

/// Names of all workers of a job on this host.
pub struct Places {
    origin: Origin,
    ranks: Ranks,
    rank_shift: i64,
    division: Division,
    /// Maximum number of names of one worker; a handle is the worker's number times this, plus the
    /// name's number.
    most: u64,
    /// True if each worker has all names: a handle is the name's number.
    whole: bool,
}

/// Items or directories of a tree.
pub struct TreeThings {
    /// Paths of the targets; items are distributed over them.
    pub paths: Vec<PathBuf>,
    /// Shape of the tree.
    pub tree: Tree,
    /// True for directories of the tree instead of items.
    pub directories: bool,
    /// True if the root is one of the directories: roots are created before the work and removed
    /// after it.
    pub root: bool,
    /// True if each target has its roots.
    pub root_of_each: bool,
    /// Maximum number of items per rank.
    pub first: u64,
    /// Window over each rank's items.
    pub window: Option<WindowItems>,
    /// Seed of the sizes of files.
    pub seed: u64,
}

/// Window over each rank's items in a phase.
#[derive(Clone, Copy, Debug)]
pub struct WindowItems {
    /// Items that have left the window.
    pub left: u64,
    /// Items that enter the window in the phase; none if the window stays.
    pub enter: Option<u64>,
    /// Distance from a worker's rank to the rank of an item, for each directory.
    pub rank_step: u32,
}

/// Rank whose data a worker uses, and the number of ranks.
#[derive(Clone, Copy, Debug)]
struct DataRank {
    rank: u64,
    ranks: u64,
}

enum Origin {
    /// Names of the targets; a worker has every n-th name.
    Targets(Names),
    Tree(Box<(TreeThings, TreeNames)>),
    List(Box<ListThings>),
}

/// Items or directories of a listed tree.
pub struct ListThings {
    /// Path of the target.
    pub path: PathBuf,
    /// Items by rank.
    pub dealt: Dealt,
    /// True if the first rank's first item is the root.
    pub root: bool,
}

/// A named item.
#[derive(Clone, Copy, Debug, Default)]
pub struct Item {
    /// Offset of the part that the worker uses.
    pub start: u64,
    /// Length of that part: the whole file, unless ranks share the file.
    pub bytes: u64,
    /// Length of the whole file.
    pub file_bytes: u64,
    /// Identity of the file.
    pub key: FileKey,
}

/// Identity of a file, for its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileKey {
    /// Unique number, the same for all workers.
    pub number: u64,
    /// Rank that owns the file, in a tree with separate items per rank.
    pub owner: u64,
    /// Index among the item positions of its tree.
    pub slot: u64,
}

impl TreeThings {
    /// The items of a tree that entries work on.
    pub fn of(entries: &Entries, paths: Vec<PathBuf>, tree: Tree, seed: u64) -> TreeThings {
        let directories = entries.over == Over::Directories;
        let root = entries.with_roots || !entries.makes_or_removes_directories();
        let first = entries.first.unwrap_or(u64::MAX);
        let root_of_each = entries.roots_apart;
        TreeThings { paths, tree, directories, root, root_of_each, first, window: None, seed }
    }
}

impl Places {
    /// Names of targets.
    pub fn of_targets(names: Names, division: Division, ranks: Ranks) -> Places {
        let rank_shift = 0;
        Places {
            origin: Origin::Targets(names),
            ranks,
            rank_shift,
            division,
            most: 1,
            whole: false,
        }
    }

    /// Items of a tree, for `workers` workers on this host.
    pub fn of_tree(
        things: TreeThings,
        division: Division,
        workers: u32,
        ranks: Ranks,
        rank_shift: i64,
    ) -> Places {
        let names = things.tree.names();
        let origin = Origin::Tree((things, names).into());
        let places = Places { origin, ranks, rank_shift, division, most: 1, whole: false };
        places.numbered(workers)
    }

    /// All items of a tree, for each worker.
    pub fn of_whole_tree(things: TreeThings) -> Places {
        let alone = HostIndex::ALONE.ranks(1);
        Places { whole: true, ..Places::of_tree(things, Division::Own, 1, alone, 0) }
    }

    /// Items of a listed tree, for `workers` workers on this host.
    pub fn of_list(things: ListThings, workers: u32, ranks: Ranks, rank_shift: i64) -> Places {
        let (origin, division) = (Origin::List(things.into()), Division::Own);
        Places { origin, ranks, rank_shift, division, most: 1, whole: false }.numbered(workers)
    }

    fn numbered(self, workers: u32) -> Places {
        let most = (0..workers).map(|worker| self.count(worker)).max().unwrap_or(0).max(1);
        // Items that enter a window have handles after the items that leave it.
        let each = if self.window().is_some_and(|window| window.enter.is_some()) { 2 } else { 1 };
        Places { most: most.saturating_mul(each), ..self }
    }

    /// Window over the items of each rank.
    pub fn window(&self) -> Option<WindowItems> {
        match &self.origin {
            Origin::Tree(tree) => tree.0.window,
            Origin::Targets(_) | Origin::List(_) => None,
        }
    }

    /// Number of directories with items of each rank; 1 without a tree.
    pub fn item_directories(&self) -> u64 {
        match &self.origin {
            Origin::Tree(tree) => tree.0.tree.item_directories(),
            Origin::Targets(_) | Origin::List(_) => 1,
        }
    }

    /// Directory of the names, or of the first target.
    pub fn directory(&self) -> PathBuf {
        match &self.origin {
            Origin::Tree(tree) => tree.0.paths.first().cloned().unwrap_or_default(),
            Origin::List(things) => things.path.clone(),
            Origin::Targets(_) => {
                path_of(&self.path_of(0)).parent().map(Path::to_owned).unwrap_or_default()
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

    /// Maximum handle for `workers` workers.
    pub fn handle_max(&self, workers: u32) -> u64 {
        match &self.origin {
            Origin::Targets(names) => names.count() as u64,
            // The first rank has all names.
            _ if self.division == Division::First => self.most,
            _ if self.whole => self.most,
            Origin::Tree(_) | Origin::List(_) => self.most.saturating_mul(workers.into()),
        }
    }

    /// Rank whose items a worker uses.
    fn rank(&self, worker: u32) -> u64 {
        data_rank(self.ranks.rank(worker), self.ranks.ranks, self.rank_shift)
    }

    fn data_rank(&self, worker: u32) -> DataRank {
        DataRank { rank: self.rank(worker), ranks: self.ranks.ranks }
    }

    /// Number of a worker's names.
    pub fn count(&self, worker: u32) -> u64 {
        let (rank, ranks) = (self.rank(worker), self.ranks.ranks.max(1));
        match &self.origin {
            Origin::Targets(names) if self.division == Division::Every => names.count() as u64,
            Origin::Targets(names) => (names.count() as u64).saturating_sub(rank).div_ceil(ranks),
            Origin::Tree(tree) => {
                let is_first = self.ranks.rank(worker) == 0;
                tree.0.count(DataRank { rank, ranks }, self.division, is_first)
            }
            Origin::List(things) => u64::from(things.has_root(rank)) + things.dealt.count(rank),
        }
    }

    /// Handle of a worker's name.
    pub fn handle(&self, worker: u32, nth: u64) -> u32 {
        let handle = match &self.origin {
            // Workers begin with different names.
            Origin::Targets(names) if self.division == Division::Every => {
                (self.rank(worker) + nth) % (names.count() as u64).max(1)
            }
            Origin::Targets(_) => self.rank(worker) + nth * self.ranks.ranks.max(1),
            _ if self.whole => nth,
            Origin::Tree(_) | Origin::List(_) => u64::from(worker) * self.most + nth,
        };
        // The handle fits: preparation rejects jobs with more names than handles.
        handle as u32
    }

    /// Planned length of a file of a tree.
    pub fn bytes_of(&self, nth: u64) -> u64 {
        match &self.origin {
            Origin::Tree(tree) if !tree.0.directories => {
                let place = tree.0.place(self.data_rank(0), self.division, nth);
                tree.0.tree.item_bytes(tree.0.seed, &place)
            }
            _ => 0,
        }
    }

    /// Path of a handle.
    pub fn path_of(&self, handle: u32) -> String {
        let mut path = Vec::new();
        let (worker, nth) = (u64::from(handle) / self.most, u64::from(handle) % self.most);
        match &self.origin {
            Origin::Targets(names) => names.write_path(handle as usize, &mut path),
            Origin::Tree(tree) => {
                let (things, names) = &**tree;
                let place = things.place(self.data_rank(worker as u32), self.division, nth);
                things.write(names, &place, &mut Prefix::default(), &mut path);
            }
            Origin::List(things) => {
                let part = things.part(self.rank(worker as u32), nth);
                things.write(part.as_ref(), false, &mut path, &mut Prefix::default());
            }
        }
        path.pop();
        text_of(&path)
    }

    /// Maximum length of a file.
    pub fn bytes_max(&self) -> u64 {
        match &self.origin {
            Origin::Targets(names) => names.iter().map(|named| named.length()).max().unwrap_or(0),
            Origin::Tree(tree) => tree.0.tree.file_size.max().0,
            Origin::List(things) => things.dealt.bytes_max(),
        }
    }
}

/// The directory at the start of a path, and the length of its part.
#[derive(Debug, Default)]
pub struct Prefix {
    /// Target, tree and number of the directory.
    directory: Option<[u64; 3]>,
    length: usize,
}

impl TreeThings {
    fn root(&self, rank: u64, ranks: u64) -> Option<Place> {
        self.tree.part(rank, ranks).root().filter(|_| self.root)
    }

    /// Number of roots among a rank's directories of one copy; roots come first.
    fn roots(&self, rank: u64, ranks: u64) -> u64 {
        match self.root(rank, ranks) {
            None => 0,
            Some(_) if self.root_of_each && self.copies() == 1 => self.paths.len().max(1) as u64,
            Some(_) => 1,
        }
    }

    /// Number of copies of the tree, each in a separate target.
    fn copies(&self) -> u64 {
        match self.tree.spread {
            Spread::Copies => self.paths.len().max(1) as u64,
            Spread::Subtrees | Spread::Ranks => 1,
        }
    }

    /// Number of a rank's items of one copy.
    fn own_count(&self, rank: u64, ranks: u64) -> u64 {
        let part = self.tree.part(rank, ranks);
        let count = if self.directories {
            part.directories() + self.roots(rank, ranks)
        } else {
            match self.window.and_then(|window| window.enter) {
                Some(enter) => return enter,
                None => part.items(),
            }
        };
        count.min(self.first)
    }

    /// Number of ranks whose items the first rank uses, as its trees count them.
    fn owners(&self, ranks: u64) -> u64 {
        let own = if self.directories { self.tree.per_rank } else { self.tree.has_own_items() };
        if own { ranks } else { 1 }
    }

    /// Number of items of one copy that a rank uses.
    fn count_of_copy(&self, of: DataRank, division: Division) -> u64 {
        let DataRank { rank, ranks } = of;
        match division {
            Division::Own => self.own_count(rank, ranks),
            Division::Every => self.own_count(0, 1),
            // With separate items per rank, all ranks have the same number, except for a shared
            // root.
            Division::First => {
                let owners = self.owners(ranks);
                let more = (owners - 1).saturating_mul(self.own_count(1, owners));
                self.own_count(0, owners).saturating_add(more)
            }
        }
    }

    fn count(&self, of: DataRank, division: Division, is_first: bool) -> u64 {
        if division == Division::First && !is_first {
            return 0;
        }
        self.count_of_copy(of, division).saturating_mul(self.copies())
    }

    /// The n-th item that a rank uses.
    fn place(&self, of: DataRank, division: Division, nth: u64) -> Place {
        let DataRank { rank, ranks } = of;
        if let Some(window) = &self.window {
            return self.place_in_window(window, of, nth);
        }
        let each = self.count_of_copy(of, division).max(1);
        let (copy, nth) = (nth / each, nth % each);
        let place = match division {
            Division::Own => self.own_place(rank, ranks, nth),
            Division::Every => self.own_place(0, 1, nth),
            Division::First => {
                let owners = self.owners(ranks);
                match nth.checked_sub(self.own_count(0, owners)) {
                    None => self.own_place(0, owners, nth),
                    Some(nth) => {
                        let each = self.own_count(1, owners).max(1);
                        self.own_place(1 + nth / each, owners, nth % each)
                    }
                }
            }
        };
        Place { copy: copy + place.copy, ..place }
    }

    /// An item in a window, or entering it: entering items come after all leaving items.
    fn place_in_window(&self, window: &WindowItems, of: DataRank, nth: u64) -> Place {
        let DataRank { rank, ranks } = of;
        let part = self.tree.part(rank, ranks);
        let (item, direction) = match window.enter.and_then(|enter| nth.checked_sub(enter)) {
            None => (window.left + nth, -1),
            Some(nth) => (window.left + part.items() + nth, 1),
        };
        let directory = item % self.tree.item_directories().max(1) + 1;
        // The product does not overflow for any possible number of directories.
        let shift = direction * i64::from(window.rank_step) * directory as i64;
        self.tree.part(data_rank(rank, ranks, shift), ranks).item(item)
    }

    fn own_place(&self, rank: u64, ranks: u64, nth: u64) -> Place {
        let part = self.tree.part(rank, ranks);
        match (self.directories, self.root(rank, ranks)) {
            (false, _) => part.item(nth),
            (true, Some(root)) if nth < self.roots(rank, ranks) => Place { copy: nth, ..root },
            (true, _) => part.directory(nth - self.roots(rank, ranks)),
        }
    }

    /// Writes the path of an item, with a zero byte after it. Writes the directory only if it
    /// differs from the previous one.
    fn write(&self, names: &TreeNames, place: &Place, prefix: &mut Prefix, to: &mut Vec<u8>) {
        let directory = Some([place.copy, place.tree, place.directory]);
        if prefix.directory != directory {
            to.clear();
            let home = self.tree.home(place, self.paths.len() as u64) as usize;
            to.extend_from_slice(self.paths[home].as_os_str().as_bytes());
            names.write_directory(place, to);
            *prefix = Prefix { directory, length: to.len() };
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

    /// The n-th entry of a rank; none for the root.
    #[inline]
    fn part(&self, rank: u64, nth: u64) -> Option<Part> {
        let nth = nth.checked_sub(u64::from(self.has_root(rank)))?;
        Some(self.dealt.part(rank, nth))
    }

    /// Writes the path of an entry, or of the root, with a zero byte after it. The path of the root
    /// is written once. Only entries with bytes need a key.
    #[inline]
    fn write(
        &self,
        part: Option<&Part>,
        with_key: bool,
        to: &mut Vec<u8>,
        prefix: &mut Prefix,
    ) -> Item {
        if prefix.directory.is_none() {
            to.clear();
            to.extend_from_slice(self.path.as_os_str().as_bytes());
            *prefix = Prefix { directory: Some([0; 3]), length: to.len() };
        }
        to.truncate(prefix.length);
        let mut item = Item::default();
        if let Some(part) = part {
            let name = self.dealt.path(part);
            to.push(b'/');
            to.extend_from_slice(name);
            let number = if with_key { listed::key(name) } else { 0 };
            let key = FileKey { number, ..FileKey::default() };
            let file_bytes = self.dealt.file_bytes(part);
            item = Item { start: part.offset, bytes: part.bytes, file_bytes, key };
        }
        to.push(0);
        item
    }
}

/// The names of one worker.
pub struct WorkerNames {
    /// Positions of its items in a tree, if the worker has a plain part of one tree.
    items: Option<ItemPlaces>,
    places: Arc<Places>,
    roots: Roots,
    worker: u32,
    rank: u64,
    count: u64,
}

impl WorkerNames {
    /// The names of a worker.
    pub fn new(places: Arc<Places>, worker: u32) -> WorkerNames {
        let (rank, count) = (places.rank(worker), places.count(worker));
        let items = match &places.origin {
            Origin::Tree(tree)
                if !tree.0.directories
                    && places.division == Division::Own
                    && tree.0.window.is_none()
                    && tree.0.copies() == 1 =>
            {
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

    /// Number of roots of trees; roots are the first names.
    pub fn roots(&self) -> u64 {
        match &self.places.origin {
            Origin::Tree(tree) if tree.0.directories => match self.places.division {
                Division::Own => tree.0.roots(self.rank, self.places.ranks.ranks),
                Division::Every => tree.0.roots(0, 1),
                Division::First => 0,
            },
            Origin::Tree(_) | Origin::Targets(_) | Origin::List(_) => 0,
        }
    }

    /// Length of the tree's path, the prefix of its names.
    pub fn root_length(&self) -> usize {
        self.places.directory().as_os_str().len()
    }

    /// Directory from which a written path is looked up.
    #[inline(always)]
    pub fn looked_up_from(&self, path: &[u8]) -> From {
        self.roots.of(path)
    }

    /// Rank of the names.
    pub fn rank(&self) -> u64 {
        self.rank
    }

    /// Handle of a name.
    pub fn handle(&self, nth: u64) -> u32 {
        self.places.handle(self.worker, nth)
    }

    /// Writes the path of a name, with a zero byte after it, over the path of an earlier name.
    #[inline]
    pub fn write(&self, nth: u64, with_size: bool, to: &mut Vec<u8>, prefix: &mut Prefix) -> Item {
        match &self.places.origin {
            Origin::Targets(names) => {
                let number = self.places.handle(self.worker, nth) as usize;
                names.write_path(number, to);
                let bytes = match with_size.then(|| names.size(number)) {
                    None => 0,
                    Some(size) => size.unwrap_or_else(|| names.name(number).length()),
                };
                let key = FileKey { number: number as u64, ..FileKey::default() };
                Item { start: 0, bytes, file_bytes: bytes, key }
            }
            Origin::Tree(tree) => {
                let (things, names) = &**tree;
                let place = match &self.items {
                    Some(items) => items.place(nth),
                    None => {
                        let of = DataRank { rank: self.rank, ranks: self.places.ranks.ranks };
                        things.place(of, self.places.division, nth)
                    }
                };
                things.write(names, &place, prefix, to);
                let bytes = if with_size { things.tree.item_bytes(things.seed, &place) } else { 0 };
                let key =
                    FileKey { number: place.key(), owner: place.rank, slot: names.slot(&place) };
                Item { start: 0, bytes, file_bytes: bytes, key }
            }
            Origin::List(things) => {
                things.write(things.part(self.rank, nth).as_ref(), with_size, to, prefix)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use candor_plan::rank::HostIndex;
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    struct Shape {
        own: bool,
        per_rank: bool,
        leaves: bool,
        copies: bool,
    }

    fn shapes() -> impl Strategy<Value = Shape> {
        any::<[bool; 4]>().prop_map(|[own, per_rank, leaves, copies]| Shape {
            own,
            per_rank,
            leaves,
            copies,
        })
    }

    fn tree(depth: u32, items: u64, shape: Shape, shift: u64) -> Tree {
        let Shape { own, per_rank, leaves, copies } = shape;
        Tree {
            depth,
            width: 2,
            items,
            items_per_rank: own,
            leaves_only: leaves,
            per_rank,
            tree_shift: if per_rank { shift } else { 0 },
            spread: if copies { Spread::Copies } else { Spread::Ranks },
            root_name: (if per_rank { "t{rank}" } else { "t" }).parse().ok(),
            item_name: "f{rank}.{slot}".parse().ok(),
            ..Tree::default()
        }
    }

    /// Number of uses of each name, over all ranks.
    fn counted(tree: &Tree, entries: &Entries, ranks: u32, shift: i64) -> BTreeMap<String, u64> {
        let paths = vec!["/a".into(), "/b".into()];
        let things = TreeThings::of(entries, paths, tree.clone(), 0);
        let of_host = HostIndex::ALONE.ranks(ranks);
        let places = Arc::new(Places::of_tree(things, entries.division, ranks, of_host, shift));
        let mut all = BTreeMap::new();
        for worker in 0..ranks {
            let names = WorkerNames::new(places.clone(), worker);
            let (mut path, mut prefix) = (Vec::new(), Prefix::default());
            for nth in 0..names.count() {
                names.write(nth, false, &mut path, &mut prefix);
                let name = String::from_utf8(path[..path.len() - 1].to_vec()).expect("text");
                assert_eq!(places.path_of(names.handle(nth)), name, "as the handle says");
                *all.entry(name).or_insert(0) += 1;
            }
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// With each division, all ranks together use the same names, each as often as the division
        /// defines.
        #[test]
        fn divisions_have_the_same_names(
            depth in 0..3_u32,
            items in 0..4_u64,
            shape in shapes(),
            ranks in 1..5_u32,
            shift in 0..7_u64,
        ) {
            let tree = tree(depth, items, shape, shift);
            let of = |division, rank_shift| {
                let entries = Entries { division, ..Entries::default() };
                counted(&tree, &entries, ranks, rank_shift)
            };
            let own = of(Division::Own, 0);
            let copies = if shape.copies { 2 } else { 1 };
            prop_assert_eq!(own.len() as u64, tree.totals(ranks.into()).items * copies);
            prop_assert!(own.values().all(|count| *count == 1));
            prop_assert_eq!(&of(Division::Own, 2), &own, "a shift takes others, and all of them");
            prop_assert_eq!(&of(Division::First, 0), &own);
            if !tree.has_own_items() {
                let every = of(Division::Every, 0);
                prop_assert!(every.values().all(|count| *count == u64::from(ranks)));
                prop_assert!(every.keys().eq(own.keys()));
            }
        }

        /// Directories with their roots are used once, parents first.
        #[test]
        fn directories_have_their_roots(
            depth in 0..3_u32,
            shape in shapes(),
            ranks in 1..5_u32,
        ) {
            let tree = tree(depth, 1, shape, 0);
            let of = |division| {
                let entries = Entries {
                    over: Over::Directories,
                    steps: vec![candor_plan::entries::Step::Mkdir],
                    with_roots: true,
                    division,
                    ..Entries::default()
                };
                counted(&tree, &entries, ranks, 0)
            };
            let (own, first) = (of(Division::Own), of(Division::First));
            let copies = if shape.copies { 2 } else { 1 };
            prop_assert_eq!(own.len() as u64, tree.totals(ranks.into()).directories * copies);
            prop_assert!(own.values().all(|count| *count == 1));
            prop_assert_eq!(own, first);
        }
    }
}
