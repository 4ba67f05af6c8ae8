//! Options of single engines, beyond the work that all engines do.

use std::os::unix::fs::MetadataExt;

use crate::common::{FILE_BYTES, lay_out, plan, run, scratch};
use candor_engine::Session;
use candor_plan::blocks::{
    Access, Blocks, CallFlags, Durability, Engine, IoPriority, Libaio, Mmap, PriorityClass,
    PriorityShare, RangeSync, ReadBack, Uring, Verify,
};
use candor_plan::units::{Direction, Mix};
use candor_plan::work::Figure;
use candor_plan::{Bytes, Job, Measure, Stop, Target};
use candor_record::Ended;

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

/// Runs one worker over a laid-out file of its own, and expects it to move every byte.
fn whole_pass(blocks: Blocks) -> candor_record::Measurement {
    let dir = scratch();
    let path = dir.path().join("file");
    let mut session = Session::new(families);
    lay_out(&mut session, &path, None);
    let measured = run(&mut session, &plan(&path, 1, Stop::default(), blocks));
    assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
    assert_eq!(measured.ops_done(), FILE_BYTES / 4096);
    measured
}

#[test]
fn io_uring_with_every_option() {
    let idle = IoPriority { class: PriorityClass::BestEffort, level: 3, hint: 0 };
    let share = |op| PriorityShare { op, size: None, percent: 40, priority: idle };
    let plain = Blocks { engine: Engine::IO_URING, depth: 8, ..Blocks::default() };
    for mix in [Mix::READ, Mix::WRITE] {
        let plain = Blocks { mix, ..plain.clone() };
        let uring = |uring| Blocks { engine: Engine::IoUring(uring), ..plain.clone() };
        let dsync = CallFlags { dsync: true, ..CallFlags::DEFAULT };
        let cases = [
            (uring(Uring { vectored: true, ..Uring::default() }), "vectored"),
            (uring(Uring { force_async_every: 3, ..Uring::default() }), "force-async"),
            (uring(Uring { fixed_files: Some(false), ..Uring::default() }), "fixed-buffers"),
            (uring(Uring { flags: dsync, ..Uring::default() }), "rwf-dsync"),
            (
                Blocks {
                    priorities: vec![share(Direction::Read), share(Direction::Write)],
                    ..plain.clone()
                },
                "priorities",
            ),
        ];
        for (blocks, feature) in cases {
            let features = whole_pass(blocks).engine.features;
            assert!(features.iter().any(|known| known == feature), "{feature}: {features:?}");
        }
    }
}

#[test]
fn libaio_carries_flags_and_priorities() {
    let priority = IoPriority { class: PriorityClass::Idle, level: 0, hint: 0 };
    let blocks = Blocks {
        engine: Engine::Libaio(Libaio {
            flags: CallFlags { dsync: true, ..CallFlags::DEFAULT },
            ..Libaio::DEFAULT
        }),
        depth: 8,
        direct: true,
        mix: Mix::WRITE,
        priorities: vec![PriorityShare { op: Direction::Write, size: None, percent: 50, priority }],
        ..Blocks::default()
    };
    assert!(whole_pass(blocks).engine.features.contains(&"rwf-dsync".to_owned()));
}

/// Blocks that vectors carried are stored as they were written, which they would not be by a kernel
/// that took the vectors for the buffers.
#[test]
fn libaio_names_buffers_by_vectors() {
    let verify = Verify { read_back: Some(ReadBack::default()), ..Verify::default() };
    let blocks = Blocks {
        engine: Engine::Libaio(Libaio { vectored: true, ..Libaio::DEFAULT }),
        depth: 8,
        direct: true,
        mix: Mix::WRITE,
        verify: Some(verify),
        ..Blocks::default()
    };
    let measured = whole_pass(blocks);
    assert!(measured.engine.features.contains(&"vectored".to_owned()), "{:?}", measured.engine);
    let checked = measured.verify.as_ref().expect("blocks were verified");
    assert!(checked.blocks > 0 && checked.mismatches() == 0, "{checked:?}");
}

