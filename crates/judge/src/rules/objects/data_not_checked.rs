//! S12: the bytes of objects were wrong, short, unseen or unchecked.

use candor_plan::work::Figure;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::object_jobs::{self, ObjectJob, total};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::BYTES_MIN;
use crate::thresholds::objects::TCP_SEEN;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S12",
        title: "object data was not checked",
        explanation: "A server or a proxy can answer fast with wrong, short or cached bytes. \
            candor compares reads with the checksum of the answer, with the ETag, or with content \
            that it generated. A mismatch means that the result is wrong. The kernel's counters of \
            the connections (TCP_INFO) must have seen the bytes; otherwise the result is \
            unverified. Reads without any check are reported: their length matched, their content \
            is unknown. Use `verify` or `check_checksum`, and find the proxy or the server's bug \
            after a mismatch.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(observed: &Observed, job: &ObjectJob) -> Option<Finding> {
    mismatches(job)
        .or_else(|| unseen(job))
        .or_else(|| short(job))
        .or_else(|| unchecked(observed, job))
}

fn mismatches(job: &ObjectJob) -> Option<Finding> {
    let objects = &job.http.objects;
    if objects.mismatches == 0 {
        return None;
    }
    let sentence = format!(
        "{} of {} checked reads differ from the object's checksum or content.",
        fmt::exact(objects.mismatches),
        fmt::exact(objects.checked_reads)
    );
    let draft = job
        .draft("S12", Severity::Wrong, sentence)
        .evidence("checks that failed", Quantity::count(objects.mismatches as f64), "candor")
        .advice("Compare the objects at the server; look for a proxy on the way.", None);
    Some(draft.done())
}

/// Bytes that the counters of the connections did not see.
fn unseen(job: &ObjectJob) -> Option<Finding> {
    let (read, written) = (job.bytes_of(Figure::Read), job.bytes_of(Figure::Write));
    if read + written < BYTES_MIN.value {
        return None;
    }
    let Some(tcp) = &job.http.tcp else {
        let sentence = "No counter of the kernel saw the bytes: TCP_INFO is missing.".into();
        let draft = job
            .draft("S12", Severity::Unverified, sentence)
            .evidence("bytes of objects", Quantity::bytes(read + written), "candor")
            .advice("Run the test on a Linux kernel that reports TCP_INFO.", None);
        return Some(draft.done());
    };
    let (received, sent) = (tcp.bytes_received as f64, tcp.bytes_acked as f64);
    let sides = [("read", received, read), ("written", sent, written)];
    let (done, seen, app) =
        sides.into_iter().find(|(_, seen, app)| *seen < TCP_SEEN.value * app)?;
    let sentence = format!(
        "The connections carried {} of the {} {done}; no counter shows the rest.",
        fmt::percent(ratio(seen, app)),
        fmt::size(app)
    );
    let draft = job
        .draft("S12", Severity::Unverified, sentence)
        .confidence(Confidence::Likely)
        .evidence(format!("bytes {done}"), Quantity::bytes(app), "candor")
        .evidence("bytes on the connections", Quantity::bytes(seen), "TCP_INFO")
        .advice("Check the reads (`verify`), and look for compression on the way.", None);
    Some(draft.done())
}

fn short(job: &ObjectJob) -> Option<Finding> {
    let short = total(job.measured.operations.iter().map(|op| op.short));
    if short == 0 {
        return None;
    }
    let sentence = format!(
        "{} of {} operations moved fewer bytes than requested.",
        fmt::exact(short),
        fmt::count(job.done())
    );
    let draft = job
        .draft("S12", Severity::Caution, sentence)
        .evidence("short operations", Quantity::count(short as f64), "candor")
        .advice("Compare the sizes of the objects with the plan.", None);
    Some(draft.done())
}

fn unchecked(observed: &Observed, job: &ObjectJob) -> Option<Finding> {
    let objects = &job.http.objects;
    if objects.checked_reads > 0 || job.bytes_of(Figure::Read) <= 0.0 {
        return None;
    }
    let sentence = format!(
        "The content of {} reads was not checked; their lengths matched.",
        fmt::count(objects.reads as f64)
    );
    let draft = job
        .draft("S12", Severity::Explains, sentence)
        .evidence("checked reads", Quantity::count(0.0), "candor")
        .advice("Compare each read with the server's checksum.", None)
        .changes(job.with(observed, "work.objects.check_checksum", "true"));
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::{TestCase, proposes};

    fn reads() -> TestCase {
        TestCase::on_objects(ObjectOp::Get, 65_536, 8, 2000.0)
    }

    #[test]
    fn wrong_bytes_are_corrupt() {
        let mut case = reads();
        case.http().objects.mismatches = 3;
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "3 of 20,000 checked reads differ from the object's checksum or content."
        );
        let judgement = case.judge();
        assert_eq!(judgement.verdict, Verdict::Corrupt);
        assert!(judgement.headline.starts_with("Corrupt data: 3 of"), "{}", judgement.headline);
    }

    #[test]
    fn unchecked_reads_are_named() {
        let mut case = reads();
        case.http().objects.checked_reads = 0;
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "The content of 20k reads was not checked; their lengths matched."
        );
        assert!(proposes(&found[0], "check_checksum=true"));
        assert_eq!(case.judge().verdict, Verdict::Ok);
    }

    #[test]
    fn bytes_need_a_counter() {
        let mut case = reads();
        case.http().tcp.as_mut().unwrap().bytes_received /= 2;
        assert!(case.found(&RULE)[0].sentence.starts_with("The connections carried 50 % of"));
        assert_eq!(case.judge().verdict, Verdict::Unverified);
        case.http().tcp = None;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Unverified);
    }

    #[test]
    fn short_reads_are_a_caution_and_checked_ones_are_silent() {
        let mut case = reads();
        assert_eq!(case.found(&RULE), []);
        case.measured().operations[0].short = 4;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Caution);
        assert_eq!(TestCase::on_objects(ObjectOp::Put, 4096, 1, 3500.0).found(&RULE), []);
    }
}
