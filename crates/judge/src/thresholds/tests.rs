use super::*;

#[test]
fn every_threshold_says_where_it_comes_from() {
    for threshold in all() {
        assert!(threshold.value > 0.0, "{}", threshold.name);
        assert!(threshold.source.len() > 4 && threshold.reason.len() > 10);
    }
}

/// Modules that rules share: a threshold in one of these serves the rules that go through it.
const SHARED: &[&str] = &[
    "observed.rs",
    "coverage.rs",
    "hits.rs",
    "evidence.rs",
    "foreign.rs",
    "bound.rs",
    "limit.rs",
    "follow_ups.rs",
    "questions.rs",
    "expect.rs",
    "trials.rs",
    "more_load.rs",
    "object_jobs.rs",
    "object_load.rs",
    "series.rs",
    "rules/cache/unread_ranges.rs",
    "rules/array/slow_member.rs",
];

/// The names of thresholds in a source file, its tests left out.
fn used_in(file: &str) -> Vec<&'static str> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let text = std::fs::read_to_string(&path).expect(file);
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: Vec<&str> = text.split(|c| !is_word(c)).collect();
    all().map(|threshold| threshold.id).filter(|id| words.contains(id)).collect()
}

/// The file of a rule.
fn file_of(id: &str) -> String {
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules");
    let folders = std::fs::read_dir(rules)
        .unwrap()
        .filter_map(|entry| std::fs::read_dir(entry.unwrap().path()).ok());
    let mut files = folders.flatten().map(|file| file.unwrap().path());
    let path = files
        .find(|path| std::fs::read_to_string(path).unwrap().contains(&format!("id: \"{id}\"")))
        .unwrap_or_else(|| panic!("no file has {id}"));
    path.to_str().unwrap().split_once("/src/").unwrap().1.to_owned()
}

#[test]
fn every_threshold_names_the_rules_that_use_it() {
    let shared: Vec<_> = SHARED.iter().flat_map(|file| used_in(file)).collect();
    for rule in crate::rules::all() {
        let used = used_in(&file_of(rule.text.id));
        for threshold in all() {
            let named = threshold.rules.contains(&rule.text.id);
            let uses = used.contains(&threshold.id);
            assert!(named || !uses, "{} uses {}: name it there", rule.text.id, threshold.id);
            let may = uses || shared.contains(&threshold.id);
            assert!(may || !named, "{} does not use {}", rule.text.id, threshold.id);
        }
    }
}

#[test]
fn every_threshold_is_used() {
    let known = |id: &&str| crate::rules::find(id).is_some();
    for threshold in all() {
        assert!(threshold.rules.iter().all(known), "{}: no such rule", threshold.id);
        let anywhere = !threshold.rules.is_empty()
            || SHARED.iter().any(|file| used_in(file).contains(&threshold.id));
        assert!(anywhere, "{}", threshold.id);
    }
}

#[test]
fn thresholds_stand_in_order() {
    const { assert!(COVERAGE_MEMORY.value < COVERAGE_FULL.value) };
    const { assert!(SHORT_S.value < USABLE_S.value) };
    const { assert!(SPREAD.value < SPREAD_WIDE.value) };
    const { assert!(CEILING_NEAR.value < CEILING_OVER.value) };
}
