//! The same work through every engine, on a real file.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::common::{FILE_BYTES, lay_out, plan, run, scratch};
use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{Access, Blocks, Durability, Engine, Pace, SegmentDeal, Share, Verify};
use candor_plan::units::{Direction, Mix, PerDirection, SizeSpec};
use candor_plan::work::Figure;
use candor_plan::{Bytes, Nanos, OpsPerSec, Stop};
use candor_record::{Ended, Measurement};

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

const BLOCK: u64 = 4096;

fn depth_of(engine: Engine) -> u32 {
    if engine.takes_many() { 16 } else { 1 }
}

/// Engines that move bytes of files, or report that they did.
fn movers() -> impl Iterator<Item = Engine> {
    let moves = |engine: &Engine| engine.moves_bytes() || *engine == Engine::Null;
    let in_files = |engine: &Engine| !engine.is_passthrough() && *engine != Engine::HTTP;
    Engine::ALL.into_iter().filter(move |engine| moves(engine) && in_files(engine))
}

#[test]
fn every_engine_moves_every_byte_once() {
    let dir = scratch();
    let path = dir.path().join("file");
    let mut session = Session::new(families);
    lay_out(&mut session, &path, None);
    for engine in movers() {
        for (mix, direct) in [(Mix::WRITE, false), (Mix::READ, false), (Mix::READ, true)] {
            let direct = direct && !matches!(engine, Engine::MMAP | Engine::Null);
            let blocks = Blocks {
                engine,
                mix,
                direct,
                depth: depth_of(engine),
                access: Access::Permutation,
                share: Share::Slice,
                ..Blocks::default()
            };
            let measured = run(&mut session, &plan(&path, 3, Stop::default(), blocks));
            assert_eq!(measured.ended, Ended::Done, "{engine:?} {mix} {:?}", measured.errors);
            assert_eq!(measured.bytes_moved(), FILE_BYTES, "{engine:?} {mix}");
            assert_eq!(measured.ops_done(), FILE_BYTES / 4096, "{engine:?} {mix}");
            let stats = if mix == Mix::READ {
                measured.of(Direction::Read)
            } else {
                measured.of(Direction::Write)
            };
            assert_eq!(stats.latency.as_ref().map(|l| l.count), Some(FILE_BYTES / 4096));
        }
    }
}

#[test]
fn written_data_verifies_through_every_engine_and_mix() {
    let dir = scratch();
    let verify = Verify::default();
    for engine in movers().filter(|engine| *engine != Engine::Null) {
        let path = dir.path().join(engine.name());
        let mut session = Session::new(families);
        lay_out(&mut session, &path, Some(verify.clone()));
        let blocks = Blocks {
            engine,
            depth: depth_of(engine),
            mix: Mix { read: 50, write: 50, trim: 0 },
            access: Access::Random,
            size: PerDirection::all(SizeSpec::Range(Bytes(4096), Bytes(16384))),
            verify: Some(verify.clone()),
            ..Blocks::default()
        };
        let stop = Stop { ops: Some(3000), ..Stop::default() };
        let measured = run(&mut session, &plan(&path, 2, stop, blocks));
        let found = measured.verify.expect("verified");
        assert!(found.blocks > 1000, "{engine:?}: {found:?}");
        assert_eq!((found.first.len(), measured.ended), (0, Ended::Done), "{found:?}");
    }
}

#[test]
fn time_ramp_and_samples() {
    let dir = scratch();
    let path = dir.path().join("file");
    let blocks = Blocks { engine: Engine::Null, depth: 8, ..Blocks::default() };
    let stop = Stop { time: Some(Nanos(1_200_000_000)), ..Stop::default() };
    let mut plan = plan(&path, 1, stop, blocks);
    plan.phases[0].ramp = Nanos(300_000_000);
    let measured = run(&mut Session::new(families), &plan);
    let seconds = measured.elapsed_ns as f64 / 1e9;
    assert!((1.19..1.5).contains(&seconds), "{seconds} s");
    assert_eq!(measured.ended, Ended::Time);
    let sampled: u64 = measured.samples.iter().map(|s| s.ops(Direction::Read)).sum();
    let counted = measured.of(Direction::Read).ops;
    assert!(sampled <= counted && sampled > counted / 2, "{sampled} of {counted}");
    assert_eq!(measured.of(Direction::Read).latency.as_ref().map(|l| l.count), Some(counted));
}

