//! Files and block devices as blocks: one long range with a slice for each worker.

use candor_plan::blocks::{self, Access, Engine, FileOrder, Hints, Lock, Pieces, Rotation, Share};
use candor_plan::entries::{Division, Entries, Over, Step};
use candor_plan::units::{Mix, PerDirection, SizeSpec};
use candor_plan::{Blocks, Bytes, Create, Job, Layout, Stop, Target, TargetKind, Work, path_of};

use super::{Context, content, phases};
use crate::options::{AccessOptions, FileAdvice, FileLock, IoOptions, MapAdvice, RandomSource};
use crate::setup::{PathKind, PhaseKind, SECTOR, Setup};

/// Suffix of the target name of an existing path.
const FOUND: &str = ", as found";

/// Each path as two targets: to be written, and as found, which creates nothing.
pub(super) fn targets(setup: &Setup) -> Vec<Target> {
    let mut all = Vec::new();
    let io = &setup.asked.io;
    let writes_by_mapping = io.mmap && setup.asked.phases.write;
    let layout = match setup.path_kind {
        PathKind::BlockDevice => Layout::Never,
        _ if io.preallocate => Layout::Allocate,
        // Reads of a mix may hit unwritten blocks.
        _ if io.truncate_to_size || writes_by_mapping || setup.asked.access.random => {
            Layout::Sparse
        }
        _ => Layout::Never,
    };
    for (path, bytes) in setup.asked.paths.iter().zip(&setup.bytes_of_paths) {
        let written = Target {
            name: path.clone(),
            path: path_of(path),
            kind: match setup.path_kind {
                PathKind::BlockDevice => TargetKind::Device,
                _ => TargetKind::File,
            },
            size: (*bytes > 0).then_some(Bytes(*bytes)),
            layout,
            keep: true,
            overwrite: true,
            ..Target::default()
        };
        all.push(Target {
            name: format!("{path}{FOUND}"),
            layout: Layout::Never,
            create: Create::Nothing,
            ..written.clone()
        });
        all.push(written);
    }
    all.extend(phases::targets(setup));
    all
}

/// The jobs of a phase.
pub(super) fn jobs(context: &Context<'_>, kind: PhaseKind) -> Vec<Job> {
    let asked = &context.setup.asked;
    let mut targets = asked.paths.clone();
    if kind != PhaseKind::Write {
        targets.iter_mut().for_each(|name| name.push_str(FOUND));
    }
    if asked.access.backward {
        targets.reverse();
    }
    let job = |name: &str, workers, work, stop| Job {
        name: name.into(),
        workers,
        targets: targets.clone(),
        placement: context.placement.clone(),
        threads: context.threads.clone(),
        stop: Some(stop),
        work,
        ..Job::default()
    };
    let threads = asked.run.threads;
    if kind == PhaseKind::RemoveFiles {
        // Every worker removes every file; a missing file is no error.
        let entries = Entries {
            over: Over::TargetFiles,
            steps: vec![Step::Unlink],
            division: Division::Every,
            idempotent: true,
            ..Entries::default()
        };
        return vec![job("workers", threads, entries.into(), context.stop())];
    }
    let of_blocks = |name: &str, workers: u32, mix: Mix| {
        let work = Work::Blocks(Box::new(blocks(context, mix, workers)));
        job(name, workers, work, stop(context))
    };
    let read = asked.mix.read_percent.unwrap_or(0);
    match kind {
        PhaseKind::Write if asked.mix.read_threads.is_some() => {
            phases::readers_and_writers(context.setup, |name, workers, kind| {
                let mix = if kind == PhaseKind::Read { Mix::READ } else { Mix::WRITE };
                of_blocks(name, workers, mix)
            })
        }
        PhaseKind::Write => {
            vec![of_blocks("workers", threads, Mix { read, write: 100 - read, trim: 0 })]
        }
        _ => vec![of_blocks("workers", threads, Mix::READ)],
    }
}

/// End of a block job: with random access, after a number of bytes.
fn stop(context: &Context<'_>) -> Stop {
    let stop = context.stop();
    let each = context.setup.random_bytes / context.setup.asked.threads_of_data_set().max(1);
    let random = context.setup.asked.access.random;
    if random && !context.setup.asked.run.infinite_loop {
        Stop { bytes: Some(Bytes(each)), passes: None, ..stop }
    } else {
        stop
    }
}

