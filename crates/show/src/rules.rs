//! The rules of the catalogue: what `candor explain` prints, and a page of all of them.

use candor_record::{Explanation, Threshold};

use crate::layout::{Align, Cell, Page, Table, wrap};
use crate::style::{Style, Tone};
use crate::words;

/// Questions that the letters of rules stand for.
const LETTERS: [(&str, &str); 9] = [
    ("A", "Did the bytes reach the device?"),
    ("B", "Concurrency, CPU and clock"),
    ("C", "Shape of requests between application and device"),
    ("D", "Links and ceilings"),
    ("E", "Arrays and stacks of devices"),
    ("F", "State of the media, throttles, others"),
    ("G", "Is the measurement itself sound?"),
    ("H", "Files, names and passes over data"),
    ("S", "Object stores"),
];

/// The rules in groups, under what their letters stand for.
fn groups(rules: &[Explanation]) -> Vec<(&'static str, Vec<&Explanation>)> {
    let of = |letter: &str| rules.iter().filter(|r| r.rule.starts_with(letter)).collect();
    let groups = LETTERS.iter().map(|(letter, title)| (*title, of(letter)));
    groups.filter(|(_, rules): &(_, Vec<_>)| !rules.is_empty()).collect()
}

/// All rules, a line each.
pub fn list(rules: &[Explanation], style: &Style) -> String {
    let mut page = Page::new(style);
    for (title, rules) in groups(rules) {
        page.heading(title);
        for rule in rules {
            page.line(&format!("  {:<4}{}", rule.rule, rule.title));
        }
    }
    page.blank();
    page.line("`candor explain RULE` explains one rule.");
    page.finish()
}

/// Some rules in full: text, thresholds, where these come from, and why.
pub fn full(rules: &[&Explanation], style: &Style) -> String {
    let mut page = Page::new(style);
    for rule in rules {
        page.blank();
        page.line(&style.paint(Tone::Strong, &format!("{}  {}", rule.rule, rule.title)));
        page.blank();
        page.paragraph("  ", &rule.text);
        if rule.preflight {
            page.paragraph("  ", AHEAD);
        }
        page.blank();
        thresholds(&mut page, &rule.thresholds);
    }
    page.finish()
}

const AHEAD: &str = "This rule can also report before a run.";

fn thresholds(page: &mut Page, thresholds: &[Threshold]) {
    for threshold in thresholds {
        let mut table = Table::new(&[("", Align::Right), ("", Align::Left)]);
        let value = Cell::toned(threshold.value.to_string(), Tone::Strong);
        table.row(vec![value, threshold.name.as_str().into()]);
        // The first line holds the names of the columns, and these have none.
        for line in table.lines(page.style).iter().skip(1) {
            page.line(&format!("  {line}"));
        }
        page.aside("      ", &format!("{} ({})", threshold.reason, threshold.source));
    }
}

/// Columns of the page of the documentation.
const PAGE_COLUMNS: usize = 105;

/// Name of a rule's page, without its folder: `a1-reads-were-served-from-memory.md`.
pub fn page_name(rule: &Explanation) -> String {
    let text = format!("{} {}", rule.rule, rule.title).to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    format!("{}.md", words.collect::<Vec<_>>().join("-"))
}

/// The index of the evidence book, in Markdown: a line for each rule, with a link to its page.
pub fn index(rules: &[Explanation]) -> String {
    let mut page = String::from(
        "# Rules\n\nEvery rule that candor evaluates for a result, each with its own page. Derived \
         from the rules\nthemselves; a test checks this. `candor explain RULE` prints the same. A \
         rule with a missing fact reports the\nfact instead of guessing.\n",
    );
    for (title, rules) in groups(rules) {
        page.push_str(&format!("\n## {title}\n\n| rule | finds | before a run |\n"));
        page.push_str("| --- | --- | --- |\n");
        for rule in rules {
            let (id, title) = (&rule.rule, &rule.title);
            let before = if rule.preflight { "yes" } else { "" };
            page.push_str(&format!("| [{id}](rules/{}) | {title} | {before} |\n", page_name(rule)));
        }
    }
    page
}

