//! Pages of `candor history`: runs, and trends with the runs in which something changed.

mod picture;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use candor_derive::trend::{
    Difference, ListedRun, RunList, Series, Trend, TrendChange, TrendPoint, Trends,
};
use candor_record::Verdict;
use candor_record::fmt::{self, counted, percent};
use candor_record::results::Condition;

use crate::layout::{Align, Cell, Page, Table, cut};
use crate::style::{Style, Tone};
use crate::words;

pub use picture::chart;

/// Columns of a list that name and target leave to the others: number, start, one result, verdict.
const OTHER_COLUMNS: usize = 60;
/// Columns that name and target have at least, together.
const NAMES_MIN: usize = 16;
/// Columns of a page from which on a run has room for two results.
const WIDE: usize = 120;
/// Conditions that are named beside a change.
const DIFFERENCES_MAX: usize = 4;
/// Columns of a sparkline.
const SPARK_COLUMNS: usize = 60;

/// The list of runs.
pub fn list(list: &RunList, style: &Style) -> String {
    let mut page = Page::new(style);
    if list.runs.is_empty() {
        page.paragraph(
            "",
            match list.in_all {
                0 => {
                    "The history is empty: candor check, run, tree and scenario record their runs, \
                and candor history import reads the runs of other tools."
                }
                _ => "No run in the history matches.",
            },
        );
        return page.finish();
    }
    let tags = list.runs.iter().map(|run| run.tags.join(" ").chars().count()).max().unwrap_or(0);
    let has_tags = tags > 0;
    let mut columns =
        ["run", "started (UTC)", "name", "target", "result", "verdict"].map(left).to_vec();
    columns[0].1 = Align::Right;
    if has_tags {
        columns.push(left("tags"));
    }
    let mut table = Table::new(&columns);
    let is_wide = style.columns() >= WIDE;
    let others = OTHER_COLUMNS + tags + if is_wide { 20 } else { 2 };
    let room = style.columns().saturating_sub(others).max(NAMES_MIN);
    let results_max = if is_wide { 2 } else { 1 };
    list.runs.iter().for_each(|run| table.row(row(run, room, results_max)));
    for line in table.lines(style) {
        page.line(&line);
    }
    let shown = list.runs.len() as u64;
    if shown < list.matching {
        page.blank();
        let of = counted(list.matching, "run");
        page.aside("", &format!("The newest {shown} of {of}: --last N shows more."));
    }
    page.finish()
}

fn left(name: &'static str) -> (&'static str, Align) {
    (name, Align::Left)
}

fn row(run: &ListedRun, room: usize, results_max: usize) -> Vec<Cell> {
    let (name_columns, target_columns) = (room.div_ceil(2), room / 2);
    let name = if run.name.is_empty() { &run.command } else { &run.name };
    let target = match &run.targets[..] {
        [] => String::new(),
        [one] => end(one, target_columns),
        [first, others @ ..] => {
            let more = format!(" +{}", others.len());
            format!("{}{more}", end(first, target_columns.saturating_sub(more.len()).max(1)))
        }
    };
    let mut cells: Vec<Cell> = vec![
        run.run.to_string().into(),
        minute(&run.started).into(),
        cut(name, name_columns).into(),
        target.into(),
        figures(run, results_max).into(),
        verdict(run),
    ];
    // The column is there only where some run has a tag.
    if !run.tags.is_empty() {
        cells.push(run.tags.join(" ").into());
    }
    cells
}

/// The last columns of a path, which tell paths apart.
fn end(path: &str, columns: usize) -> String {
    let length = path.chars().count();
    if length <= columns {
        path.to_owned()
    } else {
        let rest: String = path.chars().skip(length - columns + 1).collect();
        format!("…{rest}")
    }
}

