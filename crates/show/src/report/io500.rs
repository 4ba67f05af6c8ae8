//! Results and score of phases of IO500's shape, in the lines that its readers know.

use candor_derive::io500::{Io500, Io500Result};
use candor_record::{Report, Verdict};

use crate::layout::{Page, width, wrap};
use crate::style::{Style, Tone};

/// Said above the results: the list takes those of its own program only.
const HEAD: &str = "IO500's phases by candor: not a submission.";
/// Reason for a result or a score that is not valid.
const TOO_SHORT: &str = "[INVALID]: a phase that writes lasts less than 300 s";

/// The lines of the results, within the columns; none for any other run.
pub(super) fn lines(style: &Style, report: &Report) -> Option<Vec<String>> {
    // Wrapping would take the columns of numbers apart.
    let fitted = |line: String| {
        if width(&line) <= style.columns() { vec![line] } else { wrap(&line, style.columns()) }
    };
    Some(whole_lines(&Io500::of(report)?).into_iter().flat_map(fitted).collect())
}

fn whole_lines(io500: &Io500) -> Vec<String> {
    let mut lines = vec![HEAD.to_owned()];
    lines.extend(io500.results.iter().map(result));
    lines.extend(io500.score.map(|score| {
        format!(
            "[SCORE ] Bandwidth {:.6} GiB/s : IOPS {:.6} kiops : TOTAL {:.6}{}",
            score.gib_per_s,
            score.kilo_per_s,
            score.total,
            mark(score.is_valid)
        )
    }));
    if io500.results.iter().any(|result| !result.is_long_enough) {
        lines.push(TOO_SHORT.into());
    }
    let named = |result: &Io500Result| match &result.measures {
        Some(what) => format!("{} ({what})", result.name),
        None => result.name.to_owned(),
    };
    let other: Vec<String> =
        io500.results.iter().filter(|result| result.verdict == Verdict::Wrong).map(named).collect();
    if !other.is_empty() {
        lines.push(format!("Different measurement: {}", other.join(", ")));
    }
    lines
}

fn result(result: &Io500Result) -> String {
    format!(
        "[RESULT] {:>19} {:>12.6} {} : time {:.3} seconds{}",
        result.name,
        result.value,
        result.unit.name(),
        result.seconds,
        mark(result.is_long_enough)
    )
}

fn mark(is_valid: bool) -> &'static str {
    if is_valid { "" } else { " [INVALID]" }
}

/// The results as a part of the page.
pub(super) fn section(page: &mut Page, report: &Report) {
    let Some(lines) = lines(page.style, report) else { return };
    page.blank();
    for (nth, line) in lines.iter().enumerate() {
        match nth {
            0 => page.line(&page.style.paint(Tone::Strong, line)),
            _ => page.line(line),
        }
    }
}
