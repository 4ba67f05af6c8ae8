//! S8: connections were opened inside the measured time.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, sum_ns};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{COLD_SHARE, COLD_TIMES};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S8",
        title: "cold start inside the number",
        explanation: "The first request of a connection pays for the name lookup, the TCP \
            handshake and the TLS handshake. In short phases with many connections this is a \
            visible part of the result. candor counts the requests that paid, with their mean \
            latency. If they are more than 1 % of all and take more than twice as long as the \
            others, this is a caution. The finding has the share of the time that they took at \
            most. Connect before the clock starts (`connect_first`), or use a ramp.",
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
    let connections = &job.http.connections;
    let paid = connections.paid as f64;
    let all_ns: f64 = job.http.operations.iter().map(|op| sum_ns(op.attempt.as_ref())).sum();
    let rest_ns = ratio(all_ns - paid * connections.paid_mean_ns, job.attempts() - paid).max(0.0);
    let share = ratio(paid, job.attempts());
    let times = ratio(connections.paid_mean_ns, rest_ns);
    if !job.has_many() || share <= COLD_SHARE.value || times <= COLD_TIMES.value {
        return None;
    }
    let sentence = format!(
        "{} of the requests opened a connection first and took {} instead of {}.",
        fmt::percent(share),
        fmt::time(connections.paid_mean_ns),
        fmt::time(rest_ns)
    );
    let lost = ratio(paid * (connections.paid_mean_ns - rest_ns), all_ns);
    let draft = job
        .draft("S8", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .lost_at_most(lost)
        .evidence("requests that opened a connection", Quantity::share(share), "candor")
        .evidence("their mean latency", Quantity::ns(connections.paid_mean_ns), "candor")
        .evidence("mean latency of the others", Quantity::ns(rest_ns), "candor")
        .advice("Connect before the clock starts (`connect_first`), or use a ramp.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn handshakes_inside_a_short_phase_are_a_caution() {
        let mut case = TestCase::on_objects(ObjectOp::Get, 4096, 64, 200.0);
        assert_eq!(case.found(&RULE), []);
        let connections = &mut case.http().connections;
        (connections.paid, connections.paid_mean_ns) = (64, 900e6);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "3.2 % of the requests opened a connection first and took 900 ms instead of 301 ms."
        );
        assert!(found[0].lost_share_max.is_some_and(|lost| (0.05..0.07).contains(&lost)));
        case.http().connections.paid_mean_ns = 500e6;
        assert_eq!(case.found(&RULE), [], "hardly slower");
    }
}
