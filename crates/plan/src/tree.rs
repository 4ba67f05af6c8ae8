//! Directory trees: which directories and items there are, whose they are, and how they are named.
//!
//! All of it is computed from (rank, ranks, number): nothing is listed. Directories are numbered
//! level by level, the root has 0.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::Bytes;
use crate::omit::is_default;
use crate::pattern::{Field, Numbers, Pattern};
use crate::permutation::mix;
use crate::text_serde::text_serde;
use crate::units::{SizeSpec, UnitError};

/// A directory tree, and the items in it.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Tree {
    /// Levels of directories below the root; 0 means items are in the root.
    pub depth: u32,
    /// Directories in each directory.
    #[default(1)]
    pub width: u32,
    /// Items in each directory that holds items.
    #[default(1)]
    pub items: u64,
    /// Each rank has its own `items` in each of these directories; by default all ranks divide
    /// them.
    pub items_per_rank: bool,
    /// Items are in the deepest directories only, instead of every directory.
    pub leaves_only: bool,
    /// No items are in the root, unless it is the only directory.
    #[serde(skip_serializing_if = "is_default")]
    pub root_is_bare: bool,
    /// One tree per rank instead of one for all; all that is in it is the rank's own.
    pub per_rank: bool,
    /// The trees of all ranks are in one root: each rank has its own `width` directories in the
    /// first level, with the rank in their names.
    #[serde(skip_serializing_if = "is_default")]
    pub shared_root: bool,
    /// Number items across directories: the first of each directory, then the second of each. By
    /// default: all items of one directory, then the next.
    #[serde(skip_serializing_if = "is_default")]
    pub items_across: bool,
    /// Items of a rank are in the tree of the rank N further on, modulo ranks, if each rank has a
    /// tree.
    #[serde(skip_serializing_if = "is_default")]
    pub tree_shift: u64,
    /// Distribution of the trees over several targets of this shape.
    #[serde(skip_serializing_if = "is_default")]
    pub spread: Spread,
    /// Number of the first rank in names, so that parallel runs have different names.
    #[serde(skip_serializing_if = "is_default")]
    pub first_rank: u64,
    /// Number of the first item of a directory in names, and of the first of sibling directories.
    #[serde(skip_serializing_if = "is_default")]
    pub first_number: u64,
    /// Bytes per file.
    #[default(SizeSpec::Fixed(Bytes(0)))]
    pub file_size: SizeSpec,
    /// Name of the root below the target's path; absent means `rank.{rank}` where each rank has a
    /// tree, and the path itself otherwise.
    pub root_name: Option<EntryName>,
    /// Name of each directory; absent means `d{child}`.
    pub directory_name: Option<EntryName>,
    /// Name of each item; absent means `f{number}`, or `f{rank}.{number}` if each rank has its own
    /// items in shared directories.
    pub item_name: Option<EntryName>,
}

/// Way in which several targets of one shape hold the trees of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Directories right below the roots are dealt among them, each with all below it.
    #[default]
    Subtrees,
    /// The tree of rank r is in target r modulo their number.
    Ranks,
    /// Each target holds everything: a worker handles its share of the first, then its share of the
    /// next.
    Copies,
}

/// Name of a directory or an item of a tree, with fields: `{rank}` of its owner, `{directory}`
/// (number in the tree), `{level}` (levels below the root), `{child}` (number among its siblings),
/// `{number}` (of an item in its directory), `{item}` (number in the tree), `{slot}` (the same,
/// where directories without items count as if they had as many as others, unless items are
/// numbered across directories).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryName(Pattern);

impl EntryName {
    const FIELDS: &[Field] = &[
        Field::Rank,
        Field::Directory,
        Field::Level,
        Field::Child,
        Field::Number,
        Field::Item,
        Field::Slot,
    ];

    /// True for a name of one entry: no slash, no `..`.
    pub fn is_single(&self) -> bool {
        self.0.is_flat() && self.0.is_below()
    }

    /// True where names of different ranks differ.
    pub fn tells_ranks(&self) -> bool {
        self.0.has(Field::Rank)
    }

    /// True if sibling directories have different names.
    pub fn tells_directories(&self) -> bool {
        self.0.has(Field::Directory) || self.0.has(Field::Child)
    }

