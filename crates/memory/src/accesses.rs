//! Accesses to memory, one engine each: an operation is a piece of the buffer, or many loads.

use std::hint::black_box;

use candor_engine::EngineError;
use candor_engine::host::memory::{Mapping, Pages};
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_engine::random::Random;
use candor_plan::Memory;

/// Bytes of a cache line, the same on all processors that candor knows.
pub const LINE_BYTES: u64 = 64;
/// Loads of one operation of a chase: they take much longer than a reading of the clock.
pub const LOADS: u64 = 4096;

/// A buffer that is used piece by piece, over and over.
struct Pieces {
    memory: Mapping,
    bytes: usize,
    piece: usize,
    at: usize,
}

impl Pieces {
    fn new(plan: &Memory, bytes: u64) -> Result<Pieces, EngineError> {
        let (piece, bytes) = (plan.piece.0 as usize, bytes as usize);
        Ok(Pieces { memory: touched(bytes, plan.huge_pages)?, bytes, piece, at: 0 })
    }

    fn next(&mut self) -> &mut [u8] {
        if self.at + self.piece > self.bytes {
            self.at = 0;
        }
        let piece = self.at..self.at + self.piece;
        self.at += self.piece;
        &mut self.memory.as_mut_slice()[piece]
    }
}

/// Memory with all of its pages touched.
fn touched(bytes: usize, huge_pages: bool) -> Result<Mapping, EngineError> {
    let what = format!("allocate {bytes} bytes of memory");
    let pages = if huge_pages { Pages::Huge } else { Pages::Ordinary };
    let mut memory = Mapping::new(bytes, pages).map_err(EngineError::system(what))?;
    memory.as_mut_slice().fill(0xa5);
    Ok(memory)
}

/// Engine that reads.
pub struct Load(Pieces);

impl Load {
    /// Allocates and touches its buffer.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(plan: &Memory) -> Result<Load, EngineError> {
        Pieces::new(plan, plan.size.0).map(Load)
    }
}

impl Call for Load {
    fn call(&mut self, slot: &Slot) -> Outcome {
        let words = self.0.next().chunks_exact(8);
        // The sum needs every word, and the caller gets the sum, so that no load can be optimised
        // away.
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        black_box(words.map(word).fold(0, u64::wrapping_add));
        Outcome::Done(slot.length)
    }
}

/// Engine that writes.
pub struct Store {
    pieces: Pieces,
    value: u8,
}

impl Store {
    /// Allocates and touches its buffer.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(plan: &Memory) -> Result<Store, EngineError> {
        Ok(Store { pieces: Pieces::new(plan, plan.size.0)?, value: 0 })
    }
}

impl Call for Store {
    fn call(&mut self, slot: &Slot) -> Outcome {
        self.value = self.value.wrapping_add(1);
        let piece = self.pieces.next();
        piece.fill(self.value);
        black_box(piece);
        Outcome::Done(slot.length)
    }
}

/// Engine that copies from one half of the buffers to the other.
pub struct Copy {
    from: Pieces,
    to: Pieces,
}

impl Copy {
    /// Allocates and touches its buffers.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(plan: &Memory) -> Result<Copy, EngineError> {
        let half = plan.size.0 / 2;
        Ok(Copy { from: Pieces::new(plan, half)?, to: Pieces::new(plan, half)? })
    }
}

impl Call for Copy {
    fn call(&mut self, slot: &Slot) -> Outcome {
        let to = self.to.next();
        to.copy_from_slice(self.from.next());
        black_box(to);
        Outcome::Done(slot.length)
    }
}

/// Engine of dependent loads: each line holds the index of the next one, in one ring through all
/// lines.
pub struct Chase {
    memory: Mapping,
    at: usize,
}

/// Words of a line; the first one is the index of the next line.
const LINE_WORDS: usize = LINE_BYTES as usize / 8;

impl Chase {
    /// Allocates the buffer, and makes its ring.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(plan: &Memory, seed: u64) -> Result<Chase, EngineError> {
        let mut memory = touched(plan.size.0 as usize, plan.huge_pages)?;
        let lines = plan.size.0 as usize / LINE_BYTES as usize;
        let mut random = Random::new(seed, 0x6368_6173);
        // Sattolo's shuffle of the lines in place makes a single ring, without a table beside it.
        let bytes = memory.as_mut_slice();
        (0..lines).for_each(|line| put(bytes, line, line));
        for line in (1..lines).rev() {
            let other = random.below(line as u64) as usize;
            let (a, b) = (get(bytes, line), get(bytes, other));
            put(bytes, line, b);
            put(bytes, other, a);
        }
        Ok(Chase { memory, at: 0 })
    }
}

fn get(bytes: &[u8], line: usize) -> usize {
    let at = line * LINE_WORDS * 8;
    usize::from_ne_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

fn put(bytes: &mut [u8], line: usize, next: usize) {
    let at = line * LINE_WORDS * 8;
    bytes[at..at + 8].copy_from_slice(&next.to_ne_bytes());
}

impl Call for Chase {
    fn call(&mut self, slot: &Slot) -> Outcome {
        let bytes = &*self.memory.as_mut_slice();
        let mut at = self.at;
        for _ in 0..LOADS {
            at = get(bytes, at);
        }
        self.at = black_box(at);
        Outcome::Done(slot.length)
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::operation::Buffer;
    use candor_plan::{Bytes, MemoryAccess};

    use super::*;

    fn plan(access: MemoryAccess, size: u64) -> Memory {
        let piece = Bytes(4096);
        Memory { access, size: Bytes(size), piece, huge_pages: false }
    }

    #[test]
    fn a_chase_visits_every_line_once_per_round() {
        let mut chase = Chase::new(&plan(MemoryAccess::Chase, 1000 * 64), 7).expect("made");
        let (mut at, mut seen) = (0, vec![false; 1000]);
        for _ in 0..1000 {
            at = get(chase.memory.as_mut_slice(), at);
            assert!(!seen[at], "line {at} comes twice");
            seen[at] = true;
        }
        assert_eq!(at, 0);
    }

    #[test]
    fn a_copy_moves_every_piece() {
        let mut copy = Copy::new(&plan(MemoryAccess::Copy, 32 << 10)).expect("made");
        copy.from.memory.as_mut_slice().fill(0x17);
        let slot = Slot { length: 4096, ..Slot::empty(Buffer::None) };
        for done in 0..9 {
            assert_eq!(copy.call(&slot), Outcome::Done(4096));
            let copied = copy.to.memory.as_mut_slice().iter().filter(|b| **b == 0x17).count();
            assert_eq!(copied, 4096 * (done + 1).min(4));
        }
    }

    #[test]
    fn a_store_writes_the_whole_buffer() {
        let mut store = Store::new(&plan(MemoryAccess::Store, 16 << 10)).expect("made");
        let slot = Slot { length: 4096, ..Slot::empty(Buffer::None) };
        (0..4).for_each(|_| assert_eq!(store.call(&slot), Outcome::Done(4096)));
        let first: Vec<u8> =
            store.pieces.memory.as_mut_slice().iter().step_by(4096).copied().collect();
        assert_eq!(first, [1, 2, 3, 4]);
    }
}
