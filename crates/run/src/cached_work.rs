//! Work that would measure the page cache, before it runs.

use candor_engine::names;
use candor_observe::cache;
use candor_plan::blocks::Durability;
use candor_plan::{Blocks, PathText, Phase, Plan, Target};
use candor_record::{Facts, fmt};

use crate::precheck::{Work, targets};

/// Files of a target whose pages are looked at: those of a large set are alike.
const FILES_MAX: usize = 32;
/// From this share of a target in the page cache on, most reads come from there.
const SHARE_MIN: f64 = 0.5;

/// A sentence for each target of a phase that will mostly meet the page cache. Targets in memory
/// are left out: no way leads from there to a device. Writes of a mount with `sync` wait for it.
pub fn foreseen(plan: &Plan, phase: &Phase, facts: &Facts) -> Vec<String> {
    // A mount with `sync` waits for the device at each write.
    let meets_none = |index: usize, work: &[Work<'_>]| {
        let facts = facts.targets.get(index);
        let filesystem = facts.and_then(|target| target.filesystem.as_ref());
        let reads = work.iter().any(|work| work.blocks.mix.read > 0);
        let synchronous = facts.is_some_and(|target| target.synchronous().is_some());
        filesystem.is_some_and(|filesystem| filesystem.in_memory) || (synchronous && !reads)
    };
    let mut sentences = Vec::new();
    for (index, target, work) in targets(plan, phase) {
        if meets_none(index, &work) {
            continue;
        }
        let mut surprises = work.iter().filter(|work| !work.job.wants_cache);
        sentences.extend(surprises.find_map(|work| sentence(&phase.name, target, work.blocks)));
    }
    sentences
}

fn sentence(phase: &str, target: &Target, blocks: &Blocks) -> Option<String> {
    if blocks.direct || !blocks.moves_bytes() {
        return None;
    }
    let hints = &blocks.hints;
    let wants_cache = hints.evict || hints.invalidate || hints.pre_read;
    let path = target.path.text();
    if blocks.mix.read > 0 && !wants_cache {
        let share = cached_share(target).filter(|share| *share >= SHARE_MIN)?;
        let share = fmt::percent(share);
        return Some(format!(
            "`{phase}` reads `{path}` through the page cache, which holds {share} of it: those \
             reads come from memory; --direct or --evict (`direct`, `hints.evict`) reach the device"
        ));
    }
    let flushes = blocks.durability != Durability::default();
    (blocks.mix.read == 0 && blocks.mix.write > 0 && !flushes).then(|| {
        format!(
            "`{phase}` writes `{path}` into the page cache and flushes nothing: this measures \
             memory until the kernel writes back; --direct or --fsync-end (`direct`, \
             `durability.fsync_at_end`) count the device"
        )
    })
}

/// Share of a target's first files that the page cache holds; none where that is not known.
fn cached_share(target: &Target) -> Option<f64> {
    let states = names::paths(target).take(FILES_MAX).filter_map(|path| cache::look(&path).ok());
    let all = states.fold(None, |sum, one| Some(cache::add(sum, &one)))?;
    (all.size_bytes > 0).then(|| all.resident_bytes as f64 / all.size_bytes as f64)
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Mix;

    use super::*;

    #[test]
    fn cached_files_and_unflushed_writes_are_foreseen() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("file");
        // What was just written is in the cache.
        std::fs::write(&path, vec![7; 1 << 20]).expect("written");
        let target = Target { path, ..Target::default() };
        let said = |change: &dyn Fn(&mut Blocks)| {
            let mut blocks = Blocks { mix: Mix::READ, ..Blocks::default() };
            change(&mut blocks);
            sentence("job", &target, &blocks).unwrap_or_default()
        };
        assert!(said(&|_| {}).contains("holds 100 % of it"), "{}", said(&|_| {}));
        for silent in [
            said(&|blocks| blocks.direct = true),
            said(&|blocks| blocks.hints.evict = true),
            said(&|blocks| blocks.hints.pre_read = true),
            said(&|blocks| {
                blocks.mix = Mix::WRITE;
                blocks.durability.fsync_every = 1;
            }),
        ] {
            assert_eq!(silent, "");
        }
        assert!(said(&|blocks| blocks.mix = Mix::WRITE).contains("flushes nothing"));
    }
}
