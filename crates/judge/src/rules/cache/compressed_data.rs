//! A11: fewer bytes reached the device than were written or read: they were compressed.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, MeasuredInstead, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::compression;
use crate::coverage;
use crate::flow::Flow;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, SAVED};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A11",
        title: "the data was compressed",
        explanation: "A filesystem that compresses, or stores equal blocks once, moves fewer bytes \
            than the application. 64 MiB of zeros become 2 MiB on btrfs with zstd, with direct I/O \
            too, although the file shows its full size. candor compares the device's bytes with \
            the bytes written (flushes included) or read. The check applies if the mount options, \
            the extents or the filesystem type (erofs, squashfs, f2fs) indicate compression. \
            Buffered reads count if the files were not in the page cache. Use data that does not \
            compress, or state the ratio.",
    },
    stage: Stage::Detour,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let sides = [Direction::Write, Direction::Read];
    let causes = sides.into_iter().filter_map(|op| Some((op, compression::cause(observed, op)?)));
    let causes: Vec<(Direction, (String, String))> = causes.collect();
    if causes.is_empty() || observed.blind() || observed.all_memory() {
        return Outcome::Nothing;
    }
    let known =
        causes.into_iter().filter_map(|(op, cause)| Some((op, moved(observed, op)?, cause)));
    let known: Vec<_> = known.collect();
    if known.is_empty() {
        return Outcome::lacks("the counters of the device, or a flush of data written once");
    }
    let found = known.into_iter().filter_map(|(op, bytes, cause)| {
        let app = observed.app(op).bytes;
        let saved =
            app >= BYTES_MIN.value && ratio(bytes + observed.slack_bytes(op), app) < SAVED.value;
        saved.then(|| finding(observed, op, app, bytes, &cause))
    });
    found.collect::<Vec<_>>().into()
}

/// Bytes that the device moved, where all of what was written had to reach it, and where what was
/// read could not come from the page cache.
fn moved(observed: &Observed, op: Direction) -> Option<f64> {
    let mut jobs = observed.ran.iter().filter(|ran| ran.does(op)).peekable();
    jobs.peek()?;
    let cold = op == Direction::Read && coverage::of_reads(observed).is_full();
    let reached = |ran: &Ran| match op {
        Direction::Write => {
            ran.blocks.direct || ran.durable() || ran.blocks.durability.fsync_at_end
        }
        _ => ran.blocks.direct || cold,
    };
    let once = op == Direction::Read || written_once(observed);
    if !jobs.all(|ran| reached(ran) && (once || ran.blocks.direct || ran.durable())) {
        return None;
    }
    if let Some(fetched) = observed.process(op).filter(|_| cold && !observed.all_direct()) {
        return Some(fetched);
    }
    let end = observed.host.after_flush.as_ref().unwrap_or(&observed.host.after);
    Some(Flow::between(&observed.tops(), &observed.host.before, end)?.side(op).bytes)
}

/// No more was written than the files hold: what is overwritten in the page cache never reaches a
/// device, compressed or not.
fn written_once(observed: &Observed) -> bool {
    let written = observed.app(Direction::Write).bytes;
    observed.host.after.cache.is_none_or(|cache| written <= cache.size_bytes as f64)
}

