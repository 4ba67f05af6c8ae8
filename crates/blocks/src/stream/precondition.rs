//! Preconditioning of flash: one pass that writes as much as the device holds inside, and leaves
//! each part of it as stale as random writes do in the long run.
//!
//! A device moves the valid pages of the part with the fewest of them, so that in the long run the
//! share of parts with a validity is inversely proportional to that validity (P. Desnoyers,
//! "Analytic Models of SSD Write Performance"). Between the part that is reclaimed next and the
//! youngest one, the validity then falls exponentially.

use std::collections::VecDeque;

use candor_engine::permutation::Permutation;
use candor_engine::random::Random;

/// The pass over a share of a file.
pub struct Precondition {
    /// Share of the blocks of each region that are written again.
    stale: Box<[f64]>,
    /// Blocks that are written per region, new ones and others.
    region_blocks: u64,
    /// Blocks are written again at the end of the next region, not at its start.
    rewrites_last: bool,
}

/// Progress of a pass.
pub struct Progress {
    /// Blocks that were written for the first time.
    given: u64,
    region: usize,
    /// Blocks to be written for the first time in this region.
    left: u64,
    /// Blocks to be written again in this region.
    due: VecDeque<u64>,
    /// Blocks to be written again in the next region.
    next: VecDeque<u64>,
}

/// Blocks that are written to a share of so many.
fn blocks_inside(blocks: u64, spare_percent: f64) -> u64 {
    blocks + (blocks as f64 * spare_percent / 100.0).ceil() as u64
}

impl Precondition {
    /// Pass over a share of so many blocks, of a device with `spare_percent` more inside.
    pub fn new(blocks: u64, regions: u32, spare_percent: f64, rewrites_last: bool) -> Precondition {
        // A usual approximation of the write amplification of random writes.
        let amplification = 50.0 / spare_percent + 0.7;
        let reclaimed_valid = 1.0 - 1.0 / amplification;
        let last = regions.saturating_sub(1);
        let stale = |region: u32| {
            let age = f64::from(last - region) / f64::from(last.max(1));
            1.0 - reclaimed_valid.powf(age)
        };
        Precondition {
            stale: (0..regions).map(stale).collect(),
            region_blocks: Precondition::region_blocks(blocks, regions, spare_percent),
            rewrites_last,
        }
    }

    /// Blocks that are written per region.
    pub fn region_blocks(blocks: u64, regions: u32, spare_percent: f64) -> u64 {
        blocks_inside(blocks, spare_percent) / u64::from(regions.max(1))
    }

    /// Start of a pass.
    pub fn start(&self) -> Progress {
        let (due, next) = (VecDeque::new(), VecDeque::new());
        Progress { given: 0, region: 0, left: self.region_blocks, due, next }
    }

    /// Next block of `positions`; none once all were written, or as much as the device holds.
    pub fn next(
        &self,
        progress: &mut Progress,
        positions: u64,
        key: u64,
        random: &mut Random,
    ) -> Option<u64> {
        let waits = |progress: &Progress| self.rewrites_last && progress.left > 0;
        if progress.left == 0 && progress.due.is_empty() {
            self.next_region(progress)?;
        }
        let again = if waits(progress) { None } else { progress.due.pop_front() };
        let block = match again {
            Some(block) => block,
            None if progress.given >= positions => return None,
            None => {
                progress.given += 1;
                progress.left -= 1;
                Permutation::new(positions, key).at(progress.given - 1)
            }
        };
        if random.unit() < self.stale[progress.region] {
            progress.next.push_back(block);
        }
        Some(block)
    }

    fn next_region(&self, progress: &mut Progress) -> Option<()> {
        progress.region += 1;
        self.stale.get(progress.region)?;
        progress.due = std::mem::take(&mut progress.next);
        progress.left = self.region_blocks.saturating_sub(progress.due.len() as u64);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u64 = 100_000;

    fn pass(regions: u32, spare_percent: f64, rewrites_last: bool) -> Vec<u64> {
        let plan = Precondition::new(BLOCKS, regions, spare_percent, rewrites_last);
        let (mut progress, mut random) = (plan.start(), Random::new(3, 0));
        std::iter::from_fn(|| plan.next(&mut progress, BLOCKS, 7, &mut random)).collect()
    }

    /// Blocks of a region whose last write it holds, as a share of its blocks.
    fn valid(written: &[u64], regions: usize) -> Vec<f64> {
        let mut last = vec![0; BLOCKS as usize];
        written.iter().enumerate().for_each(|(at, block)| last[*block as usize] = at);
        let each = written.len() / regions;
        (0..regions)
            .map(|region| {
                let range = region * each..(region + 1) * each;
                range.filter(|at| last[written[*at] as usize] == *at).count() as f64 / each as f64
            })
            .collect()
    }

    #[test]
    fn a_pass_fills_the_device_and_writes_every_block() {
        for (regions, spare, last) in [(100, 15.0, false), (100, 15.0, true), (20, 7.0, false)] {
            let written = pass(regions, spare, last);
            let inside = BLOCKS as f64 * (1.0 + spare / 100.0);
            let share = written.len() as f64 / inside;
            assert!((0.98..1.0 + 1e-9).contains(&share), "{regions} {spare} {last}: {share}");
            let mut blocks = written.clone();
            blocks.sort_unstable();
            blocks.dedup();
            assert!(blocks.len() as f64 > 0.98 * BLOCKS as f64, "{}", blocks.len());
        }
    }

    #[test]
    fn older_regions_are_more_stale_and_as_stale_as_the_model_says() {
        for last in [false, true] {
            let valid = valid(&pass(10, 15.0, last), 10);
            // 1 - 1/(0.5/0.15 + 0.7) of the region that is reclaimed first is valid.
            assert!((valid[0] - 0.752).abs() < 0.02, "{last}: {valid:?}");
            assert!(valid.windows(2).all(|pair| pair[0] < pair[1] + 0.02), "{last}: {valid:?}");
            assert!(valid[8] > 0.95, "{last}: {valid:?}");
        }
    }

    #[test]
    fn a_region_without_blocks_gives_none() {
        assert_eq!(Precondition::region_blocks(16, 100, 15.0), 0);
        assert_eq!(Precondition::region_blocks(100, 100, 15.0), 1);
        assert_eq!(Precondition::region_blocks(1, 1, 15.0), 2);
    }
}
