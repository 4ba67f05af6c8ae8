//! A block mismatches only if the run, a journal or its header determines the expected content.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use candor_engine::random::Random;
use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{
    Access, Blocks, Engine, Format, Range, ReadBack, Sum, TrimWritten, UnknownBlocks, Verify,
};
use candor_plan::units::{Direction, Extent, Mix, PerDirection, SizeSpec};
use candor_plan::{Bytes, Job, Phase, Plan, Stop, Target};
use candor_record::{Ended, Measurement, VerifyStats};

use crate::common::scratch;

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

const FILE_BYTES: u64 = 512 << 10;
const CRC32C: Format = Format::Acca(Sum::Crc32c);

fn file(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("written");
}

fn phase(path: &Path, jobs: Vec<(Blocks, Stop)>) -> Plan {
    let target = Target { path: path.into(), size: Some(Bytes(FILE_BYTES)), ..Target::default() };
    let targets = vec![target.name.clone()];
    let job = |(nth, (work, stop)): (usize, (Blocks, Stop))| Job {
        name: format!("job{nth}"),
        targets: targets.clone(),
        stop: Some(stop),
        work: work.into(),
        ..Job::default()
    };
    let jobs = jobs.into_iter().enumerate().map(job).collect();
    Plan {
        targets: vec![target],
        phases: vec![Phase { jobs, ..Phase::default() }],
        ..Plan::default()
    }
}

/// Runs a phase; none if the plan cannot be run.
fn try_run(session: &mut Session, plan: &Plan) -> Option<Vec<Measurement>> {
    let problems = candor_plan::check::check(plan);
    if problems.iter().any(|problem| problem.severity == candor_plan::Severity::Error) {
        return None;
    }
    let prepared = Prepared::new(session, &Task::of(plan, 0)).ok()?;
    Some(prepared.run(&AtomicBool::new(false), &mut ()))
}

fn run(session: &mut Session, path: &Path, blocks: Blocks) -> VerifyStats {
    let plan = phase(path, vec![(blocks, Stop::default())]);
    let mut measured = try_run(session, &plan).expect("a plan that runs");
    measured.remove(0).verify.expect("verified")
}

fn passes(passes: u32) -> Stop {
    Stop { passes: Some(passes), ..Stop::default() }
}

/// Random plans of verified work.
struct Draw(Random);

impl Draw {
    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len() as u64) as usize].clone()
    }

    fn size(&mut self, interval: u64) -> SizeSpec {
        let unit = |times: u64| Bytes(interval * times);
        match self.0.below(4) {
            0 => SizeSpec::Fixed(unit(1)),
            1 => SizeSpec::Fixed(unit(3)),
            2 => SizeSpec::Range(unit(1), unit(4)),
            _ => SizeSpec::Weighted(vec![(unit(1), 60), (unit(2), 30), (unit(7), 10)]),
        }
    }

    fn read_back(&mut self) -> Option<ReadBack> {
        let every = self.of(&[0, 0, 7, 16]);
        let batch = if every > 0 { self.of(&[0, 3]) } else { 0 };
        let trims = TrimWritten { percent: 30, every: 8, batch: 0 };
        let trims = self.of(&[None, None, Some(trims)]);
        let back = ReadBack { every, batch, trims, ..ReadBack::default() };
        self.of(&[None, Some(back), Some(back)])
    }

    fn blocks(&mut self) -> Blocks {
        let interval = self.of(&[512, 1024, 2048, 4096, 4096]);
        let engine = self.of(&[Engine::Psync, Engine::LIBAIO, Engine::IO_URING]);
        let mix = |read, write, trim| Mix { read, write, trim };
        let mix = self.of(&[
            mix(50, 50, 0),
            mix(50, 50, 0),
            mix(0, 100, 0),
            mix(100, 0, 0),
            mix(40, 40, 20),
            mix(0, 90, 10),
        ]);
        let access = self.of(&[Access::Permutation, Access::Random, Access::Sequential]);
        let range = Range {
            start: Extent::Bytes(Bytes(self.of(&[0, 0, 64 << 10, 4608]))),
            ..Range::default()
        };
        let zeros_after_trim = self.of(&[false, true]);
        let verify = Verify {
            interval: Bytes(interval),
            format: self.of(&[Format::Own, Format::Own, CRC32C]),
            read_back: if mix.write > 0 { self.read_back() } else { None },
            read_before_write: mix.write > 0 && self.of(&[false, false, true]),
            zeros_after_trim,
            ..Verify::default()
        };
        let verifies = self.of(&[true, true, true, false]);
        Blocks {
            mix,
            access,
            engine,
            range,
            size: PerDirection::all(self.size(interval)),
            depth: if engine == Engine::Psync { 1 } else { self.of(&[1, 4, 16]) },
            serialize_overlap: self.of(&[false, true]),
            verify: verifies.then_some(verify),
            ..Blocks::default()
        }
    }

    fn stop(&mut self) -> Stop {
        let ops = Stop { ops: Some(150), ..Stop::default() };
        self.of(&[passes(1), passes(2), passes(3), ops])
    }
}

