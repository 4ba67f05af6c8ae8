//! C9: what flushing costs.

use candor_plan::units::Direction;
use candor_plan::work::{BlocksOp, Figure};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::{Observed, Ran, mean};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{FLUSH_OF_SYNC, FLUSH_PER_WRITE, FLUSH_TIME, FLUSHES_SENT};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C9",
        title: "writes wait for flushes",
        explanation: "A write is durable only after the device has emptied its cache; without \
            power-loss protection this takes a hundred times longer than the write. candor counts \
            flush calls and the device's flushes per write, and their share of the workers' time; \
            above half, flushes are the limit. With one operation in flight a write waits for its \
            flush. At a higher depth flushes are in flight together with writes, and each flush \
            uses a queue slot. A write is durable at the end of the first flush that began after \
            the write completed. A call of fsync also writes data and the journal; candor counts \
            only the disks' own flush time as flush. A synchronous write to a raw device shows as \
            two writes in iostat, one of them empty: this is not splitting. Commit several writes \
            together, or use a device with a protected cache. A filesystem mounted with sync, or a \
            file with the attribute S, makes each write durable, also without a flush of the \
            program.",
    },
    stage: Stage::Device,
    limit: Some(LimitClass::Device),
    before: None,
    after,
};

/// Source of flushes that the workers made.
const CALLS: &str = "fsync and fdatasync calls";

/// Flushes as one level saw them.
struct Flushes {
    count: f64,
    mean_ns: f64,
    share: f64,
    from: &'static str,
    /// The calls or flushes themselves: one, and several.
    named: [String; 2],
    wait: Wait,
}

/// The work that a write waits for.
enum Wait {
    /// The device empties its cache.
    Flush,
    /// A call that does more than that; the mean flush of the disks, where they made any.
    Call(Option<f64>),
}

impl Wait {
    /// Of calls that took so long, by what the disks at the end of the path say of their flushes.
    fn of_calls(observed: &Observed, count: f64, mean_ns: f64) -> Wait {
        let Some(leaf) = observed.leaf.filter(|leaf| leaf.flushes > 0.0) else {
            return Wait::Call(None);
        };
        let flush_ns = ratio(leaf.flush_ms * 1e6, leaf.flushes);
        // One flush may serve several calls, each of which waits for it.
        let is_most = flush_ns >= FLUSH_OF_SYNC.value * mean_ns;
        let own = leaf.flushes * observed.concurrency() >= FLUSHES_SENT.value * count;
        if is_most && own { Wait::Flush } else { Wait::Call(own.then_some(flush_ns)) }
    }
}

fn after(observed: &Observed) -> Outcome {
    let writers: Vec<Ran> =
        observed.ran.iter().filter(|ran| writes_durably(ran)).copied().collect();
    let writes: f64 = writers.iter().map(|ran| ran.measured.of(Direction::Write).ops as f64).sum();
    if writes <= 0.0 {
        return Outcome::Nothing;
    }
    match calls(observed, &writers).or_else(|| by_device(observed, &writers)) {
        None if observed.top.is_none() => Outcome::lacks("the flushes of the device"),
        Some(flushes) if flushes.count >= FLUSH_PER_WRITE.value * writes => {
            Outcome::one(finding(observed, &writers, &flushes, writes))
        }
        _ => Outcome::Nothing,
    }
}

fn writes_durably(ran: &Ran) -> bool {
    ran.does(Direction::Write) && ran.durable()
}

/// Calls of fsync and fdatasync, where workers made them.
fn calls(observed: &Observed, writers: &[Ran]) -> Option<Flushes> {
    let syncs = || writers.iter().map(|ran| ran.measured.figure(Figure::Flush));
    let count: f64 = syncs().map(|sync| sync.ops as f64).sum();
    let mean_ns = {
        let latencies: Vec<_> = syncs().filter_map(|sync| sync.latency).collect();
        mean(latencies.iter())?
    };
    let share = ratio(count * mean_ns, workers_ns(writers)).min(1.0);
    let (from, wait) = (CALLS, Wait::of_calls(observed, count, mean_ns));
    let made = |op: BlocksOp| {
        writers.iter().any(|ran| ran.measured.operation(op.operation().name).ops > 0)
    };
    let call = if made(BlocksOp::Fsync) { "an fsync" } else { "an fdatasync" };
    let named = [call.into(), "calls".into()];
    (count > 0.0).then_some(Flushes { count, mean_ns, share, from, named, wait })
}

