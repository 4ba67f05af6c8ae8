//! D5: the network to a file server is the limit.

use candor_record::facts::{Remote, value};
use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::bound::{Bound, Kind};
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::shared::interface_bytes;
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
            bond.",
    },
    stage: Stage::LinkFull,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
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
    let element = format!("network of {}", link.at);
    let mut bounds = ceilings::bounds(observed).into_iter();
    let bound = bounds.find(|b| b.kind == Kind::Network && b.ceiling.element == element)?;
    let used = bound.reached()?;
    let (from, to) = (&observed.host.before, &observed.host.after);
    let (received, sent) = interface_bytes(from, to, remote)?;
    let carried = received.max(sent) >= CARRIED.value * observed.app(observed.main_op()).bytes;
    carried.then(|| finding(observed, remote, &bound, used))
}

fn finding(observed: &Observed, remote: &Remote, bound: &Bound, used: f64) -> Finding {
    let most = bound.ceiling.bytes_per_s.unwrap_or(0.0);
    let interface = value(&remote.interface).map_or("the interface", String::as_str);
    let sentence = format!(
        "{} is {} of the ceiling of {interface} to {} ({}): the network is the limit.",
        fmt::rate(used * most),
        fmt::percent(used),
        remote.server.value,
        fmt::rate_decimal(most)
    );
    let retransmits = || {
        let before = observed.host.before.state.tcp_retransmits?;
        let again = observed.host.after.state.tcp_retransmits?.checked_sub(before)?;
        Some(("segments sent again".into(), Quantity::count(again as f64), "/proc/net/snmp".into()))
    };
    let members = (!remote.members.is_empty()).then(|| {
        ("members of the bond".into(), remote.members.join(", "), "bonding/slaves".into())
    });
    FindingBuilder::new("D5", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::Network { interface: interface.to_owned() })
        .evidence("ceiling", Quantity::bytes_per_s(most), bound.ceiling.arithmetic.clone())
        .evidence("used", Quantity::share(used), "candor")
        .evidence_if(members)
        .evidence_if(retransmits())
        .advice("Use more connections (nconnect, multichannel), more links or a faster one.", None)
        .done()
}

#[cfg(test)]
mod tests {
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
