//! A3: buffered writes absorbed by the page cache.

use candor_plan::blocks::{Content, Fill};
use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{
    CacheState, Confidence, Finding, Limit, LimitClass, MeasuredInstead, Quantity, Severity,
    Snapshot,
};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::compression;
use crate::coverage;
use crate::entry_jobs::{self, EntryJob};
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, DIRTY_LEFT, DRAWN_ONCE, WRITTEN_EXACTLY, WRITTEN_OUT};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A3",
        title: "writes stayed in memory",
        explanation: "A buffered write completes as soon as the bytes are in the page cache; the \
            kernel writes the bytes to the device later. Without a flush inside the measured time, \
            the rate is the speed of memory until the kernel throttles the writer. candor compares \
            the bytes written to the device at the end of the measured time with the bytes of the \
            application, and counts dirty pages. The number is not the speed of the device in two \
            cases: more than 5 % is dirty, or less than 95 % is on the device (the rest was \
            overwritten in memory). Write rates include the final flush. If the device had all \
            bytes after the flush, candor also reports the rate before the flush. Bytes that never \
            reached a device measure memory.",
    },
    stage: Stage::WriteCache,
    limit: Some(LimitClass::Memory),
    before: None,
    after,
};

/// Who counts the dirty pages of single files.
const OF_FILES: &str = "cachestat";

/// Knowledge about where written bytes were when the clock stopped.
struct WriteProgress {
    written: f64,
    on_device: Option<f64>,
    /// On the device after the final flush, where there was one.
    flushed: Option<f64>,
    /// Written since the last flush, at most.
    unflushed: f64,
    /// The device wrote just what was written, no journal of data besides.
    arrived: bool,
    dirty: Option<(f64, &'static str)>,
}

impl WriteProgress {
    /// Dirty bytes of the files. Those of the whole host may be anybody's, and are taken for ours
    /// only where the device cannot be asked. The kernel counts whole folios, of a MiB and more,
    /// for a page that is dirty: no more of it counts than was written since the last flush, and
    /// nothing where the device wrote just what was written.
    fn ours(&self) -> Option<f64> {
        let (bytes, from) = self.dirty?;
        let most = if self.arrived { 0.0 } else { self.unflushed };
        (from == OF_FILES || self.on_device.is_none()).then_some(bytes.min(most))
    }
}

/// Bytes that a job may have written since it last flushed.
fn unflushed(ran: &Ran) -> f64 {
    let written = ran.measured.of(Direction::Write).bytes as f64;
    let durability = &ran.blocks.durability;
    let every = [durability.fsync_every, durability.fdatasync_every].into_iter();
    let size = ran.blocks.size.of(Direction::Write).max().0 as f64;
    let between = every.filter(|every| *every > 0).min();
    // A flush does not cover the writes in flight with it.
    let workers = f64::from(ran.job.workers);
    let most = |every: u64| size * (every as f64 * workers + ran.concurrency());
    between.map_or(written, |every| written.min(most(every)))
}

fn after(observed: &Observed) -> Outcome {
    let writers: Vec<Ran> =
        observed.ran.iter().filter(|ran| absorbs(observed, ran)).copied().collect();
    let small = small_files(observed);
    let of_blocks = writers.iter().map(|ran| ran.measured.of(Direction::Write).bytes as f64);
    let of_files = small.iter().map(EntryJob::absorbed_bytes);
    let written: f64 = of_blocks.chain(of_files.clone()).sum();
    if written < BYTES_MIN.value {
        return few_bytes(observed, written, &writers);
    }
    let on_device = on_device_at(observed, &observed.host.after);
    let flushed = observed.host.after_flush.as_ref().and_then(|end| on_device_at(observed, end));
    let unflushed = writers.iter().map(unflushed).chain(of_files).sum();
    let all = WRITTEN_OUT.value * written..=WRITTEN_EXACTLY.value * written;
    let arrived = on_device.is_some() && observed.top.is_some_and(|t| all.contains(&t.write.bytes));
    // A journal of data has them before their files do, whose pages stay dirty until then.
    let dirty = dirty_bytes(observed).filter(|_| on_device.is_none() || !journals_data(observed));
    let progress = WriteProgress { written, on_device, flushed, unflushed, arrived, dirty };
    if progress.on_device.is_none() && progress.dirty.is_none() {
        return Outcome::lacks("dirty pages of the files, or the counters of the device");
    }
    let dirty = progress.ours().is_some_and(|bytes| bytes > DIRTY_LEFT.value * written);
    let least = WRITTEN_OUT.value * incompressible(&writers, &small) * written;
    let absent = progress.on_device.is_some_and(|bytes| bytes < least);
    let never = progress.flushed.filter(|bytes| *bytes < least);
    match (dirty || absent, with_flush(&writers, &small), never) {
        (false, ..) => Outcome::Nothing,
        (true, Some(_), None) => Outcome::one(both_rates(observed, &progress)),
        (true, Some(seconds), Some(arrived)) => {
            Outcome::one(never_arrived(observed, &progress, arrived, seconds, &writers))
        }
        (true, None, _) => Outcome::one(no_flush(observed, &progress, &writers)),
    }
}

/// Too little for a ratio of counters of the device, which writes its journal as well: the pages of
/// the files tell alone.
fn few_bytes(observed: &Observed, written: f64, writers: &[Ran]) -> Outcome {
    let dirty = dirty_of_files(&observed.host.after).filter(|_| with_flush(writers, &[]).is_none());
    let stayed = |dirty: &f64| written > 0.0 && dirty.min(written) > DIRTY_LEFT.value * written;
    let Some(dirty) = dirty.filter(stayed) else { return Outcome::Nothing };
    let progress = WriteProgress {
        written,
        on_device: None,
        flushed: None,
        unflushed: written,
        arrived: false,
        dirty: Some((dirty, OF_FILES)),
    };
    Outcome::one(no_flush(observed, &progress, writers))
}

/// Jobs that wrote into files of a tree, without a flush of each.
fn small_files<'a>(observed: &Observed<'a>) -> Vec<EntryJob<'a>> {
    entry_jobs::ran(observed).into_iter().filter(|names| names.absorbed_bytes() > 0.0).collect()
}

