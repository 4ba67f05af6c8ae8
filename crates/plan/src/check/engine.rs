//! Capabilities of each way of issuing I/O.

use super::access::does;
use super::{DEPTH_MAX, Found, SECTOR, View};
use crate::blocks::{
    Buffers, CallFlags, Engine, IoPriority, Lock, MemoryKind, OpenSync, PriorityShare, Pvsync,
    RingOptions, Uring,
};
use crate::units::Direction;
use crate::{Bytes, TargetKind};

/// A page: a buffer may begin after its boundary.
const PAGE: Bytes = Bytes(4096);

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    depth(view, out);
    batches(view, out);
    hints(view, out);
    priorities(view, out);
    buffers(view, out);
    if view.blocks.engine.takes_many() && view.blocks.lock != Lock::None {
        let message = format!("{} has more in flight than it waits for", view.blocks.engine.name());
        out.error("lock", view.key("lock"), message, "use psync, or remove lock");
    }
    truncation(view, out);
    match view.blocks.engine {
        Engine::Pvsync(options) => pvsync(view, options, out),
        Engine::IoUring(options) => uring(view, options, out),
        Engine::UringCmd(options) => ring(view, options.ring(), out),
        Engine::Mmap(_) => mmap(view, out),
        Engine::Libaio(_) => libaio(view, out),
        Engine::Ftruncate => ftruncate(view, out),
        Engine::PageFault => page_fault(view, out),
        _ => {}
    }
    if let Some(flags) = view.blocks.engine.call_flags() {
        call_flags(view, flags, out);
    }
    if view.blocks.direct && !view.blocks.moves_bytes() && view.blocks.uses_targets() {
        let message = format!("{} moves no bytes that could be direct", view.blocks.engine.name());
        out.warning("direct-nothing", view.key("direct"), message, "remove direct");
    }
}

/// Files that are emptied are written again.
fn truncation(view: &View<'_>, out: &mut Found) {
    let at = view.key("truncate_at_open");
    if !view.blocks.truncate_at_open {
        return;
    }
    if !does(view, Direction::Write) || !view.blocks.uses_targets() {
        let message = "truncate_at_open empties files, and nothing writes them again";
        out.error("truncate", at, message, "remove it, or write");
    } else if let Some(device) = view.targets.iter().find(|of| of.kind == TargetKind::Device) {
        let message = format!("`{}` is a device, which cannot be emptied", device.name);
        out.error("truncate", at, message, "remove truncate_at_open");
    }
}

/// Memory is one piece from its start, and nothing is given back.
fn page_fault(view: &View<'_>, out: &mut Found) {
    if does(view, Direction::Trim) {
        let message = "page_fault reads and writes memory, and trims none";
        out.error("page-fault", view.key("mix"), message, "remove trims from the mix");
    }
    if view.files() > 1 {
        let message = "page_fault has memory for one target alone";
        out.error("page-fault", view.key("engine"), message, "give one target of one file");
    }
}

/// Place of an option of the engine.
fn option(view: &View<'_>, key: &str) -> crate::PlanPath {
    view.key("engine").key(view.blocks.engine.name()).key(key)
}

fn depth(view: &View<'_>, out: &mut Found) {
    let blocks = view.blocks;
    out.count("depth", view.key("depth"), blocks.depth.into(), DEPTH_MAX.into());
    if blocks.depth > 1 && blocks.depth <= DEPTH_MAX && !blocks.engine.takes_many() {
        let message = format!(
            "{} keeps one operation in flight per worker; depth {} has no effect",
            blocks.engine.name(),
            blocks.depth
        );
        let workers = u64::from(view.job.workers) * u64::from(blocks.depth);
        let remedy = format!("set workers = {workers}, or engine = \"io_uring\"");
        out.warning("depth-sync", view.key("depth"), message, remedy);
    }
}

