//! Targets by themselves.

use std::collections::HashSet;

use super::{FILES_MAX, Found, NUMBERED_MAX, TARGET_MAX, entries, listing};
use crate::{Bytes, Plan, PlanPath, Target, TargetKind};

pub(super) fn check(plan: &Plan, out: &mut Found) {
    let mut names = HashSet::new();
    for (i, target) in plan.targets.iter().enumerate() {
        let at = PlanPath::root().key("target").index(i);
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
        members(target, &at, out);
        file_name(target, &at, out);
        check_kind(target, &at, out);
        remove(target, &at, out);
        scheduler(target, &at, out);
    }
}

fn check_path(plan: &Plan, target: &Target, at: &PlanPath, out: &mut Found) {
    let place = at.key("path");
    if target.path.as_os_str().is_empty() && needs_path(plan, target) {
        let message = format!("target {} has no path", target.name);
        out.error("target-path", place, message, "set path to a file, directory or block device");
    }
}

/// A path is dispensable where nothing is opened.
fn needs_path(plan: &Plan, target: &Target) -> bool {
    if target.kind == TargetKind::Null {
        return false;
    }
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    let mut users = jobs.filter(|job| job.targets.contains(&target.name)).peekable();
    let used = users.peek().is_some();
    !used || users.any(|job| job.work.uses_targets())
}

fn check_size(target: &Target, at: &PlanPath, out: &mut Found) {
    let place = at.key("size");
    if let Some(percent) = target.size_percent {
        share(target, percent, &at.key("size_percent"), out);
        return;
    }
    match target.size {
        Some(Bytes(0)) => {
            out.error("target-size", place, "size is 0", "give a size, or remove it");
        }
        Some(size) if size > TARGET_MAX => {
            let message = format!("size is {size}, more than offsets can reach");
            out.error("target-size", place, message, format!("use at most {TARGET_MAX}"));
        }
        // No object with a current size exists.
        None if has_no_size_of_its_own(target) => {
            let message = format!("target {} has no own size", target.name);
            out.error("target-size", at.clone(), message, "set size, such as \"1g\"");
        }
        _ => {}
    }
}

/// A share of what only the host knows.
fn share(target: &Target, percent: u8, place: &PlanPath, out: &mut Found) {
    out.percent("target-size", place.clone(), f64::from(percent), 1.0);
    if let Some(size) = target.size {
        let message = format!("size is {size}, and size_percent {percent} %");
        out.error("target-size", place.clone(), message, "leave one of them out");
    }
    if has_no_size_of_its_own(target) {
        let message = format!("target {} has no size to take a share of", target.name);
        out.error("target-size", place.clone(), message, "set size, such as \"1g\"");
    }
}

fn has_no_size_of_its_own(target: &Target) -> bool {
    let no_path = target.path.as_os_str().is_empty();
    no_path || target.kind == TargetKind::Null
}

fn check_files(target: &Target, at: &PlanPath, out: &mut Found) {
    out.count("files", at.key("files"), target.files.into(), NUMBERED_MAX.into());
    let kind = target.kind;
    let one = matches!(kind, TargetKind::File | TargetKind::Device | TargetKind::Existing);
    if one && target.files > 1 {
        let message =
            format!("{} files are requested, but the number is given elsewhere", target.files);
        out.error("files", at.key("files"), message, "set kind = \"file_set\" or files = 1");
    }
}

/// Files by number: each has its own name, below the target's path.
fn file_name(target: &Target, at: &PlanPath, out: &mut Found) {
    let is_set = matches!(target.kind, TargetKind::FileSet | TargetKind::Null);
    let is_numbered = is_set && target.members.is_empty();
    let no_set = "files are numbered of what is no set, or has members";
    let remedy = "set kind = \"file_set\" and leave members out";
    if target.first_file > 0 && !is_numbered {
        out.error("first-file", at.key("first_file"), no_set, remedy);
    }
    let (Some(name), at) = (&target.file_name, at.key("file_name")) else { return };
    if !is_numbered {
        out.error("file-name", at, no_set, remedy);
    } else if !name.is_below() && target.kind != TargetKind::Null {
        let message = format!("`{name}` is no name of a file below the target's path");
        out.error("file-name", at, message, "use a relative path without `..`");
    } else if !name.is_numbered() && target.files > 1 {
        let message = format!("{} files have the one name `{name}`", target.files);
        out.error("file-name", at, message, "put `{number}` into it");
    }
}