fn finding(
    observed: &Observed,
    op: Direction,
    app: f64,
    moved: f64,
    (what, from): &(String, String),
) -> Finding {
    let (verb, done) = if op == Direction::Write { ("wrote", "written") } else { ("read", "read") };
    let times = match ratio(app, moved) {
        times if times > 0.0 => format!("{}:1", fmt::number(times)),
        _ => "to nothing".into(),
    };
    let sentence = format!(
        "The data compressed {times}: {} {verb} {} of the {} {done}.",
        observed.device_names(),
        fmt::size(moved),
        fmt::size(app)
    );
    FindingBuilder::new("A11", Severity::Wrong, sentence)
        .confidence(Confidence::Likely)
        .measures(MeasuredInstead::CompressedData)
        .evidence(format!("bytes {done}"), Quantity::bytes(app), "candor")
        .evidence("bytes on the device", Quantity::bytes(moved), coverage::stat_of(observed))
        .evidence("compression", what.clone(), from.clone())
        .advice("Use random content that does not repeat, or state the ratio.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::CacheState;

    use super::*;
    use crate::testcase::{TestCase, moved as counters};

    fn on_btrfs(mut case: TestCase, options: &str) -> TestCase {
        let on = case.host.facts.targets[0].filesystem.as_mut().unwrap();
        (on.kind, on.options) = ("btrfs".into(), options.into());
        on.mount_point = "/data".into();
        case
    }

    fn compressed(options: &str) -> TestCase {
        let mut case = on_btrfs(TestCase::direct_write(), options);
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.after_disk(counters(Direction::Write, 100, bytes / 32));
        case
    }

    #[test]
    fn zeros_become_a_little() {
        let found = compressed("rw,compress=zstd:3").found(&RULE);
        assert!(found[0].sentence.starts_with("The data compressed 32:1: vda wrote"));
        assert_eq!(found[0].severity, Severity::Wrong);
        let mut encoded = compressed("rw");
        assert_eq!(encoded.found(&RULE), [], "nothing says that anything compresses");
        encoded.file().extents.as_mut().unwrap().value.encoded_bytes = 1 << 20;
        assert_eq!(encoded.found(&RULE).len(), 1);
    }

    /// A cold pass over a file of 256 MiB on erofs with lz4: the loop device gave 68 MB.
    #[test]
    fn a_cold_pass_over_a_packed_filesystem_is_compressed_and_not_cached() {
        let mut case = TestCase::direct(1 << 20, 1, 1, 25.6);
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "erofs".into();
        let blocks = case.blocks();
        (blocks.direct, blocks.access) = (false, candor_plan::blocks::Access::Sequential);
        for snapshot in [&mut case.host.before, &mut case.host.after] {
            snapshot.cache.as_mut().unwrap().size_bytes = 256 << 20;
        }
        case.process_read(68_500_000);
        case.after_disk(counters(Direction::Read, 238, 68_500_000));
        let judged = case.judge();
        let found = judged.finding("A11").expect("compressed");
        assert!(found.sentence.starts_with("The data compressed 3.92:1: vda read"), "{found:?}");
        assert_eq!(judged.finding("A1"), None);
        // The same from pages that were there before.
        case.host.before.cache.as_mut().unwrap().resident_bytes = 256 << 20;
        case.process_read(0);
        case.after_disk(Default::default());
        let judged = case.judge();
        assert!(judged.finding("A1").unwrap().sentence.starts_with("100 % of the bytes"));
        assert_eq!(judged.finding("A11"), None);
        // At random places requests decide.
        case.blocks().access = candor_plan::blocks::Access::Random;
        case.host.before.cache.as_mut().unwrap().resident_bytes = 0;
        case.process_read(68_500_000);
        case.after_disk(counters(Direction::Read, 256, 68_500_000));
        assert_eq!(case.judge().finding("A1"), None, "each read made a request");
    }

    /// Only stored bytes show that a filesystem compresses; a write may have been cached.
    #[test]
    fn a_kind_that_may_compress_accuses_no_write() {
        let mut case = TestCase::direct_write();
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "f2fs".into();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.after_disk(counters(Direction::Write, 100, bytes / 32));
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn bytes_that_were_overwritten_in_memory_were_not_compressed() {
        let mut case = compressed("rw,compress=zstd:3");
        case.blocks().direct = false;
        case.blocks().durability.fsync_at_end = true;
        case.host.after_flush = Some(case.host.after.clone());
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        let cached = |size_bytes| CacheState { size_bytes, ..CacheState::default() };
        case.host.after.cache = Some(cached(bytes));
        assert_eq!(case.found(&RULE).len(), 1);
        case.host.after.cache = Some(cached(bytes / 8));
        assert!(case.lacked(&RULE).is_some(), "nobody knows how much was left to compress");
    }

    #[test]
    fn random_data_and_unflushed_writes_are_silent() {
        let full = on_btrfs(TestCase::direct_write(), "rw,compress=zstd:3");
        assert_eq!(full.found(&RULE), []);
        let mut buffered = compressed("rw,compress=zstd:3");
        buffered.blocks().direct = false;
        assert!(buffered.lacked(&RULE).is_some(), "what is dirty was not compressed yet");
        assert_eq!(compressed("rw,compress=no").found(&RULE), []);
    }
}
