//! Duplicate blocks: a key identifies the bytes of a block, so that no block has to be kept.

use candor_plan::blocks::{Content as Plan, Duplicates, HotSets};

use super::{Origin, SECTOR_BYTES};
use candor_engine::random::{Random, mix};

/// Number of keys that all workers of the job share.
const FEW: u64 = 16;
/// Salt that separates keys of working sets from seeds used elsewhere.
const SALT: u64 = 0x6475_7065;

/// Salt that separates keys of hot sets from those of working sets.
const HOT_SALT: u64 = 0x0068_6f74;

/// Blocks at the start of a file that have the bytes of their sets.
pub struct HotBlocks {
    /// Number of the set of each.
    sets: Box<[u32]>,
    /// Sectors of a block.
    sectors: u64,
    base: u64,
}

impl HotBlocks {
    /// Blocks of these sets, which all jobs of the plan share.
    pub fn new(plan: &HotSets, origin: &Origin) -> HotBlocks {
        let sectors = (plan.unit.0 / SECTOR_BYTES as u64).max(1);
        let base = mix(origin.plan_seed, HOT_SALT);
        HotBlocks { sets: plan.of_blocks().collect(), sectors, base }
    }

    /// Key of the sector at an offset; none behind the last block of them.
    pub fn key(&self, offset: u64) -> Option<u64> {
        let sector = offset / SECTOR_BYTES as u64;
        let set = *self.sets.get(usize::try_from(sector / self.sectors).ok()?)?;
        Some(mix(mix(self.base, set.into()), sector % self.sectors))
    }
}

/// Keys of one worker's blocks, one after another.
pub struct Keys {
    percent: u8,
    how: Duplicates,
    /// Base from which the keys of repeated blocks are derived.
    base: u64,
    /// Blocks of the working set.
    set: u64,
    /// Blocks of the set that were written already.
    written: u64,
    last: Option<u64>,
}

impl Keys {
    /// Keys of a worker's blocks.
    pub fn new(plan: &Plan, origin: &Origin) -> Keys {
        let (share, shared) = match plan.duplicates {
            Duplicates::WorkingSet { percent, shared } => (u64::from(percent), shared),
            Duplicates::Few | Duplicates::Last => (0, false),
        };
        let base = match plan.duplicates {
            Duplicates::Few => mix(origin.seed, SALT),
            Duplicates::WorkingSet { .. } if shared => mix(origin.plan_seed, SALT),
            _ => mix(mix(origin.seed, SALT), origin.rank),
        };
        // Others write a shared set as well, so all of it may be repeated at once.
        let set = (origin.blocks * share).div_ceil(100).max(1);
        let written = if shared { set } else { 0 };
        Keys {
            percent: plan.duplicate_percent,
            how: plan.duplicates,
            base,
            set,
            written,
            last: None,
        }
    }

    /// Key of the next block.
    pub fn next(&mut self, random: &mut Random) -> u64 {
        let repeats = random.percent(self.percent);
        match (self.how, self.last) {
            (Duplicates::Few, _) if repeats => mix(self.base, random.below(FEW)),
            (Duplicates::Last, Some(last)) if repeats => last,
            (Duplicates::WorkingSet { .. }, _) => self.of_set(repeats, random),
            _ => {
                let key = random.bits();
                self.last = Some(key);
                key
            }
        }
    }

    /// Key of a working set: the first blocks make up the set, later ones repeat it.
    fn of_set(&mut self, repeats: bool, random: &mut Random) -> u64 {
        if self.written < self.set {
            self.written += 1;
            return mix(self.base, self.written - 1);
        }
        if repeats { mix(self.base, random.below(self.set)) } else { random.bits() }
    }
}
