//! One cause instead of its five symptoms.

use std::cmp::Reverse;

use candor_record::{Evidence, Finding, Severity};

use crate::observed::Observed;

/// When a finding takes those that follow from it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Always.
    Found,
    /// If it says that the number is something else's.
    MeasuresElse,
    /// If it says what limits the result.
    Limits,
}

/// Leaders and what follows from them, the deepest cause first. That the clock is coarse for it
/// (B16) follows from memory being so fast.
const FOLLOWS: &[(&str, When, &[&str])] = &[
    (
        "A8",
        When::MeasuresElse,
        &[
            "A1", "A2", "A6", "A9", "D8", "D9", "B4", "B7", "B15", "B16", "B5", "B6", "C3", "C6",
            "C12",
        ],
    ),
    (
        "A9",
        When::MeasuresElse,
        &["A1", "A2", "A6", "D8", "D9", "B4", "B7", "B15", "B16", "B5", "B6", "C3", "C6", "C12"],
    ),
    (
        "A13",
        When::MeasuresElse,
        &["D8", "D9", "B4", "B7", "B15", "B5", "B6", "C3", "C6", "C12", "C10"],
    ),
    (
        "A5",
        When::MeasuresElse,
        &[
            "A1", "A2", "A3", "D8", "D9", "B4", "B7", "B15", "B16", "B5", "B6", "C3", "C6", "C12",
            "C10",
        ],
    ),
    ("A11", When::MeasuresElse, &["A1", "A2", "A3", "A6"]),
    (
        "A14",
        When::Found,
        &[
            "A1", "A2", "A6", "A7", "D5", "D9", "B4", "B5", "B6", "B7", "B15", "B16", "C3", "C6",
            "C12",
        ],
    ),
    (
        "H5",
        When::Found,
        &[
            "A1", "A2", "A6", "A7", "D8", "D9", "B4", "B7", "B15", "B16", "B5", "B6", "C3", "C6",
            "C12",
        ],
    ),
    (
        "A1",
        When::Found,
        &["A2", "A6", "A7", "D8", "D9", "B4", "B7", "B15", "B16", "B5", "B6", "C3", "C6", "C12"],
    ),
    (
        "A3",
        When::MeasuresElse,
        &["A4", "D8", "D9", "B4", "B7", "B15", "B16", "B5", "B6", "C3", "C6", "C12"],
    ),
    ("A10", When::MeasuresElse, &["A16", "B15"]),
    ("A16", When::Found, &["B15"]),
    ("D10", When::Found, &["D1", "D2", "D3", "D8", "B4", "B5", "B6", "C6"]),
    ("D1", When::Found, &["D8", "B4", "B5", "B6", "C6"]),
    ("D2", When::Found, &["D8", "B4", "B5", "B6", "C6"]),
    ("D3", When::Found, &["D8", "B4", "B5", "B6", "C6"]),
    ("D4", When::Limits, &["D8", "B4", "B5", "B6", "C6"]),
    ("D5", When::Found, &["B4", "B6", "C6"]),
    ("D6", When::Limits, &["B4", "B5", "B6", "C6"]),
    ("E1", When::Found, &["E2", "E7", "B4", "C6"]),
    ("E2", When::Found, &["C1"]),
    ("E6", When::Found, &["E4"]),
    ("A15", When::Found, &["E6"]),
    ("C7", When::Found, &["E2", "E7", "B4", "B6", "C6", "C11", "C12"]),
    ("E7", When::Found, &["B4", "B6"]),
    ("F6", When::Found, &["F1", "F2", "F3", "G2", "G3"]),
    ("F3", When::Found, &["F1", "F2", "G2", "G3", "B4", "C6"]),
    ("F2", When::Found, &["F1", "G2", "G3"]),
    ("F1", When::Found, &["G3"]),
    ("F13", When::Found, &["A12"]),
    ("F10", When::Found, &["E9"]),
    ("F4", When::Found, &["B4", "B5", "B6", "B7", "C6", "C12"]),
    ("F5", When::Found, &["B5", "B6"]),
    ("D8", When::Found, &["B4", "B5", "B6", "C6"]),
    ("C9", When::Limits, &["B4", "B6", "C6"]),
    ("G9", When::Limits, &["B4", "B7", "C6"]),
    ("B1", When::Found, &["B4", "C6"]),
    ("B2", When::Found, &["B4", "C6"]),
    ("B18", When::Found, &["B3", "B4", "B6"]),
    ("B19", When::Limits, &["B4"]),
    ("B3", When::Found, &["B4"]),
    ("B15", When::Limits, &["B4", "B6", "B7", "C6", "C12"]),
    ("B7", When::Found, &["B4", "B6", "C6", "C12"]),
    ("B8", When::Limits, &["B4", "C6", "C12"]),
    ("B9", When::Found, &["B10"]),
    ("B8", When::Found, &["B9"]),
    ("C1", When::Found, &["C2"]),
    ("F10", When::Found, &["C2", "C3", "C11", "G13"]),
    ("G3", When::Found, &["G2"]),
];

