//! Engine and depth.

pub(super) mod http;
mod passthrough;
pub(super) mod programs;

use candor_plan::blocks::{
    Buffers, IoPriority, Lock, MemoryKind, Mmap, PriorityClass, PriorityShare, Uring,
};
use candor_plan::entries::{Entries, Over, Step};
use candor_plan::units::Direction;
use candor_plan::{Blocks, Bytes, Engine, path_of};

use super::instance::Instance;
use crate::job::PerName;
use crate::options::{self, Amount, EngineOptions, Method, PrioritySplit, StatType, SubmitMode};
use candor_front::Diagnostics;

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    let given = &from.options.issue;
    blocks.engine = engine(&given.engine);
    blocks.direct = given.direct && blocks.moves_bytes() && !blocks.engine.is_kind_of(Engine::HTTP);
    if let Engine::Mmap(options) = &mut blocks.engine {
        // fio's way of direct I/O on a mapping.
        *options = Mmap { drop: blocks.direct };
        blocks.direct = false;
    }
    if blocks.engine == Engine::Threads {
        let did = "pread and pwrite in as many threads as iodepth";
        diagnostics.note(
            from,
            "ioengine",
            did,
            "the C library does one operation per file at a time",
        );
    }
    // Blocks that were read in beforehand are not dropped again.
    blocks.hints.pre_read = from.options.making.pre_read;
    blocks.hints.invalidate = given.invalidate && !blocks.hints.pre_read && !blocks.direct;
    if given.submit == SubmitMode::Offload {
        offload(from, blocks, diagnostics);
    }
    if blocks.engine == Engine::PageFault {
        page_fault(from, diagnostics);
    }
    lock(from, blocks, diagnostics);
    depth(from, blocks);
    flags(from, blocks, diagnostics);
    passthrough::lower(from, blocks, diagnostics);
    memory(from, blocks);
}

/// The engine of that name. One that is not known or not built is refused before.
pub(in crate::lower) fn engine(name: &str) -> Engine {
    match options::engine(name).map_or("", |engine| engine.name) {
        "sync" => Engine::Sync,
        "vsync" => Engine::Vsync,
        "pvsync" | "pvsync2" => Engine::PVSYNC,
        "libaio" => Engine::LIBAIO,
        "posixaio" => Engine::Threads,
        "io_uring" => Engine::IO_URING,
        "mmap" => Engine::MMAP,
        "splice" => Engine::Splice,
        "falloc" => Engine::Fallocate,
        "ftruncate" => Engine::Ftruncate,
        "page_fault" => Engine::PageFault,
        "io_uring_cmd" => Engine::IO_URING_CMD,
        "sg" => Engine::SG,
        "http" => Engine::HTTP,
        "null" | "cpuio" | "exec" => Engine::Null,
        _ => Engine::Psync,
    }
}

/// The memory of page_fault is one piece, from its start.
fn page_fault(from: &Instance<'_>, diagnostics: &mut Diagnostics) {
    let options = from.options;
    if options.files.number > 1 {
        diagnostics.refuse(from, "nrfiles", "ioengine=page_fault has memory for one file");
    }
    if options.area.offset != Amount::Bytes(0) {
        diagnostics.refuse(from, "offset", "the memory of ioengine=page_fault has no offset");
    }
    if options.verify.method != Method::None {
        let why = "ioengine=page_fault keeps nothing that could be verified";
        diagnostics.refuse(from, "verify", why);
    }
}

/// Others do the operations than the one that decides on them.
fn offload(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    match blocks.engine {
        Engine::Psync | Engine::Sync => blocks.engine = Engine::Threads,
        Engine::Threads => {}
        // In fio each thread hands over one operation and waits for it.
        Engine::Libaio(_) | Engine::IoUring(_) | Engine::Pvsync(_) => {
            let did = "pread and pwrite in as many threads as iodepth";
            diagnostics.note(
                from,
                "io_submit_mode",
                did,
                "a thread that waits for one needs no queue",
            );
            blocks.engine = Engine::Threads;
        }
        Engine::Null => {
            let did = "operations end where they are issued";
            diagnostics.note(
                from,
                "io_submit_mode",
                did,
                "there is nothing that could be waited for",
            );
        }
        _ => diagnostics.refuse(
            from,
            "io_submit_mode",
            "only reading and writing calls are handed over",
        ),
    }
}