/// `2026-11-23 17:45` of a moment in RFC 3339.
fn minute(started: &str) -> String {
    started.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

fn figures(run: &ListedRun, results_max: usize) -> String {
    if run.results.len() > results_max {
        // The verdict counts phases as results; a phase may have several operations.
        let phases: HashSet<&str> = run.results.iter().map(|of| of.phase.as_str()).collect();
        return match phases.len() {
            0 | 1 => counted(run.results.len() as u64, "operation"),
            phases => counted(phases as u64, "result"),
        };
    }
    run.results
        .iter()
        .map(|of| format!("{} {}", of.operation, of.figure.text_of(&of.operation, of.value)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn verdict(run: &ListedRun) -> Cell {
    match run.verdict {
        Some(Verdict::Corrupt) => Cell::toned(Verdict::Corrupt.name(), Tone::Bad),
        _ if !run.is_whole => Cell::toned("cut short", Tone::Caution),
        None => Cell::toned("not judged", Tone::Dim),
        Some(verdict) => Cell::toned(verdict.name(), words::tone(verdict)),
    }
}

/// Trends, each with a line of its values and its changes in sentences.
pub fn trends(trends: &Trends, style: &Style) -> String {
    let mut page = Page::new(style);
    if trends.trends.is_empty() {
        page.paragraph(
            "",
            "No work of these runs ran twice with this metric, so there is no trend.",
        );
    }
    for trend in &trends.trends {
        one(&mut page, trend);
    }
    if trends.single > 0 {
        page.blank();
        let kinds = fmt::plural(trends.single as f64, "kind of work", "kinds of work");
        page.aside("", &format!("{kinds} ran only once."));
    }
    page.finish()
}

fn one(page: &mut Page<'_>, trend: &Trend) {
    page.heading(&format!("{}: {}", trend.figure, named(trend)));
    let (Some(first), Some(last)) = (trend.points.first(), trend.points.last()) else { return };
    page.line(&format!("  {}", sparkline(&trend.points)));
    let runs = counted(trend.points.len() as u64, "run");
    let mut facts = vec![format!(
        "{runs}, {} ({}) to {} ({})",
        first.run,
        day(&first.started),
        last.run,
        day(&last.started)
    )];
    if let Some(level) = trend.level {
        let since = if trend.changes.is_empty() { "" } else { " since the last change" };
        let [level, last] =
            [level, last.value].map(|value| trend.figure.text_of(&trend.series.operation, value));
        facts.push(format!("median{since} {level}, last run {last}"));
    }
    if let Some(noise) = trend.noise_share {
        facts.push(format!("noise from run to run {}", percent(noise)));
    }
    page.paragraph("  ", &format!("{}.", facts.join("; ")));
    for change in &trend.changes {
        let tone = if trend.is_worse(change) { Tone::Bad } else { Tone::Good };
        let lead = format!("  {} ", page.style.paint(tone, "!"));
        page.paragraph(&lead, &sentence(trend, change));
    }
    if trend.changes.is_empty() {
        let why = match trend.noise_share {
            Some(_) => "No change beyond the noise.",
            None => {
                "Too few runs to separate a change from noise: at least 8 counted runs are needed."
            }
        };
        page.aside("  ", why);
    }
    if trend.left_out() > 0 {
        let runs = counted(trend.left_out() as u64, "run");
        page.aside("  ", &format!("{runs} left out: cut short, or not the storage's numbers."));
    }
}

fn day(started: &str) -> &str {
    started.get(..10).unwrap_or(started)
}

/// The work in a line, with the conditions by which a reader distinguishes it from other trends of
/// the same work.
fn named(trend: &Trend) -> String {
    let of = |of: &Condition| format!("{} {}", of.name, of.value);
    let named: Vec<String> = trend.apart.iter().take(DIFFERENCES_MAX).map(of).collect();
    let more = match trend.apart.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let apart = named.join(", ");
    let joint = if apart.is_empty() { "" } else { "; " };
    format!("{}{joint}{apart}{more}", work(&trend.series))
}

/// The work in a line.
fn work(series: &Series) -> String {
    let load = Some(series.load.to_string()).filter(|load| !load.is_empty());
    let words: Vec<String> = std::iter::once(series.operation.clone()).chain(load).collect();
    let targets = series.targets.join(", ");
    let on = if targets.is_empty() { String::new() } else { format!(" on {targets}") };
    let host = if series.host.is_empty() { String::new() } else { format!(" of {}", series.host) };
    let Series { phase, job, tool, .. } = series;
    // A job that nobody named is called so, and many a job as its phase.
    let is_told = job == "job" || job == phase;
    let job = if is_told { String::new() } else { format!(", job {job}") };
    format!("{}{on}{host} (phase {phase}{job}, {tool})", words.join(", "))
}

/// The change, and what else was not as before.
fn sentence(trend: &Trend, change: &TrendChange) -> String {
    let sign = if change.change_share > 0.0 { "+" } else { "-" };
    let [before, after] = [change.before, change.after]
        .map(|value| trend.figure.text_of(&trend.series.operation, value));
    let [left, right] = [change.runs_before, change.runs_after].map(|n| counted(n, "run"));
    let better = if trend.is_worse(change) { "worse" } else { "better" };
    let changed = format!(
        "Changed in run {} ({}): {before} became {after}, {sign}{}, {better}; medians of {left} \
         before and {right} after.",
        change.run,
        minute(&change.started),
        percent(change.change_share.abs()),
    );
    if change.differences.is_empty() {
        return changed;
    }
    let of = |difference: &Difference| {
        let value = |text: &String| if text.is_empty() { "absent".into() } else { text.clone() };
        let (before, after) = (value(&difference.before), value(&difference.after));
        format!("{} {before} → {after}", difference.name)
    };
    let named: Vec<String> = change.differences.iter().take(DIFFERENCES_MAX).map(of).collect();
    let more = match change.differences.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let before = change.run_before;
    format!("{changed} Different from run {before}: {}{more}.", named.join("; "))
}

/// A character per run, or per some of them, as high as the value; runs that do not count are dots.
fn sparkline(points: &[TrendPoint]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values = || points.iter().filter(|point| point.counts()).map(|point| point.value);
    let (least, greatest) = values().fold((f64::INFINITY, 0.0f64), |(least, greatest), value| {
        (least.min(value), greatest.max(value))
    });
    let columns = points.len().min(SPARK_COLUMNS);
    let mark = |column: usize| {
        let (from, to) = (column * points.len() / columns, (column + 1) * points.len() / columns);
        let mut part: Vec<f64> =
            points[from..to].iter().filter(|point| point.counts()).map(|of| of.value).collect();
        part.sort_by(f64::total_cmp);
        let Some(middle) = part.get(part.len() / 2) else { return '·' };
        let height = fmt::ratio(middle - least, greatest - least) * (HEIGHTS.len() - 1) as f64;
        // Between 0 and 7 as `middle` lies between both ends.
        HEIGHTS[(height.round() as usize).min(HEIGHTS.len() - 1)]
    };
    (0..columns).map(mark).collect()
}
