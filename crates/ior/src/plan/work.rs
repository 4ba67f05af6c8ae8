//! Work of the tasks of a phase: offsets, order, engine, content, ends.

use std::time::Duration;

use candor_plan::blocks::{
    Access, Content, Durability, Fill, Format, Hints, Libaio, Lock, MapAdvice, Opening, Pace,
    Pieces, SegmentDeal, Share, Stay, StayAt, Think, UnknownBlocks, Uring, Verify, WordKind, Words,
};
use candor_plan::units::{Mix, PerDirection, SizeSpec};
use candor_plan::{
    Blocks, Bytes, Engine, Job, LogPlan, Measure, Nanos, RankOrder, Sharing, Stonewall, Stop,
};

use super::PhaseKind;
use crate::options::{Api, EndOptions, Packet};
use crate::setup::TestSetup;

/// The job of a phase that moves bytes.
pub(super) fn job(test: &TestSetup, kind: PhaseKind, repetition: u32, targets: Vec<String>) -> Job {
    let (rank_shift, rank_order) = match kind {
        PhaseKind::Check => (test.check_shift(), RankOrder::InOrder),
        PhaseKind::Read => (test.read_shift(), test.read_order(repetition)),
        _ => (0, RankOrder::InOrder),
    };
    Job {
        name: "tasks".into(),
        workers: test.tasks,
        targets,
        sharing: if test.options.layout.file_per_process { Sharing::Own } else { Sharing::Shared },
        rank_shift,
        rank_order,
        stop: Some(stop(test, kind)),
        work: blocks(test, kind).into(),
        ..Job::default()
    }
}

/// Pauses of DUMMY around a phase.
pub(super) fn dummy_delay(test: &TestSetup, kind: PhaseKind) -> Duration {
    let io = &test.options.io;
    let create_us = if kind == PhaseKind::Write { io.dummy.create_us } else { 0 };
    match io.api {
        Api::Dummy => Duration::from_micros(u64::from(create_us) + u64::from(io.dummy.close_us)),
        _ => Duration::ZERO,
    }
}

/// The test whose write fills the files sequentially, if requested.
pub(super) fn filling(test: &TestSetup) -> Option<TestSetup> {
    let prefill = test.options.layout.prefill_bytes;
    (prefill > 0).then(|| {
        let mut filling = test.clone();
        filling.options.layout.transfer_bytes = prefill;
        filling.options.layout.random = 0;
        filling.options.ends = EndOptions::default();
        filling.status_iterations = 0;
        filling
    })
}

/// End of a phase: a time limit, a count, or one pass.
fn stop(test: &TestSetup, kind: PhaseKind) -> Stop {
    let ends = &test.options.ends;
    let limit = |seconds: u64| (seconds > 0).then(|| Nanos::from_secs(seconds));
    let count = match (kind, ends.wear_out_iterations, test.status_iterations) {
        (PhaseKind::Read, 0, count) | (_, count, _) => count,
    };
    let wears_out = ends.wear_out && ends.deadline_s > 0;
    let blocks = (test.options.layout.random > 1).then(|| test.task_transfers());
    let ops = (count > 0).then_some(count).into_iter().chain(blocks).min();
    Stop {
        time: limit(ends.deadline_s),
        min_time: limit(ends.min_s),
        ops,
        passes: (test.options.layout.random < 2).then_some(1),
        stonewall: if wears_out { Stonewall::WearOut } else { Stonewall::Cut },
        ..Stop::default()
    }
}

fn blocks(test: &TestSetup, kind: PhaseKind) -> Blocks {
    let (layout, io) = (&test.options.layout, &test.options.io);
    let writes = matches!(kind, PhaseKind::Fill | PhaseKind::Write);
    let random_blocks = layout.random > 1;
    let transfer = Bytes(layout.transfer_bytes);
    let per_block = u32::try_from(layout.block_bytes / layout.transfer_bytes.max(1));
    Blocks {
        mix: if writes { Mix::WRITE } else { Mix::READ },
        access: access(test),
        stay: if random_blocks {
            Stay { run: per_block.unwrap_or(u32::MAX), at: StayAt::End, ..Stay::default() }
        } else {
            Stay::default()
        },
        align: random_blocks.then(|| PerDirection::all(Bytes(layout.block_bytes))),
        size: PerDirection::all(SizeSpec::Fixed(transfer)),
        share: share(test),
        depth: depth(test),
        batch_submit: (depth(test) > 1).then(|| io.granularity.min(depth(test))),
        lock: if io.range_locks { Lock::PosixRange } else { Lock::None },
        opening: opening(test),
        engine: engine(io.api),
        direct: io.direct && io.api.can_be_direct(),
        durability: Durability {
            fsync_every: u64::from(writes && io.fsync_per_write),
            fsync_at_end: writes && io.fsync,
            ..Durability::default()
        },
        hints: Hints { map_advice: map_advice(test), ..Hints::default() },
        pace: Pace {
            think: (io.delay_us > 0).then(|| Think::after_each(Nanos(io.delay_us * 1000))),
            ..Pace::default()
        },
        measure: Measure {
            log: LogPlan { each: logs(test, kind), ..LogPlan::default() },
            ..Measure::default()
        },
        content: content(test, writes),
        verify: verify(test, kind),
        ..Blocks::default()
    }
}

