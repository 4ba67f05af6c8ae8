//! Items of a listed tree: distribution over ranks, and parts of shared files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use candor_engine::random::{Random, mix};
use candor_plan::Listing;
use candor_plan::entries::{Entries, Over};
use candor_plan::listing::{Deal, List};

/// Choices of the plan's seed: the order of files.
const ORDER: u64 = 0x6c69_7374;

/// An item of a worker: a directory, a file, or a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number in the list.
    pub number: usize,
    /// Offset in the file.
    pub offset: u64,
    /// Length.
    pub bytes: u64,
}

/// A file that all ranks share, and the number of units in the shared files before it.
#[derive(Clone, Copy, Debug)]
struct Shared {
    number: u32,
    units_before: u64,
}

/// The items of a list, distributed over ranks; the same on all workers.
///
/// Shared files are consecutive in one range; each rank has a slice of the range.
pub struct Dealt {
    list: Arc<List>,
    ranks: u64,
    /// Whole items, rank by rank, and the first index of each rank.
    whole: Vec<u32>,
    begins: Vec<u32>,
    shared: Vec<Shared>,
    /// Unit of parts of shared files.
    unit: u64,
    units: u64,
    of_directories: bool,
}

impl Dealt {
    /// Distributes the items that entries use.
    pub fn of(
        entries: &Entries,
        list: Arc<List>,
        listing: &Listing,
        seed: u64,
        ranks: u64,
    ) -> Dealt {
        let none = Dealt {
            ranks: ranks.max(1),
            whole: Vec::new(),
            begins: Vec::new(),
            shared: Vec::new(),
            unit: entries.part_unit(),
            units: 0,
            of_directories: entries.over == Over::Directories,
            list,
        };
        if none.of_directories {
            none.directories(entries.makes_or_removes_directories())
        } else {
            none.files(listing, seed, entries.moves_bytes())
        }
    }

    /// Distributes directories. If directories are created or removed, one rank gets all
    /// directories below one top-level directory, so that no rank waits for another; otherwise
    /// ranks take turns.
    fn directories(self, in_order: bool) -> Dealt {
        let mut top: &[u8] = &[];
        let mut owners = Vec::with_capacity(self.list.directories() as usize);
        let mut next = 0;
        for nth in 0..self.list.directories() as usize {
            let path = self.list.directory(nth);
            let end = path.iter().position(|byte| *byte == b'/').unwrap_or(path.len());
            if !in_order || path[..end] != *top {
                top = &path[..end];
                next += 1;
            }
            owners.push((nth as u32, ((next - 1) % self.ranks) as u32));
        }
        let (whole, begins) = by_rank(&owners, self.ranks);
        Dealt { whole, begins, ..self }
    }

    /// Distributes files. Files above the limit are shared if their bytes are read or written;
    /// otherwise they belong to the rank of their first unit.
    fn files(mut self, listing: &Listing, seed: u64, moves_bytes: bool) -> Dealt {
        let list = self.list.clone();
        let mut order: Vec<u32> = (0..list.files() as u32).collect();
        if listing.shuffled {
            let mut random = Random::new(mix(seed, ORDER), 0);
            for nth in (1..order.len()).rev() {
                order.swap(nth, random.below(nth as u64 + 1) as usize);
            }
        }
        let limit = listing.share_above.map_or(u64::MAX, |limit| limit.0);
        let mut owners = Vec::with_capacity(order.len());
        let mut least: BinaryHeap<Reverse<(u64, u64, u32)>> =
            (0..self.ranks as u32).map(|rank| Reverse((0, 0, rank))).collect();
        for number in order {
            let size = list.size(number as usize);
            if size > limit {
                self.shared.push(Shared { number, units_before: self.units });
                self.units = self.units.saturating_add(size.div_ceil(self.unit));
                continue;
            }
            let owner = match listing.deal {
                Deal::InTurn => (owners.len() as u64 % self.ranks) as u32,
                Deal::ByBytes => {
                    let Some(mut first) = least.peek_mut() else { continue };
                    let Reverse((bytes, files, rank)) = *first;
                    *first = Reverse((bytes.saturating_add(size), files + 1, rank));
                    rank
                }
            };
            owners.push((number, owner));
        }
        if !moves_bytes {
            let shared = std::mem::take(&mut self.shared).into_iter();
            owners.extend(shared.map(|file| (file.number, self.owner_of(file.units_before))));
            self.units = 0;
        }
        let (whole, begins) = by_rank(&owners, self.ranks);
        Dealt { whole, begins, ..self }
    }

    /// First unit of a rank's slice.
    fn unit_of(&self, rank: u64) -> u64 {
        // The result fits 64 bits: a part is at most the whole.
        (u128::from(self.units) * u128::from(rank) / u128::from(self.ranks)) as u64
    }

    /// Rank whose slice holds a unit.
    fn owner_of(&self, unit: u64) -> u32 {
        let ahead = (u128::from(unit) + 1) * u128::from(self.ranks);
        (ahead.div_ceil(u128::from(self.units.max(1))) - 1) as u32
    }

