//! S24: uploads waited for 100 Continue.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, total};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::CONSENT_WAITS;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S24",
        title: "uploads waited for consent",
        explanation: "With `Expect: 100-continue` a client waits for the server's consent \
            before it sends the body. The wait is a round trip for each upload, and a full second \
            or more with servers and proxies that give no consent. candor counts uploads with a \
            latency within 5 % of one second. If they are at least 5 % of the uploads, this is a \
            caution. Do not send Expect (`expect_continue = false`).",
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
    let uploads: Vec<_> = job.transfers().filter(|op| op.name != "get").collect();
    let waited = total(uploads.iter().map(|op| op.near_1_s));
    let all = total(uploads.iter().map(|op| op.attempts));
    let share = ratio(waited as f64, all as f64);
    if !job.http.form.expect_continue || !job.has_many() || share < CONSENT_WAITS.value {
        return None;
    }
    let sentence = format!(
        "{} of the uploads took about 1 s: they waited for `100 Continue`, which never came.",
        fmt::percent(share)
    );
    let draft = job
        .draft("S24", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("uploads of about 1 s", Quantity::share(share), "candor")
        .advice("Do not send Expect (`expect_continue = false`).", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn a_second_per_upload_is_a_missing_consent() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 64, 60.0);
        case.attempts().near_1_s = 570;
        assert_eq!(case.found(&RULE), [], "no Expect was sent");
        case.http().form.expect_continue = true;
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "95 % of the uploads took about 1 s: they waited for `100 Continue`, which never came."
        );
        case.attempts().near_1_s = 10;
        assert_eq!(case.found(&RULE), []);
    }
}
