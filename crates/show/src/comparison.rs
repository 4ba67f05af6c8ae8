//! A comparison of runs: its sentences, the conditions that differ, and a table of changes.

use candor_record::comparison::{
    Basis, Check, CheckResult, ComparedRun, Comparison, Difference, Doubt, FigureChange, Outcome,
    RunChange,
};
use candor_record::fmt;
use candor_record::results::FigureKind;

use crate::Style;
use crate::layout::{Align, Cell, Page, Table, cut, width};
use crate::style::Tone;

/// Differences that change no question, and are named on one line.
const MINOR_MAX: usize = 8;
/// Columns of the name of a condition that differs; longer ones are cut.
const NAME_COLUMNS: usize = 24;
/// A value that a run does not have.
const NOT_SET: &str = "not set";
/// Words beside a condition that is meant to differ.
const INTENDED: &str = "as intended";

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
        page.heading("Conditions that fail the comparison");
        comparison.checks.iter().for_each(|check| of_check(check, &mut page));
    }
    page.finish()
}

fn of_run(run: &ComparedRun, page: &mut Page<'_>) {
    page.paragraph(&format!("{}  ", run.label), &about(run));
}

/// Source, name, tool, start and verdict of a run.
pub fn about(run: &ComparedRun) -> String {
    let known = [
        Some(run.name.clone()).filter(|name| !name.is_empty()),
        Some(run.tool.clone()).filter(|tool| !tool.is_empty()),
        run.started.clone(),
        Some(run.verdict.map_or("not judged", |verdict| verdict.label()).to_owned()),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    format!("{}: {}", run.source, known.join(", "))
}

fn of_change(baseline: &ComparedRun, change: &RunChange, confidence: f64, page: &mut Page<'_>) {
    differences(&baseline.label, change, page);
    for doubt in shown_doubts(change) {
        let lead = if doubt.unbelieved { "not the storage's number" } else { "note" };
        page.blank();
        let text = format!("{} {}: {}", doubt.run, doubt.phase, doubt.sentence);
        page.paragraph(&format!("{lead}: "), &text);
    }
    for (run, more) in hidden_doubts(change) {
        page.blank();
        page.aside("", &format!("The same for {run}: {more} more results."));
    }
    for figures in by_job(change) {
        let of = figures[0];
        page.heading(&format!("{}: {} → {}", place(of), baseline.label, change.run));
        let table = table(&figures, &baseline.label, &change.run, confidence);
        table.lines(page.style).iter().for_each(|line| page.line(line));
        for (names, text) in reasons(&figures) {
            page.aside(&format!("{names}: "), &text);
        }
    }
    for sentence in &change.unmatched {
        page.blank();
        page.paragraph("Only in ", sentence);
    }
}

/// Doubts of each run about single results; the others are counted.
const DOUBTS_MAX: usize = 2;

/// Reasons for not believing results, the first of each run, and all others.
fn shown_doubts(change: &RunChange) -> impl Iterator<Item = &Doubt> {
    let nth = |at: usize, doubt: &Doubt| {
        change.doubts[..at].iter().filter(|of| of.unbelieved && of.run == doubt.run).count()
    };
    let all = change.doubts.iter().enumerate();
    all.filter(move |(at, doubt)| !doubt.unbelieved || nth(*at, doubt) < DOUBTS_MAX)
        .map(|(_, doubt)| doubt)
}

/// Runs with more results that cannot be believed than are shown, and how many more.
fn hidden_doubts(change: &RunChange) -> Vec<(&str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for doubt in change.doubts.iter().filter(|doubt| doubt.unbelieved) {
        match counts.iter_mut().find(|(run, _)| *run == doubt.run) {
            Some((_, count)) => *count += 1,
            None => counts.push((&doubt.run, 1)),
        }
    }
    let more = |(run, count): (_, usize)| Some((run, count.checked_sub(DOUBTS_MAX)?));
    counts.into_iter().filter_map(more).filter(|(_, more)| *more > 0).collect()
}

/// The phase and the job, once where both have one name.
pub fn place(of: &FigureChange) -> String {
    if of.phase == of.job { of.phase.clone() } else { format!("{}, {}", of.phase, of.job) }
}

/// The figures of each job of each phase.
pub fn by_job(change: &RunChange) -> Vec<Vec<&FigureChange>> {
    let mut tables: Vec<Vec<&FigureChange>> = Vec::new();
    for figure in &change.figures {
        match tables
            .iter_mut()
            .find(|of| (&of[0].phase, &of[0].job) == (&figure.phase, &figure.job))
        {
            Some(table) => table.push(figure),
            None => tables.push(vec![figure]),
        }
    }
    tables
}

/// The conditions that differ, those that matter in a table.
fn differences(label: &str, change: &RunChange, page: &mut Page<'_>) {
    // Three gaps of two columns.
    let columns = page.style.columns() - INTENDED.len() - 6;
    let room = (columns - NAME_COLUMNS) / 2;
    // Names take what short values leave: those of a series end with their phase.
    let told = change.differences.iter().filter(|difference| difference.matters);
    let values = told.flat_map(|of| [&of.baseline, &of.run]);
    let widest = values.map(|value| value.as_deref().map_or(NOT_SET.len(), width)).max();
    let room = room.min(widest.unwrap_or(0).max(width(label)).max(width(&change.run)));
    if let Some(table) = unlike(label, change, columns - 2 * room, room) {
        page.heading(&format!("Different in {label} and {}", change.run));
        table.lines(page.style).iter().for_each(|line| page.line(line));
    }
    if let Some(text) = also_different(change) {
        page.blank();
        page.aside("Also different: ", &text);
    }
}

/// The conditions that differ and matter, with names and values cut to these columns.
pub fn unlike(
    label: &str,
    change: &RunChange,
    name_columns: usize,
    value_columns: usize,
) -> Option<Table> {
    let names = ["condition", label, &change.run, ""].map(|name| (name, Align::Left));
    let mut table = Table::new(&names);
    for of in change.differences.iter().filter(|difference| difference.matters) {
        let intended = if of.intended { INTENDED } else { "" };
        let (mine, theirs) = distinct(of, value_columns);
        let name = cut(&of.name, name_columns);
        table.row(vec![name.into(), mine.into(), theirs.into(), intended.into()]);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Conditions that differ and change no question, in a sentence.
pub fn also_different(change: &RunChange) -> Option<String> {
    let minor = change.differences.iter().filter(|difference| !difference.matters);
    let names: Vec<&str> = minor.map(|of| of.name.as_str()).collect();
    let more = names.len().saturating_sub(MINOR_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = names.iter().take(MINOR_MAX).copied().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("{named}{more}; these do not change the comparison."))
}

/// Both values, cut to `room` columns. Lists that would be cut to the same text are shown by the
/// items that only one of them has.
fn distinct(of: &Difference, room: usize) -> (String, String) {
    let whole = |value: &Option<String>| value.clone().unwrap_or(NOT_SET.into());
    let (one, other) = (whole(&of.baseline), whole(&of.run));
    let (mine, theirs) = (cut(&one, room), cut(&other, room));
    if mine != theirs {
        return (mine, theirs);
    }
    (only(&one, &other, room), only(&other, &one, room))
}

/// The items of a list that another list does not have.
fn only(of: &str, without: &str, room: usize) -> String {
    let known: Vec<&str> = without.split(',').map(str::trim).collect();
    let own: Vec<&str> =
        of.split(',').map(str::trim).filter(|word| !known.contains(word)).collect();
    cut(&format!("… {}", own.join(",")), room)
}

fn value(kind: FigureKind, value: f64) -> String {
    match kind {
        FigureKind::OpsPerS => fmt::count(value),
        FigureKind::BytesPerS => fmt::rate_decimal(value),
        FigureKind::LatencyMean | FigureKind::LatencyPercentile(_) => fmt::time(value),
    }
}

/// Figures of one job, of the baseline and of the other run.
pub fn table(figures: &[&FigureChange], baseline: &str, run: &str, confidence: f64) -> Table {
    let interval = format!("{} interval", fmt::percent(confidence));
    let columns = [
        ("", Align::Left),
        (baseline, Align::Right),
        (run, Align::Right),
        ("change", Align::Right),
        (interval.as_str(), Align::Left),
        ("result", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let mut operation = "";
    for figure in figures {
        // The name of the operation is in its first row.
        let named = if figure.operation == operation { "" } else { figure.operation.as_str() };
        operation = &figure.operation;
        let blank = if named.is_empty() { width(operation) } else { 0 };
        let name = format!("{}{named} {}", " ".repeat(blank), short(figure));
        let interval = figure.interval.map_or("unknown".to_owned(), |of| {
            format!("{} to {}", fmt::change(of.low), fmt::change(of.high))
        });
        table.row(vec![
            name.into(),
            value(figure.kind, figure.baseline).into(),
            value(figure.kind, figure.run).into(),
            fmt::change(figure.change).into(),
            interval.into(),
            outcome(figure),
        ]);
    }
    table
}

/// The figure, in the width of a table.
pub(crate) fn short(figure: &FigureChange) -> String {
    figure.kind.label_of(&figure.operation).replace(" latency", "")
}

/// The conclusion in a word, and its role.
pub(crate) fn outcome(figure: &FigureChange) -> Cell {
    match figure.outcome {
        Outcome::Unknown if figure.unbelieved => Cell::toned("not the storage", Tone::Dim),
        Outcome::Better => Cell::toned("better", Tone::Good),
        Outcome::Worse => Cell::toned("worse", Tone::Bad),
        Outcome::Suspected => Cell::toned("suspected", Tone::Caution),
        Outcome::NotShown => "not shown".into(),
        Outcome::Unknown => Cell::toned("unknown", Tone::Dim),
    }
}

/// Where the intervals of a table come from: names of figures, and the reason of these.
pub fn reasons(figures: &[&FigureChange]) -> Vec<(String, String)> {
    let mut seen: Vec<(String, Vec<String>)> = Vec::new();
    for figure in figures {
        let text = match &figure.basis {
            Basis::Repeats { baseline, run } => format!("from {baseline} and {run} repeats"),
            Basis::Intervals { baseline, run } => format!(
                "from {baseline} and {run} intervals of single runs, and an assumed variation \
                 between runs"
            ),
            Basis::Rate => "the plan's rate limit".to_owned(),
            Basis::Nothing { why } => why.clone(),
        };
        match seen.iter_mut().find(|(known, _)| *known == text) {
            Some((_, figures)) => figures.push(short(figure)),
            None => seen.push((text, vec![short(figure)])),
        }
    }
    seen.into_iter()
        .map(|(text, mut names)| {
            names.sort();
            names.dedup();
            (names.join(", "), format!("{text}."))
        })
        .collect()
}

/// The result of a check in a word, and its role.
pub fn word(result: CheckResult) -> (&'static str, Tone) {
    match result {
        CheckResult::Passed => ("passed", Tone::Good),
        CheckResult::Undecided => ("undecided", Tone::Caution),
        CheckResult::Failed => ("FAILED", Tone::Bad),
    }
}

fn of_check(check: &Check, page: &mut Page<'_>) {
    let (word, tone) = word(check.result);
    let lead = format!("{} {}: ", check.run, check.condition);
    let text = format!("{}: {}", page.style.paint(tone, word), check.sentence);
    page.paragraph(&lead, &text);
}

#[cfg(test)]
mod tests;
