//! D2: a SAS line that runs at less than it could.

use candor_record::fmt;
use candor_record::{Confidence, Finding, LimitClass, Severity};

use super::slow_link::{self, Full};
use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D2",
        title: "SAS link below its best",
        explanation: "A SAS lane is negotiated at 3, 6, 12 or 22.5 Gb/s: 300, 600, 1200 or 2400 \
            MB/s. Ports to an expander bundle several lanes, and a failed lane is missing from the \
            sum. candor checks every port between host and drive and compares the negotiated speed \
            with the maximum of the lane. If the run used 85 % or more, the port is the limit. \
            Check cables, expanders and the error counters of the lanes.",
    },
    stage: Stage::Link,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if !slow_link::is_known(observed, "SAS") {
        return Outcome::lacks("the counters of the device");
    }
    let found =
        slow_link::full(observed, "SAS").into_iter().filter(|full| full.hop.link.is_reduced());
    found.map(|full| finding(&full)).collect::<Vec<_>>().into()
}

fn finding(full: &Full) -> Finding {
    let link = full.hop.link;
    let sentence = format!(
        "The SAS port {} of {} runs at {} of {}: {}; {}.",
        link.at,
        full.hop.names(),
        link.negotiated.value,
        full.possible(),
        fmt::rate_decimal(link.ceiling_bytes_per_s as f64),
        full.share()
    );
    full.evidence(
        FindingBuilder::new("D2", Severity::Explains, sentence).confidence(Confidence::Likely),
    )
    .advice("Check the cable, the expander and the drive for a lower speed.", None)
    .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    #[test]
    fn a_line_at_three_of_twelve_is_the_limit() {
        let case = TestCase::direct(MIB, 4, 1, 260.0).behind("SAS", 300_000_000, 1_200_000_000);
        let found = case.found(&RULE);
        assert!(
            found[0].sentence.starts_with("The SAS port slot of vda runs at 300 MB/s of 1200 MB/s"),
            "{}",
            found[0].sentence
        );
        assert_eq!(case.judge().limit().as_deref(), Some("the SAS link of vda"));
    }

    #[test]
    fn a_line_at_its_best_or_with_room_is_silent() {
        let case = TestCase::direct(MIB, 4, 1, 1100.0);
        assert_eq!(case.behind("SAS", 1_200_000_000, 1_200_000_000).found(&RULE), []);
        let case = TestCase::direct(MIB, 4, 1, 100.0);
        assert_eq!(case.behind("SAS", 300_000_000, 1_200_000_000).found(&RULE), []);
    }
}
