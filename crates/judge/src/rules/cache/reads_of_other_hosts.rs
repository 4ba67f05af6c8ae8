//! A22: whose data workers read that were sent to other ranks' data.

use candor_plan::Job;
use candor_plan::rank::{DataOf, HostIndex};
use candor_plan::units::Direction;
use candor_record::fmt;
use candor_record::{Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A22",
        title: "reads across hosts",
        explanation: "A host that wrote data still holds the data in memory, so benchmarks let \
            each worker read the data of another rank. This helps only if the other rank is on \
            another host. A shift of one rank leaves all but one worker of each host with data of \
            the same host. candor finds, for every worker, the host of the rank that wrote the \
            data. Agents of one kernel count as one host; hosts without common storage always read \
            their own files. Shift by as many ranks as a host has workers.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

/// Workers of all hosts by whose data they read.
struct Read {
    workers: u64,
    /// Data that a rank of the same kernel wrote.
    of_own: u64,
    /// Data that the reader's host does not see.
    unseen: u64,
}

fn after(observed: &Observed) -> Outcome {
    let reads = |job: &&Job| {
        let measured = observed.record.measurements.iter().find(|m| m.job == job.name);
        measured.is_some_and(|measured| measured.of(Direction::Read).ops > 0)
    };
    let shifted = observed.phase.jobs.iter().filter(|job| job.data_of() != DataOf::OWN);
    if observed.record.hosts.len() < 2 {
        return Outcome::Nothing;
    }
    let found = shifted.filter(reads).map(|job| finding(observed, job, &read(observed, job)));
    found.collect::<Vec<_>>().into()
}

fn read(observed: &Observed, job: &Job) -> Read {
    let members: Vec<(u32, u32)> = observed
        .record
        .hosts
        .iter()
        .enumerate()
        .map(|(at, host)| match &host.member {
            Some(member) => (member.kernel_of, member.storage_of),
            None => (at as u32, at as u32),
        })
        .collect();
    let hosts = members.len() as u32;
    let mut read = Read { workers: 0, of_own: 0, unseen: 0 };
    for (host, (kernel, storage)) in (0..hosts).zip(&members) {
        let ranks = HostIndex { host, hosts }.ranks(job.workers);
        for worker in 0..job.workers {
            let of = ranks.data_rank(job.data_of(), worker) / u64::from(job.workers);
            let (of_kernel, of_storage) = members[of as usize];
            read.workers += 1;
            read.of_own += u64::from(of_kernel == *kernel);
            read.unseen += u64::from(of_kernel != *kernel && of_storage != *storage);
        }
    }
    read
}

fn finding(observed: &Observed, job: &Job, read: &Read) -> Finding {
    let Read { workers, of_own, unseen } = *read;
    let is_buffered = !observed.all_direct() && observed.written_before();
    let (severity, sentence) = match (unseen, of_own) {
        (1.., _) => (
            Severity::Caution,
            format!(
                "{unseen} of {workers} workers were assigned data on hosts with other storage, and \
                 read local files instead."
            ),
        ),
        (0, 0) => (
            Severity::Explains,
            format!(
                "All {workers} workers read data of another host's ranks; their own page cache \
                 does not hold this data from writing."
            ),
        ),
        _ => (
            if is_buffered { Severity::Caution } else { Severity::Explains },
            format!(
                "{of_own} of {workers} workers read data of ranks on their own host; this data may \
                 still be in memory."
            ),
        ),
    };
    let share = |of: u64| Quantity::share(fmt::ratio(of as f64, workers as f64));
    FindingBuilder::new("A22", severity, sentence)
        .job(&job.name)
        .evidence("workers with data of the same host", share(of_own), "the plan's ranks")
        .evidence("workers without access to the data", share(unseen), "the fleet's marks")
        .advice(
            "Shift by as many ranks as a host has workers, on storage that all hosts share.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, Workload, together};
    use candor_plan::blocks::Engine;

    /// Two hosts with four workers each that read buffered what an earlier phase wrote.
    fn shifted(by: i64) -> TestCase {
        let engine = Engine::Psync;
        let one = Workload { workers: 4, engine, direct: false, ..Workload::default() }.case();
        let mut case = together(&[one.clone(), one]);
        let mut write = case.plan.phases[0].clone();
        write.jobs[0].blocks_mut().unwrap().mix = candor_plan::units::Mix::WRITE;
        case.plan.phases[0].jobs[0].rank_shift = by;
        case.plan.phases.insert(0, write);
        case.record.phase = 1;
        case
    }

    #[test]
    fn a_shift_within_a_host_reads_what_it_wrote() {
        let found = shifted(1).found(&RULE);
        let sentence = "6 of 8 workers read data of ranks on their own host; this data may still \
            be in memory.";
        assert_eq!((found[0].sentence.as_str(), found[0].severity), (sentence, Severity::Caution));
        let mut one_kernel = shifted(4);
        one_kernel.member(1).kernel_of = 0;
        assert!(
            one_kernel.found(&RULE)[0].sentence.starts_with("8 of 8 workers read data of ranks")
        );
    }

    #[test]
    fn a_shift_to_the_next_host_is_named_as_such() {
        let found = shifted(4).found(&RULE);
        assert!(
            found[0].sentence.starts_with("All 8 workers read data of another host"),
            "{found:?}"
        );
        assert_eq!(found[0].severity, Severity::Explains);
        let mut apart = shifted(4);
        apart.member(1).storage_of = 1;
        assert!(apart.found(&RULE)[0].sentence.starts_with("8 of 8 workers were assigned"));
    }

    #[test]
    fn workers_on_their_own_data_and_single_hosts_are_not() {
        assert_eq!(shifted(0).found(&RULE), []);
        let mut alone = TestCase::buffered_read();
        alone.plan.phases[0].jobs[0].rank_shift = 1;
        assert_eq!(alone.found(&RULE), []);
    }
}
