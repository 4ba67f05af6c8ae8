//! Objects of a job by number: their buckets, keys and sizes, and the ranks that use them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use candor_plan::bucket::{Bucket, KeyPrefix, Keys, Members};
use candor_plan::listing::Deal;
use candor_plan::objects::Objects;
use candor_plan::permutation::mix;
use candor_plan::rank::{DataOf, Ranks};
use candor_plan::tree::{Place, Spread, TreeNames};
use candor_plan::{Bytes, Tree};

/// An object that a list names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Key, including the prefix.
    pub key: String,
    /// Bytes.
    pub bytes: u64,
    /// Number of the bucket.
    pub bucket: u32,
}

/// Objects of a job.
pub struct Catalog {
    shape: Shape,
    /// Begin of the keys of each bucket.
    prefixes: Vec<KeyPrefix>,
    ranks: Ranks,
    data_of: DataOf,
    /// Most objects of a rank.
    first: u64,
    /// Every rank uses the objects of all ranks.
    all_ranks: bool,
    /// Most objects of a worker: a handle is the worker's number times this, plus the object's.
    most: u64,
}

enum Shape {
    Tree(Box<TreeShape>),
    Listed(Dealt),
}

struct TreeShape {
    tree: Tree,
    names: TreeNames,
    seed: u64,
}

/// Listed objects, and the ranks that use them.
struct Dealt {
    objects: Arc<Vec<Listed>>,
    /// Objects that belong to one rank each.
    whole: Whole,
    /// Objects that are cut among all ranks.
    shared: Vec<u32>,
    /// Unit of the cuts.
    unit: u64,
}

/// Objects that belong to one rank each.
enum Whole {
    /// Ranks take turns.
    InTurn(Vec<u32>),
    /// Objects of each rank, which have about equal bytes.
    ByBytes(Vec<Vec<u32>>),
}

/// An object, and the part of it that a rank uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// Number of the bucket.
    pub bucket: u32,
    /// Position in a tree, or in a list.
    pub origin: Origin,
    /// Bytes of the object.
    pub bytes: u64,
    /// First byte of the part.
    pub start: u64,
    /// End of the part.
    pub end: u64,
}

/// Position of an object in the keys of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Position in a tree.
    Tree(Place),
    /// Number in a list.
    Listed(u32),
}

impl Default for Origin {
    fn default() -> Origin {
        Origin::Listed(0)
    }
}

impl Object {
    /// A part of an object of no list.
    #[cfg(test)]
    pub fn part(bytes: u64, start: u64, end: u64) -> Object {
        Object { bytes, start, end, ..Object::default() }
    }

    /// True if other ranks have parts of the object.
    pub fn is_shared(&self) -> bool {
        self.end - self.start < self.bytes
    }

    /// True for the one rank that handles the object as a whole, if ranks share it.
    pub fn is_first(&self) -> bool {
        self.start == 0 && (self.end > 0 || self.bytes == 0)
    }

    /// Number that identifies the object among all of the job, on every worker of this host.
    pub fn number(&self) -> u64 {
        match &self.origin {
            Origin::Tree(place) => place.key(),
            Origin::Listed(number) => u64::from(*number),
        }
    }
}

/// Ranks that a catalog serves.
#[derive(Clone, Copy, Debug)]
pub struct Users {
    /// Ranks of the workers of this host.
    pub ranks: Ranks,
    /// Workers of this host.
    pub workers: u32,
    /// Ranks on whose objects the workers work.
    pub data_of: DataOf,
}