    /// Indices of the shared files with a part of a rank.
    fn shared_of(&self, rank: u64) -> std::ops::Range<usize> {
        let (from, to) = (self.unit_of(rank), self.unit_of(rank + 1));
        if from == to {
            return 0..0;
        }
        let first = self.shared.partition_point(|file| file.units_before <= from) - 1;
        first..self.shared.partition_point(|file| file.units_before < to)
    }

    /// Whole items of a rank.
    fn whole_of(&self, rank: u64) -> &[u32] {
        let [from, to] = [rank, rank + 1].map(|rank| self.begins[rank as usize] as usize);
        &self.whole[from..to]
    }

    /// Number of a rank's items.
    pub fn count(&self, rank: u64) -> u64 {
        (self.whole_of(rank).len() + self.shared_of(rank).len()) as u64
    }

    /// One of a rank's items: whole items come before parts.
    pub fn part(&self, rank: u64, nth: u64) -> Part {
        let whole = self.whole_of(rank);
        let Some(nth_part) = (nth as usize).checked_sub(whole.len()) else {
            let number = whole[nth as usize] as usize;
            let part = Part { number, offset: 0, bytes: 0 };
            return Part { bytes: self.file_bytes(&part), ..part };
        };
        let file = self.shared[self.shared_of(rank).start + nth_part];
        let (from, to) = (self.unit_of(rank), self.unit_of(rank + 1));
        let size = self.list.size(file.number as usize);
        let offset = from.saturating_sub(file.units_before) * self.unit;
        let end = (to - file.units_before).saturating_mul(self.unit).min(size);
        Part { number: file.number as usize, offset, bytes: end - offset }
    }

    /// Length of the whole file of an item.
    pub fn file_bytes(&self, part: &Part) -> u64 {
        if self.of_directories { 0 } else { self.list.size(part.number) }
    }

    /// Maximum length of an item of any rank.
    pub fn bytes_max(&self) -> u64 {
        if self.of_directories {
            return 0;
        }
        let whole = self.whole.iter().map(|number| self.list.size(*number as usize)).max();
        let slice = self.units.div_ceil(self.ranks).saturating_mul(self.unit);
        let parts = self.shared.iter().map(|file| self.list.size(file.number as usize).min(slice));
        whole.unwrap_or(0).max(parts.max().unwrap_or(0))
    }

    /// Path of an item.
    #[inline]
    pub fn path(&self, part: &Part) -> &[u8] {
        if self.of_directories {
            self.list.directory(part.number)
        } else {
            self.list.file(part.number)
        }
    }
}

/// Items rank by rank, in the given order, and the first index of each rank.
fn by_rank(owners: &[(u32, u32)], ranks: u64) -> (Vec<u32>, Vec<u32>) {
    let mut begins = vec![0; ranks as usize + 1];
    for (_, owner) in owners {
        begins[*owner as usize + 1] += 1;
    }
    for rank in 0..ranks as usize {
        begins[rank + 1] += begins[rank];
    }
    let (mut next, mut whole) = (begins.clone(), vec![0; owners.len()]);
    for (number, owner) in owners {
        whole[next[*owner as usize] as usize] = *number;
        next[*owner as usize] += 1;
    }
    (whole, begins)
}