#[test]
fn latencies_are_counted_apart_by_priority() {
    let priority = IoPriority { class: PriorityClass::BestEffort, level: 1, hint: 0 };
    let share = |op, percent| PriorityShare { op, size: None, percent, priority };
    let engines = [(Engine::LIBAIO, false), (Engine::IO_URING, false), (Engine::IO_URING, true)];
    for (engine, submission) in engines {
        let blocks = Blocks {
            engine,
            depth: 8,
            priorities: vec![share(Direction::Read, 40), share(Direction::Write, 40)],
            measure: Measure { submission, ..Measure::default() },
            ..Blocks::default()
        };
        let measured = whole_pass(blocks);
        let [usual, own] = &measured.of(Direction::Read).by_priority[..] else {
            panic!("two priorities")
        };
        assert_eq!((usual.priority(), own.priority()), (IoPriority::default(), priority));
        let all = measured.of(Direction::Read).latency.as_ref().expect("latencies");
        let both = [usual, own].map(|of| of.latency.as_ref().expect("some of each"));
        assert_eq!(both[0].count + both[1].count, all.count);
        assert!(both[1].count.abs_diff(all.count * 2 / 5) < all.count / 8, "{}", both[1].count);
        let mut sum = both[0].histogram.clone();
        sum.merge(&both[1].histogram);
        assert_eq!(sum, all.histogram);
        let parts = [usual, own].map(|of| of.completion.as_ref().map_or(0, |part| part.count));
        let splits = submission || engine == Engine::LIBAIO;
        assert_eq!(parts[0] + parts[1], if splits { all.count } else { 0 }, "{engine:?}");
        assert!(measured.of(Direction::Write).by_priority.is_empty());
    }
}

#[test]
fn a_call_that_may_not_wait_reports_it() {
    // No page of the file is cached, so a read with `nowait` fails.
    for engine in [Engine::PVSYNC, Engine::IO_URING, Engine::LIBAIO] {
        let dir = scratch();
        let path = dir.path().join("file");
        let mut session = Session::new(families);
        lay_out(&mut session, &path, None);
        let file = std::fs::File::open(&path).expect("opened");
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("dropped");
        let mut engine = engine;
        engine.call_flags_mut().expect("flags").nowait = true;
        let blocks = Blocks { engine, ..Blocks::default() };
        let stop = Stop { continue_on_error: true, ..Stop::default() };
        let measured = run(&mut session, &plan(&path, 1, stop, blocks));
        let again = measured.errors.iter().filter(|error| error.errno == libc::EAGAIN);
        let failed: u64 = again.map(|error| error.count).sum();
        assert!(failed > 0 || measured.ops_done() == FILE_BYTES / 4096, "{engine:?}");
        assert_eq!(failed + measured.ops_done(), FILE_BYTES / 4096, "{:?}", measured.errors);
    }
}

#[test]
fn mmap_drops_pages_and_trims() {
    for mix in [Mix::READ, Mix::WRITE, Mix::TRIM] {
        let engine = Engine::Mmap(Mmap { drop: true });
        let features = whole_pass(Blocks { engine, mix, ..Blocks::default() });
        assert_eq!(features.engine.features, ["drops-pages"]);
    }
}

#[test]
fn fallocate_reserves_and_gives_back_without_writing() {
    let dir = scratch();
    let path = dir.path().join("file");
    std::fs::File::create_new(&path).expect("created");
    let mut session = Session::new(families);
    let mut go = |mix| {
        let blocks = Blocks { engine: Engine::Fallocate, mix, ..Blocks::default() };
        let measured = run(&mut session, &plan(&path, 1, Stop::default(), blocks));
        assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
        let metadata = path.metadata().expect("there");
        (metadata.len(), metadata.blocks() * 512)
    };
    let (size, reserved) = go(Mix::READ);
    assert!(size == 0 && reserved >= FILE_BYTES, "{size} {reserved}");
    assert_eq!(go(Mix::WRITE).0, FILE_BYTES);
    let (size, reserved) = go(Mix::TRIM);
    assert!(size == FILE_BYTES && reserved < 64 << 10, "{size} {reserved}");
}

#[test]
fn ftruncate_sets_the_size_to_each_offset() {
    let dir = scratch();
    let path = dir.path().join("file");
    std::fs::File::create_new(&path).expect("created");
    let blocks = Blocks { engine: Engine::Ftruncate, mix: Mix::WRITE, ..Blocks::default() };
    let measured = run(&mut Session::new(families), &plan(&path, 1, Stop::default(), blocks));
    assert_eq!(measured.of(Direction::Write).ops, FILE_BYTES / 4096, "{:?}", measured.errors);
    assert_eq!(path.metadata().expect("there").len(), FILE_BYTES - 4096);
}

#[test]
fn neighbours_become_one_call_and_others_do_not() {
    let calls = |access| {
        let blocks = Blocks { engine: Engine::Vsync, depth: 16, access, ..Blocks::default() };
        whole_pass(blocks).engine.features
    };
    assert_eq!(calls(Access::Sequential), [format!("{} calls", FILE_BYTES / 4096 / 16)]);
    assert_eq!(calls(Access::Permutation), [format!("{} calls", FILE_BYTES / 4096)]);
}

#[test]
fn trims_are_queued_on_files() {
    let blocks =
        Blocks { engine: Engine::IO_URING, depth: 16, mix: Mix::TRIM, ..Blocks::default() };
    let measured = whole_pass(blocks);
    assert!(measured.engine.features.contains(&"queued-trims".to_owned()));
    assert_eq!(measured.of(Direction::Trim).bytes, FILE_BYTES);
}

/// A loop device over a file, for tests that run as root.
struct Loop(String);

