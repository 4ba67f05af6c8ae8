//! A17: Linux does not count I/O on this target.

use candor_plan::units::Direction;
use candor_record::facts::{AccountingOutcome, AccountingProbe, TargetFacts, value};
use candor_record::fmt;
use candor_record::{Confidence, Finding, Severity};

use crate::builder::FindingBuilder;
use crate::coverage;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, COVERAGE_FULL, COVERAGE_MEMORY, DIRTY_LEFT};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A17",
        title: "I/O is not counted here",
        explanation: "All coverage checks use counters, and some targets have none: accounting \
            switched off (queue/iostats), NVMe multipath heads, drivers without counters, commands \
            that bypass the block layer (io_uring_cmd, sg). Before a run candor reads a known \
            number of bytes directly and checks whether the device counted the read. If no device \
            counted the read and none counts the kernel's charges to the process during the phase, \
            a counter of zero means nothing. The result is then unverified instead of cached. \
            Switch accounting on, or use a device with counters.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let targets = || observed.targets().into_iter();
    let by_others = targets().any(counted_below) || targets().any(is_uncounted_command);
    if observed.app_all().bytes < BYTES_MIN.value || (counts_after_all(observed) && !by_others) {
        return Outcome::Nothing;
    }
    targets().filter_map(|target| of_target(observed, target)).collect::<Vec<Finding>>().into()
}

/// Commands past the block layer: neither its counters nor a process's see their bytes.
fn of_commands(observed: &Observed, device: &str, probe: &AccountingProbe) -> Finding {
    let sentence = format!(
        "Linux does not count commands to {device} that bypass the block layer, so no counter can \
         verify that the bytes reached it.",
    );
    let value = format!("{}, counted by no device", fmt::size(probe.bytes as f64));
    let is_made = probe.outcome == AccountingOutcome::NotCounted;
    let switch = observed.facts.device(device);
    let switch = switch.and_then(|device| device.queue.counts_commands.as_ref());
    let advice = match switch {
        Some(switch) => format!("Have the kernel count them (as root): echo 1 > {}", switch.from),
        None => "Measure through the block layer: use the block device and another engine.".into(),
    };
    FindingBuilder::new("A17", Severity::Unverified, sentence)
        .confidence(if is_made { Confidence::Certain } else { Confidence::Likely })
        .evidence_if(
            is_made.then(|| ("accounting probe".into(), value, coverage::stat_of(observed))),
        )
        .advice(advice, None)
        .done()
}

/// The device counted what was moved, whatever the accounting probe showed.
fn counts_after_all(observed: &Observed) -> bool {
    let share = |op| observed.top.and_then(|top| observed.share_seen(op, top.side(op).bytes));
    share(observed.main_op()).is_some_and(|share| share >= COVERAGE_FULL.value)
}

/// Commands past the block layer, which nobody counts: what the device counts is others'.
fn is_uncounted_command(target: &TargetFacts) -> bool {
    target.accounting_probe.as_ref().is_some_and(AccountingProbe::is_uncounted_command)
}

/// The accounting probe was counted by the devices below only.
fn counted_below(target: &TargetFacts) -> bool {
    let probe = target.accounting_probe.as_ref().filter(|probe| probe.direct);
    probe.is_some_and(|probe| probe.outcome == AccountingOutcome::CountedBelow)
}

fn of_target(observed: &Observed, target: &TargetFacts) -> Option<Finding> {
    let device = value(&target.device)?;
    let probe = target.accounting_probe.as_ref();
    let outcome = probe.filter(|probe| probe.direct).map(|probe| probe.outcome);
    if counted_below(target) {
        return Some(below(observed, device));
    }
    if is_uncounted_command(target) {
        return Some(of_commands(observed, device, probe?));
    }
    let off = observed.facts.device(device).and_then(|d| d.counts_io.as_ref()).filter(|c| !c.value);
    let not_counted = outcome == Some(AccountingOutcome::NotCounted)
        && !counted(observed)
        && !uncharged(observed);
    let proven = outcome == Some(AccountingOutcome::Counted);
    let confidence = match (not_counted, &off, proven) {
        (true, _, _) | (_, Some(_), _) => Confidence::Certain,
        (false, None, false) if stood_still(observed) => Confidence::Likely,
        _ => return None,
    };
    let sentence = format!(
        "Linux does not count I/O on {device}, so no counter can verify that the bytes reached \
         it{}.",
        charged(observed)
    );
    let draft = FindingBuilder::new("A17", Severity::Unverified, sentence)
        .confidence(confidence)
        .evidence_if(off.map(|off| ("accounting".into(), "off", off.from.clone())))
        .evidence_if(probe.filter(|_| not_counted).map(|probe| {
            let value = format!("{}, counted by no device", fmt::size(probe.bytes as f64));
            ("accounting probe".into(), value, coverage::stat_of(observed))
        }))
        .evidence_if(coverage::device_evidence(observed, observed.main_op()));
    let advice =
        format!("Switch accounting on (as root): echo 1 > /sys/block/{device}/queue/iostats");
    Some(draft.advice(advice, None).done())
}

