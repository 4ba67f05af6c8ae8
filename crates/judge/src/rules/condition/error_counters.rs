//! F14: errors, retries and resets during the run.

use candor_record::{Confidence, ErrorCount, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F14",
        title: "drive or slot counted errors",
        explanation: "A command that times out, is retried, or crosses a link with errors takes \
            milliseconds to seconds, and causes unexplained outliers in a benchmark. The kernel \
            counts commands that timed out or failed, links that were slowed down, and PCIe \
            errors. candor compares these counters before and after the phase. Fix the hardware \
            first and discard the run.",
    },
    stage: Stage::Failure,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let before = &observed.host.before.state.errors;
    let more = observed.host.after.state.errors.iter().filter_map(|error| {
        let earlier = before.iter().find(|e| e.from == error.from && e.what == error.what)?;
        let more = error.count.checked_sub(earlier.count).filter(|more| *more > 0)?;
        let ours = observed.devices().iter().any(|device| device.name == error.device);
        ours.then_some((error, more))
    });
    let found: Vec<(&ErrorCount, u64)> = more.collect();
    if found.is_empty() { Outcome::Nothing } else { Outcome::one(finding(&found)) }
}

fn finding(found: &[(&ErrorCount, u64)]) -> Finding {
    let sentences: Vec<String> = found
        .iter()
        .map(|(error, more)| format!("{}: {more} {}", error.device, error.what))
        .collect();
    let mut draft = FindingBuilder::new(
        "F14",
        Severity::Caution,
        format!("During the run, {}.", sentences.join("; ")),
    )
    .confidence(Confidence::Certain);
    for (error, more) in found {
        draft = draft.evidence(&*error.what, Quantity::count(*more as f64), &*error.from);
    }
    draft.advice("Check cable, slot and drive, fix the fault, and run again.", None).done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn errors(before: u64, after: u64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        let counter = |count| ErrorCount {
            device: "vda".into(),
            what: "commands timed out".into(),
            count,
            from: "device/iotmo_cnt".into(),
        };
        case.host.before.state.errors = vec![counter(before)];
        case.host.after.state.errors = vec![counter(after)];
        case
    }

    #[test]
    fn what_was_counted_during_the_run_is_reported() {
        let found = errors(3, 5).found(&RULE);
        assert_eq!(found[0].sentence, "During the run, vda: 2 commands timed out.");
        assert_eq!(found[0].severity, Severity::Caution);
    }

    #[test]
    fn old_errors_and_none_are_silent() {
        assert_eq!(errors(3, 3).found(&RULE), []);
        assert_eq!(errors(5, 3).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