/// Files by name: each has one, below the target's path.
fn members(target: &Target, at: &PlanPath, out: &mut Found) {
    let (members, at) = (&target.members, at.key("members"));
    if members.is_empty() {
        return;
    }
    if target.kind != TargetKind::FileSet || target.files > 1 {
        let message = "files are named of what is no set, or is a set of numbered files";
        let remedy = "set kind = \"file_set\" and leave files out";
        out.error("members", at.clone(), message, remedy);
    }
    if members.len() > FILES_MAX as usize {
        let message = format!("{} files are more than {FILES_MAX}", members.len());
        out.error("parts-limit", at, message, "divide them between several targets");
        return;
    }
    let mut seen = HashSet::new();
    for (i, member) in members.iter().enumerate() {
        let (name, place) = (&member.name, at.index(i));
        if name.is_empty() || name.starts_with('/') || name.contains('\0') {
            let message = format!("`{name}` is no name of a file below the target's path");
            out.error("member-name", place.key("name"), message, "use a relative path");
        } else if !seen.insert(name) {
            let message = format!("the file {name} is named twice, so it is used twice as often");
            out.warning("member-name", place.key("name"), message, "name it once");
        }
        match member.size {
            Some(Bytes(0)) => {
                let remedy = "give a size, or remove it";
                out.error("target-size", place.key("size"), "size is 0", remedy);
            }
            Some(size) if size > TARGET_MAX => {
                let message = format!("size is {size}, more than offsets can reach");
                let remedy = format!("use at most {TARGET_MAX}");
                out.error("target-size", place.key("size"), message, remedy);
            }
            _ => {}
        }
    }
}

/// To remove what others made takes the same consent as to overwrite it.
fn remove(target: &Target, at: &PlanPath, out: &mut Found) {
    if target.remove && !target.overwrite {
        let message = "remove is set without overwrite: files of others would be lost";
        out.error("remove", at.key("remove"), message, "consent with overwrite = true");
    }
}

fn check_kind(target: &Target, at: &PlanPath, out: &mut Found) {
    match &target.tree {
        Some(tree) => entries::check_tree(tree, &at.key("tree"), out),
        None if target.kind == TargetKind::Tree && target.listing.is_none() => {
            let message = format!("target {} is a tree without a shape", target.name);
            let remedy = "add a [target.tree] section, or [target.listing] for names of a list";
            out.error("tree-shape", at.clone(), message, remedy);
        }
        None => {}
    }
    if let Some(listed) = &target.listing {
        listing::check(target, listed, &at.key("listing"), out);
    }
    if target.tree.is_some() && !matches!(target.kind, TargetKind::Tree | TargetKind::Auto) {
        let message = "a tree's shape is given for what is not a tree";
        out.error("tree-shape", at.key("tree"), message, "set kind = \"tree\", or remove tree");
    }
}

/// A device that others use as well gets another scheduler.
fn scheduler(target: &Target, at: &PlanPath, out: &mut Found) {
    let Some(name) = &target.scheduler else { return };
    let place = at.key("scheduler");
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '\0') {
        let message = format!("`{name}` names no scheduler");
        out.error("scheduler", place, message, "see /sys/block/DEVICE/queue/scheduler");
    } else if !target.overwrite {
        let message = "scheduler is set without overwrite: others may use the device";
        out.error("scheduler", place, message, "consent with overwrite = true");
    }
}
