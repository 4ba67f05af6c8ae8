//! `--expect`: conditions that results of a run have to meet.

use std::borrow::Cow;

use candor_compare::Expect;
use candor_record::{Expectation, PERCENTILES, Report};

/// Checks the conditions on a report.
pub fn check(conditions: &[Expect], report: &Report) -> Vec<Expectation> {
    let asked = conditions.iter().filter_map(Expect::percentile);
    let further: Vec<f64> = asked.filter(|p| !PERCENTILES.contains(p)).collect();
    let mut report = Cow::Borrowed(report);
    if !further.is_empty() {
        report.to_mut().quote(&further);
    }
    let results = candor_derive::results(&report);
    conditions.iter().map(|condition| condition.check(&results)).collect()
}

/// Checks the conditions of a report that was judged again.
pub fn check_again(report: &Report) -> Vec<Expectation> {
    let again = |stored: &Expectation| match Expect::parse(&stored.condition) {
        Ok(condition) => check(&[condition], report),
        // A condition of another version of candor.
        Err(_) => vec![stored.clone()],
    };
    report.expectations.iter().flat_map(again).collect()
}
