//! S20: each connection has the same rate.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, sum_ns};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{CAP_RATE_MIN, CAP_SPREAD, CAP_TRANSFER, CLIENT_IDLE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S20",
        title: "connections have a rate cap",
        explanation: "One TCP flow has a cap in many networks: 5 Gb/s in some clouds, about 90 \
            MB/s per connection at some stores. All busy connections then move the same rate, \
            while client and server are idle, and more connections move more. candor compares the \
            rates of connections. A spread below 10 %, idle client CPUs, and 70 % of the time in \
            transfers make a cap possible, not certain. Try twice the depth, or split objects into \
            ranges and parts on several connections.",
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
    let rates = job.http.connections.rates?;
    let is_alike = rates.connections > 1 && rates.stddev < CAP_SPREAD.value * rates.mean;
    let is_idle = job.cpu_shares().iter().all(|share| *share < CLIENT_IDLE.value);
    let transfer = transfer_share(job);
    if !is_alike || !is_idle || job.is_paced() || transfer < CAP_TRANSFER.value {
        return None;
    }
    let rate = rates.mean;
    if rate < CAP_RATE_MIN.value {
        return None;
    }
    let sentence = format!(
        "All {} connections moved about {} each; a cap per connection is possible.",
        rates.connections,
        fmt::rate_decimal(rate)
    );
    let more = job.objects.depth.saturating_mul(2);
    let draft = job
        .draft("S20", Severity::Explains, sentence)
        .confidence(Confidence::Possible)
        .evidence("mean rate of a connection", Quantity::bytes_per_s(rate), "candor")
        .evidence("standard deviation", Quantity::bytes_per_s(rates.stddev), "candor")
        .evidence("share of the time in transfers", Quantity::share(transfer), "candor")
        .advice("Try twice the depth: under a cap the rate doubles.", None)
        .changes(job.with(observed, "work.objects.depth", &more.to_string()));
    Some(draft.done())
}

/// Share of attempts in which bytes of objects were sent or received.
fn transfer_share(job: &ObjectJob) -> f64 {
    let (mut moving, mut all) = (0.0, 0.0);
    for op in job.transfers() {
        let part = if op.name == "get" { &op.transfer } else { &op.send };
        moving += sum_ns(part.as_ref());
        all += sum_ns(op.attempt.as_ref());
    }
    ratio(moving, all)
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::http::ConnectionRates;

    use super::*;
    use crate::testcase::{TestCase, latency, proposes};

    fn eight(stddev: f64) -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Get, 8 << 20, 8, 90.0);
        let rates = ConnectionRates { connections: 8, mean: 94e6, stddev };
        case.http().connections.rates = Some(rates);
        case.attempts().transfer = Some(latency(900, 80e6));
        case
    }

    #[test]
    fn alike_connections_may_have_a_cap() {
        let found = eight(2e6).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "All 8 connections moved about 94 MB/s each; a cap per connection is possible."
        );
        assert_eq!(found[0].confidence, Confidence::Possible);
        assert!(proposes(&found[0], "depth=16"));
    }

    #[test]
    fn connections_apart_or_latency_are_no_cap() {
        assert_eq!(eight(30e6).found(&RULE), []);
        let mut waits = eight(2e6);
        waits.attempts().transfer = Some(latency(900, 20e6));
        assert_eq!(waits.found(&RULE), []);
    }
}
