//! G16: the repeats differ.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Measurement, PhaseRecord, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, measurement_of};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{SPREAD, SPREAD_WIDE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G16",
        title: "the repeats differ much",
        explanation: "Repeats show how reliable one run is: a result of one run may differ in the \
            next. candor compares the rates of the repeats of a phase, by job. A standard \
            deviation of more than 10 % of their mean is shown with the lowest and the highest \
            rate. Above 25 % the severity is caution, because no single repeat then represents the \
            device. Stop other work, find the change between the repeats (a cache, a burst \
            allowance, the state of the drive), and repeat more often.",
    },
    stage: Stage::Variation,
    limit: None,
    before: None,
    after,
};

/// The last repeat tells of all of them.
fn after(observed: &Observed) -> Outcome {
    let planned = observed.plan.repeats.max(1).saturating_mul(observed.phase.repeats.max(1));
    if observed.record.search_step || observed.record.repeat.saturating_add(1) < planned {
        return Outcome::Nothing;
    }
    let jobs = observed.phase.jobs.iter().enumerate();
    let found = jobs.filter_map(|(index, job)| of_job(observed, index, &job.name));
    found.collect::<Vec<_>>().into()
}

fn of_job(observed: &Observed, index: usize, job: &str) -> Option<Finding> {
    let same = |record: &&PhaseRecord| record.phase == observed.record.phase;
    let repeats = observed.judged_before().filter(same).chain([observed.record]);
    let measured = repeats.filter_map(|record| measurement_of(record, index, job));
    let rates: Vec<f64> = measured.map(rate).filter(|rate| *rate > 0.0).collect();
    let spread = candor_stats::relative_deviation(&rates);
    (rates.len() > 1 && spread > SPREAD.value).then(|| finding(job, spread, &rates))
}

/// Operations per second.
fn rate(measured: &Measurement) -> f64 {
    ratio(measured.ops_done() as f64, measured.elapsed_ns as f64 / 1e9)
}

fn finding(job: &str, spread: f64, rates: &[f64]) -> Finding {
    let (low, high) = (candor_stats::quantile(rates, 0.0), candor_stats::quantile(rates, 1.0));
    let sentence = format!(
        "{} repeats ranged from {} to {} operations/s, a factor of {}: mean {}, standard deviation \
         {} of the mean.",
        rates.len(),
        fmt::count(low),
        fmt::count(high),
        fmt::number(ratio(high, low)),
        fmt::count(candor_stats::mean(rates)),
        fmt::percent(spread)
    );
    let severity = if spread > SPREAD_WIDE.value { Severity::Caution } else { Severity::Explains };
    FindingBuilder::new("G16", severity, sentence)
        .job(job)
        .confidence(Confidence::Certain)
        .evidence("deviation of the repeats", Quantity::share(spread), "candor")
        .evidence("repeats", Quantity::count(rates.len() as f64), "candor")
        .advice(
            "Stop other work, find the change between the repeats, and repeat more often.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    /// The last of repeats with these rates.
    fn repeated(rates: &[f64]) -> TestCase {
        let of = |(repeat, rate): (usize, &f64)| {
            let mut case = TestCase::direct(4096, 1, 1, *rate);
            case.record.repeat = repeat as u32;
            case
        };
        let mut cases: Vec<TestCase> = rates.iter().enumerate().map(of).collect();
        let mut last = cases.pop().expect("one at least");
        last.plan.repeats = rates.len() as u32;
        last.after(cases.into_iter().map(TestCase::recorded).collect());
        last
    }

    #[test]
    fn repeats_that_differ_are_remarked_with_mean_and_deviation() {
        let case = repeated(&[10_000.0, 23_000.0]);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "2 repeats ranged from 10k to 23k operations/s, a factor of 2.3: mean 16.5k, standard \
             deviation 56 % of the mean."
        );
        assert_eq!(found[0].severity, Severity::Caution);
        assert_eq!(found[0].changes, [], "no setting quiets a machine");
        assert!(case.judge().rules().contains(&"G16"));
    }

    #[test]
    fn some_noise_is_shown_little_is_not() {
        // From the evidence book, a noisy virtual machine.
        let noisy = repeated(&[8_100.0, 11_300.0, 10_500.0]).found(&RULE);
        assert_eq!(noisy[0].severity, Severity::Explains);
        assert_eq!(repeated(&[10_000.0, 10_400.0, 9_900.0]).found(&RULE), []);
    }

    #[test]
    fn only_the_last_repeat_tells_and_other_phases_are_no_repeats() {
        let mut case = repeated(&[10_000.0, 23_000.0]);
        case.plan.repeats = 3;
        assert_eq!(case.found(&RULE), [], "one more comes");
        case.plan.repeats = 1;
        case.plan.phases[0].repeats = 2;
        assert_eq!(case.found(&RULE).len(), 1);
        case.earlier[0].phase = 7;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
