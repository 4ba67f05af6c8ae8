use candor_plan::Bytes;
use candor_plan::blocks::HeaderVersion;
use proptest::prelude::*;

use super::*;
use candor_engine::random::Random;

const PLACE: u64 = 8192;

fn plan(format: Format, interval: u64, header_at: u64) -> Plan {
    Plan { format, interval: Bytes(interval), header_at: Bytes(header_at), ..Plan::default() }
}

fn of_version(header_version: HeaderVersion, sum: Sum, header_at: u64) -> Plan {
    Plan { header_version, ..plan(Format::Acca(sum), 4096, header_at) }
}

fn versions() -> impl Strategy<Value = HeaderVersion> {
    prop_oneof![Just(HeaderVersion::Unversioned), Just(HeaderVersion::V1)]
}

fn pattern() -> Pattern {
    "a5%o0102".parse().expect("a pattern")
}

fn as_of(generation: u32) -> Expected {
    Expected { offset: PLACE, seed: 9, generation, number: None }
}

/// A block as a worker would write it.
fn written(form: &Form, interval: u64, generation: u32, random: &mut Random) -> Vec<u8> {
    let mut block = vec![0; interval as usize];
    match form {
        Form::Pattern(pattern) | Form::Acca(_, Some(pattern)) => pattern.fill(&mut block, PLACE),
        _ => random.fill(&mut block),
    }
    form.seal(
        &mut block,
        &as_of(generation),
        &Stamp { elapsed_ns: 5, writer: 1, number: 7, unix_s: 0 },
    );
    block
}

fn check(form: &Form, block: &[u8], expected: &Expected) -> Result<(), BlockMismatch> {
    let mut scratch = Vec::new();
    form.expect(expected.offset, block.len(), &mut scratch);
    form.check(&mut block.to_vec(), expected, 0, &mut scratch)
}

fn formats() -> impl Strategy<Value = Format> {
    prop_oneof![
        Just(Format::Own),
        Just(Format::Pattern),
        proptest::sample::select(Sum::ALL.to_vec()).prop_map(Format::Acca),
    ]
}

proptest! {
    /// Written blocks pass, in any generation where none is known, with the header at any offset.
    #[test]
    fn what_was_written_passes(
        format in formats(),
        sectors in 1u64..20,
        at in 0u64..8000,
        generation in 1u32..99,
        seed: u64,
    ) {
        let interval = sectors * 512;
        let header = plan(format, interval, 0).header_bytes();
        let fits = matches!(format, Format::Acca(_)) && at >= header && at + header <= interval;
        let plan = plan(format, interval, if fits { at } else { 0 });
        let form = Form::new(&plan, Some(&pattern()));
        let block = written(&form, interval, generation, &mut Random::new(seed, 0));
        prop_assert_eq!(check(&form, &block, &as_of(generation)), Ok(()));
        prop_assert_eq!(check(&form, &block, &as_of(UNKNOWN)), Ok(()));
    }

    /// A flipped bit is found wherever the format covers it, and reported as nothing else.
    #[test]
    fn flipped_bits_are_found(format in formats(), bit in 0usize..4096 * 8, seed: u64) {
        let form = Form::new(&plan(format, 4096, 0), Some(&pattern()));
        let good = written(&form, 4096, 3, &mut Random::new(seed, 0));
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        // The seven bits of one CRC and the eight bytes of a state may agree by chance. SHA-512 as
        // it is stored covers the ends alone.
        let covered = match format {
            Format::Acca(Sum::Crc7) => bit / 8 < 49,
            Format::Acca(Sum::Sha512) => bit / 8 < 48 + 128,
            _ => true,
        };
        let found = check(&form, &bad, &as_of(3));
        if covered {
            prop_assert!(found.is_err(), "bit {} of {:?}", bit, format);
        }
    }

    /// Blocks with headers of either version pass, whichever is written here.
    #[test]
    fn headers_of_both_versions_are_read(
        written_as in versions(),
        read_as in versions(),
        sum in proptest::sample::select(Sum::ALL.to_vec()),
        moved: bool,
        seed: u64,
    ) {
        let at = if moved { 1000 } else { 0 };
        let form = |version| Form::new(&of_version(version, sum, at), Some(&pattern()));
        let block = written(&form(written_as), 4096, 3, &mut Random::new(seed, 0));
        let header = &block[at as usize..];
        prop_assert_eq!(header[2] & 0x80 != 0, written_as == HeaderVersion::V1);
        prop_assert_eq!(check(&form(read_as), &block, &as_of(3)), Ok(()));
        let later = Expected { number: Some(8), ..as_of(3) };
        let wrong = check(&form(read_as), &block, &later).expect_err("found");
        prop_assert_eq!(wrong.kind, MismatchKind::Stale);
        prop_assert_eq!(wrong.detail, "verify: bad header numberio 7, wanted 8");
        let mut other = block.clone();
        other[at as usize + 2] = 0x83;
        let wrong = check(&form(read_as), &other, &as_of(3)).expect_err("found");
        prop_assert_eq!(wrong.detail, "verify: unsupported header version 83, wanted 81");
    }

    /// Blocks of another offset, another write or another program are told apart.
    #[test]
    fn other_blocks_are_found(sum in proptest::sample::select(Sum::ALL.to_vec()), seed: u64) {
        let form = Form::new(&plan(Format::Acca(sum), 4096, 0), Some(&pattern()));
        let mut random = Random::new(seed, 0);
        let block = written(&form, 4096, 3, &mut random);
        let kind = |expected| check(&form, &block, &expected).err().map(|wrong| wrong.kind);
        let elsewhere = Expected { offset: PLACE + 4096, ..as_of(UNKNOWN) };
        prop_assert_eq!(kind(elsewhere), Some(MismatchKind::Misdirected));
        prop_assert_eq!(kind(as_of(4)), Some(MismatchKind::Stale));
        prop_assert_eq!(kind(Expected { seed: 8, ..as_of(3) }), Some(MismatchKind::Stale));
        let mut foreign = vec![0; 4096];
        random.fill(&mut foreign);
        foreign[0] = 0; // no header begins like that, also not by chance
        let wrong = check(&form, &foreign, &as_of(UNKNOWN)).expect_err("found");
        prop_assert_eq!(wrong.kind, MismatchKind::Foreign);
        prop_assert!(wrong.detail.ends_with(", wanted acca"), "{}", wrong.detail);
        let longer = written(&form, 8192, 3, &mut random);
        let wrong = check(&form, &longer[..4096], &as_of(UNKNOWN)).expect_err("found");
        prop_assert_eq!(wrong.detail, "verify: bad header length 8192, wanted 4096");
    }
}