/// Unique number of a name, the same on all hosts.
pub fn key(name: &[u8]) -> u64 {
    name.chunks(8).fold(name.len() as u64, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(sum, u64::from_le_bytes(word))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use candor_plan::Bytes;
    use candor_plan::entries::Step;
    use proptest::prelude::*;

    use super::*;

    fn list(sizes: &[u64]) -> Arc<List> {
        let line = |(nth, size): (usize, &u64)| format!("f {size} d{}/f{nth}\n", nth % 3);
        let text: String = sizes.iter().enumerate().map(line).collect();
        Arc::new(List::read(text.as_bytes()).expect("a list"))
    }

    fn entries(steps: &[Step], size: Option<u64>) -> Entries {
        Entries { steps: steps.to_vec(), size: size.map(Bytes), ..Entries::default() }
    }

    #[test]
    fn files_are_balanced_by_bytes_or_dealt_in_turn() {
        let of = |deal, sizes: &[u64]| {
            let listing = Listing { deal, ..Listing::default() };
            let stat = entries(&[Step::Stat], None);
            let dealt = Dealt::of(&stat, list(sizes), &listing, 1, 2);
            [0, 1]
                .map(|rank| (0..dealt.count(rank)).map(|nth| dealt.part(rank, nth).bytes).collect())
        };
        let sizes = [100, 10, 20, 30, 50];
        let wanted: [Vec<u64>; 2] = [vec![100], vec![10, 20, 30, 50]];
        assert_eq!(of(Deal::ByBytes, &sizes), wanted);
        let wanted: [Vec<u64>; 2] = [vec![100, 20, 50], vec![10, 30]];
        assert_eq!(of(Deal::InTurn, &sizes), wanted);
        assert_eq!(
            of(Deal::ByBytes, &[0; 5]).map(|of: Vec<u64>| of.len()),
            [3, 2],
            "empty ones count"
        );
    }

    #[test]
    fn directories_that_come_or_go_stay_together_and_others_are_dealt_in_turn() {
        let text = "d a\nd a/x\nd a/x/y\nd b\nd c\nd c/z\n";
        let list = Arc::new(List::read(text.as_bytes()).expect("a list"));
        let of = |step| {
            let entries = Entries { over: Over::Directories, ..entries(&[step], None) };
            let dealt = Dealt::of(&entries, list.clone(), &Listing::default(), 1, 2);
            let path = |part: Part| String::from_utf8_lossy(dealt.path(&part)).into_owned();
            [0, 1]
                .map(|rank| (0..dealt.count(rank)).map(|nth| path(dealt.part(rank, nth))).collect())
        };
        let together: [Vec<String>; 2] =
            [["a", "a/x", "a/x/y", "c", "c/z"].map(Into::into).into(), vec!["b".into()]];
        assert_eq!(of(Step::Mkdir), together);
        assert_eq!(of(Step::Rmdir), together);
        assert_eq!(of(Step::List).map(|of: Vec<String>| of.len()), [3, 3]);
    }

    proptest! {
        /// Ranks have each byte and each file once, in parts that begin at whole units, and an
        /// equal number of bytes of the shared files, within one unit.
        #[test]
        fn parts_cover_each_byte_and_each_file_once(
            sizes in proptest::collection::vec(0..5000_u64, 0..40),
            ranks in 1..9_u64,
            share_above in proptest::option::of(0..4000_u64),
            unit in 1..700_u64,
            shuffled: bool,
            in_turn: bool,
            seed: u64,
        ) {
            let (list, share_above) = (list(&sizes), share_above.map(Bytes));
            let deal = if in_turn { Deal::InTurn } else { Deal::ByBytes };
            let listing = Listing { share_above, deal, shuffled, ..Listing::default() };
            let read = entries(&[Step::Open, Step::Read, Step::Close], Some(unit));
            let dealt = Dealt::of(&read, list.clone(), &listing, seed, ranks);
            let mut parts: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
            let mut shared_bytes = Vec::new();
            for rank in 0..ranks {
                let mut of_rank = 0;
                for part in (0..dealt.count(rank)).map(|nth| dealt.part(rank, nth)) {
                    prop_assert!(part.bytes <= dealt.bytes_max() && part.offset % unit == 0);
                    let size = list.size(part.number);
                    let is_shared = share_above.is_some_and(|limit| size > limit.0);
                    of_rank += if is_shared { part.bytes } else { 0 };
                    parts.entry(part.number).or_default().push((part.offset, part.bytes));
                }
                shared_bytes.push(of_rank);
            }
            prop_assert_eq!(parts.len(), sizes.len());
            for (number, mut parts) in parts {
                parts.sort_unstable();
                let whole = share_above.is_none_or(|limit| list.size(number) <= limit.0);
                prop_assert!(!whole || parts.len() == 1);
                prop_assert!(whole || parts.iter().all(|(_, bytes)| *bytes > 0));
                let end = parts
                    .iter()
                    .try_fold(0, |end, (from, bytes)| (end == *from).then_some(from + bytes));
                prop_assert_eq!(end, Some(list.size(number)));
            }
            // The last unit of each shared file may be short.
            let slack = unit * (2 + sizes.len() as u64);
            let spread = shared_bytes.iter().max().zip(shared_bytes.iter().min());
            prop_assert!(spread.is_some_and(|(most, least)| most - least <= slack));
        }

        /// Steps that move no bytes are executed once per file, by the rank of its first part, if
        /// both divisions are equal.
        #[test]
        fn whole_files_belong_to_the_rank_of_their_first_part(
            sizes in proptest::collection::vec(1..5_u64, 1..20),
            ranks in 1..9_u64,
        ) {
            const UNIT: u64 = 1 << 20;
            let list = list(&sizes.iter().map(|size| size * UNIT).collect::<Vec<_>>());
            let listing = Listing { share_above: Some(Bytes(0)), ..Listing::default() };
            let of = |steps: &[Step]| {
                let dealt = Dealt::of(&entries(steps, None), list.clone(), &listing, 1, ranks);
                let of = |rank| (0..dealt.count(rank)).map(|nth| dealt.part(rank, nth)).collect();
                (0..ranks).map(of).collect::<Vec<Vec<Part>>>()
            };
            let (cut, whole) = (of(&[Step::Read]), of(&[Step::Unlink]));
            for (cut, whole) in cut.iter().zip(&whole) {
                let firsts = cut.iter().filter(|part| part.offset == 0).map(|part| part.number);
                prop_assert!(firsts.eq(whole.iter().map(|part| part.number)));
            }
            prop_assert_eq!(whole.iter().map(Vec::len).sum::<usize>(), sizes.len());
        }
    }

    #[test]
    fn keys_tell_names_apart() {
        let names = ["", "a", "b", "aa", "a\0", "abcdefgh", "abcdefghi", "abcdefgi"];
        let keys: std::collections::BTreeSet<u64> =
            names.iter().map(|name| key(name.as_bytes())).collect();
        assert_eq!(keys.len(), names.len());
    }
}