/// Flushes of the device, for files that are opened so that every write is durable.
fn by_device(observed: &Observed, writers: &[Ran]) -> Option<Flushes> {
    let top = observed.top.filter(|top| top.flushes > 0.0)?;
    let mean_ns = ratio(top.flush_ms * 1e6, top.flushes);
    let share = ratio(top.flush_ms * 1e6, workers_ns(writers)).min(1.0);
    let from = "/sys/class/block/*/stat: flushes";
    let wait = Wait::of_calls(observed, top.flushes, mean_ns);
    let named = [format!("a flush of {}", observed.device_names()), "flushes".into()];
    Some(Flushes { count: top.flushes, mean_ns, share, from, named, wait })
}

impl Flushes {
    /// True for calls that are in flight together with writes, where no write waits for one.
    fn are_queued(&self, writers: &[Ran]) -> bool {
        self.from == CALLS
            && writers.iter().any(|ran| ran.concurrency() > f64::from(ran.job.workers))
    }
}

/// Mean time from the begin of a write to the end of the flush that made it durable.
fn commit_ns(writers: &[Ran]) -> Option<f64> {
    let commits: Vec<_> = writers.iter().map(|ran| ran.measured.figure(Figure::Commit)).collect();
    mean(commits.iter().filter_map(|commit| commit.latency.as_ref()))
}

/// Time of all operations that could be in flight.
fn workers_ns(writers: &[Ran]) -> f64 {
    writers.iter().map(|ran| ran.measured.elapsed_ns as f64 * ran.concurrency()).sum()
}

