//! G9: work inside the clock that is no I/O.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity, WorkerStats};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{IN_FLIGHT, OTHER_WORK, RUN_WAIT_MOST};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G9",
        title: "other work inside the clock",
        explanation: "A rate over the whole time also counts work other than I/O; a published run \
            spent 32 of its 38 seconds in close(). candor opens and lays out files before the \
            clock starts and reports the final flush separately. However, generating new content \
            for each write and checking each block read take the workers' time inside the clock. \
            candor reports this from 5 % on, and reports it as the limit if operations were \
            missing because of it. Disable verification and fresh content while measuring, or use \
            more workers.",
    },
    stage: Stage::HostWork,
    limit: Some(LimitClass::Candor),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let found = observed.ran.iter().filter_map(|ran| of_job(observed, ran));
    found.collect::<Vec<_>>().into()
}

fn of_job(observed: &Observed, ran: &Ran) -> Option<Finding> {
    let sum = |of: fn(&WorkerStats) -> u64| -> f64 {
        ran.measured.per_worker.iter().map(|worker| of(worker) as f64).sum()
    };
    let all = sum(|worker| worker.elapsed_ns);
    let (fill, verify) = (ratio(sum(|w| w.fill_ns), all), ratio(sum(|w| w.verify_ns), all));
    (fill + verify > OTHER_WORK.value).then(|| finding(observed, ran, fill, verify))
}

fn finding(observed: &Observed, ran: &Ran, fill: f64, verify: f64) -> Finding {
    let what = match (fill > 0.0, verify > 0.0) {
        (true, true) => "generating and checking content",
        (true, false) => "generating content",
        _ => "checking content",
    };
    let share = (fill + verify).min(1.0);
    let sentence = format!(
        "{} took {} of the workers' time, inside the clock.",
        fmt::capital(what),
        fmt::percent(share)
    );
    let draft = FindingBuilder::new("G9", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Certain)
        .evidence("generating content", Quantity::share(fill), "candor")
        .evidence("checking content", Quantity::share(verify), "candor")
        .advice("Disable this work while measuring, or use more workers.", None);
    let missing =
        !observed.paced() && observed.occupancy() < IN_FLIGHT.value * observed.concurrency();
    let limit = Limit::OwnWork { filling: fill > 0.0, checking: verify > 0.0 };
    // Less than half of the time at most doubles the rate; the rest is the limit.
    let is_most = share >= RUN_WAIT_MOST.value;
    if missing && is_most { draft.limits(limit).done() } else { draft.done() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn filling(share: f64, occupancy: f64) -> TestCase {
        let mut case = TestCase::direct_write();
        let measured = case.measured();
        (measured.per_worker[0].fill_ns, measured.occupancy) = ((share * 1e10) as u64, occupancy);
        case
    }

    #[test]
    fn filling_buffers_is_reported_and_can_be_the_limit() {
        let judgement = filling(0.6, 3.0).judge();
        let found = judgement.finding("G9").unwrap();
        assert_eq!(
            found.sentence,
            "Generating content took 60 % of the workers' time, inside the clock."
        );
        assert!(judgement.finding("B4").is_none(), "it follows from it");
        assert_eq!(judgement.limit().as_deref(), Some("generating content"));
        assert_eq!(filling(0.1, 7.6).found(&RULE)[0].limits, None, "the device was kept fed");
        assert_eq!(filling(0.25, 3.0).found(&RULE)[0].limits, None, "the rest took longer");
    }

    #[test]
    fn a_little_work_is_normal() {
        assert_eq!(filling(0.04, 7.9).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
