use candor_engine::operation::Buffer;
use std::collections::HashSet;

use candor_plan::Bytes;
use candor_plan::blocks::{Access, Blocks, SegmentDeal, Share, Zone};
use candor_plan::rank::Seat;
use candor_plan::units::{Extent, Mix, PerDirection, SizeSpec};
use candor_plan::work::BlocksOp;
use proptest::prelude::*;

use super::offsets::Shapes;
use super::region::Region;
use super::skew::Zipf;
use super::*;
use crate::slot::BlocksSlot;
use candor_engine::permutation::Permutation;

mod properties;
mod segments;
mod sequences;

pub(super) fn stream(blocks: &Blocks, sizes: &[u64], rank: Seat, wraps: bool) -> Stream {
    let shapes = Shapes::new(sizes.iter().map(|size| region::Extent { base: 0, size: *size }));
    let seed = 7 + rank.seat;
    let offsets = Offsets::new(blocks, &shapes, 0..sizes.len() as u32, rank, seed, 0);
    let random = Random::new(7, rank.seat);
    Stream::new(Parts { blocks, random, seed, offsets, wraps, rank: 0, trace: None })
}

fn offsets(blocks: &Blocks, size: u64, rank: Seat, ops: u64) -> Vec<u64> {
    let mut stream = stream(blocks, &[size], rank, false);
    stream.bound(Budget { ops, ..Budget::NONE });
    let mut slot = Slot::empty(Buffer::None);
    let mut list = Vec::new();
    while stream.next(&mut slot) {
        assert!(slot.offset + slot.length <= size, "{slot:?} beyond {size}");
        list.push(slot.offset);
    }
    list
}

const ALONE: Seat = Seat::ALONE;

#[test]
fn a_file_that_starts_over_is_told_before_its_first_operation() {
    let told = |access: Access, wraps: bool, budget: Budget| {
        let counts = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let seen = counts.clone();
        let mut stream = stream(&with(access), &[16384], ALONE, wraps)
            .on_restart(move |file| seen.borrow_mut().push(file));
        stream.bound(budget);
        let mut slot = Slot::empty(Buffer::None);
        let drawn = std::iter::from_fn(|| stream.next(&mut slot).then_some(counts.borrow().len()));
        drawn.collect::<Vec<_>>()
    };
    let ops = Budget { ops: 9, ..Budget::NONE };
    let passes = Budget { passes: 2, ..Budget::NONE };
    for access in [Access::Sequential, Access::Permutation, Access::Backward] {
        assert_eq!(told(access.clone(), true, ops), [0, 0, 0, 0, 1, 1, 1, 1, 2], "{access:?}");
        assert_eq!(told(access.clone(), false, passes), [0, 0, 0, 0, 1, 1, 1, 1], "{access:?}");
    }
    assert_eq!(told(Access::Random, true, ops), [0; 9]);
}

fn with(access: Access) -> Blocks {
    Blocks { access, ..Blocks::default() }
}

#[test]
fn ordered_accesses() {
    let blocks = with(Access::Sequential);
    assert_eq!(offsets(&blocks, 16384, ALONE, 5), [0, 4096, 8192, 12288, 0]);
    let blocks = with(Access::Backward);
    assert_eq!(offsets(&blocks, 16384 + 100, ALONE, 5), [12288, 8192, 4096, 0, 12288]);
    // A short operation takes what the whole ones leave at the end, which comes first.
    let short = Blocks { short_last: true, ..with(Access::Backward) };
    assert_eq!(offsets(&short, 16384 + 100, ALONE, 6), [16384, 12288, 8192, 4096, 0, 16384]);
    assert_eq!(offsets(&short, 100, ALONE, 2), [0, 0]);
    let blocks = with(Access::Holes { hole: Bytes(4096) });
    assert_eq!(offsets(&blocks, 16384, ALONE, 3), [0, 8192, 0]);
}

/// elbencho's `--norandalign --randamount`.
#[test]
fn the_last_random_operation_has_the_rest_of_the_bytes() {
    let align = Some(PerDirection::all(Bytes(1)));
    let blocks = Blocks { short_last: true, align, ..with(Access::Random) };
    let mut stream = stream(&blocks, &[1 << 20], ALONE, false);
    stream.bound(Budget { bytes: 2 * 4096 + 5, ..Budget::NONE });
    let mut slot = Slot::empty(Buffer::None);
    let lengths = std::iter::from_fn(|| stream.next(&mut slot).then_some(slot.length));
    assert_eq!(lengths.collect::<Vec<_>>(), [4096, 4096, 5]);
}

