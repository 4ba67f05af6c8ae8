//! Bytes of objects: content of uploads, and checks of reads.

use candor_bytes::content::Content;
use candor_bytes::mismatch::BlockMismatch;
use candor_bytes::verify::fio_header::Stamp;
use candor_bytes::verify::{Expected, Form, UNKNOWN};
use candor_engine::operation::Slot;
use candor_engine::random::mix;
use candor_plan::blocks::Verify;
use candor_plan::{Bytes, permutation};
use candor_record::{Mismatch, VerifyStats};

/// Generation of all blocks: an object is written whole.
const GENERATION: u32 = 1;

/// Content of a worker's uploads, and checks of its reads.
pub struct Contents {
    content: Content,
    checks: Option<Checks>,
}

struct Checks {
    plan: Verify,
    form: Form,
    stamp: Stamp,
    /// Buffer for the expected bytes of a request.
    scratch: Vec<u8>,
    stats: VerifyStats,
}

/// Number of an object that follows from its key, so that any later run finds the same.
pub fn number_of(key: &str) -> u64 {
    key.bytes().fold(0, |hash, byte| permutation::mix(hash, byte.into()))
}

impl Contents {
    /// Content of a worker; reads are checked if `verify` is given.
    pub fn new(content: Content, verify: Option<Verify>, rank: u64) -> Contents {
        let checks = verify.map(|plan| Checks {
            form: Form::new(&plan, content.pattern()),
            plan,
            stamp: Stamp { writer: (rank + 1) as u16, ..Stamp::default() },
            scratch: Vec::new(),
            stats: VerifyStats::default(),
        });
        Contents { content, checks }
    }

    /// Fills the buffer of an upload.
    pub fn write(&mut self, slot: &mut Slot, key: &str) {
        self.content.write(slot);
        let Some(checks) = &mut self.checks else { return };
        // SAFETY: the slot's buffer has room for its length and is not in flight.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        let object = number_of(key);
        for (at, block) in checks.blocks(bytes) {
            let as_of = checks.expected(slot.offset + at as u64, object, GENERATION);
            checks.form.seal(block, &as_of, &checks.stamp);
        }
    }

    /// Checks a read; false if the job must end.
    pub fn check(&mut self, slot: &Slot, key: &str) -> bool {
        let Some(checks) = &mut self.checks else { return true };
        // SAFETY: the request has ended, so the buffer belongs to the worker again.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        checks.check(bytes, slot, key)
    }

    /// Results so far, if reads are checked.
    pub fn stats(&self) -> Option<VerifyStats> {
        self.checks.as_ref().map(|checks| checks.stats.clone())
    }
}

impl Checks {
    /// Offset and bytes of each verified block. The end of an object without room for a header is
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

    fn expected(&self, offset: u64, object: u64, generation: u32) -> Expected {
        let seed = mix(self.plan.seed.unwrap_or_default(), object);
        Expected { offset, seed, generation, number: None }
    }

    fn check(&mut self, bytes: &mut [u8], slot: &Slot, key: &str) -> bool {
        let (object, mut intact) = (number_of(key), true);
        let mut scratch = std::mem::take(&mut self.scratch);
        self.form.expect(slot.offset, bytes.len(), &mut scratch);
        for (at, block) in self.blocks(bytes) {
            let expected = self.expected(slot.offset + at as u64, object, UNKNOWN);
            let length = block.len() as u64;
            self.stats.blocks += 1;
            if let Err(wrong) = self.form.check(block, &expected, at, &mut scratch) {
                intact = false;
                self.mismatch(wrong, slot, key, Bytes(length), &expected);
            }
        }
        self.scratch = scratch;
        intact || self.plan.continue_on_mismatch
    }

    fn mismatch(
        &mut self,
        wrong: BlockMismatch,
        slot: &Slot,
        key: &str,
        length: Bytes,
        expected: &Expected,
    ) {
        let (path, offset) = (key.to_owned(), expected.offset);
        self.stats.add(Mismatch { path, offset, length, ..wrong.of_read(slot) });
    }
}
