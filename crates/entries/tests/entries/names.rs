//! Steps over the names of targets.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{Content, Fill, Flow, Format, Pace, Pattern};
use candor_plan::entries::{Entries, EntriesEngine, Over, Select, Step, VerifyItems, Weighted};
use candor_plan::{
    Bytes, BytesPerSec, Job, Nanos, OpsPerSec, Phase, Plan, Stonewall, Stop, Target, TargetKind,
};
use candor_record::{Ended, Measurement};

use crate::common::{FILES, families, run, run_until};

/// Runs one step over fifty names in a directory, by three workers.
fn done(directory: &Path, over: Over, step: Step) -> Measurement {
    run(directory, Entries { over, steps: vec![step], ..Entries::default() })
}

fn names_in(directory: &Path) -> usize {
    std::fs::read_dir(directory).expect("read").count()
}

#[test]
fn names_are_made_looked_at_and_removed_once_each() {
    for (over, make, remove) in [
        (Over::TargetFiles, Step::Create, Step::Unlink),
        (Over::TargetDirectories, Step::Mkdir, Step::Rmdir),
    ] {
        let dir = tempfile::tempdir().expect("a scratch directory");
        for step in [make, Step::Stat, Step::Lstat, Step::Statx, remove] {
            let measured = done(dir.path(), over, step);
            assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
            let stats = measured.operation(step.name());
            assert_eq!((stats.ops, stats.failed, stats.bytes), (50, 0, 0), "{step:?}");
            assert_eq!(stats.latency.as_ref().map(|latency| latency.count), Some(50));
            assert_eq!(measured.engine.name, step.name());
            let left = if step == remove { 0 } else { FILES as usize };
            assert_eq!(names_in(dir.path()), left, "{step:?}");
        }
    }
}

#[test]
fn names_that_are_not_there_are_failures_with_their_path() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let measured = done(dir.path(), Over::TargetFiles, Step::Stat);
    assert_eq!(measured.operation("stat").failed, 50);
    assert!(measured.errors.iter().all(|error| error.errno == libc::ENOENT));
    assert!(measured.errors[0].path.starts_with(&dir.path().display().to_string()));
}

#[test]
fn opening_and_closing_are_operations_with_times_of_their_own() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let entries = |steps: &[Step], size| Entries {
        over: Over::TargetFiles,
        steps: steps.into(),
        size,
        ..Entries::default()
    };
    let count = |measured: &Measurement, name: &str| {
        let stats = measured.operation(name);
        let timed = stats.latency.as_ref().map_or(0, |latency| latency.count);
        assert_eq!((stats.failed, timed), (0, stats.ops), "{name}: {:?}", measured.errors);
        (stats.ops, stats.bytes)
    };
    let steps = [Step::Create, Step::Write, Step::Fsync, Step::Close];
    let made = run(dir.path(), entries(&steps, None));
    let counts = ["create", "write", "fsync", "close"].map(|name| count(&made, name));
    assert_eq!(counts, [(50, 0), (50, 500_000), (50, 0), (50, 0)]);
    let path = dir.path().join("candor.target.7");
    assert_eq!(path.metadata().expect("made").len(), 10_000);
    let steps = [Step::Open, Step::Read, Step::Close, Step::Unlink];
    let read = run(dir.path(), entries(&steps, Some(Bytes(4096))));
    let counts = ["open", "read", "close", "unlink"].map(|name| count(&read, name));
    assert_eq!(counts, [(50, 0), (150, 500_000), (50, 0), (50, 0)]);
    assert_eq!(names_in(dir.path()), 0);
}

#[test]
fn a_final_sync_has_a_time_of_its_own() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let made = |syncfs_at_end| {
        let (over, steps) = (Over::TargetFiles, vec![Step::Create, Step::Unlink]);
        run(dir.path(), Entries { over, steps, syncfs_at_end, ..Entries::default() })
    };
    assert_eq!(made(false).elapsed_with_flush_ns, None);
    let synced = made(true);
    assert_eq!(synced.operation("unlink").ops, 50);
    assert!(synced.elapsed_with_flush_ns.expect("synced") > synced.elapsed_ns);
    assert_eq!(synced.errors, []);
}

