//! Reading back, and headers that other tools write and read.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{
    Access, Blocks, Content, Engine, Fill, Format, HeaderVersion, LastWrite, Pattern, ReadBack,
    Share, Sum, TrimWritten, UnknownBlocks, Verify,
};
use candor_plan::units::{Direction, Mix, PerDirection, SizeSpec};
use candor_plan::{Bytes, Job, Phase, Plan, Stop, Target};
use candor_record::{Ended, Measurement};

use crate::common;

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

const FILE_BYTES: u64 = 1 << 20;
const BLOCK: u64 = 4096;
const FIO: &str = "/usr/bin/fio";

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch directory")
}

fn run_with(session: &mut Session, path: &Path, stop: Stop, blocks: Blocks) -> Measurement {
    let open = std::fs::File::options().create(true).append(true).open(path).expect("made");
    if open.metadata().expect("there").len() < FILE_BYTES {
        open.set_len(FILE_BYTES).expect("grown");
    }
    let target = Target { path: path.into(), size: Some(Bytes(FILE_BYTES)), ..Target::default() };
    let targets = vec![target.name.clone()];
    let job = Job { targets, work: blocks.into(), ..Job::default() };
    let phase = Phase { stop, jobs: vec![job], ..Phase::default() };
    let plan = Plan { targets: vec![target], phases: vec![phase], ..Plan::default() };
    let problems = candor_plan::check::check(&plan);
    let errors: Vec<_> =
        problems.iter().filter(|p| p.severity == candor_plan::Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let prepared = Prepared::new(session, &Task::of(&plan, 0)).expect("prepared");
    prepared.run(&AtomicBool::new(false), &mut ()).remove(0)
}

fn run(path: &Path, stop: Stop, blocks: Blocks) -> Measurement {
    run_with(&mut Session::new(families), path, stop, blocks)
}

/// Writes that are read back.
fn writing(format: Format, read_back: ReadBack) -> Blocks {
    let verify = Verify { format, read_back: Some(read_back), ..Verify::default() };
    Blocks { mix: Mix::WRITE, verify: Some(verify), ..Blocks::default() }
}

fn all_intact(measured: &Measurement) -> u64 {
    let found = measured.verify.as_ref().expect("verified");
    assert_eq!(found.first, [], "{:?}", measured.errors);
    assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
    found.blocks
}

fn read_back(measured: &Measurement) -> u64 {
    measured.read_back.as_ref().expect("read back").reads.ops
}

const CRC32C: Format = Format::Acca(Sum::Crc32c);

#[test]
fn what_was_written_is_read_back_through_every_engine() {
    let dir = scratch();
    for engine in [Engine::Psync, Engine::PVSYNC, Engine::LIBAIO, Engine::IO_URING, Engine::MMAP] {
        for (access, format) in [(Access::Sequential, Format::Own), (Access::Permutation, CRC32C)] {
            let depth = if engine.is_async() { 16 } else { 1 };
            let blocks = Blocks { engine, depth, access, ..writing(format, ReadBack::default()) };
            let path = dir.path().join(engine.name());
            let measured = run(&path, Stop::default(), blocks);
            assert_eq!(all_intact(&measured), FILE_BYTES / BLOCK, "{engine:?}");
            assert_eq!(measured.of(Direction::Write).ops, FILE_BYTES / BLOCK);
            assert_eq!(
                (measured.of(Direction::Read).ops, read_back(&measured)),
                (0, FILE_BYTES / BLOCK)
            );
            let back = measured.read_back.expect("read back");
            assert_eq!(back.reads.latency.map(|l| l.count), Some(FILE_BYTES / BLOCK));
            assert!(back.elapsed_ns > 0 && measured.elapsed_ns > 0);
        }
    }
}

#[test]
fn the_first_end_is_not_known_where_workers_read_back_after_their_work() {
    // The first worker ends after it has read back. What the others wrote meanwhile was set
    // against the time of its writes alone.
    let dir = scratch();
    let blocks = Blocks { share: Share::Slice, ..writing(CRC32C, ReadBack::default()) };
    let path = dir.path().join("file");
    let plan = common::plan(&path, 2, Stop::default(), blocks);
    std::fs::write(&path, vec![0; common::FILE_BYTES as usize]).expect("written");
    let measured = common::run(&mut Session::new(families), &plan);
    assert_eq!((measured.ended, measured.first_done), (Ended::Done, None));
}

#[test]
fn blocks_written_twice_are_read_back_once() {
    let dir = scratch();
    let blocks = Blocks {
        access: Access::Random,
        engine: Engine::IO_URING,
        depth: 8,
        ..writing(CRC32C, ReadBack::default())
    };
    let stop = Stop { ops: Some(FILE_BYTES / BLOCK), ..Stop::default() };
    let measured = run(&dir.path().join("file"), stop, blocks);
    let blocks = all_intact(&measured);
    // Random writes hit a share of 1 - 1/e of the blocks.
    assert!((130..190).contains(&blocks), "{blocks}");
    assert_eq!(read_back(&measured), blocks);
}

#[test]
fn mixed_work_reads_back_only_its_writes() {
    let dir = scratch();
    let mut blocks = Blocks {
        mix: Mix { read: 50, write: 50, trim: 0 },
        access: Access::Permutation,
        ..writing(Format::Acca(Sum::Md5), ReadBack::default())
    };
    // Bytes of unknown origin are not checked.
    blocks.verify.as_mut().expect("there").reads = false;
    let measured = run(&dir.path().join("file"), Stop::default(), blocks);
    assert_eq!(all_intact(&measured), measured.of(Direction::Write).ops);
    assert_eq!(
        measured.of(Direction::Read).ops + measured.of(Direction::Write).ops,
        FILE_BYTES / BLOCK
    );
    assert_eq!(read_back(&measured), measured.of(Direction::Write).ops);
}

#[test]
fn reading_back_meanwhile_ends_with_everything_read() {
    let dir = scratch();
    for (every, batch) in [(16, 0), (16, 4), (16, 32), (1, 0)] {
        for (engine, depth) in [(Engine::Psync, 1), (Engine::IO_URING, 8)] {
            let back = ReadBack { every, batch, ..ReadBack::default() };
            let access = Access::Permutation;
            let blocks = Blocks { engine, depth, access, ..writing(CRC32C, back) };
            let measured = run(&dir.path().join("file"), Stop::default(), blocks);
            assert_eq!(all_intact(&measured), FILE_BYTES / BLOCK, "{every} {batch}");
            assert_eq!(read_back(&measured), FILE_BYTES / BLOCK);
        }
    }
}

#[test]
fn some_of_what_was_written_is_trimmed_and_reads_as_zeros() {
    let dir = scratch();
    for (zeros, engine, depth) in [(true, Engine::Psync, 1), (false, Engine::IO_URING, 8)] {
        let path = dir.path().join(engine.name());
        let trims = Some(TrimWritten { percent: 40, every: 16, batch: 0 });
        let back = ReadBack { trims, ..ReadBack::default() };
        let access = Access::Permutation;
        let mut blocks = Blocks { engine, depth, access, ..writing(CRC32C, back) };
        blocks.verify.as_mut().expect("there").zeros_after_trim = zeros;
        let measured = run(&path, Stop::default(), blocks);
        let (all, trimmed) = (FILE_BYTES / BLOCK, measured.of(Direction::Trim).ops);
        assert!(trimmed > all / 4 && trimmed < all / 2, "{trimmed} of {all}");
        assert_eq!(measured.of(Direction::Write).ops, all);
        let checked = if zeros { all } else { all - trimmed };
        assert_eq!((all_intact(&measured), read_back(&measured)), (checked, checked));
        let bytes = std::fs::read(&path).expect("read");
        let holes = bytes.chunks(BLOCK as usize).filter(|block| block.iter().all(|b| *b == 0));
        assert_eq!(holes.count() as u64, trimmed);
    }
}

#[test]
fn each_pass_is_read_back_before_the_next() {
    let dir = scratch();
    let stop = Stop { passes: Some(3), ..Stop::default() };
    let blocks = writing(CRC32C, ReadBack::default());
    let measured = run(&dir.path().join("file"), stop, blocks);
    assert_eq!(all_intact(&measured), 3 * FILE_BYTES / BLOCK);
    assert_eq!(measured.of(Direction::Write).ops, 3 * FILE_BYTES / BLOCK);
}

#[test]
fn data_of_an_earlier_run_is_checked_without_writing() {
    let dir = scratch();
    let path = dir.path().join("file");
    let size = PerDirection::all(SizeSpec::Fixed(Bytes(16384)));
    let first = Blocks { size: size.clone(), ..writing(CRC32C, ReadBack::default()) };
    all_intact(&run(&path, Stop::default(), first));
    let before = std::fs::read(&path).expect("read");
    let only = ReadBack { only: true, ..ReadBack::default() };
    let measured = run(&path, Stop::default(), Blocks { size, ..writing(CRC32C, only) });
    assert_eq!(all_intact(&measured), FILE_BYTES / BLOCK);
    assert_eq!(measured.of(Direction::Write).ops, 0);
    assert_eq!(std::fs::read(&path).expect("read"), before);
}

/// Writes at random, of which a third hits a block again.
fn overlapping(back: Option<ReadBack>, dry_run: Option<LastWrite>) -> Blocks {
    let verify = Verify { format: CRC32C, read_back: back, dry_run, ..Verify::default() };
    let access = Access::Random;
    Blocks { mix: Mix::WRITE, access, verify: Some(verify), ..Blocks::default() }
}

#[test]
fn a_lost_write_is_found_in_data_of_an_earlier_run() {
    let dir = scratch();
    let path = dir.path().join("file");
    let ops = |ops| Stop { ops: Some(ops), ..Stop::default() };
    let all = FILE_BYTES / BLOCK;
    let write = || overlapping(Some(ReadBack::default()), None);
    all_intact(&run(&path, ops(all / 2), write()));
    let earlier = std::fs::read(&path).expect("read");
    all_intact(&run(&path, ops(all), write()));
    let look = |by, ops| {
        let only = Some(ReadBack { only: true, ..ReadBack::default() });
        run(&path, ops, overlapping(only, by))
    };
    for by in [None, Some(LastWrite::Seed), Some(LastWrite::Number), Some(LastWrite::Both)] {
        assert_eq!(all_intact(&look(by, ops(all))), all, "{by:?}");
    }
    // A block that was written in the first half and again in the second.
    let later = std::fs::read(&path).expect("read");
    let number = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at + 32..at + 40].try_into().expect("8 bytes"))
    };
    let mut blocks = (0..FILE_BYTES as usize).step_by(BLOCK as usize);
    let lost = blocks
        .find(|at| {
            earlier[*at..*at + 2] == [0xca, 0xac] && number(&earlier, *at) < number(&later, *at)
        })
        .expect("a block was written twice");
    let file = std::fs::File::options().write(true).open(&path).expect("opened");
    file.write_all_at(&earlier[lost..lost + BLOCK as usize], lost as u64).expect("put back");
    assert_eq!(look(None, ops(all)).ended, Ended::Done, "whole blocks of any write pass");
    for (by, what) in [(LastWrite::Seed, "rand_seed"), (LastWrite::Number, "numberio")] {
        let found = look(Some(by), ops(all)).verify.expect("verified");
        assert_eq!((found.stale, found.first[0].offset), (1, lost as u64), "{by:?}");
        let detail = &found.first[0].detail;
        assert!(detail.starts_with(&format!("verify: bad header {what}")), "{detail}");
    }
}

