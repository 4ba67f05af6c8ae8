//! S16: the clocks of client and server differ.

use candor_record::fmt;
use candor_record::http::FailureClass;
use candor_record::{Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::CLOCKS_APART_S;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S16",
        title: "the clocks differ",
        explanation: "A signature carries the client's time, and servers refuse it with 403 \
            RequestTimeTooSkewed if the clocks differ by more than 15 minutes. Smaller differences \
            falsify ages of objects and comparisons of logs. candor compares the header Date, which \
            has steps of one second, with the middle of each request. More than 5 seconds is a \
            caution. Synchronise both clocks by NTP or chrony.",
    },
    stage: Stage::Failure,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(_: &Observed, job: &ObjectJob) -> Option<Finding> {
    let refused = job.http.failed(FailureClass::Clock);
    let skew = job.http.clock;
    // The least distance from this host's clock that all answers agree on.
    let apart_s = skew.map_or(0.0, |skew| skew.min_s.max(-skew.max_s).max(0.0));
    if refused == 0 && apart_s <= CLOCKS_APART_S.value {
        return None;
    }
    let apart = fmt::time(apart_s * 1e9);
    let sentence = if refused > 0 {
        format!(
            "The server refused {} requests because its clock and this host's differ.",
            fmt::exact(refused)
        )
    } else {
        format!("The clocks of server and client differ by {apart}; ages of objects are wrong.")
    };
    let draft = job
        .draft("S16", Severity::Caution, sentence)
        .evidence("difference of the clocks", Quantity::ns(apart_s * 1e9), "Date")
        .advice("Synchronise the clocks of both hosts (NTP).", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::http::{AttemptFailure, ClockSkew};

    use super::*;
    use crate::testcase::TestCase;

    fn skewed(min_s: f64, max_s: f64) -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 1, 3900.0);
        case.http().clock = Some(ClockSkew { answers: 39_000, min_s, max_s });
        case
    }

    #[test]
    fn clocks_apart_are_a_caution() {
        assert_eq!(
            skewed(-42.3, -41.2).found(&RULE)[0].sentence,
            "The clocks of server and client differ by 41.2 s; ages of objects are wrong."
        );
        assert_eq!(skewed(29.0, 30.0).found(&RULE).len(), 1);
        assert_eq!(skewed(-3.0, 7.0).found(&RULE), []);
    }

    #[test]
    fn a_refused_time_explains_why_nothing_was_done() {
        let mut case = skewed(0.0, 0.0);
        case.measured().operations[0].ops = 0;
        case.http().failures.push(AttemptFailure {
            class: FailureClass::Clock,
            status: Some(403),
            attempts: 7,
            final_attempts: 7,
            ..AttemptFailure::default()
        });
        assert!(case.judge().finding("S16").is_some());
    }
}