/// Bytes of ours that the devices on top had written by then: at most the pages that this
/// process made dirty, and of the files' pages that were dirty before, which the kernel charges
/// only once.
fn on_device_at(observed: &Observed, end: &Snapshot) -> Option<f64> {
    let flow = observed.counted_until(end).filter(|_| !observed.blind())?;
    let all_buffered =
        observed.ran.iter().all(|ran| !ran.does(Direction::Write) || absorbs(observed, ran));
    // A page that only a journal has so far is dirty, and is charged once however often it changes.
    let all_buffered = all_buffered
        && !journals_data(observed)
        && !entry_jobs::ran(observed).iter().any(|names| names.entries.direct);
    let charged = observed.process(Direction::Write).filter(|_| all_buffered);
    let before = dirty_of_files(&observed.host.before).unwrap_or(0.0);
    Some(charged.map_or(flow.write.bytes, |charged| flow.write.bytes.min(charged + before)))
}

/// The filesystem of a target writes data to its journal first.
pub fn journals_data(observed: &Observed) -> bool {
    let on = observed.targets().into_iter().filter_map(|target| target.holding());
    on.into_iter().any(|on| on.options.split(',').any(|option| option == "data=journal"))
}

/// The share of the content that neither compression nor deduplication on the way can save.
fn incompressible(writers: &[Ran], small: &[EntryJob]) -> f64 {
    fn kept(content: &Content) -> f64 {
        let left = |percent: u8| 1.0 - f64::from(percent.min(100)) / 100.0;
        match content.fill {
            Fill::Zero => 0.0,
            _ => left(content.compressible_percent) * left(content.duplicate_percent),
        }
    }
    let of_blocks = writers.iter().map(|ran| &ran.blocks.content);
    let of_files = small.iter().map(|names| &names.entries.content);
    of_blocks.chain(of_files).map(kept).fold(1.0, f64::min)
}

/// The job's writes end in the page cache, and not each of them is pushed out on its own.
fn absorbs(observed: &Observed, ran: &Ran) -> bool {
    let buffered = || {
        !ran.blocks.direct
            || observed.refuses_direct(&observed.targets_of(|other| other.index == ran.index))
    };
    ran.does(Direction::Write) && !ran.durable_each() && buffered()
}

