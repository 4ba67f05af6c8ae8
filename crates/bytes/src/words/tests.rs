//! Words against golden values of the C library, and every kind of damage.

use proptest::prelude::*;

use super::*;
use candor_plan::Bytes;

const KINDS: [WordKind; 4] =
    [WordKind::Timestamp, WordKind::Offset, WordKind::Incompressible, WordKind::Random];
const SIZE: usize = 16 << 10;

fn maker(kind: WordKind, seed: i32, writer: u64) -> WordMaker {
    WordMaker::new(Words { kind, seed, rank_block: None }, writer, 8)
}

fn made(maker: &WordMaker, offset: u64) -> Vec<u8> {
    let mut bytes = vec![0; SIZE];
    maker.fill(&mut bytes, offset);
    bytes
}

/// The draws and states of a C program that calls `rand_r` of glibc 2.36.
#[test]
fn rand_r_is_that_of_the_c_library() {
    for (seed, draws) in [
        (0, [(1_012_484, 2_802_067_423), (1_716_955_679, 3_256_818_826)]),
        (1, [(476_707_713, 662_824_084), (1_186_278_907, 2_516_284_547)]),
        (42, [(681_191_333, 3_148_160_401), (928_546_885, 2_219_150_180)]),
        (123_456_789, [(1_561_111_752, 3_905_459_128), (731_231_783, 2_854_729_975)]),
        (u32::MAX, [(1_670_702_726, 646_343_466), (99_100_226, 3_997_353_105)]),
        (1 << 31, [(1_012_484, 654_583_775), (1_716_955_679, 1_109_335_178)]),
    ] {
        let mut state = seed;
        for expected in draws {
            assert_eq!((rand_r(&mut state), state), expected, "from {seed}");
        }
    }
}

/// Words that a C program computed in the same way, for rank 3 at 0x12345678000.
#[test]
fn words_are_what_other_programs_write() {
    const AT: u64 = 0x123_4567_8000;
    let word = |kind, seed, index: usize| words_of(&made(&maker(kind, seed, 3), AT))[index];
    assert_eq!(word(WordKind::Timestamp, 1234, 7), 0x3_0000_04d9);
    assert_eq!(word(WordKind::Timestamp, -5, 2), 0xffff_ffff_ffff_fffd);
    assert_eq!(word(WordKind::Offset, 1234, 7), 0x3_0000_04d9);
    for kind in [WordKind::Offset, WordKind::Incompressible] {
        let marks = [0, 512].map(|index| word(kind, 1234, index));
        assert_eq!(marks, [0x3_4567_8000, 0x3_8acf_0000]);
    }
    assert_eq!(word(WordKind::Incompressible, 1234, 1), 0x339e_4294_3c9f_f1d4);
    assert_eq!(word(WordKind::Incompressible, 1234, 511), 0x339e_4294_3c9f_f1d4);
    let random = [0, 1, 2, 3].map(|index| word(WordKind::Random, 1234, index));
    let expected = [
        0x1ecd_f5ab_fb34_01d8,
        0x1feb_c11b_7e7a_803b,
        0x124c_b8e6_2fb1_d007,
        0x0047_7f43_ddf2_ba00,
    ];
    assert_eq!(random, expected);
    assert_eq!(word(WordKind::Random, -5, 0), 0x11f9_ebd5_efef_8546);
}

#[test]
fn a_prepared_buffer_is_renewed_for_any_operation() {
    for kind in KINDS {
        let maker = maker(kind, 77, 5);
        let mut buffers = vec![0; 2 * SIZE];
        maker.prepare(&mut buffers, SIZE);
        for offset in [0, 1 << 20, (1 << 35) + 4096] {
            for buffer in buffers.chunks_mut(SIZE) {
                maker.renew(buffer, offset);
                assert_eq!(buffer, made(&maker, offset), "{kind:?} at {offset}");
            }
        }
    }
}

