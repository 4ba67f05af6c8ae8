//! D4: USB is the limit: its speed, or its driver that sends one command at a time.

use candor_record::facts::{DeviceFacts, value};
use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use super::slow_link::{self, Full};
use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D4",
        title: "USB is the limit",
        explanation: "USB carries about 40 MB/s at 480 Mb/s, 440 MB/s at 5 Gb/s and 1000 MB/s at \
            10 Gb/s; the slowest hub between host and drive decides. The old bulk-only transport \
            (usb-storage) sends one command at a time, whatever depth is requested; uas sends some \
            thirty. candor reads speed and driver from sysfs. Plug the drive into a faster port, \
            avoid the hub, use an enclosure and a cable with uas support.",
    },
    stage: Stage::Link,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if !slow_link::is_known(observed, "USB") {
        return Outcome::lacks("the counters of the device");
    }
    let full = slow_link::full(observed, "USB").into_iter().map(|full| of_speed(&full));
    let bulk = observed.devices().into_iter().filter_map(|device| of_driver(observed, device));
    full.chain(bulk).collect::<Vec<_>>().into()
}

fn of_speed(full: &Full) -> Finding {
    let link = full.hop.link;
    let sentence = format!(
        "The USB link of {} ({}) runs at {}, good for about {} in practice; {}.",
        full.hop.names(),
        link.at,
        link.negotiated.value,
        fmt::rate_decimal(link.ceiling_bytes_per_s as f64),
        full.share()
    );
    full.evidence(
        FindingBuilder::new("D4", Severity::Explains, sentence).confidence(Confidence::Likely),
    )
    .advice("Plug the drive into a faster port, with a suitable cable and without a hub.", None)
    .done()
}

/// A driver of one command at a time under a run that asked for more.
fn of_driver(observed: &Observed, device: &DeviceFacts) -> Option<Finding> {
    let driver = device.driver.as_ref().filter(|driver| driver.value == "usb-storage")?;
    let in_flight = observed.concurrency();
    if in_flight <= 1.0 || observed.working_top().is_none() {
        return None;
    }
    let depth = value(&device.queue.device_depth).copied().unwrap_or(1);
    let sentence = format!(
        "{} uses usb-storage, one command at a time: of {} in flight all but {depth} wait in the \
         kernel.",
        device.name,
        fmt::count(in_flight)
    );
    let draft = FindingBuilder::new("D4", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .limits(Limit::SerialCommands { device: device.name.clone() })
        .evidence("driver", driver.value.clone(), driver.from.clone())
        .evidence("in flight", Quantity::count(in_flight), "candor")
        .advice("Use an enclosure, a port and a cable with uas support.", None);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, fact};

    #[test]
    fn a_drive_behind_a_slow_hub() {
        let case = TestCase::direct(MIB, 1, 1, 37.0).behind("USB", 40_000_000, 40_000_000);
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("good for about 40 MB/s in practice; 38.8 MB/s"));
        assert_eq!(case.judge().limit().as_deref(), Some("the USB link of vda"));
    }

    #[test]
    fn a_little_more_than_experience_says_is_not_impossible() {
        let case = TestCase::direct(MIB, 1, 1, 43.0).behind("USB", 40_000_000, 40_000_000);
        assert!(case.judge().finding("D9").is_none());
    }

    #[test]
    fn bulk_only_sends_one_command_at_a_time() {
        let mut case = TestCase::direct(4096, 32, 1, 3000.0);
        case.disk().driver = fact("usb-storage".into());
        assert!(case.found(&RULE)[0].sentence.contains("of 32 in flight all but 1 wait"));
        case.disk().driver = fact("uas".into());
        assert_eq!(case.found(&RULE), []);
        let mut alone = TestCase::direct(4096, 1, 1, 3000.0);
        alone.disk().driver = fact("usb-storage".into());
        assert_eq!(alone.found(&RULE), []);
    }
}
