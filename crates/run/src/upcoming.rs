//! Phases that are about to run, and those that run before them.

use candor_entries::Lists;
use candor_plan::{Phase, Plan};

/// Phases that are about to run.
#[derive(Clone, Copy)]
pub struct Upcoming<'a> {
    /// Plan whose targets they use.
    pub plan: &'a Plan,
    /// The phases.
    pub phases: &'a [Phase],
    /// Index of the first one in the plan; none for a phase outside of it, which runs after all.
    pub first: Option<usize>,
    /// Lists of the files of trees.
    pub lists: &'a Lists,
}

impl<'a> Upcoming<'a> {
    /// All phases of a plan.
    pub fn all(plan: &'a Plan, lists: &'a Lists) -> Upcoming<'a> {
        Upcoming { plan, phases: &plan.phases, first: Some(0), lists }
    }

    /// Phases of the plan that run before the one at this place among the upcoming ones.
    pub fn before(&self, at: usize) -> &'a [Phase] {
        let first = self.first.unwrap_or(self.plan.phases.len());
        &self.plan.phases[..self.plan.phases.len().min(first + at)]
    }
}
