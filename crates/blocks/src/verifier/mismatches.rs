//! Mismatches: the report of a mismatch, and the end of the job.

use std::sync::atomic::Ordering::Relaxed;

use candor_engine::operation::Slot;
use candor_plan::{Bytes, PathText, path_of};
use candor_record::{Mismatch, MismatchKind, SeenBy};

use super::{Verifier, dump};
use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_bytes::mismatch::BlockMismatch;

impl Verifier {
    /// Reports a block that does not match; false if the mismatch ends the job.
    #[cold]
    pub(super) fn mismatch(
        &mut self,
        slot: &Slot,
        block: &[u8],
        offset: u64,
        wrong: BlockMismatch,
        files: &Files,
    ) -> bool {
        let path = &files.get(slot.handle).path;
        let last_use = self.map(slot).last_use(offset);
        let mut wrong = self.of_other_file(slot, wrong, files);
        if let Some(directory) = &self.plan.dump {
            let name = path.file_name().unwrap_or_default().text();
            let stem = directory.join(path_of(&format!("{name}.{offset}")));
            let expected =
                if wrong.in_header { None } else { Some(self.expected_bytes(slot, block, offset)) };
            wrong.detail += &dump::dump(&stem, block, expected);
        }
        let seen_by = match slot.reads_back() {
            _ if self.is_before_write(slot) => SeenBy::ReadBeforeWrite,
            true => SeenBy::ReadBack,
            false => SeenBy::Read,
        };
        self.stats.add(Mismatch {
            path: path.text(),
            offset,
            length: Bytes(block.len() as u64),
            seen_by,
            last_use,
            ..wrong.of_read(slot)
        });
        match self.plan.mismatches_max {
            Some(most) => self.mismatches.fetch_add(1, Relaxed) + 1 < most,
            None => self.plan.continue_on_mismatch,
        }
    }

    /// The mismatch; names the other file if the block belongs to another file of the job.
    fn of_other_file(&self, slot: &Slot, wrong: BlockMismatch, files: &Files) -> BlockMismatch {
        let own = self.seeds[slot.handle as usize];
        let Some(found) = wrong.blocks.found.filter(|found| found.seed != own) else {
            return wrong;
        };
        let Some(file) = self.seeds.iter().position(|seed| *seed == found.seed) else {
            return wrong;
        };
        let of = files.get(file as u32).path.text();
        let detail = format!("it holds the block of offset {} of `{of}`", found.offset);
        BlockMismatch { kind: MismatchKind::Misdirected, detail, ..wrong }
    }

    /// Expected bytes of a block with a correct header; none if they are unknown.
    fn expected_bytes(&self, slot: &Slot, block: &[u8], offset: u64) -> Option<Vec<u8>> {
        let position =
            dump::Position { read_offset: slot.offset, at: (offset - slot.offset) as usize };
        let seed = self.plan.seed.unwrap_or_default();
        dump::expected(&self.form, &self.content, seed, block, position)
    }
}
