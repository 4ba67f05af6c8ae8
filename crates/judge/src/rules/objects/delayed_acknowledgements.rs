//! S32: the server waits for delayed acknowledgements.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Setting, Severity};

use crate::object_jobs::{self, ObjectJob, total};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{ACKS_DELAYED, NEAR_40_MS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S32",
        title: "delayed acknowledgements add 40 ms",
        explanation: "Some servers send the head and the body of an answer in two small \
            writes, without TCP_NODELAY. The second write then waits until the client acknowledges \
            the first (Nagle's algorithm). Linux delays this acknowledgement by 40 ms. One server \
            answered 4 KiB in 44 ms, but 100 bytes in 0.3 ms and 64 KiB in 0.8 ms. If 5 % of the \
            requests take about 40 ms, and the kernel's count of delayed acknowledgements is as \
            high, this is a caution. Set TCP_NODELAY at the server; compare with `quick_ack`.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(observed: &Observed, job: &ObjectJob) -> Option<Finding> {
    let near = total(job.http.operations.iter().map(|op| op.near_40_ms));
    let share = ratio(near as f64, job.attempts());
    let delayed = job.http.tcp.and_then(|tcp| tcp.delayed_acks);
    let too_few = delayed.is_some_and(|acks| (acks as f64) < ACKS_DELAYED.value * near as f64);
    if !job.has_many() || share < NEAR_40_MS.value || too_few {
        return None;
    }
    let sentence = format!(
        "{} of the requests took about 40 ms: the server waits for delayed acknowledgements.",
        fmt::percent(share)
    );
    let known = if delayed.is_some() { Confidence::Likely } else { Confidence::Possible };
    let draft = job
        .draft("S32", Severity::Caution, sentence)
        .confidence(known)
        .evidence("requests of about 40 ms", Quantity::share(share), "candor")
        .evidence_if(delayed.map(|acks| {
            let acks = Quantity::count(acks as f64);
            ("delayed acknowledgements".into(), acks, "/proc/net/netstat".into())
        }))
        .advice("Set TCP_NODELAY at the server, or compare with `quick_ack`.", None)
        .changes(quick_ack(observed, job));
    Some(draft.done())
}

/// Settings with which the client acknowledges at once.
fn quick_ack(observed: &Observed, job: &ObjectJob) -> Vec<Setting> {
    let buckets = observed.plan.buckets.iter().enumerate();
    let used = buckets.filter(|(_, bucket)| job.objects.buckets.contains(&bucket.name));
    let settings = used.map(|(at, _)| Setting {
        key: format!("bucket[{at}].connections.quick_ack"),
        value: "true".into(),
    });
    settings.collect()
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::{TestCase, proposes};

    /// Recorded: garage 2.5.0 took 44.0 ms for each GET of 4 KiB, and DelayedACKs grew by one each.
    fn garage() -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Get, 4096, 1, 22.7);
        let requests = case.attempts().attempts;
        case.attempts().near_40_ms = requests;
        case.http().tcp.as_mut().unwrap().delayed_acks = Some(requests);
        case
    }

    #[test]
    fn nagle_meets_delayed_acknowledgements() {
        let case = garage();
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "100 % of the requests took about 40 ms: the server waits for delayed acknowledgements."
        );
        assert!(proposes(&found[0], "quick_ack=true"));
        for setting in &found[0].changes {
            let set = candor_plan::text::set(&case.plan, &setting.key, &setting.value);
            assert!(set.is_ok_and(|(plan, _)| plan.buckets[0].connections.quick_ack));
        }
    }

    #[test]
    fn other_reasons_for_40_ms_are_silent() {
        let mut case = garage();
        case.http().tcp.as_mut().unwrap().delayed_acks = Some(9);
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::on_objects(ObjectOp::Get, 4096, 1, 22.7).found(&RULE), []);
    }
}
