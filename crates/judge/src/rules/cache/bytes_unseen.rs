//! A19: bytes that no counter saw.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::evidence::{self, Seen, Unseen};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::cache::loop_over_page_cache;
use crate::stage::Stage;
use crate::thresholds::LOOP_NEARLY;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A19",
        title: "no counter saw the bytes",
        explanation: "A result belongs to a device only if a counter at the end of the path \
            counted the bytes. Such counters are in the disks below filesystems, overlays, arrays \
            and loop devices, or in the network to a server. Linux shows no such counter for three \
            targets: a process that serves FUSE, a layer of another mount namespace without a \
            probed device, or a file without a name. If the counters miss more than 5 % of the \
            bytes and no other rule explains the gap, the result is unverified. Test the storage \
            below directly.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let mut all = evidence::unseen(observed).into_iter();
    let unexplained = all.find(|unseen| !is_explained(observed, unseen));
    unexplained.map_or(Outcome::Nothing, |unseen| Outcome::one(finding(observed, &unseen)))
}

/// The small rest that a loop device gave from memory is reported by A13. That is about the main
/// direction, and the bytes of all targets have to be nearly there.
fn is_explained(observed: &Observed, unseen: &Unseen) -> bool {
    let Seen::Bytes { bytes, .. } = unseen.seen else { return false };
    let nearly = bytes + observed.slack_bytes(unseen.op) >= LOOP_NEARLY.value * unseen.app;
    nearly && unseen.op == observed.main_op() && loop_over_page_cache::explains_rest(observed)
}

fn finding(observed: &Observed, unseen: &Unseen) -> Finding {
    let done = match unseen.op {
        Direction::Read => "read",
        Direction::Write => "written",
        Direction::Trim => "trimmed",
    };
    let sentence = match &unseen.seen {
        Seen::Bytes { bytes, by, .. } => format!(
            "{by} counted {} of the {} {done}; no counter shows the rest.",
            fmt::percent(ratio(*bytes, unseen.app)),
            fmt::size(unseen.app)
        ),
        Seen::Nowhere(why) => {
            format!("No Linux counter shows the bytes {done}: {why}.")
        }
    };
    let draft = FindingBuilder::new("A19", Severity::Unverified, sentence)
        .confidence(Confidence::Likely)
        .evidence(format!("bytes {done}"), Quantity::bytes(unseen.app), "candor");
    let draft = match &unseen.seen {
        Seen::Bytes { bytes, by, from } => {
            draft.evidence(format!("counted by {by}"), Quantity::bytes(*bytes), from.clone())
        }
        Seen::Nowhere(why) => draft.evidence("end of the path", why.clone(), "facts of the target"),
    };
    let below = observed.leaves().first().map_or("the device or server", |leaf| leaf.name.as_str());
    draft.advice(format!("Test {below} below directly."), None).done()
}

#[cfg(test)]
mod tests {
    use candor_record::Verdict;
    use candor_record::facts::Filesystem;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn a_loop_on_a_file_without_a_path_is_not_verifiable() {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0).on_loop(true);
        case.host.facts.devices[0].below.clear();
        let judgement = case.judge();
        assert_eq!(judgement.verdict, Verdict::Unverified, "{judgement:#?}");
        let sentence = &judgement.finding("A19").unwrap().sentence;
        assert!(sentence.ends_with("read: the storage below loop0 is unknown."), "{sentence}");
    }

    #[test]
    fn a_loop_that_missed_a_little_is_no_witness_for_a_process() {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0).on_loop(true);
        let disk = &mut case.host.after.devices[1].1;
        disk.read_sectors = disk.read_sectors * 92 / 100;
        assert_eq!(case.found(&RULE), [], "A13 remarks it");
        let served = Filesystem { kind: "fuse.any".into(), ..Filesystem::default() };
        case.host.facts.targets[0].filesystem = Some(served);
        assert_eq!(case.found(&RULE).len(), 1);
    }

    #[test]
    fn a_loop_explains_no_bytes_but_its_own() {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0).on_loop(true);
        let disk = &mut case.host.after.devices[1].1;
        disk.read_sectors = disk.read_sectors * 92 / 100;
        assert_eq!(case.found(&RULE), [], "A13 remarks it");
        let mut written = case.clone();
        let stats = written.measured().of(Direction::Read).clone();
        let half = candor_record::OpStats { bytes: stats.bytes / 2, ..stats };
        written.measured().put(Direction::Write, half);
        let found = written.found(&RULE);
        assert!(found[0].sentence.starts_with("vda counted 0 % of"), "{found:?}");
        let other = case.host.facts.targets[0].clone();
        case.host
            .facts
            .targets
            .push(candor_record::facts::TargetFacts { target: "other".into(), ..other });
        case.measured().of_mut(Direction::Read).bytes *= 2;
        case.process_read(case.record.measurements[0].of(Direction::Read).bytes);
        assert_eq!(case.found(&RULE).len(), 1, "half of the bytes went elsewhere");
    }

    #[test]
    fn writes_that_half_arrived_are_not_verifiable() {
        let mut case = TestCase::direct_write();
        case.after_top().write_sectors /= 2;
        let found = case.found(&RULE);
        assert!(found[0].sentence.starts_with("vda counted 50 % of the"), "{found:?}");
        assert_eq!(case.judge().verdict, Verdict::Unverified);
    }

    #[test]
    fn a_cause_that_is_known_needs_no_witness() {
        let judgement = TestCase::buffered_read().judge();
        assert!(judgement.finding("A1").is_some() && judgement.finding("A19").is_none());
        assert_eq!(TestCase::direct(4096, 8, 1, 10_000.0).found(&RULE), []);
    }
}
