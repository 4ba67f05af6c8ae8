//! Whether a plan may do what it would do: checked before anything is opened for writing.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use candor_engine::files;
use candor_observe::Roots;
use candor_plan::units::Mix;
use candor_plan::{Blocks, Layout, Place, Plan, Problem, Target};

use crate::made::Made;

/// Everything that speaks against the plan. `made` are files of this run; `force` names a device
/// that is written to although it is held.
pub fn check(plan: &Plan, force: Option<&str>, made: &Made, roots: &Roots) -> Vec<Problem> {
    let targets = plan.targets.iter().enumerate();
    let check = |(index, target)| check_target(plan, index, target, force, made, roots);
    targets.flat_map(check).collect()
}

/// The work that uses a target, null work left aside.
fn uses<'a>(plan: &'a Plan, target: &'a Target) -> impl Iterator<Item = &'a Blocks> {
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    jobs.filter(|job| job.targets.contains(&target.name))
        .filter_map(|job| job.blocks.as_ref())
        .filter(|blocks| !files::is_null(target, blocks))
}

fn check_target(
    plan: &Plan,
    index: usize,
    target: &Target,
    force: Option<&str>,
    made: &Made,
    roots: &Roots,
) -> Vec<Problem> {
    if uses(plan, target).next().is_none() {
        return Vec::new();
    }
    let place = Place::root().key("target").index(index);
    let destroys = uses(plan, target).any(|blocks| Mix::destroys(blocks.mix));
    let mut problems = Vec::new();
    for path in files::paths(target) {
        let Ok(metadata) = path.metadata() else { continue };
        if metadata.file_type().is_block_device() {
            if destroys {
                problems.extend(check_device(target, &path, &place, force, roots));
            }
        } else if metadata.is_file() {
            let grows = target.size.is_some_and(|size| size.0 > metadata.len())
                && target.layout != Layout::Never;
            if (destroys || grows) && !target.overwrite && !made.contains(&path) {
                problems.push(foreign_file(&path, &place, destroys));
                break;
            }
        } else {
            problems.push(not_usable(&path, &place));
        }
    }
    problems
}

fn check_device(
    target: &Target,
    path: &Path,
    place: &Place,
    force: Option<&str>,
    roots: &Roots,
) -> Vec<Problem> {
    let shown = path.display();
    let mut problems = Vec::new();
    if !target.overwrite {
        problems.push(Problem::error(
            "consent-device",
            place.key("path"),
            format!(
                "`{shown}` is a block device, and the plan writes to it: its data would be lost"
            ),
            "say so with --overwrite, or `overwrite = true` at the target",
        ));
    }
    let device = candor_observe::device_of_path(path, roots);
    let holders =
        device.as_ref().map_or_else(Vec::new, |name| candor_observe::holders(name, roots));
    if !holders.is_empty() && device.as_deref() != force {
        let name = device.unwrap_or_default();
        problems.push(Problem::error(
            "held-device",
            place.key("path"),
            format!("`{shown}` is in use by {}", holders.join(", ")),
            format!("release it first, or insist by name with --force {name}"),
        ));
    }
    problems
}

fn foreign_file(path: &Path, place: &Place, destroys: bool) -> Problem {
    let shown = path.display();
    let what = if destroys { "writes to it" } else { "makes it longer" };
    Problem::error(
        "consent-file",
        place.key("path"),
        format!("`{shown}` exists and was not made by this run, and the plan {what}"),
        "name a file that does not exist, or consent with --overwrite (`overwrite = true`)",
    )
}

fn not_usable(path: &Path, place: &Place) -> Problem {
    let shown = path.display();
    Problem::error(
        "target-kind",
        place.key("path"),
        format!("`{shown}` is neither a regular file nor a block device"),
        "name a file, a block device, or a directory with `kind = \"file_set\"`",
    )
}
