//! The texts that people read.

use candor_record::RuleId;

use crate::rules;
use crate::testcase::TestCase;

#[test]
fn every_rule_explains_itself() {
    for text in rules() {
        assert!(text.explanation.len() > 150, "{}", text.id);
        assert!(!text.explanation.contains("  "), "{}: {}", text.id, text.explanation);
        assert!(text.explanation.ends_with('.') && !text.title.ends_with('.'), "{}", text.id);
        assert_eq!(RuleId(text.id).to_string(), text.id);
    }
}

#[test]
fn every_rule_has_its_own_name() {
    let mut ids: Vec<_> = rules().iter().map(|text| text.id).collect();
    assert_eq!(ids.len(), 29);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 29);
}

#[test]
fn findings_carry_evidence_advice_and_a_command() {
    let cases =
        [TestCase::buffered_read(), TestCase::buffered_write(), TestCase::direct(512, 1, 1, 1e4)];
    for case in cases {
        for finding in case.judge().findings {
            assert!(!finding.evidence.is_empty(), "{finding:?}");
            assert!(!finding.advice.is_empty(), "{finding:?}");
            let next = finding.next.unwrap_or_else(|| "candor run".into());
            assert!(next.starts_with("candor run"), "{next}");
        }
    }
}

#[test]
fn silent_rules_say_what_they_lacked() {
    let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
    case.report.after.process_io = None;
    case.report.after.devices.clear();
    let judgement = case.judge();
    assert!(judgement.silent.iter().any(|silence| silence.rule == "A1"));
    assert!(judgement.silent.iter().all(|silence| !silence.lacked.is_empty()));
}
