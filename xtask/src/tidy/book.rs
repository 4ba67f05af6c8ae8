//! The documentation as a book: the summary lists every page, links and anchors resolve, and pages
//! and cells of tables are short.

use std::collections::BTreeSet;

use super::{Breach, Source};

const FOLDER: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";
const PAGE_LINES: usize = 400;
const CELL_CHARACTERS: usize = 300;

/// Texts here become sections of derived pages, and have their links.
const FRAGMENTS: &str = "crates/candor/src/";

/// Pages and folders of pages that tests derive from the program: their length follows from it.
const DERIVED: &[&str] = &[SUMMARY, "docs/csv.md", "docs/reference/plan-keys.md", "docs/rules"];

/// First words of pages that are derived from tables of options.
const DERIVED_TITLE: &str = "# Options of ";

/// Folders in which the first line of a page names its purpose.
const PURPOSES: &[(&str, &str)] = &[
    ("docs/start/", "This tutorial "),
    ("docs/how-to/", "This page "),
    ("docs/understand/", "This page explains "),
    ("docs/reference/", "This page is reference: "),
    ("docs/compare/", "This page compares "),
    ("docs/design/", "This page explains "),
];

/// Pages of the book.
fn pages(sources: &[Source]) -> impl Iterator<Item = &Source> {
    documents(sources).filter(|source| source.path.starts_with(FOLDER))
}

fn documents(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| source.path.ends_with(".md"))
}

/// Pages that the summary does not list: mdBook leaves them out.
pub fn summary(sources: &[Source]) -> Vec<Breach> {
    let Some(summary) = sources.iter().find(|source| source.path == SUMMARY) else {
        return Vec::new();
    };
    let listed: BTreeSet<String> = links(summary).map(|link| link.path).collect();
    let missing =
        pages(sources).filter(|page| page.path != SUMMARY && !listed.contains(&page.path));
    missing.map(|page| page.breach(1, format!("{SUMMARY} does not list this page"))).collect()
}

/// Links to a document, a section, or a file of the book that does not exist.
pub fn broken_links(sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for document in documents(sources).filter(|document| !document.path.starts_with(FRAGMENTS)) {
        for Link { line, path, anchor } in links(document) {
            let target = sources.iter().find(|source| source.path == path);
            let is_known = path.ends_with(".md") || path.starts_with(FOLDER);
            match target {
                None if is_known => {
                    breaches.push(document.breach(line, format!("there is no file {path}")));
                }
                Some(target) if !anchor.is_empty() && !anchors(target).contains(&anchor) => {
                    let sentence = format!("{path} has no section #{anchor}");
                    breaches.push(document.breach(line, sentence));
                }
                _ => {}
            }
        }
    }
    breaches
}

/// Pages that are too long, or have too long a cell, or do not name their purpose.
pub fn short_pages(sources: &[Source]) -> Vec<Breach> {
    fn is_derived(page: &&Source) -> bool {
        page.text.starts_with(DERIVED_TITLE)
            || DERIVED.iter().any(|name| page.path.starts_with(name))
    }
    let mut breaches = Vec::new();
    for page in pages(sources).filter(|page| !is_derived(page)) {
        let lines = page.text.lines().count();
        if lines > PAGE_LINES {
            let sentence = format!("the page has {lines} lines, at most {PAGE_LINES}: split it");
            breaches.push(page.breach(1, sentence));
        }
        for (line, text) in prose(page).filter(|(_, text)| text.starts_with('|')) {
            let text = text.replace("\\|", "");
            let cells = text.split('|').map(|cell| cell.trim().chars().count());
            let longest = cells.max().unwrap_or(0);
            if longest > CELL_CHARACTERS {
                let sentence = format!(
                    "a cell has {longest} characters, at most {CELL_CHARACTERS}: use a list"
                );
                breaches.push(page.breach(line, sentence));
            }
        }
        let purpose = PURPOSES.iter().find(|(folder, _)| page.path.starts_with(folder));
        let first = page.text.lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default();
        if let Some((_, start)) = purpose.filter(|(_, start)| !first.starts_with(start)) {
            let sentence = format!("the first line names the purpose: \"{start}…\"");
            breaches.push(page.breach(3, sentence));
        }
    }
    breaches
}