impl Catalog {
    /// Objects that the work uses. `listed` has the objects that the server named, if the plan
    /// leaves the keys to the server.
    pub fn of(
        objects: &Objects,
        buckets: &[&Bucket],
        listed: Option<Arc<Vec<Listed>>>,
        users: Users,
        seed: u64,
    ) -> Catalog {
        let unit = objects.part.or(objects.range).map_or(1 << 20, |unit| unit.0.max(1));
        let keys = buckets.first().map(|bucket| &bucket.keys);
        let shape = match (listed, keys) {
            (Some(listed), _) => Shape::Listed(Dealt::in_turn(listed, unit)),
            (None, Some(Keys::Tree(tree))) => {
                let names = tree.names();
                Shape::Tree(Box::new(TreeShape { tree: (**tree).clone(), names, seed }))
            }
            (None, Some(Keys::Members(members))) => {
                let named = Arc::new(named(members, buckets));
                Shape::Listed(Dealt::of(named, members, unit, users.ranks.ranks.max(1)))
            }
            (None, Some(Keys::Existing(_)) | None) => {
                Shape::Listed(Dealt::in_turn(Arc::default(), unit))
            }
        };
        let mut catalog = Catalog {
            shape,
            prefixes: buckets.iter().map(|bucket| bucket.prefix.clone()).collect(),
            ranks: users.ranks,
            data_of: users.data_of,
            first: objects.first.unwrap_or(u64::MAX),
            all_ranks: objects.all_ranks,
            most: 1,
        };
        let most = (0..users.workers).map(|worker| catalog.count(worker)).max();
        catalog.most = most.unwrap_or(1).max(1);
        catalog
    }

    /// Number of a worker's objects.
    pub fn count(&self, worker: u32) -> u64 {
        if self.all_ranks {
            let each = (0..self.ranks.ranks).map(|rank| self.count_of(rank));
            return each.fold(0, u64::saturating_add);
        }
        self.count_of(self.ranks.data_rank(self.data_of, worker))
    }

    /// Number of a rank's objects.
    fn count_of(&self, rank: u64) -> u64 {
        let ranks = self.ranks.ranks.max(1);
        let all = match &self.shape {
            Shape::Tree(shape) => {
                let copies = shape.copies(self.prefixes.len());
                shape.tree.part(rank, ranks).items().saturating_mul(copies)
            }
            Shape::Listed(dealt) => dealt.count(rank, ranks),
        };
        all.min(self.first)
    }

    /// A worker's object.
    pub fn object(&self, worker: u32, nth: u64) -> Object {
        if !self.all_ranks {
            return self.object_of(self.ranks.data_rank(self.data_of, worker), nth);
        }
        let (mut rank, mut left) = (0, nth);
        // Ranks are few, and their counts differ by one.
        while rank + 1 < self.ranks.ranks && left >= self.count_of(rank) {
            left -= self.count_of(rank);
            rank += 1;
        }
        self.object_of(rank, left)
    }

    fn object_of(&self, rank: u64, nth: u64) -> Object {
        let ranks = self.ranks.ranks.max(1);
        match &self.shape {
            Shape::Tree(shape) => {
                let part = shape.tree.part(rank, ranks);
                let each = part.items().max(1);
                let place = Place { copy: nth / each, ..part.item(nth % each) };
                let bytes = shape.tree.item_bytes(shape.seed, &place);
                let bucket = shape.tree.home(&place, self.prefixes.len() as u64) as u32;
                Object { bucket, origin: Origin::Tree(place), bytes, start: 0, end: bytes }
            }
            Shape::Listed(dealt) => dealt.object(rank, ranks, nth),
        }
    }

    /// Keys of the objects of all ranks, by bucket, in ascending order.
    pub fn sorted_keys(&self) -> Vec<Vec<String>> {
        let mut all = vec![Vec::new(); self.prefixes.len()];
        for rank in 0..self.ranks.ranks.max(1) {
            for nth in 0..self.count_of(rank) {
                let (object, mut key) = (self.object_of(rank, nth), String::new());
                self.write_key(&object, &mut key);
                all[object.bucket as usize].push(key);
            }
        }
        for keys in &mut all {
            keys.sort_unstable();
            // Each rank has a part of a shared object.
            keys.dedup();
        }
        all
    }

    /// Writes the key of an object.
    pub fn write_key(&self, object: &Object, key: &mut String) {
        key.clear();
        match (&self.shape, &object.origin) {
            (Shape::Tree(shape), Origin::Tree(place)) => {
                let mut path = Vec::new();
                shape.names.write_directory(place, &mut path);
                shape.names.write_item(place, &mut path);
                let path = String::from_utf8_lossy(&path);
                let prefix = &self.prefixes[object.bucket as usize];
                write_prefixed(prefix, path.trim_start_matches('/'), key);
            }
            (Shape::Listed(dealt), Origin::Listed(number)) => {
                key.push_str(&dealt.objects[*number as usize].key);
            }
            _ => unreachable!("an object belongs to the catalog that made it"),
        }
    }

