//! S5: too few requests in flight.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::object_load;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{CLIENT_IDLE, IN_FLIGHT_FULL, LATENCY_FLAT, TRIAL_LESS};
use crate::trials::Trial;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S5",
        title: "too few requests in flight",
        explanation: "A request on HTTP/1.1 occupies its connection until the answer ends, so \
            the rate is the number of requests in flight over their latency. candor reports this \
            if all permitted requests were in flight, the client was mostly idle, and another \
            phase with half as many had the same latency. The server has more to give then. One \
            request at a time is always such a case. The result is a latency, not the capacity of \
            the server. Use a higher depth, more workers or more hosts.",
    },
    stage: Stage::Queue,
    limit: Some(LimitClass::Load),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(observed: &Observed, job: &ObjectJob) -> Option<Finding> {
    let is_idle = job.cpu_shares().iter().all(|share| *share < CLIENT_IDLE.value);
    let is_full = job.share_in_flight() >= IN_FLIGHT_FULL.value;
    if !is_idle || !is_full || job.is_paced() {
        return None;
    }
    let mean_ns = job.mean_latency_ns()?;
    let depth = job.depth();
    let less = object_load::trials(observed, job).into_iter().find(|trial| is_flat(job, trial));
    let (limit, known) = match less {
        _ if job.http.in_flight_max <= 1 => (Limit::Latency, String::new()),
        None => return None,
        Some(less) => {
            let known = format!(" ({} with {} in flight)", fmt::time(less.mean_ns), less.in_flight);
            (Limit::RequestsInFlight { requests: depth }, known)
        }
    };
    let requests = fmt::plural(depth, "request", "requests");
    let sentence = format!(
        "With {requests} in flight, a latency of {}{known} makes this rate. \
         The server can do more.",
        fmt::time(mean_ns)
    );
    let more = job.objects.depth.saturating_mul(4);
    let draft = job
        .draft("S5", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(limit)
        .evidence("requests in flight", Quantity::count(job.in_flight()), "candor")
        .evidence("mean latency", Quantity::ns(mean_ns), "candor")
        .advice("Use a higher depth, more workers or more hosts.", None)
        .changes(job.with(observed, "work.objects.depth", &more.to_string()));
    Some(draft.done())
}

/// Another phase had at most half as many in flight, and was hardly faster for each.
fn is_flat(job: &ObjectJob, trial: &Trial) -> bool {
    let here = job.mean_latency_ns().unwrap_or(f64::INFINITY);
    trial.in_flight <= TRIAL_LESS.value * job.depth() && here <= LATENCY_FLAT.value * trial.mean_ns
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::{TestCase, proposes};

    #[test]
    fn one_request_at_a_time_is_latency() {
        let case = TestCase::on_objects(ObjectOp::Put, 4096, 1, 3900.0);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "With 1 request in flight, a latency of 256 µs makes this rate. The server can do more."
        );
        assert!(proposes(&found[0], "depth=4"));
        let judgement = case.judge();
        assert_eq!(judgement.limit().as_deref(), Some("latency: one request at a time"));
        assert!(
            judgement.headline.starts_with("3900 put requests/s of 4 KiB = 16 MB/s"),
            "{}",
            judgement.headline
        );
    }

    /// A phase with 16 in flight after one with 4 of them, at these rates.
    fn after_less(less: f64, here: f64) -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Get, 65_536, 16, here);
        let mut earlier = TestCase::on_objects(ObjectOp::Get, 65_536, 4, less);
        case.plan.phases.insert(0, earlier.plan.phases.remove(0));
        case.record.phase = 1;
        case.after(vec![earlier.recorded()]);
        case
    }

    #[test]
    fn a_latency_that_does_not_grow_with_depth_leaves_the_server_idle() {
        let case = after_less(1000.0, 3900.0);
        assert!(case.found(&RULE)[0].sentence.contains("4.1 ms (4 ms with 4 in flight)"));
        let limit = case.judge().limit();
        assert_eq!(limit.as_deref(), Some("the load: 16 requests in flight"));
    }

    #[test]
    fn a_latency_that_grows_is_the_server() {
        let case = after_less(1000.0, 1500.0);
        assert_eq!(case.found(&RULE), []);
        assert_eq!(
            case.judge().limit().as_deref(),
            Some("the server at depth 16 (mean latency 10.7 ms; a higher depth was not tried)")
        );
    }
}
