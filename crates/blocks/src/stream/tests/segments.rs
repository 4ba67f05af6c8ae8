//! Orders within segments: which rank does which transfer, and when.

use candor_plan::blocks::Stay;

use super::*;

const SIZE: u64 = 4096;

fn segments(block: u64, count: u32, deal: SegmentDeal, access: Access) -> Blocks {
    let share = Share::Segments { block: Bytes(block * SIZE), count, deal };
    Blocks { share, ..with(access) }
}

/// Numbers of a rank's transfers in a file of `transfers`, in one pass.
fn transfers(blocks: &Blocks, transfers: u64, rank: Seat) -> Vec<u64> {
    let Share::Segments { block, count, .. } = blocks.share else { panic!("no segments") };
    let ops = u64::from(count) * block.0 / SIZE;
    let list = offsets(blocks, transfers * SIZE, rank, ops);
    list.iter().map(|offset| offset / SIZE).collect()
}

/// The same list less what lies before a segment.
fn from_segment(list: &[u64], segment: usize, own: usize, all: u64) -> Vec<u64> {
    list[segment * own..][..own].iter().map(|at| at - segment as u64 * all).collect()
}

proptest! {
    /// All ranks together do each transfer once, however it is dealt, and in each segment alike.
    #[test]
    fn segments_are_dealt_exactly_once(
        ranks in 1_u64..17,
        block in 1_u64..40,
        count in 1_u32..5,
        which in 0_usize..3,
    ) {
        let (deal, access) = [
            (SegmentDeal::ByRank, Access::Sequential),
            (SegmentDeal::ByRank, Access::Permutation),
            (SegmentDeal::Scattered, Access::Sequential),
        ][which].clone();
        let blocks = segments(block, count, deal, access);
        let all = ranks * block;
        let mut seen = HashSet::new();
        for rank in 0..ranks {
            let list = transfers(&blocks, all * u64::from(count), Seat::one_of(rank, ranks));
            prop_assert_eq!(list.len() as u64, block * u64::from(count), "equal amounts");
            for segment in 0..count as usize {
                let part = from_segment(&list, segment, block as usize, all);
                prop_assert_eq!(&part, &from_segment(&list, 0, block as usize, all));
                if deal == SegmentDeal::ByRank {
                    prop_assert!(part.iter().all(|at| at / block == rank), "its own block");
                }
            }
            prop_assert!(list.iter().all(|transfer| seen.insert(*transfer)));
        }
        prop_assert_eq!(seen.len() as u64, all * u64::from(count));
    }
}

#[test]
fn orders_within_segments_are_shuffled_and_the_same_in_every_phase() {
    for (deal, access) in
        [(SegmentDeal::ByRank, Access::Permutation), (SegmentDeal::Scattered, Access::Sequential)]
    {
        let blocks = segments(64, 2, deal, access);
        let shapes = Shapes::new([region::Extent { base: 0, size: 4 * 128 * SIZE }].into_iter());
        let order = |seed: u64, segments_key: u64, seat: u64| {
            let rank = Seat::one_of(seat, 4);
            let mut offsets = Offsets::new(&blocks, &shapes, 0..1, rank, seed, segments_key);
            let mut random = Random::new(seed, 1);
            let mut next = || {
                let choice = OffsetChoice::Pattern;
                offsets.next(0, Direction::Read, choice, &mut random).map(|(offset, _)| offset)
            };
            std::iter::from_fn(&mut next).collect::<Vec<_>>()
        };
        let first = order(1, 5, 2);
        assert_eq!(first.len(), 128);
        assert!(!first[..64].is_sorted(), "{deal:?}");
        assert_eq!(order(77, 5, 2), first, "a later phase has other seeds and the same key");
        assert_ne!(order(1, 6, 2), first);
        let within = |list: &[u64]| list.iter().map(|at| at % (64 * SIZE)).collect::<Vec<_>>();
        assert_ne!(within(&order(1, 5, 3)), within(&first), "ranks have orders of their own");
    }
}

#[test]
fn random_blocks_are_sequential_inside() {
    let blocks = Blocks {
        align: Some(PerDirection::all(Bytes(16 * SIZE))),
        stay: Stay { run: 16, ..Stay::default() },
        ..with(Access::Random)
    };
    let list = offsets(&blocks, 64 * 16 * SIZE, ALONE, 1600);
    let mut starts = HashSet::new();
    for run in list.chunks(16) {
        assert_eq!(run[0] % (16 * SIZE), 0);
        let expected: Vec<u64> = (0..16).map(|nth| run[0] + nth * SIZE).collect();
        assert_eq!(run, expected);
        starts.insert(run[0]);
    }
    assert!((40..64).contains(&starts.len()), "of 64 blocks, 100 draws hit {}", starts.len());
    let each = Blocks { access: Access::Permutation, ..blocks };
    let list = offsets(&each, 64 * 16 * SIZE, ALONE, 64 * 16);
    assert_eq!(list.iter().collect::<HashSet<_>>().len(), 64 * 16, "each block once");
}