/// A rule as a page of the evidence book, in Markdown.
pub fn page(rule: &Explanation, all: &[Explanation]) -> String {
    let question = groups(all).into_iter().find(|(_, rules)| rules.contains(&rule));
    let question = question.map_or("", |(title, _)| title);
    let text = wrap(&rule.text, PAGE_COLUMNS).join("\n");
    let mut page = format!("# {}: {}\n\n{question}\n\n{text}\n", rule.rule, rule.title);
    if rule.preflight {
        page.push_str(&format!("\n{AHEAD}\n"));
    }
    if let Some(limit) = rule.limit {
        page.push_str(&format!(
            "\nThis rule can name the limit of a result: {}.\n",
            words::class(limit)
        ));
    }
    if !rule.thresholds.is_empty() {
        page.push_str("\n## Thresholds\n\nShares are from 0 to 1.\n\n");
        page.push_str("| threshold | value | why | from |\n| --- | --- | --- | --- |\n");
        for Threshold { name, value, source, reason } in &rule.thresholds {
            page.push_str(&format!("| {name} | {value} | {reason} | {source} |\n"));
        }
    }
    let causes = all.iter().filter(|other| rule.causes.contains(&other.rule));
    let causes: Vec<_> = causes
        .map(|cause| format!("- [{}]({}): {}\n", cause.rule, page_name(cause), cause.title))
        .collect();
    if !causes.is_empty() {
        page.push_str("\n## Causes\n\nFindings of these rules include this finding.\n\n");
        page.push_str(&causes.concat());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Vec<Explanation> {
        let threshold = Threshold {
            name: "share of bytes".into(),
            value: 0.05,
            source: "measured on Linux".into(),
            reason: "measured".into(),
        };
        let rule = |rule: &str, preflight, thresholds| Explanation {
            rule: rule.into(),
            title: format!("the title of {rule}"),
            text: "How it comes about.".into(),
            preflight,
            limit: preflight.then_some(candor_record::LimitClass::Memory),
            causes: if preflight { Vec::new() } else { vec!["A1".into()] },
            thresholds,
        };
        vec![rule("A1", true, vec![threshold]), rule("G1", false, Vec::new())]
    }

    #[test]
    fn the_list_has_a_line_for_each() {
        let list = list(&rules(), &Style::default());
        assert!(list.starts_with("Did the bytes reach the device?\n  A1  the title of A1\n\n"));
        assert!(list.contains("sound?\n  G1  the title of G1\n"), "{list}");
    }

    #[test]
    fn a_rule_in_full_has_its_numbers() {
        let rules = rules();
        let full = full(&[&rules[0], &rules[1]], &Style::default());
        assert_eq!(
            full,
            "A1  the title of A1\n\n  How it comes about.\n  This rule can also report before a \
             run.\n\n  0.05  share of bytes\n      measured (measured on Linux)\n\nG1  the title of \
             G1\n\n  How it comes about.\n"
        );
    }

    #[test]
    fn a_page_has_what_there_is() {
        let rules = rules();
        let page = |at: usize| super::page(&rules[at], &rules);
        assert!(page(0).starts_with(
            "# A1: the title of A1\n\nDid the bytes reach the device?\n\nHow it comes about.\n\n\
             This rule can also"
        ));
        assert!(page(0).contains("the limit of a result: memory of this host.\n"));
        assert!(page(0).ends_with("| share of bytes | 0.05 | measured | measured on Linux |\n"));
        assert!(page(1).ends_with(
            "include this finding.\n\n- [A1](a1-the-title-of-a1.md): the \
            title of A1\n"
        ));
        assert!(!page(1).contains("Thresholds"));
        assert!(
            index(&rules).contains("| [A1](rules/a1-the-title-of-a1.md) | the title of A1 | yes |")
        );
    }
}
