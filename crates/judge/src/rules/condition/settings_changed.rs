//! F15: settings changed during the run.

use candor_record::{Confidence, Finding, Severity};

use crate::builder::FindingBuilder;
use crate::changes;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F15",
        title: "settings changed during the run",
        explanation: "A result is valid for one set of conditions. Another process can change \
            conditions during the run: limits of control groups, mount options, the flag of a loop \
            device, the scheduler and cache of a queue, holes in a file, the file of a name. \
            candor reads these settings at the start of each phase, every four seconds if the \
            reading is cheap, and at the end. Rules that depend on a setting use the current value \
            at each moment. Leave the settings unchanged, and run again.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let mut before = observed.facts;
    let mut all: Vec<(u64, String)> = Vec::new();
    for later in &observed.host.later_facts {
        let found = changes::differences(observed, before, &later.facts);
        all.extend(found.into_iter().map(|change| (later.at_ns, change)));
        before = &later.facts;
    }
    if all.is_empty() { Outcome::Nothing } else { Outcome::one(finding(&all)) }
}

fn finding(changes: &[(u64, String)]) -> Finding {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = changes.iter().take(SHOWN).map(|(_, change)| change.as_str()).collect();
    let more = match changes.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let sentence = format!("Settings changed during the phase: {}{more}.", shown.join("; "));
    let draft = FindingBuilder::new("F15", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .advice("Leave the settings unchanged, and run again.", None);
    let draft = changes.iter().fold(draft, |draft, (at_ns, change)| {
        let at = candor_record::fmt::time(*at_ns as f64);
        draft.evidence(format!("seen after {at}"), change.clone(), "read again")
    });
    draft.done()
}

#[cfg(test)]
mod tests {
    use candor_record::LaterFacts;
    use candor_record::facts::{Fact, IoLimit};

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn each_change_is_told_with_both_values() {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0).on_loop(true);
        let mut facts = case.host.facts.clone();
        facts.devices[0].loop_backing.as_mut().unwrap().direct = Some(Fact::new(false, "loop/dio"));
        let limit =
            IoLimit { device: "7:0".into(), read_ops_per_s: Some(3000), ..IoLimit::default() };
        facts.host.cgroup.io.push(Fact::new(limit, "io.max"));
        let later = LaterFacts { unchanged_at_ns: 4_000_000_000, at_ns: 5_000_000_000, facts };
        case.host.later_facts.push(later);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Settings changed during the phase: control group limit on loop0: none, later 3000 \
             reads/s; loop/dio of loop0: 1, later 0."
        );
    }

    #[test]
    fn holes_that_were_filled_are_told_unless_the_kernel_wrote_dirty_pages() {
        fn filled(dirty: u64) -> usize {
            let mut case = TestCase::direct(4096, 8, 1, 10_000.0);
            let facts = case.host.facts.clone();
            case.file().extents.as_mut().unwrap().value.mapped_bytes = 0;
            case.host.before.cache.as_mut().unwrap().dirty_bytes = Some(dirty);
            let later = LaterFacts { unchanged_at_ns: 0, at_ns: 10_000_000_000, facts };
            case.host.later_facts.push(later);
            case.found(&RULE).len()
        }
        assert_eq!((filled(0), filled(4096)), (1, 0));
    }

    /// Seen: `mv other file` during the run; trials after it read the other file.
    #[test]
    fn a_file_that_was_replaced_is_told_and_has_no_trial() {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0);
        let open = |case: &TestCase| crate::questions(&case.case(), &case.judge()).len();
        assert!(open(&case) > 0);
        let mut facts = case.host.facts.clone();
        facts.targets[0].files[0].inode = Some(13);
        let later = LaterFacts { unchanged_at_ns: 0, at_ns: 10_000_000_000, facts };
        case.host.later_facts.push(later);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Settings changed during the phase: inode of /data/file (another file now): 12, later \
             13."
        );
        assert_eq!(open(&case), 0);
    }

    #[test]
    fn settings_that_stayed_are_silent() {
        assert_eq!(TestCase::direct(4096, 8, 1, 10_000.0).found(&RULE), []);
    }
}