/// Bytes of the files that were dirty or being written when the clock stopped. Where the files
/// cannot be asked, the increase on the whole host.
fn dirty_bytes(observed: &Observed) -> Option<(f64, &'static str)> {
    let (before, after) = (&observed.host.before, &observed.host.after);
    fn of_host(snapshot: &Snapshot) -> Option<f64> {
        snapshot.vmstat.map(|vmstat| vmstat.dirty_bytes as f64 + vmstat.writeback_bytes as f64)
    }
    let more = || Some((of_host(after)? - of_host(before)?).max(0.0));
    let of_files = dirty_of_files(after).map(|bytes| (bytes, OF_FILES));
    of_files.or_else(|| Some((more()?, "/proc/vmstat")))
}

fn dirty_of_files(snapshot: &Snapshot) -> Option<f64> {
    let cache = snapshot.cache?;
    Some(cache.dirty_bytes? as f64 + cache.writeback_bytes.unwrap_or(0) as f64)
}

/// Seconds including the final flush, where every writer made one.
fn with_flush(writers: &[Ran], small: &[EntryJob]) -> Option<f64> {
    fn flushed(ran: &Ran) -> Option<u64> {
        let fsync = ran.blocks.durability.fsync_at_end;
        ran.measured.elapsed_with_flush_ns.filter(|_| fsync)
    }
    let of_files = small.iter().map(|names| names.measured.elapsed_with_flush_ns);
    let times: Option<Vec<u64>> = writers.iter().map(flushed).chain(of_files).collect();
    Some(times?.into_iter().max()? as f64 / 1e9)
}

/// The share of what was written that had reached the device: no more than it wrote, and not what
/// was dirty.
fn share(progress: &WriteProgress) -> f64 {
    let clean = progress.ours().map(|bytes| progress.written - bytes);
    let known = [progress.on_device, clean].into_iter().flatten();
    ratio(known.fold(progress.written, f64::min), progress.written).clamp(0.0, 1.0)
}

/// Rate of the writes until the clock stopped.
fn memory_rate(observed: &Observed) -> String {
    fmt::rate(ratio(observed.moved(Direction::Write).bytes, observed.elapsed_s()))
}

fn both_rates(observed: &Observed, progress: &WriteProgress) -> Finding {
    let memory = memory_rate(observed);
    let reached = match share(progress) {
        share if share <= 0.0 => "nothing".to_owned(),
        share => fmt::percent(share),
    };
    let sentence = format!(
        "The rate includes the final flush. Before it, {reached} had reached {}, and {memory} was \
         the speed of memory.",
        observed.device_names()
    );
    draft(observed, progress, Severity::Explains, sentence).done()
}

fn never_arrived(
    observed: &Observed,
    progress: &WriteProgress,
    arrived: f64,
    seconds: f64,
    writers: &[Ran],
) -> Finding {
    let compresses = compression::cause(observed, Direction::Write).is_some();
    let compressed = if compresses { "compressed, or " } else { "" };
    let end = observed.host.after_flush.as_ref().and_then(dirty_of_files).unwrap_or(0.0);
    let still_dirty = end > DIRTY_LEFT.value * progress.written;
    let rest = if still_dirty {
        format!("{} are still dirty in memory", fmt::size(end))
    } else {
        format!("the rest was {compressed}overwritten in memory")
    };
    let sentence = format!(
        "{} of the bytes written ever reached {}, final flush included: {}; {rest}, and {} is the \
         speed of memory.",
        only(ratio(arrived, progress.written)),
        observed.device_names(),
        fmt::rate(ratio(arrived, seconds)),
        memory_rate(observed)
    );
    let command = writers.first().and_then(|ran| Command::of(observed.plan, &ran.planned));
    let advice = if still_dirty {
        "The flush wrote nothing: find the library, the mount option (volatile) or the layer \
             that swallows it, or write directly."
    } else {
        "Write each place once, on a file larger than memory, or write directly."
    };
    draft(observed, progress, Severity::Wrong, sentence)
        .measures(MeasuredInstead::PageCacheWrites)
        .limits(Limit::PageCacheWrites)
        .advice(advice, command.map(|command| command.direct(observed)))
        .done()
}

