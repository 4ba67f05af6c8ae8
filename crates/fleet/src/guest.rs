//! A plan as a host has it that is not to make or remove what other hosts make.

use candor_plan::{Create, Job, Layout, Plan, Work};

/// The plan of a guest at some of its targets, by index: these are used as they are found, and
/// left. Whoever makes them has had the user's consent.
pub fn plan(plan: &Plan, guests: &[bool]) -> Plan {
    let mut plan = plan.clone();
    let names: Vec<String> = (plan.targets.iter().zip(guests))
        .filter(|(_, is_guest)| **is_guest)
        .map(|(target, _)| target.name.clone())
        .collect();
    let is_guest = |job: &Job| job.targets.iter().any(|target| names.contains(target));
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    let opens = jobs.filter(|job| job.blocks().is_some_and(|blocks| blocks.opening.is_in_phase()));
    let opened_in_phase: Vec<String> = opens.flat_map(|job| job.targets.clone()).collect();
    for target in plan.targets.iter_mut().filter(|target| names.contains(&target.name)) {
        // Files that are opened in the phase are made by whoever comes first.
        if !opened_in_phase.contains(&target.name) {
            target.create = Create::Nothing;
        }
        target.layout = Layout::Never;
        (target.overwrite, target.keep, target.remove) = (true, true, false);
    }
    for job in plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs).filter(|job| is_guest(job))
    {
        if let Work::Blocks(blocks) = &mut job.work {
            // What the maker has emptied and laid out is not emptied again.
            blocks.truncate_at_open &= blocks.opening.is_in_phase();
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use candor_plan::Target;

    use super::*;

    #[test]
    fn a_guest_makes_and_removes_nothing_and_keeps_the_rest() {
        let target = |name: &str| Target { name: name.into(), ..Target::default() };
        let plan_of_all =
            Plan { targets: vec![target("own"), target("shared")], ..Plan::default() };
        let guest = plan(&plan_of_all, &[false, true]);
        assert_eq!(guest.targets[0], plan_of_all.targets[0]);
        let shared = &guest.targets[1];
        assert_eq!((shared.create, shared.layout), (Create::Nothing, Layout::Never));
        assert!(shared.overwrite && shared.keep && !shared.remove);
    }
}
