//! Making targets ready for a phase: laying out, looking at files, proving counters, evicting.

use std::path::Path;

use candor_engine::layout::{self, Wanted};
use candor_engine::{Session, files};
use candor_observe::{Roots, cache, canary};
use candor_plan::blocks::{Access, Engine, Share};
use candor_plan::units::{Extent, PerOp, SizeSpec};
use candor_plan::{Blocks, Bytes, Job, Layout, Phase, Plan, Sharing, Target};
use candor_record::facts::{CanaryOutcome, Missing, PathKind};
use candor_record::{Event, Facts, Note, PrepareStep};

use crate::Events;
use crate::consent::{Guard, is_device};
use crate::error::RunError;
use crate::made::Made;
use crate::stop::interrupted;

/// A job of a phase, with its work.
pub type Work<'a> = (&'a Job, &'a Blocks);

/// The targets of a phase that have files or devices, with the work on each.
pub fn targets<'a>(plan: &'a Plan, phase: &'a Phase) -> Vec<(usize, &'a Target, Vec<Work<'a>>)> {
    let work = |target: &'a Target| -> Vec<Work<'a>> {
        let jobs = phase.jobs.iter().filter(|job| job.targets.contains(&target.name));
        jobs.filter_map(|job| Some((job, job.blocks.as_ref()?)))
            .filter(|(_, blocks)| !files::is_null(target, blocks))
            .collect()
    };
    plan.targets
        .iter()
        .enumerate()
        .map(|(index, target)| (index, target, work(target)))
        .filter(|(.., work)| !work.is_empty())
        .collect()
}

/// True for work that makes every byte of a file from its start on, so that laying it out first
/// would be work done twice: one worker that only writes, in sequence, without a gap.
fn makes_all_bytes((job, blocks): &Work<'_>) -> bool {
    let alone = job.workers == 1 || job.sharing == Sharing::Own;
    let aligned = blocks.align.is_none_or(|align| {
        matches!(blocks.size.write, SizeSpec::Fixed(size) if size.0.is_multiple_of(align.0.max(1)))
    });
    let only_writes = blocks.mix.write > 0 && blocks.mix.read == 0 && blocks.mix.trim == 0;
    let from_start = matches!(blocks.range.start, Extent::Bytes(Bytes(0)))
        || matches!(blocks.range.start, Extent::Percent(percent) if percent == 0.0);
    only_writes
        && blocks.access == Access::Sequential
        && blocks.random_percent == PerOp::all(0)
        && blocks.share == Share::Whole
        && blocks.engine != Engine::Mmap
        && (alone && aligned && from_start)
}

/// Makes the files that the work needs, and lays out those that must hold all their bytes.
pub fn lay_out(
    session: &mut Session,
    guard: &mut Guard,
    plan: &Plan,
    phase: &Phase,
    events: &mut Events<'_>,
) -> Result<(), RunError> {
    let alone = Plan { phases: vec![phase.clone()], ..plan.clone() };
    for (index, target, work) in targets(plan, phase) {
        let writes = work.iter().any(|(_, blocks)| blocks.mix.destroys());
        let needs_layout = !work.iter().all(makes_all_bytes) && target.layout != Layout::Never;
        let wanted = target.size.filter(|_| needs_layout);
        if !writes && wanted.is_none() {
            continue;
        }
        for path in files::paths(target) {
            guard.create(&alone, index, &path)?;
            if let Some(size) = wanted.filter(|_| !is_device(&path)) {
                lay_out_one(session, plan, phase, target, &path, size.0, events)?;
            }
        }
    }
    Ok(())
}

fn lay_out_one(
    session: &mut Session,
    plan: &Plan,
    phase: &Phase,
    target: &Target,
    path: &Path,
    size: u64,
    events: &mut Events<'_>,
) -> Result<(), RunError> {
    // Headers are laid out for whichever phase checks them, this one or a later one.
    let jobs = plan.phases.iter().chain([phase]).flat_map(|phase| &phase.jobs);
    let on_target = jobs.filter(|job| job.targets.contains(&target.name));
    let work: Vec<&Blocks> = on_target.filter_map(|job| job.blocks.as_ref()).collect();
    let wanted = Wanted {
        size,
        layout: target.layout,
        content: work.first().map(|blocks| blocks.content).unwrap_or_default(),
        verify: work.iter().find_map(|blocks| blocks.verify),
        seed: plan.seed,
    };
    let mut told = |done: u64| {
        events(&Event::Preparing {
            phase: phase.name.clone(),
            step: PrepareStep::LayOut,
            what: path.display().to_string(),
            bytes_done: done,
            bytes_total: size,
        });
    };
    layout::lay_out(session, path, &wanted, interrupted(), &mut told)?;
    Ok(())
}

/// Looks at the files of a phase as they now are, and proves each target's counters once.
pub fn look(facts: &mut Facts, plan: &Plan, phase: &Phase, roots: &Roots) {
    for (index, target, _) in targets(plan, phase) {
        let paths = files::paths(target);
        // Files of a large set are alike; a few tell all.
        const FILES_MAX: usize = 32;
        let seen: Vec<_> = paths
            .iter()
            .take(FILES_MAX)
            .filter_map(|path| candor_observe::file_facts(path).ok())
            .collect();
        if let Some(target_facts) = facts.targets.get_mut(index) {
            target_facts.files = seen;
            if target_facts.kind == PathKind::Missing && target.path.is_file() {
                target_facts.kind = PathKind::File;
            }
        }
        let proven = facts.targets.get(index).and_then(|t| t.canary.as_ref());
        let settled = proven.is_some_and(|canary| {
            matches!(canary.outcome, CanaryOutcome::Counted | CanaryOutcome::CountedBelow)
        });
        if let (false, Some(path)) = (settled, paths.first()) {
            prove(facts, index, path, roots);
        }
    }
}