fn no_flush(observed: &Observed, progress: &WriteProgress, writers: &[Ran]) -> Finding {
    let rate = memory_rate(observed);
    let reached = share(progress);
    let how_much = if reached < 0.5 { "" } else { "partly " };
    let sentence = format!(
        "{} of the bytes written had reached {} when the clock stopped; {rate} is {how_much}the \
         speed of memory.",
        only(reached),
        observed.device_names()
    );
    let command = writers.first().and_then(|ran| Command::of(observed.plan, &ran.planned));
    // What is overwritten in memory is gone before any flush, and time lets a faster run go on.
    let by_time = |ran: &Ran| ran.job.stop.as_ref().unwrap_or(&ran.phase.stop).time.is_some();
    // Places that are drawn meet some of them again, from a tenth of the file on more than 5 %.
    let drawn = |ran: &Ran| !ran.blocks.access.is_finite();
    let once = |cache: CacheState| {
        let most = if writers.iter().any(drawn) { DRAWN_ONCE.value } else { 1.0 };
        progress.written <= most * cache.size_bytes as f64 && !writers.iter().any(by_time)
    };
    let in_tree: Vec<_> =
        small_files(observed).iter().flat_map(|names| names.synced(observed)).collect();
    let flushes = !in_tree.is_empty() || observed.host.after.cache.is_some_and(once);
    let (advice, command) = if flushes {
        (
            "Flush at the end, which also reports the rate to the device, or write directly.",
            command.map(Command::fsync_end),
        )
    } else {
        (
            "Write directly; or write each offset once, and flush at the end.",
            command.map(|command| command.direct(observed)),
        )
    };
    draft(observed, progress, Severity::Wrong, sentence)
        .measures(MeasuredInstead::PageCacheWrites)
        .limits(Limit::PageCacheWrites)
        .advice(advice, command)
        .changes(in_tree)
        .done()
}

/// `Only 11 %`, `Less than 0.1 %`, `None`: of the bytes.
fn only(share: f64) -> String {
    if share <= 0.0 {
        return "None".to_owned();
    }
    let text = fmt::percent(share);
    text.strip_prefix("less").map_or(format!("Only {text}"), |rest| format!("Less{rest}"))
}

fn draft(
    observed: &Observed,
    progress: &WriteProgress,
    severity: Severity,
    sentence: String,
) -> FindingBuilder {
    let dirty = progress.dirty.map(|(bytes, from)| {
        ("dirty or being written at the end".into(), Quantity::bytes(bytes), from.into())
    });
    FindingBuilder::new("A3", severity, sentence)
        .confidence(match (progress.on_device, progress.dirty) {
            (Some(_), Some((_, from))) if from == OF_FILES => Confidence::Certain,
            _ => Confidence::Likely,
        })
        .evidence("bytes written", Quantity::bytes(progress.written), "candor")
        .evidence_if(coverage::device_evidence(observed, Direction::Write))
        .evidence_if(dirty)
        .evidence_if(after_flush(observed))
}

fn after_flush(observed: &Observed) -> Option<(String, Quantity, String)> {
    let end = observed.host.after_flush.as_ref()?;
    let flow = observed.counted_until(end)?;
    let what = format!("written by {} after the flush", observed.device_names());
    Some((what, Quantity::bytes(flow.write.bytes), coverage::stat_of(observed)))
}

#[cfg(test)]
mod tests {
    use candor_plan::Stop;
    use candor_record::VmStat;

    use super::*;
    use crate::testcase::{TestCase, moved, proposes};

    /// 64 KiB, as `dd` writes them: the journal wrote more to the device.
    #[test]
    fn a_few_bytes_that_stayed_in_memory_are_the_page_cache() {
        fn few(dirty: u64) -> TestCase {
            let mut case = TestCase::buffered_write();
            let side = case.measured().of_mut(Direction::Write);
            (side.ops, side.bytes) = (16, 65_536);
            case.host.after.cache.as_mut().unwrap().dirty_bytes = Some(dirty);
            case.after_disk(moved(Direction::Write, 2, 8192));
            case
        }
        let judged = few(65_536).judge();
        assert_eq!(judged.finding("A3").unwrap().measures, Some(MeasuredInstead::PageCacheWrites));
        assert!(judged.finding("A19").is_none());
        assert_eq!(few(0).found(&RULE), [], "the kernel has written them");
    }

