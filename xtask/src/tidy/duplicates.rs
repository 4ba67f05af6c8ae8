//! Each crate has one version, except those that `deny.toml` lists.

use std::collections::BTreeMap;

use super::{Breach, Source};

const LOCK: &str = "Cargo.lock";
const DENY: &str = "deny.toml";

/// Older versions in the lock file that are not listed, and listed ones that are gone.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let find = |path: &str| sources.iter().find(|source| source.path == path);
    let (Some(lock), Some(deny)) = (find(LOCK), find(DENY)) else { return Vec::new() };
    let (older, listed) = (older(&lock.text), listed(&deny.text));
    let unlisted = older.iter().filter(|name| !listed.contains_key(*name)).map(|name| {
        lock.breach(1, format!("{name} is not the only version: unify them, or list it in {DENY}"))
    });
    let gone = listed.iter().filter(|(name, _)| !older.contains(name));
    let gone = gone.map(|(name, line)| deny.breach(*line, format!("{name} is no duplicate")));
    unlisted.chain(gone).collect()
}

/// `NAME@VERSION` of all versions but the last one of each crate, which the lock file sorts.
fn older(lock: &str) -> Vec<String> {
    let mut packages: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = "";
    let quoted = |line: &str| -> Option<usize> { line.len().checked_sub(1) };
    for line in lock.lines() {
        if let Some(rest) = line.strip_prefix("name = \"") {
            name = &rest[..quoted(rest).unwrap_or(0)];
        } else if let Some(rest) = line.strip_prefix("version = \"") {
            packages.entry(name).or_default().push(&rest[..quoted(rest).unwrap_or(0)]);
        }
    }
    let older = packages.into_iter().flat_map(|(name, versions)| {
        let count = versions.len() - 1;
        versions.into_iter().take(count).map(move |version| format!("{name}@{version}"))
    });
    older.collect()
}

/// `NAME@VERSION` of each entry, with its line.
fn listed(deny: &str) -> BTreeMap<String, usize> {
    let entries = deny.lines().enumerate().filter_map(|(i, line)| {
        let (_, rest) = line.split_once("crate = \"")?;
        Some((rest.split_once('"')?.0.to_owned(), i + 1))
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n[[package]]\nname = \
                       \"a\"\nversion = \"2.0.0\"\n[[package]]\nname = \"b\"\nversion = \
                       \"1.0.0\"\n";

    fn sentences(lock: &str, deny: &str) -> Vec<String> {
        let sources = [Source::new(LOCK, lock), Source::new(DENY, deny)];
        check(&sources).into_iter().map(|breach| breach.sentence).collect()
    }

    #[test]
    fn unlisted_duplicates_and_stale_entries_are_found() {
        assert!(sentences(TWO, "skip = []")[0].starts_with("a@1.0.0 is not the only version"));
        let stale = "skip = [\n{ crate = \"a@1.0.0\" },\n{ crate = \"b@0.9.0\" },\n]";
        assert_eq!(sentences(TWO, stale), ["b@0.9.0 is no duplicate"]);
    }

    #[test]
    fn listed_duplicates_are_fine() {
        let empty: [&str; 0] = [];
        assert_eq!(sentences(TWO, "skip = [{ crate = \"a@1.0.0\", reason = \"x\" }]"), empty);
    }
}
