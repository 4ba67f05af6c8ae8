//! Written blocks that a worker has not read back yet: one bit per block.

use std::sync::Arc;

use candor_bytes::verify::Map;
use candor_engine::operation::Slot;

const BITS: usize = u64::BITS as usize;

/// One worker's bits for all files; empty where nothing is read back.
pub struct Due {
    files: Box<[Box<[u64]>]>,
}

impl Due {
    /// Clear bits for the blocks of these maps.
    pub fn new(maps: &[Arc<Map>]) -> Due {
        // Untouched pages of zeros take no memory.
        let bits = maps.iter().map(|map| vec![0; map.blocks_known().div_ceil(BITS)].into());
        Due { files: bits.collect() }
    }

    /// No bits, where nothing is read back.
    pub fn nothing() -> Due {
        Due { files: Box::default() }
    }

    /// Sets or clears the marks of an operation's blocks.
    pub fn mark(&mut self, map: &Map, slot: &Slot, is_due: bool) {
        let Some(bits) = self.files.get_mut(slot.handle as usize) else { return };
        for block in map.range(slot.offset, slot.length) {
            let bit = 1 << (block % BITS);
            if is_due { bits[block / BITS] |= bit } else { bits[block / BITS] &= !bit }
        }
    }

    /// True if a block of the operation is marked.
    pub fn is_due(&self, map: &Map, slot: &Slot) -> bool {
        let Some(bits) = self.files.get(slot.handle as usize) else { return false };
        let mut blocks = map.range(slot.offset, slot.length);
        blocks.any(|block| bits[block / BITS] & (1 << (block % BITS)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_bytes::verify::UNKNOWN;
    use candor_engine::operation::Buffer;

    #[test]
    fn what_is_written_is_due_until_it_is_read_back() {
        let maps = [Map::new(512 * 4096, 4096, UNKNOWN)];
        let slot = |offset: u64, length: u64| Slot { offset, length, ..Slot::empty(Buffer::None) };
        let mut due = Due::new(&maps);
        due.mark(&maps[0], &slot(62 * 4096, 4 * 4096), true);
        assert!(!due.is_due(&maps[0], &slot(0, 62 * 4096)));
        assert!(due.is_due(&maps[0], &slot(65 * 4096, 4096)));
        due.mark(&maps[0], &slot(64 * 4096, 2 * 4096), false);
        assert!(!due.is_due(&maps[0], &slot(64 * 4096, 448 * 4096)));
        assert!(due.is_due(&maps[0], &slot(0, 512 * 4096)));
        let mut nothing = Due::nothing();
        nothing.mark(&maps[0], &slot(0, 4096), true);
        assert!(!nothing.is_due(&maps[0], &slot(0, 4096)));
    }
}