    #[test]
    fn pages_whose_bytes_a_journal_has_are_not_in_memory_only() {
        let mut case = TestCase::buffered_write();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.after_disk(moved(Direction::Write, 100, 2 * bytes));
        case.host.after.process_io.as_mut().unwrap().write_bytes = bytes;
        let cache =
            CacheState { size_bytes: bytes, dirty_bytes: Some(bytes), ..CacheState::default() };
        case.host.after.cache = Some(cache);
        assert_eq!(case.found(&RULE).len(), 1);
        case.host.facts.targets[0].filesystem.as_mut().unwrap().options = "rw,data=journal".into();
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn nothing_is_no_share() {
        assert_eq!([only(0.0), only(0.0004), only(0.11)], ["None", "Less than 0.1 %", "Only 11 %"]);
    }

    #[test]
    fn writes_that_stay_dirty_are_memory() {
        let found = TestCase::buffered_write().found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert_eq!(
            found[0].sentence,
            "Only 11 % of the bytes written had reached vda when the clock stopped; 2.37 GB/s \
             (2.2 GiB/s) is the speed of memory."
        );
        assert!(proposes(&found[0], "blocks.direct=true"), "no flush brings what was overwritten");
        let mut once = TestCase::buffered_write();
        let bytes = once.record.measurements[0].of(Direction::Write).bytes;
        once.host.after.cache.as_mut().unwrap().size_bytes = bytes;
        assert!(proposes(&once.found(&RULE)[0], "blocks.direct=true"), "time may let it go on");
        once.plan.phases[0].stop = Stop { passes: Some(1), ..Stop::default() };
        once.blocks().access = candor_plan::blocks::Access::Random;
        assert!(proposes(&once.found(&RULE)[0], "blocks.direct=true"), "draws meet places again");
        once.blocks().access = candor_plan::blocks::Access::Permutation;
        assert!(proposes(&once.found(&RULE)[0], "durability.fsync_at_end=true"));
    }

    #[test]
    fn with_a_final_flush_both_rates_are_given() {
        let mut case = TestCase::buffered_write();
        case.blocks().durability.fsync_at_end = true;
        case.measured().elapsed_with_flush_ns = Some(76_370_000_000);
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Explains);
        assert_eq!(
            found[0].sentence,
            "The rate includes the final flush. Before it, 11 % had reached vda, and 2.37 GB/s \
             (2.2 GiB/s) was the speed of memory."
        );
        let headline = flushed(1.0).judge().headline;
        assert!(headline.contains("= 310 MB/s"), "{headline}");
    }

    /// With a final flush after which the device had this share of the bytes.
    fn flushed(share: f64) -> TestCase {
        let mut case = TestCase::buffered_write();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.blocks().durability.fsync_at_end = true;
        case.measured().elapsed_with_flush_ns = Some(76_370_000_000);
        let mut end = case.host.after.clone();
        end.devices[0].1 = moved(Direction::Write, 1000, (bytes as f64 * share) as u64);
        end.cache.as_mut().unwrap().dirty_bytes = Some(0);
        case.host.after_flush = Some(end);
        case
    }

    /// A library or a mount option made nothing of the flush: no page was overwritten.
    #[test]
    fn pages_that_a_flush_left_dirty_are_named() {
        let mut case = flushed(0.0);
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        let end = case.host.after_flush.as_mut().unwrap();
        end.cache.as_mut().unwrap().dirty_bytes = Some(bytes);
        let found = case.found(&RULE);
        let sentence = &found[0].sentence;
        assert!(sentence.contains("are still dirty in memory, and"), "{sentence}");
        assert!(found[0].advice.contains("The flush wrote nothing"), "{}", found[0].advice);
    }

