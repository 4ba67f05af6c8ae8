//! S30: requests were redirected.

use candor_record::fmt;
use candor_record::http::FailureClass;
use candor_record::{Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S30",
        title: "requests were redirected",
        explanation: "A server answers 301 or 307 if another region or another node is \
            responsible for the bucket. A client that follows pays two requests for each operation; \
            one that does not follow fails. candor counts redirects, and reads the bucket's region \
            from x-amz-bucket-region. Use the endpoint and the region of the bucket.",
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
    let redirects = job.http.failed(FailureClass::Redirect);
    if redirects == 0 {
        return None;
    }
    let region = &job.http.form.region;
    let sentence = format!(
        "The server redirected {} requests{}.",
        fmt::exact(redirects),
        region.as_ref().map_or(String::new(), |region| format!(" to the region {region}"))
    );
    let draft = job
        .draft("S30", Severity::Caution, sentence)
        .evidence("redirects", Quantity::count(redirects as f64), "statuses of the answers")
        .evidence_if(region.as_ref().map(|region| {
            ("region of the bucket".into(), region.clone(), "x-amz-bucket-region".into())
        }))
        .advice("Use the endpoint and the region of the bucket.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::http::AttemptFailure;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn a_redirect_names_the_region() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 1, 3900.0);
        assert_eq!(case.found(&RULE), []);
        case.http().form.region = Some("eu-west-1".into());
        case.http().failures.push(AttemptFailure {
            class: FailureClass::Redirect,
            status: Some(301),
            attempts: 48,
            final_attempts: 48,
            ..AttemptFailure::default()
        });
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "The server redirected 48 requests to the region eu-west-1."
        );
    }
}