/// Locks of files. fio holds a lock while it queues an operation, so asynchronous engines do not
/// serialize operations.
fn lock(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    blocks.lock = match from.options.files.lock {
        options::Lock::None => return,
        options::Lock::Exclusive => Lock::Exclusive,
        options::Lock::ReadWrite => Lock::ReadWrite,
    };
    if blocks.engine.takes_many() {
        let why = "fio locks while an operation is queued, which this engine does without I/O";
        diagnostics.note(from, "lockfile", "operations are not kept apart", why);
        blocks.lock = Lock::None;
    }
}

/// Depth and batches. A synchronous engine keeps the depth for a remark about it, and ignores
/// batches, as in fio.
fn depth(from: &Instance<'_>, blocks: &mut Blocks) {
    let given = &from.options.issue;
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let depth = small(given.depth);
    blocks.depth = depth;
    if !blocks.engine.takes_many() {
        return;
    }
    blocks.depth_low = given.low.map(small).filter(|low| (1..depth).contains(low));
    blocks.serialize_overlap = given.serialize_overlap;
    // Operations that become one call are always submitted together.
    if blocks.engine != Engine::Vsync {
        let batch = if given.batch == 0 { depth } else { small(given.batch).min(depth) };
        blocks.batch_submit = Some(batch);
    }
    blocks.batch_reap = small(given.complete_min).clamp(1, depth);
    if blocks.engine != Engine::Vsync {
        let most = given.complete_max.map_or(0, small).clamp(blocks.batch_reap, depth);
        blocks.batch_reap_max = Some(most);
    }
}

/// Options that only some engines have.
fn flags(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    let given = &from.options.engine;
    let name = options::engine(&from.options.issue.engine).map_or("", |engine| engine.name);
    if let Engine::IoUring(options) = &mut blocks.engine {
        *options = uring(given);
    }
    if let Engine::Libaio(options) = &mut blocks.engine {
        options.vectored = given.vectored;
    }
    if let Some(flags) = blocks.engine.call_flags_mut().filter(|_| name != "pvsync") {
        flags.nowait = given.nowait;
        flags.dontcache = given.uncached;
        flags.atomic = given.atomic;
    }
    if given.hipri && name == "pvsync2" {
        hipri(from, blocks, diagnostics);
    }
    if blocks.engine.has_priorities() {
        blocks.priorities = priorities(given);
    }
}

fn uring(given: &EngineOptions) -> Uring {
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    Uring {
        sqpoll: given.sqpoll,
        sqpoll_cpu: given.sqpoll_cpu.map(small),
        iopoll: given.hipri,
        fixed_buffers: given.fixed_buffers.then_some(true),
        fixed_files: given.fixed_files.then_some(true),
        force_async_every: small(given.force_async),
        // Registered buffers have no vectors.
        vectored: given.nonvectored == Some(0) && !given.fixed_buffers,
        ..Uring::default()
    }
}

fn hipri(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    if !blocks.direct {
        diagnostics.note(from, "hipri", "nothing", "the kernel polls for direct I/O only");
        return;
    }
    let percent = from.options.engine.hipri_percent.min(100) as u8;
    if let Engine::Pvsync(options) = &mut blocks.engine {
        options.hipri = true;
        options.hipri_percent = Some(percent).filter(|percent| *percent < 100);
    }
}

