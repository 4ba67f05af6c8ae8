//! S23: the keys share one prefix.

use candor_record::fmt;
use candor_record::http::FailureClass;
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{HOT_PREFIX_RATE, REFUSED_PREFIXES};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S23",
        title: "few prefixes carried the load",
        explanation: "Object stores divide keys by their first characters, and each division \
            has its own rate. Amazon S3 serves 3500 uploads or 5500 reads per second and prefix. \
            Keys that begin alike load one division. candor counts the first parts of keys, and \
            where requests were refused. One prefix with more than 2000 requests/s, or refusals in \
            at most a fifth of the prefixes, is reported. Spread keys by `{hash:4}` in the prefix \
            of the bucket.",
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
    let prefixes = job.http.objects.prefixes;
    let throttled = job.http.failures.iter().filter(|of| of.class == FailureClass::Throttled);
    let mut refused: Vec<&str> = throttled.map(|failure| failure.prefix.as_str()).collect();
    refused.sort_unstable();
    refused.dedup();
    let few = REFUSED_PREFIXES.value * prefixes as f64;
    let sentence = if prefixes == 1 && job.ops_per_s() > HOT_PREFIX_RATE.value {
        format!(
            "All keys have one prefix, which received {} requests/s.",
            fmt::count(job.ops_per_s())
        )
    } else if !refused.is_empty() && refused.len() as f64 <= few {
        let (first, more) = (refused[0], refused.len());
        format!("The server refused requests in {more} of {prefixes} prefixes, such as `{first}`.")
    } else {
        return None;
    };
    let draft = job
        .draft("S23", Severity::Explains, sentence)
        .confidence(Confidence::Possible)
        .evidence("prefixes", Quantity::count(prefixes as f64), "candor")
        .evidence("prefixes with refusals", Quantity::count(refused.len() as f64), "candor")
        .advice("Spread keys over prefixes, by `{hash:4}` in the prefix of the bucket.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::http::AttemptFailure;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn one_prefix_with_much_load_is_named() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 8, 3900.0);
        assert_eq!(case.found(&RULE), []);
        case.http().objects.prefixes = 1;
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "All keys have one prefix, which received 3900 requests/s."
        );
    }

    #[test]
    fn refusals_in_one_prefix_are_named() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 8, 3900.0);
        case.http().failures.push(AttemptFailure {
            class: FailureClass::Throttled,
            prefix: "logs".into(),
            attempts: 90,
            ..AttemptFailure::default()
        });
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "The server refused requests in 1 of 64 prefixes, such as `logs`."
        );
        case.http().objects.prefixes = 2;
        assert_eq!(case.found(&RULE), [], "half of them");
    }
}
