//! S15: operations failed.

use candor_record::fmt::{self, ratio};
use candor_record::http::{AttemptFailure, FailureClass};
use candor_record::{Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, total};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::FAILED;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S15",
        title: "operations on objects failed",
        explanation: "A failed request is often faster than a successful one. Some benchmarks \
            count it as work: a missing object read as zeros, or an error that an option permits. \
            candor counts failed operations by class (missing, denied, server error, timeout, \
            reset, short body), and leaves them out of the rate. From 0.1 % on this is a caution. \
            Failures that the plan permits (`missing_ok`) count as done, so the result is \
            unverified from the same share on. Remove the cause of the errors, then run again.",
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
    permitted(job).or_else(|| failed(job))
}

fn permitted(job: &ObjectJob) -> Option<Finding> {
    let permitted = total(job.http.failures.iter().map(|failure| failure.permitted));
    let share = ratio(permitted as f64, job.ended());
    if share < FAILED.value {
        return None;
    }
    let sentence = format!(
        "{} of {} operations failed but count as done, as the plan permits.",
        fmt::exact(permitted),
        fmt::count(job.ended())
    );
    let draft = job
        .draft("S15", Severity::Unverified, sentence)
        .evidence("failures that count as done", Quantity::share(share), "candor")
        .advice("Put the missing objects first, or remove `missing_ok`.", None);
    Some(draft.done())
}

fn failed(job: &ObjectJob) -> Option<Finding> {
    let failures = job.http.failures.iter().filter(|failure| has_no_own_rule(failure.class));
    let failures: Vec<&AttemptFailure> = failures.collect();
    let failed = total(failures.iter().map(|failure| failure.final_attempts));
    let share = ratio(failed as f64, job.ended());
    let most = failures.into_iter().max_by_key(|failure| failure.final_attempts)?;
    if share < FAILED.value {
        return None;
    }
    let sentence = format!(
        "{} of {} operations failed; most frequent error: {}.",
        fmt::exact(failed),
        fmt::count(job.ended()),
        words(most)
    );
    let draft = job
        .draft("S15", Severity::Caution, sentence)
        .evidence("failed operations", Quantity::share(share), "candor")
        .evidence_if(most.request_id.as_ref().map(|id| {
            ("request id of the first one".into(), id.clone(), "answer of the server".into())
        }))
        .advice(
            "Remove the cause of the errors; the rate covers successful operations only.",
            None,
        );
    Some(draft.done())
}

/// Throttling, clocks and redirects have rules of their own.
fn has_no_own_rule(class: FailureClass) -> bool {
    !matches!(class, FailureClass::Throttled | FailureClass::Clock | FailureClass::Redirect)
}

fn words(failure: &AttemptFailure) -> String {
    let class = failure.class.words();
    match (failure.status, failure.code.as_str()) {
        (Some(status), "") => format!("{class} ({status})"),
        (Some(status), code) => format!("{class} ({status} {code})"),
        (None, _) => class.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::TestCase;

    fn failing(class: FailureClass, failed: u64) -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Get, 4096, 4, 1000.0);
        case.measured().operations[0].failed = failed;
        case.http().failures.push(AttemptFailure {
            op: "get".into(),
            class,
            status: Some(404),
            code: "NoSuchKey".into(),
            attempts: failed,
            final_attempts: failed,
            ..AttemptFailure::default()
        });
        case
    }

    #[test]
    fn missing_objects_are_a_caution() {
        let case = failing(FailureClass::Missing, 100);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "100 of 10.1k operations failed; most frequent error: missing object or bucket (404 \
             NoSuchKey)."
        );
        assert_eq!(case.judge().verdict, Verdict::Caution);
    }

    #[test]
    fn failures_that_count_as_done_cannot_be_verified() {
        let mut case = failing(FailureClass::Missing, 0);
        case.http().failures[0].permitted = 500;
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "500 of 10k operations failed but count as done, as the plan permits."
        );
        assert_eq!(case.judge().verdict, Verdict::Unverified);
    }

    #[test]
    fn a_single_failure_and_throttling_are_not_of_this_rule() {
        assert_eq!(failing(FailureClass::Missing, 9).found(&RULE), []);
        assert_eq!(failing(FailureClass::Throttled, 900).found(&RULE), []);
    }

    #[test]
    fn a_run_without_a_success_names_the_error() {
        let mut case = failing(FailureClass::Denied, 100);
        case.measured().operations[0].ops = 0;
        let judgement = case.judge();
        assert_eq!(judgement.verdict, Verdict::Unverified);
        assert!(judgement.finding("S15").is_some(), "{judgement:#?}");
    }
}
