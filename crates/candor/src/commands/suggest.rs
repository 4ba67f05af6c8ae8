//! Command lines for what findings of a report advise.

use candor_record::Report;

use super::{run, tree};

/// Writes into each finding the command that tries its changes, where there is one.
pub fn complete(report: &mut Report) {
    let (words, plan) = (&report.command, &report.plan);
    let suggestion = match words.get(1).map(String::as_str) {
        Some("tree") => tree::suggest::suggestion,
        _ => run::suggest::suggestion,
    };
    let findings = report.judgement.phases.iter_mut().flatten().flat_map(|of| &mut of.findings);
    findings.for_each(|finding| finding.next = suggestion(words, plan, &finding.changes));
}

#[cfg(test)]
mod tests {
    use candor_record::{Finding, JUDGEMENT_VERSION, Judgement, PhaseJudgement, Setting};

    use super::*;

    #[test]
    fn findings_of_a_report_get_their_commands() {
        let changes =
            vec![Setting { key: "phase[0].job[0].work.blocks.depth".into(), value: "32".into() }];
        let words = "candor run --target /data/f --rw read --engine io_uring";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let finding: Finding = serde_json::from_value(serde_json::json!({
            "rule": "B4", "title": "", "severity": "explains", "confidence": "likely", "job": null,
            "limits": null, "measures": null, "sentence": "", "evidence": [], "consequences": [],
            "advice": "", "changes": changes, "next": null,
        }))
        .unwrap();
        let phase = PhaseJudgement { findings: vec![finding], ..PhaseJudgement::default() };
        let judgement = Judgement {
            judgement_version: JUDGEMENT_VERSION,
            phases: vec![Some(phase)],
            ..Judgement::default()
        };
        let plan = run::suggest::read(&words).unwrap();
        let mut report = Report { command: words, plan, judgement, ..Report::default() };
        complete(&mut report);
        let next = &report.judgement.phases[0].as_ref().unwrap().findings[0].next;
        let wanted = "candor run --target /data/f --rw read --engine io_uring --depth 32";
        assert_eq!(next.as_deref(), Some(wanted));
    }
}
