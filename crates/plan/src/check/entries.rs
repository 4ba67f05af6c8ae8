//! Trees, and operations on named things. Trees are not run yet; their shape is checked all the
//! same, so that a plan that is right now stays right.

use super::sizes::{at_most, check_spec};
use super::whole::time_limit;
use super::{DIRECTORIES_MAX, Found, OPERATION_MAX, TREE_DEPTH_MAX};
use crate::entries::{Entries, Select, Step, Tree};
use crate::units::SizeSpec;
use crate::{Bytes, PlanPath};

pub(super) fn check_tree(tree: &Tree, at: &PlanPath, out: &mut Found) {
    if tree.width == 0 && tree.depth > 0 {
        let message = format!("a tree {} deep has width 0", tree.depth);
        out.error("tree-width", at.key("width"), message, "set width to 1 or more");
    }
    if tree.depth > TREE_DEPTH_MAX {
        let message = format!("depth is {}, more than {TREE_DEPTH_MAX}", tree.depth);
        let remedy = format!("set depth to at most {TREE_DEPTH_MAX}");
        out.error("tree-limit", at.key("depth"), message, remedy);
    } else if tree.directories() > DIRECTORIES_MAX {
        let message = format!(
            "depth {} and width {} make more than {DIRECTORIES_MAX} directories",
            tree.depth, tree.width
        );
        out.error("tree-limit", at.clone(), message, "make it less deep or less wide");
    } else if tree.item_directories().checked_mul(tree.items).is_none() {
        let message = format!("{} items per directory are too many to count", tree.items);
        out.error("tree-limit", at.key("items"), message, "use fewer items");
    }
    // A file may be empty; an empty range or weight is still a mistake.
    if tree.file_size != SizeSpec::Fixed(Bytes(0)) {
        check_spec(&tree.file_size, &at.key("file_size"), None, out);
        at_most(&tree.file_size, OPERATION_MAX, &at.key("file_size"), out);
    }
}

/// Steps that the kernel can do to a name, in order.
fn of_targets(entries: &Entries, at: &PlanPath, out: &mut Found) {
    if !entries.is_run() && !entries.steps.is_empty() {
        let steps: Vec<_> = entries.steps.iter().map(|step| step.name()).collect();
        let message = format!("over names of targets, {} is not run", steps.join(" and "));
        let remedy = "over files: create or open, then read, write, fsync, close; truncate, stat, \
                      lstat, statx, unlink; over directories: mkdir, stat, lstat, statx, rmdir";
        out.error("entries-step", at.key("steps"), message, remedy);
    }
    let plain = entries.select == Select::Sequential && entries.loader.is_none();
    if !plain {
        let message = "over names of targets, steps are done in order";
        let remedy = "remove select and loader";
        out.error("entries-plain", at.clone(), message, remedy);
    }
}

/// Files are open where steps need them so, and closed in the end: else another step's time would
/// hold the close.
fn check_open(steps: &[Step], at: &PlanPath, out: &mut Found) {
    let (is_kept, mut is_open) = (steps.iter().any(|step| step.needs_open()), false);
    for (index, step) in steps.iter().enumerate().filter(|_| is_kept) {
        let opens = matches!(step, Step::Create | Step::Open);
        let (is_wrong, state, remedy) = match opens {
            true => (is_open, "open already", "close it before"),
            false => (step.needs_open() && !is_open, "not open", "create or open it before"),
        };
        if is_wrong {
            let message = format!("at {} the file is {state}", step.name());
            return out.error("entries-open", at.index(index), message, remedy);
        }
        is_open = (is_open || opens) && *step != Step::Close;
    }
    if is_open {
        let message = "the file is open after the last step";
        out.error("entries-open", at.clone(), message, "add close");
    }
}

pub(super) fn check_job(entries: &Entries, at: &PlanPath, out: &mut Found) {
    if entries.over.is_of_targets() {
        of_targets(entries, at, out);
    } else {
        let remedy = "use blocks on files for now, or over = \"target_files\"";
        out.error("not-yet-entries", at.clone(), "entries of trees are not run yet", remedy);
    }
    if entries.steps.is_empty() {
        let message = "entries have no steps: nothing is done to the items";
        out.error("no-steps", at.key("steps"), message, "name steps, such as [\"stat\"]");
    }
    check_open(&entries.steps, &at.key("steps"), out);
    let moves = entries.steps.iter().any(|s| matches!(s, Step::Read | Step::Write));
    match entries.size {
        Some(Bytes(0)) => out.error("size", at.key("size"), "size is 0", "give a size"),
        Some(size) if entries.direct && !size.0.is_multiple_of(super::SECTOR.0) => {
            let message = format!("size is {size}, not a multiple of 512 bytes");
            out.error("direct-alignment", at.key("size"), message, "use a multiple of 512");
        }
        Some(size) if !moves => {
            let message = format!("size is {size}, but no step reads or writes");
            out.warning("size-unused", at.key("size"), message, "remove size");
        }
        _ => {}
    }
    if let Some(loader) = &entries.loader {
        let at = at.key("loader");
        out.count("loader", at.key("batch"), loader.batch.into(), 1 << 24);
        out.count("loader", at.key("prefetch"), loader.prefetch.into(), 1 << 16);
        time_limit(loader.compute, at.key("compute"), out);
    }
}