#[test]
fn damage_fails_the_job_and_is_dumped() {
    let dir = scratch();
    let path = dir.path().join("file");
    all_intact(&run(&path, Stop::default(), writing(CRC32C, ReadBack::default())));
    let file = std::fs::File::options().write(true).open(&path).expect("opened");
    let good = std::fs::read(&path).expect("read");
    file.write_all_at(&[good[8192 + 3000] ^ 1], 8192 + 3000).expect("damaged");
    file.write_all_at(&[0], 16384).expect("damaged");
    let read = |continue_on_mismatch| {
        let dump = Some(dir.path().to_path_buf());
        let verify = Verify {
            format: CRC32C,
            dump,
            continue_on_mismatch,
            unknown: UnknownBlocks::Check,
            ..Verify::default()
        };
        run(&path, Stop::default(), Blocks { verify: Some(verify), ..Blocks::default() })
    };
    let measured = read(false);
    let found = measured.verify.expect("verified");
    assert_eq!((measured.ended, found.flipped), (Ended::Failed, 1));
    let first = &found.first[0];
    assert_eq!((first.offset, first.read_offset, first.read_length), (8192, 8192, Bytes(4096)));
    assert!(first.detail.starts_with("crc32c: verify failed; Expected CRC: "), "{first:?}");
    let dumped = |name: &str| std::fs::read(dir.path().join(name)).expect(name);
    assert_eq!(dumped("file.8192.expected"), good[8192..12288]);
    assert_ne!(dumped("file.8192.received"), good[8192..12288]);
    let measured = read(true);
    let found = measured.verify.expect("verified");
    assert_eq!((measured.ended, found.flipped, found.foreign), (Ended::Done, 1, 1));
    assert_eq!(found.blocks, FILE_BYTES / BLOCK);
    assert_eq!(dumped("file.16384.hdr_fail").len(), 4096);
}

