//! D9: more than the link can carry.

use candor_record::facts::value;
use candor_record::fmt;
use candor_record::{Confidence, Finding, MeasuredInstead, Quantity, Severity};

use crate::bound::{Bound, Kind};
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{CEILING_OVER, USB_OVER};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D9",
        title: "faster than the link",
        explanation: "No data crosses a link faster than the link. A result more than 2 % above \
            the link has one of two reasons: the data came from a cache on this side, or the link \
            speed is wrong. Virtual machines report disk links that exist on paper only. If the \
            device counted the bytes in a virtual machine, the severity is caution; otherwise the \
            number does not measure the device.",
    },
    stage: Stage::Artefact,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let links: Vec<Bound> = ceilings::bounds(observed).into_iter().filter(is_link).collect();
    let impossible = |bound: &&Bound| bound.ceiling.used.is_some_and(|used| used > most(bound));
    let found = links.iter().filter(impossible).map(|bound| finding(observed, bound));
    let found: Vec<Finding> = found.collect();
    match (found.is_empty(), links.is_empty() && !observed.ran.is_empty()) {
        (true, true) => Outcome::lacks("the speed of a link between host and device"),
        _ => found.into(),
    }
}

fn is_link(bound: &Bound) -> bool {
    matches!(bound.kind, Kind::Link | Kind::Links | Kind::Network | Kind::Shared)
}

/// The bandwidth of USB is known from experience only.
fn most(bound: &Bound) -> f64 {
    if bound.ceiling.element.starts_with("USB") { USB_OVER.value } else { CEILING_OVER.value }
}

fn finding(observed: &Observed, bound: &Bound) -> Finding {
    let ceiling = &bound.ceiling;
    let used = ceiling.used.unwrap_or(0.0);
    let most = ceiling.bytes_per_s.unwrap_or(0.0);
    let paper = observed.working_top().is_some()
        && value(&observed.facts.host.hypervisor).copied().unwrap_or(false);
    let times = match used {
        used if used >= 1.5 => format!("{}×", fmt::number(used)),
        used => format!("{} of", fmt::percent(used)),
    };
    let tail = if paper {
        "the device counted the bytes, so this virtual machine's link exists on paper only"
    } else {
        "the data did not cross the link"
    };
    let sentence = format!(
        "{} is {times} the ceiling of the {} ({}): {tail}.",
        fmt::rate(used * most),
        ceiling.element,
        fmt::rate_decimal(most)
    );
    let severity = if paper { Severity::Caution } else { Severity::Wrong };
    let draft = FindingBuilder::new("D9", severity, sentence)
        .confidence(if paper { Confidence::Likely } else { Confidence::Certain })
        .evidence("ceiling", Quantity::bytes_per_s(most), ceiling.arithmetic.clone())
        .evidence("used", Quantity::share(used), "candor")
        .advice("Find the cache on this side: run directly, and on far more data.", None);
    if paper { draft.done() } else { draft.measures(MeasuredInstead::NearCache).done() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, fact};

    #[test]
    fn five_gigabytes_through_sata_are_impossible() {
        let found = TestCase::buffered_read().sata(600_000_000).found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert!(found[0].sentence.contains("is 8.87× the ceiling of the SATA link of sda"));
    }

    #[test]
    fn a_virtual_link_that_is_exceeded_exists_on_paper() {
        let mut case = TestCase::direct(MIB, 4, 1, 190.0).sata(150_000_000);
        case.host.facts.host.hypervisor = fact(true);
        assert_eq!(case.found(&RULE)[0].severity, Severity::Caution);
    }

    #[test]
    fn below_the_link_all_is_well() {
        assert_eq!(TestCase::direct(MIB, 4, 1, 250.0).sata(300_000_000).found(&RULE), []);
        assert_eq!(TestCase::direct(MIB, 4, 1, 250.0).found(&RULE), []);
    }
}