#[test]
fn steps_after_a_file_that_could_not_be_opened_fail_for_the_same_reason() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let steps = vec![Step::Open, Step::Read, Step::Close];
    let entries = Entries { over: Over::TargetFiles, steps, ..Entries::default() };
    let measured = run(dir.path(), entries);
    let failed = ["open", "read", "close"].map(|name| measured.operation(name).failed);
    assert_eq!(failed, [50, 50, 50]);
    assert!(measured.errors.iter().all(|error| error.errno == libc::ENOENT), "{measured:?}");
}

/// Entries over files that io_uring does, eight at once.
fn ring(steps: &[Step]) -> Entries {
    Entries {
        over: Over::TargetFiles,
        steps: steps.to_vec(),
        depth: 8,
        engine: Some(EntriesEngine::IoUring),
        ..Entries::default()
    }
}

fn done_by_ring(directory: &Path, entries: Entries) -> Measurement {
    let measured = run(directory, entries);
    assert_eq!(measured.engine.name, "io_uring");
    assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
    assert_eq!(measured.errors, [], "{:?}", measured.operations);
    measured
}

#[test]
fn a_ring_does_what_calls_do() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let made =
        done_by_ring(dir.path(), ring(&[Step::Create, Step::Write, Step::Fsync, Step::Close]));
    for step in ["create", "write", "fsync", "close"] {
        assert_eq!(made.operation(step).ops, u64::from(FILES), "{step}");
    }
    assert_eq!(made.operation("write").bytes, u64::from(FILES) * 10_000);
    assert_eq!(made.operation("item").ops, u64::from(FILES));
    let lengths = std::fs::read_dir(dir.path()).expect("read");
    for file in lengths {
        assert_eq!(file.and_then(|file| file.metadata()).expect("there").len(), 10_000);
    }
    let attributes = [Step::Setxattr, Step::Getxattr];
    for steps in [&[Step::Stat, Step::Lstat, Step::Statx][..], &attributes, &[Step::Rename]] {
        let measured = done_by_ring(dir.path(), ring(steps));
        assert_eq!(measured.operation(steps[0].name()).ops, u64::from(FILES));
    }
    let on_alias = |step| Entries { on_alias: true, ..ring(&[step]) };
    done_by_ring(dir.path(), on_alias(Step::Link));
    assert_eq!(names_in(dir.path()), 2 * FILES as usize);
    done_by_ring(dir.path(), on_alias(Step::Unlink));
    let read = done_by_ring(dir.path(), ring(&[Step::Open, Step::Read, Step::Close]));
    assert_eq!(read.operation("first_byte").ops, u64::from(FILES));
    let latency = |name: &str| read.operation(name).latency.as_ref().expect("timed").mean_ns;
    assert!(latency("item") > latency("first_byte") && latency("first_byte") > latency("open"));
    done_by_ring(dir.path(), ring(&[Step::Unlink]));
    assert_eq!(names_in(dir.path()), 0);
}

#[test]
fn blocks_of_one_file_are_in_flight_together() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let verify = Some(VerifyItems { interval: Bytes(512), ..VerifyItems::default() });
    let blocks = |steps: &[Step], items_at_once, size| {
        let size = Some(Bytes(size));
        done_by_ring(
            dir.path(),
            Entries { size, items_at_once, verify: verify.clone(), ..ring(steps) },
        )
    };
    let made = blocks(&[Step::Create, Step::Write, Step::Close], Some(1), 1024);
    assert_eq!(made.operation("write").ops, u64::from(FILES) * 10);
    // Other sizes of reads find the same blocks: what they check has nothing to do with operations.
    let read = blocks(&[Step::Open, Step::Read, Step::Close], Some(2), 4096);
    let verified = read.verify.expect("verified");
    // Nineteen whole blocks in each, and one of 272 bytes.
    assert_eq!((verified.blocks, verified.mismatches()), (u64::from(FILES) * 20, 0));
}

