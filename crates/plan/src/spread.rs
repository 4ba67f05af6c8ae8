//! A plan for one host, over several: each has its share of the workers.

use crate::{Job, Plan};

impl Plan {
    /// The plan with its workers dealt to so many hosts, in blocks of ranks. A job of one worker is
    /// that of the first host.
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

    #[test]
    fn workers_are_dealt_in_equal_parts_and_one_stays_one() {
        let of = |workers| Job { workers, ..Job::default() };
        let phase = |jobs| Phase { jobs, ..Phase::default() };
        let plan = Plan { phases: vec![phase(vec![of(8), of(1)])], ..Plan::default() };
        let spread = plan.spread(4).expect("8 are dealt to 4");
        let [many, one] = &spread.phases[0].jobs[..] else { panic!("two jobs") };
        assert_eq!((many.workers, many.only_on, spread.ranks(many)), (2, None, 8));
        assert_eq!((one.workers, one.only_on, spread.ranks(one)), (1, Some(0), 1));
        let wrong = Plan { phases: vec![phase(vec![of(6)])], ..Plan::default() };
        assert!(wrong.spread(4).is_err());
        assert_eq!(plan.spread(1).as_ref(), Ok(&plan));
    }
}
