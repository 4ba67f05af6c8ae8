//! B15: memory is near its limit.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::bound::{Bound, Kind};
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{CEILING_NEAR, CEILING_OVER, FAST_RATE, MEMORY_PHASE_S, MEMORY_SHARE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B15",
        title: "memory is near its limit",
        explanation: "I/O through the page cache copies each byte from memory to memory, so the \
            rate cannot be much higher than the rate of memory copies. After a phase with at least \
            1 GB/s for at least 2 s, candor measures memory copies for a tenth of a second \
            (--no-follow-ups leaves this out). The copies run between buffers that no cache holds, \
            with a thread for each CPU. candor reports the finding from half of this rate on. A \
            device passes each byte once, while a copy reads and writes it, so direct I/O may \
            reach twice the rate. From 85 % on, memory is the limit. Bypass the page cache, or use \
            a host with faster memory.",
    },
    stage: Stage::Memory,
    limit: Some(LimitClass::Memory),
    before: None,
    after,
};

/// The phase was long enough, and moved data so fast that it matters how fast memory copies.
pub fn nears_memory(observed: &Observed) -> bool {
    let rate = ratio(observed.app_all().bytes, observed.elapsed_s());
    rate >= FAST_RATE.value && observed.elapsed_s() >= MEMORY_PHASE_S.value
}

fn after(observed: &Observed) -> Outcome {
    if !nears_memory(observed) {
        return Outcome::Nothing;
    }
    let mut bounds = ceilings::bounds(observed).into_iter();
    let Some(bound) = bounds.find(|bound| bound.kind == Kind::Memory) else {
        // Nothing copied: follow-ups were not wanted, or this memory is too small for it.
        return Outcome::Nothing;
    };
    let used = bound.ceiling.used.unwrap_or(0.0);
    if used <= MEMORY_SHARE.value {
        Outcome::Nothing
    } else {
        Outcome::one(finding(observed, &bound, used))
    }
}

fn finding(observed: &Observed, bound: &Bound, used: f64) -> Finding {
    let most = bound.ceiling.bytes_per_s.unwrap_or(0.0);
    let (moves, because) = match observed.memory_passes() {
        1.0 => ("devices can move into or out of this memory", "each byte passes memory once"),
        _ => ("this memory can copy", "I/O through the page cache is such a copy"),
    };
    let (rate, copied) = (fmt::rate(used * most), fmt::rate_decimal(most));
    // What went faster than memory was held by caches, and memory did not hold it up.
    let beaten = used > CEILING_OVER.value;
    let sentence = if beaten {
        format!(
            "{rate} is more than {moves} ({copied}): the processor's caches held some data, such \
             as the buffers of the workers."
        )
    } else {
        format!(
            "{rate} is {} of the rate at which {moves} ({copied}): {because}.",
            fmt::percent(used)
        )
    };
    let draft = FindingBuilder::new("B15", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("ceiling", Quantity::bytes_per_s(most), bound.ceiling.arithmetic.clone())
        .evidence("used", Quantity::share(used), "candor")
        .advice("Bypass the page cache, or use a host with faster memory.", None);
    if !beaten && used >= CEILING_NEAR.value {
        draft.limits(Limit::MemoryBandwidth).done()
    } else {
        draft.done()
    }
}

#[cfg(test)]
mod tests {
    use candor_record::MemoryCopy;

    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::{MIB, TestCase, Workload};

    /// The case on memory that copies so much per second.
    fn copying(mut case: TestCase, bytes_per_s: f64) -> TestCase {
        let (threads, buffer_bytes, cost_s) = (8, 128 * MIB, 0.2);
        case.host.memory_copy = Some(MemoryCopy { bytes_per_s, threads, buffer_bytes, cost_s });
        case
    }

    /// The evidence book's 22 GB/s from the page cache, where a reader alone reached 70 GB/s.
    fn cached() -> TestCase {
        let mut case = TestCase::buffered_read();
        let bytes = 220_000_000_000;
        let read = case.measured().of_mut(Direction::Read);
        (read.bytes, read.ops) = (bytes, bytes / MIB);
        case
    }

    #[test]
    fn the_page_cache_is_limited_by_memory() {
        let case = copying(cached(), 24e9);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "22 GB/s (20.5 GiB/s) is 92 % of the rate at which this memory can copy (24 GB/s): I/O \
             through the page cache is such a copy."
        );
        assert_eq!(found[0].severity, Severity::Explains);
        assert!(found[0].evidence[0].source.contains("by 8 threads"), "{found:?}");
        let judgement = case.judge();
        assert_eq!(judgement.rules(), ["A1"]);
        let taken = &judgement.findings[0].consequences;
        assert!(taken.iter().any(|other| other.rule == "B15" && !other.is_reason));
        assert_eq!(judgement.limit().as_deref(), Some("the page cache"));
    }

    #[test]
    fn what_stays_in_the_caches_is_faster() {
        let found = copying(cached(), 16e9).found(&RULE);
        assert!(found[0].sentence.contains("is more than this memory can copy (16 GB/s): the"));
        let judged = copying(cached(), 16e9).judge();
        assert_eq!(judged.ceilings.iter().find(|c| c.element == "memory"), None, "it is beaten");
        assert_eq!(found[0].limits, None, "memory did not hold it up");
    }

    #[test]
    fn devices_pass_each_byte_once() {
        let workload =
            Workload { bs: MIB, depth: 32, workers: 4, ops_per_s: 14_000.0, ..Workload::default() };
        let case = workload.case();
        assert_eq!((case.found(&RULE), case.lacked(&RULE)), (vec![], None), "nobody copied");
        assert_eq!(copying(case.clone(), 15e9).found(&RULE), [], "49 %");
        let some = copying(case.clone(), 10e9).found(&RULE);
        assert!(some[0].sentence.contains("is 73 % of the rate at which devices can move"));
        assert_eq!(some[0].limits, None);
        let judgement = copying(case, 8e9).judge();
        assert_eq!(judgement.limit().as_deref(), Some("the speed of memory"));
    }

    #[test]
    fn short_and_slow_phases_are_not_near_memory() {
        assert_eq!(copying(TestCase::direct(MIB, 8, 1, 900.0), 1e9).found(&RULE), []);
        let short = Workload { bs: MIB, seconds: 1, ops_per_s: 14_000.0, ..Workload::default() };
        assert_eq!(copying(short.case(), 8e9).found(&RULE), []);
        assert!(!crate::nears_memory(&short.case().case()));
        assert!(crate::nears_memory(&cached().case()));
    }
}
