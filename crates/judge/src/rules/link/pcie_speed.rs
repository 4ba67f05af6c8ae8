//! D3: a PCIe slot of less width or speed than it could have.

use candor_record::facts::value;
use candor_record::fmt;
use candor_record::{Confidence, Finding, LimitClass, Severity};

use super::slow_link::{self, Full};
use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D3",
        title: "PCIe link below its best",
        explanation: "A PCIe lane carries 250, 500, 985, 1969, 3938 or 7563 MB/s from generation 1 \
            to 6, times the number of lanes. Both ends of every hop report their maximum. The \
            negotiated speed is lower if a slot shares its lanes, a riser is poor, or the firmware \
            sets a limit. candor checks every bridge up to the root. If the run used 85 % of a hop \
            or more, candor reports the hop and its slower end. Reseat the drive, check the lanes \
            in the firmware settings, try another slot.",
    },
    stage: Stage::Link,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if !slow_link::is_known(observed, "PCIe") {
        return Outcome::lacks("the counters of the device");
    }
    let found = slow_link::full(observed, "PCIe").into_iter().filter_map(|full| finding(&full));
    found.collect::<Vec<_>>().into()
}

/// Why the hop carries no more; nothing where both ends are as good as the link.
fn why(full: &Full) -> Option<(String, &'static str)> {
    let link = full.hop.link;
    if link.is_reduced() {
        let why = format!("of {} that both ends support", full.possible());
        return Some((why, "Reseat the drive, try another slot, check its lanes in the firmware."));
    }
    let (lower, upper) = (value(&link.lower_could)?, value(&link.upper_could)?);
    let now = &link.negotiated.value;
    if lower != now && upper == now {
        return Some((
            format!("the maximum of the slot, of {lower} that the device supports"),
            "Try a slot with more lanes or of a newer generation.",
        ));
    }
    (upper != now && lower == now).then(|| {
        let why = format!("the maximum of the device, of {upper} that the slot supports");
        (why, "The slot is fine: the device does not support a higher speed.")
    })
}

fn finding(full: &Full) -> Option<Finding> {
    let link = full.hop.link;
    let (why, advice) = why(full)?;
    let sentence = format!(
        "The PCIe link of {} ({}) runs at {}, {why}: {}; {}.",
        full.hop.names(),
        link.at,
        link.negotiated.value,
        fmt::rate_decimal(link.ceiling_bytes_per_s as f64),
        full.share()
    );
    let draft =
        FindingBuilder::new("D3", Severity::Explains, sentence).confidence(Confidence::Likely);
    Some(full.evidence(draft).advice(advice, None).done())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, fact};

    #[test]
    fn one_lane_of_four_is_the_limit() {
        let case = TestCase::direct(MIB, 8, 1, 860.0).behind("PCIe", 985_000_000, 3_940_000_000);
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("of 3940 MB/s that both ends support: 985 MB/s"));
        assert!(case.judge().finding("D8").is_none(), "it is folded into this");
        assert_eq!(case.judge().limit().as_deref(), Some("the PCIe link of vda"));
    }

    #[test]
    fn the_lesser_end_is_named() {
        let mut case = TestCase::direct(MIB, 8, 1, 220.0).behind("PCIe", 250_000_000, 250_000_000);
        assert_eq!(case.found(&RULE), [], "both ends are as good as the link");
        // As in the lab: the device does 2.5 GT/s x1, its port 8 GT/s x4.
        case.disk().way[0].upper_could = fact("8.0 GT/s x4".into());
        assert!(case.found(&RULE)[0].sentence.contains("the maximum of the device"));
        let link = &mut case.disk().way[0];
        link.upper_could = link.lower_could.replace(link.upper_could.clone().unwrap());
        assert!(case.found(&RULE)[0].sentence.contains("the maximum of the slot"));
    }

    #[test]
    fn a_narrow_link_with_room_is_silent() {
        let case = TestCase::direct(4096, 1, 1, 10_000.0);
        assert_eq!(case.behind("PCIe", 985_000_000, 3_940_000_000).found(&RULE), []);
    }
}