    /// Number of buckets that a worker handles as a whole: rank r has every bucket whose number,
    /// modulo ranks, is r.
    pub fn buckets_of(&self, worker: u32) -> u64 {
        let rank = self.ranks.rank(worker);
        (self.prefixes.len() as u64).saturating_sub(rank).div_ceil(self.ranks.ranks.max(1))
    }

    /// One of the buckets that a worker handles as a whole.
    pub fn bucket_of(&self, worker: u32, nth: u64) -> u32 {
        (self.ranks.rank(worker) + nth * self.ranks.ranks) as u32
    }

    /// Writes the begin of all keys of a bucket.
    pub fn write_prefix(&self, bucket: u32, key: &mut String) {
        key.clear();
        let prefix = &self.prefixes[bucket as usize];
        key.push_str(&prefix.before);
        key.push_str(if prefix.digits == 0 { &prefix.after } else { "" });
    }

    /// Begins of keys that each hold a worker's objects of one directory, for lists.
    pub fn directories(&self, worker: u32) -> u64 {
        match &self.shape {
            Shape::Tree(shape) => {
                let rank = self.ranks.data_rank(self.data_of, worker);
                shape.tree.part(rank, self.ranks.ranks.max(1)).directories()
            }
            Shape::Listed(_) => 0,
        }
    }

    /// Bucket and begin of keys of one of a worker's directories.
    pub fn directory(&self, worker: u32, nth: u64, key: &mut String) -> u32 {
        let Shape::Tree(shape) = &self.shape else { return 0 };
        let rank = self.ranks.data_rank(self.data_of, worker);
        let place = shape.tree.part(rank, self.ranks.ranks.max(1)).directory(nth);
        let mut path = Vec::new();
        shape.names.write_directory(&place, &mut path);
        let bucket = shape.tree.home(&place, self.prefixes.len() as u64) as u32;
        key.clear();
        // Keys of one directory with hash digits have no common begin after the digits.
        let prefix = &self.prefixes[bucket as usize];
        key.push_str(&prefix.before);
        if prefix.digits == 0 {
            key.push_str(String::from_utf8_lossy(&path).trim_start_matches('/'));
            key.push('/');
        }
        bucket
    }

    /// Most bytes of an object.
    pub fn bytes_max(&self) -> u64 {
        match &self.shape {
            Shape::Tree(shape) => shape.tree.file_size.max().0,
            Shape::Listed(dealt) => {
                dealt.objects.iter().map(|object| object.bytes).max().unwrap_or(0)
            }
        }
    }

    /// Largest handle of this host's workers.
    pub fn handle_max(&self, workers: u32) -> u64 {
        self.most.saturating_mul(workers.into())
    }

    /// Handle of a worker's object.
    pub fn handle(&self, worker: u32, nth: u64) -> u32 {
        // Preparation refuses jobs with more objects than handles.
        (u64::from(worker) * self.most + nth) as u32
    }

    /// Key of a handle.
    pub fn key_of(&self, handle: u32) -> String {
        let (worker, nth) = (u64::from(handle) / self.most, u64::from(handle) % self.most);
        let mut key = String::new();
        self.write_key(&self.object(worker as u32, nth), &mut key);
        key
    }
}

/// Writes a key: the prefix, in which the hash of the rest decides digits, and the rest.
pub fn write_prefixed(prefix: &KeyPrefix, rest: &str, key: &mut String) {
    key.push_str(&prefix.before);
    if prefix.digits > 0 {
        let hash = rest.bytes().fold(0, |hash, byte| mix(hash, byte.into()));
        let digits = format!("{hash:016X}");
        key.push_str(&digits[..usize::from(prefix.digits)]);
        key.push_str(&prefix.after);
    }
    key.push_str(rest);
}

