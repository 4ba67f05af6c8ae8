use std::collections::HashSet;

use candor_plan::Bytes;
use candor_plan::blocks::{Duplicates, HotSets, Pattern};

use super::*;

const ORIGIN: Origin = Origin { seed: 1, plan_seed: 1, rank: 0, reads: false, blocks: 1000 };

fn content(plan: &Plan, origin: &Origin) -> Content {
    Content::new(plan.clone(), pool(1), origin)
}

fn blocks(plan: &Plan, count: usize) -> Vec<Vec<u8>> {
    blocks_of(plan, &ORIGIN, count)
}

fn blocks_of(plan: &Plan, origin: &Origin, count: usize) -> Vec<Vec<u8>> {
    let mut content = content(plan, origin);
    let mut block = vec![0; 4096];
    content.prepare(&mut block);
    (0..count)
        .map(|_| {
            content.bytes(&mut block, 0);
            block.clone()
        })
        .collect()
}

fn distinct(list: &[Vec<u8>]) -> usize {
    list.iter().collect::<HashSet<_>>().len()
}

#[test]
fn no_two_blocks_are_alike() {
    for fill in [Fill::Pool, Fill::Fresh, Fill::Stamp] {
        let plan = Plan { fill, ..Plan::default() };
        assert_eq!(distinct(&blocks(&plan, 3000)), 3000, "{fill:?}");
    }
}

#[test]
fn writes_take_turns_with_spare_buffers() {
    use candor_engine::host::memory::{Mapping, Pages};
    use candor_plan::blocks::Buffers;

    const BYTES: usize = 4096;
    let plan = Plan::default();
    let few = BufferCounts { bytes: BYTES, depth: 32, workers: 1 };
    let many = BufferCounts { workers: 500, ..few };
    let large = BufferCounts { bytes: 1 << 20, depth: 1, workers: 1 };
    let count = spare_buffers(&plan, &ORIGIN, Some(4096), few);
    assert_eq!(count, POOL_BYTES / BYTES - 32);
    let reads = Origin { reads: true, ..ORIGIN };
    assert_eq!(spare_buffers(&plan, &reads, Some(4096), few), 0, "reads overwrite them");
    assert_eq!(spare_buffers(&plan, &ORIGIN, Some(512), few), 0, "writes use an eighth");
    assert_eq!(spare_buffers(&plan, &ORIGIN, None, few), 0, "lengths differ");
    assert_eq!(spare_buffers(&plan, &ORIGIN, Some(4096), many), 0, "half a GiB");
    assert_eq!(spare_buffers(&plan, &ORIGIN, Some(1 << 20), large), 0, "one buffer is a pool");

    let parts = count + 1;
    let mut memory =
        Mapping::of(&Buffers::default(), parts * BYTES, Pages::Ordinary).expect("memory");
    let mut content = content(&plan, &ORIGIN);
    content.prepare(memory.as_mut_slice());
    content.take_turns((1..parts).map(|nth| Buffer::Host(memory.part(nth, BYTES))));
    let mut slot = Slot::empty(Buffer::Host(memory.part(0, BYTES)));
    slot.length = BYTES as u64;
    let (mut used, mut runs) = (HashSet::new(), HashSet::new());
    for nth in 0..parts {
        content.write(&mut slot);
        assert!(used.insert(slot.buffer.host()), "write {nth} took a buffer that was in use");
        // SAFETY: the buffer is part of the mapping, which lives, and nothing else uses it.
        let bytes = unsafe { std::slice::from_raw_parts(slot.buffer.host(), BYTES) };
        assert!(bytes.chunks(64).all(|run| runs.insert(run.to_vec())), "write {nth}");
    }
    content.write(&mut slot);
    assert_eq!(slot.buffer.host(), memory.part(1, BYTES).as_ptr(), "the one used longest ago");
}

#[test]
fn neighbours_share_no_run_of_bytes() {
    for fill in [Fill::Pool, Fill::Fresh] {
        let mut runs = HashSet::new();
        for block in &blocks(&Plan { fill, ..Plan::default() }, 32) {
            assert!(block.chunks(64).all(|run| runs.insert(run.to_vec())), "{fill:?}");
        }
    }
}

#[test]
fn the_same_bytes_again_for_the_same_key() {
    let plan = Plan { fill: Fill::Once, ..Plan::default() };
    let list = blocks(&plan, 10);
    assert_eq!(distinct(&list), 1);
    assert!(list[0].iter().any(|byte| *byte != 0));
    let zero = Plan { fill: Fill::Zero, ..Plan::default() };
    assert_eq!(blocks(&zero, 2), [[0; 4096], [0; 4096]]);
}

#[test]
fn patterns_begin_with_each_operation() {
    let pattern: Pattern = "ab%o".parse().expect("a pattern");
    let plan = Plan { fill: Fill::Pattern, pattern: Some(pattern), ..Plan::default() };
    let mut block = vec![0; 20];
    content(&plan, &ORIGIN).bytes(&mut block, 0x0201);
    assert_eq!(block[..12], [0xab, 1, 2, 0, 0, 0, 0, 0, 0, 0xab, 1, 2]);
}

