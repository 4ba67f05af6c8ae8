//! Selection of the next file of a worker.

use candor_plan::blocks::{FileOrder, Rotation as Plan};

use super::skew::{Normal, Zipf};
use candor_engine::permutation::Permutation;
use candor_engine::random::{Random, mix};

/// Selection of files, with its state.
pub struct Rotation {
    choice: Choice,
    /// Operations on a file before the next one is chosen.
    every: u32,
    /// Operations left in this turn.
    left: u32,
    /// Present file.
    at: usize,
    files: usize,
    /// Files with offsets left in this pass.
    staying: Bits,
    /// Files in use at once, where their number is limited.
    open: Bits,
    open_count: usize,
    open_max: usize,
}

enum Choice {
    /// The next file in order; with `whole`, a turn lasts until the file is used up.
    Next {
        whole: bool,
    },
    Random,
    /// Ends of the files' bytes, one behind the other.
    ByBytes(Box<[u64]>),
    Zipf(Zipf, Permutation),
    Pareto(f64, Permutation),
    Normal(Normal),
}

impl Rotation {
    /// Selection among that many files, of which `bytes` are used each.
    pub fn new(plan: &Plan, files: usize, bytes: impl Fn(usize) -> u64, seed: u64) -> Rotation {
        let scatter = || Permutation::new(files as u64, mix(seed, 0x6669_6c65));
        let choice = match plan.order {
            FileOrder::RoundRobin => Choice::Next { whole: false },
            FileOrder::Sequential => Choice::Next { whole: true },
            FileOrder::Random => Choice::Random,
            FileOrder::ByBytes => Choice::ByBytes(ends(files, bytes)),
            FileOrder::Zipf { theta } => Choice::Zipf(Zipf::new(files as u64, theta), scatter()),
            FileOrder::Pareto { h } => Choice::Pareto(h.ln() / (1.0 - h).ln(), scatter()),
            FileOrder::Normal { deviation_percent } => {
                Choice::Normal(Normal::new(deviation_percent / 100.0, 0.5))
            }
        };
        let limited = plan.at_once.map_or(files, |most| (most as usize).clamp(1, files.max(1)));
        let mut rotation = Rotation {
            choice,
            every: plan.every.max(1),
            left: 0,
            at: files.saturating_sub(1),
            files,
            staying: Bits::new(files),
            open: Bits::new(if limited < files { files } else { 0 }),
            open_count: 0,
            open_max: limited,
        };
        rotation.restart();
        rotation
    }

    /// File of the next operation.
    #[inline(always)]
    pub fn current(&mut self, random: &mut Random) -> usize {
        if self.left == 0 && self.files > 1 {
            self.choose(random);
        }
        self.at
    }

    /// Counts an operation on the present file.
    #[inline(always)]
    pub fn served(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// True where files are never used up, but start over by themselves.
    pub fn is_skewed(&self) -> bool {
        matches!(self.choice, Choice::Zipf(..) | Choice::Pareto(..) | Choice::Normal(_))
    }

    /// True where a file keeps its turn until it is used up.
    pub fn is_whole(&self) -> bool {
        matches!(self.choice, Choice::Next { whole: true })
    }

    /// Removes the present file, which is used up; false if it was the last one.
    pub fn leave(&mut self) -> bool {
        self.left = 0;
        self.staying.clear(self.at);
        if self.open_max < self.files && self.open.clear(self.at) {
            self.open_count -= 1;
        }
        self.staying.next(0).is_some()
    }

    /// All files take part again.
    pub fn restart(&mut self) {
        self.left = 0;
        self.staying.fill();
        self.open.words.fill(0);
        self.open_count = 0;
    }

    /// All files take part again, from the first one on.
    pub fn reset(&mut self) {
        self.restart();
        self.at = self.files.saturating_sub(1);
    }

    fn choose(&mut self, random: &mut Random) {
        let files = self.files as u64;
        self.left = self.every;
        let index = match &self.choice {
            Choice::Next { whole } => {
                if *whole {
                    self.left = u32::MAX;
                }
                return self.take((self.at + 1) % self.files);
            }
            Choice::Random => return self.take_any(random),
            Choice::ByBytes(ends) => {
                let all = ends.last().copied().unwrap_or(0);
                let at = random.below(all.max(1));
                return self.take(ends.partition_point(|end| *end <= at).min(self.files - 1));
            }
            Choice::Zipf(zipf, scatter) => scatter.at(zipf.rank(random)),
            Choice::Pareto(power, scatter) => {
                scatter.at((random.unit().powf(*power) * files as f64) as u64)
            }
            Choice::Normal(normal) => (normal.unit(random) * files as f64) as u64,
        };
        self.at = index.min(files - 1) as usize;
    }

    /// Takes a random file among those left. After a few misses, takes the next one in order.
    fn take_any(&mut self, random: &mut Random) {
        const TRIES: u32 = 16;
        let mut index = 0;
        for _ in 0..TRIES {
            index = random.below(self.files as u64) as usize;
            if self.candidates().has(index) {
                break;
            }
        }
        self.take(index);
    }

    fn candidates(&self) -> &Bits {
        let full = self.open_max < self.files && self.open_count == self.open_max;
        if full { &self.open } else { &self.staying }
    }

    /// Takes the first file from that one on that may take part.
    fn take(&mut self, from: usize) {
        let candidates = self.candidates();
        let index = candidates.next(from).or_else(|| candidates.next(0));
        self.at = index.unwrap_or(from);
        if self.open_max < self.files && self.open.set(self.at) {
            self.open_count += 1;
        }
    }
}

/// Where the bytes of each file end, one file behind the other.
fn ends(files: usize, bytes: impl Fn(usize) -> u64) -> Box<[u64]> {
    let ends = (0..files).scan(0_u64, |end, file| {
        *end = end.saturating_add(bytes(file));
        Some(*end)
    });
    ends.collect()
}

/// A set of files.
struct Bits {
    words: Box<[u64]>,
    bits: usize,
}

impl Bits {
    fn new(bits: usize) -> Bits {
        Bits { words: vec![0; bits.div_ceil(64)].into(), bits }
    }

    fn fill(&mut self) {
        self.words.fill(u64::MAX);
        if let (Some(last), 1..) = (self.words.last_mut(), self.bits % 64) {
            *last = !(u64::MAX << (self.bits % 64));
        }
    }

    fn has(&self, bit: usize) -> bool {
        self.words[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Adds a bit; true if it was not in the set.
    fn set(&mut self, bit: usize) -> bool {
        let was = self.has(bit);
        self.words[bit / 64] |= 1 << (bit % 64);
        !was
    }

    /// Removes a bit; true if it was in the set.
    fn clear(&mut self, bit: usize) -> bool {
        let was = self.has(bit);
        self.words[bit / 64] &= !(1 << (bit % 64));
        was
    }

    /// First bit of the set that is not before `from`.
    fn next(&self, from: usize) -> Option<usize> {
        let first = self.words.get(from / 64)? & (u64::MAX << (from % 64));
        if first != 0 {
            return Some(from / 64 * 64 + first.trailing_zeros() as usize);
        }
        let rest = self.words.iter().enumerate().skip(from / 64 + 1);
        let (index, word) = rest.into_iter().find(|(_, word)| **word != 0)?;
        Some(index * 64 + word.trailing_zeros() as usize)
    }
}
