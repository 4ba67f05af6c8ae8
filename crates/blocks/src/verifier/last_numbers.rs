//! Sequence numbers of the last writes to blocks, which a dry run of one worker has counted.

use candor_engine::operation::Slot;

use candor_bytes::verify::Map;

/// The last write of a worker to a block, as far as it is known.
#[derive(Clone, Copy, Default)]
struct Last {
    /// Number of the write plus one; 0 where it is not known.
    number: u32,
    /// Writes of this worker to the block.
    writes: u32,
}

/// The last writes of a worker, by file and block.
pub struct LastNumbers {
    files: Box<[Box<[Last]>]>,
}

impl LastNumbers {
    /// No writes yet, to blocks of so many files.
    pub fn new<'a>(maps: impl Iterator<Item = &'a Map>) -> LastNumbers {
        LastNumbers {
            files: maps.map(|map| vec![Last::default(); map.blocks_known()].into()).collect(),
        }
    }

    /// Stores a write by its number, of which it is sure or not that it is in the file.
    pub fn count(&mut self, map: &Map, slot: &Slot, number: u64, sure: bool) {
        let blocks = map.range(slot.offset, slot.length);
        for last in &mut self.files[slot.handle as usize][blocks] {
            let known = u32::try_from(number + 1).ok().filter(|_| sure);
            last.number = known.unwrap_or(0);
            last.writes = last.writes.saturating_add(1);
        }
    }

    /// Number of the last write to a block, which `generation` writes of all workers made; none
    /// where others wrote it too, for their order is not known.
    pub fn number(&self, map: &Map, file: u32, offset: u64, generation: u32) -> Option<u64> {
        let block = map.range(offset, 1).next()?;
        let last = self.files.get(file as usize)?.get(block)?;
        let is_own = last.writes == generation && last.number > 0;
        is_own.then(|| u64::from(last.number) - 1)
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::operation::Buffer;

    use super::*;
    use candor_bytes::verify::UNKNOWN;

    #[test]
    fn the_last_number_is_known_where_no_other_worker_wrote() {
        let map = Map::new(4 * 4096, 4096, UNKNOWN);
        let mut numbers = LastNumbers::new([&*map].into_iter());
        let slot = |offset| Slot { offset, length: 4096, ..Slot::empty(Buffer::None) };
        for (number, (offset, sure)) in
            [(0, true), (4096, true), (0, true), (8192, false)].into_iter().enumerate()
        {
            map.count(offset, 4096, sure);
            numbers.count(&map, &slot(offset), number as u64, sure);
        }
        map.count(4096, 4096, true);
        let known = [0, 4096, 8192, 12288].map(|at| numbers.number(&map, 0, at, map.finished(at)));
        assert_eq!(known, [Some(2), None, None, None]);
    }
}