/// Shares of operations with a priority of their own.
fn priorities(given: &EngineOptions) -> Vec<PriorityShare> {
    let own = &given.priorities;
    let mut shares = Vec::new();
    for op in [Direction::Read, Direction::Write] {
        let priority = |split: Option<&PrioritySplit>| {
            let level = split.and_then(|split| split.level).unwrap_or(*own.level.of(op));
            // Class 0 means unset: the highest for all operations, the default one in a split.
            let class = match (split.and_then(|split| split.class), *own.class.of(op)) {
                (Some(0), _) => PriorityClass::BestEffort,
                (None, 0) => PriorityClass::Realtime,
                (own, of_all) => class_of(own.unwrap_or(of_all)),
            };
            IoPriority {
                class,
                level: level.min(u64::from(u8::MAX)) as u8,
                hint: (*own.hint.of(op)).min(u64::from(u16::MAX)) as u16,
            }
        };
        let percent = *own.percent.of(op);
        if percent > 0 {
            let (size, percent) = (None, percent.min(100) as u8);
            shares.push(PriorityShare { op, size, percent, priority: priority(None) });
        }
        let mut splits: Vec<_> = own.splits.of(op).iter().collect();
        splits.sort_by_key(|split| split.size);
        shares.extend(splits.into_iter().map(|split| PriorityShare {
            op,
            size: Some(Bytes(split.size)),
            percent: split.percent.min(100) as u8,
            priority: priority(Some(split)),
        }));
    }
    shares
}

/// A class by fio's number.
pub(super) fn class_of(number: u64) -> PriorityClass {
    match number {
        1 => PriorityClass::Realtime,
        2 => PriorityClass::BestEffort,
        3 => PriorityClass::Idle,
        _ => PriorityClass::None,
    }
}

fn memory(from: &Instance<'_>, blocks: &mut Blocks) {
    use options::MemoryKind as Kind;
    let given = &from.options.memory;
    blocks.buffers = Buffers {
        kind: match given.kind {
            Kind::Shm | Kind::ShmHuge => MemoryKind::Shm,
            Kind::MmapShared => MemoryKind::Shared,
            Kind::Malloc | Kind::Mmap | Kind::MmapHuge | Kind::Cuda => MemoryKind::Private,
        },
        huge: matches!(given.kind, Kind::ShmHuge | Kind::MmapHuge),
        file: given.file.as_deref().map(path_of),
        // Whole pages change nothing: buffers begin on one.
        offset: Bytes(given.align % 4096),
        lock: Some(Bytes(given.lock)).filter(|lock| lock.0 > 0),
    };
}

/// Steps over the names of files; none for engines that do I/O.
pub(super) fn entries(from: &Instance<'_>) -> Option<Entries> {
    let looks = match from.options.engine.stat {
        StatType::Stat => Step::Stat,
        StatType::Lstat => Step::Lstat,
        StatType::Statx => Step::Statx,
    };
    let (over, step) = match options::engine(&from.options.issue.engine)?.name {
        "filecreate" => (Over::TargetFiles, Step::Create),
        "filestat" => (Over::TargetFiles, looks),
        "filedelete" => (Over::TargetFiles, Step::Unlink),
        "dircreate" => (Over::TargetDirectories, Step::Mkdir),
        "dirstat" => (Over::TargetDirectories, looks),
        "dirdelete" => (Over::TargetDirectories, Step::Rmdir),
        _ => return None,
    };
    Some(Entries { over, steps: vec![step], ..Entries::default() })
}

/// Direction under which fio counts operations without I/O: the direction of `rw`.
pub(super) fn counted_as(from: &Instance<'_>) -> Option<Direction> {
    let is_io = entries(from).is_none() && !programs::is_one(from);
    let direction = from.options.rw.direction;
    let direction = match (direction.writes(), direction.trims()) {
        (true, _) => Direction::Write,
        (false, true) => Direction::Trim,
        (false, false) => Direction::Read,
    };
    (!is_io).then_some(direction)
}

/// Operations on names are counted as passes over files in blocks.
pub(super) fn per_name(from: &Instance<'_>, blocks: &Blocks) -> Option<PerName> {
    entries(from)?;
    let direction = counted_as(from).unwrap_or(Direction::Read);
    let bytes = blocks.size.of(direction).min().0.max(1);
    let files = &from.options.files;
    let length = match (files.size, from.options.area.size) {
        (Some((low, _)), _) => low,
        (None, Some(Amount::Bytes(all))) => all / files.number.max(1),
        (None, _) => 0,
    };
    Some(PerName { ops: (length / bytes).max(1), bytes })
}
