//! One cause instead of its five symptoms.

use std::cmp::Reverse;

use candor_record::{Consequence, Finding, Severity};

use crate::observed::Observed;
use crate::rule::Rule;
use crate::rules;
use crate::stage::Stage;

/// Causes and consequences that stages do not tell.
struct Exception {
    cause: &'static str,
    follow: &'static [&'static str],
    /// The finding that was taken does not follow from the cause but explains it.
    reason: bool,
}

const fn follow(cause: &'static str, follow: &'static [&'static str]) -> Exception {
    Exception { cause, follow, reason: false }
}

const EXCEPTIONS: &[Exception] = &[
    // Blank blocks of a compressed memory: that it is memory comes second.
    follow("A10", &["A16"]),
    // A file with holes has unwritten blocks as well; holes are the plainer of the two.
    follow("A8", &["A9"]),
    // Writes that never left the page cache are not durable, and were overwritten there.
    follow("A5", &["C10"]),
    follow("A13", &["C10"]),
    follow("A3", &["A4", "H7"]),
    // A host whose memory answered is so fast that the others look slow.
    follow("A21", &["B20"]),
    // Files that memory answered have names that it answered.
    follow("A1", &["H2"]),
    // Hits of the cache tell more than the bytes of its tiers, and tiers more than a linear volume.
    follow("A15", &["E6"]),
    follow("E6", &["E4"]),
    // Each of these links is a part of the shared one.
    follow("D10", &["D1", "D2", "D3"]),
    // Crossing a chunk is a split, and a split is why readahead shapes requests.
    follow("E2", &["C1"]),
    follow("C1", &["C2"]),
    // Calls that flush nothing wait for no flush.
    follow("C13", &["C9", "C10", "H10"]),
    // Parity is written besides the data.
    follow("C7", &["C11"]),
    // A hot drive loses its burst; a cliff comes before a rate that settles.
    follow("F6", &["F3"]),
    follow("F2", &["F1"]),
    follow("G3", &["G2"]),
    // Hosts that end apart have workers that do.
    follow("G14", &["G7"]),
    // The second pass is faster because the first one fetched the snapshot.
    follow("F13", &["A12"]),
    // A later pass that a cache answered is why repeats differ.
    follow("A1", &["G16"]),
    follow("H5", &["G16"]),
    follow("A12", &["G16"]),
    // Requests of others are counted with ours.
    follow("F10", &["C2", "C3", "C11", "E9", "G13"]),
    // The kernel's threads are how io_uring waits for blocks to be allocated, and do not queue.
    follow("B18", &["B3"]),
    follow("B3", &["B4"]),
    // Connections that a server closes are opened again inside the measured time.
    follow("S7", &["S6", "S8"]),
    // Refused requests are repeated, and their waits leave connections idle.
    follow("S13", &["S14", "S23"]),
    // The wait for a delayed acknowledgement is one for the first byte.
    follow("S32", &["S21"]),
    // A quota of CPU time is why they waited.
    follow("F4", &["B8", "B9"]),
    // A limit that came meanwhile is the step in the rate, and the setting that changed.
    follow("F4", &["F3", "F15", "G2", "G3"]),
    // A limit holds operations above the device, and so does a stop of the process.
    follow("F4", &["F17"]),
    follow("G19", &["F17"]),
    // Busy CPUs are why workers waited, and one of them is where completions land.
    Exception { cause: "B8", follow: &["B9"], reason: true },
    follow("B9", &["B10"]),
];

/// Moves what follows into its cause, and sorts.
pub fn join(observed: &Observed, findings: Vec<Finding>) -> Vec<Finding> {
    let mut findings = if observed.all_memory() { in_memory(findings) } else { findings };
    let mut causes: Vec<_> = rules::all().map(|rule| (rule.stage, rule.text.id)).collect();
    causes.sort_by_key(|(stage, _)| *stage);
    for (stage, rule) in causes {
        take(&mut findings, stage, rule);
    }
    without_witness(&mut findings);
    sort(&mut findings);
    findings
}

/// That no counter saw the bytes matters only where nothing else denies the result, or says that a
/// cache that is wanted gave them in part.
fn without_witness(findings: &mut Vec<Finding>) {
    let asks = |finding: &Finding| finding.rule == "A19";
    let denies = |finding: &Finding| finding.severity >= Severity::Unverified && !asks(finding);
    if findings.iter().any(|finding| denies(finding) || finding.rule == "A20") {
        findings.retain(|finding| !asks(finding));
    }
}

/// Findings that mean something for a target in memory. The others are dropped without a trace:
/// none of them can be acted on, and the explanation of A16 says so.
pub fn in_memory(findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|finding| !stage_of(finding).needs_device()).collect()
}

