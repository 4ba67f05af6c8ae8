//! S21: the wait for the first byte dominates reads.

use candor_record::fmt::{self, ratio};
use candor_record::{Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, sum_ns};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::FIRST_BYTE;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S21",
        title: "requests cost more than bytes",
        explanation: "A read consists of the wait for the first byte and of the transfer. For \
            small objects and ranges the wait dominates: it is the server's work per request plus \
            the round trip, whatever the size. The rate in bytes then follows from the size that was \
            chosen. If the first byte took more than 70 % of the reads' time, candor reports this. \
            Quote requests per second for small objects, or use larger ranges to measure bandwidth.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(_: &Observed, job: &ObjectJob) -> Option<Finding> {
    let reads = job.requests("get").filter(|reads| reads.good_bytes > 0)?;
    let first = sum_ns(reads.first_byte.as_ref());
    let share = ratio(first, sum_ns(reads.attempt.as_ref()));
    if !job.has_many() || share <= FIRST_BYTE.value {
        return None;
    }
    let sentence = format!(
        "{} of the reads' time passed before the first byte; this is a rate of requests, not of \
         bytes.",
        fmt::percent(share.min(1.0))
    );
    let size = ratio(reads.good_bytes as f64, reads.attempts as f64);
    let draft = job
        .draft("S21", Severity::Explains, sentence)
        .evidence("share of the time to the first byte", Quantity::share(share), "candor")
        .evidence("mean size of reads", Quantity::bytes(size), "candor")
        .advice("Quote requests per second, or read larger ranges for bandwidth.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::{TestCase, latency};

    #[test]
    fn small_reads_are_requests_and_large_ones_bytes() {
        let mut case = TestCase::on_objects(ObjectOp::Get, 4096, 1, 1000.0);
        assert_eq!(case.found(&RULE), []);
        case.attempts().first_byte = Some(latency(10_000, 900_000.0));
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "90 % of the reads' time passed before the first byte; this is a rate of requests, not \
             of bytes."
        );
    }
}