    /// True where items of one directory have different names.
    pub fn tells_items(&self) -> bool {
        self.0.has(Field::Number) || self.0.has(Field::Item) || self.0.has(Field::Slot)
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EntryName {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        const HOW: &str = "write `{rank}`, `{directory}`, `{level}`, `{child}`, `{number}`, \
                           `{item}` or `{slot}`, `{item:06}` with zeros in front, or `{{` for a \
                           brace";
        Pattern::parse(text, EntryName::FIELDS, HOW).map(EntryName)
    }
}

text_serde!(EntryName, "a name such as \"r{rank}-f{number}\"", |_| None);

/// The given name, or the default, which a test reads.
fn or_default(given: &Option<EntryName>, default: &str) -> EntryName {
    given.clone().unwrap_or_else(|| default.parse().unwrap_or_default())
}

impl Tree {
    /// Number of directories of one tree, the root included, at most what 64 bits hold.
    pub fn directories(&self) -> u64 {
        self.directories_above(u64::from(self.depth) + 1)
    }

    /// Number of directories above a level, the root's being 0.
    fn directories_above(&self, level: u64) -> u64 {
        // Two levels more than 64 doublings change nothing: the sum is at its end by then, unless
        // every level has one directory or none.
        match self.width {
            0 => level.min(1),
            1 => level,
            _ => (0..level.min(66) as u32)
                .fold(0, |sum: u64, level| sum.saturating_add(self.at_level(level))),
        }
    }

    /// Directories of a level.
    fn at_level(&self, level: u32) -> u64 {
        u64::from(self.width).saturating_pow(level)
    }

    /// Number of directories that hold items.
    pub fn item_directories(&self) -> u64 {
        match (self.leaves_only, self.root_is_bare && self.depth > 0) {
            (true, _) => self.at_level(self.depth),
            (false, is_bare) => self.directories() - u64::from(is_bare),
        }
    }

    /// True where a worker's items are its own, not a part of those that all share.
    pub fn has_own_items(&self) -> bool {
        self.per_rank || self.items_per_rank
    }

    /// True where each rank has a root.
    pub fn has_own_root(&self) -> bool {
        self.per_rank && !self.shared_root
    }

    /// Trees and their entries for this number of ranks; at most what 64 bits hold.
    pub fn totals(&self, ranks: u64) -> Totals {
        let trees = if self.has_own_root() { ranks } else { 1 };
        let below_owners = if self.per_rank { ranks } else { 1 };
        let item_owners = if self.has_own_items() { ranks } else { 1 };
        let items = self.item_directories().saturating_mul(self.items);
        let below = (self.directories() - 1).saturating_mul(below_owners);
        Totals {
            trees,
            directories: below.saturating_add(trees),
            items: items.saturating_mul(item_owners),
        }
    }

    /// Names of its entries.
    pub fn names(&self) -> TreeNames {
        let has_root = self.has_own_root() || self.root_name.is_some();
        TreeNames {
            width: u64::from(self.width.max(1)),
            items: self.items,
            across: self.items_across,
            first_rank: self.first_rank,
            first_number: self.first_number,
            root: has_root.then(|| or_default(&self.root_name, "rank.{rank}")),
            directory: or_default(
                &self.directory_name,
                if self.shared_root { "d{rank}.{child}" } else { "d{child}" },
            ),
            item: or_default(
                &self.item_name,
                if self.items_per_rank { "f{rank}.{number}" } else { "f{number}" },
            ),
        }
    }

    /// The root, among several, that holds a place. If subtrees are dealt, a directory right below
    /// the root goes by the sum of its rank and its number, with all below it, and items of the
    /// root by their rank; the copies of a root are in all of them.
    #[inline]
    pub fn home(&self, place: &Place, homes: u64) -> u64 {
        match self.spread {
            _ if homes <= 1 => return 0,
            Spread::Subtrees => {}
            Spread::Ranks => return place.tree % homes,
            Spread::Copies => return place.copy % homes,
        }
        let (width, mut top) = (u64::from(self.width.max(1)), place.directory);
        while let Some(parent) = top.checked_sub(1).map(|before| before / width)
            && parent > 0
        {
            top = parent;
        }
        // Shared directories are in the same root in every run, whatever its first rank.
        let rank = match (self.per_rank, self.depth) {
            (true, _) => self.first_rank.saturating_add(place.tree),
            (false, 0) => self.first_rank.saturating_add(place.rank),
            (false, _) => 0,
        };
        rank.saturating_add(top.saturating_sub(1)).saturating_add(place.copy) % homes
    }

