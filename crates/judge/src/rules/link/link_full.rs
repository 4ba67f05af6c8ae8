//! D8: the link is the limit, also for small operations.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::bound::{Bound, Kind};
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D8",
        title: "the link is the limit",
        explanation: "A link carries a limited number of bytes per second, and small operations \
            reach this ceiling as a number of operations: 600 MB/s at 4 KiB are 146k IOPS. At 85 % \
            or more, the link is almost full, and the result is the rate of the link, not of the \
            attached drive. If the drive supports a faster link, check cable, port, slot and \
            enclosure.",
    },
    stage: Stage::LinkFull,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let links: Vec<Bound> = ceilings::bounds(observed).into_iter().filter(is_link).collect();
    if observed.ran.is_empty() {
        return Outcome::Nothing;
    }
    if links.is_empty() {
        return Outcome::lacks("the speed of a link between host and device");
    }
    // What the device did not move did not cross its link, however near the figures are.
    let crossed = observed.working_top().is_some();
    let full = links.iter().filter(|bound| crossed && bound.reached().is_some());
    full.map(|bound| finding(observed, bound)).collect::<Vec<_>>().into()
}

fn is_link(bound: &Bound) -> bool {
    matches!(bound.kind, Kind::Link | Kind::Links)
}

fn finding(observed: &Observed, bound: &Bound) -> Finding {
    let ceiling = &bound.ceiling;
    let used = ceiling.used.unwrap_or(0.0);
    let most = ceiling.bytes_per_s.unwrap_or(0.0);
    let in_ops = ceiling.ops_per_s.map_or(String::new(), |ops| {
        let app = observed.app(observed.main_op());
        let size = fmt::size(fmt::ratio(app.bytes, app.ops));
        format!(" At {size} the ceiling is near {}.", fmt::iops(ops))
    });
    let sentence = format!(
        "{} is {} of the ceiling of the {} ({}); the link is the limit, not the device.{in_ops}",
        fmt::rate(used * most),
        fmt::percent(used),
        ceiling.element,
        fmt::rate_decimal(most)
    );
    FindingBuilder::new("D8", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::Link { link: ceiling.element.clone() })
        .evidence("ceiling", Quantity::bytes_per_s(most), ceiling.arithmetic.clone())
        .evidence("used", Quantity::share(used), "candor")
        .advice("Check cable, port, slot and enclosure for a faster link.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    #[test]
    fn a_plateau_below_the_link_is_the_link() {
        let case = TestCase::direct(MIB, 4, 1, 250.0).sata(300_000_000);
        let found = case.found(&RULE);
        assert!(
            found[0].sentence.starts_with(
                "262 MB/s (250 MiB/s) is 87 % of the ceiling of the SATA link of sda (300 MB/s)"
            ),
            "{}",
            found[0].sentence
        );
        assert_eq!(case.judge().limit().as_deref(), Some("the SATA link of sda"));
    }

    #[test]
    fn t10_small_operations_meet_it_as_iops() {
        let found = TestCase::direct(4096, 32, 1, 138_000.0).sata(600_000_000).found(&RULE);
        assert!(found[0].sentence.ends_with("At 4 KiB the ceiling is near 146k IOPS."));
        let found = TestCase::direct(4096, 32, 1, 270_000.0).sata(1_200_000_000).found(&RULE);
        assert!(found[0].sentence.ends_with("At 4 KiB the ceiling is near 293k IOPS."));
    }

    #[test]
    fn half_a_link_is_not_the_limit_and_an_unknown_one_is_said() {
        assert_eq!(TestCase::direct(MIB, 4, 1, 150.0).sata(300_000_000).found(&RULE), []);
        assert!(TestCase::direct(MIB, 4, 1, 150.0).lacked(&RULE).unwrap().contains("link"));
    }
}
