//! G2: the seconds differ.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Measurement, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::series;
use crate::stage::Stage;
use crate::thresholds::{SPREAD, SPREAD_SECONDS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G2",
        title: "the seconds differ much",
        explanation: "A mean is a fair summary only of similar values. candor computes the rate of \
            each full second and subtracts the pure counting noise. A standard deviation of more \
            than 10 % of the mean is shown with the slowest and the fastest second: the mean of \
            the next run may differ by the same amount. Stop other programs, run longer, repeat at \
            least three times.",
    },
    stage: Stage::Variation,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let found = observed.record.measurements.iter().filter_map(|m| of_job(observed, m));
    found.collect::<Vec<_>>().into()
}

fn of_job(observed: &Observed, measured: &Measurement) -> Option<Finding> {
    let rates = series::ops_rates(measured);
    if (rates.len() as f64) < SPREAD_SECONDS.value {
        return None;
    }
    let interval_ns = measured.samples.iter().map(|sample| sample.length_ns).max()?;
    // Events that are counted vary by the root of their number, however steady their cause is.
    let counting = ratio(1.0, candor_stats::mean(&rates) * interval_ns as f64 / 1e9);
    let spread = (candor_stats::relative_deviation(&rates).powi(2) - counting).max(0.0).sqrt();
    (spread > SPREAD.value).then(|| finding(observed, measured, spread, &rates))
}

fn finding(observed: &Observed, measured: &Measurement, spread: f64, rates: &[f64]) -> Finding {
    let low = fmt::count(candor_stats::quantile(rates, 0.0));
    let high = fmt::iops(candor_stats::quantile(rates, 1.0));
    let sentence = format!(
        "Rates of single seconds ranged from {low} to {high}; standard deviation {} of the mean.",
        fmt::percent(spread)
    );
    let ran = observed.ran.iter().find(|ran| ran.job.name == measured.job);
    let command = ran.and_then(|ran| Command::of(observed.plan, &ran.planned));
    FindingBuilder::new("G2", Severity::Explains, sentence)
        .job(&measured.job)
        .confidence(Confidence::Certain)
        .evidence("deviation of the seconds", Quantity::share(spread), "candor")
        .evidence("seconds", Quantity::count(rates.len() as f64), "candor")
        .advice(
            "Stop other programs, run longer, and repeat at least three times.",
            command.map(|command| command.seconds(60)),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::TestCase;

    fn varying(by: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        for (i, sample) in case.measured().samples.iter_mut().enumerate() {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            sample.of_mut(Direction::Read).ops = (10_000.0 * (1.0 + sign * by)) as u64;
        }
        case
    }

    #[test]
    fn a_noisy_run_has_its_slowest_and_fastest_second() {
        let sentence = &varying(0.17).found(&RULE)[0].sentence;
        let expected = "Rates of single seconds ranged from 8300 to 11.7k IOPS; standard";
        assert!(sentence.starts_with(expected), "{sentence}");
    }

    #[test]
    fn one_slow_second_is_in_the_range_that_it_widens() {
        let mut case = varying(0.0);
        case.measured().samples[3].of_mut(Direction::Read).ops = 100;
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.contains("from 100 to 10k IOPS"), "{sentence}");
    }

    #[test]
    fn a_quiet_run_is_silent() {
        assert_eq!(varying(0.05).found(&RULE), []);
    }

    #[test]
    fn few_operations_vary_by_counting_alone() {
        let mut case = varying(0.0);
        for (i, sample) in case.measured().samples.iter_mut().enumerate() {
            sample.of_mut(Direction::Read).ops = 10 + 3 * (i as u64 % 2);
        }
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn the_cut_last_interval_and_short_runs_do_not_count() {
        let mut case = varying(0.02);
        let last = case.measured().samples.last_mut().unwrap();
        last.length_ns = 10_000_000;
        last.of_mut(Direction::Read).ops = 3;
        assert_eq!(case.found(&RULE), []);
        let mut case = varying(0.4);
        case.measured().samples.truncate(4);
        assert_eq!(case.found(&RULE), []);
    }
}
