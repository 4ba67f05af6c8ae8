//! C10: direct is not durable.

use candor_plan::units::Direction;
use candor_plan::work::Figure;
use candor_record::facts::{DeviceFacts, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, FLUSH_QUICK_NS, FLUSHES_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C10",
        title: "direct does not mean durable",
        explanation: "O_DIRECT bypasses the cache of Linux, but not the cache of the drive. A \
            drive with a write-back cache acknowledges from its own memory; acknowledged data is \
            lost at power loss unless it was flushed. A write rate without a single flush on such \
            a device is correct, but is not the rate of durable writes. Flush at the end, and add \
            a run with one flush per write. Flushes faster than 50 µs on such a device are \
            reported, too: the cache survives a loss of power, or a layer below (a host, a bridge, \
            a controller) does not execute them.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let unflushed = observed.ran.iter().find(|ran| quoted_without_flush(ran));
    let leaves = observed.leaves();
    let known: Vec<(&DeviceFacts, &str)> =
        leaves.iter().filter_map(|d| Some((*d, value(&d.queue.write_cache)?.as_str()))).collect();
    let mut back =
        known.iter().filter(|(device, cache)| *cache == "write back" && !device.kind.is_memory());
    let found = match unflushed.filter(|_| !observed.all_memory()) {
        Some(_) if known.is_empty() => {
            return Outcome::lacks("the cache mode of the device");
        }
        Some(ran) => back.next().map(|(device, _)| finding(observed, ran, device)),
        None => back.find_map(|(device, _)| quick(observed, device)),
    };
    found.map_or(Outcome::Nothing, Outcome::one)
}

/// Flushes that no medium takes part in.
fn quick(observed: &Observed, device: &DeviceFacts) -> Option<Finding> {
    let flow = observed.flow_of(&device.name)?;
    let mean_ns = ratio(flow.flush_ms * 1e6, flow.flushes);
    if flow.flushes < FLUSHES_MIN.value || mean_ns >= FLUSH_QUICK_NS.value {
        return None;
    }
    let sentence = format!(
        "A flush of {} took {}, too fast for a medium: its cache survives a loss of power, or \
         flushes are not executed; no counter here can decide.",
        device.name,
        fmt::time(mean_ns)
    );
    let stat = "/sys/class/block/*/stat: flushes";
    let finding = FindingBuilder::new("C10", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("flushes", Quantity::count(flow.flushes), stat)
        .evidence("mean flush", Quantity::ns(mean_ns), stat)
        .advice(
            "Check the power protection of the cache, and the flush handling of the host for its \
             guests.",
            None,
        );
    Some(finding.done())
}

/// Direct writes of some size with no flush at all, not even at the end.
fn quoted_without_flush(ran: &&Ran) -> bool {
    ran.blocks.direct
        && ran.measured.of(Direction::Write).bytes as f64 >= BYTES_MIN.value
        && !ran.durable()
        && !ran.blocks.durability.fsync_at_end
        && ran.measured.figure(Figure::Flush).ops == 0
}

fn finding(observed: &Observed, ran: &Ran, device: &DeviceFacts) -> Finding {
    let sentence = format!(
        "{} may hold these writes in its own cache; this run never flushed it. {} is the rate \
         without a flush.",
        device.name,
        fmt::rate(observed.bytes_per_s(Direction::Write))
    );
    let cache = device.queue.write_cache.as_ref();
    let command = Command::of(observed.plan, &ran.planned);
    FindingBuilder::new("C10", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Likely)
        .evidence_if(
            cache.map(|c| (format!("cache of {}", device.name), c.value.clone(), c.from.clone())),
        )
        .evidence("flushes requested", "none", "plan")
        .advice(
            "Flush at the end; add a run with one flush per write for the rate of durable writes.",
            command.map(Command::fsync_end),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact, proposes};

    fn writes_back() -> TestCase {
        let mut case = TestCase::direct_write();
        case.disk().queue.write_cache = fact("write back".into());
        case
    }

    #[test]
    fn writes_without_a_flush_are_explained() {
        let found = writes_back().found(&RULE);
        assert_eq!(found[0].severity, Severity::Explains, "the rate is the storage's");
        assert!(proposes(&found[0], "durability.fsync_at_end=true"));
    }

    #[test]
    fn flushed_writes_and_caches_that_write_through_are_fine() {
        assert_eq!(TestCase::direct_write().found(&RULE), []);
        let mut case = writes_back();
        case.blocks().durability.fsync_at_end = true;
        assert_eq!(case.found(&RULE), []);
        let mut case = writes_back();
        case.blocks().durability.fsync_every = 8;
        assert_eq!(case.found(&RULE), []);
    }

    /// So many flushes that took so long together.
    fn flushed(flushes: u64, flush_ms: u64) -> TestCase {
        let mut case = writes_back();
        case.blocks().durability.fsync_every = 1;
        let top = case.after_top();
        (top.flushes, top.flush_ms, top.writes) = (flushes, flush_ms, top.writes + flushes);
        case
    }

    #[test]
    fn flushes_that_take_no_time_are_reported() {
        let found = flushed(10_000, 420).found(&RULE);
        assert!(
            found[0].sentence.starts_with("A flush of vda took 42 µs, too fast for a medium"),
            "{found:?}"
        );
        assert_eq!(found[0].severity, Severity::Explains);
        assert_eq!(flushed(10_000, 600).found(&RULE), [], "60 µs");
        assert_eq!(flushed(900, 9).found(&RULE), [], "too few to tell from milliseconds");
        let mut through = flushed(10_000, 420);
        through.disk().queue.write_cache = fact("write through".into());
        assert_eq!(through.found(&RULE), []);
    }

    #[test]
    fn memory_reads_and_buffered_writes_are_none_of_its_business() {
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
        assert_eq!(TestCase::buffered_write().found(&RULE), []);
        assert_eq!(writes_back().on_zram().found(&RULE), []);
    }

    #[test]
    fn an_unknown_cache_is_said() {
        let mut case = writes_back();
        case.disk().queue.write_cache = None;
        assert!(case.lacked(&RULE).is_some());
    }
}
