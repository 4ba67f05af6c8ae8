//! The lines that say where what `exec_prerun` and `exec_postrun` print is kept, as fio has them.

use candor_fio::job::FioJob;
use candor_plan::{Hook, Plan};

/// A line for each command of each job: all that run before come first.
pub fn lines(plan: &Plan, jobs: &[FioJob]) -> String {
    let hooks = |job: &FioJob| &plan.phases[job.phase].jobs[job.job].hooks;
    let before = jobs.iter().map(|job| line(job, "prerun", hooks(job).before.as_ref()));
    let after = jobs.iter().map(|job| line(job, "postrun", hooks(job).after.as_ref()));
    before.chain(after).collect()
}

fn line(job: &FioJob, when: &str, hook: Option<&Hook>) -> String {
    match hook.and_then(|hook| hook.output.as_deref()) {
        Some(output) => format!("{} : Saving output of {when} in {output}\n", job.name),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::{Hooks, Job, Phase};

    use super::*;

    #[test]
    fn commands_before_are_reported_first() {
        let hook = |name: &str| {
            Some(Hook { command: "true".into(), output: Some(name.into()), ..Hook::default() })
        };
        let hooks = Hooks { before: hook("x.prerun.txt"), after: hook("x.postrun.txt") };
        let job = Job { hooks, ..Job::default() };
        let phases = vec![Phase { jobs: vec![job, Job::default()], ..Phase::default() }];
        let plan = Plan { phases, ..Plan::default() };
        let jobs = ["x", "y"].into_iter().enumerate();
        let jobs = jobs.map(|(job, name)| FioJob { name: name.into(), job, ..FioJob::default() });
        assert_eq!(
            lines(&plan, &jobs.collect::<Vec<_>>()),
            "x : Saving output of prerun in x.prerun.txt\n\
             x : Saving output of postrun in x.postrun.txt\n"
        );
    }
}
