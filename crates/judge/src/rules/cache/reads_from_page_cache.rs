//! A1: reads served from the page cache.

use candor_plan::entries::Step;
use candor_plan::units::Direction;
use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, MeasuredInstead, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::coverage::{self, Cover};
use crate::entry_jobs::{self, EntryJob};
use crate::hits::Hits;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{COVERAGE_FULL, COVERAGE_MEMORY};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A1",
        title: "reads were served from memory",
        explanation: "Linux keeps file data in the page cache and answers the next read from \
            memory, at the speed of memory. The kernel charges a process only for bytes really \
            fetched (/proc/self/io read_bytes). candor divides these bytes by the bytes read. \
            Below 5 % the result is the speed of memory, from 95 % on the speed of the device, in \
            between a mix of both. Random reads also fetch neighbours, which hides cache hits. For \
            random reads candor counts hits by operations: reads without a request of this \
            process, and reads faster than a fifth of the device's fastest request. Bypass the \
            cache (--direct), drop the files from it first (--evict), or read far more than fits \
            into memory.",
    },
    stage: Stage::PageCache,
    limit: Some(LimitClass::Memory),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    match coverage::of_reads(observed) {
        Cover::Small => Outcome::Nothing,
        Cover::Unknown(lacked) => Outcome::lacks(lacked),
        Cover::Known { share, .. } if share >= COVERAGE_FULL.value => Outcome::Nothing,
        // That a part of it missed a cache that is wanted, A20 says.
        Cover::Known { share, .. } if share >= COVERAGE_MEMORY.value && observed.wants_cache() => {
            Outcome::Nothing
        }
        Cover::Known { share, bytes, from, hits } => {
            Outcome::one(finding(observed, share, bytes, from, hits))
        }
    }
}

fn finding(
    observed: &Observed,
    share: f64,
    bytes: f64,
    from: String,
    hits: Option<Hits>,
) -> Finding {
    let (measures, limits) = words(observed, share);
    let is_sure = hits.is_some() || agrees(observed, share);
    let confidence = if is_sure { Confidence::Certain } else { Confidence::Likely };
    let sentence = sentence(observed, share, hits.as_ref());
    let mut draft = FindingBuilder::new("A1", Severity::Wrong, sentence)
        .confidence(confidence)
        .measures(measures)
        .evidence_if(hits.map(|hits| (hits.what.into(), Quantity::count(hits.count), hits.from)))
        .evidence("bytes read", Quantity::bytes(observed.moved(Direction::Read).bytes), "candor")
        .evidence("bytes fetched from storage", Quantity::bytes(bytes), from)
        .evidence_if(coverage::device_evidence(observed, Direction::Read));
    if let Some(limits) = limits {
        draft = draft.limits(limits);
    }
    let (advice, next) = advice(observed);
    let changes = match next {
        Some(_) => Vec::new(),
        None => of_files(observed).iter().flat_map(|names| names.directly(observed)).collect(),
    };
    draft.advice(advice, next).changes(changes).done()
}

/// Jobs that read files of a tree.
fn of_files<'a>(observed: &Observed<'a>) -> Vec<EntryJob<'a>> {
    entry_jobs::ran(observed).into_iter().filter(|names| names.entries.has(Step::Read)).collect()
}

/// Every job bypasses the page cache, those on files of a tree too.
fn direct(observed: &Observed) -> bool {
    observed.all_direct() && of_files(observed).iter().all(|names| names.entries.direct)
}

/// The device tells the same story, as far as it can be asked.
fn agrees(observed: &Observed, share: f64) -> bool {
    let seen = observed.top.and_then(|top| observed.share_seen(Direction::Read, top.read.bytes));
    seen.is_none_or(|seen| seen < share + 0.1)
}

/// The object that was measured instead, and what set its pace.
fn words(observed: &Observed, share: f64) -> (MeasuredInstead, Option<Limit>) {
    match (share < COVERAGE_MEMORY.value, direct(observed)) {
        (true, false) => (MeasuredInstead::PageCache, Some(Limit::PageCache)),
        (true, true) => (MeasuredInstead::Memory, Some(Limit::Memory)),
        (false, false) => (MeasuredInstead::PageCacheAndDevice, None),
        (false, true) => (MeasuredInstead::MemoryAndDevice, None),
    }
}

