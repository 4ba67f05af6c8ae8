//! S11: different keys have the same content.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{EQUAL_OBJECTS, REQUESTS_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S11",
        title: "objects have equal content",
        explanation: "A store that removes duplicates, or caches by content, handles equal \
            objects with less work. Many benchmarks upload one buffer under every key. candor \
            compares the ETags of different keys; if more than 1 % are equal, this is a caution: the \
            rate holds for equal objects only. Generate different content for each object.",
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
    let objects = &job.http.objects;
    let share = ratio(objects.equal_etags as f64, objects.etags as f64);
    if (objects.etags as f64) < REQUESTS_MIN.value || share <= EQUAL_OBJECTS.value {
        return None;
    }
    let sentence = format!(
        "{} of {} objects have the content of another one; deduplication can save their work.",
        fmt::exact(objects.equal_etags),
        fmt::count(objects.etags as f64)
    );
    let draft = job
        .draft("S11", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("equal ETags", Quantity::share(share), "ETag")
        .advice("Generate different content for each object.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn one_buffer_for_all_keys_is_a_caution() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 65_536, 8, 2000.0);
        assert_eq!(case.found(&RULE), []);
        let objects = &mut case.http().objects;
        (objects.etags, objects.equal_etags) = (20_000, 19_999);
        assert!(case.found(&RULE)[0].sentence.starts_with("19,999 of 20k objects have"));
        case.http().objects.equal_etags = 100;
        assert_eq!(case.found(&RULE), []);
    }
}
