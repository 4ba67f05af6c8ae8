//! Burns CPU instead of issuing I/O.

use candor_plan::Burn;

use super::{Call, Context};
use crate::clock::Clock;
use crate::operations::slots::Slot;
use crate::random::Random;

/// Numbers that are sorted at a time: more than a first-level cache holds.
const NUMBERS: usize = 1 << 14;

/// The engine.
pub struct Cpu {
    clock: Clock,
    ns: u64,
    numbers: Option<(Box<[u64]>, Random)>,
}

impl Cpu {
    /// One operation takes a chunk of time.
    pub fn new(context: &Context<'_>, burn: Burn) -> Cpu {
        let numbers = || (vec![0; NUMBERS].into(), Random::new(context.seed, 0x6275_726e));
        Cpu { clock: context.clock, ns: burn.chunk.0, numbers: burn.sort.then(numbers) }
    }
}

impl Call for Cpu {
    fn call(&mut self, slot: &Slot) -> i32 {
        let start = self.clock.now();
        while self.clock.ns(self.clock.now() - start) < self.ns {
            match &mut self.numbers {
                None => (0..256).for_each(|_| std::hint::spin_loop()),
                Some((numbers, random)) => {
                    numbers.iter_mut().for_each(|number| *number = random.bits());
                    numbers.sort_unstable();
                }
            }
        }
        slot.length as i32
    }
}
