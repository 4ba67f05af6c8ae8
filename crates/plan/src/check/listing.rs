//! Trees whose names are listed.

use super::{Found, TARGET_MAX};
use crate::entries::Entries;
use crate::{Bytes, Create, Job, Listing, PlanPath, Target, TargetKind};

pub(super) fn check(target: &Target, listing: &Listing, at: &PlanPath, out: &mut Found) {
    if target.tree.is_some() {
        let message = format!("target {} has a shape and a list of its names", target.name);
        out.error("listing", at.clone(), message, "remove tree or listing");
    }
    if target.kind != TargetKind::Tree {
        let message = "names are listed of what is not a tree";
        out.error("listing", at.clone(), message, "set kind = \"tree\", or remove listing");
    }
    if listing.round_up > TARGET_MAX {
        let message = format!("round_up is {}, more than offsets can reach", listing.round_up);
        let remedy = format!("use at most {TARGET_MAX}");
        out.error("listing", at.key("round_up"), message, remedy);
    }
    let Some(file) = &listing.file else { return of_what_is_there(target, listing, at, out) };
    if file.as_os_str().is_empty() {
        out.error("listing", at.key("file"), "the list has no file", "name the file with the list");
    }
}

fn of_what_is_there(target: &Target, listing: &Listing, at: &PlanPath, out: &mut Found) {
    if target.create != Create::Nothing {
        let message = "what is there is listed, so there is nothing to make";
        out.error("listing", at.clone(), message, "set create = \"nothing\", or name a file");
    }
    if listing.round_up > Bytes(0) {
        let message = "files that are there have the sizes they have";
        out.error("listing", at.key("round_up"), message, "remove round_up, or name a file");
    }
}

/// Steps over a listed tree, of which a job has one.
pub(super) fn check_job(
    job: &Job,
    entries: &Entries,
    listing: &Listing,
    place: PlanPath,
    out: &mut Found,
) {
    if job.targets.len() > 1 {
        let message = "a job has several targets, and the names of one are listed";
        out.error("listing", place.clone(), message, "use a job for each");
    }
    let cut = entries.lists().filter(|steps| steps.iter().any(|step| step.moves_bytes()));
    let unfit = cut.flatten().find(|step| !step.suits_parts());
    if let Some(step) = unfit.filter(|_| listing.share_above.is_some()) {
        let message = format!(
            "{} is of a whole file, and several workers read or write parts of one",
            step.name()
        );
        out.error("listing", place.clone(), message, "use a job for it, or remove share_above");
    }
    if entries.truncate_at_open && entries.moves_bytes() && listing.share_above.is_some() {
        let message = "a worker that empties a file would lose what others wrote to their parts";
        out.error("listing", place, message, "remove truncate_at_open or share_above");
    }
}