/// Sessions of phases of jobs on one file, each session a run that finds the file as the one before
/// left it. Gives the numbers of blocks that were checked, and of those that are unknown.
fn no_false_alarm(path: &Path, seed: u64) -> (u64, u64) {
    let mut draw = Draw(Random::new(seed, 0));
    let mut bytes = vec![0; FILE_BYTES as usize];
    draw.0.fill(&mut bytes);
    file(path, &bytes);
    let (mut checked, mut unknown) = (0, 0);
    for _ in 0..2 {
        let mut session = Session::new(families);
        for _ in 0..3 {
            let count = draw.of(&[1, 1, 2, 3]);
            let jobs = (0..count).map(|_| (draw.blocks(), draw.stop())).collect();
            let plan = phase(path, jobs);
            for measured in try_run(&mut session, &plan).into_iter().flatten() {
                let Some(found) = &measured.verify else { continue };
                let what = || format!("seed {seed}: {:#?}", plan.phases[0].jobs);
                assert_eq!(found.first, [], "{}", what());
                assert_eq!(measured.errors, [], "{}", what());
                checked += found.blocks;
                unknown += found.unknown;
            }
        }
    }
    (checked, unknown)
}

#[test]
fn no_mix_of_sizes_loops_jobs_and_sessions_gives_a_false_alarm() {
    let dir = scratch();
    let path = dir.path().join("file");
    let first = std::env::var("CANDOR_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let count = std::env::var("CANDOR_CASES").ok().and_then(|count| count.parse().ok());
    let cases = first..first + count.unwrap_or(12);
    let sums = cases.map(|seed| no_false_alarm(&path, seed));
    let (checked, unknown) = sums.fold((0, 0), |sum, case| (sum.0 + case.0, sum.1 + case.1));
    assert!(checked > 2_000 && unknown > 200, "{checked} checked, {unknown} unknown");
}

/// A change of a block, given the block before its last write and after it.
#[derive(Clone, Copy, Debug)]
enum Change {
    Flipped,
    Stale,
    Misplaced,
    Torn,
    Zeroed,
}

fn changed(change: Change, old: &[u8], new: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut block = new.to_vec();
    match change {
        Change::Flipped => {
            let bit = random.below(block.len() as u64 * 8) as usize;
            block[bit / 8] ^= 1 << (bit % 8);
        }
        Change::Stale => block.copy_from_slice(old),
        Change::Misplaced => block.copy_from_slice(other),
        Change::Torn => {
            let cut = (1 + random.below(block.len() as u64 / 512 - 1)) as usize * 512;
            block[cut..].copy_from_slice(&old[cut..]);
        }
        Change::Zeroed => block.fill(0),
    }
    block
}

#[test]
fn every_change_of_a_block_that_the_run_wrote_is_found() {
    let dir = scratch();
    let changes = [Change::Flipped, Change::Stale, Change::Misplaced, Change::Torn, Change::Zeroed];
    for (nth, change) in (0..).zip(changes.into_iter().cycle().take(20)) {
        let mut random = Random::new(nth, 5);
        let path = dir.path().join("file");
        file(&path, &vec![7; FILE_BYTES as usize]);
        let mut draw = Draw(Random::new(nth, 6));
        let interval = draw.of(&[1024, 4096, 8192]);
        let verify = Verify {
            interval: Bytes(interval),
            format: draw.of(&[Format::Own, CRC32C]),
            continue_on_mismatch: true,
            unknown: draw.of(&[UnknownBlocks::ByHeader, UnknownBlocks::Check]),
            ..Verify::default()
        };
        let blocks = |draw: &mut Draw, mix, access| Blocks {
            mix,
            access,
            size: PerDirection::all(draw.size(interval)),
            short_last: true,
            verify: Some(verify.clone()),
            ..Blocks::default()
        };
        let mut session = Session::new(families);
        let write = |draw: &mut Draw| {
            let size = PerDirection::all(SizeSpec::Fixed(Bytes(draw.of(&[1, 2, 4]) * interval)));
            Blocks { size, ..blocks(draw, Mix::WRITE, Access::Permutation) }
        };
        let first = write(&mut draw);
        run(&mut session, &path, first);
        let old = fs::read(&path).expect("read");
        let second = write(&mut draw);
        run(&mut session, &path, second);
        let new = fs::read(&path).expect("read");

        let count = FILE_BYTES / interval;
        let (at, elsewhere) = (random.below(count / 2) * interval, count / 2 * interval);
        let of = |at: u64| at as usize..(at + interval) as usize;
        let (old, other) = (&old[of(at)], &new[of(elsewhere)]);
        let block = changed(change, old, &new[of(at)], other, &mut random);
        let open = fs::File::options().write(true).open(&path).expect("opened");
        open.write_all_at(&block, at).expect("changed");
        let read = blocks(&mut draw, Mix::READ, Access::Sequential);
        let found = run(&mut session, &path, read);
        assert_eq!(found.mismatches(), 1, "{change:?} {nth}: {:?} {verify:?}", found.first);
        assert_eq!((found.first[0].offset, found.unknown), (at, 0), "{change:?} {nth}");
        assert_eq!(found.blocks, count);
    }
}

fn reading(verify: Verify) -> Blocks {
    Blocks { mix: Mix::READ, verify: Some(verify), ..Blocks::default() }
}

#[test]
fn bytes_that_no_run_wrote_are_unknown() {
    let dir = scratch();
    let path = dir.path().join("file");
    let mut bytes = vec![0; FILE_BYTES as usize];
    Random::new(3, 0).fill(&mut bytes);
    file(&path, &bytes);
    for format in [Format::Own, CRC32C] {
        let verify = Verify { format, ..Verify::default() };
        let found = run(&mut Session::new(families), &path, reading(verify.clone()));
        assert_eq!((found.blocks, found.mismatches(), found.unknown), (0, 0, FILE_BYTES / 4096));
        // A plan that vouches for its blocks gets the alarm.
        let vouched = Verify { unknown: UnknownBlocks::Check, ..verify };
        let found = run(&mut Session::new(families), &path, reading(vouched));
        assert_eq!((found.blocks, found.foreign), (1, 1));
    }
}

#[test]
fn headers_of_an_earlier_run_tell_what_was_written() {
    let dir = scratch();
    let path = dir.path().join("file");
    for format in [Format::Own, CRC32C] {
        file(&path, &vec![7; FILE_BYTES as usize]);
        let verify = Verify { format, continue_on_mismatch: true, ..Verify::default() };
        let write = Blocks { mix: Mix::WRITE, verify: Some(verify.clone()), ..Blocks::default() };
        run(&mut Session::new(families), &path, write);
        let good = fs::read(&path).expect("read");
        let open = fs::File::options().write(true).open(&path).expect("opened");
        open.write_all_at(&[good[3 * 4096 + 2000] ^ 1], 3 * 4096 + 2000).expect("changed");
        open.write_all_at(&[0; 4096], 5 * 4096).expect("changed");
        open.write_all_at(&good[..4096], 7 * 4096).expect("changed");
        let found = run(&mut Session::new(families), &path, reading(verify));
        let told: Vec<u64> = found.first.iter().map(|wrong| wrong.offset).collect();
        // Headers of other tools do not tell whose block it is.
        let flipped = if format == Format::Own { vec![3 * 4096] } else { vec![] };
        assert_eq!((found.flipped, found.unknown), (flipped.len() as u64, 3 - found.flipped));
        assert_eq!(told, flipped, "{format:?}");
        assert_eq!(found.blocks, FILE_BYTES / 4096 - found.unknown);
    }
}

#[test]
fn a_mix_of_sizes_is_read_back_in_the_sizes_of_its_writes() {
    let dir = scratch();
    let path = dir.path().join("file");
    for seed in 0..8 {
        let mut bytes = vec![0; FILE_BYTES as usize];
        Random::new(seed, 0).fill(&mut bytes);
        file(&path, &bytes);
        let sizes = SizeSpec::Range(Bytes(4096), Bytes(16384));
        let verify = Verify {
            format: CRC32C,
            reads: false,
            read_back: Some(ReadBack::default()),
            unknown: UnknownBlocks::Check,
            ..Verify::default()
        };
        let blocks = Blocks {
            mix: Mix { read: 50, write: 50, trim: 0 },
            access: Access::Permutation,
            size: PerDirection::all(sizes),
            verify: Some(verify),
            ..Blocks::default()
        };
        let plan = Plan { seed, ..phase(&path, vec![(blocks, passes(3))]) };
        let mut session = Session::new(families);
        let measured = try_run(&mut session, &plan).expect("a plan that runs").remove(0);
        let found = measured.verify.as_ref().expect("verified");
        assert_eq!((&found.first[..], measured.ended), (&[][..], Ended::Done), "seed {seed}");
        let (written, back) = (measured.of(Direction::Write), measured.read_back.as_ref());
        let back = back.expect("read back").reads.bytes;
        assert_eq!(written.bytes, back, "seed {seed}: all that was written, and nothing else");
    }
}

#[test]
fn a_job_that_verifies_nothing_makes_its_blocks_unknown() {
    let dir = scratch();
    let path: PathBuf = dir.path().join("file");
    let link = dir.path().join("other name");
    file(&path, &vec![7; FILE_BYTES as usize]);
    std::os::unix::fs::symlink(&path, &link).expect("linked");
    let mut session = Session::new(families);
    let verify = Verify::default;
    let write = Blocks { mix: Mix::WRITE, verify: Some(verify()), ..Blocks::default() };
    run(&mut session, &path, write);
    // Half of the file is written without headers, by its other name.
    let range = Range { start: Extent::Bytes(Bytes(FILE_BYTES / 2)), ..Range::default() };
    let plain = Blocks { mix: Mix::WRITE, range, ..Blocks::default() };
    let mut plan = phase(&link, vec![(plain, Stop::default())]);
    let read = phase(&path, vec![(reading(verify()), Stop::default())]);
    plan.phases.extend(read.phases);
    try_run(&mut session, &plan).expect("a plan that runs");
    let found = run(&mut session, &path, reading(verify()));
    let half = FILE_BYTES / 2 / 4096;
    assert_eq!((found.blocks, found.mismatches(), found.unknown), (half, 0, half));
}