#[test]
fn rates_hold_on_every_engine() {
    let dir = scratch();
    let path = dir.path().join("file");
    let mut session = Session::new(families);
    lay_out(&mut session, &path, None);
    for engine in movers() {
        let blocks = Blocks {
            engine,
            depth: depth_of(engine),
            access: Access::Random,
            pace: Pace { ops: Some(OpsPerSec(400)), ..Pace::default() },
            ..Blocks::default()
        };
        let stop = Stop { time: Some(Nanos(1_000_000_000)), ..Stop::default() };
        let measured = run(&mut session, &plan(&path, 2, stop, blocks));
        let ops = measured.ops_done();
        assert!((380..=402).contains(&ops), "{engine:?}: {ops} operations at 400 a second");
        let intended =
            measured.of(Direction::Read).from_intended.as_ref().expect("recorded under a rate");
        let service = measured.of(Direction::Read).latency.as_ref().expect("recorded").mean_ns;
        assert!(intended.mean_ns >= service, "{engine:?}");
    }
}

#[test]
fn flushes_come_after_every_n_writes() {
    let dir = scratch();
    for engine in [Engine::Psync, Engine::LIBAIO, Engine::IO_URING, Engine::MMAP] {
        let path = dir.path().join(engine.name());
        let mut session = Session::new(families);
        lay_out(&mut session, &path, None);
        let blocks = Blocks {
            engine,
            depth: depth_of(engine),
            mix: Mix::WRITE,
            durability: Durability { fsync_every: 10, fsync_at_end: true, ..Default::default() },
            ..Blocks::default()
        };
        let stop = Stop { ops: Some(100), ..Stop::default() };
        let measured = run(&mut session, &plan(&path, 1, stop, blocks));
        assert_eq!(measured.figure(Figure::Flush).ops, 10, "{engine:?} {:?}", measured.errors);
        assert!(measured.elapsed_with_flush_ns >= Some(measured.elapsed_ns), "{engine:?}");
    }
}

#[test]
fn reading_past_the_end_is_a_failure_with_a_sentence() {
    let dir = scratch();
    let path = dir.path().join("file");
    std::fs::write(&path, [0; 8192]).expect("written");
    for engine in [Engine::Psync, Engine::IO_URING, Engine::MMAP] {
        let blocks = Blocks { engine, ..Blocks::default() };
        let measured = run(&mut Session::new(families), &plan(&path, 1, Stop::default(), blocks));
        assert_eq!(measured.ended, Ended::Failed, "{engine:?}");
        assert_eq!(measured.errors.len(), 1, "{:?}", measured.errors);
        assert_eq!(measured.errors[0].offset, 8192);
    }
}

#[test]
fn trims_punch_holes() {
    let dir = scratch();
    let path = dir.path().join("file");
    let mut session = Session::new(families);
    lay_out(&mut session, &path, None);
    let blocks = Blocks { mix: Mix::TRIM, engine: Engine::IO_URING, ..Blocks::default() };
    let measured = run(&mut session, &plan(&path, 1, Stop::default(), blocks));
    assert_eq!(measured.of(Direction::Trim).bytes, FILE_BYTES, "{:?}", measured.errors);
    use std::os::unix::fs::MetadataExt;
    assert_eq!(path.metadata().expect("there").blocks(), 0);
}

#[test]
fn five_hundred_and_twelve_workers_start() {
    let dir = scratch();
    let path = dir.path().join("file");
    let mut session = Session::new(families);
    lay_out(&mut session, &path, None);
    let blocks = Blocks { engine: Engine::Psync, access: Access::Random, ..Blocks::default() };
    let stop = Stop { ops: Some(4), ..Stop::default() };
    let measured = run(&mut session, &plan(&path, 512, stop, blocks));
    assert_eq!(measured.ops_done(), 2048);
    assert!(measured.first_done.is_some_and(|first| first.ops <= 2048));
}

#[test]
fn a_user_who_stops_gets_what_was_done() {
    let dir = scratch();
    let path = dir.path().join("file");
    let blocks = Blocks { engine: Engine::Null, ..Blocks::default() };
    let stop = Stop { time: Some(Nanos::from_secs(600)), ..Stop::default() };
    let plan = plan(&path, 2, stop, blocks);
    let prepared =
        Prepared::new(&mut Session::new(families), &Task::of(&plan, 0)).expect("prepared");
    static STOP: AtomicBool = AtomicBool::new(false);
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        STOP.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let measured = prepared.run(&STOP, &mut ()).remove(0);
    assert_eq!(measured.ended, Ended::Interrupted);
    assert!(measured.ops_done() > 0);
}

/// Verified writes, then `mix` on the same file: one measurement each.
fn verified(session: &mut Session, path: &Path, size: u64, mix: Mix) -> Measurement {
    let verify = Verify { continue_on_mismatch: true, ..Verify::default() };
    let blocks = Blocks {
        mix,
        engine: Engine::IO_URING,
        depth: 8,
        verify: Some(verify.clone()),
        access: Access::Permutation,
        share: Share::Slice,
        ..Blocks::default()
    };
    let mut plan = plan(path, 2, Stop::default(), blocks);
    plan.targets[0].size = Some(Bytes(size));
    run(session, &plan)
}

