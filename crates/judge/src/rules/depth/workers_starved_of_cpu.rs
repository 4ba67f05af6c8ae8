//! B8: the workers waited for a CPU.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::RUN_WAIT;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B8",
        title: "workers starved of CPU",
        explanation: "A worker that is ready to run and waits for a CPU sees long latencies that \
            the device did not cause. The kernel counts that wait per thread \
            (/proc/self/task/*/schedstat). From 10 % of the time on, averaged over the workers by \
            what they did, it is remarked; it is called the limit only where the device was not \
            kept fed. Quiet the machine, pin the workers, or use fewer of them.",
    },
    stage: Stage::Starvation,
    limit: Some(LimitClass::Cpu),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let Some(share) = observed.waited_for_cpu() else {
        return match observed.ran.is_empty() {
            true => Outcome::Nothing,
            false => Outcome::lacks("the time workers waited for a CPU (schedstat)"),
        };
    };
    if share <= RUN_WAIT.value { Outcome::Nothing } else { Outcome::one(finding(observed, share)) }
}

fn finding(observed: &Observed, share: f64) -> Finding {
    let sentence = format!(
        "Your threads waited {} of the time for a CPU; that part of the latency is scheduling, \
         not storage.",
        fmt::percent(share.min(1.0))
    );
    let pressure = pressure(observed).map(|share| {
        (
            "time some task waited for a CPU".into(),
            Quantity::share(share),
            "/proc/pressure/cpu".into(),
        )
    });
    let command = observed.main_job().and_then(|job| {
        let workers = (job.job.workers / 2).max(1);
        let fewer = job.job.workers > 1;
        Some(Command::of(observed.plan, &job.planned)?.workers(workers)).filter(|_| fewer)
    });
    let draft = FindingBuilder::new("B8", Severity::Remark, sentence)
        .confidence(Confidence::Certain)
        .evidence("waiting for a CPU", Quantity::share(share), "/proc/self/task/*/schedstat")
        .evidence_if(pressure)
        .advice("Quiet the machine, pin the workers, or use fewer of them.", command);
    if observed.device_fed() { draft.done() } else { draft.limits(Limit::CpuStarvation).done() }
}

/// Share of the time in which some task of the host waited for a CPU.
fn pressure(observed: &Observed) -> Option<f64> {
    let (before, after) = (observed.host.before.pressure?, observed.host.after.pressure?);
    let waited = after.cpu_some_ns.checked_sub(before.cpu_some_ns)?;
    Some(ratio(waited as f64, observed.window_s() * 1e9).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn starved(share: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 2, 900.0);
        case.after_top().weighted_ms = 1260;
        for worker in &mut case.measured().per_worker {
            worker.run_wait_ns = Some((share * 1e10) as u64);
        }
        case
    }

    #[test]
    fn starved_workers_are_a_remark_and_the_limit() {
        let case = starved(0.43);
        let found = case.found(&RULE);
        assert!(found[0].sentence.starts_with("Your threads waited 43 % of the time"));
        assert_eq!(found[0].severity, Severity::Remark);
        assert_eq!(case.judge().limit().as_deref(), Some("CPU starvation"));
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