#[test]
fn the_writer_of_a_place_is_the_rank_that_has_its_block() {
    let block = Some(Bytes(4 * SIZE as u64));
    let words = Words { kind: WordKind::Offset, seed: 1, rank_block: block };
    let reader = WordMaker::new(words, 0, 3);
    for block in 0..9 {
        let offset = block * 4 * SIZE as u64;
        let bytes = made(&maker(WordKind::Offset, 1, block % 3), offset);
        assert_eq!(reader.check(&bytes, offset, &mut Vec::new()), Ok(()), "block {block}");
    }
}

fn check(kind: WordKind, bytes: &[u8]) -> Option<BlockMismatch> {
    maker(kind, 9, 2).check(bytes, 1 << 20, &mut Vec::new()).err()
}

#[test]
fn a_mismatch_names_word_and_byte() {
    let mut bytes = made(&maker(WordKind::Offset, 9, 2), 1 << 20);
    bytes[4107] ^= 0x10;
    let wrong = check(WordKind::Offset, &bytes).expect("found");
    assert_eq!(wrong.kind, MismatchKind::Flipped);
    assert_eq!(
        wrong.detail,
        "word 513 is 0x000000021000020a, expected 0x000000020000020a; the first wrong byte is 4107"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nothing_is_accused_falsely(
        which in 0_usize..4, seed: i32, rank in 0_u64..10_000, at in 0_u64..1 << 30
    ) {
        let maker = maker(KINDS[which], seed, rank);
        let offset = at * 4096;
        prop_assert_eq!(maker.check(&made(&maker, offset), offset, &mut Vec::new()), Ok(()));
    }

    #[test]
    fn every_flip_is_found(which in 0_usize..4, at in 0_usize..SIZE, bit in 0_u32..8) {
        let mut bytes = made(&maker(KINDS[which], 9, 2), 1 << 20);
        bytes[at] ^= 1 << bit;
        let wrong = check(KINDS[which], &bytes).expect("found");
        prop_assert_eq!(wrong.kind, MismatchKind::Flipped, "{}", wrong.detail);
        let byte = format!("first wrong byte is {at}");
        prop_assert!(wrong.detail.contains(&byte));
    }

    /// The end of an operation of another run behind the start of the right one.
    #[test]
    fn every_torn_write_is_found(which in 0_usize..4, sectors in 1_usize..SIZE / 512) {
        let kind = KINDS[which];
        let mut bytes = made(&maker(kind, 9, 2), 1 << 20);
        let other = made(&maker(kind, 10_009, 2), 1 << 20);
        bytes[sectors * 512..].copy_from_slice(&other[sectors * 512..]);
        let wrong = check(kind, &bytes);
        // A last sector that begins with the mark of the same place is right in that word.
        let kinds = [MismatchKind::Torn, MismatchKind::Flipped];
        prop_assert!(wrong.is_some_and(|wrong| kinds.contains(&wrong.kind)));
    }

    #[test]
    fn stale_data_is_found(which in 0_usize..4, seed in 0..i32::MAX) {
        prop_assume!(seed != 9);
        let wrong = check(KINDS[which], &made(&maker(KINDS[which], seed, 2), 1 << 20));
        let expected = match KINDS[which] {
            // Random words do not tell a seed from a place.
            WordKind::Random => MismatchKind::Misdirected,
            _ => MismatchKind::Stale,
        };
        prop_assert_eq!(wrong.map(|wrong| wrong.kind), Some(expected));
    }

    /// Data of another rank, and where it tells its place, of another place of the same rank.
    #[test]
    fn misdirected_data_is_found(which in 0_usize..4, rank in 0_u64..1000, at in 0_u64..1 << 19) {
        let offset = at * 4096;
        prop_assume!(rank != 2 || (offset != 1 << 20 && which != 0));
        let wrong = check(KINDS[which], &made(&maker(KINDS[which], 9, rank), offset));
        // The sum of rank and offset may be the same, though none of them is.
        prop_assume!(which != 3 || rank + offset != 2 + (1 << 20));
        prop_assert_eq!(wrong.map(|wrong| wrong.kind), Some(MismatchKind::Misdirected));
    }
}