#[test]
fn the_number_of_an_operation_decides_its_direction() {
    let mix = candor_plan::units::Mix { read: 30, write: 60, trim: 10 };
    let blocks = Blocks { mix, mix_by_number: true, ..Blocks::default() };
    let shapes = Shapes::new([region::Extent { base: 0, size: 1 << 30 }].into_iter());
    let drawn = |rank: u64| {
        let offsets = Offsets::new(&blocks, &shapes, 0..1, ALONE, 7, 0);
        let parts = Parts {
            blocks: &blocks,
            random: Random::new(7, rank),
            seed: 7,
            offsets,
            wraps: true,
            rank,
            trace: None,
        };
        let mut stream = Stream::new(parts);
        stream.bound(Budget { ops: 200, ..Budget::NONE });
        let mut slot = Slot::empty(Buffer::None);
        let ops = std::iter::from_fn(|| stream.next(&mut slot).then(|| slot.issued()));
        ops.collect::<Vec<_>>()
    };
    let wanted = |rank: u64| {
        (0..200)
            .map(|number| match (rank + number) % 100 {
                0..30 => BlocksOp::Read,
                30..90 => BlocksOp::Write,
                _ => BlocksOp::Trim,
            })
            .collect::<Vec<_>>()
    };
    for rank in [0, 1, 95, 130] {
        assert_eq!(drawn(rank), wanted(rank), "{rank}");
    }
}

#[test]
fn segments_lie_where_ior_puts_them() {
    let deal = SegmentDeal::ByRank;
    let share = Share::Segments { block: Bytes(16384), count: 3, deal };
    let blocks = Blocks { share, ..Blocks::default() };
    let rank = Seat::one_of(2, 4);
    let list = offsets(&blocks, 3 * 4 * 16384, rank, 12);
    for (k, offset) in list.iter().enumerate() {
        let (segment, transfer) = (k as u64 / 4, k as u64 % 4);
        assert_eq!(*offset, segment * 4 * 16384 + 2 * 16384 + transfer * 4096);
    }
}

#[test]
fn workers_cover_a_shared_range_exactly_once() {
    for share in [Share::Slice, Share::Interleave] {
        for access in [Access::Sequential, Access::Permutation, Access::Backward] {
            let blocks = Blocks { share: share.clone(), ..with(access.clone()) };
            let mut seen = HashSet::new();
            for rank in 0..4 {
                let rank = Seat::one_of(rank, 4);
                let space = Region::new(&blocks, region::Extent { base: 0, size: 64 * 4096 }, rank);
                let list = offsets(&blocks, 64 * 4096, rank, space.length() / 4096);
                assert!(list.iter().all(|offset| seen.insert(*offset)), "{share:?} {access:?}");
            }
            assert_eq!(seen.len(), 64, "{share:?} {access:?}");
        }
    }
}

/// Chi-square of counts against equal expectation.
fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|n| (*n as f64 - expected).powi(2) / expected).sum()
}

fn histogram(access: Access, ops: u64) -> Vec<u64> {
    let mut counts = vec![0; 100];
    for offset in offsets(&with(access), 100 * 4096, ALONE, ops) {
        counts[(offset / 4096) as usize] += 1;
    }
    counts
}

#[test]
fn random_is_uniform() {
    // 99 degrees of freedom: 149 is exceeded once in a thousand seeds, and the seed is fixed.
    assert!(chi_square(&histogram(Access::Random, 100_000)) < 149.0);
}

#[test]
fn permutation_gives_each_block_once_per_pass() {
    assert!(histogram(Access::Permutation, 300).iter().all(|n| *n == 3));
}

