//! C13: calls of fsync that reached no device.

use candor_plan::units::Direction;
use candor_plan::work::{BlocksOp, Figure};
use candor_record::facts::{DeviceFacts, DeviceKind, value};
use candor_record::fmt;
use candor_record::{Confidence, Finding, MeasuredInstead, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::entry_jobs::{self, EntryJob};
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{FLUSHES_SENT, SYNC_CALLS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C13",
        title: "fsync flushed no device",
        explanation: "A call of fsync makes writes durable only if the device below receives a \
            request to empty its cache. Three causes make fsync fast and useless: a mount without \
            barriers, a volatile cache set to write through, and a layer or library that drops the \
            call. candor counts the calls and the flushes of the disks at the end of the path. One \
            flush may serve all waiting workers, so candor expects at least half as many flushes \
            as calls divided by workers. If a disk with a write-back cache saw fewer flushes, the \
            rate does not measure durable writes. Disks without a volatile cache need no flush and \
            cause no finding.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let writers: Vec<&Ran> = observed.ran.iter().filter(|ran| ran.does(Direction::Write)).collect();
    // Without a change there is nothing to flush.
    let of_names: Vec<EntryJob> =
        entry_jobs::ran(observed).into_iter().filter(|names| names.entries.changes()).collect();
    let calls_of_names = of_names.iter().map(|names| names.measured.figure(Figure::Flush).ops);
    let calls_of_names: f64 = calls_of_names.map(|calls| calls as f64).sum();
    let calls = writers.iter().map(|ran| sync_calls(ran)).sum::<f64>() + calls_of_names;
    if calls < SYNC_CALLS.value || observed.all_memory() {
        return Outcome::Nothing;
    }
    let Some(leaf) = observed.leaf.filter(|_| counts_flushes(observed)) else {
        return Outcome::lacks("the flushes of the disks at the end of the path");
    };
    let flushes = flushes(observed).min(leaf.flushes);
    let waiting: f64 = writers.iter().map(|ran| ran.concurrency()).sum();
    let waiting = waiting + of_names.iter().map(EntryJob::in_progress).sum::<f64>();
    if flushes * waiting >= FLUSHES_SENT.value * calls {
        return Outcome::Nothing;
    }
    let leaves = observed.leaves();
    let volatile = leaves.into_iter().find(|device| is_volatile(device));
    volatile
        .map_or(Outcome::Nothing, |device| Outcome::one(finding(observed, device, calls, flushes)))
}

/// Linux counts flushes from 5.5 on; to an older one every disk seems to have made none.
fn counts_flushes(observed: &Observed) -> bool {
    let Some(release) = value(&observed.facts.host.kernel) else { return true };
    let numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse().ok());
    numbers.take(2).collect::<Vec<u32>>() >= vec![5, 5]
}

/// Flushes of the devices on top, where they are disks with a queue of their own: those below may
/// have flushed for others. Others count no flushes.
fn flushes(observed: &Observed) -> f64 {
    fn counts(device: &&DeviceFacts) -> bool {
        device.kind != DeviceKind::Partition && value(&device.bio_based) == Some(&false)
    }
    match (observed.tops().iter().all(counts), observed.top) {
        (true, Some(top)) => top.flushes,
        _ => f64::INFINITY,
    }
}

/// Calls that had something to flush: no more than there were writes.
fn sync_calls(ran: &Ran) -> f64 {
    let calls = [BlocksOp::Fsync, BlocksOp::Fdatasync].map(|op| op.operation().name);
    let calls: u64 = calls.iter().map(|name| ran.measured.operation(name).ops).sum();
    calls.min(ran.measured.of(Direction::Write).ops) as f64
}

/// The device has a cache that loses its content, by its own word or by its queue's.
fn is_volatile(device: &DeviceFacts) -> bool {
    let caches = [&device.queue.write_cache, &device.queue.device_cache];
    caches
        .into_iter()
        .any(|cache| value(cache).is_some_and(|cache| cache.starts_with("write back")))
}

/// The reason why no flush was sent, where it shows.
fn reason(observed: &Observed) -> Option<(String, String)> {
    const OPTIONS: [&str; 4] = ["nobarrier", "barrier=0", "fsync_mode=nobarrier", "volatile"];
    let mounted = observed.targets().into_iter().find_map(|target| {
        let mounts = [target.filesystem.as_ref(), target.held_on.as_ref()];
        mounts.into_iter().flatten().find_map(|on| {
            let option = on.options.split(',').find(|option| OPTIONS.contains(option))?;
            let what = format!("{} is mounted with {option}", on.mount_point);
            Some((what, "/proc/self/mountinfo".into()))
        })
    });
    mounted.or_else(|| {
        let device = observed.devices().into_iter().find(|device| {
            value(&device.queue.write_cache).is_some_and(|cache| cache == "write through")
        })?;
        let what = format!("{} is set to write through, so the kernel sends no flush", device.name);
        Some((what, device.queue.write_cache.as_ref()?.from.clone()))
    })
}

