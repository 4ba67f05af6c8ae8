//! Requests for objects under rules that are about all work.

use candor_plan::objects::ObjectOp;
use candor_record::{CpuTimes, PhaseJudgement, Verdict};

use crate::testcase::TestCase;

fn reads() -> TestCase {
    TestCase::on_objects(ObjectOp::Get, 65_536, 8, 2000.0)
}

/// Sets the requests of each second, from the second's number.
fn seconds(mut case: TestCase, rate: fn(u64) -> u64) -> TestCase {
    let sample = case.measured().samples[0].clone();
    case.measured().samples = (0..20)
        .map(|second| {
            let mut sample = sample.clone();
            sample.at_ns = (second + 1) * 1_000_000_000;
            sample.operations[0].ops = rate(second);
            sample
        })
        .collect();
    case
}

fn finds(judgement: &PhaseJudgement, rule: &str) -> bool {
    let findings = judgement.findings.iter();
    findings.clone().any(|finding| finding.rule == rule)
        || findings.flat_map(|finding| &finding.consequences).any(|of| of.rule == rule)
}

#[test]
fn rates_of_seconds_are_judged() {
    let varying = seconds(reads(), |second| if second % 2 == 0 { 3000 } else { 1000 });
    assert!(finds(&varying.judge(), "G2"));
    let falling = seconds(reads(), |second| 4000 - 100 * second);
    assert!(finds(&falling.judge(), "G3"));
    let steady = seconds(reads(), |second| 2000 + second % 3).judge();
    assert!(!finds(&steady, "G2") && !finds(&steady, "G3"));
}

#[test]
fn few_requests_carry_no_high_percentile() {
    let few = TestCase::on_objects(ObjectOp::Get, 8 << 20, 8, 20.0).judge();
    let sentence = &few.finding("G5").expect("G5").sentence;
    assert!(sentence.starts_with("p99 of the get requests would rest on"), "{sentence}");
    assert!(!finds(&reads().judge(), "G5"));
}

#[test]
fn waits_for_a_cpu_and_stolen_time_are_judged() {
    let mut case = reads();
    case.measured().per_worker[0].run_wait_ns = Some(3_000_000_000);
    case.host.before.cpu = Some(CpuTimes::default());
    let (idle_ns, steal_ns) = (15_000_000_000, 5_000_000_000);
    case.host.after.cpu = Some(CpuTimes { idle_ns, steal_ns, ..CpuTimes::default() });
    let judgement = case.judge();
    assert!(finds(&judgement, "B8") && finds(&judgement, "B13"), "{judgement:#?}");
    assert_eq!(judgement.verdict, Verdict::Caution);
}
