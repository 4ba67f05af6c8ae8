//! Sequences that are fully determined, as other tools issue them too.

use candor_engine::operation::Buffer;
use candor_plan::blocks::{FileOrder, Position, Rotation, Windows};

use super::*;

const K: u64 = 1024;

/// Operations as `file`, first letter of the direction, `@` offset and `+` length in KiB.
fn listing(blocks: &Blocks, sizes_kib: &[u64], budget: Budget) -> String {
    let sizes: Vec<u64> = sizes_kib.iter().map(|size| size * K).collect();
    let mut stream = stream(blocks, &sizes, ALONE, false);
    stream.bound(budget);
    let mut slot = Slot::empty(Buffer::None);
    let mut out = Vec::new();
    while stream.next(&mut slot) && out.len() < 200 {
        let op = slot.direction().expect("a direction").name();
        let (offset, length) = (slot.offset / K, slot.length / K);
        out.push(format!("{}{}@{offset}+{length}", slot.handle, &op[..1]));
    }
    out.join(" ")
}

/// Budget of that many KiB, in as many passes as it takes.
fn bytes(kib: u64) -> Budget {
    Budget { bytes: kib * K, ..Budget::NONE }
}

/// Budget of so many passes, and more of them until that many KiB were moved.
fn passes(passes: u64, at_least_kib: u64) -> Budget {
    Budget { passes, at_least: at_least_kib * K, ..Budget::NONE }
}

fn offsets_of(blocks: &Blocks, sizes_kib: &[u64], budget: Budget) -> Vec<(usize, u64)> {
    let text = listing(blocks, sizes_kib, budget);
    text.split_whitespace()
        .map(|word| {
            let (file, rest) = word.split_once(['r', 'w', 't']).expect("a direction");
            let offset = rest.trim_start_matches('@').split('+').next().expect("an offset");
            (file.parse().expect("a file"), offset.parse().expect("a number"))
        })
        .collect()
}

fn places(blocks: &Blocks, size_kib: u64, budget: Budget) -> Vec<u64> {
    offsets_of(blocks, &[size_kib], budget).into_iter().map(|(_, offset)| offset).collect()
}

/// vdbench's `rhpct` of sequential work.
#[test]
fn hits_and_misses_are_two_streams() {
    let with_hole = |hole: u64, hit_percent: f64, wraps: bool, passes: u64| {
        let hit_percent = PerDirection::all(hit_percent);
        let access = Access::HitArea { bytes: Bytes(4 * K), hit_percent, hole: Bytes(hole) };
        let blocks = with(access);
        let blocks = Blocks { size: PerDirection::all(SizeSpec::Fixed(Bytes(K))), ..blocks };
        let mut stream = stream(&blocks, &[10 * K], ALONE, wraps);
        stream.bound(Budget { passes, ops: 100, ..Budget::NONE });
        let mut slot = Slot::empty(Buffer::None);
        let offsets = std::iter::from_fn(|| stream.next(&mut slot).then_some(slot.offset / K));
        offsets.collect::<Vec<_>>()
    };
    let of = |hit_percent, wraps, passes| with_hole(0, hit_percent, wraps, passes);
    assert_eq!(with_hole(K, 0.0, true, u64::MAX)[..5], [4, 6, 8, 4, 6]);
    assert_eq!(with_hole(2 * K, 100.0, true, u64::MAX)[..4], [0, 3, 0, 3]);
    assert_eq!(with_hole(u64::MAX, 100.0, true, u64::MAX)[..2], [0, 0]);
    assert_eq!(of(0.0, true, u64::MAX)[..8], [4, 5, 6, 7, 8, 9, 4, 5]);
    assert_eq!(of(100.0, true, u64::MAX)[..6], [0, 1, 2, 3, 0, 1]);
    let mixed = of(50.0, true, u64::MAX);
    assert_eq!(mixed.len(), 100);
    let (hits, misses): (Vec<u64>, Vec<u64>) = mixed.iter().partition(|at| **at < 4);
    assert!(hits.iter().zip(0..).all(|(at, nth): (_, u64)| *at == nth % 4), "{hits:?}");
    assert!(misses.iter().zip(0..).all(|(at, nth): (_, u64)| *at == 4 + nth % 6), "{misses:?}");
    assert!((35..65).contains(&hits.len()), "{}", hits.len());
    let pass = of(50.0, false, 1);
    let whole = |of: &[u64]| of.iter().all(|at| pass.contains(at));
    assert!(whole(&[0, 1, 2, 3]) || whole(&[4, 5, 6, 7, 8, 9]), "{pass:?}");
    assert!(pass.len() < 10, "one of both is used up: {pass:?}");
}

