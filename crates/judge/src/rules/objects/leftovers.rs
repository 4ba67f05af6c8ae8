//! S28: uploads or objects of others were left.

use candor_plan::objects::Uploads;
use candor_record::fmt;
use candor_record::{Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S28",
        title: "leftovers at the server",
        explanation: "An upload in parts that is neither completed nor aborted occupies space \
            without a key, and no list of objects shows it. Objects that were already below the \
            prefix make lists longer and deletes slower, and are not part of the plan. candor lists \
            open uploads after the phase, and counts foreign objects before it. Abort open uploads, \
            for example by a lifecycle rule, and use an empty prefix.",
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
    let open = objects.open_uploads.unwrap_or(0);
    let foreign = objects.foreign_objects.unwrap_or(0);
    let is_planned = job.objects.uploads != Uploads::WithParts;
    let (severity, sentence, advice) = if open > 0 {
        let severity = if is_planned { Severity::Explains } else { Severity::Caution };
        let sentence =
            format!("The phase left {} open uploads, whose parts take up space.", fmt::exact(open));
        (severity, sentence, "Abort the open uploads.")
    } else if foreign > 0 {
        let sentence = format!("The prefix had {} objects before the run.", fmt::exact(foreign));
        (Severity::Explains, sentence, "Use an empty prefix.")
    } else {
        return None;
    };
    let draft = job
        .draft("S28", severity, sentence)
        .evidence("open uploads", Quantity::count(open as f64), "ListMultipartUploads")
        .evidence("objects before the run", Quantity::count(foreign as f64), "ListObjectsV2")
        .advice(advice, None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn open_uploads_and_foreign_objects_are_named() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 8 << 20, 8, 90.0);
        assert_eq!(case.found(&RULE), []);
        case.http().objects.foreign_objects = Some(12);
        assert_eq!(case.found(&RULE)[0].sentence, "The prefix had 12 objects before the run.");
        case.http().objects.open_uploads = Some(3);
        let found = case.found(&RULE);
        assert_eq!(found[0].sentence, "The phase left 3 open uploads, whose parts take up space.");
        assert_eq!(found[0].severity, Severity::Caution);
        case.objects().uploads = Uploads::LeftOpen;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Explains);
    }
}
