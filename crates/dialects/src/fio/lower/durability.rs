//! When what is written is made durable.

use candor_plan::Blocks;
use candor_plan::blocks;

use super::{Instance, Told};
use crate::fio::settings::OpenSync;

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, told: &mut Told) {
    let said = &from.settings.durability;
    blocks.durability = blocks::Durability {
        open: match from.settings.issue.sync {
            OpenSync::None => blocks::OpenSync::None,
            OpenSync::Sync => blocks::OpenSync::Sync,
            OpenSync::Dsync => blocks::OpenSync::Dsync,
        },
        fsync_every: said.fsync,
        fdatasync_every: said.fdatasync,
        fsync_at_end: said.at_end || said.on_close,
        syncfs_at_end: said.syncfs_at_end,
        range: range(from, told),
    };
}

/// `sync_file_range`, which one cannot have beside a flush after some writes.
fn range(from: &Instance<'_>, told: &mut Told) -> Option<blocks::RangeSync> {
    let said = &from.settings.durability;
    let range = said.sync_file_range;
    if range.every == 0 {
        return None;
    }
    if said.fsync > 0 || said.fdatasync > 0 {
        told.refuse(from, "sync_file_range", "it is not done beside fsync or fdatasync");
        return None;
    }
    Some(blocks::RangeSync {
        every: range.every,
        wait_before: range.wait_before,
        write: range.write,
        wait_after: range.wait_after,
    })
}