#[test]
fn a_thousand_corruptions_of_each_kind_in_one_file_are_found_and_no_other() {
    use std::os::unix::fs::FileExt;
    const EACH: u64 = 1000;
    let blocks = 8 * EACH;
    let dir = scratch();
    let path = dir.path().join("file");
    let mut session = Session::new(families);
    std::fs::File::create_new(&path).expect("created");
    verified(&mut session, &path, blocks * BLOCK, Mix::WRITE);
    let older = std::fs::read(&path).expect("the first generation");
    verified(&mut session, &path, blocks * BLOCK, Mix::WRITE);
    let clean = verified(&mut session, &path, blocks * BLOCK, Mix::READ).verify.expect("verified");
    assert_eq!((clean.blocks, clean.first.len()), (blocks, 0), "{clean:?}");
    let good = std::fs::read(&path).expect("the second generation");
    let file = std::fs::File::options().write(true).open(&path).expect("opened");
    let mut random = candor_engine::random::Random::new(1, 1);
    // Kinds alternate; every second block stays as it is.
    for k in 0..EACH {
        let at = |kind: u64| (k * 8 + kind * 2) * BLOCK;
        let block = |from: &[u8], at: u64| from[at as usize..][..BLOCK as usize].to_vec();
        let mut flipped = block(&good, at(0));
        let bit = random.below(BLOCK * 8);
        flipped[(bit / 8) as usize] ^= 1 << (bit % 8);
        let cut = (1 + random.below(7)) as usize * 512;
        let torn = [&block(&good, at(1))[..cut], &block(&older, at(1))[cut..]].concat();
        let misdirected = block(&good, at(1));
        let stale = block(&older, at(3));
        for (kind, bytes) in [flipped, torn, misdirected, stale].iter().enumerate() {
            file.write_all_at(bytes, at(kind as u64)).expect("corrupted");
        }
    }
    let found = verified(&mut session, &path, blocks * BLOCK, Mix::READ).verify.expect("verified");
    let counts = [found.flipped, found.torn, found.misdirected, found.stale, found.foreign];
    assert_eq!((found.blocks, counts), (blocks, [EACH, EACH, EACH, EACH, 0]));
}

#[test]
fn a_ramp_uses_none_of_the_budget() {
    let dir = scratch();
    let blocks = Blocks { engine: Engine::Null, depth: 4, ..Blocks::default() };
    let stop = Stop { ops: Some(1000), ..Stop::default() };
    let mut plan = plan(&dir.path().join("file"), 2, stop, blocks);
    plan.phases[0].ramp = Nanos(100_000_000);
    let measured = run(&mut Session::new(families), &plan);
    assert_eq!((measured.ops_done(), measured.ended), (2000, Ended::Done));
}

#[test]
fn a_delayed_job_starts_later_and_is_not_charged_for_it() {
    let dir = scratch();
    let blocks = Blocks { engine: Engine::Null, ..Blocks::default() };
    let stop = Stop { ops: Some(10), ..Stop::default() };
    let mut plan = plan(&dir.path().join("file"), 1, stop, blocks);
    plan.phases[0].jobs[0].delay = Nanos(200_000_000);
    let before = std::time::Instant::now();
    let measured = run(&mut Session::new(families), &plan);
    assert!(before.elapsed() >= std::time::Duration::from_millis(200));
    assert!(measured.elapsed_ns < 100_000_000 && measured.ops_done() == 10, "{measured:?}");
}

#[test]
fn trimmed_blocks_are_no_mismatch() {
    let dir = scratch();
    let path = dir.path().join("file");
    let verify = Verify::default();
    let mut session = Session::new(families);
    lay_out(&mut session, &path, Some(verify.clone()));
    let blocks = Blocks {
        engine: Engine::IO_URING,
        depth: 8,
        mix: Mix { read: 60, write: 25, trim: 15 },
        access: Access::Random,
        verify: Some(verify.clone()),
        ..Blocks::default()
    };
    let stop = Stop { ops: Some(3000), ..Stop::default() };
    let measured = run(&mut session, &plan(&path, 2, stop, blocks));
    assert_eq!(measured.ended, Ended::Done, "{:?} {:?}", measured.verify, measured.errors);
    assert!(measured.of(Direction::Trim).ops > 500);
}

#[test]
fn work_that_leaves_its_range_is_refused() {
    let dir = scratch();
    let path = dir.path().join("file");
    let mut session = Session::new(families);
    lay_out(&mut session, &path, None);
    let blocks = Blocks {
        share: Share::Segments { block: Bytes(1 << 20), count: 5, deal: SegmentDeal::ByRank },
        ..Blocks::default()
    };
    let plan = plan(&path, 1, Stop::default(), blocks);
    let refused = Prepared::new(&mut session, &Task::of(&plan, 0)).err().expect("refused");
    assert!(refused.to_string().contains("5MiB of it up to 5MiB"), "{refused}");
}