fn sentence(observed: &Observed, share: f64, hits: Option<&Hits>) -> String {
    let rate = fmt::rate(observed.bytes_per_s(Direction::Read));
    let (device, memory) = (observed.device_names(), fmt::percent(1.0 - share));
    let came = match hits {
        Some(hits) => {
            let why = &hits.why;
            let at_least = if memory.starts_with("more than") { "" } else { "At least " };
            format!("{at_least}{memory} of the reads came from this machine's memory ({why})")
        }
        None => format!("{memory} of the bytes read came from this machine's memory"),
    };
    match (share < COVERAGE_MEMORY.value, direct(observed)) {
        (true, false) => format!("{came}; {rate} is the speed of the page cache, not of {device}."),
        (true, true) => {
            format!("{came} although the I/O was direct; {rate} is not the speed of {device}.")
        }
        (false, _) => format!("{came}; {rate} is a mix of memory and {device}."),
    }
}

fn advice<'a>(observed: &Observed<'a>) -> (&'static str, Option<Command<'a>>) {
    let command = observed.main_job().and_then(|job| Command::of(observed.plan, &job.planned));
    if direct(observed) {
        let advice =
            "Read a file that was written with random data and flushed, or read the device.";
        return (advice, command.map(Command::evict));
    }
    let advice =
        "Bypass the cache, drop the files from it first, or read far more than fits into memory.";
    let direct = command.clone().map(|command| command.direct(observed));
    let is_possible = direct.as_ref().is_some_and(Command::is_possible);
    (advice, if is_possible { direct } else { command.map(Command::evict) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, proposes};

    #[test]
    fn a_second_pass_is_the_page_cache() {
        let found = TestCase::buffered_read().found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert_eq!(found[0].confidence, Confidence::Certain);
        assert_eq!(
            found[0].sentence,
            "100 % of the bytes read came from this machine's memory; 5.32 GB/s (4.96 GiB/s) is \
             the speed of the page cache, not of vda."
        );
        assert!(proposes(&found[0], "direct=true"));
    }

    #[test]
    fn half_a_pass_is_a_mix() {
        let mut case = TestCase::buffered_read();
        let bytes = case.record.measurements[0].of(Direction::Read).bytes;
        case.process_read(bytes / 2);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].measures.as_ref().map(ToString::to_string).as_deref(),
            Some("a mix of page cache and device")
        );
        assert!(found[0].sentence.starts_with("50 % of the bytes"), "{}", found[0].sentence);
    }

    #[test]
    fn a_cold_pass_is_silent_also_with_operations_in_flight_at_the_start() {
        let workload = crate::testcase::Workload {
            bs: MIB,
            depth: 32,
            ops_per_s: 50.0,
            ramp_s: 2,
            ..Default::default()
        };
        let mut case = workload.case();
        assert_eq!(case.found(&RULE), []);
        // 32 of 500 operations had been charged before the counters were read.
        case.process_read(468 * MIB);
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn without_process_counters_the_device_decides() {
        let mut case = TestCase::buffered_read();
        case.host.after.process_io = None;
        assert_eq!(case.found(&RULE).len(), 1);
        case.host.facts.targets[0].device = None;
        assert!(case.lacked(&RULE).unwrap().contains("/proc/self/io"));
    }

    #[test]
    fn a_filesystem_without_device_is_only_judged_where_pages_were_seen() {
        let mut case = TestCase::buffered_read();
        case.host.facts.targets[0].device = None;
        assert!(case.lacked(&RULE).unwrap().contains("block device"));
        let cache = case.host.after.cache.as_mut().unwrap();
        cache.resident_bytes = cache.size_bytes;
        assert_eq!(case.found(&RULE).len(), 1);
    }

    #[test]
    fn a_few_kilobytes_are_no_ratio() {
        let mut case = TestCase::buffered_read();
        case.measured().of_mut(Direction::Read).bytes = 4096 * 10;
        assert_eq!(case.found(&RULE), []);
    }
}