/// Formats that fio knows, with fio's names of them.
fn known_to_fio() -> Vec<(Format, &'static str)> {
    let name = |sum: Sum| match sum {
        Sum::None => "meta",
        Sum::Md5 => "md5",
        Sum::Crc7 => "crc7",
        Sum::Crc16 => "crc16",
        Sum::Crc32 => "crc32",
        Sum::Crc32c => "crc32c",
        Sum::Crc64 => "crc64",
        Sum::Xxhash => "xxhash",
        Sum::Sha1 => "sha1",
        Sum::Sha256 => "sha256",
        Sum::Sha512 => "sha512",
        Sum::Sha3_224 => "sha3-224",
        Sum::Sha3_256 => "sha3-256",
        Sum::Sha3_384 => "sha3-384",
        Sum::Sha3_512 => "sha3-512",
        Sum::Pattern => "pattern_hdr",
    };
    let sums = Sum::ALL.into_iter().filter(|sum| *sum != Sum::Pattern);
    let headers = sums.map(|sum| (Format::Acca(sum), name(sum)));
    headers.chain([(Format::Pattern, "pattern")]).collect()
}

/// Runs all these jobs in one fio, and expects success without output.
fn fio(dir: &Path, jobs: &[Vec<String>]) {
    let arguments = jobs.iter().flatten();
    let output = Command::new(FIO)
        .current_dir(dir)
        .arg("--output=report")
        .args(arguments)
        .output()
        .expect("fio runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.is_empty(), "{errors}");
}

/// Block size, interval, offset of the header, and a pattern.
const SHAPES: [Shape; 5] = [
    (4096, 4096, 0, None),
    (8192, 1024, 0, Some("deadbeef")),
    (4096, 2048, 512, None),
    (16384, 16384, 4000, Some("%o0102ff")),
    (3072, 1536, 0, None),
];

type Shape = (u64, u64, u64, Option<&'static str>);

/// Arguments of a fio job that does the same as [`blocks_of`].
fn in_fio(kind: &str, (bs, interval, at, pattern): Shape, file: &str, rw: &str) -> Vec<String> {
    let mut job = vec![
        format!("--name={file}"),
        format!("--filename={file}"),
        format!("--size={FILE_BYTES}"),
        format!("--bs={bs}"),
        format!("--rw={rw}"),
        format!("--verify={kind}"),
        "--do_verify=0".into(),
    ];
    if kind != "pattern" {
        job.push(format!("--verify_interval={interval}"));
    }
    if at > 0 {
        job.push(format!("--verify_offset={at}"));
    }
    if let Some(pattern) = pattern {
        // fio writes candor's hexadecimal digits around %o in another way.
        let pattern = match pattern.strip_prefix("%o") {
            None => format!("0x{pattern}"),
            Some(rest) => format!("%o0x{rest}"),
        };
        job.push(format!("--verify_pattern={pattern}"));
    }
    job
}

fn blocks_of(format: Format, (bs, interval, at, pattern): Shape) -> Blocks {
    let pattern: Option<Pattern> = pattern.map(|text| text.parse().expect("a pattern"));
    let fill = if pattern.is_some() { Fill::Pattern } else { Fill::Pool };
    let verify =
        Verify { format, interval: Bytes(interval), header_at: Bytes(at), ..Verify::default() };
    Blocks {
        size: PerDirection::all(SizeSpec::Fixed(Bytes(bs))),
        content: Content { fill, pattern, ..Content::default() },
        verify: Some(verify),
        ..Blocks::default()
    }
}

#[test]
fn what_fio_wrote_verifies_here_and_the_other_way_round() {
    if !Path::new(FIO).exists() {
        eprintln!("skipped: there is no {FIO} to compare with");
        return;
    }
    let dir = scratch();
    let mut cases = Vec::new();
    for (format, kind) in known_to_fio() {
        for (index, (bs, interval, at, pattern)) in SHAPES.into_iter().enumerate() {
            let headless = format == Format::Pattern;
            if !headless || (pattern.is_some() && at == 0) {
                let interval = if headless { bs } else { interval };
                cases.push((format, kind, (bs, interval, at, pattern), format!("{kind}.{index}")));
            }
        }
    }
    let jobs = |rw: &str| -> Vec<_> {
        cases.iter().map(|(_, kind, shape, file)| in_fio(kind, *shape, file, rw)).collect()
    };
    fio(dir.path(), &jobs("write"));
    for (format, _, shape, file) in &cases {
        let path = dir.path().join(file);
        let measured = run(&path, Stop::default(), blocks_of(*format, *shape));
        let found = measured.verify.as_ref().expect("verified");
        assert_eq!((&found.first[..], measured.ended), (&[][..], Ended::Done), "{file}");
        assert_eq!(found.blocks, FILE_BYTES / shape.0 * (shape.0 / shape.1), "{file}");

        std::fs::remove_file(&path).expect("removed");
        let mut blocks = Blocks { mix: Mix::WRITE, ..blocks_of(*format, *shape) };
        blocks.verify.as_mut().expect("there").header_version = HeaderVersion::Unversioned;
        assert_eq!(run(&path, Stop::default(), blocks).ended, Ended::Done);
    }
    fio(dir.path(), &jobs("read"));
}