/// Keeps the proposals of findings by which a result is something else's, where there are any: the
/// same run with any other change would measure something else again.
pub fn keep_proposals(findings: &mut [Finding]) {
    let rejects = |finding: &Finding| finding.severity == Severity::Wrong;
    if findings.iter().any(rejects) {
        findings.iter_mut().filter(|finding| !rejects(finding)).for_each(|f| f.changes.clear());
    }
}

/// Heaviest first, then surest; the order of the rules otherwise.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| Reverse((finding.severity, finding.confidence)));
}

/// The stage of the rule that found it.
pub fn stage_of(finding: &Finding) -> Stage {
    rules::find(&finding.rule).map_or(Stage::Apart, |rule| rule.stage)
}

/// Rules whose findings may take in those of this one.
pub fn of(rule: &Rule) -> Vec<String> {
    let takes = |cause: &&Rule| {
        let excepted = |e: &Exception| e.cause == cause.text.id && e.follow.contains(&rule.text.id);
        cause.stage.explains(rule.stage) || EXCEPTIONS.iter().any(excepted)
    };
    rules::all().filter(takes).map(|cause| cause.text.id.to_owned()).collect()
}

/// Moves what follows from a rule's first finding into it, and what follows from that. The cause
/// becomes as heavy as they were.
fn take(findings: &mut Vec<Finding>, stage: Stage, rule: &str) {
    let leads = |finding: &Finding| finding.rule == rule && may_lead(stage, finding);
    let Some(at) = findings.iter().position(leads) else { return };
    let mut taken = vec![findings.remove(at)];
    let mut next = 0;
    while let Some(cause) = taken.get(next) {
        let (follow, stay): (Vec<_>, Vec<_>) =
            findings.drain(..).partition(|finding| explains(cause, finding));
        *findings = stay;
        taken.extend(follow);
        next += 1;
    }
    let mut cause = taken.remove(0);
    for finding in taken {
        cause.severity = cause.severity.max(finding.severity);
        let reason = stage.is_answered_from(stage_of(&finding)) || is_reason(rule, &finding.rule);
        let Finding { rule, title, sentence, .. } = finding;
        cause.consequences.push(Consequence { rule, title, sentence, is_reason: reason });
    }
    findings.insert(at.min(findings.len()), cause);
}

/// One finding is the cause of another.
fn explains(cause: &Finding, finding: &Finding) -> bool {
    let stage = stage_of(cause);
    let excepted =
        |e: &Exception| e.cause == cause.rule && e.follow.contains(&finding.rule.as_str());
    let by_stage = stage.decides(cause) && stage.explains(stage_of(finding));
    may_lead(stage, cause) && (by_stage || EXCEPTIONS.iter().any(excepted))
}

fn is_reason(cause: &str, rule: &str) -> bool {
    EXCEPTIONS.iter().any(|e| e.reason && e.cause == cause && e.follow.contains(&rule))
}

/// A doubt about where the bytes came from explains nothing.
fn may_lead(stage: Stage, finding: &Finding) -> bool {
    !stage.is_source() || stage.decides(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_name_rules_and_are_no_matter_of_stages() {
        for exception in EXCEPTIONS {
            let cause = rules::find(exception.cause).expect(exception.cause);
            for rule in exception.follow {
                let follows = rules::find(rule).expect(rule);
                assert!(!cause.stage.explains(follows.stage), "{} and {rule}", exception.cause);
            }
        }
    }
}
