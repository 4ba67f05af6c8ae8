//! B10: all completions land on one CPU.

use candor_record::facts::DeviceFacts;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::depth::host_cpus_busy;
use crate::stage::Stage;
use crate::thresholds::{INTERRUPTS_LEAST, ONE_CPU_BUSY, ONE_CPU_SERVES};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B10",
        title: "completions on one busy CPU",
        explanation: "A device with one queue, or with interrupts bound to one CPU, has all its \
            completions handled on one CPU. With spare time on this CPU, nothing is lost; if the \
            CPU is busy, completions are late even if other CPUs idle. candor counts the device's \
            interrupts per CPU (/proc/interrupts). At 1000 or more per second, candor checks the \
            busy time of a CPU that serves more than 80 % of them. More queues, another affinity \
            of the interrupt, or rq_affinity = 2 spread the work.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let (before, after) = (&observed.host.before, &observed.host.after);
    if observed.ran.is_empty() || before.cpus.len() != after.cpus.len() || after.cpus.len() < 2 {
        return Outcome::Nothing;
    }
    let leaves = observed.leaves();
    let found = leaves.iter().filter_map(|device| {
        let (cpu, share) = one_cpu(observed, device)?;
        let busy = host_cpus_busy::busy(before.cpus.get(cpu)?, after.cpus.get(cpu)?);
        (busy > ONE_CPU_BUSY.value).then(|| finding(device, cpu, share, busy))
    });
    found.collect::<Vec<_>>().into()
}

/// The CPU that serves nearly all interrupts of a device, and its share of them.
fn one_cpu(observed: &Observed, device: &DeviceFacts) -> Option<(usize, f64)> {
    let of = |snapshot: &candor_record::Snapshot| {
        snapshot.interrupts.iter().find(|(name, _)| *name == device.name).map(|(_, c)| c.clone())
    };
    let (from, to) = (of(&observed.host.before)?, of(&observed.host.after)?);
    let same = from.len() == to.len() && to.len() == observed.host.after.cpus.len();
    let served: Vec<u64> = from.iter().zip(&to).map(|(a, b)| b.saturating_sub(*a)).collect();
    let all: f64 = served.iter().map(|count| *count as f64).sum();
    let (cpu, most) = served.iter().enumerate().max_by_key(|(_, count)| **count)?;
    let share = ratio(*most as f64, all);
    let many = ratio(all, observed.window_s()) >= INTERRUPTS_LEAST.value;
    (same && many && share > ONE_CPU_SERVES.value).then_some((cpu, share))
}

fn finding(device: &DeviceFacts, cpu: usize, share: f64, busy: f64) -> Finding {
    let (name, busy) = (&device.name, fmt::percent(busy));
    let sentence = format!(
        "{} of the completions of {name} land on CPU {cpu}, {busy} busy.",
        fmt::percent(share)
    );
    FindingBuilder::new("B10", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("interrupts on that CPU", Quantity::share(share), "/proc/interrupts")
        .evidence("that CPU busy", busy, "/proc/stat")
        .advice("Spread the interrupts: more queues, irq affinity, or rq_affinity = 2.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;
    use candor_record::CpuTimes;

    /// The interrupts of the evidence book, all on the second CPU, which is that busy.
    fn on_one(served: &[u64], busy: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        fn times(busy: f64) -> CpuTimes {
            CpuTimes {
                system_ns: (busy * 1e10) as u64,
                idle_ns: ((1.0 - busy) * 1e10) as u64,
                ..CpuTimes::default()
            }
        }
        case.host.before.cpus = vec![CpuTimes::default(); 2];
        case.host.after.cpus = vec![times(0.2), times(busy)];
        case.host.before.interrupts = vec![("vda".into(), vec![0, 0])];
        case.host.after.interrupts = vec![("vda".into(), served.to_vec())];
        case
    }

    #[test]
    fn a_busy_cpu_that_serves_them_all_is_named() {
        let found = on_one(&[0, 1_400_000], 0.97).found(&RULE);
        assert_eq!(found[0].sentence, "100 % of the completions of vda land on CPU 1, 97 % busy.");
        assert_eq!(found[0].limits, None, "others may keep that CPU busy");
    }

    #[test]
    fn a_cpu_with_time_to_spare_and_spread_interrupts_are_not() {
        assert_eq!(on_one(&[0, 1_400_000], 0.6).found(&RULE), []);
        assert_eq!(on_one(&[600_000, 800_000], 0.97).found(&RULE), []);
        assert_eq!(on_one(&[0, 3], 0.97).found(&RULE), [], "another's work keeps that CPU busy");
        assert_eq!(TestCase::direct(4096, 32, 1, 60_000.0).found(&RULE), []);
    }
}
