//! Zones with write pointers, in real runs on ordinary files.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{Access, Blocks, Engine, Format, ReadBack, Sum, Verify, Zones};
use candor_plan::units::Direction;
use candor_plan::units::{Mix, PerDirection, SizeSpec};
use candor_plan::{Bytes, Job, LogPlan, Measure, OnFailure, Phase, Plan, Stop, Target};
use candor_record::{Ended, Measurement};

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

const KIB: u64 = 1 << 10;

fn file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    std::fs::write(file.path(), vec![7; 64 << 10]).expect("written");
    file
}

fn zones() -> Zones {
    Zones { length: Some(Bytes(16 * KIB)), ..Zones::default() }
}

fn job(name: &str, blocks: Blocks, bytes: u64) -> Job {
    let blocks = Blocks {
        zones: Some(blocks.zones.clone().unwrap_or_else(zones)),
        measure: Measure {
            log: LogPlan { each: true, ..LogPlan::default() },
            ..Measure::default()
        },
        ..blocks
    };
    Job {
        name: name.into(),
        targets: vec!["target".into()],
        work: blocks.into(),
        stop: Some(Stop { bytes: Some(Bytes(bytes)), ..Stop::default() }),
        ..Job::default()
    }
}

/// Runs a phase for each list of jobs.
fn run(path: &Path, phases: Vec<Vec<Job>>) -> Vec<Vec<Measurement>> {
    let target = Target { path: path.into(), size: Some(Bytes(64 * KIB)), ..Target::default() };
    let phase = |jobs| Phase { jobs, on_failure: OnFailure::EndJob, ..Phase::default() };
    let phases = phases.into_iter().map(phase).collect();
    let plan = Plan { targets: vec![target], phases, ..Plan::default() };
    let mut session = Session::new(families);
    let mut run = |index: usize| {
        let prepared = Prepared::new(&mut session, &Task::of(&plan, index)).expect("prepared");
        prepared.run(&AtomicBool::new(false), &mut ())
    };
    (0..plan.phases.len()).map(&mut run).collect()
}

/// Offsets in KiB, in the order of completion.
fn offsets(measurement: &Measurement) -> Vec<u64> {
    let log = measurement.log.as_ref().expect("a log");
    log.ops.iter().map(|op| op.offset / KIB).collect()
}

fn writes(access: Access) -> Blocks {
    Blocks { access, mix: Mix::WRITE, ..Blocks::default() }
}

#[test]
fn what_one_phase_wrote_the_next_reads_and_trims() {
    let file = file();
    let reads = Blocks { engine: Engine::Psync, ..Blocks::default() };
    let trims = Blocks {
        access: Access::Random,
        mix: Mix::TRIM,
        size: PerDirection::all(SizeSpec::Fixed(Bytes(16 * KIB))),
        ..Blocks::default()
    };
    let phases = vec![
        vec![job("write", writes(Access::Sequential), 24 * KIB)],
        vec![job("read", reads.clone(), 64 * KIB)],
        vec![job("trim", trims, 1 << 20)],
        vec![job("nothing", reads, 64 * KIB)],
    ];
    let all = run(file.path(), phases);
    assert_eq!(offsets(&all[0][0]), [0, 4, 8, 12, 16, 20]);
    assert_eq!(offsets(&all[1][0]), [0, 4, 8, 12, 16, 20]);
    let mut trimmed = offsets(&all[2][0]);
    trimmed.sort_unstable();
    assert_eq!(trimmed, [0, 16]);
    assert_eq!((all[3][0].ops_done(), all[3][0].ended), (0, Ended::Done));
    let bytes = std::fs::read(file.path()).expect("it can be read");
    assert!(bytes[24 << 10..].iter().all(|byte| *byte == 7), "a trim is a matter of books");
}

#[test]
fn deep_queues_and_several_workers_keep_to_pointers() {
    for (engine, depth, workers) in
        [(Engine::Psync, 1, 3), (Engine::IO_URING, 8, 2), (Engine::LIBAIO, 8, 1)]
    {
        let file = file();
        let open = Zones { open_max: Some(2), ..zones() };
        let blocks = Blocks { engine, depth, zones: Some(open), ..writes(Access::Random) };
        let writer = Job { workers, ..job("write", blocks, 512 * KIB) };
        let all = run(file.path(), vec![vec![writer]]);
        let measured = &all[0][0];
        assert_eq!(measured.ended, Ended::Done, "{engine:?}: {:?}", measured.errors);
        assert_eq!(measured.ops_done(), 128 * u64::from(workers));
        // Four zones hold 16 writes; further writes need resets.
        let least = (128 * u64::from(workers) - 16) / 4;
        assert!(measured.zone_resets >= least, "{engine:?}: {}", measured.zone_resets);
        assert!(measured.zone_resets <= least + 4, "{engine:?}: {}", measured.zone_resets);
    }
}

/// Error of a job that cannot be prepared.
fn refusal(path: &Path, zones: Zones) -> String {
    let blocks = Blocks { zones: Some(zones), ..writes(Access::Random) };
    let target = Target { path: path.into(), size: Some(Bytes(64 * KIB)), ..Target::default() };
    let phase = Phase { jobs: vec![job("write", blocks, KIB)], ..Phase::default() };
    let plan = Plan { targets: vec![target], phases: vec![phase], ..Plan::default() };
    let prepared = Prepared::new(&mut Session::new(families), &Task::of(&plan, 0));
    prepared.err().expect("an error").to_string()
}

#[test]
fn what_has_no_whole_zone_is_refused() {
    let file = file();
    let length = |kib| Zones { length: Some(Bytes(kib * KIB)), ..Zones::default() };
    for (zones, part) in [
        (length(128), "no whole zone of 128KiB"),
        (length(2), "holds 2KiB, a write 4KiB"),
        (Zones::default(), "has no zones"),
    ] {
        let message = refusal(file.path(), zones);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn what_is_written_in_zones_is_read_back_from_where_it_went() {
    for (engine, depth) in [(Engine::Psync, 1), (Engine::IO_URING, 8)] {
        for (every, kib) in [(0, 64), (4, 64), (0, 128)] {
            let file = file();
            let verify = Verify {
                format: Format::Acca(Sum::Crc32c),
                reads: false,
                read_back: Some(ReadBack { every, ..ReadBack::default() }),
                ..Verify::default()
            };
            let zones = Some(Zones { open_max: Some(2), ..zones() });
            let verify = Some(verify);
            let blocks = Blocks { engine, depth, zones, verify, ..writes(Access::Random) };
            let all = run(file.path(), vec![vec![job("write", blocks, kib * KIB)]]);
            let measured = &all[0][0];
            assert_eq!(measured.ended, Ended::Done, "{engine:?}: {:?}", measured.errors);
            let found = measured.verify.as_ref().expect("verified");
            assert!(found.first.is_empty(), "{:?}", found.first);
            let read = measured.read_back.as_ref().expect("read back").reads.ops;
            // No zone is written again before it was read back.
            assert_eq!(
                (measured.of(Direction::Write).ops, read),
                (kib / 4, kib / 4),
                "{engine:?} {every}"
            );
        }
    }
}