    #[test]
    fn bytes_that_no_flush_brings_to_the_device_are_memory() {
        let whole = flushed(1.0).found(&RULE);
        assert_eq!(whole[0].severity, Severity::Explains);
        let found = flushed(0.003).found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert_eq!(
            found[0].sentence,
            "Only 0.3 % of the bytes written ever reached vda, final flush included: 930 kB/s (908 \
             KiB/s); the rest was overwritten in memory, and 2.37 GB/s (2.2 GiB/s) is the speed of \
             memory."
        );
    }

    #[test]
    fn pages_that_were_dirty_before_reach_the_device_as_well() {
        let mut case = flushed(1.0);
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        // The phase wrote into pages that an earlier command had made dirty.
        case.host.after.process_io.as_mut().unwrap().write_bytes = 0;
        assert!(case.found(&RULE)[0].sentence.starts_with("None of the bytes"));
        case.host.before.cache.as_mut().unwrap().dirty_bytes = Some(bytes);
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Explains, "{}", found[0].sentence);
    }

    #[test]
    fn rare_flushes_bring_no_more_than_what_was_not_overwritten() {
        let mut case = TestCase::buffered_write();
        case.blocks().durability.fsync_every = 1000;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Wrong);
    }

    #[test]
    fn writes_of_others_are_not_ours() {
        let mut case = TestCase::buffered_write();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.host.after.cache.as_mut().unwrap().dirty_bytes = Some(0);
        case.after_disk(moved(Direction::Write, 1000, bytes));
        assert_eq!(case.found(&RULE), []);
        case.host.after.process_io.as_mut().unwrap().write_bytes /= 10;
        assert_eq!(case.found(&RULE).len(), 1, "no more than a tenth can be ours");
    }

    #[test]
    fn durable_writes_and_direct_ones_are_silent() {
        let mut case = TestCase::buffered_write();
        case.blocks().durability.open = candor_plan::blocks::OpenSync::Dsync;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::direct_write().found(&RULE), []);
    }

    #[test]
    fn direct_writes_that_the_filesystem_buffers_are_not() {
        let mut case = TestCase::buffered_write();
        case.blocks().direct = true;
        assert_eq!(case.found(&RULE), []);
        case.file().direct = candor_record::facts::DirectIo::Unsupported;
        assert_eq!(case.found(&RULE).len(), 1);
    }

    #[test]
    fn a_long_run_that_the_kernel_wrote_out_is_silent() {
        let mut case = TestCase::buffered_write();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.after_disk(moved(Direction::Write, 1000, bytes / 100 * 97));
        case.host.after.cache.as_mut().unwrap().dirty_bytes = Some(bytes / 100 * 3);
        assert_eq!(case.found(&RULE), []);
        case.host.after.cache.as_mut().unwrap().dirty_bytes = Some(bytes / 10);
        assert_eq!(case.found(&RULE), [], "whole folios are counted, and the device has it all");
        case.after_disk(moved(Direction::Write, 1000, bytes * 2));
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.starts_with("Only 90 % of the bytes"), "a journal wrote too: {sentence}");
        case.blocks().durability.fdatasync_every = 1;
        assert_eq!(case.found(&RULE), [], "no more than one write can be dirty");
    }

    #[test]
    fn pages_that_somebody_else_made_dirty_are_not_ours() {
        let mut case = TestCase::buffered_write();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.after_disk(moved(Direction::Write, 1000, bytes));
        case.host.after.cache.as_mut().unwrap().dirty_bytes = None;
        let idle = VmStat::default();
        case.host.before.vmstat = Some(idle);
        case.host.after.vmstat = Some(VmStat { dirty_bytes: bytes / 10, ..idle });
        assert_eq!(case.found(&RULE), []);
        case.host.facts.targets[0].device = None;
        assert_eq!(case.found(&RULE).len(), 1, "nobody else can tell");
    }

    #[test]
    fn without_any_counter_it_says_what_it_lacked() {
        let mut case = TestCase::buffered_write();
        case.host.facts.targets[0].device = None;
        (case.host.after.cache, case.host.after.vmstat) = (None, None);
        assert!(case.lacked(&RULE).unwrap().contains("dirty pages"));
    }
}
