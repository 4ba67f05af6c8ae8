//! S22: ranges cross the borders of uploaded parts.

use candor_record::fmt::{self, ratio};
use candor_record::{Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{ACROSS_PARTS, REQUESTS_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S22",
        title: "ranges cross part borders",
        explanation: "An object that was uploaded in parts is stored in parts. A range that \
            touches two parts makes the server read from two places, often on different disks or \
            nodes. candor reads the part size from the server (HEAD with partNumber), and counts \
            ranges that touch two parts. Read ranges of the part size, from multiples of it, or read \
            by part number (`by_part_number`).",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(observed: &Observed, job: &ObjectJob) -> Option<Finding> {
    let objects = &job.http.objects;
    let share = ratio(objects.ranges_across_parts as f64, objects.ranges as f64);
    if (objects.ranges as f64) < REQUESTS_MIN.value || share <= ACROSS_PARTS.value {
        return None;
    }
    let part = objects.part_bytes.filter(|bytes| *bytes > 0);
    let sentence = format!(
        "{} of the ranges touch two parts of their object{}.",
        fmt::percent(share),
        part.map_or(String::new(), |part| format!(" (parts of {})", fmt::size(part as f64)))
    );
    let draft = job
        .draft("S22", Severity::Explains, sentence)
        .evidence("ranges across parts", Quantity::share(share), "candor")
        .evidence_if(part.map(|part| {
            let part = Quantity::bytes(part as f64);
            ("size of the parts".into(), part, "x-amz-mp-parts-count, Content-Length".into())
        }))
        .advice("Read ranges of the part size, from multiples of it.", None)
        .changes(part.map_or(Vec::new(), |part| {
            job.with(observed, "work.objects.range", &part.to_string())
        }));
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::{TestCase, proposes};

    #[test]
    fn ranges_over_borders_are_named() {
        let mut case = TestCase::on_objects(ObjectOp::Get, 5 << 20, 8, 100.0);
        let objects = &mut case.http().objects;
        (objects.ranges, objects.part_bytes) = (1000, Some(8 << 20));
        assert_eq!(case.found(&RULE), []);
        case.http().objects.ranges_across_parts = 500;
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "50 % of the ranges touch two parts of their object (parts of 8 MiB)."
        );
        assert!(proposes(&found[0], "range=8388608"));
    }
}
