//! The sections of a comparison: what came of it, what makes it unfair, the figures.

use candor_record::comparison::{Comparison, Fairness, Outcome, RunChange};
use candor_show::{Tone, charts, comparison as shown};

use crate::markup::Markup;
use crate::page::{Frame, Section, page};
use crate::parts;
use crate::pictures::{Heading, figure};

/// Letters of a value of a condition; nobody reads longer ones in a table.
const VALUE_LETTERS: usize = 120;

/// A comparison as a page.
pub fn comparison(comparison: &Comparison) -> String {
    let sources: Vec<&str> = comparison.runs.iter().map(|run| run.source.as_str()).collect();
    let frame = Frame {
        title: format!("{} compared", sources.join(", ")),
        head: head(comparison),
        colophon: format!("candor {} compared.", comparison.candor_version),
    };
    let sections = [
        ("changes", "Changes", changes(comparison)),
        ("unlike", "Different conditions", unlike(comparison)),
        ("checks", "Conditions", checks(comparison)),
    ];
    let sections = sections.into_iter().filter(|(_, _, body)| !body.is_empty());
    let sections: Vec<Section> = sections
        .map(|(id, short, body)| Section { id, title: String::from(short), short, body })
        .collect();
    page(&frame, &sections)
}

fn head(comparison: &Comparison) -> Markup {
    let mut head = Markup::new();
    head.element("p", &[("class", "which")], "Comparison of runs");
    let class = format!("verdict {}", parts::class(tone(comparison)));
    head.within("div", &[("class", &class)], |block| {
        block.element("h1", &[("class", "sentence")], &comparison.headline);
        for change in comparison.changes.iter().filter(|_| comparison.changes.len() > 1) {
            block.element("p", &[("class", "lead")], &change.headline);
        }
    });
    let runs: Vec<_> =
        comparison.runs.iter().map(|run| (run.label.clone(), shown::about(run))).collect();
    parts::named(&mut head, &runs);
    head
}

/// The role of the whole: a loss that was shown weighs most, then what makes it unfair.
fn tone(comparison: &Comparison) -> Tone {
    let figures = || comparison.changes.iter().flat_map(|change| &change.figures);
    let is_unfair = |change: &RunChange| {
        change.fairness != Fairness::Fair || change.doubts.iter().any(|doubt| doubt.unbelieved)
    };
    match () {
        () if comparison.changes.iter().any(is_unfair) => Tone::Caution,
        () if figures().any(|figure| figure.outcome == Outcome::Worse) => Tone::Bad,
        () => Tone::Good,
    }
}

fn changes(comparison: &Comparison) -> Markup {
    let mut body = Markup::new();
    let Some(baseline) = comparison.runs.first() else { return body };
    let mut pictures = 0;
    for change in &comparison.changes {
        let (from, to) = (&baseline.label, &change.run);
        for figures in shown::by_job(change) {
            let Some(of) = figures.first() else { continue };
            let heading = format!("{}: {from} → {to}", shown::place(of));
            body.element("h3", &[], &heading);
            let table = shown::table(&figures, from, to, comparison.confidence);
            parts::table(&mut body, &heading, &table);
            let chart = charts::changes::changes(&figures, from, to, comparison.confidence);
            pictures += 1;
            figure(&mut body, &format!("changes-{pictures}"), &chart, Heading::Section);
            for (names, text) in shown::reasons(&figures) {
                body.element("p", &[("class", "dim")], &format!("{names}: {text}"));
            }
        }
        if !change.unmatched.is_empty() {
            body.element("h3", &[], "Only in one run");
            parts::list(&mut body, &change.unmatched);
        }
    }
    body
}

fn unlike(comparison: &Comparison) -> Markup {
    let mut body = Markup::new();
    let Some(baseline) = comparison.runs.first() else { return body };
    for change in &comparison.changes {
        let doubts = change.doubts.iter();
        let doubts = doubts.map(|of| format!("{} {}: {}", of.run, of.phase, of.sentence));
        let doubts: Vec<String> = doubts.collect();
        if !doubts.is_empty() {
            body.element("h3", &[], &format!("Doubts about {} and {}", baseline.label, change.run));
            parts::list(&mut body, &doubts);
        }
        if let Some(table) = shown::unlike(&baseline.label, change, VALUE_LETTERS, VALUE_LETTERS) {
            let heading = format!("{} and {}", baseline.label, change.run);
            body.element("h3", &[], &heading);
            parts::table(&mut body, &heading, &table);
        }
        if let Some(text) = shown::also_different(change) {
            body.element("p", &[("class", "dim")], &format!("Also different: {text}"));
        }
    }
    body
}

fn checks(comparison: &Comparison) -> Markup {
    let mut body = Markup::new();
    for check in &comparison.checks {
        let (word, tone) = shown::word(check.result);
        body.within("p", &[("class", parts::class(tone))], |line| {
            line.element(
                "b",
                &[("class", "toned")],
                &format!("{} {}: {word}", check.run, check.condition),
            );
            line.text(&format!(" {}", check.sentence));
        });
    }
    body
}