fn blocks(context: &Context<'_>, mix: Mix, workers: u32) -> Blocks {
    let Setup { asked, block_bytes, .. } = context.setup;
    let (access, io) = (&asked.access, &asked.io);
    // Mappings use the page cache.
    let direct = io.direct && !io.mmap;
    let in_order = !access.random;
    Blocks {
        mix,
        mix_by_number: mix.read > 0 && mix.write > 0,
        access: order(access, mix),
        align: align(context.setup).map(PerDirection::all),
        rotation: Rotation {
            order: if in_order { FileOrder::Sequential } else { FileOrder::ByBytes },
            ..Rotation::default()
        },
        size: PerDirection::all(SizeSpec::Fixed(Bytes(*block_bytes))),
        // Random access without alignment cuts the amount of each worker.
        short_last: (in_order && !access.strided) || access.random_unaligned,
        share: if access.strided { Share::Interleave } else { Share::Span },
        depth: io.in_flight(),
        lock: lock(io),
        truncate_at_open: io.truncate
            && mix.write > 0
            && context.setup.path_kind != PathKind::BlockDevice,
        engine: match (io.mmap, io.in_flight()) {
            (true, _) => Engine::MMAP,
            (false, 1) => Engine::Psync,
            (false, _) => Engine::LIBAIO,
        },
        direct,
        hints: Hints { advice: advice(io), map_advice: map_advice(io), ..Hints::default() },
        pace: content::pace(context.setup, mix, workers),
        content: content::content(context.setup),
        verify: content::verify(context.setup, mix),
        ..Blocks::default()
    }
}

/// Step of unaligned random offsets.
pub(super) fn align(setup: &Setup) -> Option<Bytes> {
    let (access, io) = (&setup.asked.access, &setup.asked.io);
    let unaligned = access.random && access.random_unaligned;
    unaligned.then_some(Bytes(if io.direct && !io.mmap { SECTOR } else { 1 }))
}

/// Order of the offsets.
pub(super) fn order(access: &AccessOptions, mix: Mix) -> Access {
    let once =
        mix.read == 0 && !access.random_unaligned && access.random_source == RandomSource::Chosen;
    match (access.random, access.backward) {
        (true, _) if once => Access::Permutation,
        (true, _) => Access::Random,
        (false, true) => Access::Backward,
        (false, false) => Access::Sequential,
    }
}

/// Advice about files.
pub(super) fn advice(io: &IoOptions) -> Pieces<blocks::Advice> {
    let piece = |piece: &FileAdvice| match piece {
        FileAdvice::Sequential => blocks::Advice::Sequential,
        FileAdvice::Random => blocks::Advice::Random,
        FileAdvice::WillNeed => blocks::Advice::Willneed,
        FileAdvice::DontNeed => blocks::Advice::Dontneed,
        FileAdvice::NoReuse => blocks::Advice::Noreuse,
    };
    Pieces(io.file_advice.iter().map(piece).collect())
}

/// Advice about mappings, if any; file advice does not apply to mappings.
pub(super) fn map_advice(io: &IoOptions) -> Option<Pieces<blocks::MapAdvice>> {
    let piece = |piece: &MapAdvice| match piece {
        MapAdvice::Sequential => blocks::MapAdvice::Sequential,
        MapAdvice::Random => blocks::MapAdvice::Random,
        MapAdvice::WillNeed => blocks::MapAdvice::Willneed,
        MapAdvice::DontNeed => blocks::MapAdvice::Dontneed,
        MapAdvice::HugePage => blocks::MapAdvice::Hugepage,
        MapAdvice::NoHugePage => blocks::MapAdvice::Nohugepage,
    };
    io.mmap.then(|| Pieces(io.map_advice.iter().map(piece).collect()))
}

/// Lock around each I/O.
pub(super) fn lock(io: &IoOptions) -> Lock {
    match io.lock {
        FileLock::None => Lock::None,
        FileLock::Range => Lock::PosixRange,
        FileLock::Full => Lock::PosixFile,
    }
}
