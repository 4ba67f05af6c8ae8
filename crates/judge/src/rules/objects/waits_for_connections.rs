//! S6: requests waited for a connection.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, sum_ns};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::CONNECTION_WAIT;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S6",
        title: "requests waited for connections",
        explanation: "A request needs a free connection. In clients with a shared pool, or \
            with fewer connections than requests, requests wait before the first byte is sent. \
            Such clients count this time as latency of the server. candor measures the time from \
            the wish to a ready connection. If it is at least 10 % of the latency, this is a \
            caution. Connect before the clock starts (`connect_first`), keep connections open, or \
            raise the number of connections.",
    },
    stage: Stage::Queue,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(_: &Observed, job: &ObjectJob) -> Option<Finding> {
    let operations = &job.http.operations;
    let waits: f64 = operations.iter().map(|op| sum_ns(op.wait.as_ref())).sum();
    let all: f64 = operations.iter().map(|op| sum_ns(op.attempt.as_ref())).sum();
    let share = ratio(waits, all.max(waits));
    if !job.has_many() || share < CONNECTION_WAIT.value {
        return None;
    }
    let mean_ns = ratio(waits, job.attempts());
    let sentence = format!(
        "Requests waited {} on average for a connection, {} of their latency.",
        fmt::time(mean_ns),
        fmt::percent(share)
    );
    let draft = job
        .draft("S6", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .evidence("mean wait for a connection", Quantity::ns(mean_ns), "candor")
        .evidence("share of the latency", Quantity::share(share), "candor")
        .advice("Connect before the clock starts, and keep connections open.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::{TestCase, latency};

    #[test]
    fn a_long_wait_is_a_caution_and_a_short_one_is_silent() {
        let mut case = TestCase::on_objects(ObjectOp::Get, 4096, 4, 2000.0);
        assert_eq!(case.found(&RULE), []);
        case.attempts().wait = Some(latency(20_000, 700_000.0));
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Requests waited 700 µs on average for a connection, 35 % of their latency."
        );
    }
}
