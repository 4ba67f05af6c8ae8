//! Problems of a plan, with the user's own words underlined.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use candor_plan::{Problem, Severity, Source};
use candor_record::fmt::counted;

/// All problems as messages, in the order of the text, and a last line that counts them.
pub fn text(problems: &[Problem], source: &Source, color: bool) -> String {
    let mut sorted: Vec<&Problem> = problems.iter().collect();
    sorted.sort_by_key(|problem| {
        (std::cmp::Reverse(problem.severity), source.span(&problem.place).map(|span| span.start))
    });
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut text = String::new();
    for problem in sorted {
        text.push_str(&renderer.render(&[group(problem, source)]));
        text.push_str("\n\n");
    }
    text.push_str(&tally(problems));
    text
}

fn group<'a>(problem: &'a Problem, source: &'a Source) -> Group<'a> {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(problem.message.as_str()).id(problem.rule);
    let group = match span(problem, source) {
        Some(span) => title.element(
            Snippet::source(source.text.as_str())
                .path(source.name.as_str())
                .annotation(AnnotationKind::Primary.span(span)),
        ),
        None => title.element(Origin::path(whereabouts(problem, source))),
    };
    if problem.remedy.is_empty() {
        group
    } else {
        group.element(Level::HELP.message(problem.remedy.as_str()))
    }
}

/// The place in the text, never empty and never beyond its end.
fn span(problem: &Problem, source: &Source) -> Option<Range<usize>> {
    let span = source.span(&problem.place)?;
    if source.text.is_empty() {
        return None;
    }
    let whole = |mut at: usize| {
        while !source.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let end = source.text.len();
    let start = whole(span.start.min(end));
    Some(start..whole(span.end.clamp(start, end)))
}

/// Where to look if the text does not show it.
fn whereabouts(problem: &Problem, source: &Source) -> String {
    match (source.name.as_str(), problem.place.as_str()) {
        ("", "") => "the plan".to_owned(),
        ("", place) => place.to_owned(),
        (name, "") => name.to_owned(),
        (name, place) => format!("{name}, {place}"),
    }
}

fn tally(problems: &[Problem]) -> String {
    let of = |severity| problems.iter().filter(|p| p.severity == severity).count() as u64;
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    match (errors, warnings) {
        (0, 0) => String::new(),
        (0, n) => format!("{}\n", counted(n, "warning")),
        (n, 0) => format!("{}; nothing was run\n", counted(n, "error")),
        (n, m) => format!("{}, {}; nothing was run\n", counted(n, "error"), counted(m, "warning")),
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::PlanPath;
    use insta::assert_snapshot;

    use super::*;

    fn source() -> Source {
        let text = "[[phase]]\nname = \"read\"\n\n[[phase.job]]\nblocks.depth = 32\n\
                    blocks.engine = \"psync\"\n";
        let at = |words: &str| {
            let start = text.find(words).unwrap();
            start..start + words.len()
        };
        let spans = [
            (PlanPath::from("phase[0].job[0].work.blocks.depth"), at("32")),
            (PlanPath::from("phase[0].job[0].work.blocks.engine"), at("\"psync\"")),
            (PlanPath::from("phase[0]"), at("[[phase]]")),
        ];
        Source { name: "job.toml".into(), text: text.into(), spans: spans.into() }
    }

    #[test]
    fn words_are_underlined() {
        let problems = [
            Problem::warning(
                "stop-none",
                PlanPath::from("phase[0].stop"),
                "the phase has no end of its own",
                "it ends after one pass over the file; set `stop.time` to change that",
            ),
            Problem::error(
                "depth-sync",
                PlanPath::from("phase[0].job[0].work.blocks.depth"),
                "psync does one operation at a time, so a depth of 32 has no effect",
                "use `engine = \"io_uring\"` with `direct = true`, or 32 workers",
            ),
        ];
        assert_snapshot!(text(&problems, &source(), false), @r#"
        error[depth-sync]: psync does one operation at a time, so a depth of 32 has no effect
         --> job.toml:5:16
          |
        5 | blocks.depth = 32
          |                ^^
          |
          = help: use `engine = "io_uring"` with `direct = true`, or 32 workers

        warning[stop-none]: the phase has no end of its own
         --> job.toml:1:1
          |
        1 | [[phase]]
          | ^^^^^^^^^
          |
          = help: it ends after one pass over the file; set `stop.time` to change that

        1 error, 1 warning; nothing was run
        "#);
    }

    #[test]
    fn a_problem_without_a_place_in_the_text_names_it() {
        let problems = [Problem::error("target-none", PlanPath::from("target"), "no target", "")];
        let source = Source { name: "command line".into(), ..Source::default() };
        assert_snapshot!(text(&problems, &source, false), @r#"
        error[target-none]: no target
        --> command line, target

        1 error; nothing was run
        "#);
    }

    #[test]
    fn spans_beyond_the_text_are_cut() {
        let mut source = source();
        source.spans.insert(PlanPath::from("seed"), 500..600);
        let problem = Problem::error("seed", PlanPath::from("seed"), "a seed", "");
        assert!(text(&[problem], &source, false).contains("job.toml"));
    }
}
