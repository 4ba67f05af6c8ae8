//! S26: requests that moved or changed nothing.

use candor_record::fmt::{self, ratio};
use candor_record::{Finding, MeasuredInstead, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, total};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{IDLE, IDLE_MOST, REQUESTS_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S26",
        title: "requests without any work",
        explanation: "Some requests succeed without work. A DELETE of a missing key answers \
            204, a GET of an empty object moves no byte, and an aborted upload leaves nothing. A \
            GET of the same key again and again comes from memory. Benchmarks count all of them. \
            candor counts such requests apart. Above 0.1 % of the operations this is a caution; \
            from half on, the result is the rate of idle requests. Use objects that exist and have \
            bytes, and verify deletes by a list.",
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
    one_key(job).or_else(|| idle(job))
}

/// All reads were of one object.
fn one_key(job: &ObjectJob) -> Option<Finding> {
    let objects = &job.http.objects;
    let is_one = objects.distinct_reads == 1 && objects.reads as f64 >= REQUESTS_MIN.value;
    // Ranges of a large object are different bytes.
    if !is_one || job.objects.range.is_some() || job.job.wants_cache {
        return None;
    }
    let sentence = format!(
        "All {} reads fetched one object; the server's memory holds it.",
        fmt::count(objects.reads as f64)
    );
    let draft = job
        .draft("S26", Severity::Wrong, sentence)
        .measures(MeasuredInstead::ServerCache)
        .evidence("distinct objects", Quantity::count(1.0), "candor")
        .advice("Read many objects, each once.", None);
    Some(draft.done())
}

fn idle(job: &ObjectJob) -> Option<Finding> {
    let objects = &job.http.objects;
    let kinds = [
        ("reads of empty objects", objects.empty_reads),
        ("deletes of missing objects", objects.missing_deletes.unwrap_or(0)),
        ("aborted uploads", objects.aborted_uploads),
    ];
    let (kind, most) = kinds.into_iter().max_by_key(|(_, count)| *count)?;
    let all = total(kinds.map(|(_, count)| count));
    let work = job.done().max(objects.keys_deleted as f64);
    let share = ratio(all as f64, work);
    if share <= IDLE.value {
        return None;
    }
    let sentence = format!(
        "{} of {} operations were without work ({kind}: {}).",
        fmt::exact(all),
        fmt::count(work),
        fmt::exact(most)
    );
    let is_most = share >= IDLE_MOST.value;
    let draft = job
        .draft("S26", if is_most { Severity::Wrong } else { Severity::Caution }, sentence)
        .evidence("operations without work", Quantity::share(share), "candor")
        .advice("Use objects that exist and have bytes; verify deletes by a list.", None);
    Some(if is_most { draft.measures(MeasuredInstead::IdleRequests).done() } else { draft.done() })
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn deletes_of_missing_keys_are_no_work() {
        let mut case = TestCase::on_objects(ObjectOp::Delete, 0, 4, 3000.0);
        assert_eq!(case.found(&RULE), []);
        case.http().objects.missing_deletes = Some(29_000);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "29,000 of 30k operations were without work (deletes of missing objects: 29,000)."
        );
        assert_eq!(case.judge().verdict, Verdict::Wrong);
        case.http().objects.missing_deletes = Some(60);
        assert_eq!(case.judge().verdict, Verdict::Caution);
    }

    #[test]
    fn one_key_is_the_servers_memory() {
        let mut case = TestCase::on_objects(ObjectOp::Get, 4096, 4, 3000.0);
        case.http().objects.distinct_reads = 1;
        assert!(case.found(&RULE)[0].sentence.starts_with("All 30k reads fetched one object"));
        let judgement = case.judge();
        assert!(judgement.headline.contains("(the server's cache)"), "{}", judgement.headline);
        case.objects().range = Some(candor_plan::Bytes(4096));
        assert_eq!(case.found(&RULE), []);
    }
}
