//! G8: a gap that is only units.

use candor_record::fmt;
use candor_record::{Ceiling, Confidence, Finding, Quantity, Severity};

use crate::bound::{Bound, Kind};
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::UNIT_GAP;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G8",
        title: "gap may be only units",
        explanation: "MB are millions of bytes, MiB are 1 048 576 bytes; the two differ by 4.9 %, \
            kB and KiB by 2.4 %, GB and GiB by 7.4 %. People have explained such gaps with drivers \
            and caches. If a rate and its ceiling, or a rate and the plan's rate, differ by \
            exactly this factor, candor reports the rate in both units. The match may be chance.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

/// Factors between the two families of units.
const FAMILIES: [UnitPair; 3] = [
    UnitPair { factor: 1.024, decimal: "kB", binary: "KiB" },
    UnitPair { factor: 1.048_576, decimal: "MB", binary: "MiB" },
    UnitPair { factor: 1.073_741_824, decimal: "GB", binary: "GiB" },
];

/// A binary unit and the decimal unit that is mistaken for it.
struct UnitPair {
    factor: f64,
    decimal: &'static str,
    binary: &'static str,
}

fn after(observed: &Observed) -> Outcome {
    let bounds = ceilings::bounds(observed);
    let found = bounds.iter().filter_map(|bound| Some(finding(&bound.ceiling, gap(bound)?)));
    found.collect::<Vec<_>>().into()
}

/// The family of units whose factor the gap is.
fn gap(bound: &Bound) -> Option<&'static UnitPair> {
    bound.ceiling.bytes_per_s.filter(|_| !measured(bound.kind))?;
    let used = bound.ceiling.used.filter(|used| *used > 0.0)?;
    let apart = used.max(1.0 / used);
    FAMILIES.iter().find(|pair| (apart / pair.factor - 1.0).abs() <= UNIT_GAP.value)
}

/// Nobody wrote that ceiling down in units.
fn measured(kind: Kind) -> bool {
    matches!(kind, Kind::Earlier | Kind::Memory)
}

fn finding(ceiling: &Ceiling, pair: &UnitPair) -> Finding {
    let UnitPair { factor, decimal, binary } = pair;
    let measured = ceiling.used.unwrap_or(0.0) * ceiling.bytes_per_s.unwrap_or(0.0);
    let percent = fmt::percent(factor - 1.0);
    let sentence = format!(
        "The {percent} between the result and the {} equals the gap between {binary} and \
         {decimal}: {} = {}.",
        ceiling.element,
        fmt::rate_binary(measured),
        fmt::rate_decimal(measured)
    );
    FindingBuilder::new("G8", Severity::Explains, sentence)
        .confidence(Confidence::Possible)
        .evidence("measured", Quantity::bytes_per_s(measured), "candor")
        .evidence(
            "compared with",
            Quantity::bytes_per_s(ceiling.bytes_per_s.unwrap_or(0.0)),
            "plan or link",
        )
        .advice("Compare both in bytes before you look for a cause.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};
    use candor_plan::BytesPerSec;

    fn paced(requested: u64) -> TestCase {
        let mut case = TestCase::direct(MIB, 4, 1, 519.0);
        case.blocks().pace.bytes = Some(BytesPerSec(requested));
        case
    }

    #[test]
    fn mebibytes_taken_for_megabytes() {
        let found = paced(519_000_000).found(&RULE);
        assert!(found[0].sentence.ends_with("519 MiB/s = 544 MB/s."), "{}", found[0].sentence);
        assert!(found[0].sentence.starts_with("The 4.9 % between"), "{}", found[0].sentence);
    }

    #[test]
    fn other_gaps_are_not_units() {
        assert_eq!(paced(519 * MIB).found(&RULE), []);
        assert_eq!(paced(528_000_000).found(&RULE), []);
        assert_eq!(TestCase::direct(MIB, 4, 1, 519.0).found(&RULE), []);
    }
}
