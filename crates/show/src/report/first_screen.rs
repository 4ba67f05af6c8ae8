//! The first screen of a run: key numbers and verdict, table, heaviest findings.
//!
//! All of it fits a terminal of 80×24, the prompt included; the full text and the report have the
//! rest. In a pipe or a file, nothing is cut.

use candor_derive::NameTable;
use candor_record::facts::TargetFacts;
use candor_record::{Finding, Report, fmt};

use super::key_numbers::key_numbers;
use super::{ended, filled, findings, hosts, http, io500, results, sweep, troubles, verdict_line};
use crate::describe;
use crate::layout::{Page, cut, width, wrap};
use crate::style::{Style, Tone};
use crate::words;

/// Lines of the page: a row is left for the prompt, and one for what runs tell at their end.
const LINES_MAX: usize = 22;
/// Rows of the table, its head included.
const ROWS_MAX: usize = 14;
/// Lines that tell the knees of a sweep.
const KNEE_LINES_MAX: usize = 4;
/// Findings that are told.
const FINDINGS_MAX: usize = 3;
/// Lines that the verdict takes.
const VERDICT_LINES_MAX: usize = 2;
/// Lines that the sentence of a finding takes.
const SENTENCE_LINES_MAX: usize = 2;
/// Further targets lie where the first one does.
const SHARED: &str = " on this filesystem";
/// Lines of latency goals, errors and verification.
const TROUBLES_MAX: usize = 3;

/// The first screen.
pub fn text(report: &Report, style: &Style) -> String {
    let mut page = Page::new(style);
    head(&mut page, report);
    let told = hosts::line(report).into_iter().chain(results::goals(report));
    let told = told.chain(filled::lines(report)).chain(http::lines(report));
    let told = told.chain(troubles::lines(report));
    let troubles: Vec<String> = told.take(style.lines_max(TROUBLES_MAX)).collect();
    let all = findings::heaviest(report);
    // Two empty lines, and the one that says where the rest is.
    let lines_max = style.lines_max(LINES_MAX);
    let room = lines_max.saturating_sub(page.lines() + troubles.len() + 3);
    // Two tables leave room for a line of one finding: rows count more.
    let of_findings = match NameTable::of(report) {
        Some(_) => all.len().min(1),
        None => all.len().min(FINDINGS_MAX) + 1,
    };
    let table = table(style, report, room.saturating_sub(of_findings));
    page.blank();
    table.iter().for_each(|line| page.line(line));
    troubles.iter().flat_map(|line| short(style, line, 1)).for_each(|line| page.line(&line));
    let verdict = verdict_line(report).0;
    let shown = shown(style, &all, &verdict, room.saturating_sub(table.len()));
    page.blank();
    let told = shown.len();
    shown.iter().flatten().for_each(|line| page.line(line));
    if page.lines() + 1 < lines_max {
        page.blank();
    }
    page.aside("", &rest(all.len() - told));
    page.finish()
}

fn head(page: &mut Page, report: &Report) {
    let style = *page.style;
    for line in key_numbers(report).iter().flat_map(|text| short(&style, text, 2)) {
        page.line(&style.paint(Tone::Strong, &line));
    }
    let (line, tone) = verdict_line(report);
    for line in short(&style, &whole_clauses(&style, &line), VERDICT_LINES_MAX) {
        page.line(&style.paint(tone, &line));
    }
    let cut_short = match &report.cut_short {
        Some(sentence) => Some(format!("Cut short: {}", ended(sentence))),
        None => report.interrupted.then(|| "Cut short: interrupted.".to_owned()),
    };
    for line in cut_short.iter().flat_map(|text| short(&style, text, 2)) {
        page.line(&line);
    }
    let facts = report.facts();
    if let Some(target) = facts.targets.first() {
        let first = describe::target(facts, target);
        let mut more = more_targets(&facts.targets);
        // What lies below the first target says more than where the others are.
        if width(&first) + width(&more) > style.columns() {
            more = more.replace(SHARED, "");
        }
        let room = style.columns().saturating_sub(width(&more));
        let first = if style.is_screen { cut(&first, room) } else { first };
        page.line(&format!("{first}{more}"));
    } else if let Some(storage) = http::storage(report).first() {
        short(&style, storage, 1).iter().for_each(|line| page.line(line));
    }
}

/// The verdict without its last clause where only that finds no room: a part of it says nothing.
fn whole_clauses(style: &Style, line: &str) -> String {
    let lines_max = style.lines_max(VERDICT_LINES_MAX);
    let fits = |text: &str| wrap(text, style.columns()).len() <= lines_max;
    let without = line.rsplit_once("; ").map(|(before, _)| format!("{before} …"));
    match without.filter(|without| !fits(line) && fits(without)) {
        Some(without) => without,
        None => line.to_owned(),
    }
}