impl Loop {
    fn over(path: &std::path::Path) -> Option<Loop> {
        let mut losetup = std::process::Command::new("losetup");
        let made = losetup.args(["--find", "--show"]).arg(path).output().ok()?;
        let name = String::from_utf8(made.stdout).ok()?.trim().to_owned();
        made.status.success().then_some(Loop(name))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let gone = std::process::Command::new("losetup").args(["--detach", &self.0]).status();
        assert!(gone.is_ok_and(|status| status.success()), "{} stays", self.0);
    }
}

#[test]
fn every_engine_works_on_a_device_and_discards_there() {
    let dir = scratch();
    let path = dir.path().join("image");
    let mut session = Session::new(families);
    lay_out(&mut session, &path, None);
    let Some(device) = Loop::over(&path) else {
        eprintln!("skipped: no loop device can be made here");
        return;
    };
    let device = std::path::Path::new(&device.0);
    let movers = Engine::ALL.into_iter().filter(Engine::moves_bytes);
    for engine in movers.filter(|engine| engine.uses_targets() && !engine.is_passthrough()) {
        for mix in [Mix::WRITE, Mix::READ, Mix::TRIM] {
            let depth = if engine.takes_many() { 8 } else { 1 };
            let direct = engine != Engine::MMAP;
            let blocks = Blocks { engine, mix, depth, direct, ..Blocks::default() };
            let measured = run(&mut session, &plan(device, 1, Stop::default(), blocks));
            assert_eq!(measured.ended, Ended::Done, "{engine:?} {mix} {:?}", measured.errors);
            let done = measured.ops_done();
            assert_eq!(done, FILE_BYTES / 4096, "{engine:?} {mix} {:?}", measured.errors);
        }
        let left = path.metadata().expect("there").blocks();
        assert!(left < 64, "{engine:?} left {left} sectors of {}", FILE_BYTES / 512);
    }
}

#[test]
fn threads_have_many_operations_in_flight() {
    let blocks = Blocks {
        engine: Engine::Threads,
        depth: 8,
        direct: true,
        access: Access::Permutation,
        ..Blocks::default()
    };
    let measured = whole_pass(blocks);
    assert_eq!(measured.engine.features, ["8 threads"]);
    assert!(measured.occupancy > 2.0, "{}", measured.occupancy);
}

/// Writes 64 blocks of that many files; returns the number of syncs.
fn syncs(files: u64, durability: Durability, engine: Engine) -> u64 {
    let dir = scratch();
    let blocks = Blocks {
        mix: Mix::WRITE,
        durability,
        engine,
        depth: if engine == Engine::Psync { 1 } else { 4 },
        ..Blocks::default()
    };
    let mut plan = plan(&dir.path().join("0"), 1, Stop::default(), blocks);
    let target = |file: u64| Target {
        name: file.to_string(),
        path: dir.path().join(file.to_string()),
        size: Some(Bytes(64 * 4096 / files)),
        ..Target::default()
    };
    plan.targets = (0..files).map(target).collect();
    let targets = plan.targets.iter().map(|target| target.name.clone()).collect();
    let job = plan.phases[0].jobs.remove(0);
    plan.phases[0].jobs.push(Job { targets, ..job });
    for target in &plan.targets {
        let file = std::fs::File::create_new(&target.path).expect("created");
        file.set_len(target.size.expect("set").0).expect("made as long");
    }
    let measured = run(&mut Session::new(families), &plan);
    assert_eq!(measured.of(Direction::Write).ops, 64, "{durability:?} {engine:?} {files}");
    measured.figure(Figure::Flush).ops
}

#[test]
fn syncs_come_after_so_many_writes_or_in_place_of_a_turn() {
    let every = |fsync_every, fdatasync_every| Durability {
        fsync_every,
        fdatasync_every,
        ..Durability::default()
    };
    let range = RangeSync { every: 4, write: true, ..RangeSync::default() };
    let range = Durability { range: Some(range), ..Durability::default() };
    // Columns: durability, files, syncs at once, syncs in turn.
    let cases = [
        (every(4, 0), 1, 16, 15),
        (every(4, 0), 2, 32, 15),
        // Only the file that was written to is synced.
        (every(0, 1), 4, 64, 63),
        (every(0, 32), 2, 4, 1),
        // Of two syncs that are due together, the more thorough one is done.
        (every(4, 6), 1, 21, 20),
        (range, 1, 16, 15),
        // Two files were written before each sync.
        (range, 2, 32, 15),
    ];
    for engine in [Engine::Psync, Engine::IO_URING, Engine::LIBAIO] {
        for (durability, files, at_once, in_turn) in cases {
            let other = Durability { in_turn: true, ..durability };
            let found = (syncs(files, durability, engine), syncs(files, other, engine));
            assert_eq!(found, (at_once, in_turn), "{files} files, {engine:?}: {durability:?}");
        }
    }
}
