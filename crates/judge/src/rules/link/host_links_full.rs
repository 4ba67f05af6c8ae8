//! D12: the links of all hosts were full at once.

use candor_record::facts::{Remote, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::bound::{Bound, Kind};
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::observed::{Observed, OnHost};
use crate::parts::all_of;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D12",
        title: "links of all hosts full",
        explanation: "If the link of every client is full at once, the clients limit the sum, and \
            the storage may have more to give. candor adds up the speeds of the hosts' interfaces \
            to the servers, and compares each speed with the traffic of its host. Agents on one \
            kernel count once. Add clients or faster links until the rate stays the same although \
            the links are not full: the storage is then the limit.",
    },
    stage: Stage::LinkFull,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.hosts.len() < 2 {
        return Outcome::Nothing;
    }
    let full: Option<Vec<(Bound, f64)>> = observed.hosts.iter().map(full).collect();
    full.map_or(Outcome::Nothing, |full| Outcome::one(finding(observed, &full)))
}

/// The network of a host that was full, and the share of it that was used.
fn full(on: &OnHost) -> Option<(Bound, f64)> {
    let networks = ceilings::bounds(&on.observed).into_iter().filter(|b| b.kind == Kind::Network);
    networks.filter_map(|bound| bound.reached().map(|used| (bound, used))).next()
}

fn finding(observed: &Observed, full: &[(Bound, f64)]) -> Finding {
    let most = |bound: &Bound| bound.ceiling.bytes_per_s.unwrap_or(0.0);
    let all: f64 = full.iter().map(|(bound, _)| most(bound)).sum();
    let moved: f64 = full.iter().map(|(bound, used)| used * most(bound)).sum();
    let hosts = all_of(full.len());
    let sentence = format!(
        "The links of {hosts} were full, {} of the {} of all links together: the clients' links \
         are the limit, not the storage.",
        fmt::percent(ratio(moved, all)),
        fmt::rate_decimal(all)
    );
    let remotes = observed.hosts.iter().flat_map(|on| on.observed.targets());
    let remotes = remotes.filter_map(|target| target.remote.as_ref());
    let mut names: Vec<&str> = remotes.filter_map(interface).collect();
    names.dedup();
    let interface = match names.as_slice() {
        [one] => format!("{one} of {hosts}"),
        _ => format!("of {hosts}"),
    };
    FindingBuilder::new("D12", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::Network { interface })
        .evidence(
            "links together",
            Quantity::bytes_per_s(all),
            full[0].0.ceiling.arithmetic.clone(),
        )
        .evidence("used", Quantity::share(ratio(moved, all)), "candor")
        .advice("Add clients or faster links; the storage may have more to give.", None)
        .done()
}

fn interface(remote: &Remote) -> Option<&str> {
    value(&remote.interface).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, together};

    fn on_links(mib_per_s: &[f64]) -> TestCase {
        let hosts = mib_per_s.iter().map(|mib| TestCase::direct(MIB, 8, 1, *mib).on_nfs(10_000));
        together(&hosts.collect::<Vec<_>>())
    }

    #[test]
    fn links_that_are_all_full_are_the_limit() {
        let case = on_links(&[1100.0, 1090.0]);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "The links of both hosts were full, 98 % of the 2.35 GB/s of all links together: the \
             clients' links are the limit, not the storage."
        );
        let judged = case.judge();
        assert_eq!(judged.limit().as_deref(), Some("the network (eth1 of both hosts)"));
        let d12 = judged.finding("D12").expect("it is told");
        assert_eq!(d12.consequences[0].rule, "D5", "one finding instead of two");
    }

    #[test]
    fn one_link_with_room_left_is_not() {
        assert_eq!(on_links(&[1100.0, 500.0]).found(&RULE), []);
        let mut alone = on_links(&[1100.0, 1100.0]);
        alone.record.hosts.truncate(1);
        assert_eq!(alone.found(&RULE), []);
    }
}
