//! D7: several paths lead to the device, and one carries it all.

use candor_record::facts::{DeviceFacts, DeviceKind, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, ONE_PATH};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D7",
        title: "one path carries everything",
        explanation: "A device with several paths is as fast as the paths in use. NVMe chooses a \
            path by its policy: numa uses the nearest path for all I/O, round-robin and \
            queue-depth use all optimized paths. A multipath map uses the paths of one group, in \
            turn or by load, and keeps the other groups for failover. candor counts the bytes of \
            each path. If several paths work and one carried more than 90 %, half of the fabric \
            was idle. If the SCSI path states are unknown, the confidence is only possible. Set \
            iopolicy of the subsystem, or put the paths of the map into one group.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let many = observed.devices().into_iter().filter(|device| has_paths(device));
    let mut found = Vec::new();
    for device in many {
        let paths: Vec<&DeviceFacts> = observed.chain(&device.name);
        let paths: Vec<&DeviceFacts> = paths
            .into_iter()
            .filter(|path| device.below.contains(&path.name) && is_usable(path))
            .collect();
        if paths.len() < 2 {
            continue;
        }
        let moved: Option<Vec<f64>> = paths.iter().map(|path| bytes(observed, path)).collect();
        match moved {
            Some(moved) => found.extend(finding(device, &paths, &moved)),
            None => return Outcome::lacks(format!("the counters of the paths of {}", device.name)),
        }
    }
    found.into()
}

fn has_paths(device: &DeviceFacts) -> bool {
    let nvme = matches!(device.kind, DeviceKind::Nvme | DeviceKind::NvmeFabric);
    let by_table = device.mapping.as_ref().and_then(|mapping| mapping.is("multipath"));
    let mapped = by_table.unwrap_or(device.mapping_maker() == Some("mpath"));
    (nvme || mapped) && device.below.len() > 1
}

/// Paths that are down, or that the array wants to be left alone, are idle for good reason.
fn is_usable(path: &DeviceFacts) -> bool {
    let is = |fact, wanted: &str| value(fact).is_none_or(|state: &String| state == wanted);
    let nvme = path.nvme.as_ref();
    let scsi = path.scsi.as_ref();
    nvme.is_none_or(|nvme| is(&nvme.state, "live") && is(&nvme.ana_state, "optimized"))
        && scsi.is_none_or(|s| is(&s.state, "running") && is(&s.access, "active/optimized"))
}

fn bytes(observed: &Observed, path: &DeviceFacts) -> Option<f64> {
    Some(observed.flow_of(&path.name)?.bytes())
}

