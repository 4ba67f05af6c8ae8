//! Files of a plan, noted for the writer of results: none of them is written as a result.

use std::path::{Path, PathBuf};

use candor_engine::names;
use candor_files::{REMEDY, Refusal, Use};
use candor_plan::blocks::Access;
use candor_plan::entries::Step;
use candor_plan::{Job, PathText, Phase, Plan, PlanPath, Problem, Target, TargetKind, Work};

use crate::error::RunError;

/// Files of a target that are noted by name; more are only checked before a phase.
const NOTED_MAX: usize = 4096;

/// Notes the targets of a plan and the files that its jobs read.
///
/// # Errors
/// One of them is to be written as a result.
pub fn note(plan: &Plan) -> Result<(), RunError> {
    let mut problems = Vec::new();
    for (index, target) in plan.targets.iter().enumerate() {
        let place = PlanPath::root().key("target").index(index);
        if target.kind != TargetKind::Null {
            let refused = targets_of(names::paths(target));
            problems.extend(refused.map(|(path, why)| problem(place.key("path"), &path, &why)));
        }
        let in_tree = tree_of(plan, target);
        let in_tree = in_tree.map(|(path, why)| problem(place.key("path"), &path, &why));
        // Targets of several phases may share a directory.
        problems.extend(
            in_tree.filter(|new| problems.iter().all(|of: &Problem| of.message != new.message)),
        );
        let list = target.listing.as_ref().and_then(|list| list.file.as_deref());
        let refused = list.and_then(|list| refused(list, Use::List));
        problems.extend(refused.map(|(path, why)| problem(place.key("listing"), &path, &why)));
    }
    for (place, job) in jobs(plan) {
        let refused = inputs(job).into_iter().find_map(|(path, of)| refused(&path, of));
        problems.extend(refused.map(|(path, why)| problem(place.key("work"), &path, &why)));
    }
    refuse(problems)
}

/// Notes the files that jobs of these phases are to write.
///
/// # Errors
/// One of them is refused.
pub fn claim(plan: &Plan, phases: &[Phase]) -> Result<(), RunError> {
    let mut problems = Vec::new();
    for job in phases.iter().flat_map(|phase| &phase.jobs) {
        let place = jobs(plan).find(|(_, known)| known.name == job.name).map(|(place, _)| place);
        let place = place.unwrap_or_default();
        let log = job
            .operations_log
            .as_ref()
            .map(|log| (log.file.as_path(), place.key("operations_log")));
        let streams = match &job.work {
            Work::Program(program) => [&program.output, &program.errors],
            _ => [&None, &None],
        };
        let streams = streams.into_iter().flatten().map(|file| (file.as_path(), place.key("work")));
        let hooks = [&job.hooks.before, &job.hooks.after].into_iter().flatten();
        let hooks = hooks.filter_map(|hook| hook.output.as_ref().map(Path::new));
        let hooks = hooks.map(|file| (file, place.key("hooks")));
        for (file, place) in log.into_iter().chain(streams).chain(hooks) {
            let refused = candor_files::claim(file).err();
            problems.extend(refused.map(|why| problem(place, file, &why)));
        }
    }
    refuse(problems)
}

fn refuse(problems: Vec<Problem>) -> Result<(), RunError> {
    if problems.is_empty() { Ok(()) } else { Err(RunError::Unsafe(problems)) }
}

fn jobs(plan: &Plan) -> impl Iterator<Item = (PlanPath, &Job)> {
    plan.phases.iter().enumerate().flat_map(|(phase, of)| {
        let place = PlanPath::root().key("phase").index(phase).key("job");
        of.jobs.iter().enumerate().map(move |(job, of)| (place.index(job), of))
    })
}

fn targets_of(paths: impl Iterator<Item = PathBuf>) -> Option<(PathBuf, Refusal)> {
    let mut paths = paths.enumerate();
    paths.find_map(|(nth, path)| {
        if nth < NOTED_MAX {
            refused(&path, Use::Target)
        } else {
            candor_files::passes(&path, Use::Target).err().map(|why| (path, why))
        }
    })
}

/// Notes the directory of a tree. Results may be directly in it, unless the run removes it or lists
/// what is there.
fn tree_of(plan: &Plan, target: &Target) -> Option<(PathBuf, Refusal)> {
    if target.kind != TargetKind::Tree {
        return None;
    }
    let is_scanned = target.listing.as_ref().is_some_and(|listing| listing.file.is_none());
    let mut entries = jobs(plan)
        .filter(|(_, job)| job.targets.contains(&target.name))
        .filter_map(|(_, job)| job.entries());
    let is_listed = entries.any(|entries| entries.steps.contains(&Step::List));
    let refused = candor_files::uses_tree(&target.path, target.remove || is_scanned || is_listed);
    refused.err().map(|why| (target.path.clone(), why))
}

fn refused(path: &Path, of: Use) -> Option<(PathBuf, Refusal)> {
    candor_files::uses(path, of).err().map(|why| (path.to_owned(), why))
}

/// Files that a job reads or keeps, in addition to its targets.
fn inputs(job: &Job) -> Vec<(PathBuf, Use)> {
    let trace = job.blocks().and_then(|blocks| match &blocks.access {
        Access::Trace(trace) if !trace.file.as_os_str().is_empty() => Some(trace.file.clone()),
        _ => None,
    });
    let of_blocks = job.blocks().and_then(|blocks| blocks.verify.as_ref()?.journal.as_ref());
    let items = job.entries().and_then(|entries| entries.verify.as_ref());
    let of_entries = items.into_iter().flat_map(candor_plan::entries::VerifyItems::journals);
    let journals = of_blocks.into_iter().chain(of_entries.map(|(_, journal)| journal));
    let journals = journals.flat_map(|journal| {
        let files = std::fs::read_dir(&journal.directory).into_iter().flatten().flatten();
        files.map(|file| file.path()).chain([journal.directory.join("keys")])
    });
    let trace = trace.into_iter().map(|trace| (trace, Use::Trace));
    trace.chain(journals.map(|file| (file, Use::Journal))).collect()
}

fn problem(place: PlanPath, path: &Path, why: &Refusal) -> Problem {
    let message = match why {
        Refusal::InUse(_) => format!("`{}` is also a file for results", path.text()),
        Refusal::InTree(_) => format!("the tree `{}` has a file for results in it", path.text()),
        why => format!("`{}` takes no results: {why}", path.text()),
    };
    Problem::error("output-in-use", place, message, REMEDY)
}
