//! D10: several devices share a link, and that is full.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::shared::{self, Hop};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D10",
        title: "a shared link is full",
        explanation: "Drives on one switch, expander, hub or host adapter share its link to the \
            host: each drive is fast alone, and all together are no faster than the shared link. \
            candor checks every link between host and devices, adds up the traffic on shared \
            links, and reports a link at 85 % and above. Spread the drives over more links, or \
            treat the link as the limit of all drives.",
    },
    stage: Stage::Link,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.working_top().is_none() {
        return Outcome::Nothing;
    }
    let shared = shared::hops(observed).into_iter().filter(|hop| hop.devices.len() > 1);
    let full = shared.filter_map(|hop| {
        let used = hop.bound(observed).reached()?;
        // One device that fills it alone shares nothing.
        let busy = hop.devices.iter().filter(|device| moved(observed, &device.name)).count();
        (busy > 1).then_some((used, hop))
    });
    // Of hops in a row the one with the least room is the limit.
    let fullest = full.max_by(|a, b| a.0.total_cmp(&b.0));
    fullest.map_or(Outcome::Nothing, |(used, hop)| Outcome::one(finding(&hop, used)))
}

fn moved(observed: &Observed, name: &str) -> bool {
    let flow = observed.flow_of(name);
    flow.is_some_and(|flow| flow.bytes() >= crate::thresholds::BYTES_MIN.value)
}

fn finding(hop: &Hop, used: f64) -> Finding {
    let link = hop.link;
    let most = link.ceiling_bytes_per_s as f64;
    let sentence = format!(
        "{} devices ({}) share the {} link {} ({}, {}); together they use {} of it.",
        hop.devices.len(),
        hop.names(),
        link.kind,
        link.at,
        link.negotiated.value,
        fmt::rate_decimal(most),
        fmt::percent(used)
    );
    FindingBuilder::new("D10", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::SharedLink { link: link.kind.clone(), devices: hop.devices.len() as u64 })
        .evidence("ceiling", Quantity::bytes_per_s(most), link.arithmetic.clone())
        .evidence("used", Quantity::share(used), "/sys/class/block/*/stat")
        .advice("Spread the devices over more links.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    fn uplink(ops_per_s: f64, shares: &[f64]) -> TestCase {
        let case = TestCase::direct(MIB, 32, 1, ops_per_s);
        case.behind("PCIe", 3_938_000_000, 3_938_000_000).on_array("raid0", shares)
    }

    #[test]
    fn four_drives_fill_one_uplink() {
        let case = uplink(3500.0, &[0.25; 4]);
        let found = case.found(&RULE);
        assert!(
            found[0].sentence.starts_with(
                "4 devices (sd0, sd1, sd2, sd3) share the PCIe link slot (3938 MB/s, 3.94 GB/s)"
            ),
            "{}",
            found[0].sentence
        );
        let judgement = case.judge();
        assert_eq!(judgement.limit().as_deref(), Some("the PCIe link shared by 4 devices"));
        let all = judgement.ceilings.iter().any(|c| c.element == "all links together");
        assert!(!all, "one link is not four");
    }

    #[test]
    fn room_on_the_uplink_or_one_drive_alone() {
        assert_eq!(uplink(1500.0, &[0.25; 4]).found(&RULE), []);
        assert_eq!(uplink(3500.0, &[1.0, 0.0]).found(&RULE), []);
        let alone = TestCase::direct(MIB, 32, 1, 3500.0);
        assert_eq!(alone.behind("PCIe", 3_938_000_000, 3_938_000_000).found(&RULE), []);
    }
}
