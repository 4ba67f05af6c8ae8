//! Lists of trees: each is read once per run, and shared by all jobs and workers of this host.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use candor_plan::entries::Over;
use candor_plan::listing::{List, ListError};
use candor_plan::{Bytes, Listing, Plan, PlanPath, Problem, Target, TargetKind};

/// Root of a tree, the file of its list, and the unit of its sizes.
type Origin = (PathBuf, Option<PathBuf>, Bytes);

/// Lists of targets.
#[derive(Clone, Debug, Default)]
pub struct Lists(HashMap<Origin, Arc<List>>);

fn origin(target: &Target, listing: &Listing) -> Origin {
    (target.path.clone(), listing.file.clone(), listing.round_up)
}

impl Lists {
    /// Reads the lists of a plan that are not known yet.
    ///
    /// # Errors
    /// Lists that cannot be read, and those without files for work on files.
    pub fn read(&mut self, plan: &Plan) -> Result<(), Vec<Problem>> {
        let targets = plan.targets.iter().enumerate();
        let problems: Vec<Problem> = targets
            .filter_map(|(index, target)| {
                let place = PlanPath::root().key("target").index(index).key("listing");
                let is_file = target.listing.as_ref().is_some_and(|of| of.file.is_some());
                let place = if is_file { place.key("file") } else { place };
                match self.take(target) {
                    Err(error) => {
                        Some(Problem::error("listing", place, error.message, error.remedy))
                    }
                    Ok(Some(list)) if list.files() == 0 && has_work_on_files(plan, target) => {
                        let message = "the list has no files, and there is work on files";
                        let remedy = "list a file, or leave the phases of files out";
                        Some(Problem::error("listing", place, message, remedy))
                    }
                    Ok(_) => None,
                }
            })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// The list of a target; none where its names are not listed. It is read where it is not known.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn take(&mut self, target: &Target) -> Result<Option<Arc<List>>, ListError> {
        let Some(listing) = target.listing.as_ref().filter(|_| target.kind == TargetKind::Tree)
        else {
            return Ok(None);
        };
        if let Some(known) = self.known(target) {
            return Ok(Some(known));
        }
        let list = Arc::new(List::of(&target.path, listing)?);
        self.0.insert(origin(target, listing), list.clone());
        Ok(Some(list))
    }

    /// The list of a target that was read.
    pub fn known(&self, target: &Target) -> Option<Arc<List>> {
        self.0.get(&origin(target, target.listing.as_ref()?)).cloned()
    }
}

fn has_work_on_files(plan: &Plan, target: &Target) -> bool {
    let mut jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    jobs.any(|job| {
        let on_items = job.entries().is_some_and(|entries| entries.over == Over::Items);
        on_items && job.targets.contains(&target.name)
    })
}
