//! Flushes among other operations, commits, and how the queue is filled.

use candor_plan::blocks::{Access, Blocks, Durability, Engine, Range, RangeSync};
use candor_plan::units::{Direction, Extent, Mix};
use candor_plan::work::{BlocksOp, Figure};
use candor_plan::{Bytes, Measure, Nanos, Phase, Stop};
use candor_record::Measurement;

use crate::small::{file, job, run_phase};

const QUEUES: [Engine; 3] = [Engine::LIBAIO, Engine::IO_URING, Engine::Threads];

/// One operation per submission and per look for completions, as fio has it.
fn one_by_one(engine: Engine, depth: u32) -> Blocks {
    Blocks {
        engine,
        depth,
        mix: Mix::WRITE,
        access: Access::Random,
        batch_submit: Some(1),
        batch_reap_max: Some(1),
        measure: Measure { depths: true, ..Measure::default() },
        ..Blocks::default()
    }
}

fn ops(ops: u64) -> Stop {
    Stop { ops: Some(ops), ..Stop::default() }
}

fn run(blocks: Blocks, stop: Stop, ramp: Nanos) -> Measurement {
    let phase = Phase { jobs: vec![job("job", blocks, stop)], ramp, ..Phase::default() };
    let measured = run_phase(file().path(), phase).remove(0);
    assert_eq!(measured.errors, [], "{:?}", measured.engine);
    measured
}

fn count(measured: &Measurement, op: BlocksOp) -> u64 {
    measured.operation(op.operation().name).ops
}

#[test]
fn flushes_are_in_flight_with_writes() {
    for engine in QUEUES {
        for (fsync_every, fdatasync_every, op) in
            [(1, 0, BlocksOp::Fsync), (0, 1, BlocksOp::Fdatasync)]
        {
            let durability =
                Durability { fsync_every, fdatasync_every, in_turn: true, ..Durability::default() };
            let blocks = Blocks { durability, ..one_by_one(engine, 8) };
            let measured = run(blocks, ops(64), Nanos(0));
            assert_eq!([count(&measured, BlocksOp::Write), count(&measured, op)], [64, 63]);
            // All but the first seven of 127 operations find seven in flight.
            let depths = measured.depths.expect("they are counted").in_flight;
            assert_eq!(depths, [1, 2, 4, 120, 0, 0, 0], "{engine:?} {op:?}");
            let features = &measured.engine.features;
            let is_named = features.contains(&"queued-flushes".to_owned());
            assert_eq!(is_named, engine != Engine::Threads, "{engine:?}: {features:?}");
        }
    }
}

#[test]
fn the_last_write_has_a_flush_in_turn_where_no_block_fits_into_the_rest() {
    for (bytes, flushes) in [(18 << 10, 4), (16 << 10, 3)] {
        let durability = Durability { fsync_every: 1, in_turn: true, ..Durability::default() };
        let range = Range { length: Some(Extent::Bytes(Bytes(bytes))), ..Range::default() };
        let access = Access::Sequential;
        let blocks = Blocks { durability, range, access, ..one_by_one(Engine::Psync, 1) };
        let pass = Stop { passes: Some(1), ..Stop::default() };
        let measured = run(blocks, pass, Nanos(0));
        let counts = [count(&measured, BlocksOp::Write), count(&measured, BlocksOp::Fsync)];
        assert_eq!(counts, [4, flushes], "{bytes} bytes");
    }
}

#[test]
fn one_flush_follows_a_number_of_writes_whatever_is_read_between() {
    for (engine, depth) in [(Engine::Psync, 1), (Engine::LIBAIO, 4), (Engine::IO_URING, 4)] {
        for (every, in_turn) in [(1, false), (1, true), (3, false), (3, true)] {
            let durability = Durability { fsync_every: every, in_turn, ..Durability::default() };
            let mix = Mix { read: 70, write: 30, trim: 0 };
            let blocks = Blocks { durability, mix, ..one_by_one(engine, depth) };
            let measured = run(blocks, ops(200), Nanos(0));
            let writes = count(&measured, BlocksOp::Write);
            let flushes = count(&measured, BlocksOp::Fsync);
            assert!((1..200).contains(&writes), "{writes}");
            // In turn, none follows the last operation.
            let due = writes / every;
            let is_due = flushes == due || (in_turn && flushes + 1 == due);
            assert!(is_due, "{engine:?}, every {every}: {flushes} flushes of {writes} writes");
        }
    }
}

