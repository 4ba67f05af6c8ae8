//! G2: the seconds differ.

use candor_record::{Confidence, Finding, Measurement, Weight};

use crate::command::Command;
use crate::draft::Draft;
use crate::fmt::{self, ratio};
use crate::rule::{Outcome, Rule, RuleText};
use crate::thresholds::{FULL_SECOND, SPREAD, SPREAD_SECONDS, SPREAD_WIDE};
use crate::view::View;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G2",
        title: "the seconds of the run differ much",
        explanation: "A mean is a fair summary only of values that are alike. candor takes the \
            rate of each full second, less what mere counting varies; a deviation of more than \
            10 % of the mean is shown with the 5th and 95th percentile of the seconds, more than \
            25 % is remarked, because then the mean of the next run may differ by as much. Quiet \
            the machine, run longer, repeat at least three times.",
    },
    before: None,
    after,
};

fn after(view: &View) -> Outcome {
    let found = view.report.measurements.iter().filter_map(|m| of_job(view, m));
    found.collect::<Vec<_>>().into()
}

fn of_job(view: &View, measured: &Measurement) -> Option<Finding> {
    let mut rates = rates(measured);
    if (rates.len() as f64) < SPREAD_SECONDS.value {
        return None;
    }
    let count = rates.len() as f64;
    let mean = ratio(rates.iter().sum(), count);
    // Events that are counted vary by the root of their number, however steady their cause is.
    let counting = mean / seconds(measured);
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let spread = ratio((variance - counting).max(0.0).sqrt(), mean);
    rates.sort_by(f64::total_cmp);
    (spread > SPREAD.value).then(|| finding(view, measured, spread, &rates))
}

/// Length of a full interval.
fn seconds(measured: &Measurement) -> f64 {
    measured.samples.iter().map(|s| s.length_ns).max().unwrap_or(0).max(1) as f64 / 1e9
}

/// Operations per second of each full interval; the last one is cut where the phase ends.
pub fn rates(measured: &Measurement) -> Vec<f64> {
    let full = seconds(measured) * 1e9 * FULL_SECOND.value;
    let full = measured.samples.iter().filter(|s| s.length_ns > 0 && s.length_ns as f64 >= full);
    let ops = |s: &candor_record::Sample| s.ops.iter().map(|(_, ops)| *ops as f64).sum::<f64>();
    full.map(|s| ratio(ops(s), s.length_ns as f64 / 1e9)).collect()
}

fn finding(view: &View, measured: &Measurement, spread: f64, sorted: &[f64]) -> Finding {
    let at = |share: f64| {
        let index = (share * (sorted.len() - 1) as f64).round() as usize;
        sorted.get(index).copied().unwrap_or(0.0)
    };
    let (low, high) = (fmt::count(at(0.05)), fmt::iops(at(0.95)));
    let sentence = format!(
        "The seconds ranged from {low} to {high} (5th to 95th percentile); deviation {} of the \
         mean.",
        fmt::percent(spread)
    );
    let weight = if spread > SPREAD_WIDE.value { Weight::Remark } else { Weight::Explains };
    let ran = view.ran.iter().find(|ran| ran.job.name == measured.job);
    let command = ran.and_then(|ran| Command::of(view.plan, &ran.planned));
    Draft::new("G2", weight, sentence)
        .job(&measured.job)
        .confidence(Confidence::Certain)
        .evidence("deviation of the seconds", fmt::percent(spread), "candor")
        .evidence("seconds", sorted.len().to_string(), "candor")
        .advice(
            "Quiet the machine, run longer, and repeat at least three times.",
            command.map(|command| command.seconds(60).text()),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn varying(by: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        for (i, sample) in case.measured().samples.iter_mut().enumerate() {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            sample.ops.read = (10_000.0 * (1.0 + sign * by)) as u64;
        }
        case
    }

    #[test]
    fn a_noisy_run_is_shown_a_wild_one_remarked() {
        let found = varying(0.17).found(&RULE);
        assert_eq!(found[0].weight, Weight::Explains);
        assert!(found[0].sentence.starts_with("The seconds ranged from 8300 to 11.7k IOPS"));
        assert_eq!(varying(0.4).found(&RULE)[0].weight, Weight::Remark);
    }

    #[test]
    fn a_quiet_run_is_silent() {
        assert_eq!(varying(0.05).found(&RULE), []);
    }

    #[test]
    fn few_operations_vary_by_counting_alone() {
        let mut case = varying(0.0);
        for (i, sample) in case.measured().samples.iter_mut().enumerate() {
            sample.ops.read = 10 + 3 * (i as u64 % 2);
        }
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn the_cut_last_interval_and_short_runs_do_not_count() {
        let mut case = varying(0.02);
        let last = case.measured().samples.last_mut().unwrap();
        (last.length_ns, last.ops.read) = (10_000_000, 3);
        assert_eq!(case.found(&RULE), []);
        let mut case = varying(0.4);
        case.measured().samples.truncate(4);
        assert_eq!(case.found(&RULE), []);
    }
}
