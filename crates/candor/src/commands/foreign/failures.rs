//! Sentences about what failed.

use candor_record::{Ended, Measurement, Mismatch, Report};

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

/// Where a block is not what was written.
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

/// The same of work on names: what moves no bytes has no place in a file.
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
    fn reasons_are_sentences() {
        let (path, message) = ("/f".into(), "gone".into());
        let error = IoFailure { op: None, path, offset: 0, errno: 2, message, count: 1 };
        let failed = Measurement { errors: vec![error], ..Measurement::default() };
        assert_eq!(reason(&failed), "/f: gone");
        let stalled = Measurement { ended: Ended::Stalled, ..Measurement::default() };
        assert_eq!(reason(&stalled), "it made no progress and was given up");
    }
}