/// Makes the proving read on a file or device and keeps what it showed.
fn prove(facts: &mut Facts, index: usize, path: &Path, roots: &Roots) {
    if !path.exists() {
        return;
    }
    let (canary, missing) = canary::explain(facts, index, path, roots);
    if let Some(target) = facts.targets.get_mut(index) {
        target.canary = Some(canary);
    }
    // The last try counts: a file that was empty may have been written since.
    let of_this = format!("proving read of {}", path.display());
    facts.missing.retain(|known| known.what != of_this);
    facts.missing.extend(missing);
}

/// Proves the counters of a path for an inspection: in a directory, on a small file of our own.
pub fn prove_path(facts: &mut Facts, index: usize, path: &Path, roots: &Roots) {
    let kind = facts.targets.get(index).map(|target| target.kind);
    if kind != Some(PathKind::Directory) {
        return prove(facts, index, path, roots);
    }
    const PROBE_BYTES: u64 = 1 << 20;
    let mut made = Made::default();
    let probe = match made.create_probe(path) {
        Ok(probe) => probe,
        Err(error) => return unproven(facts, &error.to_string()),
    };
    let wanted = Wanted {
        size: PROBE_BYTES,
        layout: Layout::Write,
        content: Default::default(),
        verify: None,
        seed: u64::from(std::process::id()),
    };
    let laid_out =
        layout::lay_out(&mut Session::new(), &probe, &wanted, interrupted(), &mut |_| {});
    match laid_out {
        Ok(_) => prove(facts, index, &probe, roots),
        Err(error) => unproven(facts, &error.to_string()),
    }
}

fn unproven(facts: &mut Facts, why: &str) {
    facts.missing.push(Missing {
        what: "whether the block layer counts I/O here".into(),
        why: why.into(),
        enable: "make the directory writable".into(),
    });
}

/// Drops the files of work that asks for it from the page cache; a note where pages stay.
pub fn evict(plan: &Plan, phase: &Phase, events: &mut Events<'_>) -> Result<Vec<Note>, RunError> {
    let mut notes = Vec::new();
    for (_, target, work) in targets(plan, phase) {
        if !work.iter().any(|(_, blocks)| blocks.hints.evict) {
            continue;
        }
        for path in files::paths(target).into_iter().filter(|path| path.exists()) {
            notes.extend(evict_one(&path, phase, events)?);
        }
    }
    Ok(notes)
}

fn evict_one(
    path: &Path,
    phase: &Phase,
    events: &mut Events<'_>,
) -> Result<Option<Note>, RunError> {
    events(&Event::Preparing {
        phase: phase.name.clone(),
        step: PrepareStep::Evict,
        what: path.display().to_string(),
        bytes_done: 0,
        bytes_total: 0,
    });
    let evicted = cache::evict(path).map_err(RunError::file("drop from the page cache", path))?;
    let left = evicted.after.resident_bytes;
    Ok((left > 0).then(|| Note {
        asked: format!("drop `{}` from the page cache before `{}`", path.display(), phase.name),
        did: format!("{left} bytes stayed after {} rounds", evicted.rounds),
        why: "pages that are dirty, being written, or mapped by a process cannot be dropped".into(),
        place: None,
    }))
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Mix;

    use super::*;

    #[test]
    fn only_one_plain_sequential_writer_makes_its_own_bytes() {
        let plain = Blocks { mix: Mix::WRITE, ..Blocks::default() };
        let made = |job: Job, blocks: &Blocks| makes_all_bytes(&(&job, blocks));
        assert!(made(Job::default(), &plain));
        assert!(made(Job { workers: 4, sharing: Sharing::Own, ..Job::default() }, &plain));
        assert!(made(Job::default(), &Blocks { align: Some(Bytes(512)), ..plain.clone() }));
        assert!(!made(Job { workers: 2, ..Job::default() }, &plain));
        let range = candor_plan::blocks::Range { start: Extent::Percent(50.0), length: None };
        let gaps = [
            Blocks { mix: Mix::READ, ..plain.clone() },
            Blocks { mix: Mix { read: 0, write: 50, trim: 50 }, ..plain.clone() },
            Blocks { access: Access::Backward, ..plain.clone() },
            Blocks { access: Access::Holes { hole: Bytes(4096) }, ..plain.clone() },
            Blocks { access: Access::Random, ..plain.clone() },
            Blocks { random_percent: PerOp::all(10), ..plain.clone() },
            Blocks { share: Share::Slice, ..plain.clone() },
            Blocks { engine: Engine::Mmap, ..plain.clone() },
            Blocks { align: Some(Bytes(8192)), ..plain.clone() },
            Blocks { range, ..plain.clone() },
        ];
        for blocks in gaps {
            assert!(!made(Job::default(), &blocks), "{blocks:?}");
        }
    }
}
