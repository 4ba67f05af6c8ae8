//! S10: objects were read soon after they were written.

use candor_plan::work::Figure;
use candor_record::facts::value;
use candor_record::fmt;
use candor_record::http::AgeRange;
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{CACHE_MEMORY, READ_SOON_S};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S10",
        title: "a server cache is possible",
        explanation: "A server keeps recent uploads in memory, and nothing on the client's \
            side shows whether a read came from there. candor knows the ages of objects at their \
            first read, from its own uploads or from Last-Modified. If an object was younger than \
            10 minutes, or no age is known, a cache may have answered, and reads cannot be \
            verified. More data than twice the servers' memory rules a cache out: state this \
            memory as `server_memory` of the bucket. Otherwise wait, restart the servers, or state \
            that the cache is wanted (`wants_cache`).",
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
    let is_read = objects.reads > 0 && job.bytes_of(Figure::Read) > 0.0;
    if !is_read || job.job.wants_cache || exceeds_memory(observed, job) {
        return None;
    }
    let (severity, sentence) = match objects.age_s {
        None => {
            let sentence =
                "The age of the objects is unknown; a cache at the server may have answered.";
            (Severity::Unverified, sentence.into())
        }
        Some(AgeRange { min_s, .. }) if min_s >= READ_SOON_S.value => return None,
        Some(AgeRange { min_s, max_s }) => {
            let all = max_s < READ_SOON_S.value;
            let sentence = format!(
                "Objects were {} to {} old when read; a cache at the server may have answered.",
                fmt::time(min_s * 1e9),
                fmt::time(max_s * 1e9)
            );
            (if all { Severity::Unverified } else { Severity::Caution }, sentence)
        }
    };
    let memory = memory(observed, job);
    let draft = job
        .draft("S10", severity, sentence)
        .confidence(Confidence::Possible)
        .evidence("distinct bytes", Quantity::bytes(objects.distinct_bytes as f64), "candor")
        .evidence_if(memory.map(|bytes| {
            ("memory of the servers".into(), Quantity::bytes(bytes), "plan or this host".into())
        }))
        .advice(
            "Read more than twice the servers' memory (`server_memory`), wait, or restart them.",
            None,
        );
    Some(draft.done())
}

/// The memory of the servers cannot hold the data.
fn exceeds_memory(observed: &Observed, job: &ObjectJob) -> bool {
    let bytes = job.http.objects.distinct_bytes as f64;
    memory(observed, job).is_some_and(|memory| bytes >= CACHE_MEMORY.value * memory)
}

/// Memory of all servers: as the plan states it, or this host's if all of them are on it.
fn memory(observed: &Observed, job: &ObjectJob) -> Option<f64> {
    let buckets = job.buckets(observed);
    let stated = buckets.iter().filter_map(|bucket| bucket.server_memory);
    let stated = stated.map(|memory| memory.0 as f64).filter(|memory| *memory > 0.0);
    let peers = &job.http.peers;
    let is_local = !peers.is_empty() && peers.iter().all(|peer| peer.is_local);
    let own = value(&observed.facts.host.memory_bytes).filter(|_| is_local);
    stated.reduce(f64::max).or(own.map(|memory| *memory as f64))
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::{TestCase, fact};

    fn aged(age_s: Option<AgeRange>) -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Get, 1 << 20, 8, 300.0);
        case.http().objects.age_s = age_s;
        case
    }

    #[test]
    fn fresh_objects_cannot_be_verified() {
        let case = aged(Some(AgeRange { min_s: 2.0, max_s: 42.0 }));
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Objects were 2 s to 42 s old when read; a cache at the server may have answered."
        );
        assert_eq!(case.judge().verdict, Verdict::Unverified);
        assert_eq!(case.wanting_cache().found(&RULE), []);
        let mixed = aged(Some(AgeRange { min_s: 2.0, max_s: 9000.0 }));
        assert_eq!(mixed.judge().verdict, Verdict::Caution);
        assert_eq!(aged(None).judge().verdict, Verdict::Unverified);
    }

    #[test]
    fn old_objects_and_more_data_than_memory_are_silent() {
        assert_eq!(aged(Some(AgeRange { min_s: 7200.0, max_s: 9000.0 })).found(&RULE), []);
        let mut local = aged(None);
        local.http().peers[0].is_local = true;
        local.host.facts.host.memory_bytes = fact(1 << 30);
        assert_eq!(local.found(&RULE), []);
        let mut stated = aged(None);
        stated.plan.buckets[0].server_memory = Some(candor_plan::Bytes(1 << 30));
        assert_eq!(stated.found(&RULE), []);
        stated.plan.buckets[0].server_memory = Some(candor_plan::Bytes(1 << 33));
        assert_eq!(stated.found(&RULE).len(), 1);
        assert_eq!(TestCase::on_objects(ObjectOp::Put, 4096, 8, 9e3).found(&RULE), []);
    }
}