#[test]
fn a_commit_is_a_write_and_the_flush_that_makes_it_durable() {
    let of = |engine, depth, durability, mix| {
        let blocks = Blocks { durability, mix, ..one_by_one(engine, depth) };
        run(blocks, ops(96), Nanos(0))
    };
    let every = |fsync_every| Durability { fsync_every, ..Durability::default() };
    for (engine, depth) in
        [(Engine::Psync, 1), (Engine::Threads, 4), (Engine::LIBAIO, 8), (Engine::IO_URING, 8)]
    {
        for writes in [1, 8] {
            let measured = of(engine, depth, every(writes), Mix::WRITE);
            let commits = count(&measured, BlocksOp::Commit);
            match depth {
                1 => assert_eq!(commits, 96, "{engine:?}"),
                // The last flush began while writes were in flight.
                _ => assert!((1..=96).contains(&commits), "{engine:?}: {commits}"),
            }
            let of = |figure| measured.figure(figure).latency.expect("it occurred");
            assert_eq!(of(Figure::Commit).count, commits, "{engine:?}");
            if (depth, writes) == (1, 1) {
                let parts = of(Figure::Write).mean_ns + of(Figure::Flush).mean_ns;
                assert!(of(Figure::Commit).mean_ns >= parts, "{engine:?}");
            }
            assert_eq!(measured.figure(Figure::Commit).bytes, 0, "bytes count once");
            assert_eq!(measured.durable_writes().is_some(), writes == 1, "{engine:?}");
            assert_eq!(measured.ops_done(), 96, "a commit is no work");
        }
    }
    let none = of(Engine::Psync, 1, Durability::default(), Mix::WRITE);
    assert!(none.operations.iter().all(|op| op.name != "commit"), "{:?}", none.operations);
    let range = RangeSync { every: 1, write: true, ..RangeSync::default() };
    let range = Durability { range: Some(range), ..Durability::default() };
    let ranges = of(Engine::IO_URING, 4, range, Mix::WRITE);
    assert_eq!(
        [count(&ranges, BlocksOp::SyncFileRange), count(&ranges, BlocksOp::Commit)],
        [96, 0]
    );
}

#[test]
fn a_full_queue_runs_down_to_its_low_water_mark() {
    for engine in QUEUES {
        let low = |batch| Blocks {
            depth_low: Some(8),
            mix: Mix::READ,
            batch_submit: Some(batch),
            ..one_by_one(engine, 32)
        };
        // 32 to begin with, then 24 at a time: 9 to 15, 16 to 31, and 32 in flight.
        let one = run(low(1), ops(32 + 10 * 24), Nanos(0)).depths.expect("they are counted");
        assert_eq!(one.in_flight, [1, 2, 4, 8 + 70, 16 + 160, 11, 0], "{engine:?}");
        let eight = run(low(8), ops(32 + 10 * 24), Nanos(0)).depths.expect("they are counted");
        assert_eq!(eight.in_flight, [0, 0, 0, 8, 16 + 160, 8 + 80, 0], "{engine:?}");
        assert_eq!(eight.submitted, [0, 0, 34, 0, 0, 0, 0], "{engine:?}");
    }
}

#[test]
fn what_was_in_flight_at_the_end_of_a_ramp_does_not_count() {
    let ramp = Nanos(30_000_000);
    for (engine, depth) in
        [(Engine::Psync, 1), (Engine::Threads, 8), (Engine::LIBAIO, 8), (Engine::IO_URING, 32)]
    {
        let blocks = Blocks { engine, depth, access: Access::Random, ..Blocks::default() };
        for stop in [ops(100), ops(3), Stop { passes: Some(2), ..Stop::default() }] {
            let wanted = stop.ops.unwrap_or(2 * 256);
            for measure in [Measure::default(), Measure { depths: true, ..Measure::default() }] {
                let blocks = Blocks { measure, ..blocks.clone() };
                let measured = run(blocks, stop.clone(), ramp);
                let done = measured.of(Direction::Read);
                assert_eq!([done.ops, done.bytes], [wanted, wanted * 4096], "{engine:?} {stop:?}");
            }
        }
    }
}
