//! The rules of the catalogue: what `candor explain` prints, and a page of all of them.

use candor_record::{Explanation, Threshold};

use crate::layout::{Align, Cell, Page, Table, wrap};
use crate::style::{Style, Tone};

/// What a rule's letter says about it.
const LETTERS: [(&str, &str); 8] = [
    ("A", "Did the bytes reach the device?"),
    ("B", "Concurrency, CPU and clock"),
    ("C", "Shape of requests between application and device"),
    ("D", "Links and ceilings"),
    ("E", "Arrays and stacks of devices"),
    ("F", "State of the media, throttles, others"),
    ("G", "Is the measurement itself sound?"),
    ("H", "Files, names and passes over data"),
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
    page.line("`candor explain RULE` says more of one of them.");
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

const AHEAD: &str = "It can also speak before anything has run.";

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

/// All rules as a page of the documentation, in Markdown.
pub fn markdown(rules: &[Explanation]) -> String {
    let mut page = String::from(
        "# Rules\n\nWhat candor looks for in every result. Derived from the rules themselves; a \
         test keeps it so.\n`candor explain RULE` prints the same. A rule that lacks a fact says \
         so instead of guessing.\n\n\
         \"Evidence book\" is the project's collection of traps, reproduced on real kernels where \
         that was\npossible; \"judge\" stands for what this program adds. Shares are from 0 to 1.\n",
    );
    for (title, rules) in groups(rules) {
        page.push_str(&format!("\n## {title}\n"));
        for rule in rules {
            page.push_str(&section(rule));
        }
    }
    page
}

fn section(rule: &Explanation) -> String {
    let ahead = if rule.preflight { format!(" {AHEAD}") } else { String::new() };
    let text = wrap(&format!("{}{ahead}", rule.text), PAGE_COLUMNS).join("\n");
    let mut section = format!("\n### {}: {}\n\n{text}\n", rule.rule, rule.title);
    if rule.thresholds.is_empty() {
        return section;
    }
    section.push_str("\n| threshold | value | why | from |\n| --- | --- | --- | --- |\n");
    for Threshold { name, value, source, reason } in &rule.thresholds {
        section.push_str(&format!("| {name} | {value} | {reason} | {source} |\n"));
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Vec<Explanation> {
        let threshold = Threshold {
            name: "share of bytes".into(),
            value: 0.05,
            source: "evidence book A1".into(),
            reason: "measured".into(),
        };
        let rule = |rule: &str, preflight, thresholds| Explanation {
            rule: rule.into(),
            title: format!("the title of {rule}"),
            text: "How it comes about.".into(),
            preflight,
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
            "A1  the title of A1\n\n  How it comes about.\n  \
             It can also speak before anything has run.\n\n  0.05  share of bytes\n      \
             measured (evidence book A1)\n\nG1  the title of G1\n\n  How it comes about.\n"
        );
    }

    #[test]
    fn the_page_has_a_table_only_where_there_are_thresholds() {
        let page = markdown(&rules());
        assert!(page.contains("\n### A1: the title of A1\n\nHow it comes about. It can also"));
        assert!(page.contains("| share of bytes | 0.05 | measured | evidence book A1 |\n"));
        assert!(page.ends_with("\n### G1: the title of G1\n\nHow it comes about.\n"));
    }
}
