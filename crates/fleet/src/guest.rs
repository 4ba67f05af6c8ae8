//! A plan as one host has it: without the work of other hosts, and not to make or remove what other
//! hosts make.

use candor_plan::{Create, Hooks, Job, Layout, Plan, Target, Work};

/// The plan of a host that is a guest at some of its targets, by index: these are used as they are
/// found, and left. Whoever makes them has had the user's consent. Hosts that run the plan each by
/// itself are no guests.
pub fn plan(plan: &Plan, host: u32, guests: &[bool]) -> Plan {
    let mut plan = plan.clone();
    if plan.hosts_apart {
        return plan;
    }
    let makers = made_here(&plan, host);
    let jobs = plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs);
    for job in jobs.filter(|job| job.only_on.is_some_and(|only| only != host)) {
        job.targets.clear();
        job.hooks = Hooks::default();
    }
    let names: Vec<String> = (plan.targets.iter().zip(guests))
        .filter(|(target, is_guest)| **is_guest && !makers.contains(&target.name))
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

/// Names of targets that only single hosts use, of which this is the first: whoever else sees them
/// leaves them alone.
fn made_here(plan: &Plan, host: u32) -> Vec<String> {
    let users = |target: &Target| {
        let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
        let users = jobs.filter(|job| job.targets.contains(&target.name)).map(|job| job.only_on);
        // None where a job runs everywhere.
        users.collect::<Option<Vec<u32>>>()
    };
    let is_first =
        |target: &&Target| users(target).is_some_and(|users| users.iter().min() == Some(&host));
    plan.targets.iter().filter(is_first).map(|target| target.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use candor_plan::Phase;

    use super::*;

    #[test]
    fn a_guest_makes_and_removes_nothing_and_keeps_the_rest() {
        let target = |name: &str| Target { name: name.into(), ..Target::default() };
        let plan_of_all =
            Plan { targets: vec![target("own"), target("shared")], ..Plan::default() };
        let guest = plan(&plan_of_all, 1, &[false, true]);
        assert_eq!(guest.targets[0], plan_of_all.targets[0]);
        let shared = &guest.targets[1];
        assert_eq!((shared.create, shared.layout), (Create::Nothing, Layout::Never));
        assert!(shared.overwrite && shared.keep && !shared.remove);
        let apart = Plan { hosts: 2, hosts_apart: true, ..plan_of_all };
        assert_eq!(plan(&apart, 1, &[false, true]), apart);
    }

    #[test]
    fn work_of_another_host_touches_nothing_here() {
        let job = |only_on| Job { only_on, targets: vec!["t".into()], ..Job::default() };
        let jobs = vec![job(None), job(Some(0)), job(Some(1))];
        let phases = vec![Phase { jobs, ..Phase::default() }];
        let of_all = Plan { hosts: 2, phases, ..Plan::default() };
        let targets = |host| {
            let here = plan(&of_all, host, &[]);
            here.phases[0].jobs.iter().map(|job| job.targets.len()).collect::<Vec<_>>()
        };
        assert_eq!((targets(0), targets(1)), (vec![1, 1, 0], vec![1, 0, 1]));
        let target = Target { name: "t".into(), ..Target::default() };
        let created = |only: &[Option<u32>]| {
            let jobs = only.iter().map(|only| job(*only)).collect();
            let phases = vec![Phase { jobs, ..Phase::default() }];
            let all = Plan { phases, targets: vec![target.clone()], ..of_all.clone() };
            plan(&all, 1, &[true]).targets[0].create == target.create
        };
        assert!(created(&[Some(1), Some(2)]), "the first of those that use it makes it");
        assert!(!created(&[Some(0), Some(1)]) && !created(&[Some(1), None]));
    }
}