fn finding(observed: &Observed, writers: &[Ran], flushes: &Flushes, writes: f64) -> Finding {
    let per_write = ratio(flushes.count, writes);
    let is_queued = flushes.are_queued(writers);
    let verb = if is_queued { "is followed by" } else { "waits for" };
    let who = if per_write >= 0.95 {
        format!("Each write {verb}")
    } else {
        format!("One write in {} {verb}", fmt::number(1.0 / per_write))
    };
    let mean = fmt::time(flushes.mean_ns);
    let share = if is_queued {
        format!("{} of the queue", fmt::percent(flushes.share))
    } else {
        format!("{} of the workers' time", fmt::percent(flushes.share))
    };
    let [one, many] = &flushes.named;
    let sentence = match flushes.wait {
        Wait::Flush => {
            format!("{who} a cache flush of {mean}; flushing took {share}.")
        }
        Wait::Call(Some(flush_ns)) => format!(
            "{who} {one} of {mean}, including {} for a flush of the disks; these {many} took \
             {share}.",
            fmt::time(flush_ns)
        ),
        Wait::Call(None) => {
            format!("{who} {one} of {mean}; these {many} took {share}.")
        }
    };
    let command = writers.first().and_then(|ran| Command::of(observed.plan, &ran.planned));
    let every = command.map(|command| command.flush_every(16));
    let sentence = match writers.iter().find_map(|ran| ran.synchronous) {
        Some(reason) => format!("{sentence} {reason}"),
        None => sentence,
    };
    let draft = FindingBuilder::new("C9", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence("flushes", Quantity::count(flushes.count), flushes.from)
        .evidence("writes", Quantity::count(writes), "candor")
        .evidence("mean flush", Quantity::ns(flushes.mean_ns), flushes.from)
        .evidence_if(
            commit_ns(writers)
                .map(|ns| ("mean commit".into(), fmt::time(ns), "candor: write and flush".into())),
        )
        .advice(
            "Commit several writes with one flush, or use a device with power-loss protection.",
            every,
        );
    if flushes.share >= FLUSH_TIME.value {
        let limit = match flushes.wait {
            Wait::Flush => Limit::FlushLatency,
            Wait::Call(_) => Limit::SyncLatency,
        };
        draft.limits(limit).done()
    } else {
        draft.done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, latency};
    use candor_plan::blocks::OpenSync;

    fn synced() -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 646.0);
        let measured = case.measured();
        let stats = measured.of(Direction::Read).clone();
        measured.operations.clear();
        measured.put(Direction::Write, stats);
        let blocks = case.blocks();
        blocks.mix = candor_plan::units::Mix::WRITE;
        blocks.durability.fsync_every = 1;
        case
    }

    #[test]
    fn an_fsync_per_write_is_the_limit() {
        let mut case = synced();
        let sync = case.measured().operation_mut(BlocksOp::Fsync.operation());
        (sync.ops, sync.latency) = (6460, Some(latency(6460, 1.5e6)));
        let top = case.after_top();
        (top.flushes, top.flush_ms) = (6460, 9000);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Each write waits for a cache flush of 1.5 ms; flushing took 97 % of the workers' time."
        );
        assert_eq!(case.judge().limit().as_deref(), Some("flush latency"));
    }

    #[test]
    fn at_a_higher_depth_no_write_waits_for_its_flush() {
        let mut case = synced();
        case.blocks().depth = 8;
        case.blocks().engine = candor_plan::Engine::IO_URING;
        let sync = case.measured().operation_mut(BlocksOp::Fsync.operation());
        (sync.ops, sync.latency) = (6460, Some(latency(6460, 8e6)));
        let commit = case.measured().operation_mut(BlocksOp::Commit.operation());
        (commit.ops, commit.latency) = (6400, Some(latency(6400, 12e6)));
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Each write is followed by an fsync of 8 ms; these calls took 65 % of the queue."
        );
        let commit = found[0].evidence.iter().find(|of| of.quantity == "mean commit");
        assert!(commit.is_some(), "{:?}", found[0].evidence);
    }

    #[test]
    fn a_call_that_writes_data_is_not_called_a_flush() {
        let mut case = synced();
        let sync = case.measured().operation_mut(BlocksOp::Fsync.operation());
        (sync.ops, sync.latency) = (6460, Some(latency(6460, 1.5e6)));
        let calls = case.found(&RULE)[0].sentence.clone();
        assert!(calls.starts_with("Each write waits for an fsync of 1.5 ms; these"), "{calls}");
        let top = case.after_top();
        (top.flushes, top.flush_ms) = (6460, 1230);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Each write waits for an fsync of 1.5 ms, including 190 µs for a flush of the disks; \
             these calls took 97 % of the workers' time."
        );
        assert_eq!(
            case.judge().limit().as_deref(),
            Some("sync latency: writing data and the journal")
        );
    }

    #[test]
    fn the_call_has_its_name() {
        let mut case = synced();
        let sync = case.measured().operation_mut(BlocksOp::Fdatasync.operation());
        (sync.ops, sync.latency) = (6460, Some(latency(6460, 1.5e6)));
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.contains(" waits for an fdatasync of 1.5 ms; "), "{sentence}");
    }

    #[test]
    fn synchronous_files_show_in_the_device() {
        let mut case = synced();
        case.blocks().durability = Default::default();
        case.blocks().durability.open = OpenSync::Dsync;
        let top = case.after_top();
        (top.flushes, top.flush_ms) = (6460, 8000);
        assert!(case.found(&RULE)[0].sentence.contains("flush of 1.24 ms"));
    }

    /// Seen on Linux 6.18: a loop device took 900 µs for each flush, the disk below 150 µs.
    #[test]
    fn flushes_of_a_loop_device_are_those_of_its_file() {
        let mut case = synced();
        case.blocks().durability = Default::default();
        case.blocks().durability.open = OpenSync::Dsync;
        let mut case = case.on_loop(true);
        let flush = |case: &mut TestCase, at: usize, ms| {
            let counters = &mut case.host.after.devices[at].1;
            (counters.flushes, counters.flush_ms) = (6460, ms);
        };
        flush(&mut case, 0, 5800);
        flush(&mut case, 1, 970);
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(
            sentence.starts_with(
                "Each write waits for a flush of loop0 of 898 µs, including 150 µs for a flush of \
                 the disks; these flushes took 58 %"
            ),
            "{sentence}"
        );
    }

    /// Seen on Linux 6.18: 1752 flushes for buffered writes of 4 KiB on ext4.
    #[test]
    fn a_mount_with_sync_makes_each_write_durable() {
        let mut case = synced();
        case.blocks().durability = Default::default();
        case.blocks().direct = false;
        let top = case.after_top();
        (top.flushes, top.flush_ms) = (6460, 8000);
        assert_eq!(case.found(&RULE), [], "the journal flushes for others, too");
        case.host.facts.targets[0].filesystem.as_mut().unwrap().options = "rw,sync".into();
        let found = case.found(&RULE);
        assert!(found[0].sentence.ends_with("mounted with sync."), "{found:?}");
        case.host.facts.targets[0].filesystem.as_mut().unwrap().options = "rw".into();
        case.file().synchronous = true;
        let found = case.found(&RULE);
        assert!(found[0].sentence.ends_with("attribute S (lsattr)."), "{found:?}");
    }

    #[test]
    fn no_flush_no_finding() {
        assert_eq!(synced().found(&RULE), []);
        assert_eq!(TestCase::direct_write().found(&RULE), []);
    }

    #[test]
    fn rare_flushes_are_not_worth_a_word() {
        let mut case = synced();
        let sync = case.measured().operation_mut(BlocksOp::Fsync.operation());
        (sync.ops, sync.latency) = (60, Some(latency(60, 1.5e6)));
        assert_eq!(case.found(&RULE), []);
    }
}
