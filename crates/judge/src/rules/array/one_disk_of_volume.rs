//! E4: a volume over several disks of which one did everything.

use candor_record::facts::{DeviceFacts, DeviceKind};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::flow::Flow;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, ONE_LEAF};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "E4",
        title: "volume used one disk",
        explanation: "A linear volume fills one disk before the next. A test on a section of the \
            volume then uses one disk, regardless of the number of disks. candor finds the disks \
            under a volume and the bytes of each disk; a disk with more than 95 % of the bytes did \
            the work alone. Stripe the volume, or test the whole volume.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let volumes = observed.devices().into_iter().filter(|device| {
        is_volume(device) && !observed.is_striped(device) && !has_roles(observed, device)
    });
    volumes.filter_map(|volume| of(observed, volume)).collect::<Vec<_>>().into()
}

/// A device-mapper volume of several devices, other than their paths, or a linear array. Where
/// root looked, the volume is one that really puts one disk behind the other.
fn is_volume(device: &DeviceFacts) -> bool {
    let linear = device.mapping.as_ref().and_then(|mapping| mapping.is("linear"));
    let kind = match device.kind {
        DeviceKind::Dm => linear.unwrap_or(device.mapping_maker() != Some("mpath")),
        DeviceKind::Md => device.array_level() == Some("linear"),
        _ => false,
    };
    kind && device.below.len() > 1
}

/// The devices under it are LVM's own: data and metadata of a pool, an origin and its snapshots,
/// mirrors, a cache. One of them has to do nearly everything.
fn has_roles(observed: &Observed, device: &DeviceFacts) -> bool {
    let mut below = device.below.iter().filter_map(|name| observed.facts.device(name));
    below.any(|part| part.mapping_maker() == Some("LVM"))
}

fn of(observed: &Observed, volume: &DeviceFacts) -> Option<Finding> {
    let flows = observed.flows_below(volume)?;
    let moved: Vec<(&String, f64)> =
        volume.below.iter().zip(flows.iter().map(Flow::bytes)).collect();
    let all: f64 = moved.iter().map(|(_, bytes)| bytes).sum();
    let (name, most) = moved.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = ratio(*most, all);
    (all >= BYTES_MIN.value && share > ONE_LEAF.value).then(|| {
        let sentence = format!(
            "{} spans {} devices, and {} of the bytes went to {name}.",
            volume.name,
            volume.below.len(),
            fmt::percent(share)
        );
        let mut draft =
            FindingBuilder::new("E4", Severity::Explains, sentence).confidence(Confidence::Likely);
        for (name, bytes) in &moved {
            let from = format!("/sys/class/block/{name}/stat");
            draft = draft.evidence(format!("bytes on {name}"), Quantity::bytes(*bytes), from);
        }
        draft.advice("Stripe the volume, or test the whole volume.", None).done()
    })
}

#[cfg(test)]
mod tests {
    use candor_record::facts::Mapping;

    use super::*;
    use crate::testcase::{TestCase, fact};

    fn linear(shares: &[f64]) -> TestCase {
        TestCase::direct(4096, 8, 1, 10_000.0).on_array("linear", shares)
    }

    #[test]
    fn one_disk_of_four() {
        let found = linear(&[0.0, 1.0, 0.0, 0.0]).found(&RULE);
        assert_eq!(found[0].sentence, "md0 spans 4 devices, and 100 % of the bytes went to sd1.");
        let mut volume = linear(&[0.0, 1.0]);
        volume.host.facts.devices[0].kind = DeviceKind::Dm;
        assert_eq!(volume.found(&RULE).len(), 1);
        volume.host.facts.devices[1].mapping =
            Some(Mapping { maker: fact("LVM".into()), ..Mapping::default() });
        assert_eq!(volume.found(&RULE), [], "data and metadata of a thin pool, say");
    }

    #[test]
    fn several_disks_and_stripes_are_silent() {
        assert_eq!(linear(&[0.5, 0.5]).found(&RULE), []);
        let striped = TestCase::direct(4096, 8, 1, 10_000.0).on_array("raid0", &[1.0, 0.0]);
        assert_eq!(striped.found(&RULE), [], "that is a hot member");
        assert_eq!(TestCase::direct(4096, 8, 1, 10_000.0).found(&RULE), []);
    }
}