#[test]
fn holes_and_steps_back() {
    let hole = |kib| with(Access::Holes { hole: Bytes(kib * K) });
    let twice = [0, 8, 16, 24, 32, 40, 48, 56].repeat(2);
    assert_eq!(places(&hole(4), 64, bytes(64)), twice);
    assert_eq!(places(&hole(4), 60, passes(2, 0)), twice);
    let back = |kib| with(Access::Back { step: Bytes(kib * K) });
    let down = [0, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0];
    assert_eq!(places(&back(8), 64, bytes(64)), down);
    let coarse = [0, 52, 44, 36, 28, 20, 12, 4, 52, 44, 36, 28, 20, 12, 4, 52];
    assert_eq!(places(&back(12), 64, bytes(64)), coarse);
    assert_eq!(places(&back(4), 64, bytes(64)), [0; 16]);
}

/// Numbers of blocks of a list, over a file of ten.
fn listed(blocks: &[u64], advances: bool, budget: Budget) -> Vec<u64> {
    let list = with(Access::List { blocks: blocks.to_vec(), advances });
    places(&list, 40, budget).into_iter().map(|at| at / 4).collect()
}

#[test]
fn a_list_of_blocks_is_followed_over_and_over() {
    assert_eq!(listed(&[2, 0, 1], false, bytes(7 * 4)), [2, 0, 1, 2, 0, 1, 2]);
    assert_eq!(listed(&[9], false, bytes(3 * 4)), [9, 9, 9]);
    // Two files take turns, each with its own place in the list.
    let list = with(Access::List { blocks: vec![1, 0], advances: false });
    let both = [(0, 4), (1, 4), (0, 0), (1, 0), (0, 4), (1, 4)];
    assert_eq!(offsets_of(&list, &[40, 40], bytes(6 * 4)), both);
}

#[test]
fn a_list_that_advances_ends_a_pass_behind_the_end() {
    let first = [2, 0, 1, 5, 3, 4, 8, 6, 7];
    assert_eq!(listed(&[2, 0, 1], true, passes(1, 0)), first);
    assert_eq!(listed(&[2, 0, 1], true, passes(2, 0)), first.repeat(2));
    assert_eq!(listed(&[0, 4], true, bytes(5 * 4)), [0, 4, 2, 6, 4]);
}

#[test]
fn passes_end_by_bytes_or_by_what_there_is() {
    let blocks = Blocks::default();
    let eight = [0, 4, 8, 12, 16, 20, 24, 28];
    assert_eq!(places(&blocks, 30, passes(1, 30)), eight[..7]);
    assert_eq!(places(&blocks, 30, passes(2, 30)), eight[..7].repeat(2));
    assert_eq!(places(&blocks, 32, bytes(18)), eight[..5]);
    let on = [&eight[..], &eight[..2]].concat();
    let both = |least, most| Budget { bytes: most * K, ..passes(2, least) };
    assert_eq!(places(&blocks, 32, both(20, 40)), on);
    assert_eq!(places(&blocks, 32, both(80, 160)), eight.repeat(3));
    assert_eq!(places(&blocks, 32, passes(1, 64)), eight.repeat(2));
    assert_eq!(places(&blocks, 32, passes(3, 0)), eight.repeat(3));
}

#[test]
fn an_amount_repeats_until_its_minimum_time() {
    let blocks = Blocks::default();
    let of = |min_ns, budget| Budget { min_ns, ..budget };
    let eight = [0, 4, 8, 12, 16, 20, 24, 28];
    // `listing` ends after 200 operations.
    assert_eq!(places(&blocks, 32, of(u64::MAX, passes(1, 0))), eight.repeat(25));
    assert_eq!(places(&blocks, 32, of(u64::MAX, bytes(12))), eight[..3].repeat(67)[..200]);
    let random = with(Access::Random);
    let drawn = places(&random, 32, of(u64::MAX, Budget { ops: 3, ..Budget::NONE }));
    assert_eq!(drawn.len(), 200);
    assert_eq!(places(&blocks, 32, of(1, passes(1, 0))), eight, "the time has passed by then");
    assert!(places(&blocks, 2, of(u64::MAX, passes(1, 0))).is_empty(), "nothing to repeat");
}

#[test]
fn directions_with_positions_of_their_own() {
    let blocks = Blocks {
        mix: Mix { read: 50, write: 50, trim: 0 },
        position: Position::PerDirection,
        ..Blocks::default()
    };
    let text = listing(&blocks, &[32], bytes(400));
    let mut next = [0; 2];
    for word in text.split_whitespace() {
        let (op, rest) = word[1..].split_once('@').expect("a place");
        let at = usize::from(op == "w");
        if next[at] == 32 {
            // The end of one direction ends the pass of both.
            next = [0; 2];
        }
        assert_eq!(rest, format!("{}+4", next[at]), "{text}");
        next[at] += 4;
    }
}

#[test]
fn pairs_are_at_one_place() {
    let mix = Mix { read: 0, write: 50, trim: 50 };
    let blocks = Blocks { mix, pairs: true, ..Blocks::default() };
    let pairs = "0t@0+4 0w@0+4 0t@4+4 0w@4+4 0t@8+4 0w@8+4";
    assert_eq!(listing(&blocks, &[12], bytes(24)), pairs);
    let blocks = Blocks { access: Access::Permutation, ..blocks };
    let list = places(&blocks, 64, bytes(128));
    assert!(list.chunks(2).all(|pair| pair[0] == pair[1]), "{list:?}");
    assert_eq!(list.iter().collect::<HashSet<_>>().len(), 16);
}

