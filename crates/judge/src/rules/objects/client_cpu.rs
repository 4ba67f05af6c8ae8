//! S1: the client's CPU is the limit.

use candor_record::facts::value;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::depth::host_cpus_busy;
use crate::stage::Stage;
use crate::thresholds::objects::{HOST_BUSY, WORKER_BUSY};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S1",
        title: "client CPU limits requests",
        explanation: "Each request costs the client CPU time: signing, checksums, TLS, system \
            calls and copies. If a worker uses 85 % of a CPU, or the client 90 % of its CPUs, the \
            client is the limit. The server was not measured then. candor adds up the CPU time of \
            the workers and reads the busy time of the host (/proc/stat). Use more workers, or \
            more hosts if all CPUs are busy.",
    },
    stage: Stage::Cpu,
    limit: Some(LimitClass::Cpu),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let jobs = object_jobs::ran(observed);
    if !jobs.is_empty() && jobs.iter().all(|job| job.measured.per_worker.is_empty()) {
        return Outcome::lacks("CPU time of the workers");
    }
    match of_host(observed, &jobs) {
        Some(found) => Outcome::one(found),
        None => object_jobs::find(observed, of_workers),
    }
}

/// All CPUs that the client may use.
fn of_host(observed: &Observed, jobs: &[ObjectJob]) -> Option<Finding> {
    let first = jobs.first()?;
    let (before, after) = (&observed.host.before, &observed.host.after);
    let host = before.cpu.zip(after.cpu).map(|(from, to)| host_cpus_busy::busy(&from, &to));
    let facts = &observed.facts.host;
    let cpus = value(&facts.cpus).map(|cpus| f64::from(*cpus));
    let cpus = value(&facts.cgroup.cpu_max).copied().into_iter().chain(cpus).reduce(f64::min);
    let used = ratio(jobs.iter().map(ObjectJob::cpu_ns).sum(), first.measured.elapsed_ns as f64);
    let own = cpus.map_or(0.0, |cpus| ratio(used, cpus));
    let busy = own.max(host.unwrap_or(0.0));
    if busy < HOST_BUSY.value {
        return None;
    }
    let sentence = format!(
        "The CPUs of this host were busy {} of the time; the server was not measured.",
        fmt::percent(busy.min(1.0))
    );
    let draft = first
        .draft("S1", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::HostCpus { untried: true })
        .evidence("share of the CPUs that workers used", Quantity::share(own), "getrusage")
        .evidence_if(host.map(|busy| {
            ("busy time of the host".into(), Quantity::share(busy), "/proc/stat".into())
        }))
        .advice("Use more hosts, or stop other work on this host.", None);
    Some(draft.done())
}

fn of_workers(observed: &Observed, job: &ObjectJob) -> Option<Finding> {
    let shares = job.cpu_shares();
    let busiest = shares.iter().copied().fold(0.0, f64::max);
    let count = shares.iter().filter(|share| **share >= WORKER_BUSY.value).count();
    if count == 0 {
        return None;
    }
    let sentence = format!(
        "{count} of {} used up to {} of a CPU; the client limits the rate.",
        fmt::plural(shares.len() as f64, "worker", "workers"),
        fmt::percent(busiest.min(1.0))
    );
    let workers = job.job.workers.saturating_mul(2);
    let draft = job
        .draft("S1", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::ThreadCpu { threads: count as u64 })
        .evidence("CPU time over time, busiest worker", Quantity::share(busiest), "getrusage")
        .advice("Try twice the workers; if the rate follows, the server has more to give.", None)
        .changes(job.with(observed, "workers", &workers.to_string()));
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::{TestCase, fact, proposes};

    fn busy(share: f64) -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 8, 9000.0);
        let worker = &mut case.measured().per_worker[0];
        (worker.cpu_user_ns, worker.cpu_system_ns) = ((share * 1e10) as u64, 0);
        case
    }

    #[test]
    fn a_busy_worker_limits_the_rate() {
        let case = busy(0.92);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "1 of 1 worker used up to 92 % of a CPU; the client limits the rate."
        );
        assert!(proposes(&found[0], "workers=2"));
        assert_eq!(case.judge().limit().as_deref(), Some("one CPU thread"));
    }

    #[test]
    fn one_cpu_for_all_is_the_hosts() {
        let mut case = busy(0.95);
        case.host.facts.host.cpus = fact(1);
        assert!(case.found(&RULE)[0].sentence.starts_with("The CPUs of this host were busy 95 %"));
        let limit = case.judge().limit();
        assert_eq!(limit.as_deref(), Some("the CPUs of this host (more load was not tried)"));
    }

    #[test]
    fn an_idle_client_is_silent() {
        assert_eq!(busy(0.4).found(&RULE), []);
        let mut unknown = busy(0.4);
        unknown.measured().per_worker.clear();
        assert!(unknown.lacked(&RULE).is_some());
        assert_eq!(TestCase::direct(4096, 1, 1, 1e4).lacked(&RULE), None);
    }
}
