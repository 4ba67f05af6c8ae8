//! A plan for one host, over several: each has its share of the workers.

use crate::{Job, Plan};

impl Plan {
    /// The plan with its workers dealt to `hosts` hosts, in blocks of ranks. The first host gets
    /// jobs of one worker.
    ///
    /// # Errors
    /// The workers of a job cannot be dealt in equal parts.
    pub fn spread(&self, hosts: u32) -> Result<Plan, String> {
        let hosts = hosts.max(1);
        let mut plan = Plan { hosts, ..self.clone() };
        for job in plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
            spread(job, hosts)?;
        }
        Ok(plan)
    }
}

fn spread(job: &mut Job, hosts: u32) -> Result<(), String> {
    if job.workers.is_multiple_of(hosts) {
        job.workers /= hosts;
    } else if job.workers == 1 {
        job.only_on = Some(0);
    } else {
        return Err(format!(
            "job `{}` has {} workers, which are not the same number on each of {hosts} hosts",
            job.name, job.workers
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;

    /// A plan of one phase with a job for each number of workers.
    fn plan(workers: &[u32]) -> Plan {
        let jobs = workers.iter().map(|workers| Job { workers: *workers, ..Job::default() });
        let phase = Phase { jobs: jobs.collect(), ..Phase::default() };
        Plan { phases: vec![phase], ..Plan::default() }
    }

    #[test]
    fn workers_are_dealt_in_equal_parts_and_one_stays_one() {
        assert!(plan(&[6]).spread(4).is_err());
        let plan = plan(&[8, 1]);
        let spread = plan.spread(4).expect("8 are dealt to 4");
        let [many, one] = &spread.phases[0].jobs[..] else { panic!("two jobs") };
        assert_eq!((many.workers, many.only_on, spread.ranks(many)), (2, None, 8));
        assert_eq!((one.workers, one.only_on, spread.ranks(one)), (1, Some(0), 1));
        assert_eq!(plan.spread(1).as_ref(), Ok(&plan));
    }
}
