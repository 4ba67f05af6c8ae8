//! Targets by themselves.

use std::collections::HashSet;

use super::{FILES_MAX, Found, TARGET_MAX, entries};
use crate::{Bytes, Place, Plan, Target, TargetKind};

pub(super) fn check(plan: &Plan, out: &mut Found) {
    let mut names = HashSet::new();
    for (i, target) in plan.targets.iter().enumerate() {
        let at = Place::root().key("target").index(i);
        if !names.insert(target.name.as_str()) {
            let message = format!("another target is called {} too", target.name);
            out.error("target-name", at.key("name"), message, "give each target its own name");
        }
        if target.name.is_empty() {
            let message = "the target has an empty name";
            out.error("target-name", at.key("name"), message, "name it, so that jobs can use it");
        }
        check_path(plan, target, &at, out);
        check_size(target, &at, out);
        check_files(target, &at, out);
        check_kind(target, &at, out);
    }
}

fn check_path(plan: &Plan, target: &Target, at: &Place, out: &mut Found) {
    let place = at.key("path");
    if target.path.to_str().is_none() {
        let message = format!("the path {} is not valid UTF-8", target.path.display());
        out.error("path-text", place, message, "use a link with a plain name");
    } else if target.path.as_os_str().is_empty() && needs_path(plan, target) {
        let message = format!("target {} has no path", target.name);
        out.error("target-path", place, message, "set path to a file, directory or block device");
    }
}

/// A path is dispensable where no byte moves.
fn needs_path(plan: &Plan, target: &Target) -> bool {
    if target.kind == TargetKind::Null {
        return false;
    }
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    let mut users = jobs.filter(|job| job.targets.contains(&target.name)).peekable();
    let used = users.peek().is_some();
    !used || users.any(|job| job.blocks.as_ref().is_none_or(crate::Blocks::moves_bytes))
}

fn check_size(target: &Target, at: &Place, out: &mut Found) {
    let place = at.key("size");
    match target.size {
        Some(Bytes(0)) => {
            out.error("target-size", place, "size is 0", "give a size, or remove it");
        }
        Some(size) if size > TARGET_MAX => {
            let message = format!("size is {size}, more than offsets can reach");
            out.error("target-size", place, message, format!("use at most {TARGET_MAX}"));
        }
        // There is nothing whose present size could be asked for.
        None if has_no_size_of_its_own(target) => {
            let message = format!("target {} has no size of its own", target.name);
            out.error("target-size", at.clone(), message, "set size, such as \"1g\"");
        }
        _ => {}
    }
}

fn has_no_size_of_its_own(target: &Target) -> bool {
    let no_path = target.path.as_os_str().is_empty() && target.kind != TargetKind::Tree;
    no_path || target.kind == TargetKind::Null
}

fn check_files(target: &Target, at: &Place, out: &mut Found) {
    out.count("files", at.key("files"), target.files.into(), FILES_MAX.into());
    let one = matches!(target.kind, TargetKind::File | TargetKind::Device);
    if one && target.files > 1 {
        let message = format!("{} files are asked for of a single file or device", target.files);
        out.error("files", at.key("files"), message, "set kind = \"file_set\" or files = 1");
    }
}

fn check_kind(target: &Target, at: &Place, out: &mut Found) {
    if target.kind == TargetKind::Tree {
        let message = "directory trees are not worked on yet";
        out.error("not-yet-tree", at.key("kind"), message, "use a file, a file set or a device");
    }
    match &target.tree {
        Some(tree) => entries::check_tree(tree, &at.key("tree"), out),
        None if target.kind == TargetKind::Tree => {
            let message = format!("target {} is a tree without a shape", target.name);
            out.error("tree-shape", at.clone(), message, "add a [target.tree] section");
        }
        None => {}
    }
    if target.tree.is_some() && !matches!(target.kind, TargetKind::Tree | TargetKind::Auto) {
        let message = "a tree's shape is given for what is not a tree";
        out.error("tree-shape", at.key("tree"), message, "set kind = \"tree\", or remove tree");
    }
}
