//! Blocks that are read before they are written again, blocks that are left alone, and journals.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{
    Access, Blocks, Engine, Journal, JournalLog, ReadBack, UnknownBlocks, Verify,
};
use candor_plan::units::{Direction, Mix};
use candor_plan::{Bytes, Job, Phase, Plan, Stop, Target};
use candor_record::{BlockIdentity, Ended, Measurement, MismatchKind, SeenBy};

use crate::common::{FILE_BYTES, plan, run, scratch};

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

const BLOCK: u64 = 4096;
const BLOCKS: u64 = FILE_BYTES / BLOCK;

fn careful() -> Verify {
    let (unknown, mismatches_max) = (UnknownBlocks::Ignore, Some(1_000_000));
    Verify { read_before_write: true, unknown, mismatches_max, times: true, ..Verify::default() }
}

fn writing(verify: Verify) -> Blocks {
    Blocks { mix: Mix::WRITE, verify: Some(verify), ..Blocks::default() }
}

fn reading(verify: Verify) -> Blocks {
    Blocks { verify: Some(verify), ..Blocks::default() }
}

fn file_of(path: &Path) {
    fs::File::create(path).and_then(|file| file.set_len(FILE_BYTES)).expect("made");
}

fn passes(passes: u32) -> Stop {
    Stop { passes: Some(passes), ..Stop::default() }
}

fn clean(measured: &Measurement) -> u64 {
    let found = measured.verify.as_ref().expect("verified");
    assert_eq!((&found.first[..], measured.ended), (&[][..], Ended::Done), "{:?}", measured.errors);
    found.blocks
}

fn reads_before(measured: &Measurement) -> u64 {
    measured.read_back.as_ref().expect("counted apart").reads.ops
}

#[test]
fn each_known_block_is_read_before_it_is_written_again() {
    let dir = scratch();
    for engine in [Engine::Psync, Engine::LIBAIO, Engine::IO_URING, Engine::MMAP] {
        let depth = if engine.is_async() { 16 } else { 1 };
        let path = dir.path().join(engine.name());
        file_of(&path);
        let blocks = Blocks { engine, depth, ..writing(careful()) };
        let measured = run(&mut Session::new(families), &plan(&path, 1, passes(2), blocks));
        assert_eq!(clean(&measured), BLOCKS, "{}", engine.name());
        assert_eq!(measured.of(Direction::Write).ops, 2 * BLOCKS);
        assert_eq!((measured.of(Direction::Read).ops, reads_before(&measured)), (0, BLOCKS));
    }
}

#[test]
fn writers_that_meet_each_other_are_not_accused() {
    let dir = scratch();
    let back = Some(ReadBack { every: 1, ..ReadBack::default() });
    for read_back in [None, back] {
        let path = dir.path().join("file");
        file_of(&path);
        let blocks = Blocks {
            engine: Engine::IO_URING,
            depth: 8,
            access: Access::Random,
            mix: Mix { read: 30, write: 70, trim: 0 },
            ..writing(Verify { read_back, ..careful() })
        };
        let stop = Stop { ops: Some(4000), ..Stop::default() };
        let measured = run(&mut Session::new(families), &plan(&path, 4, stop, blocks));
        assert!(clean(&measured) > 6000, "{:?}", measured.verify);
        let work = measured.of(Direction::Write).ops + measured.of(Direction::Read).ops;
        assert_eq!(work, 16_000, "the reads before writes are not the work's");
    }
}