#[test]
fn duplicates_have_their_share() {
    for fill in [Fill::Pool, Fill::Fresh] {
        let plan = Plan { fill, duplicate_percent: 50, ..Plan::default() };
        let found = distinct(&blocks(&plan, 4000));
        assert!((1900..2116).contains(&found), "{found} distinct");
        let plan = Plan { duplicates: Duplicates::Last, ..plan };
        let list = blocks(&plan, 4000);
        let repeats = list.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!((1900..2100).contains(&repeats), "{repeats} repeats");
        assert_eq!(distinct(&list) + repeats, 4000, "none but the last is repeated");
    }
}

#[test]
fn a_working_set_is_written_first_and_then_repeated() {
    let duplicates = Duplicates::WorkingSet { percent: 10, shared: false };
    let plan = Plan { duplicate_percent: 80, duplicates, ..Plan::default() };
    let list = blocks(&plan, 1100);
    assert_eq!(distinct(&list[..100]), 100);
    let set: HashSet<_> = list[..100].iter().collect();
    let repeats = list[100..].iter().filter(|block| set.contains(block)).count();
    assert!((750..850).contains(&repeats), "{repeats} of 1000");
    let shared = Duplicates::WorkingSet { percent: 10, shared: true };
    let plan = Plan { duplicates: shared, ..plan };
    let one: HashSet<_> = blocks(&plan, 1000).into_iter().collect();
    let other = Origin { seed: 2, rank: 1, ..ORIGIN };
    let met = blocks_of(&plan, &other, 1000).iter().filter(|b| one.contains(*b)).count();
    assert!((700..900).contains(&met), "{met} of another job's");
}

#[test]
fn blocks_of_hot_sets_have_the_bytes_of_their_set() {
    let hot_sets = HotSets { unit: Bytes(4096), sets: vec![[2, 3], [1, 2]] };
    let plan = Plan { duplicate_percent: 50, hot_sets: Some(hot_sets), ..Plan::default() };
    let write = |rank, offset: u64, length: usize| {
        let mut bytes = vec![0; length];
        content(&plan, &Origin { rank, seed: rank, ..ORIGIN }).bytes(&mut bytes, offset);
        bytes
    };
    // Eight blocks of three sets, by one write, and the rest of it.
    let whole = write(0, 0, 12 * 4096);
    let list: Vec<_> = whole.chunks(4096).map(<[u8]>::to_vec).collect();
    for (set, blocks) in [(0, 0..3), (3, 3..6), (6, 6..8)] {
        assert!(list[blocks].iter().all(|block| *block == list[set]), "{set}");
    }
    assert_eq!(distinct(&list[..8]), 3);
    assert_ne!(list[8], list[7]);
    // In whatever sizes, and by whomever they are written.
    assert_eq!(write(1, 4 * 4096 + 1024, 2048), list[3][1024..3072]);
    let over = write(2, 7 * 4096, 8192);
    assert_eq!(over[..4096], list[6]);
    assert_ne!(over[4096..], list[8]);
}

#[test]
fn compressible_share_is_zero_in_pieces_of_any_length() {
    for (piece, percent) in [(None, 75), (Some(4096), 30), (Some(0), 50), (Some(1024), 100)] {
        let plan = Plan {
            compressible_percent: percent,
            compressible_piece: piece.map(Bytes),
            ..Plan::default()
        };
        for block in blocks(&plan, 10) {
            let zeros = block.iter().filter(|byte| **byte == 0).count() as f64 / 4096.0;
            assert!((zeros - f64::from(percent) / 100.0).abs() < 0.02, "{zeros}");
            let length = piece.unwrap_or(512).max(1) as usize;
            let piece = if piece == Some(0) { 4096 } else { length };
            let tail = piece * usize::from(percent) / 100 - 1;
            let is_tail_zero = |part: &[u8]| part[part.len() - tail..].iter().all(|b| *b == 0);
            assert!(block.chunks(piece).all(is_tail_zero), "{piece}");
        }
    }
}

#[test]
fn a_compressor_saves_the_planned_share() {
    for fill in [Fill::Pool, Fill::Fresh] {
        for percent in [0, 25, 50, 75] {
            let plan = Plan { fill, compressible_percent: percent, ..Plan::default() };
            let bytes = blocks(&plan, 64).concat();
            let packed = miniz_oxide::deflate::compress_to_vec(&bytes, 6).len();
            let saved = 100.0 - packed as f64 * 100.0 / bytes.len() as f64;
            assert!((saved - f64::from(percent)).abs() < 3.0, "{fill:?} {percent}: {saved}");
        }
    }
}

#[test]
fn a_key_gives_the_same_bytes_again() {
    for fill in [Fill::Pool, Fill::Fresh, Fill::Stamp] {
        let plan = Plan { fill, ..Plan::default() };
        let (one, other) = (content(&plan, &ORIGIN), content(&plan, &Origin { rank: 7, ..ORIGIN }));
        let (mut a, mut b) = (vec![0; 4096], vec![1; 4096]);
        one.keyed(&mut a, 5, 0);
        other.keyed(&mut b, 5, 0);
        assert_eq!(a, b);
        one.keyed(&mut b, 6, 0);
        assert_ne!(a, b);
    }
}
