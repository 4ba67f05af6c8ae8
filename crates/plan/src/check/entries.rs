//! Trees, and operations on named things.

use super::sizes::{at_most, check_spec};
use super::whole::time_limit;
use super::{DIRECTORIES_MAX, Found, OPERATION_MAX, TREE_DEPTH_MAX};
use crate::Tree;
use crate::entries::{Entries, Over, Select, Step};
use crate::tree::EntryName;
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
    names(tree, at, out);
    // A file may be empty; an empty range or weight is still a mistake.
    if tree.file_size != SizeSpec::Fixed(Bytes(0)) {
        check_spec(&tree.file_size, &at.key("file_size"), None, out);
        at_most(&tree.file_size, OPERATION_MAX, &at.key("file_size"), out);
    }
}

/// Names lie where the tree puts them, and none is given twice.
fn names(tree: &Tree, at: &PlanPath, out: &mut Found) {
    let given = [
        (
            "root_name",
            &tree.root_name,
            tree.per_rank,
            EntryName::tells_ranks as fn(&_) -> _,
            "{rank}",
        ),
        (
            "directory_name",
            &tree.directory_name,
            tree.width > 1,
            EntryName::tells_directories,
            "{child}",
        ),
        ("item_name", &tree.item_name, tree.items > 1, EntryName::tells_items, "{number}"),
        (
            "item_name",
            &tree.item_name,
            tree.items_per_rank && !tree.per_rank,
            EntryName::tells_ranks,
            "{rank}",
        ),
    ];
    for (key, name, must_tell, tells, field) in given {
        let Some(name) = name else { continue };
        let place = at.key(key);
        if !name.is_single() {
            let message = format!("`{name}` is not the name of one file or directory");
            out.error("tree-name", place, message, "use a name without a slash");
        } else if must_tell && !tells(name) {
            let message = format!("`{name}` names several things alike");
            out.error("tree-name", place, message, format!("use `{field}` in it"));
        }
    }
}

/// Steps that can be done to such things, and not for both files and directories.
fn check_steps(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let at = at.key("steps");
    for (index, step) in entries.steps.iter().enumerate() {
        let of_directory = step.suits(Over::Directories) && !step.suits(Over::TargetFiles);
        if !step.suits(entries.over) {
            let things = match entries.over {
                Over::Items => "items",
                Over::Directories | Over::TargetDirectories => "directories",
                Over::TargetFiles => "files",
            };
            let message = format!("{} cannot be done to {things}", step.name());
            let remedy = "files: create, open, read, write, fsync, close, truncate, link, unlink; \
                          directories: mkdir, list, rmdir; both: stat, lstat, statx, rename, \
                          symlink, readlink, setxattr, getxattr, removexattr, syncfs";
            out.error("entries-step", at.index(index), message, remedy);
        } else if entries.is_of_directories() && !of_directory && !step.suits(Over::Directories) {
            let message =
                format!("{} is of files, and other steps are of directories", step.name());
            out.error("entries-step", at.index(index), message, "use a job for each");
        }
    }
}

/// The order of names and a loader's pace.
fn check_order(entries: &Entries, at: &PlanPath, out: &mut Found) {
    if entries.loader.is_some() {
        let message = "a loader's pace is not kept yet";
        out.error("not-yet-loader", at.key("loader"), message, "remove loader");
    }
    if entries.select != Select::Sequential && entries.makes_or_removes_directories() {
        let message = "directories are made and removed in order: parents are before children";
        out.error("entries-order", at.key("select"), message, "remove select");
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
    check_steps(entries, at, out);
    check_order(entries, at, out);
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