fn batches(view: &View<'_>, out: &mut Found) {
    let depth = view.blocks.depth;
    let (least, most) = (view.blocks.batch_reap, view.blocks.batch_reap_max);
    let batches = [
        ("batch_submit", view.blocks.batch_submit),
        ("batch_reap", Some(least)),
        ("batch_reap_max", most),
    ];
    if let Some(most) = most.filter(|most| *most < least) {
        let message = format!("batch_reap waits for {least}, and batch_reap_max takes {most}");
        out.error("batch", view.key("batch_reap_max"), message, "raise it, or wait for fewer");
    }
    for (key, batch) in batches {
        match batch {
            Some(0) => {
                out.error("batch", view.key(key), format!("{key} is 0"), format!("set {key} = 1"));
            }
            // Without depth nothing fits, which is reported already.
            Some(batch) if batch > depth && depth > 0 => {
                let message = format!("{key} is {batch}, more than the depth of {depth}");
                let remedy = format!("set {key} to at most {depth}, or raise depth");
                out.error("batch", view.key(key), message, remedy);
            }
            _ => {}
        }
    }
}

fn uring(view: &View<'_>, options: Uring, out: &mut Found) {
    ring(view, options.ring(), out);
    if options.vectored && options.fixed_buffers == Some(true) {
        let message = "operations on vectors cannot use registered buffers";
        out.error("uring-vectored", option(view, "vectored"), message, "remove one of the two");
    }
}

/// Options of the ring, whatever its entries are.
fn ring(view: &View<'_>, options: RingOptions, out: &mut Found) {
    let RingOptions { sqpoll, sqpoll_cpu, iopoll, defer_taskrun, .. } = options;
    if iopoll && !view.blocks.direct {
        let message = "iopoll is set, but only direct I/O can be polled for";
        out.error("iopoll-direct", option(view, "iopoll"), message, "set direct = true");
    }
    if let Some(cpu) = sqpoll_cpu.filter(|_| !sqpoll) {
        let message = format!("sqpoll_cpu is {cpu}, but sqpoll is off");
        out.error("sqpoll-cpu", option(view, "sqpoll_cpu"), message, "set sqpoll = true");
    }
    if let Some(cpu) = sqpoll_cpu.filter(|cpu| *cpu > super::CPU_MAX) {
        let remedy = format!("use 0 to {}", super::CPU_MAX);
        out.error("cpu", option(view, "sqpoll_cpu"), format!("there is no CPU {cpu}"), remedy);
    }
    if defer_taskrun == Some(true) && sqpoll {
        let message = "defer_taskrun and sqpoll exclude each other in the kernel";
        out.error("uring-defer", option(view, "defer_taskrun"), message, "remove one of them");
    }
}

fn pvsync(view: &View<'_>, options: Pvsync, out: &mut Found) {
    let Pvsync { hipri, hipri_percent, .. } = options;
    if hipri && !view.blocks.direct {
        let message = "hipri is set, but only direct I/O can be polled for";
        out.error("hipri-direct", option(view, "hipri"), message, "set direct = true");
    }
    if let Some(percent) = hipri_percent {
        let at = option(view, "hipri_percent");
        out.percent("hipri-percent", at.clone(), percent.into(), 0.0);
        if !hipri {
            let message = "hipri_percent is set, but not hipri";
            out.error("hipri-percent", at, message, "set hipri = true");
        }
    }
}

fn call_flags(view: &View<'_>, flags: CallFlags, out: &mut Found) {
    let at = option(view, "flags");
    if flags.dontcache && view.blocks.direct {
        let message = "dontcache is set, but direct I/O does not use the cache";
        out.warning("dontcache-direct", at.key("dontcache"), message, "remove one of the two");
    }
    if flags.atomic && !view.blocks.direct {
        let message = "atomic is set, but only direct writes can be atomic";
        out.error("atomic-direct", at.key("atomic"), message, "set direct = true");
    }
}

fn priorities(view: &View<'_>, out: &mut Found) {
    let (at, engine) = (view.key("priorities"), view.blocks.engine);
    if !view.blocks.priorities.is_empty() && !engine.has_priorities() {
        let message = format!("{} cannot give single operations a priority", engine.name());
        out.error("priorities", at, message, "set engine = \"io_uring\" or \"libaio\"");
        return;
    }
    for (i, share) in view.blocks.priorities.iter().enumerate() {
        let at = at.index(i);
        let PriorityShare { op, priority, .. } = *share;
        if op == Direction::Trim {
            let message = "a trim cannot have its own priority";
            out.error("priorities", at.key("op"), message, "write op = \"read\" or \"write\"");
        }
        io_priority(priority, &at.key("priority"), out);
    }
    let shares = &view.blocks.priorities;
    for op in [Direction::Read, Direction::Write] {
        if shares.iter().any(|share| share.op == op && percent_of(shares, op, share.size) > 100) {
            let message = format!("shares of {}s of one size add up to more than 100 %", op.name());
            out.error("priorities", at.clone(), message, "lower them");
        }
    }
}

