//! When what is written is made durable.

use candor_plan::Blocks;
use candor_plan::blocks;

use crate::fio::job_options::OpenSync;
use crate::fio::lower::{Diagnostics, Instance};

pub(in crate::fio::lower) fn lower(from: &Instance<'_>, blocks: &mut Blocks, _: &mut Diagnostics) {
    let said = &from.options.durability;
    let range = range(from);
    blocks.durability = blocks::Durability {
        open: match from.options.issue.sync {
            OpenSync::None => blocks::OpenSync::None,
            OpenSync::Sync => blocks::OpenSync::Sync,
            OpenSync::Dsync => blocks::OpenSync::Dsync,
        },
        fsync_every: said.fsync,
        fdatasync_every: said.fdatasync,
        fsync_at_end: said.at_end || said.on_close,
        syncfs_at_end: said.syncfs_at_end,
        in_turn: said.fsync > 0 || said.fdatasync > 0 || range.is_some(),
        range,
    };
}

/// `sync_file_range`, where it is asked for.
fn range(from: &Instance<'_>) -> Option<blocks::RangeSync> {
    let range = from.options.durability.sync_file_range;
    (range.every > 0).then_some(blocks::RangeSync {
        every: range.every,
        wait_before: range.wait_before,
        write: range.write,
        wait_after: range.wait_after,
    })
}