fn finding(observed: &Observed, device: &DeviceFacts, calls: f64, flushes: f64) -> Finding {
    let reason = reason(observed);
    let why =
        reason.as_ref().map_or("the layer that dropped the flushes is unknown", |(what, _)| what);
    let sentence = format!(
        "{} of fsync sent {} to {}, which has a volatile cache: this is not the rate of durable \
         writes ({why}).",
        fmt::plural(calls, "call", "calls"),
        fmt::plural(flushes, "flush", "flushes"),
        device.name
    );
    let cache = device.queue.device_cache.as_ref().or(device.queue.write_cache.as_ref());
    FindingBuilder::new("C13", Severity::Wrong, sentence)
        .confidence(if reason.is_some() { Confidence::Certain } else { Confidence::Likely })
        .measures(MeasuredInstead::UnflushedWrites)
        .evidence("calls of fsync and fdatasync", Quantity::count(calls), "candor")
        .evidence("flushes of the disks", Quantity::count(flushes), "/sys/class/block/*/stat")
        .evidence_if(
            cache.map(|c| (format!("cache of {}", device.name), c.value.clone(), c.from.clone())),
        )
        .evidence_if(reason.map(|(what, from)| ("reason".into(), what, from)))
        .advice("Mount with barriers, and set the kernel's cache mode to write back.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Step;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::{TestCase, fact, latency};

    /// Writes with a flush after each, of which so many reached the disk.
    fn synced(flushes: u64) -> TestCase {
        let mut case = TestCase::direct_write();
        case.disk().queue.write_cache = fact("write back".into());
        case.blocks().durability.fsync_every = 1;
        let writes = case.record.measurements[0].of(Direction::Write).ops;
        let sync = case.measured().operation_mut(BlocksOp::Fsync.operation());
        (sync.ops, sync.latency) = (writes, Some(latency(writes, 580.0)));
        case.after_top().flushes = flushes;
        case
    }

    #[test]
    fn calls_that_flush_nothing_are_not_durable() {
        let mut case = synced(3);
        case.host.facts.host.kernel = fact("5.4.0-200-generic".into());
        assert!(case.lacked(&RULE).is_some(), "it does not count flushes");
        case.host.facts.host.kernel = fact("6.1.0-13-amd64".into());
        let judged = case.judge();
        assert_eq!(judged.verdict, Verdict::Wrong);
        let sentence = &judged.finding("C13").unwrap().sentence;
        assert!(sentence.starts_with("100k calls of fsync sent 3 flushes to vda"), "{sentence}");
        assert!(judged.finding("C9").is_none(), "no cache was flushed");
        let on = case.host.facts.targets[0].filesystem.as_mut().unwrap();
        (on.mount_point, on.options) = ("/data".into(), "rw,nobarrier".into());
        assert!(case.found(&RULE)[0].sentence.contains("(/data is mounted with nobarrier)"));
    }

    #[test]
    fn names_that_were_synced_without_a_flush_are_not_durable() {
        let with = |flushes| {
            let mut case = TestCase::on_names(Step::Create, 5000, 400.0);
            case.disk().queue.write_cache = fact("write back".into());
            let sync = case.measured().operation_mut(Step::Fsync.operation());
            (sync.ops, sync.latency) = (4000, Some(latency(4000, 580.0)));
            case.after_top().flushes = flushes;
            case.found(&RULE)
        };
        assert!(with(3)[0].sentence.starts_with("4000 calls of fsync sent 3 flushes to vda"));
        assert_eq!(with(4000), []);
    }

    #[test]
    fn a_volatile_cache_that_was_switched_is_named() {
        let mut case = synced(0);
        case.disk().queue.write_cache = fact("write through".into());
        assert_eq!(case.found(&RULE), [], "the disk may have no volatile cache");
        case.disk().queue.device_cache = fact("write back".into());
        assert!(case.found(&RULE)[0].sentence.contains("vda is set to write through"));
    }

    #[test]
    fn flushes_that_serve_several_workers_are_enough() {
        let mut case = synced(100_000 / 8);
        assert_eq!(case.found(&RULE), [], "eight waited for each");
        case.after_top().flushes = 100_000 / 20;
        assert_eq!(case.found(&RULE).len(), 1);
        assert_eq!(synced(100_000).found(&RULE), []);
        assert_eq!(synced(0).on_zram().judge().finding("C13"), None);
    }
}
