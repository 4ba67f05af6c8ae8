//! E3: an array that is not whole, or at work on itself.

use candor_record::{ArrayState, Confidence, Finding, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "E3",
        title: "array degraded or rebuilding",
        explanation: "An array with a missing member recomputes the data of that member. An array \
            that resynchronises, recovers or checks itself reads and writes all members at the \
            same time. Both reduce the rate, and the result includes the repair. candor reads \
            state, missing members and action of each md array before and after the phase. Wait \
            for the end, or set sync_action to idle, and run again.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let (before, after) = (&observed.host.before.state.arrays, &observed.host.after.state.arrays);
    let ours = |array: &&ArrayState| observed.devices().iter().any(|d| d.name == array.device);
    let mut found: Vec<Finding> = Vec::new();
    for array in before.iter().chain(after).filter(ours) {
        let reported = found.iter().any(|f: &Finding| f.sentence.starts_with(&array.device));
        if let (false, Some(what)) = (reported, trouble(array)) {
            found.push(finding(array, &what));
        }
    }
    found.into()
}

/// The array moves bytes of its own.
fn acts(array: &ArrayState) -> Option<&str> {
    array.action.as_deref().filter(|action| !matches!(*action, "idle" | "frozen"))
}

/// The array of that name moved bytes of its own before the phase or after it.
pub fn rebuilds(observed: &Observed, name: &str) -> bool {
    let (before, after) = (&observed.host.before.state.arrays, &observed.host.after.state.arrays);
    before.iter().chain(after).any(|array| array.device == name && acts(array).is_some())
}

fn trouble(array: &ArrayState) -> Option<String> {
    if let Some(action) = acts(array) {
        return Some(format!("ran a {action} during the phase"));
    }
    if let Some(missing) = array.degraded.filter(|missing| *missing > 0) {
        return Some(format!("is degraded: {missing} of its members missing"));
    }
    const WELL: [&str; 6] =
        ["clean", "active", "active-idle", "write-pending", "readonly", "read-auto"];
    let state = array.state.as_deref().filter(|state| !WELL.contains(state))?;
    Some(format!("is {state}"))
}

fn finding(array: &ArrayState, what: &str) -> Finding {
    let from = |file: &str| format!("/sys/class/block/{}/md/{file}", array.device);
    let of = |name: &str, value: &Option<String>, file: &str| {
        value.clone().map(|value| (name.to_owned(), value, from(file)))
    };
    FindingBuilder::new("E3", Severity::Caution, format!("{} {what}.", array.device))
        .confidence(Confidence::Certain)
        .evidence_if(of("state", &array.state, "array_state"))
        .evidence_if(of("members missing", &array.degraded.map(|n| n.to_string()), "degraded"))
        .evidence_if(of("action", &array.action, "sync_action"))
        .advice("Wait until the array is complete and idle, and run again.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn array(degraded: u64, action: &str, state: &str) -> TestCase {
        let mut case =
            TestCase::direct(4096, 8, 1, 10_000.0).on_array("raid5", &[0.34, 0.33, 0.33]);
        case.host.after.state.arrays = vec![ArrayState {
            device: "md0".into(),
            state: Some(state.into()),
            degraded: Some(degraded),
            action: Some(action.into()),
        }];
        case.host.before.state.arrays = case.host.after.state.arrays.clone();
        case
    }

    #[test]
    fn a_repair_is_reported_once() {
        let found = array(1, "recover", "active").found(&RULE);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sentence, "md0 ran a recover during the phase.");
        assert_eq!(found[0].severity, Severity::Caution);
        assert!(array(1, "idle", "clean").found(&RULE)[0].sentence.contains("1 of its members"));
        assert_eq!(array(0, "idle", "inactive").found(&RULE)[0].sentence, "md0 is inactive.");
    }

    #[test]
    fn a_whole_and_idle_array_is_silent() {
        assert_eq!(array(0, "idle", "clean").found(&RULE), []);
        assert_eq!(array(0, "idle", "active").found(&RULE), []);
        let mut stripes = array(0, "idle", "clean");
        for array in &mut stripes.host.after.state.arrays {
            (array.degraded, array.action) = (None, None);
        }
        assert_eq!(stripes.found(&RULE), []);
    }
}
