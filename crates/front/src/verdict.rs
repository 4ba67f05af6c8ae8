//! The verdict beside a tool's own figures: can the result be believed, what limits it, what next.

mod requests;

use candor_record::{Finding, Note, PhaseJudgement, Report, fmt};

use super::Object;

/// Findings in the text: the heaviest. The JSON document has all of them.
const FINDINGS_MAX: usize = 3;

/// The limits of the phases, each once.
fn limits(report: &Report) -> Vec<String> {
    let mut limits: Vec<String> = Vec::new();
    let of = |judged: &'_ PhaseJudgement| {
        let own = judged.job_limits.clone().into_iter().flatten();
        judged.limited_by.clone().into_iter().chain(own)
    };
    for limit in report.judged().flat_map(|(_, judged)| of(judged)) {
        let limit = limit.to_string();
        if !limits.contains(&limit) {
            limits.push(limit);
        }
    }
    limits
}

/// Findings of all phases with the phase's name, heaviest first; what is said of several phases in
/// the same words stands once.
fn findings(report: &Report) -> Vec<(&str, &Finding)> {
    let mut all: Vec<(&str, &Finding)> = Vec::new();
    for (phase, judged) in report.judged() {
        for finding in &judged.findings {
            if !all
                .iter()
                .any(|(_, seen)| seen.rule == finding.rule && seen.sentence == finding.sentence)
            {
                all.push((&phase.name, finding));
            }
        }
    }
    all.sort_by_key(|(_, finding)| std::cmp::Reverse((finding.severity, finding.confidence)));
    all
}

/// Notes, each once: clones of a job have the same to say.
fn notes(report: &Report) -> Vec<&Note> {
    let mut notes: Vec<&Note> = Vec::new();
    for note in &report.notes {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Some of the notes, a line each after `begin`: place, request, action and reason.
pub fn notes_text(report: &Report, begin: &str, is_shown: impl Fn(&Note) -> bool) -> String {
    let line = |note: &Note| {
        let place = note.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        let line = format!("{place}{}: {}, {}", note.asked, note.did, note.why);
        format!("{begin}note: {}\n", line.replace('\n', " "))
    };
    notes(report).into_iter().filter(|note| is_shown(note)).map(line).collect()
}

/// The key `candor` of the JSON document.
pub fn tree(report: &Report) -> Object {
    let one = |(phase, finding): (&str, &Finding)| {
        let mut object = Object::default()
            .with("rule", finding.rule.as_str())
            .with("title", finding.title.as_str())
            .with("severity", finding.severity.name())
            .with("phase", phase);
        if let Some(job) = &finding.job {
            object.put("job", job.as_str());
        }
        object.put("sentence", finding.sentence.as_str());
        object.put("advice", finding.advice.as_str());
        if let Some(next) = &finding.next {
            object.put("next", next.as_str());
        }
        object
    };
    let note = |note: &Note| {
        let mut object = Object::default()
            .with("asked", note.asked.as_str())
            .with("did", note.did.as_str())
            .with("why", note.why.as_str());
        if let Some(place) = &note.place {
            object.put("place", place.as_str());
        }
        object
    };
    let mut tree = Object::default()
        .with("version", report.candor_version.as_str())
        .with("verdict", report.judgement.verdict.name())
        .with("headline", report.judgement.headline.as_str())
        .with("limited_by", limits(report))
        .with("findings", findings(report).into_iter().map(one).collect::<Vec<_>>())
        .with("requests", requests::trees(report))
        .with("notes", notes(report).into_iter().map(note).collect::<Vec<_>>());
    if let Some(cut_short) = &report.cut_short {
        tree.put("cut_short", cut_short.as_str());
    }
    tree
}

/// The verdict as a block of text below a tool's own. Scripts pick lines of that by the words of
/// its figures: each of `figures` is a word that may not stand here, and what stands for it.
pub fn text(report: &Report, figures: &[(&str, &str)]) -> String {
    let plain = |text: &str| {
        let line = text.replace('\n', " ");
        figures.iter().fold(line, |text, (word, instead)| text.replace(word, instead))
    };
    let headline = &report.judgement.headline;
    let mut text = format!("\ncandor: {}\n", plain(headline));
    for limit in limits(report).iter().filter(|limit| !headline.contains(limit.as_str())) {
        text += &format!("  limited by {}\n", plain(limit));
    }
    for line in requests::text(report).lines() {
        text += &format!("{}\n", plain(line));
    }
    let mut rules: Vec<&Finding> = Vec::new();
    for (_, finding) in findings(report) {
        if rules.iter().all(|shown| shown.rule != finding.rule) {
            rules.push(finding);
        }
    }
    for finding in rules.iter().take(FINDINGS_MAX) {
        text += &format!("  {} {}: {}\n", finding.rule, finding.title, plain(&finding.sentence));
        if let Some(next) = &finding.next {
            text += &format!("      try: {next}\n");
        }
    }
    let more = rules.len().saturating_sub(FINDINGS_MAX);
    if more > 0 {
        let more = fmt::counted(more as u64, "more finding");
        text += &format!("  {more}: set CANDOR_JSON=FILE for the complete report\n");
    }
    for line in notes_text(report, "  ", |_| true).lines() {
        text += &format!("{}\n", plain(line));
    }
    if let Some(cut_short) = &report.cut_short {
        text += &format!("  ended early: {}\n", plain(cut_short));
    }
    text
}