/// How many targets follow the first, and whether they lie on its filesystem; empty without any.
fn more_targets(targets: &[TargetFacts]) -> String {
    let Some((first, others)) = targets.split_first().filter(|(_, others)| !others.is_empty())
    else {
        return String::new();
    };
    let mount = |target: &TargetFacts| {
        target.filesystem.as_ref().map(|on| (on.source.clone(), on.mount_point.clone()))
    };
    let of_first = mount(first);
    let is_shared = of_first.is_some() && others.iter().all(|other| mount(other) == of_first);
    let there = if is_shared { SHARED } else { "" };
    format!("; {}{there}", fmt::counted(others.len() as u64, "more target"))
}

/// The table in so many lines at most: of a sweep its own, with its knees below.
fn table(style: &Style, report: &Report, lines_max: usize) -> Vec<String> {
    if let Some(lines) = io500::lines(style, report) {
        return lines;
    }
    let Some(of) = &report.judgement.sweep else {
        return results::brief(style, report, lines_max.min(style.lines_max(ROWS_MAX)));
    };
    let knees = of.knees.iter().flat_map(|knee| short(style, &knee.sentence, 2));
    let knees: Vec<String> = knees.take(style.lines_max(KNEE_LINES_MAX)).collect();
    let rows_max = lines_max.saturating_sub(knees.len()).min(style.lines_max(ROWS_MAX));
    sweep::brief(style, of, rows_max).into_iter().chain(knees).collect()
}

/// A finding, and the phases that it holds for where these are not all.
type Located<'a> = (&'a Finding, Option<String>);

/// The lines of each finding for which there is room, heaviest first.
fn shown(style: &Style, all: &[Located], verdict: &str, room: usize) -> Vec<Vec<String>> {
    let (mut shown, mut used) = (Vec::new(), 0);
    let heaviest = &all[..all.len().min(FINDINGS_MAX)];
    for (nth, finding) in heaviest.iter().enumerate() {
        let lines_max = style.lines_max(SENTENCE_LINES_MAX).min(room - used);
        let sentence = sentence(style, finding, verdict, lines_max);
        let command = command(style, finding.0);
        // Each that follows needs its sentence at least; a command is never cut.
        let later = heaviest[nth + 1..].iter();
        let later = later.map(|later| {
            self::sentence(style, later, verdict, style.lines_max(SENTENCE_LINES_MAX))
        });
        let later: usize = later.map(|lines| lines.len()).sum();
        let needs = |lines: &[String]| -> usize {
            lines.iter().map(|line| width(line).div_ceil(style.columns())).sum()
        };
        if sentence.is_empty() {
            break;
        }
        used += sentence.len();
        let mut lines = sentence;
        if used + needs(&command) + later <= room {
            used += needs(&command);
            lines.extend(command);
        }
        let rule = style.paint(Tone::Strong, &finding.0.rule);
        if let Some(first) = lines.first_mut() {
            *first = first.replacen(&finding.0.rule, &rule, 1);
        }
        shown.push(lines);
    }
    shown
}

/// The finding in a sentence, behind its rule and what it means. One that the verdict quotes has
/// its advice instead.
fn sentence(
    style: &Style,
    (finding, place): &Located,
    verdict: &str,
    lines_max: usize,
) -> Vec<String> {
    let whole = wrap(verdict, style.columns()).len() <= style.lines_max(VERDICT_LINES_MAX);
    let text = if whole && verdict.contains(&finding.sentence) {
        fmt::capital(&format!("{}. {}", finding.title, finding.advice))
    } else {
        let place = place.as_ref().map_or_else(String::new, |place| format!(", {place}"));
        format!("{}{place}: {}", words::meaning(finding), finding.sentence)
    };
    let lines = cut_off(wrap(&text, style.columns() - 4), style.columns() - 4, lines_max);
    let lead = |nth: usize| if nth == 0 { format!("{:<4}", finding.rule) } else { "    ".into() };
    lines.iter().enumerate().map(|(nth, line)| format!("{}{line}", lead(nth))).collect()
}

fn command(style: &Style, finding: &Finding) -> Vec<String> {
    let line = |command: &String| format!("    try: {}", style.paint(Tone::Strong, command));
    finding.next.iter().map(line).collect()
}

/// Where the rest is.
fn rest(findings: usize) -> String {
    let findings = match findings {
        0 => String::new(),
        1 => "1 more finding, ".to_owned(),
        n => format!("{n} more findings, "),
    };
    fmt::capital(&format!(
        "{findings}evidence and requests: --verbose; complete report: --json FILE."
    ))
}

/// The text in at most `lines_max` lines on a screen; `…` replaces the rest.
fn short(style: &Style, text: &str, lines_max: usize) -> Vec<String> {
    cut_off(wrap(text, style.columns()), style.columns(), style.lines_max(lines_max))
}

fn cut_off(mut lines: Vec<String>, columns: usize, lines_max: usize) -> Vec<String> {
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} …"), columns);
        }
    }
    lines
}
