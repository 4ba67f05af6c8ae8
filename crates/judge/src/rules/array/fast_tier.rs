//! E6: a volume of a fast and a slow tier.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, DeviceKind, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, FAST_TIER};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "E6",
        title: "fast tier served some I/O",
        explanation: "A tiered volume keeps frequently used data on flash and the rest on rotating \
            disks (bcache, dm-cache, or any other volume built from both). Such a volume has two \
            speeds; a test measures the mix that its working set happens to hit. candor separates \
            flash and rotating disks below the volume and compares the bytes of each. candor \
            reports a share of 10 % or more on the fast tier. Use a test far larger than the fast \
            tier to measure the slow tier, and report both.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

/// Work of one tier of a volume.
#[derive(Default)]
struct Tier<'a> {
    names: Vec<&'a str>,
    bytes: f64,
}

fn after(observed: &Observed) -> Outcome {
    let tiered = observed.devices().into_iter().filter(|device| may_have_tiers(device));
    tiered.filter_map(|device| of(observed, device)).collect::<Vec<_>>().into()
}

fn may_have_tiers(device: &DeviceFacts) -> bool {
    matches!(device.kind, DeviceKind::Bcache | DeviceKind::Dm) && device.below.len() > 1
}

/// Root was told that it is a cache; nothing where nobody was told.
fn is_cache(volume: &DeviceFacts) -> Option<bool> {
    let mapping = volume.mapping.as_ref()?;
    Some(mapping.is("cache")? || mapping.is("writecache")?)
}

fn of(observed: &Observed, volume: &DeviceFacts) -> Option<Finding> {
    let (mut fast, mut slow) = (Tier::default(), Tier::default());
    for (index, name) in volume.below.iter().enumerate() {
        // A bcache names its backing device first, and so does a mapped cache that root looked at,
        // whose third device is for notes. Of others only the kind of disk tells.
        let is_slow = match (volume.kind, is_cache(volume)) {
            (DeviceKind::Bcache, _) => index == 0,
            (_, Some(true)) if index > 1 => continue,
            (_, Some(true)) => index == 0,
            _ => *value(&observed.facts.device(name)?.queue.rotational)?,
        };
        let flow = observed.flow_of(name)?;
        let tier = if is_slow { &mut slow } else { &mut fast };
        tier.names.push(name);
        // Where nothing is written, what the fast tier takes in is not what it served.
        tier.bytes += if observed.does(Direction::Write) { flow.bytes() } else { flow.read.bytes };
    }
    let all = fast.bytes + slow.bytes;
    let share = ratio(fast.bytes, all);
    let mixed = !fast.names.is_empty() && !slow.names.is_empty();
    (mixed && all >= BYTES_MIN.value && share > FAST_TIER.value)
        .then(|| finding(volume, &fast, &slow, share))
}

fn finding(volume: &DeviceFacts, fast: &Tier, slow: &Tier, share: f64) -> Finding {
    let (fast_names, slow_names) = (fast.names.join(", "), slow.names.join(", "));
    let sentence = format!(
        "{} of the bytes of {} were moved by {fast_names}, its fast tier, {} by {slow_names}: the \
         rate is a mix of both tiers.",
        fmt::percent(share),
        volume.name,
        fmt::percent(1.0 - share)
    );
    FindingBuilder::new("E6", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence(
            format!("bytes on {fast_names}"),
            Quantity::bytes(fast.bytes),
            "/sys/class/block/*/stat",
        )
        .evidence(
            format!("bytes on {slow_names}"),
            Quantity::bytes(slow.bytes),
            "/sys/class/block/*/stat",
        )
        .advice("Use a test far larger than the fast tier, and report both speeds.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::facts::Mapping;

    use super::*;
    use crate::testcase::{TestCase, fact};

    /// A bcache over a rotating disk and a flash drive that moved these shares.
    fn tiers(slow: f64, fast: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0).on_array("linear", &[slow, fast]);
        let volume = &mut case.host.facts.devices[0];
        (volume.kind, volume.array) = (DeviceKind::Bcache, None);
        case.host.facts.devices[1].queue.rotational = fact(true);
        case.host.facts.devices[2].queue.rotational = fact(false);
        case
    }

    #[test]
    fn a_bcache_says_itself_which_tier_is_which() {
        // 306 reads of the backing device and 4602 of the cache in the lab, neither rotating.
        let mut case = tiers(0.06, 0.94);
        case.host.facts.devices[1].queue.rotational = fact(false);
        assert!(case.found(&RULE)[0].sentence.contains("by sd1, its fast tier"));
    }

    #[test]
    fn so_does_a_mapped_cache_whose_third_device_is_no_tier() {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0).on_array("linear", &[0.2, 0.7, 0.1]);
        let volume = &mut case.host.facts.devices[0];
        (volume.kind, volume.array) = (DeviceKind::Dm, None);
        // A cache names its block as its best size, which is no width of stripes.
        volume.queue.optimal_io_bytes = fact(65_536);
        volume.queue.minimum_io_bytes = fact(65_536);
        let judged = case.judge();
        assert!(judged.finding("E1").is_none() && judged.finding("E6").is_none());
        let targets = fact(vec!["cache".to_owned()]);
        case.host.facts.devices[0].mapping = Some(Mapping { targets, ..Mapping::default() });
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(
            sentence.starts_with("78 % of the bytes of md0 were moved by sd1, its fast"),
            "{sentence}"
        );
    }

    #[test]
    fn most_of_it_came_from_flash() {
        let found = tiers(0.16, 0.84).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "84 % of the bytes of md0 were moved by sd1, its fast tier, 16 % by sd0: the rate is a \
             mix of both tiers."
        );
    }

    #[test]
    fn filling_the_fast_tier_is_not_serving() {
        let mut case = tiers(0.99, 0.01);
        case.host.after.devices[2].1.write_sectors = 1 << 20;
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn the_slow_tier_alone_and_one_kind_of_disks_are_silent() {
        assert_eq!(tiers(0.98, 0.02).found(&RULE), []);
        let mut alike = tiers(0.5, 0.5);
        alike.host.facts.devices[0].kind = DeviceKind::Dm;
        alike.host.facts.devices[1].queue.rotational = fact(false);
        assert_eq!(alike.found(&RULE), []);
        let mut unknown = tiers(0.5, 0.5);
        unknown.host.facts.devices[0].kind = DeviceKind::Dm;
        unknown.host.facts.devices[1].queue.rotational = None;
        assert_eq!(unknown.found(&RULE), []);
    }
}
