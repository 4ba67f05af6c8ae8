//! G18: a host was lost.

use candor_record::fmt;
use candor_record::{Finding, HostRecord, LostHost, Measurement, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G18",
        title: "a host was lost",
        explanation: "A host that is silent or has a broken connection may still be working, or \
            may have crashed. The last numbers of a lost host are older than the numbers of other \
            hosts, and its counters have no end. candor stops the run and keeps all data received. \
            The numbers are partial, without a verdict on the whole run. Find the reason (power, \
            memory, network), and run again.",
    },
    stage: Stage::Failure,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let record = observed.record;
    let names = record.host_names();
    let lost = record.hosts.iter().zip(&names).filter_map(|(host, name)| {
        let lost = host.member.as_ref()?.lost.as_ref()?;
        Some(finding(name, host, lost))
    });
    lost.collect::<Vec<_>>().into()
}

fn finding(name: &str, host: &HostRecord, lost: &LostHost) -> Finding {
    let when = match lost.at_ns {
        Some(at_ns) => format!("{} after the start", fmt::time(at_ns as f64)),
        None => "before the start".to_owned(),
    };
    let ops: u64 = host.measurements.iter().map(Measurement::ops_done).sum();
    let bytes: u64 =
        host.measurements.iter().flat_map(Measurement::work_operations).map(|op| op.bytes).sum();
    let done = match ops {
        0 => "with no operation known to be complete".to_owned(),
        _ => format!("with {} complete", fmt::plural(ops as f64, "operation", "operations")),
    };
    let sentence = format!(
        "{name} was lost {when} ({}), {done}. The numbers are partial, without a verdict on the \
         whole run.",
        lost.why
    );
    let mut finding = FindingBuilder::new("G18", Severity::Unverified, sentence)
        .evidence("operations reported", Quantity::count(ops as f64), name)
        .evidence("bytes reported", Quantity::bytes(bytes as f64), name);
    if let Some(at_ns) = lost.at_ns {
        finding = finding.at_s(at_ns as f64 / 1e9);
    }
    finding.advice("Find the reason of the loss, and run again.", None).done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, together};
    use candor_record::Verdict;

    fn two() -> TestCase {
        together(&[TestCase::direct(4096, 8, 1, 1e4), TestCase::direct(4096, 8, 1, 1e4)])
    }

    #[test]
    fn a_lost_host_leaves_no_verdict_on_the_whole() {
        let mut case = two();
        let why = "silent for 2.0 s".to_owned();
        case.member(1).lost = Some(LostHost { at_ns: Some(3_200_000_000), why });
        let judged = case.judge();
        assert_eq!(judged.verdict, Verdict::Unverified);
        assert_eq!(
            judged.headline,
            "Cannot be verified: node-b was lost 3.2 s after the start (silent for 2.0 s), with \
             100k operations complete. The numbers are partial, without a verdict on the whole \
             run."
        );
        assert_eq!(judged.findings[0].rule, "G18");
        case.record.hosts[1].measurements.clear();
        case.member(1).lost.as_mut().unwrap().at_ns = None;
        let found = case.found(&RULE);
        assert!(
            found[0]
                .sentence
                .contains("before the start (silent for 2.0 s), with no operation known")
        );
    }

    #[test]
    fn a_run_that_lost_all_hosts_says_so_too() {
        let mut case = two();
        for at in 0..2 {
            case.member(at).lost =
                Some(LostHost { at_ns: None, why: "the connection broke".into() });
            case.record.hosts[at].measurements.clear();
        }
        case.record.measurements.clear();
        let judged = case.judge();
        assert_eq!(judged.verdict, Verdict::Unverified);
        assert!(judged.findings.iter().all(|finding| finding.rule == "G18"), "{judged:?}");
    }

    #[test]
    fn hosts_that_stayed_are_not() {
        assert_eq!(two().found(&RULE), []);
    }
}
