//! Memory of a worker's operations, and the bytes of its writes.

use candor_engine::EngineError;
use candor_engine::host::memory::{Mapping, PAGE_BYTES, Pages};
use candor_plan::blocks::{Buffers, Fill};

use super::{ReadyBlocks, reads_back, touch};
use crate::stream::offsets::fixed_size;
use candor_bytes::content::{self, BufferCounts, Content, Origin};
use candor_bytes::words::WordMaker;

impl ReadyBlocks {
    /// Offset of metadata in each buffer: after the longest operation.
    pub(super) fn metadata_at(&self) -> usize {
        (self.length_moved() as usize).max(1).next_multiple_of(PAGE_BYTES)
    }

    /// Pages for buffers of `bytes` bytes.
    pub(super) fn pages(&self, bytes: usize) -> Pages {
        match self.blocks.hints.huge_pages {
            Some(true) => Pages::Huge,
            None if self.blocks.direct && bytes > PAGE_BYTES => Pages::Contiguous,
            _ => Pages::Ordinary,
        }
    }

    /// Buffers of `bytes` bytes each, and the additional memory that a worker locks.
    pub(super) fn memory(
        &self,
        bytes: usize,
        count: usize,
    ) -> Result<(Mapping, Option<Mapping>), EngineError> {
        let memory = &self.blocks.buffers;
        let what = format!("allocate {count} buffers of {bytes} bytes");
        let buffers = Mapping::of(memory, bytes * count, self.pages(bytes))
            .map_err(EngineError::system(what))?;
        let pinned = memory.lock.map(|bytes| {
            let what = format!("pin {bytes} of memory");
            Mapping::pinned(bytes.0 as usize).map_err(EngineError::system(what))
        });
        Ok((buffers, pinned.transpose()?))
    }

    fn origin(&self, rank: u32) -> Origin {
        let size = self.files.all().iter().map(|file| file.size).sum::<u64>();
        Origin {
            seed: self.seed,
            plan_seed: self.plan_seed,
            rank: self.ranks.rank(rank),
            reads: self.blocks.mix.read > 0 || reads_back(&self.blocks),
            blocks: size / u64::from(self.length_max().max(1)),
        }
    }

    /// Number of spare buffers of `bytes` bytes each.
    pub(super) fn spare_buffers(&self, rank: u32, bytes: usize) -> usize {
        let is_plain = self.pool.is_some()
            && self.trace.is_none()
            && self.blocks.verify.is_none()
            && self.blocks.buffers == Buffers::default();
        let workers = self.job.workers as usize;
        let buffers = BufferCounts { bytes, depth: self.depth(), workers };
        let writes = fixed_size(&self.blocks).filter(|_| is_plain);
        content::spare_buffers(&self.blocks.content, &self.origin(rank), writes, buffers)
    }

    /// Maker of a worker's words, if the content consists of words.
    pub(super) fn words(&self, rank: u32) -> Option<WordMaker> {
        let writer = self.ranks.data_rank(self.job.data_of(), rank);
        self.blocks.content.words.map(|words| WordMaker::new(words, writer, self.ranks.ranks))
    }

    /// Content of a worker's writes, in buffers of `bytes` bytes each. Touches read buffers, so
    /// that no page faults occur during the measurement.
    pub(super) fn content(
        &self,
        rank: u32,
        buffers: &mut Mapping,
        bytes: usize,
    ) -> Option<Content> {
        let plan = self.blocks.content.clone();
        let words = self.words(rank).filter(|_| plan.fill == Fill::Words);
        let content = |pool| Content::new(plan, pool, &self.origin(rank)).with_words(words);
        let mut content = self.pool.clone().map(content);
        match &mut content {
            Some(content) => content.prepare_each(buffers.as_mut_slice(), bytes),
            None => touch(buffers.as_mut_slice()),
        }
        content
    }
}
