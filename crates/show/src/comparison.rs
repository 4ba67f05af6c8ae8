//! A comparison of runs: its sentences, the conditions that differ, and a table of changes.

use candor_record::comparison::{
    Basis, Check, CheckResult, ComparedRun, Comparison, Difference, FigureChange, Outcome,
    RunChange,
};
use candor_record::fmt;
use candor_record::results::FigureKind;

use crate::Style;
use crate::layout::{Align, Cell, Page, Table, cut, width};
use crate::style::Tone;

/// Differences that change no question, and are named on one line.
const MINOR_MAX: usize = 8;
/// Columns of a value that differs; longer ones are cut.
const VALUE_COLUMNS: usize = 24;

/// The page.
pub fn text(comparison: &Comparison, style: &Style) -> String {
    let mut page = Page::new(style);
    page.paragraph("", &comparison.headline);
    page.blank();
    comparison.runs.iter().for_each(|run| of_run(run, &mut page));
    let [first, ..] = &comparison.runs[..] else { return page.finish() };
    for change in &comparison.changes {
        of_change(first, change, comparison.confidence, &mut page);
    }
    if !comparison.checks.is_empty() {
        page.heading("Conditions under which it fails");
        comparison.checks.iter().for_each(|check| of_check(check, &mut page));
    }
    page.finish()
}

