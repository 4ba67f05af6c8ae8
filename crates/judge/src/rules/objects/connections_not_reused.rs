//! S7: connections were not reused.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, sum_ns, total};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::REOPENED;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S7",
        title: "connections were not reused",
        explanation: "A new connection costs a round trip, with TLS two or three and about 1 \
            ms of CPU time. If the server or a proxy closes connections after each answer, every \
            request pays this. One server did 2100 to 2500 uploads/s instead of 3500 to 4300. \
            Closed connections also occupy ports for a minute: 28,232 ports permit 470 new \
            connections/s to one address. candor compares connections with requests; more than 2 % \
            is a caution. Switch on keep-alive at the server or proxy.",
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
    let connections = &job.http.connections;
    let needed = if connections.opened_before > 0 { 0 } else { job.http.in_flight_max };
    let again = connections.opened.saturating_sub(needed);
    let share = ratio(again as f64, job.attempts());
    if !job.has_many() || share <= REOPENED.value {
        return None;
    }
    let is_planned = job.buckets(observed).iter().any(|bucket| bucket.connections.close_each);
    let sentence = format!(
        "{} connections served {} requests; {}.",
        fmt::exact(total([connections.opened, connections.opened_before])),
        fmt::count(job.attempts()),
        if is_planned {
            "the plan closes each after one request".into()
        } else {
            let closed = fmt::percent(ratio(connections.closed_by_server as f64, again as f64));
            format!("the server announced the end of {closed} of them")
        }
    );
    let connecting = sum_ns(connections.connect.as_ref()) + sum_ns(connections.tls.as_ref());
    let time_wait = job.http.tcp.and_then(|tcp| tcp.time_wait);
    let severity = if is_planned { Severity::Explains } else { Severity::Caution };
    let draft = job
        .draft("S7", severity, sentence)
        .confidence(Confidence::Certain)
        .evidence("new connections per request", Quantity::ratio(share), "candor")
        .evidence(
            "new connections per second",
            Quantity::ops_per_s(ratio(again as f64, job.seconds())),
            "candor",
        )
        .evidence("time in TCP and TLS handshakes", Quantity::ns(connecting), "candor")
        .evidence_if(time_wait.map(|sockets| {
            let sockets = Quantity::count(sockets as f64);
            ("sockets in TIME_WAIT".into(), sockets, "/proc/net/sockstat".into())
        }))
        .advice("Switch on keep-alive at the server, or at the proxy in between.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::TestCase;

    /// Recorded: versitygw without `--keep-alive` did 2100 to 2500 uploads/s on one connection at a
    /// time, and opened a new port for each.
    fn without_keep_alive() -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 1, 2300.0);
        let connections = &mut case.http().connections;
        (connections.opened, connections.closed_by_server) = (22_999, 23_000);
        case
    }

    #[test]
    fn a_connection_per_request_is_a_caution() {
        let case = without_keep_alive();
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "23,000 connections served 23k requests; the server announced the end of 100 % of them."
        );
        assert_eq!(case.judge().verdict, Verdict::Caution);
    }

    #[test]
    fn planned_ends_are_no_caution() {
        let mut case = without_keep_alive();
        case.plan.buckets[0].connections.close_each = true;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Explains);
    }

    /// Recorded: 3500 to 4300 uploads/s with `--keep-alive`.
    #[test]
    fn kept_connections_are_silent() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 1, 3900.0);
        assert_eq!(case.found(&RULE), []);
        let connections = &mut case.http().connections;
        (connections.opened_before, connections.opened) = (0, 1);
        assert_eq!(case.found(&RULE), []);
    }
}
