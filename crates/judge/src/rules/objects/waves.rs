//! S25: requests came in waves.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{IN_FLIGHT_WAVES, WAVES_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S25",
        title: "requests came in waves",
        explanation: "Some clients wait for a whole group of requests before they start the \
            next group. Most connections are idle while the slowest request of a group ends. The \
            depth in their output is then a maximum, not a mean. candor integrates the number of \
            requests in flight over time. If the mean is below 70 % of the permitted number while \
            work remained, without a planned rate, this is a caution. Refill each slot at once, \
            and give workers enough objects.",
    },
    stage: Stage::Queue,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(_: &Observed, job: &ObjectJob) -> Option<Finding> {
    let share = job.share_in_flight();
    let most = job.http.in_flight_max as f64;
    let is_known = job.http.in_flight_ns > 0 && most >= WAVES_MIN.value && job.has_many();
    if !is_known || job.is_paced() || share >= IN_FLIGHT_WAVES.value {
        return None;
    }
    let sentence = format!(
        "Only {} of {} permitted requests were in flight on average.",
        fmt::number(job.in_flight()),
        fmt::count(most)
    );
    let lost = ratio(most - job.in_flight(), most);
    let draft = job
        .draft("S25", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .lost_at_most(lost)
        .evidence("mean requests in flight", Quantity::count(job.in_flight()), "candor")
        .evidence(
            "most requests in flight",
            Quantity::count(job.http.in_flight_seen as f64),
            "candor",
        )
        .advice("Give each worker more objects in progress (`objects_at_once`).", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn half_of_the_depth_is_waves() {
        let mut case = TestCase::on_objects(ObjectOp::Get, 65_536, 16, 2000.0);
        assert_eq!(case.found(&RULE), []);
        case.http().in_flight_ns = 80_000_000_000;
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Only 8 of 16 permitted requests were in flight on average."
        );
        case.objects().pace.ops = Some(candor_plan::OpsPerSec(2000));
        assert_eq!(case.found(&RULE), [], "the plan sets the rate");
    }
}
