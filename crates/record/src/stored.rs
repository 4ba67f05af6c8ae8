//! Reading a report that was written before.

use candor_plan::values;
use serde_json::Value;

use crate::{JUDGEMENT_VERSION, Judgement, REPORT_VERSION, Report};

/// Bytes of the longest report that is read.
pub const REPORT_BYTES_MAX: u64 = 256 << 20;

/// Reads a report with its judgement.
///
/// # Errors
/// A sentence: the text is no report, or the report or its judgement has another version.
pub fn read(text: &str) -> Result<Report, String> {
    let document = document(text)?;
    match document["judgement"]["judgement_version"].as_u64() {
        Some(version) if version == u64::from(JUDGEMENT_VERSION) => report(&document),
        found => Err(format!(
            "judgement version {}, but this candor reads version {JUDGEMENT_VERSION}; `candor \
             judge` judges the report again",
            found.map_or("unknown".to_owned(), |version| version.to_string())
        )),
    }
}

/// Reads a report without its judgement, whatever version that has.
///
/// # Errors
/// A sentence: the text is no report, or the report has another version.
pub fn read_unjudged(text: &str) -> Result<Report, String> {
    let mut document = document(text)?;
    document["judgement"] =
        serde_json::to_value(Judgement::default()).map_err(|error| error.to_string())?;
    report(&document)
}

/// The text as a JSON document of a version that can be read.
fn document(text: &str) -> Result<Value, String> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    match document.get("report_version").map(Value::as_u64) {
        None => Err("not a candor report: `report_version` is missing".to_owned()),
        Some(Some(version)) if version == u64::from(REPORT_VERSION) => Ok(document),
        Some(found) => Err(format!(
            "report version {}, but this candor reads version {REPORT_VERSION}",
            found.map_or("unknown".to_owned(), |version| version.to_string())
        )),
    }
}

fn report(document: &Value) -> Result<Report, String> {
    let report: Report =
        values::from_tree(document).map_err(|misfit| format!("not a candor report: {misfit}"))?;
    let phases = report.plan.phases.len();
    let stray = report.phases.iter().find(|phase| !phase.search_step && phase.phase >= phases);
    match stray {
        None => Ok(report),
        Some(phase) => Err(format!(
            "`{}` belongs to phase {} of the plan, but the plan has {phases}",
            phase.name, phase.phase
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, FollowUp, PhaseRecord, Verdict};

    fn text(change: impl FnOnce(&mut Report)) -> String {
        let judgement = Judgement { judgement_version: JUDGEMENT_VERSION, ..Judgement::default() };
        let mut report = Report { report_version: REPORT_VERSION, judgement, ..Report::default() };
        change(&mut report);
        serde_json::to_string(&report).expect("it can be written")
    }

    #[test]
    fn other_versions_and_other_documents_are_refused() {
        assert!(read(&text(|_| {})).is_ok());
        for (text, word) in [
            ("{".to_owned(), "not JSON"),
            ("{}".to_owned(), "`report_version` is missing"),
            (r#"{"report_version": 2}"#.to_owned(), "version unknown"),
            (text(|report| report.report_version = 1), "report version 1, but this candor"),
            (text(|report| report.judgement.judgement_version = 9), "judgement version 9"),
            (text(|report| report.phases = vec![PhaseRecord::default()]), "belongs to phase 0"),
        ] {
            let refused = read(&text).expect_err(&text);
            assert!(refused.contains(word), "{refused}");
        }
    }

    #[test]
    fn follow_ups_go_by_their_earlier_names_as_well() {
        let text = text(|report| {
            let more = |change| FollowUp { change, ..FollowUp::default() };
            let follow_ups = vec![more(Change::MoreDepth), more(Change::MoreWorkers)];
            report.phases =
                vec![PhaseRecord { search_step: true, follow_ups, ..Default::default() }];
        });
        let earlier = text.replace("more_depth", "twice_the_depth");
        let earlier = earlier.replace("more_workers", "twice_the_workers");
        assert!(earlier != text && read(&earlier) == read(&text), "{earlier}");
    }

    #[test]
    fn verdicts_go_by_their_earlier_names_as_well() {
        for (word, earlier) in [
            ("ok", "believable"),
            ("caution", "with_remarks"),
            ("unverified", "not_verifiable"),
            ("wrong", "measures_else"),
        ] {
            let now: Verdict = serde_json::from_value(word.into()).expect(word);
            assert_eq!(Ok(now), serde_json::from_value(earlier.into()).map_err(|e| e.to_string()));
            assert_eq!(now.name(), word);
        }
    }

    #[test]
    fn what_was_seen_can_be_read_whatever_was_concluded() {
        let other = text(|report| {
            report.candor_version = "0.0.9".into();
            report.judgement.judgement_version = 9;
        });
        let other = other.replace(r#""headline":"""#, r#""headline":{"text":""}"#);
        let report = read_unjudged(&other).expect("the record is of this version");
        assert_eq!(report.candor_version, "0.0.9");
        assert_eq!(report.judgement, Judgement::default());
    }
}
