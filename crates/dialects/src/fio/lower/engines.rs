//! How operations are issued.

use candor_plan::blocks::{Rwf, Uring};
use candor_plan::{Blocks, Engine};

use super::{Instance, Told};
use crate::fio::options;

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, _: &mut Told) {
    let said = &from.settings.issue;
    blocks.direct = said.direct;
    // What was read in beforehand is not dropped again.
    blocks.hints.pre_read = from.settings.making.pre_read;
    blocks.hints.invalidate = said.invalidate && !blocks.hints.pre_read && !blocks.direct;
    // An engine that is not known or not built is refused before anything is lowered.
    let engine = options::engine(&said.engine).map_or("", |engine| engine.name);
    blocks.engine = match engine {
        "pvsync2" => Engine::Pvsync,
        "libaio" => Engine::Libaio,
        "io_uring" => Engine::IoUring,
        "mmap" => Engine::Mmap,
        "null" => Engine::Null,
        _ => Engine::Psync,
    };
    depth(from, blocks);
    flags(from, blocks);
}

/// Depth and batches; of engines that do one operation at a time, fio takes them without effect.
fn depth(from: &Instance<'_>, blocks: &mut Blocks) {
    let said = &from.settings.issue;
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    if !blocks.engine.is_async() {
        return;
    }
    let depth = small(said.depth);
    blocks.depth = depth;
    // Without the option as many are handed over as are ready; fio's default is one at a time.
    if from.settings.given.has("iodepth_batch") {
        let batch = if said.batch == 0 { depth } else { small(said.batch).min(depth) };
        blocks.batch_submit = Some(batch);
    }
    blocks.batch_reap = small(said.complete_min).clamp(1, depth);
}

/// Options that only some engines have.
fn flags(from: &Instance<'_>, blocks: &mut Blocks) {
    let said = &from.settings.engine;
    match blocks.engine {
        Engine::IoUring => {
            blocks.uring = Uring {
                sqpoll: said.sqpoll,
                sqpoll_cpu: said.sqpoll_cpu.map(|cpu| u32::try_from(cpu).unwrap_or(u32::MAX)),
                iopoll: said.hipri,
                fixed_buffers: said.fixed_buffers.then_some(true),
                fixed_files: said.fixed_files.then_some(true),
                ..Uring::default()
            };
        }
        Engine::Pvsync => {
            blocks.rwf = Rwf {
                hipri: said.hipri,
                nowait: said.nowait,
                dontcache: said.uncached,
                ..Rwf::default()
            };
        }
        _ => {}
    }
}
