//! Engine that burns CPU and issues no I/O.

use candor_plan::Burn;

use candor_engine::clock::Clock;
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_engine::random::Random;

/// Numbers that are sorted at a time: more than a first-level cache holds.
const NUMBERS: usize = 1 << 14;

/// Engine that sorts numbers.
pub struct Cpu {
    clock: Clock,
    ns: u64,
    numbers: Option<(Box<[u64]>, Random)>,
}

impl Cpu {
    /// Engine whose operations each take a chunk of time.
    pub fn new(clock: Clock, seed: u64, burn: Burn) -> Cpu {
        let numbers = || (vec![0; NUMBERS].into(), Random::new(seed, 0x6275_726e));
        Cpu { clock, ns: burn.chunk.0, numbers: burn.sort.then(numbers) }
    }
}

impl Call for Cpu {
    fn call(&mut self, _: &Slot) -> Outcome {
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
        Outcome::Done(0)
    }
}
