//! S29: features of the bucket changed the work.

use candor_record::{Finding, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S29",
        title: "the bucket changed the work",
        explanation: "Versioning keeps every overwritten object and turns deletes into markers; \
            object lock, encryption and storage classes change the work behind each request. Two \
            results compare only with the same features. candor reads them from answers, and \
            compares them with the plan. A feature that the plan requests and the server does not \
            confirm is a caution: some servers ignore the header. Other features are named next to \
            the result.",
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
    let form = &job.http.form;
    let pairs = [
        ("encryption", &form.encryption_requested, &form.encryption),
        ("storage class", &form.storage_class_requested, &form.storage_class),
    ];
    // Without a header the class is the standard one.
    let mut differing = pairs.into_iter().filter(|(_, requested, answered)| {
        requested.is_some()
            && requested != answered
            && !(is_standard(requested) && is_standard(answered))
    });
    let (severity, sentence, advice) = if let Some((what, requested, answered)) = differing.next() {
        let requested = requested.as_deref().unwrap_or_default();
        let answered = answered.as_deref().unwrap_or("none");
        let sentence =
            format!("The plan requests the {what} {requested}; the server reports {answered}.");
        (Severity::Caution, sentence, "Check whether the server supports the feature.")
    } else {
        let features = features(job);
        if features.is_empty() {
            return None;
        }
        let sentence = format!("The bucket has {}; compare only with equals.", features.join(", "));
        (Severity::Explains, sentence, "State the features next to the result.")
    };
    let draft = job
        .draft("S29", severity, sentence)
        .evidence("versioning", text(&form.versioning), "GetBucketVersioning")
        .evidence("encryption", text(&form.encryption), "answers")
        .evidence("storage class", text(&form.storage_class), "answers")
        .advice(advice, None);
    Some(draft.done())
}

fn is_standard(class: &Option<String>) -> bool {
    class.as_deref().is_none_or(|class| class == "STANDARD")
}

fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| "none".into())
}

/// Features in effect.
fn features(job: &ObjectJob) -> Vec<String> {
    let form = &job.http.form;
    let versioning = form.versioning.as_deref().filter(|state| *state == "Enabled");
    let lock = form.object_lock.filter(|on| *on);
    let class = form.storage_class.as_deref().filter(|class| *class != "STANDARD");
    let all = [
        versioning.map(|_| "versioning".into()),
        lock.map(|_| "object lock".into()),
        form.encryption.as_ref().map(|name| format!("encryption ({name})")),
        class.map(|name| format!("storage class {name}")),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    /// Recorded: versitygw and garage accept the header of encryption, and encrypt nothing.
    #[test]
    fn an_ignored_request_is_a_caution() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 1, 3900.0);
        assert_eq!(case.found(&RULE), []);
        case.http().form.encryption_requested = Some("AES256".into());
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "The plan requests the encryption AES256; the server reports none."
        );
        assert_eq!(found[0].severity, Severity::Caution);
        case.http().form.encryption = Some("AES256".into());
        case.http().form.versioning = Some("Enabled".into());
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "The bucket has versioning, encryption (AES256); compare only with equals."
        );
    }

    #[test]
    fn the_standard_class_needs_no_header() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 1, 3900.0);
        case.http().form.storage_class_requested = Some("STANDARD".into());
        assert_eq!(case.found(&RULE), []);
        case.http().form.storage_class = Some("GLACIER".into());
        assert_eq!(case.found(&RULE)[0].severity, Severity::Caution);
    }
}
