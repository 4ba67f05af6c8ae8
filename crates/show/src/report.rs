//! The page that a person reads first.
//!
//! In the order of a reader's questions: can it be believed, what storage is this, what did it do
//! beside what it could do, what do I need to know, what was not as I asked, what could not be
//! seen. Everything else is in the JSON report.

mod filled;
mod findings;
mod first_screen;
mod hosts;
mod http;
mod io500;
mod key_numbers;
pub mod parts;
mod results;
mod sweep;
mod troubles;

#[cfg(test)]
mod tests;

use candor_derive::summary;
use candor_record::fmt::column;
use candor_record::{Report, Verdict};

use crate::layout::{Page, wrap};
use crate::style::{Style, Tone};
use crate::{describe, requests, words};

pub use first_screen::text as first_screen;

/// The whole report as text.
pub fn text(report: &Report, style: &Style) -> String {
    let mut page = Page::new(style);
    head(&mut page, report);
    io500::section(&mut page, report);
    results::section(&mut page, report);
    hosts::section(&mut page, report);
    sweep::section(&mut page, report);
    http::section(&mut page, report);
    filled::section(&mut page, report);
    troubles::section(&mut page, report);
    requests::brief(&mut page, report);
    findings::section(&mut page, report);
    notes(&mut page, report);
    unseen(&mut page, report);
    page.blank();
    page.aside("", &ran(report));
    page.finish()
}

/// Conditions that the user expects, one line each; empty where there is none.
pub fn expectations(report: &Report, style: &Style) -> String {
    if report.expectations.is_empty() {
        return String::new();
    }
    let mut page = Page::new(style);
    page.line("");
    page.line(&style.paint(Tone::Strong, "Expectations"));
    for of in &report.expectations {
        let label = of.result.label();
        let text = format!("{label}: {}. {}", of.condition, of.sentence);
        for line in wrap(&text, style.columns() - 2) {
            let painted = line.strip_prefix(label).map(|rest| {
                format!("{}{rest}", style.paint(words::expectation_tone(of.result), label))
            });
            page.line(&format!("  {}", painted.unwrap_or(line)));
        }
    }
    page.finish()
}

/// Files that were written beside the report, as the last lines of a run.
pub fn written(run_dir: Option<&str>, json: Option<&str>, html: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(dir) = run_dir {
        text.push_str(&format!(
            "The run is saved in {dir} (report.txt, report.json, plan.toml).\n"
        ));
        text.push_str(&format!("Repeat it with: candor run {dir}/plan.toml\n"));
    }
    if let Some(file) = json {
        text.push_str(&format!("The JSON report is in {file}.\n"));
    }
    if let Some(file) = html {
        text.push_str(&format!("The HTML page is in {file}.\n"));
    }
    text
}

/// Verdict, what cut the run short, what the storage is.
fn head(page: &mut Page, report: &Report) {
    let (line, tone) = verdict_line(report);
    // Painted line by line, so that a wrapped headline is coloured to its end.
    for line in wrap(&line, page.style.columns()) {
        page.line(&page.style.paint(tone, &line));
    }
    if let Some(sentence) = cut_short(report) {
        page.paragraph("Cut short: ", &sentence);
    }
    let facts = report.facts();
    for target in &facts.targets {
        page.paragraph("", &describe::target(facts, target));
    }
    http::storage(report).iter().for_each(|line| page.paragraph("", line));
}

/// Why the run ended early.
fn cut_short(report: &Report) -> Option<String> {
    let sentence = report.cut_short.as_ref().map(|sentence| ended(sentence));
    sentence.or_else(|| {
        report.interrupted.then(|| "interrupted; the numbers cover the work until then.".to_owned())
    })
}

/// Whether to believe it, in a line; of a series, in how many results.
fn verdict_line(report: &Report) -> (String, Tone) {
    let judged: Vec<_> = report.judged().collect();
    let is_corrupt = report.judgement.verdict == Verdict::Corrupt;
    if !is_corrupt && !judged.iter().any(|(phase, _)| results::measured(phase)) {
        // No finding speaks against a number that does not exist.
        return ("Nothing was measured.".to_owned(), Tone::Bad);
    }
    let whole = &report.judgement;
    let line = match &judged[..] {
        [] => ended(&whole.headline),
        [(_, judged)] if !judged.headline.is_empty() => ended(&judged.headline),
        [_] => format!("{}.", whole.verdict.label()),
        several => summary::of_results(several, &whole.repeats),
    };
    (line, words::tone(whole.verdict))
}

/// The text with a full stop.
fn ended(text: &str) -> String {
    if text.ends_with(['.', '!', '?', ':']) { text.to_owned() } else { format!("{text}.") }
}

/// Differences between what was asked and what ran.
fn notes(page: &mut Page, report: &Report) {
    if report.notes.is_empty() {
        return;
    }
    page.heading("Differs from the request");
    for note in &report.notes {
        let place = note.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        page.paragraph("  ", &format!("{place}{}: {} ({})", note.asked, note.did, note.why));
    }
}

/// Facts that could not be read, and the rules that could not be evaluated, each once.
fn unseen(page: &mut Page, report: &Report) {
    let missing = missing(report);
    if !missing.is_empty() {
        page.heading("Could not be read");
    }
    missing.iter().for_each(|line| page.paragraph("  ", line));
    let rules = unapplied(report);
    if !rules.is_empty() {
        page.heading("Rules that could not be applied");
        page.aside("  ", &rules.join(", "));
    }
}

/// Facts that could not be read, each once; with names where some of several hosts lack them.
fn missing(report: &Report) -> Vec<String> {
    let Some(last) = report.phases.last() else { return Vec::new() };
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (host, name) in last.hosts.iter().zip(last.host_names()) {
        for line in host.facts.missing.iter().map(describe_missing) {
            match all.iter_mut().find(|(known, _)| *known == line) {
                Some((_, hosts)) => hosts.push(name.clone()),
                None => all.push((line, vec![name.clone()])),
            }
        }
    }
    all.into_iter()
        .map(|(line, hosts)| {
            if hosts.len() == last.hosts.len() {
                line
            } else {
                format!("{line} (on {})", hosts.join(", "))
            }
        })
        .collect()
}

/// Rules that could not be evaluated, with the facts that each lacked, once.
fn unapplied(report: &Report) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for rule in report.judged().flat_map(|(_, judged)| &judged.not_evaluated) {
        let text = format!("{} (missing: {})", rule.rule, rule.lacked);
        if !rules.contains(&text) {
            rules.push(text);
        }
    }
    rules
}

/// The missing fact, the reason, and the remedy.
pub(crate) fn describe_missing(missing: &candor_record::facts::Missing) -> String {
    if missing.enable.is_empty() {
        format!("{}: {}", missing.what, missing.why)
    } else {
        format!("{}: {}; {}", missing.what, missing.why, missing.enable)
    }
}

/// Which program ran when, how long, and on what host.
fn ran(report: &Report) -> String {
    let elapsed = column::time((report.elapsed_s * 1e9) as u64);
    let hosts = report.phases.last().map_or(&[][..], |last| &last.hosts);
    let first = describe::host(&report.facts().host);
    let is_alike = hosts.iter().all(|host| describe::host(&host.facts.host) == first);
    let host = match hosts.len() {
        0 | 1 => first,
        number if is_alike => format!("{number} hosts: {first}"),
        number => format!("{number} hosts"),
    };
    let host = if host.is_empty() { host } else { format!(" on {host}") };
    format!("candor {} ran {elapsed} from {}{host}.", report.candor_version, report.started)
}