#[test]
fn a_block_that_does_not_match_is_left_alone() {
    let dir = scratch();
    let path = dir.path().join("file");
    file_of(&path);
    let mut session = Session::new(families);
    let write =
        |session: &mut Session| run(session, &plan(&path, 1, Stop::default(), writing(careful())));
    assert_eq!(clean(&write(&mut session)), 0, "no block was known");
    let file = fs::File::options().read(true).write(true).open(&path).expect("there");
    let block = |number: u64| {
        let mut block = [0; BLOCK as usize];
        file.read_exact_at(&mut block, number * BLOCK).expect("read");
        block
    };
    let mut flipped = block(5);
    flipped[1000] ^= 8;
    file.write_all_at(&flipped, 5 * BLOCK).expect("written");
    let before = [block(4), block(5)];
    let measured = write(&mut session);
    let found = measured.verify.clone().expect("verified");
    assert_eq!((found.blocks, found.flipped, found.mismatches()), (BLOCKS, 1, 1));
    assert_eq!((measured.ended, measured.of(Direction::Write).ops), (Ended::Done, BLOCKS - 1));
    assert!(before[1] == block(5), "the evidence is still there");
    assert!(before[0] != block(4), "its neighbour was written");
    let first = &found.first[0];
    assert_eq!((first.seen_by, first.offset), (SeenBy::ReadBeforeWrite, 5 * BLOCK));
    let (bit, sector) = (1000 % 512 * 8 + 3, 1000 / 512);
    assert_eq!((first.sectors[0].bit, first.sectors[0].sector), (Some(bit), sector));
    assert_eq!(first.expected.and_then(|expected| expected.key), Some(1));
    assert!(first.last_use.is_some_and(|last| last.is_write), "{first:?}");
    // Once is enough: neither reads nor writes come to it again.
    let again = run(&mut session, &plan(&path, 1, Stop::default(), reading(careful())));
    assert_eq!((clean(&again), again.of(Direction::Read).ops), (BLOCKS - 1, BLOCKS - 1));
}

#[test]
fn so_many_mismatches_end_the_job() {
    let dir = scratch();
    let path = dir.path().join("file");
    file_of(&path);
    let mut session = Session::new(families);
    let verify = Verify { mismatches_max: Some(7), ..careful() };
    run(&mut session, &plan(&path, 1, Stop::default(), writing(verify.clone())));
    file_of(&path);
    let measured = run(&mut session, &plan(&path, 1, Stop::default(), writing(verify)));
    let found = measured.verify.expect("verified");
    assert_eq!((measured.ended, found.foreign, found.mismatches()), (Ended::Failed, 7, 7));
}

#[test]
fn a_job_whose_blocks_are_all_bad_still_ends() {
    let dir = scratch();
    let path = dir.path().join("file");
    file_of(&path);
    let mut session = Session::new(families);
    run(&mut session, &plan(&path, 1, Stop::default(), writing(careful())));
    file_of(&path);
    let all = run(&mut session, &plan(&path, 1, Stop::default(), writing(careful())));
    assert_eq!(all.verify.map(|found| found.foreign), Some(BLOCKS));
    let stop = Stop { time: Some(candor_plan::Nanos(50_000_000)), ..Stop::default() };
    let random = Blocks { access: Access::Random, ..writing(careful()) };
    let measured = run(&mut session, &plan(&path, 1, stop, random));
    assert_eq!((measured.ended, measured.of(Direction::Write).ops), (Ended::Time, 0));
}

#[test]
fn blocks_that_are_not_known_are_not_read() {
    let dir = scratch();
    let path = dir.path().join("file");
    file_of(&path);
    let mut session = Session::new(families);
    let stop = Stop { ops: Some(40), ..Stop::default() };
    let some = Blocks { access: Access::Permutation, ..writing(careful()) };
    run(&mut session, &plan(&path, 1, stop, some));
    let skipping = reading(Verify { unknown: UnknownBlocks::Skip, ..careful() });
    let skipped = run(&mut session, &plan(&path, 1, Stop::default(), skipping));
    assert_eq!((clean(&skipped), skipped.of(Direction::Read).ops), (40, 40));
    let ignored = run(&mut session, &plan(&path, 1, Stop::default(), reading(careful())));
    assert_eq!((clean(&ignored), ignored.of(Direction::Read).ops), (40, BLOCKS));
}

