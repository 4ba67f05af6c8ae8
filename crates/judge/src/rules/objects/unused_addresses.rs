//! S3: not all addresses of the servers carried their share.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::PEER_SHARE;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S3",
        title: "not all addresses were used",
        explanation: "Object stores have several nodes, by a list of endpoints or by a name \
            with several addresses. A client that keeps to one address measures one node. candor \
            resolves all addresses, and counts requests per peer. Addresses that were not used \
            although the depth permits it are a caution, and so is an address with 1.5 times its \
            share. Addresses of the other IP family count as the same nodes. Deal connections over \
            all addresses, or list all endpoints.",
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
    let used: Vec<_> = job.http.peers.iter().filter(|peer| peer.attempts > 0).collect();
    let most = used.iter().max_by_key(|peer| peer.attempts)?;
    let all = addresses(job, is_v6(&most.address));
    let share = ratio(most.attempts as f64, job.attempts());
    if all < 2 || job.http.in_flight_max < all as u64 || !job.has_many() {
        return None;
    }
    let sentence = if used.len() < all {
        let (used, answered) = (used.len(), if used.len() == 1 { "address" } else { "addresses" });
        format!("{used} {answered} of {all} answered all requests; the others were not measured.")
    } else if share > PEER_SHARE.value / all as f64 {
        format!(
            "{} answered {} of the requests; {all} addresses should share them evenly.",
            most.address,
            fmt::percent(share)
        )
    } else {
        return None;
    };
    let draft = job
        .draft("S3", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("addresses of the endpoints", Quantity::count(all as f64), "name lookup")
        .evidence("addresses in use", Quantity::count(used.len() as f64), "peers")
        .evidence("largest share", Quantity::share(share), "peers")
        .advice("Deal connections over all addresses, or list all endpoints.", None);
    Some(draft.done())
}

/// Distinct addresses of one IP family.
fn addresses(job: &ObjectJob, v6: bool) -> usize {
    let endpoints = job.http.endpoints.iter();
    let all = endpoints.flat_map(|endpoint| &endpoint.addresses);
    let mut all: Vec<&String> = all.filter(|address| is_v6(address) == v6).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

fn is_v6(address: &str) -> bool {
    address.matches(':').count() > 1
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    fn four_addresses() -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Get, 65_536, 8, 2000.0);
        case.http().endpoints[0].addresses =
            ["192.0.2.7", "192.0.2.8", "192.0.2.9", "192.0.2.10", "2001:db8::7"]
                .map(String::from)
                .to_vec();
        case
    }

    #[test]
    fn one_address_of_four_is_one_node() {
        let case = four_addresses();
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "1 address of 4 answered all requests; the others were not measured."
        );
    }

    #[test]
    fn an_even_share_is_silent_and_an_uneven_one_is_not() {
        let mut case = four_addresses();
        let mut peers = vec![case.http().peers[0].clone(); 4];
        for (last, peer) in (7..).zip(&mut peers) {
            (peer.address, peer.attempts) = (format!("192.0.2.{last}:7070"), 5000);
        }
        case.http().peers = peers;
        assert_eq!(case.found(&RULE), []);
        case.http().peers[0].attempts = 11_000;
        assert!(case.found(&RULE)[0].sentence.starts_with("192.0.2.7:7070 answered 55 % of"));
    }

    #[test]
    fn a_lower_depth_cannot_use_all() {
        let mut case = four_addresses();
        case.http().in_flight_max = 2;
        assert_eq!(case.found(&RULE), []);
    }
}
