//! B13: the hypervisor took CPU time.

use candor_record::fmt::ratio;
use candor_record::{Confidence, CpuTimes, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::object_jobs;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{STEAL, STEAL_MUCH};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B13",
        title: "the hypervisor took CPU time",
        explanation: "Steal time is the time in which a virtual CPU is ready to run but the host \
            does not run it (/proc/stat). Submissions and completions are late by this time, and \
            no number from inside the machine is reliably repeatable. candor explains steal time \
            from 1 % of all CPU time on, and warns from 5 % on. Use another host, a quieter time, \
            or a machine with dedicated CPUs.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.ran.is_empty() && object_jobs::ran(observed).is_empty() {
        return Outcome::Nothing;
    }
    let (Some(before), Some(after)) = (observed.host.before.cpu, observed.host.after.cpu) else {
        return Outcome::lacks("CPU times of the host (/proc/stat)");
    };
    let stolen = after.steal_ns.saturating_sub(before.steal_ns) as f64;
    let share = ratio(stolen, all(&after) - all(&before));
    if share > STEAL.value { Outcome::one(finding(share)) } else { Outcome::Nothing }
}

/// All time of all CPUs.
fn all(times: &CpuTimes) -> f64 {
    let busy = [times.user_ns, times.nice_ns, times.system_ns, times.irq_ns, times.softirq_ns];
    let rest = [times.idle_ns, times.iowait_ns, times.steal_ns];
    busy.iter().chain(&rest).map(|ns| *ns as f64).sum()
}

fn finding(share: f64) -> Finding {
    let severity = if share > STEAL_MUCH.value { Severity::Caution } else { Severity::Explains };
    let share = Quantity::share(share.min(1.0));
    FindingBuilder::new("B13", severity, format!("The hypervisor took {share} of the CPU time."))
        .confidence(Confidence::Certain)
        .evidence("stolen CPU time", share, "/proc/stat")
        .advice("Run on a quieter host, or on a machine with dedicated CPUs.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn stolen(share: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.host.before.cpu = Some(CpuTimes { idle_ns: 5_000_000_000, ..CpuTimes::default() });
        case.host.after.cpu = Some(CpuTimes {
            idle_ns: 25_000_000_000 - (share * 2e10) as u64,
            steal_ns: (share * 2e10) as u64,
            ..CpuTimes::default()
        });
        case
    }

    #[test]
    fn stolen_time_is_explained_and_much_of_it_remarked() {
        assert_eq!(stolen(0.02).found(&RULE)[0].severity, Severity::Explains);
        let much = stolen(0.06).found(&RULE);
        assert_eq!(much[0].sentence, "The hypervisor took 6 % of the CPU time.");
        assert_eq!(much[0].severity, Severity::Caution);
    }

    #[test]
    fn a_little_is_normal_and_no_figures_are_named() {
        assert_eq!(stolen(0.005).found(&RULE), []);
        assert!(TestCase::direct(4096, 1, 1, 10_000.0).lacked(&RULE).is_some());
    }
}