/// Sum of the shares of one direction and size.
fn percent_of(shares: &[PriorityShare], op: Direction, size: Option<Bytes>) -> u32 {
    let of_size = shares.iter().filter(|share| (share.op, share.size) == (op, size));
    of_size.map(|share| u32::from(share.percent)).sum()
}

/// Level and hint are those that the kernel knows.
pub(super) fn io_priority(priority: IoPriority, at: &crate::PlanPath, out: &mut Found) {
    let IoPriority { level, hint, .. } = priority;
    if level >= IoPriority::LEVELS {
        let message = format!("level is {level}, and the kernel knows 0 to 7");
        out.error("io-priority", at.key("level"), message, "use 0 (highest) to 7 (lowest)");
    }
    if hint > IoPriority::HINT_MAX {
        let message = format!("hint is {hint}, more than {}", IoPriority::HINT_MAX);
        out.error("io-priority", at.key("hint"), message, "use 0 for none");
    }
}

fn buffers(view: &View<'_>, out: &mut Found) {
    let Buffers { kind, file, offset, huge, .. } = &view.blocks.buffers;
    let at = view.key("buffers");
    if *offset >= PAGE {
        let message = format!("offset is {offset}, not less than a page of {PAGE}");
        out.error("buffers-offset", at.key("offset"), message, "use a smaller one");
    } else if view.blocks.direct && !offset.0.is_multiple_of(SECTOR.0) {
        let message =
            format!("offset is {offset}, and direct I/O needs buffers at multiples of 512");
        out.warning("buffers-offset", at.key("offset"), message, "use a multiple of 512");
    }
    if *kind == MemoryKind::Shm && file.is_some() {
        let message = "a System V segment has no backing file";
        out.error("buffers-file", at.key("file"), message, "set kind = \"shared\"");
    }
    if *huge && view.blocks.hints.huge_pages == Some(true) {
        let message = "hints.huge_pages takes other pages where there are no huge ones, huge none";
        out.warning("buffers-huge", at.key("huge"), message, "remove one of the two");
    }
}

fn ftruncate(view: &View<'_>, out: &mut Found) {
    if does(view, Direction::Read) || does(view, Direction::Trim) {
        let message = format!("ftruncate only writes, but the mix is {}", view.blocks.mix);
        out.error("ftruncate-mix", view.key("mix"), message, "set mix = \"write\"");
    }
}

fn hints(view: &View<'_>, out: &mut Found) {
    let hints = &view.blocks.hints;
    if hints.pre_read && (hints.evict || hints.invalidate) {
        let message = "the files are to be read into the cache and dropped from it";
        let place = view.key("hints").key("pre_read");
        out.error("pre-read", place, message, "remove pre_read, or evict and invalidate");
    }
    if hints.map_advice.is_some() && !view.blocks.engine.is_kind_of(Engine::MMAP) {
        let message = format!("{} maps no files", view.blocks.engine.name());
        let place = view.key("hints").key("map_advice");
        out.error("map-advice", place, message, "use advice, or engine = \"mmap\"");
    }
}

fn mmap(view: &View<'_>, out: &mut Found) {
    if view.blocks.direct {
        let message = "mmap works on the page cache and cannot be direct";
        let remedy = "set direct = false, or engine.mmap.drop = true instead";
        out.error("mmap-direct", view.key("direct"), message, remedy);
    }
    if view.blocks.durability.open != OpenSync::None {
        let message = "how a file is opened does not make stores to a mapping durable";
        let place = view.key("durability").key("open");
        out.warning("mmap-open", place, message, "use durability.fsync_every");
    }
}

fn libaio(view: &View<'_>, out: &mut Found) {
    if !view.blocks.direct {
        let message = "libaio without direct I/O works synchronously: submitting waits for the I/O";
        let remedy = "set direct = true, or engine = \"io_uring\"";
        out.warning("libaio-buffered", view.key("direct"), message, remedy);
    }
}
