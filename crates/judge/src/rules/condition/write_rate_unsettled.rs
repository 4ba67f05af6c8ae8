//! F1: the write rate still drifts.

use candor_plan::units::Direction;
use candor_record::fmt;
use candor_record::{Confidence, Finding, Severity};
use candor_stats::Line;

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::series::{self, Second};
use crate::stage::Stage;
use crate::thresholds::{DRIFT, DRIFT_CLEAR, DRIFT_S};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F1",
        title: "write rate has not settled",
        explanation: "A solid-state drive that was erased, or was idle for long, writes faster \
            than its sustained rate: first runs are the fastest. The SNIA calls a drive settled if \
            a line through five windows changes by no more than a tenth of their mean. candor fits \
            this line to direct writes of thirty seconds or more, and reports a drift larger than \
            the normal variation of the windows. Write the range twice beforehand, and continue \
            until the rate is level.",
    },
    stage: Stage::WriteCourse,
    limit: None,
    before: None,
    after,
};

/// Windows that are compared.
const WINDOWS: usize = 5;

fn after(observed: &Observed) -> Outcome {
    let found = observed.ran.iter().filter(|ran| writes_to_media(ran));
    found.filter_map(|ran| of(observed, ran)).collect::<Vec<_>>().into()
}

/// The job writes, at full speed, and not to memory.
pub fn writes_to_media(ran: &Ran) -> bool {
    ran.does(Direction::Write) && (ran.blocks.direct || ran.durable_each()) && !ran.paced()
}

fn of(observed: &Observed, ran: &Ran) -> Option<Finding> {
    let seconds = series::seconds(ran.measured, |op| op == Direction::Write);
    if (seconds.len() as f64) < DRIFT_S.value {
        return None;
    }
    let rates: Vec<f64> = seconds.iter().map(|second: &Second| second.bytes_per_s).collect();
    let windows = candor_stats::windows(&rates, WINDOWS);
    let Line { change, rest, .. } = Line::through(&windows)?;
    let drifts = change.abs() > DRIFT.value && rest < change.abs() / DRIFT_CLEAR.value;
    drifts.then(|| finding(observed, ran, change, &windows))
}

fn finding(observed: &Observed, ran: &Ran, change: f64, windows: &[f64]) -> Finding {
    let sign = if change < 0.0 { "−" } else { "+" };
    let sentence = format!(
        "Writes still drift: {sign}{} along a line through {WINDOWS} windows of the run.",
        fmt::percent(change.abs())
    );
    let each: Vec<_> = windows.iter().map(|rate| fmt::rate_decimal(*rate)).collect();
    let command = Command::of(observed.plan, &ran.planned);
    FindingBuilder::new("F1", Severity::Caution, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Likely)
        .evidence("windows", each.join(", "), "candor")
        .advice(
            "Write the whole range twice beforehand, and run until the rate is level.",
            command.map(|command| command.seconds(600)),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn a_rate_that_sinks_all_along() {
        let case = TestCase::direct_write().seconds(60, |i| 20_000.0 - 60.0 * i as f64);
        let found = case.found(&RULE);
        assert!(
            found[0].sentence.starts_with("Writes still drift: −16 %"),
            "{}",
            found[0].sentence
        );
        assert_eq!(found[0].severity, Severity::Caution);
    }

    #[test]
    fn level_noisy_short_and_reading_runs_are_silent() {
        let level = TestCase::direct_write().seconds(60, |i| 20_000.0 + 900.0 * (i % 3) as f64);
        assert_eq!(level.found(&RULE), []);
        let noisy = TestCase::direct_write().seconds(60, |i| 20_000.0 + ((i * 7919) % 9000) as f64);
        assert_eq!(noisy.found(&RULE), []);
        let short = TestCase::direct_write().seconds(20, |i| 20_000.0 - 300.0 * i as f64);
        assert_eq!(short.found(&RULE), []);
        let reads = TestCase::direct(4096, 8, 1, 1e4).seconds(60, |i| 20_000.0 - 60.0 * i as f64);
        assert_eq!(reads.found(&RULE), []);
    }
}
