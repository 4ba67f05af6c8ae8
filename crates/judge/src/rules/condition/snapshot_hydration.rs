//! F13: a cloud volume that is still being filled.

use candor_plan::units::Direction;
use candor_record::facts::DeviceFacts;
use candor_record::fmt;
use candor_record::{Confidence, Finding, Severity};

use crate::builder::FindingBuilder;
use crate::follow_ups;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::HYDRATED;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F13",
        title: "volume still loads its snapshot",
        explanation: "A volume created from a snapshot is available at once, but its blocks are \
            fetched from slow storage on the first read. The first pass is several times slower \
            than every later pass. candor knows cloud volumes by their model. candor reports the \
            finding if a short follow-up read the first blocks of the phase more than twice as \
            fast, and other blocks not. Read the whole volume once before measuring, or request \
            fast initialisation when you create the volume.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

/// Models of volumes that are filled when they are first read, as their devices tell them.
const MODELS: [&str; 3] = ["Amazon Elastic Block Store", "PersistentDisk", "nvme_card-pd"];

fn after(observed: &Observed) -> Outcome {
    let [ran] = observed.ran.as_slice() else { return Outcome::Nothing };
    if !ran.does(Direction::Read) || ran.does(Direction::Write) || !ran.blocks.direct {
        return Outcome::Nothing;
    }
    let Some((volume, model)) = observed.leaves().into_iter().find_map(cloud) else {
        return Outcome::Nothing;
    };
    match follow_ups::again(observed) {
        Some((same, times)) if same.faster(HYDRATED.value) && times > HYDRATED.value => {
            Outcome::one(finding(volume, model, &same, times))
        }
        _ => Outcome::Nothing,
    }
}

/// A volume of a cloud, and its model.
fn cloud(device: &DeviceFacts) -> Option<(&DeviceFacts, &str)> {
    let model = device.model.as_ref()?.value.trim();
    MODELS.contains(&model).then_some((device, model))
}

fn finding(volume: &DeviceFacts, model: &str, same: &follow_ups::Beside, times: f64) -> Finding {
    let sentence = format!(
        "The first blocks of the phase on {} ({model}) were {}× as fast in a second read: the \
         volume still loads data from its snapshot.",
        volume.name,
        fmt::number(times)
    );
    let draft =
        FindingBuilder::new("F13", Severity::Caution, sentence).confidence(Confidence::Likely);
    follow_ups::evidence(draft, same)
        .advice("Read the whole volume once, then measure.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::Change;

    use super::*;
    use crate::testcase::{TestCase, fact};

    fn volume(model: &str, same: f64, other: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 900.0);
        case.disk().model = fact(model.into());
        case.follow_up(Change::SamePlaces, 1, 32, 900.0 * same);
        case.follow_up(Change::OtherPlaces, 1, 32, 900.0 * other);
        case
    }

    #[test]
    fn a_volume_that_is_fetched_when_read_is_reported_instead_of_a_cache() {
        let case = volume("Amazon Elastic Block Store", 3.3, 1.0);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "The first blocks of the phase on vda (Amazon Elastic Block Store) were 3.3× as fast \
             in a second read: the volume still loads data from its snapshot."
        );
        let judgement = case.judge();
        assert!(judgement.finding("A12").is_none(), "{:?}", judgement.rules());
        assert_eq!(judgement.verdict, candor_record::Verdict::Caution);
    }

    #[test]
    fn filled_volumes_quiet_moments_and_other_disks_are_silent() {
        let ebs = "Amazon Elastic Block Store";
        assert_eq!(volume(ebs, 1.1, 1.0).found(&RULE), []);
        assert_eq!(volume(ebs, 1.9, 1.0).found(&RULE), [], "that much a cache may do");
        assert_eq!(volume(ebs, 3.3, 3.0).found(&RULE), [], "conditions changed");
        assert_eq!(volume("Amazon EC2 NVMe Instance Storage", 3.3, 1.0).found(&RULE), []);
        let mut unknown = volume(ebs, 3.3, 1.0);
        unknown.disk().model = None;
        assert_eq!(unknown.found(&RULE), []);
    }
}