#[test]
fn a_flipped_byte_is_found_with_its_file_and_offset() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let verify = Some(VerifyItems { continue_on_mismatch: true, ..VerifyItems::default() });
    for engine in [EntriesEngine::Calls, EntriesEngine::IoUring] {
        let depth = if engine == EntriesEngine::Calls { 1 } else { 4 };
        let entries = |steps: &[Step]| {
            let engine = Some(engine);
            Entries { depth, engine, verify: verify.clone(), ..ring(steps) }
        };
        run(dir.path(), entries(&[Step::Create, Step::Write, Step::Close]));
        let mut files: Vec<_> = std::fs::read_dir(dir.path()).expect("read").flatten().collect();
        files.sort_by_key(std::fs::DirEntry::file_name);
        let (path, other) = (files[7].path(), files[8].path());
        let mut bytes = std::fs::read(&path).expect("read");
        bytes[5000] ^= 4;
        std::fs::write(&path, &bytes).expect("written");
        // One file in place of another: no header of its own tells what stood there.
        std::fs::copy(files[9].path(), &other).expect("copied");
        let read = run(dir.path(), entries(&[Step::Open, Step::Read, Step::Close]));
        let verified = read.verify.expect("verified");
        assert_eq!((verified.flipped, verified.unknown, verified.mismatches()), (1, 3, 1));
        let of = |path: &Path| {
            let path = path.display().to_string();
            verified.first.iter().filter(|wrong| wrong.path == path).map(|w| w.offset).collect()
        };
        let (flipped, swapped): (Vec<u64>, Vec<u64>) = (of(&path), of(&other));
        assert_eq!((flipped, swapped), (vec![4096], vec![]));
    }
}

#[test]
fn written_bytes_are_those_of_the_plan() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let pattern: Pattern = "%o@8".parse().expect("a pattern");
    let content = Content { fill: Fill::Pattern, pattern: Some(pattern), ..Content::default() };
    let verify = Some(VerifyItems { format: Format::Pattern, ..VerifyItems::default() });
    let entries = |steps: &[Step]| Entries {
        steps: steps.to_vec(),
        over: Over::TargetFiles,
        size: Some(Bytes(4096)),
        content: content.clone(),
        verify: verify.clone(),
        ..Entries::default()
    };
    run(dir.path(), entries(&[Step::Create, Step::Write, Step::Close]));
    let file = std::fs::read_dir(dir.path()).expect("read").flatten().next().expect("a file");
    let bytes = std::fs::read(file.path()).expect("read");
    for (index, word) in bytes.chunks_exact(8).enumerate() {
        assert_eq!(u64::from_le_bytes(word.try_into().expect("eight")), 8 * index as u64);
    }
    let read = run(dir.path(), entries(&[Step::Open, Step::Read, Step::Close]));
    assert_eq!(read.verify.map(|found| (found.blocks, found.mismatches())), Some((150, 0)));
}

#[test]
fn each_item_gets_a_list_of_the_mix() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    done(dir.path(), Over::TargetFiles, Step::Create);
    let list = |weight, steps: &[Step]| Weighted { weight, steps: steps.to_vec() };
    let mix = vec![list(3, &[Step::Stat]), list(1, &[Step::Open, Step::Close])];
    let only = |engine| Entries {
        over: Over::TargetFiles,
        mix: mix.clone(),
        select: Select::Random,
        depth: if engine == EntriesEngine::IoUring { 4 } else { 1 },
        engine: Some(engine),
        ..Entries::default()
    };
    for engine in [EntriesEngine::Calls, EntriesEngine::IoUring] {
        let measured = run(dir.path(), only(engine));
        let [stats, opens, closes, items] =
            ["stat", "open", "close", "item"].map(|name| measured.operation(name).ops);
        assert_eq!((opens, items), (closes, u64::from(FILES)));
        assert_eq!(stats + opens, u64::from(FILES), "one list for each");
        assert!((5..=22).contains(&opens), "{opens} of {FILES} at one in four");
    }
}

#[test]
fn a_probe_chooses_the_engine_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let entries = |step| Entries { engine: None, ..ring(&[step]) };
    let made = run(dir.path(), entries(Step::Create));
    let told = made.engine.features.iter().find(|feature| feature.starts_with("probe: "));
    assert!(told.is_some(), "{:?}", made.engine);
    assert_eq!(names_in(dir.path()), FILES as usize);
    let looked = run(dir.path(), entries(Step::Stat));
    let told = looked.engine.features.iter().find(|feature| feature.starts_with("no probe: "));
    assert!(told.is_some_and(|told| told.contains("items are few")), "{:?}", looked.engine);
}

