//! Making targets ready for a phase: laying out, looking at files, proving counters, evicting.

use std::path::Path;

use candor_engine::files;
use candor_engine::layout::{self, Wanted};
use candor_observe::{Roots, cache, canary};
use candor_plan::blocks::Engine;
use candor_plan::{Blocks, Layout, Phase, Plan, Target};
use candor_record::facts::{CanaryOutcome, PathKind};
use candor_record::{Event, Facts, Note, PrepareStep};

use crate::Events;
use crate::error::RunError;
use crate::made::Made;
use crate::stop::interrupted;

/// The targets of a phase that have files or devices, with the work on each.
pub fn targets<'a>(plan: &'a Plan, phase: &'a Phase) -> Vec<(usize, &'a Target, Vec<&'a Blocks>)> {
    let work = |target: &'a Target| -> Vec<&'a Blocks> {
        let jobs = phase.jobs.iter().filter(|job| job.targets.contains(&target.name));
        jobs.filter_map(|job| job.blocks.as_ref())
            .filter(|blocks| !files::is_null(target, blocks))
            .collect()
    };
    plan.targets
        .iter()
        .enumerate()
        .map(|(index, target)| (index, target, work(target)))
        .filter(|(.., work)| !work.is_empty())
        .collect()
}

/// True where the work needs all bytes of the file to be there. Only a sequential write does not:
/// it makes them, and laying out first would be work done twice.
fn needs_layout(work: &[&Blocks]) -> bool {
    work.iter().any(|blocks| {
        blocks.mix.read > 0
            || blocks.mix.trim > 0
            || blocks.engine == Engine::Mmap
            || blocks.access.is_random()
    })
}

/// Lays out what the work needs and notes which files are made.
pub fn lay_out(
    session: &mut candor_engine::Session,
    plan: &Plan,
    phase: &Phase,
    made: &mut Made,
    events: &mut Events<'_>,
) -> Result<(), RunError> {
    for (_, target, work) in targets(plan, phase) {
        for path in files::paths(target) {
            let exists = path.exists();
            let writes = work.iter().any(|blocks| blocks.mix.destroys());
            let lays_out = needs_layout(&work) && target.layout != Layout::Never;
            if !exists && (writes || lays_out) {
                made.add(&path, target.keep);
            }
            if !lays_out || is_device(&path) {
                continue;
            }
            let Some(size) = target.size else { continue };
            lay_out_one(session, plan, phase, target, &path, size.0, events)?;
        }
    }
    Ok(())
}

fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_block_device())
}

fn lay_out_one(
    session: &mut candor_engine::Session,
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
    if let Some(missing) = missing
        && !facts.missing.iter().any(|known| known.what == missing.what)
    {
        facts.missing.push(missing);
    }
}

/// Proves the counters of a path for an inspection: in a directory, on a small file of our own.
pub fn prove_path(facts: &mut Facts, index: usize, path: &Path, roots: &Roots) {
    let kind = facts.targets.get(index).map(|target| target.kind);
    if kind != Some(PathKind::Directory) {
        return prove(facts, index, path, roots);
    }
    const PROBE_BYTES: u64 = 1 << 20;
    let probe = path.join(format!(".candor-canary-{}", std::process::id()));
    let mut made = Made::default();
    made.add(&probe, false);
    let wanted = Wanted {
        size: PROBE_BYTES,
        layout: Layout::Write,
        content: Default::default(),
        verify: None,
        seed: u64::from(std::process::id()),
    };
    let mut session = candor_engine::Session::new();
    let laid_out = layout::lay_out(&mut session, &probe, &wanted, interrupted(), &mut |_| {});
    match laid_out {
        Ok(_) => prove(facts, index, &probe, roots),
        Err(error) => facts.missing.push(candor_record::facts::Missing {
            what: "whether the block layer counts I/O here".into(),
            why: error.to_string(),
            enable: "make the directory writable".into(),
        }),
    }
}

/// Drops the files of work that asks for it from the page cache; a note where pages stay.
pub fn evict(plan: &Plan, phase: &Phase, events: &mut Events<'_>) -> Result<Vec<Note>, RunError> {
    let mut notes = Vec::new();
    for (_, target, work) in targets(plan, phase) {
        if !work.iter().any(|blocks| blocks.hints.evict) {
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