/// Where what is folded is not what follows but why.
const REASONS: &[(&str, &str)] = &[
    ("H5", "A7"),
    ("H5", "A2"),
    ("H5", "A6"),
    ("A1", "A2"),
    ("A1", "A6"),
    ("A1", "A7"),
    ("B8", "B9"),
];

/// What follows from a target being memory. It is dropped without a trace: none of it can be
/// acted on, and the explanation of A16 says so.
const UNDER_MEMORY: &[&str] = &[
    "A1", "A2", "A3", "A5", "A6", "A8", "A9", "A13", "A17", "B2", "B4", "B5", "B6", "B7", "B16",
    "B18", "C1", "C2", "C3", "C4", "C5", "C6", "C8", "C9", "C10", "C11", "C12", "D8", "D9", "F10",
    "G10", "A4", "A7", "A11", "A12", "E8", "F1", "F2", "F3", "F6", "H5", "F13", "B12", "G12",
];

/// Folds what follows into its cause, and sorts.
pub fn fold(observed: &Observed, findings: Vec<Finding>) -> Vec<Finding> {
    let mut findings = if observed.all_memory() { under_memory(findings) } else { findings };
    for (leader, when, followers) in FOLLOWS {
        lead(&mut findings, leader, *when, followers);
    }
    sort(&mut findings);
    findings
}

/// Findings without those that follow from the target being memory.
pub fn under_memory(findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|f| !UNDER_MEMORY.contains(&f.rule.as_str())).collect()
}

/// Heaviest first, then surest; the order of the rules otherwise.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| Reverse((finding.severity, finding.confidence)));
}

/// Moves followers into the evidence of their leader, which becomes as heavy as they were.
fn lead(findings: &mut Vec<Finding>, leader: &str, when: When, followers: &[&str]) {
    let Some(at) = findings.iter().position(|f| f.rule == leader && leads(f, when)) else { return };
    let mut cause = findings.remove(at);
    let (follow, stay): (Vec<Finding>, Vec<Finding>) =
        findings.drain(..).partition(|f| followers.contains(&f.rule.as_str()));
    *findings = stay;
    for finding in follow {
        cause.severity = cause.severity.max(finding.severity);
        let reason = REASONS.contains(&(leader, finding.rule.as_str()));
        let what = if reason { "the reason" } else { "follows from it" };
        let from = format!("rule {}", finding.rule);
        cause.evidence.push(Evidence::new(what, finding.sentence, from));
    }
    findings.insert(at.min(findings.len()), cause);
}

fn leads(finding: &Finding, when: When) -> bool {
    match when {
        When::Found => true,
        When::MeasuresElse => finding.severity == Severity::MeasuresElse,
        When::Limits => finding.limits.is_some(),
    }
}
