//! Engine that completes every operation at once and moves no bytes: it measures candor itself.

/// Engine without I/O.
pub struct Null {
    queued: Box<[u32]>,
    count: usize,
    /// Clock for the end of submission, where that is recorded.
    clock: Option<Clock>,
}

impl Null {
    /// Needs only room for the operations in flight.
    pub fn new(context: &Context<'_>) -> Null {
        Null {
            queued: vec![0; context.depth].into(),
            count: 0,
            clock: context.split.then_some(context.clock),
        }
    }
}

impl Io for Null {
    #[inline(always)]
    fn queue(&mut self, _: &[Slot], batch: &[u32]) {
        self.queued[..batch.len()].copy_from_slice(batch);
        self.count = batch.len();
    }

    #[inline(always)]
    fn turn(&mut self, slots: &[Slot], _: usize, _: Option<u64>, done: &mut Done) -> Option<Ticks> {
        for &index in &self.queued[..self.count] {
            done.push(index, Outcome::Done(slots[index as usize].length));
        }
        self.count = 0;
        self.clock.map(|clock| clock.now())
    }

    fn features(&self) -> Vec<String> {
        Vec::new()
    }
}
use super::Context;
use candor_engine::clock::{Clock, Ticks};
use candor_engine::issue::Io;
use candor_engine::operation::{Done, Outcome, Slot};