#[test]
fn a_block_of_another_file_is_misdirected() {
    let dir = scratch();
    let paths = ["a", "b"].map(|name| dir.path().join(name));
    let target = |path: &std::path::PathBuf| {
        file_of(path);
        let (name, size) = (path.display().to_string(), Some(Bytes(FILE_BYTES)));
        Target { name, path: path.clone(), size, ..Target::default() }
    };
    let targets: Vec<Target> = paths.iter().map(target).collect();
    let names: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
    let phase = |blocks: Blocks| {
        let job = Job { targets: names.clone(), work: blocks.into(), ..Job::default() };
        Phase { jobs: vec![job], ..Phase::default() }
    };
    let plan =
        |blocks| Plan { targets: targets.clone(), phases: vec![phase(blocks)], ..Plan::default() };
    let mut session = Session::new(families);
    run(&mut session, &plan(writing(careful())));
    let mut block = [0; BLOCK as usize];
    fs::File::open(&paths[0]).and_then(|a| a.read_exact_at(&mut block, 8192)).expect("read");
    let b = fs::File::options().write(true).open(&paths[1]).expect("there");
    b.write_all_at(&block, 8192).expect("written");
    let found = run(&mut session, &plan(reading(careful()))).verify.expect("verified");
    let first = &found.first[0];
    assert_eq!((found.mismatches(), first.kind), (1, MismatchKind::Misdirected), "{first:?}");
    assert!(first.detail.ends_with(&format!("of `{}`", paths[0].display())), "{first:?}");
    assert_eq!(first.path, paths[1].display().to_string());
    let is_same_place = |of: Option<BlockIdentity>| of.is_some_and(|of| of.offset == 8192);
    assert!(is_same_place(first.found) && is_same_place(first.expected));
}

/// A plan whose blocks are in a journal.
fn journaled(dir: &Path, log: JournalLog, recover: bool) -> Verify {
    let directory = dir.join("journal");
    let journal = Some(Journal { directory, log, recover, ..Journal::default() });
    Verify { journal, ..careful() }
}

#[test]
fn a_later_session_knows_what_was_written() {
    let dir = scratch();
    let path = dir.path().join("file");
    for (log, depth) in
        [(JournalLog::Flushed, 4), (JournalLog::Unflushed, 16), (JournalLog::Nothing, 1)]
    {
        file_of(&path);
        let stop = Stop { ops: Some(200), ..Stop::default() };
        let random = |recover| Blocks {
            engine: Engine::IO_URING,
            access: Access::Random,
            depth,
            ..writing(journaled(dir.path(), log, recover))
        };
        let wrote = run(&mut Session::new(families), &plan(&path, 2, stop.clone(), random(false)));
        clean(&wrote);
        let spent = wrote.verify.expect("verified").journal;
        match log {
            JournalLog::Nothing => assert_eq!(spent, None),
            _ => {
                let spent = spent.expect("logged");
                assert_eq!((spent.records, spent.pending), (800, 0));
                assert!((20..=802).contains(&spent.writes), "{spent:?}");
                assert!(spent.elapsed_ns > 0);
            }
        }
        // Another session goes on, and reads what is known first.
        let mut session = Session::new(families);
        let known =
            reading(Verify { unknown: UnknownBlocks::Skip, ..journaled(dir.path(), log, true) });
        let read = run(&mut session, &plan(&path, 1, Stop::default(), known.clone()));
        let blocks = clean(&read);
        assert!((250..400).contains(&blocks), "{blocks}");
        let on = run(&mut session, &plan(&path, 2, stop, random(true)));
        assert!(clean(&on) > 50 && reads_before(&on) > 50);
        drop(session);
        // A write that was lost meanwhile is found.
        let file = fs::File::options().write(true).open(&path).expect("there");
        file.write_all_at(&[0; 2 * BLOCK as usize], 0).expect("written");
        let lost = run(&mut Session::new(families), &plan(&path, 1, Stop::default(), known));
        let found = lost.verify.expect("verified");
        assert!(found.foreign <= 2 && found.mismatches() == found.foreign, "{found:?}");
        assert!(found.blocks >= blocks, "{found:?}");
    }
}

#[test]
fn a_journal_that_cannot_be_written_ends_the_job() {
    let dir = scratch();
    let path = dir.path().join("file");
    file_of(&path);
    fs::write(dir.path().join("journal"), "a file").expect("written");
    let blocks = writing(journaled(dir.path(), JournalLog::Flushed, false));
    let plan = plan(&path, 1, Stop::default(), blocks);
    let refused = Prepared::new(&mut Session::new(families), &Task::of(&plan, 0));
    let refused = refused.err().expect("refused").to_string();
    assert!(refused.contains("cannot make the journal"), "{refused}");
}
