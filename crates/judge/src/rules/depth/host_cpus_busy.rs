//! B9: the CPUs of the host are the limit.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, CpuTimes, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::more_load;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{ALL_CPUS_BUSY, CPU_INTERRUPTS, ONE_CPU_BUSY, RUN_WAIT_MOST};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B9",
        title: "host CPUs were busy",
        explanation: "Submitting, completing and copying need CPUs. candor measures the time of \
            all CPUs and of each CPU (/proc/stat). From 90 % on, no CPU time is left for more \
            operations, whichever process uses it. A single CPU above 95 % busy with at least half \
            of its time in interrupts delays every completion on this CPU. candor names the limit \
            only if the device was not kept busy. Stop other work on the machine, spread \
            interrupts over CPUs (rq_affinity, irq affinity), or do less per operation.",
    },
    stage: Stage::Starvation,
    limit: Some(LimitClass::Cpu),
    before: None,
    after,
};

/// Shares of the time of a CPU, or of several.
#[derive(Clone, Copy)]
struct Share {
    busy: f64,
    interrupts: f64,
}

fn after(observed: &Observed) -> Outcome {
    if observed.ran.is_empty() {
        return Outcome::Nothing;
    }
    let (before, after) = (&observed.host.before, &observed.host.after);
    let (Some(from), Some(to)) = (before.cpu, after.cpu) else {
        return Outcome::lacks("CPU times of the host (/proc/stat)");
    };
    let all = share(&from, &to);
    if all.busy >= ALL_CPUS_BUSY.value {
        let sentence =
            format!("The CPUs of this host were busy {} of the time.", fmt::percent(all.busy));
        return Outcome::one(finding(
            observed,
            sentence,
            Limit::HostCpus { untried: more_load::is_untried(observed) },
            all,
        ));
    }
    // A CPU that came or went would shift the others.
    let same = before.cpus.len() == after.cpus.len();
    let each = before.cpus.iter().zip(&after.cpus).map(|(from, to)| share(from, to)).enumerate();
    let mut held_up = each.filter(|(_, share)| {
        same && share.busy > ONE_CPU_BUSY.value && share.interrupts >= CPU_INTERRUPTS.value
    });
    held_up.next().map_or(Outcome::Nothing, |(cpu, share)| {
        let spent = fmt::percent(share.interrupts);
        let sentence = format!("CPU {cpu} spent {spent} of the time in interrupts.");
        Outcome::one(finding(observed, sentence, Limit::InterruptCpu, share))
    })
}

/// Time that CPUs worked, in ns.
pub fn work_ns(from: &CpuTimes, to: &CpuTimes) -> f64 {
    let of = |get: fn(&CpuTimes) -> u64| get(to).saturating_sub(get(from)) as f64;
    let interrupts = of(|t| t.irq_ns) + of(|t| t.softirq_ns);
    of(|t| t.user_ns) + of(|t| t.nice_ns) + of(|t| t.system_ns) + interrupts
}

fn share(from: &CpuTimes, to: &CpuTimes) -> Share {
    let of = |get: fn(&CpuTimes) -> u64| get(to).saturating_sub(get(from)) as f64;
    let interrupts = of(|t| t.irq_ns) + of(|t| t.softirq_ns);
    let busy = work_ns(from, to);
    let rest = of(|t| t.idle_ns) + of(|t| t.iowait_ns) + of(|t| t.steal_ns);
    Share { busy: ratio(busy, busy + rest), interrupts: ratio(interrupts, busy + rest) }
}

/// Share of the time in which a CPU was busy.
pub fn busy(from: &CpuTimes, to: &CpuTimes) -> f64 {
    share(from, to).busy
}

fn finding(observed: &Observed, sentence: String, limit: Limit, share: Share) -> Finding {
    let draft = FindingBuilder::new("B9", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("busy", Quantity::share(share.busy), "/proc/stat")
        .evidence("in interrupts", Quantity::share(share.interrupts), "/proc/stat")
        .advice("Stop other work on the machine, or spread interrupts over more CPUs.", None);
    // CPUs that are busy slow down who waits for them.
    let waited = observed.waited_for_cpu().is_none_or(|waited| waited >= RUN_WAIT_MOST.value);
    let by_others = matches!(limit, Limit::HostCpus { .. }) && !waited;
    if observed.device_fed() || by_others { draft.done() } else { draft.limits(limit).done() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    /// Two CPUs over 10 s: the first busy and in interrupts for such shares, the second busy.
    fn cpus(busy: f64, interrupts: f64, other: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        fn times(busy: f64, interrupts: f64) -> CpuTimes {
            CpuTimes {
                system_ns: ((busy - interrupts) * 1e10) as u64,
                softirq_ns: (interrupts * 1e10) as u64,
                idle_ns: ((1.0 - busy) * 1e10) as u64,
                ..CpuTimes::default()
            }
        }
        let (one, two) = (times(busy, interrupts), times(other, 0.0));
        case.host.before.cpu = Some(CpuTimes::default());
        case.host.before.cpus = vec![CpuTimes::default(); 2];
        case.host.after.cpu = Some(CpuTimes {
            system_ns: one.system_ns + two.system_ns,
            softirq_ns: one.softirq_ns,
            idle_ns: one.idle_ns + two.idle_ns,
            ..CpuTimes::default()
        });
        case.host.after.cpus = vec![one, two];
        case
    }

    #[test]
    fn one_cpu_full_of_interrupts_is_reported() {
        let mut case = cpus(0.98, 0.96, 0.3);
        let found = case.found(&RULE);
        assert_eq!(found[0].sentence, "CPU 0 spent 96 % of the time in interrupts.");
        assert_eq!(found[0].limits, None, "the device was fed");
        case.after_top().weighted_ms = 19_000;
        assert!(case.found(&RULE)[0].limits.is_some());
    }

    #[test]
    fn a_host_that_is_busy_all_over_is_reported() {
        let found = cpus(0.96, 0.2, 0.95).found(&RULE);
        assert!(found[0].sentence.starts_with("The CPUs of this host were busy 96 %"), "{found:?}");
    }

    /// Seen on Linux 6.18: two CPUs that others kept busy, and a worker that waited for 8 % of
    /// the time; two workers moved 1.6 times as much.
    #[test]
    fn busy_cpus_limit_only_who_waits_for_them() {
        fn limits(waited: Option<f64>) -> Option<Limit> {
            let mut case = cpus(0.99, 0.2, 0.99);
            case.after_top().weighted_ms = 19_000;
            for worker in &mut case.measured().per_worker {
                worker.run_wait_ns = waited.map(|share| (share * 1e10) as u64);
            }
            case.found(&RULE)[0].limits.clone()
        }
        assert_eq!(limits(Some(0.08)), None);
        assert_eq!(limits(Some(0.7)), Some(Limit::HostCpus { untried: true }));
        assert_eq!(limits(None), Some(Limit::HostCpus { untried: true }), "nothing is known");
    }

    #[test]
    fn a_busy_worker_and_an_idle_host_are_not() {
        assert_eq!(cpus(0.99, 0.1, 0.3).found(&RULE), []);
        assert_eq!(cpus(0.2, 0.1, 0.3).found(&RULE), []);
        assert!(TestCase::direct(4096, 1, 1, 10_000.0).lacked(&RULE).is_some());
    }
}