/// Each transfer is logged for the files of `savePerOpDataCSV`.
fn logs(test: &TestSetup, kind: PhaseKind) -> bool {
    matches!(kind, PhaseKind::Write | PhaseKind::Read)
        && test.options.output.operations_csv.is_some()
}

fn access(test: &TestSetup) -> Access {
    let layout = &test.options.layout;
    match (layout.random, layout.file_per_process) {
        (0, _) => Access::Sequential,
        (1, true) => Access::Permutation,
        // Scattered transfers already have a random order.
        (1, false) => Access::Sequential,
        _ => Access::Random,
    }
}

fn share(test: &TestSetup) -> Share {
    let layout = &test.options.layout;
    let deal = match (layout.random, layout.file_per_process) {
        (1, false) => SegmentDeal::Scattered,
        _ => SegmentDeal::ByRank,
    };
    if layout.random > 1 {
        Share::Whole
    } else {
        Share::Segments { block: Bytes(layout.block_bytes), count: layout.segments, deal }
    }
}

/// Each task opens its files within the phase, unless the plan does not allow it.
fn opening(test: &TestSetup) -> Opening {
    match (test.options.io.range_locks, test.options.run.barriers) {
        (true, _) => Opening::Before,
        (false, true) => Opening::InStages,
        (false, false) => Opening::InPhase,
    }
}

fn depth(test: &TestSetup) -> u32 {
    match test.options.io.api {
        Api::Aio | Api::IoUring => test.options.io.pending_max,
        Api::Posix | Api::Mpiio | Api::Mmap | Api::Dummy => 1,
    }
}

fn engine(api: Api) -> Engine {
    match api {
        Api::Posix | Api::Mpiio => Engine::Psync,
        Api::Mmap => Engine::MMAP,
        Api::Dummy => Engine::Null,
        Api::Aio => Engine::Libaio(Libaio::DEFAULT),
        Api::IoUring => Engine::IoUring(Uring::DEFAULT),
    }
}

fn map_advice(test: &TestSetup) -> Option<Pieces<MapAdvice>> {
    let io = &test.options.io;
    let order = match test.options.layout.random {
        0 => MapAdvice::Sequential,
        _ => MapAdvice::Random,
    };
    let pieces = [(io.map_dont_need, MapAdvice::Dontneed), (io.map_pattern, order)];
    let asked: Vec<_> =
        pieces.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, piece)| piece).collect();
    (io.api == Api::Mmap).then_some(Pieces(asked))
}

/// IOR's words with their signature.
fn content(test: &TestSetup, writes: bool) -> Content {
    if test.options.io.api == Api::Dummy {
        return Content { fill: Fill::Once, ..Content::default() };
    }
    let layout = &test.options.layout;
    let is_anybodys = layout.random > 1 && !layout.file_per_process && !writes;
    let words = Words {
        kind: match test.options.data.packet {
            Packet::Timestamp => WordKind::Timestamp,
            Packet::Offset => WordKind::Offset,
            Packet::Incompressible => WordKind::Incompressible,
            Packet::Random => WordKind::Random,
        },
        seed: test.signature,
        rank_block: is_anybodys.then_some(Bytes(layout.block_bytes)),
    };
    Content { fill: Fill::Words, words: Some(words), ..Content::default() }
}

/// Each transfer is verified as a whole: a wrong transfer counts once.
fn verify(test: &TestSetup, kind: PhaseKind) -> Option<Verify> {
    let checks = match kind {
        PhaseKind::Check => true,
        PhaseKind::Read => test.options.run.check_read,
        _ => false,
    };
    checks.then(|| Verify {
        interval: Bytes(test.options.layout.transfer_bytes),
        format: Format::Words,
        continue_on_mismatch: !test.options.data.quit_on_error,
        generations: false,
        unknown: UnknownBlocks::Check,
        ..Verify::default()
    })
}