#[test]
fn files_come_round_until_they_are_used_up() {
    let files = |order, every, at_once, kib: &[u64]| {
        let rotation = Rotation { order, every, at_once };
        let blocks = Blocks { rotation, ..Blocks::default() };
        let list = offsets_of(&blocks, kib, bytes(kib.iter().sum()));
        list.iter().map(|(file, offset)| format!("{file}@{offset}")).collect::<Vec<_>>().join(" ")
    };
    let round = FileOrder::RoundRobin;
    let unequal = "0@0 1@0 2@0 0@4 1@4 2@4 1@8 2@8 1@12 2@12 1@16 1@20";
    assert_eq!(files(round, 1, None, &[8, 24, 16]), unequal);
    let threes = "0@0 0@4 1@0 1@4 1@8 2@0 2@4 2@8 1@12 1@16 1@20 2@12";
    assert_eq!(files(round, 3, None, &[8, 24, 16]), threes);
    let two = "0@0 1@0 0@4 1@4 1@8 2@0 1@12 2@4 1@16 2@8 1@20 2@12 3@0 3@4 3@8";
    assert_eq!(files(round, 1, Some(2), &[8, 24, 16, 12]), two);
    let two = "0@0 0@4 1@0 1@4 1@8 1@12 2@0 2@4 1@16 1@20 2@8 2@12 3@0 3@4 3@8";
    assert_eq!(files(round, 2, Some(2), &[8, 24, 16, 12]), two);
    let whole = "0@0 0@4 1@0 1@4 1@8 1@12 1@16 1@20 2@0 2@4 2@8 2@12 3@0 3@4 3@8";
    assert_eq!(files(FileOrder::Sequential, 1, None, &[8, 24, 16, 12]), whole);
    assert_eq!(files(round, 1, Some(1), &[8, 24, 16, 12]), whole);
    assert_eq!(files(round, 1, None, &[8, 8]), "0@0 1@0 0@4 1@4");
    let mut any: Vec<_> = files(FileOrder::Random, 3, Some(2), &[8, 24, 16, 12])
        .split(' ')
        .map(str::to_owned)
        .collect();
    any.sort();
    let mut all: Vec<_> = whole.split(' ').collect();
    all.sort_unstable();
    assert_eq!(any, all);
}

#[test]
fn a_second_pass_over_files_goes_on_with_the_next() {
    let list = offsets_of(&Blocks::default(), &[8, 24, 16], bytes(96));
    let files: Vec<String> = list.iter().map(|(file, _)| file.to_string()).collect();
    assert_eq!(files.concat(), "012012121211201201212111");
}

#[test]
fn skewed_files_start_over() {
    let rotation = Rotation { order: FileOrder::Zipf { theta: 1.2 }, ..Rotation::default() };
    let blocks = Blocks { rotation, ..Blocks::default() };
    let list = offsets_of(&blocks, &[16; 4], Budget { ops: 200, ..Budget::NONE });
    let mut counts = [0u64; 4];
    for (file, offset) in list {
        assert_eq!(offset, counts[file] % 4 * 4);
        counts[file] += 1;
    }
    counts.sort_unstable();
    assert!(counts[3] > 80 && counts[0] > 0, "{counts:?}");
}

#[test]
fn windows_are_worked_on_one_after_another() {
    let blocks = |length, bytes, gap| Blocks {
        windows: Some(Windows {
            length: Bytes(length * K),
            bytes: Bytes(bytes * K),
            gap: Bytes(gap * K),
        }),
        ..Blocks::default()
    };
    let list = places(&blocks(16, 8, 4), 64, bytes(64));
    assert_eq!(list[..7], [0, 4, 20, 24, 40, 44, 60]);
    assert_eq!(places(&blocks(16, 16, 16), 64, bytes(32)), [0, 4, 8, 12, 32, 36, 40, 44]);
    let twice = [0, 4, 0, 4, 16, 20, 16, 20, 32, 36, 32, 36, 48, 52, 48, 52];
    assert_eq!(places(&blocks(8, 16, 8), 64, bytes(64)), twice);
    let list = places(&blocks(16, 10, 4), 64, bytes(40));
    assert_eq!(list, [0, 4, 8, 20, 24, 28, 40, 44, 48, 60]);
    for access in [Access::Random, Access::Permutation] {
        let blocks = Blocks { access, ..blocks(16, 16, 16) };
        let list = places(&blocks, 128, bytes(64));
        let windows: Vec<u64> = list.iter().map(|offset| offset / 32).collect();
        assert_eq!(windows, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
        assert!(list.iter().all(|offset| offset % 32 < 16), "{list:?}");
    }
}
