//! Bytes of files: their content, and the data by which reads are checked.

use candor_blocks::data::content::Content;
use candor_blocks::data::verify::fio_header::{self, Stamp};
use candor_blocks::data::verify::{Expected, Form, UNKNOWN};
use candor_engine::operation::Slot;
use candor_engine::random::mix;
use candor_plan::Bytes;
use candor_plan::blocks::{Format, Verify};
use candor_record::{Mismatch, VerifyStats};

/// Write of a block: every file is written by one pass over it.
const GENERATION: u32 = 1;

/// Contents of what a worker writes, and checks of what it reads.
pub struct Contents {
    content: Content,
    checks: Option<Checks>,
}

struct Checks {
    plan: Verify,
    form: Form,
    stamp: Stamp,
    /// Buffer for the expected bytes of a block.
    scratch: Vec<u8>,
    stats: VerifyStats,
}

impl Contents {
    /// Contents of a worker; with data to be checked, where `verify` is given.
    pub fn new(content: Content, verify: Option<Verify>, rank: u32) -> Contents {
        let checks = verify.map(|plan| Checks {
            form: Form::new(&plan, content.pattern()),
            plan,
            stamp: Stamp { elapsed_ns: 0, writer: (rank + 1) as u16, ..Stamp::default() },
            scratch: Vec::new(),
            stats: VerifyStats::default(),
        });
        Contents { content, checks }
    }

    /// Makes the bytes of a write to the file with that key.
    #[inline(always)]
    pub fn write(&mut self, slot: &mut Slot, key: u64) {
        let Some(checks) = &mut self.checks else { return self.content.write(slot) };
        // SAFETY: the slot's buffer has room for its length and is not in flight.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        checks.write(bytes, slot.offset, (&mut self.content, key));
    }

    /// Checks a read of the file with that key; false if a mismatch is to end the job.
    pub fn check(&mut self, slot: &Slot, key: u64, path: impl Fn() -> String) -> bool {
        let Some(checks) = &mut self.checks else { return true };
        // SAFETY: the operation has completed, so the buffer belongs to the worker again.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        checks.check(bytes, slot, (key, path))
    }

    /// Results so far, where something is checked.
    pub fn stats(&self) -> Option<&VerifyStats> {
        self.checks.as_ref().map(|checks| &checks.stats)
    }
}

impl Checks {
    /// Offset and bytes of each verified block. The end of a file that has no room for a header is
    /// not verified.
    fn blocks<'b>(
        &self,
        bytes: &'b mut [u8],
    ) -> impl Iterator<Item = (usize, &'b mut [u8])> + use<'b> {
        let (interval, header) = (self.plan.interval.0 as usize, self.plan.header_bytes() as usize);
        let blocks = bytes.chunks_mut(interval).enumerate();
        let blocks = blocks.map(move |(index, block)| (index * interval, block));
        blocks.filter(move |(_, block)| block.len() >= header)
    }

    fn expected(&self, offset: u64, key: u64, generation: u32) -> Expected {
        let seed = mix(self.plan.seed.unwrap_or_default(), key);
        Expected { offset, seed, generation, number: None }
    }

    fn write(&mut self, bytes: &mut [u8], offset: u64, (content, key): (&mut Content, u64)) {
        let keyed = matches!(self.plan.format, Format::Acca(_)) && !content.is_pattern();
        if !keyed {
            content.bytes(bytes, offset);
        }
        if matches!(self.form, Form::Pattern(_) | Form::Nothing) {
            return;
        }
        for (at, block) in self.blocks(bytes) {
            let as_of = self.expected(offset + at as u64, key, GENERATION);
            if keyed {
                content.keyed(block, fio_header::seed_of(&as_of), offset);
            }
            self.form.seal(block, &as_of, &self.stamp);
        }
        self.stamp.number = self.stamp.number.wrapping_add(1);
    }

    fn check(
        &mut self,
        bytes: &mut [u8],
        slot: &Slot,
        (key, path): (u64, impl Fn() -> String),
    ) -> bool {
        let mut is_intact = true;
        for (at, block) in self.blocks(bytes) {
            let offset = slot.offset + at as u64;
            let expected = self.expected(offset, key, UNKNOWN);
            let checked = self.form.check(block, &expected, (slot.offset, at), &mut self.scratch);
            self.stats.blocks += 1;
            let Err(wrong) = checked else { continue };
            is_intact = false;
            self.stats.add(Mismatch {
                path: path(),
                offset,
                length: Bytes(block.len() as u64),
                kind: wrong.kind,
                detail: wrong.detail,
                read_offset: slot.offset,
                read_length: Bytes(slot.length),
                expected: wrong.blocks.expected,
                found: wrong.blocks.found,
                sectors: wrong.blocks.sectors,
                ..Mismatch::default()
            });
            if !self.plan.continue_on_mismatch {
                break;
            }
        }
        is_intact || self.plan.continue_on_mismatch
    }
}
