//! S13: the server limits the rate.

use candor_record::fmt::{self, ratio};
use candor_record::http::FailureClass;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::series;
use crate::stage::Stage;
use crate::thresholds::objects::{REFUSED, REFUSED_FLAT, REFUSED_LIMIT, REFUSED_SECONDS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S13",
        title: "the server throttled requests",
        explanation: "Object stores refuse requests above a rate: 503 SlowDown, 429 or 509, \
            often with Retry-After. Limits apply per prefix, per account or per node. Amazon S3 \
            serves 3500 uploads or 5500 reads per second and prefix, and raises this over minutes. \
            From 0.1 % of refused attempts on this is a caution. From 1 % on the limiter is the \
            limit of the result. The same holds for any refusal if the rate varies by less than 2 \
            % between seconds. Spread keys over prefixes, use more nodes, or raise the load \
            slowly.",
    },
    stage: Stage::Throttle,
    limit: Some(LimitClass::Throttle),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(_: &Observed, job: &ObjectJob) -> Option<Finding> {
    let refused = job.http.failed(FailureClass::Throttled);
    let share = ratio(refused as f64, job.attempts());
    let is_flat = refused > 0 && is_flat(job);
    let is_limit = share >= REFUSED_LIMIT.value || is_flat;
    if share < REFUSED.value && !is_flat {
        return None;
    }
    let throttled = job.http.failures.iter().filter(|of| of.class == FailureClass::Throttled);
    let first = throttled.clone().next()?;
    let wait_s = throttled.filter_map(|failure| failure.retry_after_s).max();
    let sentence = format!(
        "The server refused {} of {} attempts ({}).{}",
        fmt::exact(refused),
        fmt::count(job.attempts()),
        reason(first.status, &first.code),
        if is_limit { " The result measures its rate limit." } else { "" }
    );
    let draft = job
        .draft("S13", Severity::Caution, sentence)
        .confidence(if share >= REFUSED_LIMIT.value {
            Confidence::Certain
        } else {
            Confidence::Likely
        })
        .evidence("refused attempts", Quantity::share(share), "statuses of the answers")
        .evidence_if(wait_s.map(|wait_s| {
            let wait = Quantity::ns(wait_s as f64 * 1e9);
            ("longest Retry-After".into(), wait, "answer of the server".into())
        }))
        .advice("Spread keys over prefixes or nodes, or raise the load slowly.", None);
    let limit = Limit::ServerRate { requests_per_s: job.ops_per_s() };
    Some(if is_limit { draft.limits(limit).done() } else { draft.done() })
}

/// The rate hardly differs from second to second.
fn is_flat(job: &ObjectJob) -> bool {
    let rates = series::ops_rates(job.measured);
    let is_long = rates.len() as f64 >= REFUSED_SECONDS.value && job.done() > 0.0;
    is_long && candor_stats::relative_deviation(&rates) < REFUSED_FLAT.value
}

fn reason(status: Option<u16>, code: &str) -> String {
    let status = status.map_or("no status".into(), |status| status.to_string());
    if code.is_empty() { status } else { format!("{status} {code}") }
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::http::AttemptFailure;

    use super::*;
    use crate::testcase::TestCase;

    fn refused(attempts: u64) -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 12, 12.0);
        case.attempts().attempts = 120;
        case.http().failures.push(AttemptFailure {
            op: "put".into(),
            class: FailureClass::Throttled,
            status: Some(503),
            code: "SlowDown".into(),
            attempts,
            final_attempts: attempts,
            ..AttemptFailure::default()
        });
        case
    }

    /// Recorded: versitygw with `--max-requests 2` refused 93 of 120 PUTs of 12 threads.
    #[test]
    fn most_attempts_refused_measure_the_limiter() {
        let case = refused(93);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "The server refused 93 of 120 attempts (503 SlowDown). The result measures its rate \
             limit."
        );
        let limit = case.judge().limit();
        assert_eq!(limit.as_deref(), Some("the server's rate limit (12 requests/s)"));
    }

    #[test]
    fn a_flat_rate_with_one_refusal_is_a_limiter() {
        let mut case = refused(1);
        case.attempts().attempts = 100_000;
        assert_eq!(case.found(&RULE), []);
        for sample in &mut case.measured().samples {
            sample.operations[0].ops = 3500;
        }
        assert!(case.found(&RULE)[0].limits.is_some());
    }

    #[test]
    fn no_refusal_is_silent() {
        assert_eq!(TestCase::on_objects(ObjectOp::Put, 4096, 1, 3900.0).found(&RULE), []);
    }
}