    /// Bytes of an item, equal for all workers.
    pub fn item_bytes(&self, seed: u64, place: &Place) -> u64 {
        self.file_size.drawn(mix(seed, place.key())).0
    }

    /// The part of one of several ranks.
    pub fn part(&self, rank: u64, ranks: u64) -> TreePart<'_> {
        TreePart { tree: self, rank, ranks: ranks.max(1) }
    }
}

/// Entries of a tree, over all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Trees.
    pub trees: u64,
    /// Directories, the roots included.
    pub directories: u64,
    /// Items.
    pub items: u64,
}

/// An item of a tree, or a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Rank of its tree; 0 for a tree of all ranks.
    pub tree: u64,
    /// Directory, or the item's directory.
    pub directory: u64,
    /// Rank that owns the item; 0 for items that all share.
    pub rank: u64,
    /// Number of the item in its directory.
    pub number: u64,
    /// Number of the item in the tree.
    pub item: u64,
    /// Number of the target, where each holds everything.
    pub copy: u64,
}

impl Place {
    /// Number of an item that is unique in its trees, and equal for all workers.
    pub fn key(&self) -> u64 {
        mix(mix(self.tree, self.rank), self.item)
    }
}

/// A rank's part of a tree.
#[derive(Clone, Copy, Debug)]
pub struct TreePart<'t> {
    tree: &'t Tree,
    rank: u64,
    ranks: u64,
}

/// Places of a rank's items by their numbers.
#[derive(Clone, Copy, Debug)]
pub struct ItemPlaces {
    /// Number of the first item in the tree.
    start: u64,
    /// First directory that holds items.
    first_directory: u64,
    /// Items per directory.
    items: u64,
    /// Directories across which items are numbered; 0 if each directory is numbered after the
    /// other.
    across: u64,
    tree: u64,
    rank: u64,
}

impl ItemPlaces {
    /// Place of one of the items. Across directories there is one for every number.
    #[inline]
    pub fn place(&self, nth: u64) -> Place {
        let item = self.start + nth;
        let (directory, number) = match self.across {
            0 => (item / self.items, item % self.items),
            directories => (item % directories, item / directories),
        };
        let directory = self.first_directory + directory;
        Place { tree: self.tree, directory, rank: self.rank, number, item, copy: 0 }
    }
}

impl TreePart<'_> {
    /// Rank in whose tree it works.
    fn tree_rank(&self) -> u64 {
        if self.tree.per_rank { self.rank } else { 0 }
    }

    /// First item, and number of items.
    fn slice(&self) -> (u64, u64) {
        let all = self.tree.item_directories().saturating_mul(self.tree.items);
        if self.tree.has_own_items() {
            (0, all)
        } else {
            // No part of all is more than all, which has 64 bits.
            let [start, end] = [self.rank, self.rank + 1]
                .map(|rank| (u128::from(all) * u128::from(rank) / u128::from(self.ranks)) as u64);
            (start, end - start)
        }
    }

    /// Number of its items.
    pub fn items(&self) -> u64 {
        self.slice().1
    }

    /// One of its items.
    pub fn item(&self, nth: u64) -> Place {
        self.item_places().place(nth)
    }

    /// Places of its items.
    pub fn item_places(&self) -> ItemPlaces {
        ItemPlaces {
            start: self.slice().0,
            first_directory: self.tree.directories() - self.tree.item_directories(),
            items: self.tree.items.max(1),
            across: if self.tree.items_across { self.tree.item_directories().max(1) } else { 0 },
            tree: if self.tree.per_rank {
                // Neither is as large as the other's modulus leaves room for: no sum overflows.
                (self.rank + self.tree.tree_shift % self.ranks) % self.ranks
            } else {
                0
            },
            rank: if self.tree.has_own_items() { self.rank } else { 0 },
        }
    }

    /// Number of directories right below the root that are its own, with all below each.
    fn subtrees(&self) -> u64 {
        let all = if self.tree.depth == 0 { 0 } else { u64::from(self.tree.width) };
        if self.tree.per_rank {
            all
        } else {
            (all + self.ranks - 1).saturating_sub(self.rank) / self.ranks
        }
    }

    /// Number of its directories below the root: whole subtrees, so that no directory waits for
    /// another rank's.
    pub fn directories(&self) -> u64 {
        let of_subtree = (0..self.tree.depth).map(|level| self.tree.at_level(level));
        self.subtrees().saturating_mul(of_subtree.fold(0, u64::saturating_add))
    }

    /// One of its directories below the root; parents come before their children.
    pub fn directory(&self, nth: u64) -> Place {
        let (mut left, mut level, mut each) = (nth, 1, 1);
        while left >= self.subtrees() * each && level < self.tree.depth {
            left -= self.subtrees() * each;
            each = self.tree.at_level(level);
            level += 1;
        }
        let (nth_own, inside) = (left / each, left % each);
        let subtree = if self.tree.per_rank { nth_own } else { self.rank + nth_own * self.ranks };
        let above = self.tree.directories_above(u64::from(level));
        Place {
            tree: self.tree_rank(),
            directory: above + subtree * each + inside,
            ..Place::default()
        }
    }

    /// The root, if this rank works on it: the root of its own tree, or, for the first rank, of the
    /// tree of all.
    pub fn root(&self) -> Option<Place> {
        let own = self.tree.has_own_root() || self.rank == 0;
        own.then(|| Place { tree: self.tree_rank(), ..Place::default() })
    }
}

