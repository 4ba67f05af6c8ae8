//! G5: percentiles without samples.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Latency, Measurement, OpStats, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::object_jobs;
use crate::observed::{Observed, busiest};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::BEYOND;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G5",
        title: "too few samples for percentiles",
        explanation: "A percentile depends on the samples beyond it: p99.9 of 500 operations is \
            half an operation. candor reports a percentile only with at least ten samples beyond \
            it (1000 operations for p99, 10 000 for p99.9). This finding lists the missing \
            percentiles. Run longer, or use a reported percentile.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

/// Percentiles that people look for.
const EXPECTED: [f64; 2] = [99.0, 99.9];

fn after(observed: &Observed) -> Outcome {
    let moving = observed.ran.iter().filter_map(|ran| {
        let (op, stats) = busiest(ran.measured);
        of_operation(ran.measured, op.name(), stats)
    });
    let on_objects = object_jobs::ran(observed);
    let requests = on_objects.iter().filter_map(|job| {
        let stats = *job.operations().first()?;
        of_operation(job.measured, &format!("{} request", stats.name), stats)
    });
    moving.chain(requests).collect::<Vec<_>>().into()
}

fn of_operation(measured: &Measurement, op: &str, stats: &OpStats) -> Option<Finding> {
    let latency = stats.latency.as_ref().filter(|latency| latency.count > 0)?;
    let missing = EXPECTED.into_iter().find(|p| latency.percentile_ns(*p).is_none())?;
    Some(finding(measured, op, latency, missing))
}

fn finding(measured: &Measurement, op: &str, latency: &Latency, missing: f64) -> Finding {
    let beyond = latency.count as f64 * (1.0 - missing / 100.0);
    let highest = latency.percentiles.iter().map(|(p, _)| *p).fold(0.0, f64::max);
    let instead = match highest {
        p if p > 50.0 => format!("; the highest reported is p{p}"),
        _ => String::new(),
    };
    let needed = BEYOND.value / (1.0 - missing / 100.0);
    // 5000 × 0.1 % is 4.99… to a computer.
    let samples = match (beyond + 1e-6).floor() {
        0.0 => "less than one sample".into(),
        whole => fmt::plural(whole, "sample", "samples"),
    };
    let sentence = format!("p{missing} of the {op}s would rest on {samples}{instead}.");
    FindingBuilder::new("G5", Severity::Explains, sentence)
        .job(&measured.job)
        .confidence(Confidence::Certain)
        .evidence("operations", Quantity::count(latency.count as f64), "candor")
        .evidence("needed", Quantity::count(needed), "ten beyond the percentile")
        .advice("Run longer if this percentile matters.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    #[test]
    fn missing_percentiles_are_explained() {
        let found = TestCase::direct(MIB, 1, 1, 50.0).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "p99 of the reads would rest on 5 samples; the highest reported is p95."
        );
        let found = TestCase::direct(MIB, 1, 1, 500.0).found(&RULE);
        assert!(found[0].sentence.starts_with("p99.9 of the reads would rest on 5 samples"));
    }

    #[test]
    fn enough_samples_are_silent() {
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
