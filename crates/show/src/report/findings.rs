//! Diagnoses, heaviest first, each told once however many phases it holds for.

use std::collections::HashSet;

use candor_record::{Finding, Report, Severity};

use crate::layout::{Align, Cell, Page, Table, wrap};
use crate::style::Tone;
use crate::words;

/// Alike findings of several phases.
pub struct Folded<'a> {
    /// The first of them: it lends its sentence and its numbers.
    pub finding: &'a Finding,
    /// Names of the phases whose finding says exactly the same.
    same: Vec<&'a str>,
    /// Names of the phases whose finding has numbers of its own.
    other: Vec<&'a str>,
    /// Number of phases that it limited.
    limited: usize,
}

/// Each rule once with its heaviest finding, and once for each thing that was measured instead;
/// heaviest first, with the phases in which it weighs the most where these are not all. Repeats of
/// a phase often differ in the weight of one rule.
pub(super) fn heaviest(report: &Report) -> Vec<(&Finding, Option<String>)> {
    let mut all: Vec<Folded> = Vec::new();
    for entry in folded(report) {
        match all.iter_mut().find(|other| {
            other.finding.rule == entry.finding.rule
                && (other.finding.measures == entry.finding.measures
                    || entry.finding.measures.is_none())
        }) {
            // The verdict counts the results in which the rule weighs the most.
            Some(heavier) if heavier.finding.severity > entry.finding.severity => {}
            Some(heavier) => heavier.other.extend(entry.same.into_iter().chain(entry.other)),
            None => all.push(entry),
        }
    }
    let names: HashSet<&str> = report.judged().map(|(phase, _)| phase.name.as_str()).collect();
    all.iter().map(|entry| (entry.finding, entry.place(names.len()))).collect()
}

impl Folded<'_> {
    /// The meaning for the result, and how sure that is.
    pub fn meaning(&self) -> (String, &'static str) {
        (words::meaning(self.finding), words::confidence(self.finding.confidence))
    }

    /// The role of its words.
    pub fn tone(&self) -> Tone {
        words::severity_tone(self.finding.severity)
    }

    /// The evidence, and the findings that it took in: name, value, source.
    pub fn evidence(&self) -> Vec<[String; 3]> {
        rows(self.finding)
    }

    /// The phases it holds for, in a sentence.
    pub fn phases(&self) -> String {
        let same = self.same.join("; ");
        if self.other.is_empty() {
            format!("In {same}.")
        } else {
            format!("In {same}. With other numbers in {}.", self.other.join("; "))
        }
    }

    /// The phases it holds for, where these are not all.
    fn place(&self, phases: usize) -> Option<String> {
        let first = self.same.first()?;
        let held: HashSet<&&str> = self.same.iter().chain(&self.other).collect();
        match held.len() {
            held if held >= phases => None,
            1 => Some(format!("in {first}")),
            held => Some(format!("in {first} and {} more", held - 1)),
        }
    }
}

/// The diagnoses.
pub(super) fn section(page: &mut Page, report: &Report) {
    let all = folded(report);
    if all.is_empty() {
        return;
    }
    page.heading("Findings");
    for entry in &all {
        finding(page, entry, report.phases.len() > 1);
        page.blank();
    }
}

/// Findings that are alike told as one, heaviest first.
pub(super) fn folded(report: &Report) -> Vec<Folded<'_>> {
    let mut all: Vec<Folded> = Vec::new();
    for (phase, judged) in report.judged() {
        for finding in &judged.findings {
            let Some(entry) = all.iter_mut().find(|entry| {
                let first = entry.finding;
                first.rule == finding.rule
                    && first.severity == finding.severity
                    && first.measures == finding.measures
            }) else {
                let limited = usize::from(finding.limits.is_some());
                all.push(Folded { finding, same: vec![&phase.name], other: Vec::new(), limited });
                continue;
            };
            entry.limited += usize::from(finding.limits.is_some());
            let known = |names: &[&str]| names.contains(&phase.name.as_str());
            if known(&entry.same) || known(&entry.other) {
                continue;
            }
            if entry.finding.sentence == finding.sentence {
                entry.same.push(&phase.name);
            } else {
                entry.other.push(&phase.name);
            }
        }
    }
    // The limit of most results comes first, and certain facts before likely ones. A stable sort
    // keeps the order of the phases within one weight.
    all.sort_by_key(|entry| {
        let phases = entry.same.len() + entry.other.len();
        let Finding { severity, confidence, .. } = entry.finding;
        std::cmp::Reverse((*severity, entry.limited, *confidence, phases))
    });
    all
}

fn finding(page: &mut Page, entry: &Folded, many_phases: bool) {
    let finding = entry.finding;
    let style = *page.style;
    page.line(&format!(
        "  {} {}: {} {}",
        style.paint(Tone::Strong, &format!("{:<3}", finding.rule)),
        finding.title,
        style.paint(words::severity_tone(finding.severity), &words::meaning(finding)),
        style.paint(Tone::Dim, &format!("({})", words::confidence(finding.confidence))),
    ));
    match finding.severity {
        // What takes nothing from a result takes little room; the JSON report has the numbers.
        Severity::Explains => {
            page.paragraph("      ", &format!("{} {}", finding.sentence, finding.advice));
            located(page, entry, many_phases);
        }
        _ => {
            page.paragraph("      ", &finding.sentence);
            located(page, entry, many_phases);
            evidence(page, finding);
            if !finding.advice.is_empty() {
                page.paragraph("      ", &finding.advice);
            }
        }
    }
    if let Some(command) = &finding.next {
        // Never wrapped: it is there to be copied.
        page.line(&format!("      try: {}", style.paint(Tone::Strong, command)));
    }
}

/// The phases a finding holds for, where that is a question.
fn located(page: &mut Page, entry: &Folded, many_phases: bool) {
    if many_phases {
        page.aside("      ", &entry.phases());
    }
}

fn evidence(page: &mut Page, finding: &Finding) {
    let rows = rows(finding);
    if rows.is_empty() {
        return;
    }
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left), ("", Align::Left)]);
    for [quantity, value, source] in &rows {
        let source = Cell::toned(source.as_str(), Tone::Dim);
        table.row(vec![quantity.as_str().into(), value.as_str().into(), source]);
    }
    if table.width() + 8 <= page.style.columns() {
        // The first line holds the names of the columns, and these have none.
        for line in table.lines(page.style).iter().skip(1) {
            page.line(&format!("        {line}"));
        }
        return;
    }
    for [quantity, value, source] in &rows {
        let text = format!("{quantity}: {value} ({source})");
        for (i, line) in wrap(&text, page.style.columns() - 10).iter().enumerate() {
            page.line(&format!("        {}{line}", if i == 0 { "" } else { "  " }));
        }
    }
}

/// The evidence of a finding and the findings that it took in: name, value, source.
fn rows(finding: &Finding) -> Vec<[String; 3]> {
    let evidence = finding
        .evidence
        .iter()
        .map(|evidence| [evidence.quantity.clone(), evidence.text(), evidence.source.clone()]);
    let consequences = finding.consequences.iter().map(|other| {
        let what = if other.is_reason { "the reason" } else { "follows from this finding" };
        [what.to_owned(), other.sentence.clone(), format!("{} {}", other.rule, other.title)]
    });
    evidence.chain(consequences).collect()
}
