//! The texts that people read.

use std::collections::BTreeSet;

use candor_plan::objects::ObjectOp;

use crate::rules;
use crate::testcase::TestCase;

#[test]
fn every_rule_explains_itself() {
    for text in rules::all().map(|rule| rule.text) {
        assert!((1..=5).contains(&text.title.split_whitespace().count()), "{}", text.title);
        assert!(text.explanation.len() > 150, "{}", text.id);
        assert!(!text.explanation.contains("  "), "{}: {}", text.id, text.explanation);
        assert!(text.explanation.ends_with('.') && !text.title.ends_with('.'), "{}", text.id);
    }
}

#[test]
fn every_rule_has_its_own_name() {
    let ids: Vec<_> = rules::all().map(|rule| rule.text.id).collect();
    let mut sorted = ids.clone();
    sorted.sort_by_key(|id| (id[..1].to_owned(), id[1..].parse::<u32>().unwrap()));
    sorted.dedup();
    assert_eq!(ids, sorted, "each once, in the order of the evidence book");
}

/// Words such as `A1` in the sources, tests and texts included.
fn ids_in(path: &std::path::Path, ids: &mut BTreeSet<String>) {
    if path.is_dir() {
        return std::fs::read_dir(path).unwrap().for_each(|e| ids_in(&e.unwrap().path(), ids));
    }
    let text = std::fs::read_to_string(path).unwrap();
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    fn is_id(word: &&str) -> bool {
        let digits = word.strip_prefix(|c| ('A'..='H').contains(&c) || c == 'S');
        digits.is_some_and(|d| (1..=2).contains(&d.len()) && d.bytes().all(|b| b.is_ascii_digit()))
    }
    ids.extend(words.filter(is_id).map(str::to_owned));
}

#[test]
fn every_rule_that_is_named_exists() {
    let mut ids = BTreeSet::new();
    ids_in(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut ids);
    assert!(ids.len() >= rules::all().count(), "the sources were read");
    let unknown: Vec<_> = ids.iter().filter(|id| rules::find(id).is_none()).collect();
    assert_eq!(unknown, [] as [&String; 0]);
}

#[test]
fn findings_carry_evidence_advice_and_changes_of_the_plan() {
    let cases =
        [TestCase::buffered_read(), TestCase::buffered_write(), TestCase::direct(512, 1, 1, 1e4)];
    for case in cases.into_iter().chain(on_objects()) {
        for finding in case.judge().findings {
            assert!(!finding.evidence.is_empty(), "{finding:?}");
            assert!(!finding.advice.is_empty(), "{finding:?}");
            for setting in &finding.changes {
                let (key, value) = (&setting.key, &setting.value);
                let set = candor_plan::text::set(&case.plan, key, value);
                assert!(set.is_ok_and(|(plan, _)| plan != case.plan), "{key}={value}");
            }
        }
    }
}

/// Requests for objects with several findings.
fn on_objects() -> [TestCase; 2] {
    let mut reads = TestCase::on_objects(ObjectOp::Get, 65_536, 1, 2000.0);
    reads.objects().retry.attempts = 10;
    let http = reads.http();
    (http.operations[0].retries, http.operations[0].near_40_ms) = (900, 19_000);
    let objects = &mut http.objects;
    (objects.checked_reads, objects.ranges, objects.ranges_across_parts) = (0, 20_000, 9000);
    (objects.part_bytes, objects.age_s) = (Some(8 << 20), None);
    let mut uploads = TestCase::on_objects(ObjectOp::Put, 4096, 4, 3000.0);
    uploads.measured().per_worker[0].cpu_user_ns = 9_000_000_000;
    let http = uploads.http();
    (http.connections.opened, http.connections.closed_by_server) = (29_000, 29_000);
    (http.objects.etags, http.objects.equal_etags) = (30_000, 29_999);
    [reads, uploads]
}

#[test]
fn silent_rules_say_what_they_lacked() {
    let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
    case.host.after.process_io = None;
    case.host.after.devices.clear();
    let judgement = case.judge();
    assert!(judgement.not_evaluated.iter().any(|skipped| skipped.rule == "A1"));
    assert!(judgement.not_evaluated.iter().all(|skipped| !skipped.lacked.is_empty()));
}

#[test]
fn explanations_carry_thresholds_with_source_and_reason() {
    let all = crate::explanations();
    assert_eq!(all.len(), rules::all().count());
    let of = |rule: &str| all.iter().find(|known| known.rule == rule).unwrap();
    assert!(of("A1").thresholds.iter().any(|t| t.value == 0.05 && !t.source.is_empty()));
    assert!(of("A16").preflight && !of("D8").preflight);
    assert!(of("A16").thresholds.is_empty());
}