/// A link within the repository.
struct Link {
    line: usize,
    /// From the root.
    path: String,
    /// Empty if the link has none.
    anchor: String,
}

fn links(document: &Source) -> impl Iterator<Item = Link> {
    let folder: Vec<&str> = document.path.split('/').collect();
    let folder = &folder[..folder.len() - 1];
    let found = prose(document).flat_map(move |(line, text)| {
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        targets.map(move |(target, _)| (line, target)).collect::<Vec<_>>()
    });
    let ours = found.filter(|(_, target)| !target.contains("://") && !target.contains(' '));
    let links = ours.map(|(line, target)| {
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = match path {
            "" => document.path.clone(),
            path => joined(folder, path),
        };
        Link { line, path, anchor: anchor.to_owned() }
    });
    links.collect::<Vec<_>>().into_iter()
}

/// A path relative to a folder, from the root.
pub(super) fn joined(folder: &[&str], path: &str) -> String {
    let mut parts = folder.to_vec();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Anchors of the headings of a document, as mdBook and forges make them.
fn anchors(document: &Source) -> BTreeSet<String> {
    let headings = prose(document).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

/// Lines outside of code blocks, with their numbers.
fn prose(document: &Source) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    document.text.lines().enumerate().filter_map(move |(i, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        (!in_code && !fence).then_some((i + 1, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(breaches: Vec<Breach>) -> Vec<String> {
        breaches.into_iter().map(|breach| breach.to_string()).collect()
    }

    #[test]
    fn the_summary_lists_every_page() {
        let sources = [
            Source::new("docs/SUMMARY.md", "# Summary\n\n- [A](a/a.md)\n"),
            Source::new("docs/a/a.md", "# A"),
            Source::new("docs/b.md", "# B"),
            Source::new("README.md", "# candor"),
        ];
        let missing = sentences(summary(&sources));
        assert_eq!(missing, ["docs/b.md:1: docs/SUMMARY.md does not list this page"]);
        assert_eq!(summary(&sources[..2]), []);
    }

    #[test]
    fn links_and_anchors_resolve() {
        fn of(text: &str) -> Vec<String> {
            let page = Source::new("docs/a/b.md", "# B\n\n## As sysstat's `iostat`\n");
            sentences(broken_links(&[Source::new("docs/c.md", text), page]))
        }
        let good =
            "[b](a/b.md#as-sysstats-iostat) [w](https://a/c.md) [l](../LICENSE)\n\n## H\n[h](#h)";
        assert_eq!(of(good), [""; 0]);
        assert_eq!(of("```text\n[b](b.md)\n```\n"), [""; 0]);
        assert_eq!(of("x\n[b](b.md)"), ["docs/c.md:2: there is no file docs/b.md"]);
        assert_eq!(of("[b](a/b.md#x)"), ["docs/c.md:1: docs/a/b.md has no section #x"]);
        assert_eq!(of("[s](a.json)"), ["docs/c.md:1: there is no file docs/a.json"]);
    }

    #[test]
    fn pages_are_short_and_name_their_purpose() {
        let of = |path: &str, text: &str| sentences(short_pages(&[Source::new(path, text)]));
        let row = |n| format!("# A\n\nThis page shows a.\n\n| b | {} |\n", "c".repeat(n));
        assert_eq!(of("docs/how-to/a.md", &row(300)), [""; 0]);
        assert_eq!(of("docs/how-to/a.md", &row(301)).len(), 1);
        assert_eq!(of("docs/rules/a.md", &row(301)), [""; 0]);
        assert_eq!(of("docs/start/a.md", &row(1)).len(), 1);
        assert_eq!(of("docs/a.md", &"a\n".repeat(400)), [""; 0]);
        assert_eq!(of("docs/a.md", &"a\n".repeat(401)).len(), 1);
    }
}
