//! S27: lists had missing, repeated or unordered keys.

use candor_record::fmt;
use candor_record::{Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S27",
        title: "lists were not complete",
        explanation: "A list of S3 has every key once, in order, in pages of up to 1000 keys. \
            Stores that are eventually consistent miss new keys, gateways repeat keys at page \
            borders, and directory buckets give no order. Such lists cost less work and break \
            programs that rely on them. candor compares the keys of lists with the plan, and counts \
            repeated and unordered keys and short pages. Repeat the list after a pause; if keys are \
            still missing, report it to the store's operator.",
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
    let expected = objects.keys_expected.filter(|expected| *expected != objects.keys);
    let sentence = if let Some(expected) = expected {
        let (keys, expected) = (fmt::exact(objects.keys), fmt::exact(expected));
        format!("Lists had {keys} keys; the plan expects {expected}.")
    } else if objects.keys_twice > 0 {
        format!("Lists had {} keys twice.", fmt::exact(objects.keys_twice))
    } else if objects.keys_unordered > 0 {
        format!("{} keys of lists were not in order.", fmt::exact(objects.keys_unordered))
    } else if objects.short_pages > 0 {
        let (short, pages) = (fmt::exact(objects.short_pages), fmt::exact(objects.pages));
        format!("{short} of {pages} pages were short although more keys followed.")
    } else {
        return None;
    };
    let draft = job
        .draft("S27", Severity::Caution, sentence)
        .evidence("keys", Quantity::count(objects.keys as f64), "lists")
        .evidence("keys that came twice", Quantity::count(objects.keys_twice as f64), "lists")
        .evidence("keys out of order", Quantity::count(objects.keys_unordered as f64), "lists")
        .evidence("short pages", Quantity::count(objects.short_pages as f64), "lists")
        .advice("Repeat the list after a pause, and compare the keys.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn lists_have_each_key_once_in_order() {
        let mut case = TestCase::on_objects(ObjectOp::List, 0, 1, 10.0);
        let objects = &mut case.http().objects;
        (objects.pages, objects.keys, objects.keys_expected) = (100, 100_000, Some(100_000));
        assert_eq!(case.found(&RULE), []);
        case.http().objects.short_pages = 3;
        assert!(case.found(&RULE)[0].sentence.starts_with("3 of 100 pages were short"));
        case.http().objects.keys_unordered = 40;
        assert!(case.found(&RULE)[0].sentence.starts_with("40 keys of lists were not in order"));
        case.http().objects.keys_twice = 2;
        assert_eq!(case.found(&RULE)[0].sentence, "Lists had 2 keys twice.");
        case.http().objects.keys = 99_998;
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Lists had 99,998 keys; the plan expects 100,000."
        );
    }
}
