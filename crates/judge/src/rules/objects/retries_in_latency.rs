//! S14: repeated attempts are inside latencies.

use candor_record::fmt::{self, ratio};
use candor_record::{Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, total};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{HEAD_BYTES, RETRIES, WIRE_BYTES};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S14",
        title: "latencies include repeated attempts",
        explanation: "A repeated attempt turns an error into a latency, and its bytes pass the \
            network again. Many S3 clients repeat up to ten times without a word. candor counts \
            attempts apart from operations, and bytes on the connections apart from bytes of \
            successful bodies. More than 1.001 attempts per operation, or more than 1.05 bytes per \
            useful byte (2 KiB of heads per attempt left out), is a caution. Read the latency of \
            attempts as well, or run without repetition (`retry.attempts = 1`).",
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
    let retries = total(job.http.operations.iter().map(|op| op.retries));
    let per_operation = ratio(job.attempts(), job.attempts() - retries as f64);
    let wire = wire_share(job);
    if per_operation > RETRIES.value {
        let sentence = format!(
            "{} attempts were repetitions ({} attempts per operation); latencies include them.",
            fmt::exact(retries),
            fmt::number(per_operation)
        );
        let draft = job
            .draft("S14", Severity::Caution, sentence)
            .evidence("attempts per operation", Quantity::ratio(per_operation), "candor")
            .evidence("bytes on the network per useful byte", Quantity::ratio(wire), "candor")
            .advice("Read the latency of single attempts, or run without repetition.", None)
            .changes(job.with(observed, "work.objects.retry.attempts", "1"));
        return Some(draft.done());
    }
    if wire <= WIRE_BYTES.value {
        return None;
    }
    let sentence = format!(
        "The network carried {} times the bytes of successful bodies; the rest was lost work.",
        fmt::number(wire)
    );
    let draft = job
        .draft("S14", Severity::Caution, sentence)
        .evidence("bytes on the network per useful byte", Quantity::ratio(wire), "candor")
        .advice("Look for failed or aborted transfers.", None);
    Some(draft.done())
}

/// Bytes sent and received over bytes of successful bodies, heads left out.
fn wire_share(job: &ObjectJob) -> f64 {
    let (mut wire, mut good) = (0.0, 0.0);
    for op in job.transfers() {
        let heads = HEAD_BYTES.value * op.attempts as f64;
        wire += (op.sent_bytes as f64 + op.received_bytes as f64 - heads).max(0.0);
        good += op.good_bytes as f64;
    }
    ratio(wire, good)
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::{TestCase, proposes};

    #[test]
    fn repetitions_are_inside_latencies() {
        let mut case = TestCase::on_objects(ObjectOp::Get, 65_536, 8, 1000.0);
        case.objects().retry.attempts = 10;
        let op = case.attempts();
        (op.attempts, op.retries) = (11_000, 1000);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "1,000 attempts were repetitions (1.1 attempts per operation); latencies include them."
        );
        assert!(proposes(&found[0], "retry.attempts=1"));
    }

    #[test]
    fn bytes_that_passed_twice_are_lost_work() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 8 << 20, 8, 10.0);
        case.attempts().sent_bytes = case.attempts().good_bytes * 3 / 2;
        assert!(case.found(&RULE)[0].sentence.starts_with("The network carried 1.5 times"));
    }

    #[test]
    fn heads_of_small_objects_are_no_lost_work() {
        assert_eq!(TestCase::on_objects(ObjectOp::Put, 100, 8, 4000.0).found(&RULE), []);
        assert_eq!(TestCase::on_objects(ObjectOp::Get, 8 << 20, 8, 90.0).found(&RULE), []);
    }
}
