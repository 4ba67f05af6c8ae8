//! Times of the last use of blocks: four bytes for each.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

use candor_record::LastUse;

/// Last use of each block of a file: ms since the start of this record, which lasts for 24 days,
/// and one bit for the direction. The greatest time stands for all that are later.
#[derive(Debug)]
pub struct LastUses {
    from_unix_ms: u64,
    blocks: Box<[AtomicU32]>,
}

const MS_MAX: u32 = u32::MAX >> 1;

impl LastUses {
    /// No use of that many blocks yet.
    pub fn new(blocks: usize) -> LastUses {
        // No use is at the start itself, which stands for none.
        let from_unix_ms = unix_ms().saturating_sub(1);
        LastUses { from_unix_ms, blocks: (0..blocks).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Notes a use of blocks.
    pub fn note(&self, blocks: Range<usize>, last: LastUse) {
        let since = last.unix_ms.saturating_sub(self.from_unix_ms).max(1);
        let ms = u32::try_from(since).unwrap_or(MS_MAX).min(MS_MAX);
        let packed = (ms << 1) | u32::from(last.is_write);
        self.blocks[blocks].iter().for_each(|block| block.store(packed, Relaxed));
    }

    /// Last use of a block, if there was one.
    pub fn of(&self, block: usize) -> Option<LastUse> {
        let packed = self.blocks[block].load(Relaxed);
        let unix_ms = self.from_unix_ms + u64::from(packed >> 1);
        (packed > 0).then_some(LastUse { unix_ms, is_write: packed & 1 == 1 })
    }
}

/// Time of this host's clock, in ms since 1970.
pub fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_use_is_known_to_the_millisecond() {
        let uses = LastUses::new(4);
        let from = uses.from_unix_ms;
        let used = |ms, is_write| LastUse { unix_ms: from + ms, is_write };
        uses.note(0..2, used(5, true));
        uses.note(1..3, used(7, false));
        uses.note(2..3, used(1 << 40, true));
        let known: Vec<_> = (0..4).map(|block| uses.of(block)).collect();
        let latest = Some(used(u64::from(MS_MAX), true));
        assert_eq!(known, [Some(used(5, true)), Some(used(7, false)), latest, None]);
    }
}
