//! S18: the server runs on this host.

use candor_record::fmt::{self, ratio};
use candor_record::{Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, total};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S18",
        title: "the server shares this host",
        explanation: "If the server has an address of this host, requests cross no network, and \
            client and server compete for its CPUs, memory and page cache. No counter separates \
            the two: the page cache of this host can answer, and CPU time of the client slows the \
            server down. candor compares the peer of each connection with the addresses of this \
            host. The result is unverified. Run the client on another host.",
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
    let local = job.http.peers.iter().find(|peer| peer.is_local && peer.attempts > 0)?;
    let of_local = job.http.peers.iter().filter(|peer| peer.is_local);
    let attempts = total(of_local.map(|peer| peer.attempts));
    let share = ratio(attempts as f64, job.attempts());
    let sentence = format!(
        "{} is this host: {} of the requests crossed no network and shared its CPUs.",
        local.address,
        fmt::percent(share)
    );
    let draft = job
        .draft("S18", Severity::Unverified, sentence)
        .evidence("requests to this host", Quantity::share(share), "addresses of the peers")
        .advice("Run the client on another host than the server.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn a_server_on_loopback_cannot_be_verified() {
        let mut case = TestCase::on_objects(ObjectOp::Put, 4096, 1, 3900.0);
        assert_eq!(case.found(&RULE), []);
        let peer = &mut case.http().peers[0];
        (peer.address, peer.is_local) = ("127.0.0.1:7070".into(), true);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "127.0.0.1:7070 is this host: 100 % of the requests crossed no network and shared its \
             CPUs."
        );
        let judgement = case.judge();
        assert_eq!(judgement.verdict, Verdict::Unverified);
        assert!(judgement.headline.starts_with("Cannot be verified: 127.0.0.1:7070 is this host"));
    }
}
