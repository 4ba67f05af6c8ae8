//! The document for machines.
//!
//! One JSON object, versioned by its first key; `docs/report.md` describes it and
//! `docs/report-schema.json` is its schema, held against real reports by this crate's tests.

mod pretty;
#[cfg(test)]
#[path = "../../../tests/support/schema.rs"]
pub(crate) mod schema;
#[cfg(test)]
mod tests;

use candor_record::comparison::Comparison;
use candor_record::requests::AlignmentReport;
use candor_record::results::Results;
use candor_record::stream::StreamLine;
use candor_record::{Cached, Explanation, Facts, Report, Watched};

/// The report as JSON, one line break at its end.
pub fn report(report: &Report) -> Result<String, serde_json::Error> {
    Ok(pretty::print(&serde_json::to_string(report)?))
}

/// The facts of `candor inspect` as JSON, one line break at the end.
pub fn facts(facts: &Facts) -> Result<String, serde_json::Error> {
    Ok(pretty::print(&serde_json::to_string(facts)?))
}

/// The rules of `candor explain` as JSON, one line break at the end.
pub fn rules(rules: &[&Explanation]) -> Result<String, serde_json::Error> {
    Ok(pretty::print(&serde_json::to_string(rules)?))
}

/// The result of `candor align` as JSON, one line break at the end.
pub fn alignment(report: &AlignmentReport) -> Result<String, serde_json::Error> {
    Ok(pretty::print(&serde_json::to_string(report)?))
}

/// Results of another tool as JSON, one line break at the end.
pub fn results(results: &Results) -> Result<String, serde_json::Error> {
    Ok(pretty::print(&serde_json::to_string(results)?))
}

/// A look of `candor watch` as JSON on one line, with its break.
pub fn watched(watched: &Watched) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(watched)? + "\n")
}

/// A line of `--json-stream`, with its break.
pub fn stream_line(line: &StreamLine) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(line)? + "\n")
}

/// The result of `candor cache` as JSON, one line break at the end.
pub fn cached(cached: &Cached) -> Result<String, serde_json::Error> {
    Ok(pretty::print(&serde_json::to_string(cached)?))
}

/// Runs or trends of `candor history` as JSON, one line break at the end.
pub fn history(document: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    Ok(pretty::print(&serde_json::to_string(document)?))
}

/// The result of `candor compare` as JSON, one line break at the end.
pub fn comparison(comparison: &Comparison) -> Result<String, serde_json::Error> {
    Ok(pretty::print(&serde_json::to_string(comparison)?))
}
