//! D1: a SATA link that trained at less than it could.

use candor_record::fmt;
use candor_record::{Confidence, Finding, LimitClass, Severity};

use super::slow_link::{self, Full};
use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D1",
        title: "SATA link below its best",
        explanation: "Drive and port negotiate 1.5, 3 or 6 Gb/s at link-up: 150, 300 or 600 MB/s. \
            A worn cable, a dirty connector, an old port or an enclosure causes a lower speed, and \
            the kernel slows a link down after errors. candor reads the negotiated speed from \
            sysfs and reports a link of which the run used 85 % or more: the link is then the \
            limit, not the drive. Change cable or port, check the link for errors.",
    },
    stage: Stage::Link,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

/// The fastest SATA there is.
const BEST_BYTES_PER_S: u64 = 600_000_000;

fn after(observed: &Observed) -> Outcome {
    if !slow_link::is_known(observed, "SATA") {
        return Outcome::lacks("the counters of the device");
    }
    let found = slow_link::full(observed, "SATA")
        .into_iter()
        .filter(|full| full.hop.link.ceiling_bytes_per_s < BEST_BYTES_PER_S);
    found.map(|full| finding(&full)).collect::<Vec<_>>().into()
}

fn finding(full: &Full) -> Finding {
    let link = full.hop.link;
    let best = if link.is_reduced() {
        full.possible().to_owned()
    } else {
        "6.0 Gbps, the SATA maximum".into()
    };
    let sentence = format!(
        "The SATA link of {} negotiated {} = {}, of {best}; {}. The link is the limit, not the \
         drive.",
        full.hop.names(),
        link.negotiated.value,
        fmt::rate_decimal(link.ceiling_bytes_per_s as f64),
        full.share()
    );
    let sure = if link.is_reduced() { Confidence::Certain } else { Confidence::Likely };
    full.evidence(FindingBuilder::new("D1", Severity::Explains, sentence).confidence(sure))
        .advice("Change the cable, the port or the enclosure; both ends must do 6 Gb/s.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    #[test]
    fn a_link_at_three_gigabits_is_the_limit() {
        let case = TestCase::direct(MIB, 4, 1, 250.0).sata(300_000_000);
        let found = case.found(&RULE);
        assert!(
            found[0].sentence.starts_with("The SATA link of sda negotiated 3 Gbps = 300 MB/s"),
            "{}",
            found[0].sentence
        );
        assert!(found[0].sentence.contains("262 MB/s (250 MiB/s) is 87 % of the link speed"));
        let judgement = case.judge();
        assert!(judgement.finding("D8").is_none(), "the link itself is folded into it");
        assert_eq!(judgement.limit().as_deref(), Some("the SATA link of sda"));
    }

    #[test]
    fn the_best_sata_and_half_of_a_slow_one_are_silent() {
        assert_eq!(TestCase::direct(MIB, 4, 1, 520.0).sata(600_000_000).found(&RULE), []);
        assert_eq!(TestCase::direct(MIB, 4, 1, 150.0).sata(300_000_000).found(&RULE), []);
        assert_eq!(TestCase::buffered_read().sata(300_000_000).found(&RULE), []);
        assert_eq!(TestCase::direct(MIB, 4, 1, 300.0).found(&RULE), []);
    }
}
