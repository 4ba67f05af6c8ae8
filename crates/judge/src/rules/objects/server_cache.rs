//! S9: the cache of the servers answered repeated reads.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, MeasuredInstead, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{REQUESTS_MIN, REREAD_FASTER, REREADS, REREADS_MOST};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S9",
        title: "repeated reads came faster",
        explanation: "Object stores cache hot objects in the memory of gateways and storage \
            nodes. If a benchmark reads the same objects again, later reads measure this cache. \
            candor counts distinct objects, and keeps the latencies of first and later reads apart. \
            With more than 1.1 reads per object, and later reads in at most 0.7 times the latency of \
            first reads, a cache answered. If most reads were repetitions, the result is the \
            cache's. Read each object once (permutation), or use data of more than twice the \
            servers' memory.",
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
    let (first, later) = (objects.first_read.as_ref()?, objects.later_reads.as_ref()?);
    let per_object = ratio(objects.reads as f64, objects.distinct_reads as f64);
    let times = ratio(later.mean_ns, first.mean_ns);
    let has_many = first.count.min(later.count) as f64 >= REQUESTS_MIN.value;
    if !has_many || per_object <= REREADS.value || times > REREAD_FASTER.value {
        return None;
    }
    let sentence = format!(
        "Repeated reads took {}, first reads {} ({} reads per object): a cache at the server \
         answered.",
        fmt::time(later.mean_ns),
        fmt::time(first.mean_ns),
        fmt::number(per_object)
    );
    let is_most = per_object >= REREADS_MOST.value;
    let draft = job
        .draft("S9", if is_most { Severity::Wrong } else { Severity::Caution }, sentence)
        .confidence(Confidence::Likely)
        .measures(MeasuredInstead::ServerCache)
        .evidence("reads per object", Quantity::ratio(per_object), "candor")
        .evidence("mean latency of first reads", Quantity::ns(first.mean_ns), "candor")
        .evidence("mean latency of later reads", Quantity::ns(later.mean_ns), "candor")
        .advice("Read each object once, or use more data than the servers' memory.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::{TestCase, latency};

    fn repeated(distinct: u64, later_ns: f64) -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Get, 65_536, 8, 2000.0);
        let objects = &mut case.http().objects;
        objects.distinct_reads = distinct;
        objects.first_read = Some(latency(distinct, 6e6));
        objects.later_reads = Some(latency(20_000 - distinct, later_ns));
        case
    }

    #[test]
    fn faster_repetitions_are_the_servers_cache() {
        let case = repeated(4000, 2e6);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Repeated reads took 2 ms, first reads 6 ms (5 reads per object): a cache at the \
             server answered."
        );
        assert_eq!(case.judge().verdict, Verdict::Wrong);
        assert_eq!(case.wanting_cache().judge().verdict, Verdict::Ok, "the plan wants it");
        assert_eq!(repeated(15_000, 2e6).judge().verdict, Verdict::Caution);
    }

    #[test]
    fn equal_repetitions_and_single_reads_are_silent() {
        assert_eq!(repeated(4000, 5.9e6).found(&RULE), []);
        assert_eq!(repeated(19_000, 2e6).found(&RULE), []);
        assert_eq!(TestCase::on_objects(ObjectOp::Get, 4096, 8, 9e3).found(&RULE), []);
    }
}