fn finding(device: &DeviceFacts, paths: &[&DeviceFacts], moved: &[f64]) -> Option<Finding> {
    let all: f64 = moved.iter().sum();
    let (most, path) = moved.iter().zip(paths).max_by(|a, b| a.0.total_cmp(b.0))?;
    let share = ratio(*most, all);
    if all < BYTES_MIN.value || share < ONE_PATH.value {
        return None;
    }
    let policy = device.nvme.as_ref().and_then(|nvme| nvme.iopolicy.as_ref());
    let why = policy.map_or(String::new(), |policy| format!(" (iopolicy = {})", policy.value));
    // Where the paths of an array do not say so, it may want the others to be left alone.
    let says = |path: &&DeviceFacts| path.scsi.as_ref().is_some_and(|scsi| scsi.access.is_some());
    let (which, sure) = if paths.iter().all(|path| path.nvme.is_some() || says(path)) {
        ("working paths", Confidence::Certain)
    } else {
        ("paths, of which the others may be for failover only", Confidence::Possible)
    };
    let sentence = format!(
        "{} of the bytes of {} used path {}, one of {} {which}{why}.",
        fmt::percent(share),
        device.name,
        path.name,
        paths.len()
    );
    let mut draft = FindingBuilder::new("D7", Severity::Explains, sentence)
        .confidence(sure)
        .evidence_if(policy.map(|p| ("policy".into(), p.value.clone(), p.from.clone())));
    for (bytes, path) in moved.iter().zip(paths) {
        let from = format!("/sys/class/block/{}/stat", path.name);
        draft = draft.evidence(format!("bytes on {}", path.name), Quantity::bytes(*bytes), from);
    }
    let advice = match device.kind {
        DeviceKind::Dm => "Put all equal paths into one group (path_grouping_policy).",
        _ => "Use all paths: iopolicy round-robin or queue-depth.",
    };
    Some(draft.advice(advice, None).done())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};
    use candor_record::facts::{Mapping, NvmeFacts, ScsiFacts};

    /// Two paths, as in the lab.
    fn paths(shares: &[f64]) -> TestCase {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0).on_array("none", shares);
        let head = &mut case.host.facts.devices[0];
        head.kind = DeviceKind::Nvme;
        head.array = None;
        head.nvme = Some(NvmeFacts { iopolicy: fact("numa".into()), ..NvmeFacts::default() });
        for path in &mut case.host.facts.devices[1..] {
            path.nvme = Some(NvmeFacts {
                state: fact("live".into()),
                ana_state: fact("optimized".into()),
                ..NvmeFacts::default()
            });
        }
        case
    }

    #[test]
    fn one_path_for_everything() {
        let found = paths(&[1.0, 0.0]).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "100 % of the bytes of md0 used path sd0, one of 2 working paths (iopolicy = numa)."
        );
    }

    /// Two SCSI disks that are one, as in the lab.
    fn mapped(access: &str) -> TestCase {
        let mut case = paths(&[1.0, 0.0]);
        let map = &mut case.host.facts.devices[0];
        (map.kind, map.nvme) = (DeviceKind::Dm, None);
        map.mapping =
            Some(Mapping { targets: fact(vec!["multipath".into()]), ..Mapping::default() });
        for path in &mut case.host.facts.devices[1..] {
            path.nvme = None;
            let access = fact("active/optimized".into());
            path.scsi = Some(ScsiFacts { state: fact("running".into()), access });
        }
        case.host.facts.devices[2].scsi.as_mut().unwrap().access = fact(access.into());
        case
    }

    #[test]
    fn groups_of_one_path_each() {
        let found = mapped("active/optimized").found(&RULE);
        assert!(found[0].sentence.ends_with("used path sd0, one of 2 working paths."));
        assert!(found[0].advice.contains("path_grouping_policy"), "{}", found[0].advice);
        // The array wants the other path to be left alone.
        assert_eq!(mapped("standby").found(&RULE), []);
        let mut linear = mapped("active/optimized");
        let map = linear.host.facts.devices[0].mapping.as_mut().unwrap();
        (map.maker, map.targets) = (fact("mpath".into()), fact(vec!["linear".into()]));
        assert_eq!(linear.found(&RULE), [], "what the kernel says counts, not who made it");
    }

    #[test]
    fn paths_whose_state_is_unknown_may_be_spare_ones() {
        let mut case = paths(&[1.0, 0.0]);
        for device in &mut case.host.facts.devices {
            device.nvme = None;
        }
        case.host.facts.devices[0].kind = DeviceKind::Dm;
        case.host.facts.devices[0].mapping =
            Some(Mapping { maker: fact("mpath".into()), ..Mapping::default() });
        let found = case.found(&RULE);
        assert!(found[0].sentence.ends_with("the others may be for failover only."));
        assert_eq!(found[0].confidence, Confidence::Possible);
    }

    #[test]
    fn both_paths_or_one_that_is_down() {
        assert_eq!(paths(&[0.5, 0.5]).found(&RULE), []);
        let mut case = paths(&[1.0, 0.0]);
        let other = case.host.facts.devices[2].nvme.as_mut().unwrap();
        other.ana_state = fact("non-optimized".into());
        assert_eq!(case.found(&RULE), []);
        assert_eq!(
            TestCase::direct(4096, 8, 1, 1e4).on_array("raid0", &[1.0, 0.0]).found(&RULE),
            []
        );
    }

    #[test]
    fn without_counters_it_says_so() {
        let mut case = paths(&[1.0, 0.0]);
        case.host.after.devices.truncate(1);
        assert!(case.lacked(&RULE).unwrap().contains("paths of md0"));
    }
}
