//! S4: one server is slower than the others.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{PEER_SLOW, REQUESTS_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S4",
        title: "one server is slower",
        explanation: "Requests spread over several nodes, and the slowest one holds the \
            connections longest. candor keeps the latency to the first byte for each peer. If the \
            medians of two peers with at least 100 requests each differ by more than a factor of \
            1.5, the slower one is named. The cause is at the server: a rebuild, a full disk, \
            another rack, or a longer way. Test the named address alone, and compare it with the \
            others.",
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
    let medians = job.http.peers.iter().filter_map(|peer| {
        let latency = peer.first_byte.as_ref()?;
        let has_many = latency.count as f64 >= REQUESTS_MIN.value;
        let median = latency.percentile_ns(50.0).filter(|_| has_many)?;
        Some((peer, median))
    });
    let mut medians: Vec<_> = medians.collect();
    medians.sort_by_key(|(_, median)| *median);
    let ((slow, slowest), (_, fastest)) = (medians.last()?, medians.first()?);
    let times = ratio(*slowest as f64, *fastest as f64);
    if times <= PEER_SLOW.value {
        return None;
    }
    let sentence = format!(
        "{} took {} to the first byte (median), {} times as long as the fastest of {} servers.",
        slow.address,
        fmt::time(*slowest as f64),
        fmt::number(times),
        medians.len()
    );
    let draft = job
        .draft("S4", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("slowest median to the first byte", Quantity::ns(*slowest as f64), "peers")
        .evidence("fastest median to the first byte", Quantity::ns(*fastest as f64), "peers")
        .advice("Test that address alone, and compare it with the others.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::{TestCase, latency};

    fn three(slowest_ns: f64) -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Get, 65_536, 8, 2000.0);
        let mut peers = vec![case.http().peers[0].clone(); 3];
        for (peer, mean_ns) in peers.iter_mut().zip([2e6, 2.2e6, slowest_ns]) {
            peer.first_byte = Some(latency(6000, mean_ns));
        }
        peers[2].address = "192.0.2.9:7070".into();
        case.http().peers = peers;
        case
    }

    #[test]
    fn a_slow_node_is_named() {
        assert_eq!(
            three(9e6).found(&RULE)[0].sentence,
            "192.0.2.9:7070 took 9 ms to the first byte (median), 4.5 times as long as the fastest \
             of 3 servers."
        );
    }

    #[test]
    fn equal_nodes_are_silent() {
        assert_eq!(three(2.5e6).found(&RULE), []);
        let mut few = three(9e6);
        few.http().peers[2].first_byte = Some(latency(20, 9e6));
        assert_eq!(few.found(&RULE), []);
    }
}
