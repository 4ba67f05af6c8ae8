//! B8: the workers waited for a CPU.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::follow_ups;
use crate::more_load;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::depth::host_cpus_busy;
use crate::stage::Stage;
use crate::thresholds::{MAINLY_OWN, RUN_WAIT, RUN_WAIT_MOST};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B8",
        title: "workers starved of CPU",
        explanation: "A worker that is ready to run and waits for a CPU sees long latencies that \
            the device did not cause. The kernel counts this wait per thread \
            (/proc/self/task/*/schedstat). From 10 % of the time on, averaged over the workers by \
            their operations, the result has a caution. From half of the time on, the wait is the \
            limit, if the device had fewer operations than requested. If candor did most of the \
            work of all CPUs (/proc/stat), fewer workers wait less. Otherwise only other processes \
            can free CPU time.",
    },
    stage: Stage::Starvation,
    limit: Some(LimitClass::Cpu),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let Some(share) = observed.waited_for_cpu() else {
        return if observed.ran.is_empty() {
            Outcome::Nothing
        } else {
            Outcome::lacks("the time workers waited for a CPU (schedstat)")
        };
    };
    if share <= RUN_WAIT.value { Outcome::Nothing } else { Outcome::one(finding(observed, share)) }
}

fn finding(observed: &Observed, share: f64) -> Finding {
    let sentence = format!(
        "The threads waited {} of the time for a CPU; this share of the latency is scheduling, not \
         storage.",
        fmt::percent(share.min(1.0))
    );
    let pressure = pressure(observed).map(|share| {
        (
            "time with a task waiting for a CPU".into(),
            Quantity::share(share),
            "/proc/pressure/cpu".into(),
        )
    });
    let own = own_share(observed);
    let (advice, command) = match own {
        Some(own) if own >= MAINLY_OWN.value => ("Use fewer workers.", fewer_workers(observed)),
        Some(_) => ("Stop other work on the machine, or give the workers dedicated CPUs.", None),
        None => ("Stop other work on the machine, or use fewer workers.", None),
    };
    let own = own.map(|share| {
        let quantity = Quantity::share(share);
        ("candor's share of the work of all CPUs".into(), quantity, "/proc/stat".into())
    });
    let draft = FindingBuilder::new("B8", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .evidence("waiting for a CPU", Quantity::share(share), "/proc/self/task/*/schedstat")
        .evidence_if(pressure)
        .evidence_if(own)
        .advice(advice, command);
    // Threads of the kernel that serve the device wait as well, and nothing counts them.
    let draft =
        if follow_ups::no_cpu_was_free(observed) { draft } else { draft.lost_at_most(share) };
    // A wait of half of the time at most doubles the rate; what holds the other half is the limit.
    let is_limit = share >= RUN_WAIT_MOST.value && !observed.device_fed();
    let limit = Limit::CpuStarvation { untried: more_load::is_untried(observed) };
    if is_limit { draft.limits(limit).done() } else { draft.done() }
}

/// The same run with half of the workers.
fn fewer_workers<'a>(observed: &'a Observed) -> Option<Command<'a>> {
    let job = observed.main_job().filter(|job| job.job.workers > 1)?;
    Some(Command::of(observed.plan, &job.planned)?.workers(job.job.workers / 2))
}

/// Part of the work of all CPUs that the workers did.
fn own_share(observed: &Observed) -> Option<f64> {
    let (before, after) = (observed.host.before.cpu?, observed.host.after.cpu?);
    let workers = observed.record.measurements.iter().flat_map(|measured| &measured.per_worker);
    let own: u64 = workers.map(|worker| worker.cpu_user_ns + worker.cpu_system_ns).sum();
    Some(ratio(own as f64, host_cpus_busy::work_ns(&before, &after)).min(1.0))
}

/// Share of the time in which some task of the host waited for a CPU.
fn pressure(observed: &Observed) -> Option<f64> {
    let (before, after) = (observed.host.before.pressure?, observed.host.after.pressure?);
    let waited = after.cpu_some_ns.checked_sub(before.cpu_some_ns)?;
    Some(ratio(waited as f64, observed.window_s() * 1e9).min(1.0))
}

#[cfg(test)]
mod tests {
    use candor_record::CpuTimes;

    use super::*;
    use crate::testcase::TestCase;

    /// Seen next to a spinner on each CPU: 12 % of waiting, and a fifth of a quiet host's rate.
    #[test]
    fn beside_busy_cpus_no_bound_is_known() {
        let mut case = starved(0.12);
        let bound = |case: &TestCase| case.found(&RULE)[0].lost_share_max;
        let times = |user_ns, idle_ns| CpuTimes { user_ns, idle_ns, ..CpuTimes::default() };
        case.host.before.cpu = Some(CpuTimes::default());
        case.host.after.cpu = Some(times(10_000_000_000, 10_000_000_000));
        assert_eq!(bound(&case), Some(0.12));
        case.host.after.cpu = Some(times(19_900_000_000, 100_000_000));
        assert_eq!(bound(&case), None);
    }

    fn starved(share: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 2, 900.0);
        case.after_top().weighted_ms = 1260;
        for worker in &mut case.measured().per_worker {
            worker.run_wait_ns = Some((share * 1e10) as u64);
        }
        case
    }

    #[test]
    fn starved_workers_are_a_remark_and_the_limit_from_half_of_the_time_on() {
        let found = starved(0.43).found(&RULE);
        assert!(found[0].sentence.starts_with("The threads waited 43 % of the time"));
        assert_eq!((found[0].severity, &found[0].limits), (Severity::Caution, &None));
        assert_eq!(
            starved(0.57).judge().limit().as_deref(),
            Some("CPU starvation (more load was not tried)")
        );
    }

    /// Both CPUs worked all of the 10 s, the two workers for such a part of it.
    fn crowded(own: f64) -> TestCase {
        let mut case = starved(0.43);
        case.host.before.cpu = Some(CpuTimes::default());
        case.host.after.cpu = Some(CpuTimes { user_ns: 20_000_000_000, ..CpuTimes::default() });
        for worker in &mut case.measured().per_worker {
            (worker.cpu_user_ns, worker.cpu_system_ns) = (0, (own * 1e10) as u64);
        }
        case
    }

    #[test]
    fn fewer_workers_are_proposed_where_they_crowd_each_other() {
        let finding = crowded(0.9).found(&RULE).remove(0);
        assert_eq!(finding.advice, "Use fewer workers.");
        assert_eq!(finding.changes.len(), 1);
    }

    #[test]
    fn fewer_workers_are_not_proposed_where_others_take_the_cpus() {
        let finding = crowded(0.1).found(&RULE).remove(0);
        assert!(finding.advice.starts_with("Stop other work"), "{}", finding.advice);
        assert_eq!(finding.changes, []);
    }

    #[test]
    fn a_device_that_was_fed_is_still_the_limit() {
        let mut case = starved(0.2);
        case.after_top().weighted_ms = 19_000;
        assert_eq!(case.found(&RULE)[0].limits, None);
    }

    #[test]
    fn a_little_waiting_is_normal() {
        assert_eq!(starved(0.08).found(&RULE), []);
    }

    #[test]
    fn a_kernel_that_does_not_say_is_named() {
        let mut case = starved(0.4);
        for worker in &mut case.measured().per_worker {
            worker.run_wait_ns = None;
        }
        assert!(case.lacked(&RULE).unwrap().contains("schedstat"));
    }
}