#[test]
fn skewed_accesses_have_their_shares() {
    let zones = vec![
        Zone { access_percent: 60.0, size: Extent::Percent(10.0) },
        Zone { access_percent: 30.0, size: Extent::Percent(20.0) },
        Zone { access_percent: 10.0, size: Extent::Percent(70.0) },
    ];
    let share = |counts: &[u64]| counts.iter().sum::<u64>() as f64 / 1000.0;
    let zoned = histogram(Access::Zoned { zones: PerDirection::all(zones) }, 100_000);
    assert!((share(&zoned[..10]) - 60.0).abs() < 1.0);
    assert!((share(&zoned[10..30]) - 30.0).abs() < 1.0);
    let hot = Access::HotBand { hit_percent: 90.0, start_percent: 50.0, length_percent: 10.0 };
    assert!((share(&histogram(hot, 100_000)[50..60]) - 91.0).abs() < 1.0);
    let pareto = histogram(Access::Pareto { h: 0.2, center_percent: None }, 100_000);
    assert!((share(&pareto[..20]) - 80.0).abs() < 1.0);
    let normal =
        histogram(Access::Normal { deviation_percent: 10.0, center_percent: None }, 100_000);
    assert!((share(&normal[40..60]) - 68.3).abs() < 1.5);
}

#[test]
fn zipf_weights_follow_their_ranks() {
    let (zipf, mut random) = (Zipf::new(1000, 1.2), Random::new(3, 0));
    let mut counts = vec![0u64; 1000];
    (0..200_000).for_each(|_| counts[zipf.rank(&mut random) as usize] += 1);
    let total: f64 = (1..=1000).map(|k| f64::from(k).powf(-1.2)).sum();
    for k in [1u32, 2, 5, 20, 100] {
        let expected = 200_000.0 * f64::from(k).powf(-1.2) / total;
        let got = counts[k as usize - 1] as f64;
        assert!((got - expected).abs() < 6.0 * expected.sqrt(), "rank {k}: {got}, {expected}");
    }
}

#[test]
fn mixes_and_weights_are_kept() {
    let blocks = Blocks {
        mix: Mix { read: 70, write: 20, trim: 10 },
        size: PerDirection::all(SizeSpec::Weighted(vec![(Bytes(4096), 60), (Bytes(65536), 40)])),
        ..with(Access::Random)
    };
    let mut stream = stream(&blocks, &[1 << 24], ALONE, false);
    stream.bound(Budget { ops: 100_000, ..Budget::NONE });
    let mut slot = Slot::empty(Buffer::None);
    let (mut kinds, mut large) = ([0u64; 5], 0u64);
    while stream.next(&mut slot) {
        kinds[slot.issued() as usize] += 1;
        large += u64::from(slot.length == 65536);
        assert_eq!(slot.offset % 4096, 0);
    }
    for (kind, percent) in [(0, 70.0), (1, 20.0), (2, 10.0)] {
        assert!((kinds[kind] as f64 / 1000.0 - percent).abs() < 1.0);
    }
    assert!((large as f64 / 1000.0 - 40.0).abs() < 1.0);
}

proptest! {
    #[test]
    fn permutations_are_permutations(len in 1u64..3000, key: u64) {
        let permutation = Permutation::new(len, key);
        let seen: HashSet<u64> = (0..len).map(|i| permutation.at(i)).collect();
        prop_assert_eq!(seen.len() as u64, len);
        prop_assert!(seen.iter().all(|i| *i < len));
    }

    #[test]
    fn every_access_stays_in_its_share(
        size in 1u64..200, ranks in 1u64..5, which in 0usize..6, seed: u64
    ) {
        let access = [
            Access::Sequential, Access::Backward, Access::Random, Access::Permutation,
            Access::Zipf { theta: 0.9, center_percent: Some(30.0) },
            Access::Normal { deviation_percent: 40.0, center_percent: None },
        ][which].clone();
        let size = size * 4096 * ranks;
        let blocks = Blocks { share: Share::Slice, ..with(access) };
        let rank = Seat::one_of(seed % ranks, ranks);
        let space = Region::new(&blocks, region::Extent { base: 0, size }, rank);
        for offset in offsets(&blocks, size, rank, 64) {
            prop_assert!(offset >= space.offset(0) && offset + 4096 <= space.end());
        }
    }
}

#[test]
fn bounds_set_where_a_pass_ended_begin_the_next_one() {
    for sizes in [&[16384][..], &[8192, 8192]] {
        let mut stream = stream(&with(Access::Sequential), sizes, ALONE, false);
        stream.bound(Budget::NONE);
        let mut slot = Slot::empty(Buffer::None);
        assert!((0..4).all(|_| stream.next(&mut slot)));
        stream.bound(Budget { ops: 3, ..Budget::NONE });
        assert_eq!((0..9).filter(|_| stream.next(&mut slot)).count(), 3, "{sizes:?}");
    }
}