/// Names of the entries of a tree, with the defaults.
#[derive(Clone, Debug)]
pub struct TreeNames {
    width: u64,
    /// Items per directory.
    items: u64,
    across: bool,
    first_rank: u64,
    first_number: u64,
    root: Option<EntryName>,
    directory: EntryName,
    item: EntryName,
}

impl TreeNames {
    /// Number of a rank in names.
    fn shown(&self, rank: u64) -> u64 {
        self.first_rank.saturating_add(rank)
    }

    /// Number of an item among the places for items, of which every directory has as many.
    #[inline]
    pub fn slot(&self, place: &Place) -> u64 {
        if self.across {
            return place.item;
        }
        place.directory.wrapping_mul(self.items).wrapping_add(place.number)
    }

    /// Appends the path of a directory below the target's path, with a leading slash; nothing for a
    /// root that is the path itself.
    pub fn write_directory(&self, place: &Place, to: &mut Vec<u8>) {
        self.write_levels(place, to);
    }

    /// Appends the path of a directory, and returns its level.
    fn write_levels(&self, place: &Place, to: &mut Vec<u8>) -> u64 {
        let Some(before) = place.directory.checked_sub(1) else {
            if let Some(root) = &self.root {
                to.push(b'/');
                root.0.write(&Numbers { rank: self.shown(place.tree), ..Numbers::default() }, to);
            }
            return 0;
        };
        let above = Place { directory: before / self.width, ..*place };
        let level = self.write_levels(&above, to) + 1;
        to.push(b'/');
        let numbers = Numbers {
            rank: self.shown(place.tree),
            directory: place.directory,
            child: self.first_number.saturating_add(before % self.width),
            level,
            ..Numbers::default()
        };
        self.directory.0.write(&numbers, to);
        level
    }