/// Objects that the plan lists, with their whole keys. Buckets take turns.
fn named(members: &Members, buckets: &[&Bucket]) -> Vec<Listed> {
    let each = members.objects.iter().enumerate().map(|(nth, member)| {
        let bucket = nth % buckets.len();
        let mut key = String::new();
        write_prefixed(&buckets[bucket].prefix, &member.name, &mut key);
        Listed { key, bytes: member.size.unwrap_or(Bytes(0)).0, bucket: bucket as u32 }
    });
    each.collect()
}

/// Deals objects so that ranks have about equal bytes: the rank with the fewest gets the next.
fn by_bytes(objects: &[Listed], numbers: Vec<u32>, ranks: u64) -> Vec<Vec<u32>> {
    let mut of_ranks = vec![Vec::new(); ranks as usize];
    let mut least: BinaryHeap<Reverse<(u64, usize, usize)>> =
        (0..ranks as usize).map(|rank| Reverse((0, 0, rank))).collect();
    for number in numbers {
        let Some(mut first) = least.peek_mut() else { break };
        let Reverse((sum, count, rank)) = *first;
        of_ranks[rank].push(number);
        let sum = sum.saturating_add(objects[number as usize].bytes);
        *first = Reverse((sum, count + 1, rank));
    }
    of_ranks
}

impl TreeShape {
    /// Number of copies of the tree, each in its own bucket.
    fn copies(&self, buckets: usize) -> u64 {
        if self.tree.spread == Spread::Copies { buckets.max(1) as u64 } else { 1 }
    }
}

impl Dealt {
    /// Objects that belong to one rank each, in turn.
    fn in_turn(objects: Arc<Vec<Listed>>, unit: u64) -> Dealt {
        let whole = Whole::InTurn((0..objects.len() as u32).collect());
        Dealt { objects, whole, shared: Vec::new(), unit }
    }

    /// Objects as the plan deals them.
    fn of(objects: Arc<Vec<Listed>>, members: &Members, unit: u64, ranks: u64) -> Dealt {
        // An object without bytes has no parts.
        let limit = members.share_above.map_or(u64::MAX, |limit| limit.0.max(1));
        let numbers = 0..objects.len() as u32;
        let (shared, whole): (Vec<u32>, Vec<u32>) =
            numbers.partition(|number| objects[*number as usize].bytes >= limit);
        let whole = match members.deal {
            Deal::InTurn => Whole::InTurn(whole),
            Deal::ByBytes => Whole::ByBytes(by_bytes(&objects, whole, ranks)),
        };
        Dealt { objects, whole, shared, unit }
    }

    /// Number of whole objects of a rank.
    fn whole(&self, rank: u64, ranks: u64) -> u64 {
        match &self.whole {
            Whole::InTurn(all) => (all.len() as u64).saturating_sub(rank).div_ceil(ranks),
            Whole::ByBytes(of_ranks) => of_ranks[rank as usize].len() as u64,
        }
    }

    fn count(&self, rank: u64, ranks: u64) -> u64 {
        self.whole(rank, ranks) + self.shared.len() as u64
    }

    /// A rank's object: shared ones come first, so that all ranks work on one at the same time.
    fn object(&self, rank: u64, ranks: u64, nth: u64) -> Object {
        let (number, share) = match self.shared.get(nth as usize) {
            Some(number) => (*number, true),
            None => {
                let nth = nth - self.shared.len() as u64;
                let number = match &self.whole {
                    Whole::InTurn(all) => all[(rank + nth * ranks) as usize],
                    Whole::ByBytes(of_ranks) => of_ranks[rank as usize][nth as usize],
                };
                (number, false)
            }
        };
        let listed = &self.objects[number as usize];
        let (start, end) =
            if share { self.slice(listed.bytes, rank, ranks) } else { (0, listed.bytes) };
        let origin = Origin::Listed(number);
        Object { bucket: listed.bucket, origin, bytes: listed.bytes, start, end }
    }

