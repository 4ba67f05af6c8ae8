//! Map of the blocks that a pass has used up: one bit per block, with summaries above.
//!
//! Level 0 has a bit per block. A bit of a higher level tells that a whole word below it is used
//! up. So the next free block is found in a few steps, however full the map is.

/// A map of blocks.
pub struct RandomMap {
    levels: Vec<Box<[u64]>>,
    blocks: u64,
}

impl RandomMap {
    /// Map of that many blocks, all free.
    pub fn new(blocks: u64) -> RandomMap {
        let mut levels = Vec::new();
        let mut bits = blocks.max(1);
        loop {
            let words = bits.div_ceil(64);
            levels.push(vec![0; words as usize].into());
            if words == 1 {
                break;
            }
            bits = words;
        }
        let mut visited = RandomMap { levels, blocks };
        visited.clear();
        visited
    }

    /// Frees all blocks.
    pub fn clear(&mut self) {
        let mut bits = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            // Bits behind the end count as used.
            if let (Some(last), 1..) = (level.last_mut(), bits % 64) {
                *last = u64::MAX << (bits % 64);
            }
            bits = bits.div_ceil(64);
        }
        if self.blocks == 0 {
            self.levels[0][0] = u64::MAX;
        }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// First free block that is not before `from`.
    pub fn next_free(&self, from: u64) -> Option<u64> {
        let (mut at, mut level) = (from, 0);
        loop {
            let word = at / 64;
            let used = self.levels.get(level)?.get(word as usize)?;
            let free = !used & (u64::MAX << (at % 64));
            if free != 0 {
                at = word * 64 + u64::from(free.trailing_zeros());
                break;
            }
            (at, level) = (word + 1, level + 1);
        }
        for words in self.levels[..level].iter().rev() {
            at = at * 64 + u64::from((!words[at as usize]).trailing_zeros());
        }
        Some(at)
    }

    /// First used block in `from..to`, or `to`. Behind the end nothing is used.
    pub fn next_used(&self, from: u64, to: u64) -> u64 {
        (from..to.min(self.blocks)).find(|block| self.is_used(*block)).unwrap_or(to)
    }

    fn is_used(&self, block: u64) -> bool {
        self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// Marks the blocks in `from..to` as used.
    pub fn mark(&mut self, from: u64, to: u64) {
        for block in from..to.min(self.blocks) {
            let mut at = block;
            for words in &mut self.levels {
                let word = &mut words[(at / 64) as usize];
                *word |= 1 << (at % 64);
                if *word != u64::MAX {
                    break;
                }
                at /= 64;
            }
        }
    }

    /// Marks the blocks in `from..to` as free.
    pub fn free(&mut self, from: u64, to: u64) {
        for block in from..to.min(self.blocks) {
            let mut at = block;
            for words in &mut self.levels {
                words[(at / 64) as usize] &= !(1 << (at % 64));
                at /= 64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_engine::random::Random;

    #[test]
    fn every_block_is_found_once() {
        for blocks in [0u64, 1, 63, 64, 65, 4096, 4097, 70_000] {
            let (mut visited, mut random) = (RandomMap::new(blocks), Random::new(5, blocks));
            for round in 0..2 {
                let mut found = 0;
                loop {
                    let from = random.below(blocks);
                    let Some(block) = visited.next_free(from).or(visited.next_free(0)) else {
                        break;
                    };
                    assert!(block < blocks && !visited.is_used(block), "{block} of {blocks}");
                    assert_eq!(visited.next_used(block, block + 1), block + 1);
                    visited.mark(block, block + 1);
                    found += 1;
                }
                assert_eq!(found, blocks, "round {round}");
                visited.free(blocks / 3, blocks / 3 + 2);
                let freed = (blocks / 3 < blocks).then_some(blocks / 3);
                assert_eq!(visited.next_free(0), freed, "of {blocks}");
                visited.clear();
            }
        }
    }
}