#[test]
fn rates_are_kept() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let entries = |steps: &[Step], pace| {
        let steps = steps.to_vec();
        Entries { over: Over::TargetFiles, steps, pace, ..Entries::default() }
    };
    let pace = Pace { bytes: Some(BytesPerSec(5_000_000)), ..Pace::default() };
    // 500,000 bytes, of which each of three workers writes the first block at once.
    let made = run(dir.path(), entries(&[Step::Create, Step::Write, Step::Close], pace));
    assert_eq!(made.operation("write").bytes, u64::from(FILES) * 10_000);
    assert!((90_000_000..150_000_000).contains(&made.elapsed_ns), "{}", made.elapsed_ns);
    let pace = Pace { ops: Some(OpsPerSec(500)), ..Pace::default() };
    let looked = run(dir.path(), entries(&[Step::Stat], pace));
    assert!((90_000_000..150_000_000).contains(&looked.elapsed_ns), "{}", looked.elapsed_ns);
    assert!(looked.operation("stat").from_intended.is_some());
}

#[test]
fn after_time_all_workers_do_as_much_as_the_furthest_one() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    done(dir.path(), Over::TargetFiles, Step::Create);
    let entries = Entries {
        over: Over::TargetFiles,
        steps: vec![Step::Stat],
        select: Select::Random,
        ..Entries::default()
    };
    let stop =
        Stop { time: Some(Nanos(50_000_000)), stonewall: Stonewall::WearOut, ..Stop::default() };
    let measured = run_until(dir.path(), entries, stop);
    let ops: Vec<u64> = measured.per_worker.iter().map(|worker| worker.ops).collect();
    assert_eq!(ops.len(), 3);
    assert!(ops[0] > 0 && ops.iter().all(|of| *of == ops[0]), "{ops:?}");
    assert_eq!(measured.ended, Ended::Time);
}

#[test]
fn two_jobs_keep_their_shares_of_bytes() {
    const BLOCK: u64 = 1000;
    let dir = tempfile::tempdir().expect("a scratch directory");
    let set = |name: &str| Target {
        name: name.into(),
        path: dir.path().join(name),
        kind: TargetKind::FileSet,
        files: FILES,
        size: Some(Bytes(10 * BLOCK)),
        keep: true,
        overwrite: true,
        ..Target::default()
    };
    let job = |name: &str, workers, step, weight| {
        let open = if step == Step::Write { Step::Create } else { Step::Open };
        let flow = Flow { weight, bytes: true, together: true, ..Flow::default() };
        let entries = Entries {
            over: Over::TargetFiles,
            steps: vec![open, step, Step::Close],
            size: Some(Bytes(BLOCK)),
            pace: Pace { flow: Some(flow), ..Pace::default() },
            ..Entries::default()
        };
        let (targets, work) = (vec![name.to_owned()], entries.into());
        Job { name: name.into(), workers, targets, work, ..Job::default() }
    };
    let phase = |jobs, stop| Phase { jobs, stop, ..Phase::default() };
    let made = ["read", "write"].map(|name| job(name, 1, Step::Write, 1)).into();
    let jobs = vec![job("read", 1, Step::Read, 80), job("write", 2, Step::Write, 20)];
    let stop = Stop { time: Some(Nanos(300_000_000)), ..Stop::default() };
    let plan = Plan {
        targets: vec![set("read"), set("write")],
        phases: vec![phase(made, Stop::default()), phase(jobs, stop)],
        ..Plan::default()
    };
    for name in ["read", "write"] {
        std::fs::create_dir(dir.path().join(name)).expect("a directory");
    }
    let mut session = Session::new(families);
    let mut ran = |index| {
        let prepared = Prepared::new(&mut session, &Task::of(&plan, index)).expect("prepared");
        prepared.run(&AtomicBool::new(false), &mut ())
    };
    let bytes = |job: &Measurement| (job.operation("read").bytes, job.operation("write").bytes);
    assert_eq!(ran(0).iter().map(bytes).collect::<Vec<_>>(), [(0, 500_000); 2]);
    let measured = ran(1);
    let (read, written) = (bytes(&measured[0]).0, bytes(&measured[1]).1);
    let off = (read as f64 - (read + written) as f64 * 0.8).abs();
    assert!(off <= 3.0 * BLOCK as f64, "{read} read, {written} written");
    assert!(read + written > 100 * BLOCK, "{read} {written}");
}
