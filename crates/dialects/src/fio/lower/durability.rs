//! When what is written is made durable.

use candor_plan::Blocks;
use candor_plan::blocks;

use super::{Instance, Told};
use crate::fio::settings::OpenSync;

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, _: &mut Told) {
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
    };
}
