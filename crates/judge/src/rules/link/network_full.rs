//! D5: the network to a file server is the limit.

use candor_record::facts::{Remote, value};
use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::bound::{Bound, Kind};
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::object_jobs;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::shared::{self, interface_bytes};
use crate::stage::Stage;
use crate::thresholds::CARRIED;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D5",
        title: "the network is the limit",
        explanation: "A network filesystem is no faster than the interface to its server: 10 Gb/s \
            carry 1177 MB/s of data in packets of 1500 bytes. candor reads the server's address \
            from the mount table, the interface from the routing table and its speed from sysfs. \
            candor also checks that the bytes really passed the interface. An interface without a \
            reported speed (loopback, many virtual interfaces) gives no result. Use more \
            connections over more links, or a faster link; one connection uses one member of a \
            bond. For object stores, the bytes of all requests are compared with the interface to \
            the servers.",
    },
    stage: Stage::LinkFull,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if let Some(found) = to_object_servers(observed) {
        return Outcome::one(found);
    }
    let targets = observed.targets();
    let remotes: Vec<&Remote> = targets.iter().filter_map(|t| t.remote.as_ref()).collect();
    if remotes.is_empty() || observed.ran.is_empty() {
        return Outcome::Nothing;
    }
    if remotes.iter().all(|remote| remote.link.is_none()) {
        return Outcome::lacks("the speed of the interface to the server");
    }
    let found = remotes.iter().filter_map(|remote| of(observed, remote));
    found.take(1).collect::<Vec<_>>().into()
}

fn of(observed: &Observed, remote: &Remote) -> Option<Finding> {
    let link = remote.link.as_ref()?;
    let element = shared::network_of(&link.at);
    let mut bounds = ceilings::bounds(observed).into_iter();
    let bound = bounds.find(|b| b.kind == Kind::Network && b.ceiling.element == element)?;
    let used = bound.reached()?;
    let (from, to) = (&observed.host.before, &observed.host.after);
    let (received, sent) = interface_bytes(from, to, remote)?;
    let carried = received.max(sent) >= CARRIED.value * observed.app(observed.main_op()).bytes;
    carried.then(|| finding(observed, remote, &bound, used))
}

/// The interface to the servers of objects.
fn to_object_servers(observed: &Observed) -> Option<Finding> {
    let jobs = object_jobs::ran(observed);
    let bounds = shared::server_links(observed);
    let (bound, used) = bounds.iter().find_map(|bound| Some((bound, bound.reached()?)))?;
    let mut links = jobs.iter().flat_map(|job| &job.http.links);
    let link = links.find(|link| shared::network_of(&link.interface) == bound.ceiling.element)?;
    let peer = jobs.iter().flat_map(|job| &job.http.peers).next()?;
    Some(draft(bound, used, &link.interface, &peer.endpoint).done())
}

fn draft(bound: &Bound, used: f64, interface: &str, server: &str) -> FindingBuilder {
    let most = bound.ceiling.bytes_per_s.unwrap_or(0.0);
    let sentence = format!(
        "{} is {} of the ceiling of {interface} to {server} ({}): the network is the limit.",
        fmt::rate(used * most),
        fmt::percent(used),
        fmt::rate_decimal(most)
    );
    FindingBuilder::new("D5", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::Network { interface: interface.to_owned() })
        .evidence("ceiling", Quantity::bytes_per_s(most), bound.ceiling.arithmetic.clone())
        .evidence("used", Quantity::share(used), "candor")
        .advice("Use more connections (nconnect, multichannel), more links or a faster one.", None)
}

fn finding(observed: &Observed, remote: &Remote, bound: &Bound, used: f64) -> Finding {
    let interface = value(&remote.interface).map_or("the interface", String::as_str);
    let retransmits = || {
        let before = observed.host.before.state.tcp_retransmits?;
        let again = observed.host.after.state.tcp_retransmits?.checked_sub(before)?;
        Some(("segments sent again".into(), Quantity::count(again as f64), "/proc/net/snmp".into()))
    };
    let members = (!remote.members.is_empty()).then(|| {
        ("members of the bond".into(), remote.members.join(", "), "bonding/slaves".into())
    });
    draft(bound, used, interface, &remote.server.value)
        .evidence_if(members)
        .evidence_if(retransmits())
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::http::ServerLink;

    use super::*;
    use crate::testcase::{MIB, TestCase};

    #[test]
    fn most_of_ten_gigabits_is_the_network() {
        let case = TestCase::direct(MIB, 8, 1, 1100.0).on_nfs(10_000);
        let found = case.found(&RULE);
        assert!(
            found[0].sentence.starts_with(
                "1.15 GB/s (1.07 GiB/s) is 98 % of the ceiling of eth1 to 10.0.0.9 (1.18 GB/s)"
            ),
            "{}",
            found[0].sentence
        );
        assert_eq!(case.judge().limit().as_deref(), Some("the network (eth1)"));
    }

    #[test]
    fn requests_for_objects_fill_an_interface_too() {
        let mut case = TestCase::on_objects(ObjectOp::Get, 8 << 20, 8, 135.0);
        case.http().links.push(ServerLink {
            interface: "eth1".into(),
            ceiling_bytes_per_s: Some(1_176_850_000),
            arithmetic: "10000 Mb/s ÷ 8 × 1448/1538".into(),
        });
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("of eth1 to http://192.0.2.7:7070"), "{found:?}");
        let judgement = case.judge();
        assert_eq!(judgement.limit().as_deref(), Some("the network (eth1)"));
        assert_eq!(judgement.ceilings[0].element, "network of eth1");
        assert_eq!(TestCase::on_objects(ObjectOp::Get, 8 << 20, 8, 135.0).found(&RULE), []);
    }

    #[test]
    fn what_did_not_pass_the_interface_is_not_its_limit() {
        let mut case = TestCase::direct(MIB, 8, 1, 1100.0).on_nfs(10_000);
        case.host.after.state.interfaces[0].received_bytes = 1000;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::direct(MIB, 8, 1, 500.0).on_nfs(10_000).found(&RULE), []);
        assert_eq!(TestCase::direct(MIB, 8, 1, 500.0).found(&RULE), []);
    }

    #[test]
    fn an_unknown_speed_gives_no_claim() {
        let mut case = TestCase::direct(MIB, 8, 1, 1100.0).on_nfs(10_000);
        case.host.facts.targets[0].remote.as_mut().unwrap().link = None;
        assert!(case.lacked(&RULE).unwrap().contains("speed of the interface"));
        assert!(case.judge().finding("D9").is_none());
    }
}
