//! D11: the link of one of several hosts to the server is slower.

use candor_record::facts::{Link, Remote, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Finding, Quantity, Severity};
use candor_stats::median;

use crate::bound::app_rates;
use crate::builder::FindingBuilder;
use crate::observed::{Observed, OnHost};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{CEILING_NEAR, SLOW_LINK};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D11",
        title: "one host's link is slower",
        explanation: "All clients of one server should have links of the same speed. candor reads \
            each host's interface to the server and its speed from sysfs. candor reports a host \
            with a link below 90 % of the median of the other hosts: a port that negotiated a \
            lower speed, a bond that lost a member, another network. The severity is caution if \
            the host filled its link. Check the port, its cable and the switch.",
    },
    stage: Stage::Link,
    limit: None,
    before: None,
    after,
};

/// A host whose link carries less than those of the others.
pub struct SlowLink<'a> {
    /// Place among the hosts that were observed.
    pub at: usize,
    remote: &'a Remote,
    link: &'a Link,
    others: f64,
}

fn after(observed: &Observed) -> Outcome {
    let remotes = observed.hosts.iter().filter(|on| remote(on).is_some()).count();
    let links = observed.hosts.iter().filter(|on| link(on).is_some()).count();
    if remotes > 1 && links < 2 {
        return Outcome::lacks("the speed of the interface to the server on several hosts");
    }
    slow(observed).iter().map(|slow| finding(observed, slow)).collect::<Vec<_>>().into()
}

/// The server of a host's first target that has one.
fn remote<'a>(on: &OnHost<'a>) -> Option<&'a Remote> {
    on.observed.targets().into_iter().find_map(|target| target.remote.as_ref())
}

fn link<'a>(on: &OnHost<'a>) -> Option<(&'a Remote, &'a Link)> {
    let remote = remote(on)?;
    Some((remote, remote.link.as_ref()?))
}

/// Hosts whose links to the server carry less than those of the others.
pub fn slow<'a>(observed: &Observed<'a>) -> Vec<SlowLink<'a>> {
    let links: Vec<_> = observed.hosts.iter().map(link).collect();
    let of = |(at, own): (usize, &Option<(&'a Remote, &'a Link)>)| {
        let (remote, link) = (*own)?;
        let to_same = |(other, (to, _)): &(usize, &(&Remote, &Link))| {
            *other != at && to.server.value == remote.server.value
        };
        let known = links.iter().enumerate().filter_map(|(at, link)| Some((at, link.as_ref()?)));
        let others = known.filter(to_same).map(|(_, (_, link))| link.ceiling_bytes_per_s as f64);
        let others = median(&others.collect::<Vec<_>>())?;
        let is_slow = (link.ceiling_bytes_per_s as f64) < SLOW_LINK.value * others;
        is_slow.then_some(SlowLink { at, remote, link, others })
    };
    links.iter().enumerate().filter_map(of).collect()
}

fn finding(observed: &Observed, slow: &SlowLink) -> Finding {
    let on = &observed.hosts[slow.at];
    let most = slow.link.ceiling_bytes_per_s as f64;
    let passed = app_rates(&on.observed).map_or(0.0, |(read, write)| read.max(write));
    let used = ratio(passed, most);
    let is_full = used >= CEILING_NEAR.value;
    let interface = value(&slow.remote.interface).map_or("the interface", String::as_str);
    let sentence = format!(
        "{interface} of {} carries {} to {}, compared with {} on the links of the other hosts{}.",
        on.name,
        fmt::rate_decimal(most),
        slow.remote.server.value,
        fmt::rate_decimal(slow.others),
        if is_full { "; this link was full" } else { "" }
    );
    let severity = if is_full { Severity::Caution } else { Severity::Explains };
    FindingBuilder::new("D11", severity, sentence)
        .evidence(
            "link of this host",
            Quantity::bytes_per_s(most),
            slow.link.negotiated.from.clone(),
        )
        .evidence("median of the other hosts", Quantity::bytes_per_s(slow.others), "candor")
        .evidence("used", Quantity::share(used), "candor")
        .advice("Check the speed of the port (ethtool), its cable and the switch.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, together};

    fn on_links(mbit_per_s: &[u64], mib_per_s: &[f64]) -> TestCase {
        let host = |(mbit, mib): (&u64, &f64)| TestCase::direct(MIB, 8, 1, *mib).on_nfs(*mbit);
        let cases: Vec<_> = mbit_per_s.iter().zip(mib_per_s).map(host).collect();
        together(&cases)
    }

    #[test]
    fn a_gigabit_among_tens_is_named() {
        let found = on_links(&[10_000, 1000, 10_000], &[500.0, 110.0, 500.0]).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "eth1 of node-b carries 118 MB/s to 10.0.0.9, compared with 1.18 GB/s on the links of \
             the other hosts; this link was full."
        );
        assert_eq!((found.len(), found[0].severity), (1, Severity::Caution));
        let idle = on_links(&[10_000, 1000, 10_000], &[50.0, 50.0, 50.0]).found(&RULE);
        assert_eq!(idle[0].severity, Severity::Explains);
    }

    #[test]
    fn like_links_local_disks_and_unknown_speeds_are_not() {
        assert_eq!(on_links(&[10_000; 3], &[500.0, 110.0, 500.0]).found(&RULE), []);
        let local = TestCase::direct(MIB, 8, 1, 500.0);
        assert_eq!(together(&[local.clone(), local]).found(&RULE), []);
        let mut unknown = on_links(&[10_000, 1000, 10_000], &[500.0; 3]);
        for host in &mut unknown.record.hosts {
            host.facts.targets[0].remote.as_mut().unwrap().link = None;
        }
        assert!(unknown.lacked(&RULE).is_some());
    }
}
