//! G3: the rate was still moving.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Measurement, Quantity, Severity};
use candor_stats::Line;

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::object_jobs;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::series;
use crate::stage::Stage;
use crate::thresholds::{SPREAD_SECONDS, TREND, TREND_CLEAR};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G3",
        title: "rate was rising or falling",
        explanation: "A mean describes a steady rate only. candor fits a line through the seconds \
            of the second half. A rise or fall of more than 10 %, and clearly more than the \
            scatter of the seconds, means that the mean depends on the length of the run. Typical \
            reasons: caches that fill, drives without erased blocks, heat and spent credits. Run \
            longer, and report the rate at the end.",
    },
    stage: Stage::Variation,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.paced() {
        return Outcome::Nothing;
    }
    let requests = object_jobs::ran(observed).into_iter().filter(|job| !job.is_paced());
    let requests = requests.map(|job| job.measured);
    let moving = observed.ran.iter().map(|ran| ran.measured);
    let found = moving.chain(requests).filter_map(|measured| of_job(observed, measured));
    found.collect::<Vec<_>>().into()
}

fn of_job(observed: &Observed, measured: &Measurement) -> Option<Finding> {
    let rates = series::ops_rates(measured);
    let half = rates.get(rates.len() / 2..).unwrap_or_default();
    if (half.len() as f64) < SPREAD_SECONDS.value {
        return None;
    }
    let line = Line::through(half)?;
    let moving = line.change.abs() > TREND.value && line.errors() > TREND_CLEAR.value;
    moving.then(|| finding(observed, measured, line.change, half))
}

/// With the rates at both ends of the fitted line: its change over the mean is no change of a rate.
fn finding(observed: &Observed, measured: &Measurement, change: f64, half: &[f64]) -> Finding {
    let word = if change > 0.0 { "rose" } else { "fell" };
    let at = |end: f64| (candor_stats::mean(half) * (1.0 + end * change / 2.0)).max(0.0);
    let (from, to) = (fmt::count(at(-1.0)), fmt::iops(at(1.0)));
    let sentence = format!("The rate {word} from {from} to {to} during the second half.");
    let ran = observed.ran.iter().find(|ran| ran.job.name == measured.job);
    let command = ran.and_then(|ran| Command::of(observed.plan, &ran.planned));
    FindingBuilder::new("G3", Severity::Caution, sentence)
        .job(&measured.job)
        .confidence(Confidence::Likely)
        .evidence("fitted change of the rate", Quantity::share(change), "candor")
        .evidence("intervals", Quantity::count(half.len() as f64), "candor")
        .advice(
            "Run until the rate is steady, and report the rate at the end.",
            command.map(|command| command.seconds(120)),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::{TestCase, Workload};

    /// A run whose second half changes by so much, with seconds that scatter by so much.
    fn drifting(change: f64, scatter: f64) -> TestCase {
        let mut case = Workload { seconds: 20, ..Workload::default() }.case();
        for (i, sample) in case.measured().samples.iter_mut().enumerate() {
            let at = (i as f64 - 10.0).max(0.0) / 9.0;
            let sign = if i % 3 == 0 { 1.0 } else { -0.5 };
            sample.of_mut(Direction::Read).ops =
                (10_000.0 * (1.0 + change * at + sign * scatter)) as u64;
        }
        case
    }

    #[test]
    fn a_rate_that_falls_is_remarked() {
        let found = drifting(-0.14, 0.01).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "The rate fell from 9982 to 8607 IOPS during the second half."
        );
        assert_eq!(found[0].severity, Severity::Caution);
        assert!(drifting(0.3, 0.0).found(&RULE)[0].sentence.contains("rose"));
    }

    #[test]
    fn scatter_and_small_changes_are_no_trend() {
        assert_eq!(drifting(0.0, 0.2).found(&RULE), []);
        assert_eq!(drifting(-0.14, 0.3).found(&RULE), []);
        assert_eq!(drifting(-0.05, 0.01).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
