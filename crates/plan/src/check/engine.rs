//! What each way of issuing I/O can do.

use super::access::does;
use super::{DEPTH_MAX, Found, View};
use crate::blocks::{Engine, OpenSync, Rwf, Uring};
use crate::units::Op;

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    depth(view, out);
    batches(view, out);
    uring(view, out);
    rwf(view, out);
    hints(view, out);
    match view.blocks.engine {
        Engine::Mmap => mmap(view, out),
        Engine::Libaio => libaio(view, out),
        _ => {}
    }
}

fn depth(view: &View<'_>, out: &mut Found) {
    let blocks = view.blocks;
    out.count("depth", view.key("depth"), blocks.depth.into(), DEPTH_MAX.into());
    if blocks.depth > 1 && blocks.depth <= DEPTH_MAX && !blocks.engine.is_async() {
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
    let batches =
        [("batch_submit", view.blocks.batch_submit), ("batch_reap", Some(view.blocks.batch_reap))];
    for (key, batch) in batches {
        match batch {
            Some(0) => {
                out.error("batch", view.key(key), format!("{key} is 0"), format!("set {key} = 1"));
            }
            // Without depth nothing fits; that is told already.
            Some(batch) if batch > depth && depth > 0 => {
                let message = format!("{key} is {batch}, more than the depth of {depth}");
                let remedy = format!("set {key} to at most {depth}, or raise depth");
                out.error("batch", view.key(key), message, remedy);
            }
            _ => {}
        }
    }
}

fn uring(view: &View<'_>, out: &mut Found) {
    let Uring { sqpoll, sqpoll_cpu, iopoll, defer_taskrun, .. } = view.blocks.uring;
    let at = view.key("uring");
    let engine = view.blocks.engine;
    if engine != Engine::IoUring && view.blocks.uring != Uring::default() {
        let message = format!("uring is set, but the engine is {}", engine.name());
        out.error("uring-engine", at, message, "set engine = \"io_uring\", or remove uring");
        return;
    }
    if iopoll && !view.blocks.direct {
        let message = "iopoll is set, but only direct I/O can be polled for";
        out.error("iopoll-direct", at.key("iopoll"), message, "set direct = true");
    }
    if let Some(cpu) = sqpoll_cpu.filter(|_| !sqpoll) {
        let message = format!("sqpoll_cpu is {cpu}, but sqpoll is off");
        out.error("sqpoll-cpu", at.key("sqpoll_cpu"), message, "set sqpoll = true");
    }
    if let Some(cpu) = sqpoll_cpu.filter(|cpu| *cpu > super::CPU_MAX) {
        let message = format!("there is no CPU {cpu}");
        out.error("cpu", at.key("sqpoll_cpu"), message, format!("use 0 to {}", super::CPU_MAX));
    }
    if defer_taskrun == Some(true) && sqpoll {
        let message = "defer_taskrun and sqpoll exclude each other in the kernel";
        out.error("uring-defer", at.key("defer_taskrun"), message, "remove one of them");
    }
}

fn rwf(view: &View<'_>, out: &mut Found) {
    let Rwf { hipri, dontcache, .. } = view.blocks.rwf;
    let (at, engine) = (view.key("rwf"), view.blocks.engine);
    if engine != Engine::Pvsync && view.blocks.rwf != Rwf::default() {
        let message = format!("rwf is set, but the engine is {}", engine.name());
        out.error("rwf-engine", at, message, "set engine = \"pvsync\", or remove rwf");
        return;
    }
    if hipri && !view.blocks.direct {
        let message = "hipri is set, but only direct I/O can be polled for";
        out.error("hipri-direct", at.key("hipri"), message, "set direct = true");
    }
    if dontcache && view.blocks.direct {
        let message = "dontcache is set, but direct I/O does not use the cache";
        out.warning("dontcache-direct", at.key("dontcache"), message, "remove one of the two");
    }
}

fn hints(view: &View<'_>, out: &mut Found) {
    let hints = &view.blocks.hints;
    if hints.pre_read && (hints.evict || hints.invalidate) {
        let message = "the files are to be read into the cache and dropped from it";
        let place = view.key("hints").key("pre_read");
        out.error("pre-read", place, message, "remove pre_read, or evict and invalidate");
    }
}

fn mmap(view: &View<'_>, out: &mut Found) {
    if view.blocks.direct {
        let message = "mmap works on the page cache and cannot be direct";
        out.error("mmap-direct", view.key("direct"), message, "set direct = false");
    }
    if does(view, Op::Trim) {
        let message = format!("mmap cannot trim, but the mix is {}", view.blocks.mix);
        out.error("mmap-trim", view.key("mix"), message, "use another engine for trims");
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