#[test]
fn headers_are_byte_for_byte_those_of_others() {
    // The tool that set the format wrote this header, with the seed 0 that it uses for blocks of a
    // pattern. candor's differs in the seed, and in the checksum of the header.
    let mut block = vec![0xab; 4096];
    let stamp = Stamp { elapsed_ns: 0x0663_d02c, writer: 1, number: 0, unix_s: 0 };
    let plan = of_version(HeaderVersion::Unversioned, Sum::Md5, 0);
    Form::new(&plan, None).seal(&mut block, &Expected { offset: 0, ..as_of(1) }, &stamp);
    assert_eq!(block[..8], [0xca, 0xac, 2, 0, 0, 0x10, 0, 0]);
    assert_eq!(block[16..24], [0; 8]);
    assert_eq!(block[24..36], [0, 0, 0, 0, 0x2c, 0xd0, 0x63, 6, 1, 0, 0, 0]);
    assert_eq!(block[40..44], [0x02, 0x76, 0x07, 0x60]);
}

#[test]
fn versioned_headers_hold_a_long_number() {
    let mut block = vec![0xab; 4096];
    let number = 0x1122_3344_5566_7788;
    let stamp = Stamp { elapsed_ns: 3_000_000_005, writer: 0x0102, number, unix_s: 0 };
    let plan = of_version(HeaderVersion::V1, Sum::Md5, 0);
    Form::new(&plan, None).seal(&mut block, &as_of(1), &stamp);
    assert_eq!(block[..8], [0xca, 0xac, 0x81, 2, 0, 0x10, 0, 0]);
    assert_eq!(block[16..24], PLACE.to_le_bytes());
    assert_eq!(block[24..32], [3, 0, 0, 0, 5, 0, 0, 0]);
    assert_eq!(block[32..44], [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 2, 1, 0, 0]);
    assert_eq!(block[44..48], checksums::crc32c(&block[..44]).to_le_bytes());
    assert_eq!(plan.header_bytes(), 48 + 16);
}

#[test]
fn trimmed_blocks_are_zeros() {
    assert_eq!(check_zeros(&[0; 512]), Ok(()));
    let mut block = [0; 512];
    block[7] = 1;
    let wrong = check_zeros(&block).expect_err("found");
    assert!(wrong.detail.contains("at byte 7"), "{}", wrong.detail);
}