fn of_run(run: &ComparedRun, page: &mut Page<'_>) {
    let known = [
        Some(run.name.clone()).filter(|name| !name.is_empty()),
        Some(run.tool.clone()).filter(|tool| !tool.is_empty()),
        run.started.clone(),
        Some(run.verdict.map_or("not judged", |verdict| verdict.label()).to_owned()),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    page.paragraph(&format!("{}  ", run.label), &format!("{}: {}", run.source, known.join(", ")));
}

fn of_change(baseline: &ComparedRun, change: &RunChange, confidence: f64, page: &mut Page<'_>) {
    differences(&baseline.label, change, page);
    for doubt in &change.doubts {
        let lead = if doubt.unbelieved { "not to be believed" } else { "note" };
        page.blank();
        let text = format!("{} {}: {}", doubt.run, doubt.phase, doubt.sentence);
        page.paragraph(&format!("{lead}: "), &text);
    }
    let mut tables: Vec<Vec<&FigureChange>> = Vec::new();
    for figure in &change.figures {
        let same = |of: &&mut Vec<&FigureChange>| {
            (&of[0].phase, &of[0].job) == (&figure.phase, &figure.job)
        };
        match tables.iter_mut().find(same) {
            Some(table) => table.push(figure),
            None => tables.push(vec![figure]),
        }
    }
    for figures in tables {
        let of = figures[0];
        page.heading(&format!("{}, {}: {} → {}", of.phase, of.job, baseline.label, change.run));
        let labels = [baseline.label.as_str(), change.run.as_str()];
        table(&figures, labels, confidence, page).iter().for_each(|line| page.line(line));
        reasons(&figures, page);
    }
    for sentence in &change.unmatched {
        page.blank();
        page.paragraph("alone: ", sentence);
    }
}

/// The conditions that differ, those that matter in a table.
fn differences(label: &str, change: &RunChange, page: &mut Page<'_>) {
    let (matter, minor): (Vec<&Difference>, Vec<_>) =
        change.differences.iter().partition(|difference| difference.matters);
    if !matter.is_empty() {
        page.heading(&format!("Not alike in {label} and {}", change.run));
        let names = ["condition", label, &change.run, ""].map(|name| (name, Align::Left));
        let mut table = Table::new(&names);
        for of in &matter {
            let value =
                |value: &Option<String>| cut(value.as_deref().unwrap_or("not set"), VALUE_COLUMNS);
            let intended = if of.intended { "as intended" } else { "" };
            let (mine, theirs) = distinct(value(&of.baseline), value(&of.run), of);
            let name = cut(&of.name, VALUE_COLUMNS);
            table.row(vec![name.into(), mine.into(), theirs.into(), intended.into()]);
        }
        table.lines(page.style).iter().for_each(|line| page.line(line));
    }
    if !minor.is_empty() {
        let names: Vec<&str> = minor.iter().take(MINOR_MAX).map(|of| of.name.as_str()).collect();
        let more = minor.len().saturating_sub(MINOR_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        page.blank();
        let text = format!("{}{more}; these change no question.", names.join(", "));
        page.aside("Also different: ", &text);
    }
}

/// Values that were cut to the same text are shown by their ends, where they differ.
fn distinct(mine: String, theirs: String, of: &Difference) -> (String, String) {
    let (Some(one), Some(other)) = (&of.baseline, &of.run) else { return (mine, theirs) };
    if mine != theirs {
        return (mine, theirs);
    }
    let words = |of: &str| -> Vec<String> { of.split(',').map(|w| w.trim().to_owned()).collect() };
    let (one, other) = (words(one), words(other));
    let only = |these: &[String], those: &[String]| {
        let own: Vec<&str> =
            these.iter().filter(|word| !those.contains(word)).map(String::as_str).collect();
        cut(&format!("… {}", own.join(",")), VALUE_COLUMNS)
    };
    (only(&one, &other), only(&other, &one))
}

fn table(
    figures: &[&FigureChange],
    labels: [&str; 2],
    confidence: f64,
    page: &Page<'_>,
) -> Vec<String> {
    let interval = format!("{} interval", fmt::percent(confidence));
    let columns = [
        ("", Align::Left),
        (labels[0], Align::Right),
        (labels[1], Align::Right),
        ("change", Align::Right),
        (interval.as_str(), Align::Left),
        ("result", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let mut operation = "";
    for figure in figures {
        // The name of the operation stands in its first row.
        let named = if figure.operation == operation { "" } else { figure.operation.as_str() };
        operation = &figure.operation;
        let blank = if named.is_empty() { width(operation) } else { 0 };
        let name = format!("{}{named} {}", " ".repeat(blank), short(figure));
        let value = |value: f64| match figure.kind {
            FigureKind::OpsPerS => fmt::count(value),
            FigureKind::BytesPerS => fmt::rate_decimal(value),
            FigureKind::LatencyMean | FigureKind::LatencyPercentile(_) => fmt::time(value),
        };
        let interval = figure.interval.map_or("unknown".to_owned(), |of| {
            format!("{} to {}", fmt::change(of.low), fmt::change(of.high))
        });
        table.row(vec![
            name.into(),
            value(figure.baseline).into(),
            value(figure.run).into(),
            fmt::change(figure.change).into(),
            interval.into(),
            outcome(figure),
        ]);
    }
    table.lines(page.style)
}

/// The figure, in the width of a table.
fn short(figure: &FigureChange) -> String {
    figure.kind.label().replace(" latency", "")
}

fn outcome(figure: &FigureChange) -> Cell {
    match figure.outcome {
        Outcome::Better => Cell::toned("better", Tone::Good),
        Outcome::Worse => Cell::toned("worse", Tone::Bad),
        Outcome::Suspected => Cell::toned("suspected", Tone::Caution),
        Outcome::NotShown => "not shown".into(),
        Outcome::Unknown => Cell::toned("unknown", Tone::Dim),
    }
}

/// Where the intervals of a table come from; each reason once.
fn reasons(figures: &[&FigureChange], page: &mut Page<'_>) {
    let mut seen: Vec<(String, Vec<String>)> = Vec::new();
    for figure in figures {
        let text = match &figure.basis {
            Basis::Repeats { baseline, run } => format!("from {baseline} and {run} repeats"),
            Basis::Intervals { baseline, run } => format!(
                "from {baseline} and {run} intervals of single runs, and an assumption about how \
                 far runs differ"
            ),
            Basis::Rate => "the rate that the plan held it at".to_owned(),
            Basis::Nothing { why } => why.clone(),
        };
        match seen.iter_mut().find(|(known, _)| *known == text) {
            Some((_, figures)) => figures.push(short(figure)),
            None => seen.push((text, vec![short(figure)])),
        }
    }
    for (text, mut names) in seen {
        names.sort();
        names.dedup();
        page.aside(&format!("{}: ", names.join(", ")), &format!("{text}."));
    }
}

fn of_check(check: &Check, page: &mut Page<'_>) {
    let (word, tone) = match check.result {
        CheckResult::Passed => ("passed", Tone::Good),
        CheckResult::Undecided => ("cannot be told", Tone::Caution),
        CheckResult::Failed => ("FAILED", Tone::Bad),
    };
    let lead = format!("{} {}: ", check.run, check.condition);
    let text = format!("{}: {}", page.style.paint(tone, word), check.sentence);
    page.paragraph(&lead, &text);
}