    /// Appends the name of an item in its directory, with a leading slash.
    pub fn write_item(&self, place: &Place, to: &mut Vec<u8>) {
        to.push(b'/');
        let numbers = Numbers {
            number: self.first_number.saturating_add(place.number),
            rank: self.shown(place.rank),
            directory: place.directory,
            item: place.item,
            slot: self.slot(place),
            ..Numbers::default()
        };
        self.item.0.write(&numbers, to);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn directory(names: &TreeNames, place: &Place) -> String {
        let mut path = Vec::new();
        names.write_directory(place, &mut path);
        String::from_utf8(path).expect("names are text")
    }

    fn item(names: &TreeNames, place: &Place) -> String {
        let mut path = directory(names, place).into_bytes();
        names.write_item(place, &mut path);
        String::from_utf8(path).expect("names are text")
    }

    fn name(text: &str) -> Option<EntryName> {
        Some(text.parse().expect("a name"))
    }

    #[test]
    fn one_directory_for_all_is_divided() {
        let tree = Tree { items: 10, ..Tree::default() };
        let names = tree.names();
        let [first, second, third] = [0, 1, 2].map(|rank| tree.part(rank, 3));
        assert_eq!([first.items(), second.items(), third.items()], [3, 3, 4]);
        assert_eq!(item(&names, &second.item(0)), "/f3");
        assert_eq!(first.directories(), 0);
        assert_eq!(directory(&names, &first.root().unwrap()), "");
        assert_eq!(second.root(), None);
    }

    #[test]
    fn directories_right_below_the_root_are_dealt_with_all_below_them() {
        let tree = Tree { depth: 3, width: 4, items: 2, per_rank: true, ..Tree::default() };
        let names = tree.names();
        for rank in 0..3 {
            let part = tree.part(rank, 3);
            for nth in 0..part.directories() {
                let place = part.directory(nth);
                let path = directory(&names, &place);
                let top = path.split('/').nth(2).and_then(|name| name.strip_prefix('d'));
                let top: u64 = top.and_then(|number| number.parse().ok()).expect("a number");
                assert_eq!(tree.home(&place, 3), (rank + top) % 3, "{path}");
            }
            assert_eq!(tree.home(&part.item(0), 3), rank % 3, "files of the root");
        }
        let flat = Tree { items: 5, items_per_rank: true, first_rank: 4, ..Tree::default() };
        assert_eq!([0, 1, 2].map(|rank| flat.home(&flat.part(rank, 3).item(3), 2)), [0, 1, 0]);
        assert_eq!(flat.home(&flat.part(1, 3).item(3), 1), 0);
        // Runs of other ranks find the directories of all where the first one made them.
        let shared = Tree { depth: 1, width: 3, items: 1, leaves_only: true, ..Tree::default() };
        let later = Tree { items_per_rank: true, first_rank: 5, ..shared };
        assert_eq!([0, 1, 2].map(|nth| later.home(&later.part(0, 1).directory(nth), 2)), [0, 1, 0]);
    }

    #[test]
    fn a_tree_per_rank_with_names_of_its_own() {
        let tree = Tree {
            depth: 1,
            width: 10,
            items: 30,
            leaves_only: true,
            per_rank: true,
            root_name: name("r{rank}"),
            directory_name: name("d{child}"),
            item_name: name("r{rank}-f{number}"),
            ..Tree::default()
        };
        let (names, part) = (tree.names(), tree.part(2, 16));
        assert_eq!((part.directories(), part.items()), (10, 300));
        assert_eq!(item(&names, &part.item(31)), "/r2/d1/r2-f1");
        assert_eq!(directory(&names, &part.directory(9)), "/r2/d9");
        assert_eq!(tree.totals(16), Totals { trees: 16, directories: 176, items: 4800 });
    }

    #[test]
    fn ranks_of_several_runs_have_names_of_their_own() {
        let tree = Tree {
            depth: 1,
            per_rank: true,
            first_rank: 40,
            root_name: name("r{rank}"),
            item_name: name("r{rank}-f{number}"),
            ..Tree::default()
        };
        assert_eq!(item(&tree.names(), &tree.part(2, 4).item(1)), "/r42/d0/r42-f0");
    }

    #[test]
    fn names_may_tell_levels_and_count_from_one() {
        let tree = Tree {
            depth: 2,
            width: 2,
            items: 3,
            root_is_bare: true,
            first_number: 1,
            directory_name: name("vdb.{level}_{child}.dir"),
            item_name: name("vdb_f{number:04}.file"),
            ..Tree::default()
        };
        let (names, part) = (tree.names(), tree.part(0, 1));
        assert_eq!((part.directories(), part.items()), (6, 18));
        assert_eq!(item(&names, &part.item(0)), "/vdb.1_1.dir/vdb_f0001.file");
        assert_eq!(item(&names, &part.item(17)), "/vdb.1_2.dir/vdb.2_2.dir/vdb_f0003.file");
        let leaves = Tree { leaves_only: true, ..tree };
        assert_eq!(
            item(&names, &leaves.part(0, 1).item(0)),
            "/vdb.1_1.dir/vdb.2_1.dir/vdb_f0001.file"
        );
        assert_eq!(leaves.part(0, 1).items(), 12);
    }

    #[test]
    fn ranks_have_directories_of_their_own_in_one_root() {
        let tree = Tree {
            depth: 1,
            width: 2,
            items: 3,
            leaves_only: true,
            per_rank: true,
            shared_root: true,
            items_across: true,
            directory_name: name("{rank}_{child}"),
            item_name: name("file-{number}"),
            ..Tree::default()
        };
        let (names, part) = (tree.names(), tree.part(1, 2));
        let items: Vec<_> = (0..8).map(|nth| item(&names, &part.item(nth))).collect();
        let expected = ["/1_0/file-0", "/1_1/file-0", "/1_0/file-1", "/1_1/file-1", "/1_0/file-2"];
        assert_eq!(items[..5], expected);
        assert_eq!(items[6..], ["/1_0/file-3", "/1_1/file-3"], "numbers go on");
        assert_eq!(names.slot(&part.item(7)), 7);
        assert_eq!((part.items(), part.directories(), part.root()), (6, 2, None));
        assert_eq!(tree.totals(2), Totals { trees: 1, directories: 5, items: 12 });
    }

    #[test]
    fn default_names_are_names() {
        let tree = Tree { per_rank: true, items_per_rank: true, ..Tree::default() };
        let place =
            Place { tree: 4, rank: 4, directory: 3, number: 7, item: 9, ..Place::default() };
        assert_eq!(item(&tree.names(), &place), "/rank.4/d0/d0/d0/f4.7");
        let deep = Tree { width: 2, depth: 3, items: 5, ..Tree::default() };
        let place = Place { directory: 6, number: 4, item: 34, ..Place::default() };
        assert_eq!(item(&deep.names(), &place), "/d1/d1/f4");
    }

    #[test]
    fn fields_that_are_not_known() {
        let error = "{height}".parse::<EntryName>().expect_err("unknown").to_string();
        assert!(error.contains("`{height}`") && error.contains("`{rank}`"), "{error}");
        assert!(!"a/{item}".parse::<EntryName>().expect("a pattern").is_single());
    }

    fn trees() -> impl Strategy<Value = Tree> {
        (0..4_u32, 0..4_u32, 0..6_u64, any::<[bool; 4]>(), any::<[bool; 2]>()).prop_map(
            |(
                depth,
                width,
                items,
                [items_per_rank, leaves_only, per_rank, bare],
                [one, across],
            )| {
                let depth = if width == 0 { 0 } else { depth };
                let shared_root = one && per_rank && depth > 0;
                Tree {
                    depth,
                    width,
                    items,
                    items_per_rank,
                    leaves_only,
                    per_rank,
                    shared_root,
                    items_across: across,
                    root_is_bare: bare || shared_root,
                    ..Tree::default()
                }
            },
        )
    }

    proptest! {
        /// Ranks have all items together, each of them once, in directories that are there.
        #[test]
        fn ranks_divide_items(tree in trees(), ranks in 1..6_u64) {
            let names = tree.names();
            let mut items = BTreeSet::new();
            for part in (0..ranks).map(|rank| tree.part(rank, ranks)) {
                for place in (0..part.items()).map(|nth| part.item(nth)) {
                    prop_assert!(place.directory < tree.directories());
                    prop_assert!(items.insert(item(&names, &place)));
                }
            }
            prop_assert_eq!(items.len() as u64, tree.totals(ranks).items);
        }

        /// Ranks have all directories together, each of them once, and parents first.
        #[test]
        fn ranks_divide_directories(tree in trees(), ranks in 1..6_u64) {
            let names = tree.names();
            let mut all = BTreeSet::new();
            let parts: Vec<_> = (0..ranks).map(|rank| tree.part(rank, ranks)).collect();
            for place in parts.iter().filter_map(TreePart::root) {
                prop_assert!(all.insert(directory(&names, &place)));
            }
            for part in parts {
                for place in (0..part.directories()).map(|nth| part.directory(nth)) {
                    let path = directory(&names, &place);
                    let (parent, _) = path.rsplit_once('/').expect("below a root");
                    prop_assert!(all.contains(parent), "{path} has its parent");
                    prop_assert!(all.insert(path));
                }
            }
            prop_assert_eq!(all.len() as u64, tree.totals(ranks).directories);
        }
    }
}