/// The device counted a part of what was moved, so the probe was answered elsewhere.
fn counted(observed: &Observed) -> bool {
    let op = observed.main_op();
    let bytes = observed.top.map_or(0.0, |top| top.side(op).bytes);
    let share = observed.share_seen(op, bytes).unwrap_or(0.0);
    bytes >= BYTES_MIN.value && share >= COVERAGE_MEMORY.value
}

/// The kernel charged none of the reads to this process, so that they never were I/O: a library
/// or a cache answered them, and the probe.
fn uncharged(observed: &Observed) -> bool {
    let op = Direction::Read;
    let share = observed.process(op).and_then(|bytes| observed.share_seen(op, bytes));
    observed.main_op() == op && share.is_some_and(|share| share < COVERAGE_MEMORY.value)
}

/// The process was charged for the bytes while the device counted next to none: one that counts a
/// part (compressed data, for one) counts.
fn stood_still(observed: &Observed) -> bool {
    let op = observed.main_op();
    let top = observed.top.filter(|top| top.side(op).bytes < BYTES_MIN.value);
    let seen = top.and_then(|top| observed.share_seen(op, top.side(op).bytes));
    let charged = observed.process(op).and_then(|bytes| observed.share_seen(op, bytes));
    let direct_or_read = op == Direction::Read || observed.all_direct();
    direct_or_read
        && !is_dirty(observed)
        && seen.is_some_and(|share| share < COVERAGE_MEMORY.value)
        && charged.is_some_and(|share| share >= COVERAGE_FULL.value)
}

/// The page cache has what was written: no device was to count it so far.
fn is_dirty(observed: &Observed) -> bool {
    let dirty = observed.host.after.cache.and_then(|cache| cache.dirty_bytes).unwrap_or(0);
    observed.main_op() == Direction::Write
        && dirty as f64 > DIRTY_LEFT.value * observed.app(Direction::Write).bytes
}

/// The counts of the process instead.
fn charged(observed: &Observed) -> String {
    let op = observed.main_op();
    let share = observed.process(op).and_then(|bytes| observed.share_seen(op, bytes));
    share.map_or(String::new(), |share| {
        format!("; the kernel charged {} of them to this process", fmt::percent(share))
    })
}

