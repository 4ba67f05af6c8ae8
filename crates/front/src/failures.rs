//! Sentences about failures, and their lines on stderr.

use candor_plan::Problem;
use candor_record::{Ended, Measurement, Mismatch, Report};

/// Failures shown in full; the rest is counted.
const SHOWN_MAX: usize = 20;

/// Remedy for a device in use.
pub const RELEASE_DEVICE: &str =
    "release it first, or insist with CANDOR_FORCE=1 in the environment";

/// Sentences as lines under the tool's name.
pub fn lines(tool: &str, sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!("{tool}: {sentence}\n")).collect()
}

/// The first of many sentences as lines under the tool's name, and the number of the others.
pub fn capped(tool: &str, mut sentences: Vec<String>) -> String {
    let rest = sentences.len().saturating_sub(SHOWN_MAX);
    sentences.truncate(SHOWN_MAX);
    if rest > 0 {
        sentences.push(format!("and {rest} more"));
    }
    lines(tool, &sentences)
}

/// Problems of a plan, which name plan keys, with a pointer to the tool's options.
pub fn with_options_page(tool: &str, problems: &[Problem]) -> Vec<String> {
    let sentence = |problem: &Problem| format!("{}; see `candor options {tool}`", problem.message);
    problems.iter().map(sentence).collect()
}

/// A sentence for each failed job; if none failed, the reason why the run ended early.
pub fn sentences(
    report: &Report,
    has_failed: impl Fn(&Measurement) -> bool,
    why: impl Fn(&Measurement) -> String,
) -> Vec<String> {
    let mut sentences = Vec::new();
    for phase in &report.phases {
        let failed = phase.measurements.iter().filter(|measured| has_failed(measured));
        sentences.extend(failed.map(|measured| format!("{}: {}", phase.name, why(measured))));
    }
    if sentences.is_empty() {
        sentences.extend(report.cut_short.clone());
    }
    sentences
}

/// A block whose data differ from the written data.
pub fn mismatch(found: &Mismatch) -> String {
    let Mismatch { path, offset, length, detail, .. } = found;
    format!("verify failed at file {path} offset {offset}, length {}: {detail}", length.0)
}

/// Why a job failed, on one line.
pub fn reason(measured: &Measurement) -> String {
    if let Some(error) = measured.errors.first() {
        let (path, offset, message) = (&error.path, error.offset, &error.message);
        return match &error.op {
            Some(op) => format!("{op} of {path} at offset {offset}: {message}"),
            None if path.is_empty() => message.clone(),
            None => format!("{path}: {message}"),
        };
    }
    let first = measured.verify.as_ref().and_then(|verify| verify.first.first());
    match (first, measured.ended) {
        (Some(found), _) => mismatch(found),
        (None, Ended::Stalled) => "it made no progress and was given up".to_owned(),
        (None, _) => "a worker failed".to_owned(),
    }
}

/// Why a job on names failed: operations that move no bytes have no offset.
pub fn of_name(measured: &Measurement) -> String {
    match measured.errors.first().and_then(|error| Some((error.op.as_ref()?, error))) {
        Some((op, error)) if !matches!(op.as_str(), "read" | "write" | "read_back") => {
            format!("{op} of {}: {}", error.path, error.message)
        }
        _ => reason(measured),
    }
}

#[cfg(test)]
mod tests {
    use candor_record::IoFailure;

    use super::*;

    #[test]
    fn many_sentences_are_counted() {
        let of = |count: usize| capped("ior", vec!["x".to_owned(); count]);
        assert_eq!(of(20).lines().count(), 20);
        assert_eq!((of(23).lines().count(), of(23).lines().last()), (21, Some("ior: and 3 more")));
        assert_eq!(of(2), "ior: x\nior: x\n");
    }

    #[test]
    fn reasons_are_sentences() {
        let (path, message) = ("/f".into(), "gone".into());
        let error = IoFailure { op: None, path, offset: 0, errno: 2, message, count: 1 };
        let failed = Measurement { errors: vec![error], ..Measurement::default() };
        assert_eq!(reason(&failed), "/f: gone");
        let stalled = Measurement { ended: Ended::Stalled, ..Measurement::default() };
        assert_eq!(reason(&stalled), "it made no progress and was given up");
    }
}
