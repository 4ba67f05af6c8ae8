//! Reports to make pages of.

use std::path::Path;

use candor_record::Report;

/// A report of a real kernel, judged by the rules of today.
pub fn recorded(name: &str) -> Report {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge/tests/recorded");
    let path = folder.join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).expect("a recorded report");
    let mut report = candor_record::read_unjudged(&text).expect("a report");
    report.judgement = candor_judge::judge_again(&report);
    report
}

/// The page of a report.
pub fn page(report: &Report) -> String {
    let json = candor_show::json::report(report).expect("JSON");
    let csv = candor_show::csv::report(report).expect("CSV");
    candor_html::report(report, &json, &csv)
}