fn below(observed: &Observed, device: &str) -> Finding {
    let leaves: Vec<_> = observed.leaves().iter().map(|leaf| leaf.name.as_str()).collect();
    let sentence = format!(
        "Linux does not count I/O on {device}; the devices below it ({}) count and verify it.",
        leaves.join(", ")
    );
    FindingBuilder::new("A17", Severity::Explains, sentence)
        .evidence("accounting probe", "counted below", "/sys/class/block")
        .advice("Check the devices below in iostat instead.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    fn blind() -> TestCase {
        let mut case = TestCase::direct(4096, 8, 1, 50_000.0);
        case.after_disk(Default::default());
        case
    }

    #[test]
    fn an_accounting_probe_that_nobody_counted_makes_it_unverifiable() {
        let mut case = blind();
        case.host.facts.targets[0].accounting_probe.as_mut().unwrap().outcome =
            AccountingOutcome::NotCounted;
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Unverified);
        assert!(found[0].sentence.contains("charged 100 % of them"), "{}", found[0].sentence);
        assert_eq!(case.judge().verdict, candor_record::Verdict::Unverified);
    }

    /// The file lies on two devices, of which the other one counted the probe.
    #[test]
    fn a_device_that_counts_a_part_counts() {
        let mut case = blind();
        case.host.facts.targets[0].accounting_probe.as_mut().unwrap().outcome =
            AccountingOutcome::NotCounted;
        case.after_top().read_sectors = (50_000 * 10 * 4096 / 2) / 512;
        assert_eq!(case.found(&RULE), []);
    }

    /// A library made buffered reads of direct ones, and memory answered them and the probe.
    #[test]
    fn reads_that_were_no_io_are_not_uncounted() {
        let mut case = blind();
        case.host.facts.targets[0].accounting_probe.as_mut().unwrap().outcome =
            AccountingOutcome::NotCounted;
        case.process_read(0);
        assert_eq!(case.found(&RULE), []);
        let judged = case.judge();
        assert_eq!(judged.verdict, candor_record::Verdict::Wrong, "{judged:#?}");
    }

    /// A library took O_DIRECT from the writes to a new file, which were dirty at the end.
    #[test]
    fn writes_that_are_dirty_are_not_uncounted() {
        let mut case = TestCase::direct_write();
        case.after_disk(Default::default());
        case.host.facts.targets[0].accounting_probe = None;
        assert_eq!(case.found(&RULE).len(), 1, "nothing of it is anywhere");
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.host.after.cache.as_mut().unwrap().dirty_bytes = Some(bytes);
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn commands_past_the_block_layer_are_not_verifiable_whatever_others_do() {
        let mut case = TestCase::direct(4096, 8, 1, 50_000.0);
        let probe = case.host.facts.targets[0].accounting_probe.as_mut().unwrap();
        (probe.passthrough, probe.outcome) = (true, AccountingOutcome::NotCounted);
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("that bypass the block layer"), "{found:?}");
        assert!(!found[0].advice.contains("iostats_passthrough"), "an older kernel has no switch");
        let switch = "/sys/class/block/vda/queue/iostats_passthrough";
        let fact = candor_record::facts::Fact::new(false, switch);
        case.disk().queue.counts_commands = Some(fact);
        assert!(case.found(&RULE)[0].advice.ends_with(switch), "{}", found[0].advice);
        assert_eq!(case.judge().verdict, candor_record::Verdict::Unverified);
        // A probe that could not be made is no witness either.
        let probe = case.host.facts.targets[0].accounting_probe.as_mut().unwrap();
        (probe.direct, probe.outcome) = (false, AccountingOutcome::NotMade);
        case.after_disk(Default::default());
        let judgement = case.judge();
        assert_eq!(judgement.verdict, candor_record::Verdict::Unverified);
        assert!(judgement.finding("A1").is_none(), "{judgement:#?}");
        let probe = case.host.facts.targets[0].accounting_probe.as_mut().unwrap();
        probe.outcome = AccountingOutcome::Counted;
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn accounting_that_is_off_is_named() {
        let mut case = blind();
        case.disk().counts_io = fact(false);
        assert!(case.found(&RULE)[0].evidence.iter().any(|e| e.text() == "off"));
    }

    #[test]
    fn counters_that_stood_still_are_suspected_without_an_accounting_probe() {
        let mut case = blind();
        assert_eq!(case.found(&RULE), []);
        case.host.facts.targets[0].accounting_probe = None;
        assert_eq!(case.found(&RULE)[0].confidence, Confidence::Likely);
        case.after_top().read_sectors = 40_000;
        assert_eq!(case.found(&RULE), [], "what counts a part counts");
    }

    #[test]
    fn a_head_whose_paths_count_is_explained() {
        let mut case = blind();
        case.host.facts.targets[0].accounting_probe.as_mut().unwrap().outcome =
            AccountingOutcome::CountedBelow;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Explains);
    }

    #[test]
    fn a_device_that_counts_is_silent_whatever_the_accounting_probe_said() {
        let mut case = TestCase::direct(4096, 8, 1, 50_000.0);
        assert_eq!(case.found(&RULE), []);
        case.host.facts.targets[0].accounting_probe.as_mut().unwrap().outcome =
            AccountingOutcome::NotCounted;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::buffered_read().found(&RULE), []);
    }
}