    /// A rank's bytes of a shared object: whole units.
    fn slice(&self, bytes: u64, rank: u64, ranks: u64) -> (u64, u64) {
        let units = bytes.div_ceil(self.unit);
        let edges = [rank, rank + 1].map(|rank| {
            let unit = u128::from(units) * u128::from(rank) / u128::from(ranks);
            (unit as u64).saturating_mul(self.unit).min(bytes)
        });
        edges.into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use candor_plan::Member;
    use candor_plan::rank::HostIndex;

    use super::*;

    fn users(workers: u32) -> Users {
        Users { ranks: HostIndex::ALONE.ranks(workers), workers, data_of: DataOf::OWN }
    }

    fn keys(catalog: &Catalog, workers: u32) -> Vec<String> {
        let mut all = Vec::new();
        for worker in 0..workers {
            for nth in 0..catalog.count(worker) {
                all.push(catalog.key_of(catalog.handle(worker, nth)));
            }
        }
        all
    }

    #[test]
    fn trees_of_ranks_have_distinct_keys_in_several_buckets() {
        let tree = Tree {
            depth: 1,
            width: 2,
            items: 3,
            leaves_only: true,
            per_rank: true,
            root_name: "r{rank}".parse().ok(),
            item_name: "r{rank}-f{number}".parse().ok(),
            ..Tree::default()
        };
        let buckets = ["a", "b"].map(|name| Bucket {
            bucket: name.into(),
            prefix: KeyPrefix::literal("x/"),
            keys: Keys::Tree(Box::new(tree.clone())),
            ..Bucket::default()
        });
        let refs: Vec<&Bucket> = buckets.iter().collect();
        let catalog = Catalog::of(&Objects::default(), &refs, None, users(2), 1);
        let all = keys(&catalog, 2);
        assert_eq!(all.len(), 12);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 12);
        assert_eq!(all[0], "x/r0/d0/r0-f0");
        let homes: Vec<u32> = (0..6).map(|nth| catalog.object(1, nth).bucket).collect();
        assert_eq!(homes, [1, 1, 1, 0, 0, 0], "bucket = (rank + directory) mod 2");
        let mut begin = String::new();
        assert_eq!((catalog.directories(1), catalog.directory(1, 1, &mut begin)), (2, 0));
        assert_eq!(begin, "x/r1/d1/");
    }

    fn member(name: &str, size: u64) -> Member {
        Member { name: name.into(), size: Some(Bytes(size)) }
    }

    #[test]
    fn large_members_are_cut_and_small_ones_dealt() {
        let objects = vec![member("big", 105), member("s1", 10), member("s2", 10)];
        let members = Members { objects, share_above: Some(Bytes(100)), deal: Deal::InTurn };
        let bucket = Bucket { keys: Keys::Members(members), ..Bucket::default() };
        let work = Objects { part: Some(Bytes(10)), ..Objects::default() };
        let catalog = Catalog::of(&work, &[&bucket], None, users(3), 1);
        let parts: Vec<_> = (0..3).map(|worker| catalog.object(worker, 0)).collect();
        assert_eq!(
            parts.iter().map(|of| (of.start, of.end)).collect::<Vec<_>>(),
            [(0, 30), (30, 70), (70, 105)]
        );
        assert!(parts.iter().all(Object::is_shared));
        assert_eq!(parts.iter().map(Object::is_first).collect::<Vec<_>>(), [true, false, false]);
        let whole = Objects { part: Some(Bytes(200)), ..Objects::default() };
        let catalog = Catalog::of(&whole, &[&bucket], None, users(3), 1);
        let first = (0..3).map(|worker| catalog.object(worker, 0).is_first());
        assert_eq!(first.collect::<Vec<_>>(), [false, false, true], "one unit, three ranks");
        assert_eq!([0, 1, 2].map(|worker| catalog.count(worker)), [2, 2, 1]);
        assert!(!catalog.object(1, 1).is_shared());
        assert_eq!(catalog.key_of(catalog.handle(1, 1)), "s2");
    }

    #[test]
    fn hash_digits_follow_from_the_rest_of_the_key() {
        let prefix: KeyPrefix = "p{hash:4}/".parse().expect("a prefix");
        let [mut a, mut b] = [String::new(), String::new()];
        write_prefixed(&prefix, "r0/f1", &mut a);
        write_prefixed(&prefix, "r0/f2", &mut b);
        assert_eq!((a.len(), &a[..1], &a[5..]), (11, "p", "/r0/f1"));
        assert_ne!(a[1..5], b[1..5]);
    }
}
