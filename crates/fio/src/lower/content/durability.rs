//! Durability of writes.

use candor_plan::Blocks;
use candor_plan::blocks;

use crate::lower::instance::Instance;
use crate::options::OpenSync;
use candor_front::Diagnostics;

pub(in crate::lower) fn lower(from: &Instance<'_>, blocks: &mut Blocks, _: &mut Diagnostics) {
    let options = &from.options.durability;
    let range = range(from);
    blocks.durability = blocks::Durability {
        open: match from.options.issue.sync {
            OpenSync::None => blocks::OpenSync::None,
            OpenSync::Sync => blocks::OpenSync::Sync,
            OpenSync::Dsync => blocks::OpenSync::Dsync,
        },
        fsync_every: options.fsync,
        fdatasync_every: options.fdatasync,
        fsync_at_end: options.at_end || options.on_close,
        syncfs_at_end: options.syncfs_at_end,
        in_turn: options.fsync > 0 || options.fdatasync > 0 || range.is_some(),
        range,
    };
}

/// `sync_file_range`, if requested.
fn range(from: &Instance<'_>) -> Option<blocks::RangeSync> {
    let range = from.options.durability.sync_file_range;
    (range.every > 0).then_some(blocks::RangeSync {
        every: range.every,
        wait_before: range.wait_before,
        write: range.write,
        wait_after: range.wait_after,
    })
}
