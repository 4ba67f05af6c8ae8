//! C1: operations are split on the way to the device.

use std::cmp::Reverse;

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, DeviceKind, value};
use candor_record::fmt::{self, ratio};
use candor_record::requests::{RequestOp, share_of};
use candor_record::{Confidence, EngineUsed, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::flow::Side;
use crate::foreign;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{
    BYTES_MIN, COMMON, FOREIGN_REQUEST, OURS_LEAST, OURS_MOST, SPLIT, SPLIT_CLEAR, SPLIT_NEAR,
};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C1",
        title: "operations are split",
        explanation: "A device accepts requests up to a maximum size and number of segments; a \
            striped device accepts no request across a chunk. The kernel splits larger requests, \
            so iostat shows more and smaller requests than the application issued. candor compares \
            the mean size of the device's requests with the mean size of the operations. If the \
            block tracer separates candor's own requests from others, candor uses its own requests \
            only. candor names the matching limit (max_sectors_kb, max_segments, chunk, short \
            extents of the files). The number is correct. Raise the limit up to max_hw_sectors_kb, \
            use huge-page buffers, or use the split size as the operation size. If the pages of a \
            buffer are not contiguous in memory, each page is a separate segment. For large \
            buffers of direct I/O candor uses huge pages if the kernel has some; segments are then \
            no limit.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

/// A split, as one device shows it.
struct Split<'a> {
    op: Direction,
    device: &'a DeviceFacts,
    operation: f64,
    piece: f64,
    requests: f64,
    /// Source of the requests.
    from: String,
    /// Others may have made most of the requests beyond ours, so that only a size that fits a limit
    /// tells of ours.
    with_others: bool,
}

/// A multiple of the sectors of every device.
const SECTOR: u64 = 4096;

/// A size beyond which requests are split.
#[derive(Clone)]
struct Bound {
    bytes: f64,
    name: String,
    by: By,
}

/// Origin of such a size.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Size of requests that the queue is set to.
    Queue,
    /// Pages of buffers that lie apart in memory.
    Pages,
    /// Chunks of an array, or a boundary of the device.
    Chunks,
    /// Extents of the files.
    Extents,
}

impl By {
    fn advice(self) -> &'static str {
        match self {
            By::Queue => {
                "Accept the split, raise the limit up to max_hw_sectors_kb, or use the split size \
                 as the operation size."
            }
            By::Pages => {
                "The buffers' pages are not contiguous in memory: use huge pages (transparent, or \
                 reserved by vm.nr_hugepages), or use the split size as the operation size."
            }
            By::Chunks => "Accept the split, or use the split size as the operation size.",
            By::Extents => {
                "Accept the split, lay the file out again on a filesystem with room for long \
                 extents, or use the split size as the operation size."
            }
        }
    }
}

fn after(observed: &Observed) -> Outcome {
    let app = observed.app_all();
    if app.bytes < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    if observed.top.is_none() {
        return Outcome::lacks("the number of requests of the device");
    }
    let found =
        [Direction::Read, Direction::Write].into_iter().filter_map(|op| of_side(observed, op));
    found.collect::<Vec<_>>().into()
}

/// The first device from the top whose requests are smaller than the operations.
fn of_side(observed: &Observed, op: Direction) -> Option<Finding> {
    let app = observed.app(op);
    let operation = ratio(app.bytes, app.ops);
    // Where nobody knows which are ours, the device's mean request tells of ours only where its
    // bytes are ours.
    let top = observed.top.map_or(0.0, |top| top.side(op).bytes);
    let alone = (OURS_LEAST.value..OURS_MOST.value).contains(&ratio(top, app.bytes));
    let splits = observed.devices().into_iter().filter_map(|device| {
        let flow = observed.flow_of(&device.name)?;
        let own = foreign::own_requests(observed, &device.name, op);
        if own.is_none() && !alone {
            return None;
        }
        let with_others = own.is_none() && of_others(observed, flow.side(op), op);
        let side = own.unwrap_or(flow.side(op));
        let piece = ratio(side.bytes, side.requests);
        let known = side.bytes >= BYTES_MIN.value && app.bytes >= BYTES_MIN.value && piece > 0.0;
        let from = match own {
            Some(_) => "requests that candor issued, by the block tracer".to_owned(),
            None => format!("/sys/class/block/{}/stat", device.name),
        };
        let requests = side.requests;
        known.then_some(Split { op, device, operation, piece, requests, from, with_others })
    });
    splits.filter(|split| split.operation >= SPLIT.value * split.piece).find_map(|split| {
        let limits = limits(observed, split.device);
        let cause = extents(observed, &split).or_else(|| cause(&limits, &split));
        // Where every limit is known and none is small enough, small requests are other people's,
        // or metadata.
        let alone = limits.is_empty() && !split.with_others;
        let unknown = alone && split.operation >= SPLIT_CLEAR.value * split.piece;
        (cause.is_some() || unknown).then(|| finding(observed, &split, cause.as_ref()))
    })
}

/// Others may have made most of the requests beyond ours.
fn of_others(observed: &Observed, side: Side, op: Direction) -> bool {
    let app = observed.app(op);
    let beyond = (side.requests - app.ops).max(0.0);
    // A direct operation moves its own bytes and no more.
    let theirs = if observed.all_direct() { side.bytes - app.bytes } else { 0.0 };
    foreign::matters(observed) || theirs / FOREIGN_REQUEST.value > 0.5 * beyond
}

/// Limits of a device's requests; a partition has those of its disk.
fn limits(observed: &Observed, device: &DeviceFacts) -> Vec<Bound> {
    let disk = match device.kind {
        DeviceKind::Partition => device.below.iter().find_map(|name| observed.facts.device(name)),
        _ => None,
    };
    let queue = &disk.unwrap_or(device).queue;
    let bound = |bytes: f64, name, by| Bound { bytes, name, by };
    let max = value(&queue.max_request_bytes).map(|bytes| *bytes as f64);
    let chunk = value(&queue.chunk_bytes).map(|bytes| *bytes as f64).filter(|bytes| *bytes > 0.0);
    let named = [
        max.map(|bytes| {
            bound(bytes, format!("max_sectors_kb = {}", fmt::number(bytes / 1024.0)), By::Queue)
        }),
        value(&queue.max_segments).and_then(|count| segments(observed, *count as f64)),
        chunk.map(|bytes| bound(bytes, format!("chunk = {}", fmt::size(bytes)), By::Chunks)),
    ];
    named.into_iter().flatten().collect()
}

/// The limit of so many segments: each page is one, unless buffers are in huge pages.
fn segments(observed: &Observed, count: f64) -> Option<Bound> {
    let huge = observed.ran.iter().all(|ran| {
        ran.measured.engine.features.iter().any(|feature| feature == EngineUsed::HUGE_PAGES)
    });
    let page_bytes = observed.page_bytes() as f64;
    let name = format!("max_segments = {} pages of {}", fmt::number(count), fmt::size(page_bytes));
    // Pages of the cache are the kernel's, not those of a buffer.
    let by = if observed.all_direct() { By::Pages } else { By::Queue };
    (!huge).then_some(Bound { bytes: count * page_bytes, name, by })
}

/// The mean length of the extents of the files, across which no request goes, where pieces have it.
fn extents(observed: &Observed, split: &Split) -> Option<Bound> {
    // Extents are then units of compression, of which requests hold several.
    if observed
        .targets()
        .iter()
        .any(|target| target.holding().is_some_and(candor_record::facts::Filesystem::may_compress))
    {
        return None;
    }
    let files = observed.files(&observed.targets());
    let known: Option<Vec<_>> = files.iter().map(|file| value(&file.extents)).collect();
    let sums = known?.into_iter().fold((0.0, 0.0), |(bytes, count), extents| {
        (bytes + extents.mapped_bytes as f64, count + extents.count as f64)
    });
    let bytes = ratio(sums.0, sums.1);
    let fits = bytes > 0.0 && (ratio(split.piece, bytes) - 1.0).abs() <= SPLIT_NEAR.value;
    let name = format!("extents of {}", fmt::size(bytes));
    fits.then_some(Bound { bytes, name, by: By::Extents })
}

/// The limit whose work this is: the one that the mean piece fits, else the smallest that is
/// smaller than the operation.
fn cause(limits: &[Bound], split: &Split) -> Option<Bound> {
    let binding = limits.iter().filter(|limit| limit.bytes < split.operation);
    let fits = |limit: &&Bound| (ratio(split.piece, limit.bytes) - 1.0).abs() <= SPLIT_NEAR.value;
    // A mean beside requests of others fits by chance only, unless there are just as many pieces.
    let smallest = || {
        binding.clone().min_by(|a, b| a.bytes.total_cmp(&b.bytes)).filter(|limit| {
            let pieces = (split.operation / limit.bytes).ceil();
            let times = ratio(split.operation, split.piece);
            !split.with_others || (ratio(times, pieces) - 1.0).abs() <= SPLIT_NEAR.value
        })
    };
    binding.clone().find(fits).or_else(smallest).cloned()
}

/// The sizes that most requests had, where they were seen one by one and are not alike: a mean
/// of 512 KiB can be 1016 KiB and 8 KiB in turn.
fn unlike(observed: &Observed, split: &Split) -> Option<String> {
    let direction = if split.op == Direction::Read { RequestOp::Read } else { RequestOp::Write };
    let all = observed.host.requests.as_ref()?.of(&split.device.name, direction)?;
    let seen = all.own().unwrap_or(all);
    let mut sizes = seen.sizes();
    sizes.retain(|(_, count)| share_of(*count, seen.count) >= COMMON.value);
    let named: u64 = sizes.iter().map(|(_, count)| count).sum();
    sizes.sort_unstable_by_key(|(bytes, _)| Reverse(*bytes));
    let names: Vec<String> = sizes.iter().map(|(bytes, _)| fmt::size(*bytes as f64)).collect();
    let most = names.len() > 1 && share_of(named, seen.count) >= 1.0 - COMMON.value;
    most.then(|| names.join(" and "))
}

fn finding(observed: &Observed, split: &Split, cause: Option<&Bound>) -> Finding {
    let factor = fmt::number(split.operation / split.piece);
    let why = cause.map_or(String::new(), |cause| format!(" ({})", cause.name));
    let pieces = match unlike(observed, split) {
        Some(sizes) => format!("{factor} requests, of {sizes},"),
        None => format!("{factor} × {}", fmt::size(split.piece)),
    };
    let sentence = format!(
        "Each {} {} became {pieces} on {}{why}.",
        fmt::size(split.operation),
        split.op.name(),
        split.device.name
    );
    let command = observed.main_job().and_then(|job| Command::of(observed.plan, &job.planned));
    let by = cause.map_or(By::Queue, |cause| cause.by);
    let command = cause.zip(command).map(|(cause, command)| match by {
        By::Pages => command.huge_pages(),
        // The mean of extents is of any length, and direct I/O takes whole sectors.
        _ => command.bs((cause.bytes as u64).max(SECTOR) / SECTOR * SECTOR),
    });
    FindingBuilder::new("C1", Severity::Explains, sentence)
        .confidence(if cause.is_some() { Confidence::Likely } else { Confidence::Possible })
        .evidence("size of an operation", Quantity::bytes(split.operation), "candor")
        .evidence("mean size of a request", Quantity::bytes(split.piece), &*split.from)
        .evidence("requests", Quantity::count(split.requests), &*split.from)
        .advice(by.advice(), command)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::requests::{Issuer, RequestStats, Requests};

    use super::*;
    use crate::testcase::{MIB, TestCase, fact, proposes};

    fn split(direct: bool, limit_kib: u64, pieces: u64) -> TestCase {
        let mut case = TestCase::direct(MIB, 1, 1, 519.0).on_loop(true);
        case.blocks().direct = direct;
        case.host.facts.devices[0].queue.max_request_bytes = fact(limit_kib * 1024);
        case.after_top().reads = 5190 * pieces;
        case
    }

    #[test]
    fn a_quarter_each_is_named_with_its_limit() {
        for direct in [true, false] {
            let found = split(direct, 256, 4).found(&RULE);
            assert_eq!(
                found[0].sentence,
                "Each 1 MiB read became 4 × 256 KiB on loop0 (max_sectors_kb = 256)."
            );
            assert_eq!(found[0].severity, Severity::Explains);
        }
    }

    #[test]
    fn segments_are_named_where_they_bind() {
        let found = split(true, 1280, 2).found(&RULE);
        assert!(found[0].sentence.contains("2 × 512 KiB on loop0 (max_segments = 128 pages"));
        assert!(proposes(&found[0], "blocks.hints.huge_pages=true"));
        let mut huge = split(true, 1280, 2);
        huge.measured().engine.features = vec![EngineUsed::HUGE_PAGES.into()];
        assert_eq!(huge.found(&RULE), [], "a huge page is one segment");
        let buffered = split(false, 1280, 2).found(&RULE);
        assert!(proposes(&buffered[0], "blocks.size=512k"), "pages of the cache");
    }

    /// Reads of 1 MiB beside so many small ones of others.
    fn beside(others: u64) -> TestCase {
        let mut case = TestCase::direct(MIB, 1, 1, 519.0);
        case.disk().queue.max_segments = fact(128);
        let top = case.after_top();
        (top.reads, top.read_sectors) = (top.reads + others, top.read_sectors + others * 8);
        case
    }

    #[test]
    fn small_requests_of_others_are_no_split_of_ours() {
        let mut case = beside(16_000);
        assert_eq!(case.found(&RULE), [], "their bytes are beyond ours");
        let issuer = |pid, count, bytes| Issuer { pid, command: String::new(), count, bytes };
        let of = |own: Issuer| {
            let issuers = vec![own, issuer(9, 16_000, 16_000 << 12)];
            let seen = Requests { device: "vda".into(), issuers, ..Requests::default() };
            Some(RequestStats { own_pid: 7, requests: vec![seen], ..RequestStats::default() })
        };
        case.host.requests = of(issuer(7, 5190, 5190 << 20));
        assert_eq!(case.found(&RULE), [], "ours are whole");
        case.host.requests = of(issuer(7, 10_380, 5190 << 20));
        assert!(case.found(&RULE)[0].sentence.contains("became 2 × 512 KiB on vda"));
    }

    /// Sizes of requests of others are none of ours, whatever they moved.
    #[test]
    fn own_requests_are_told_by_their_own_sizes() {
        let mut case = beside(40_000);
        let own = Issuer { pid: 7, command: String::new(), count: 10_380, bytes: 5190 << 20 };
        let dd = Issuer { pid: 9, command: "dd".into(), count: 40_000, bytes: 40_000 << 12 };
        let shapes = |count, bytes, sizes: &[(u64, u64)]| Requests {
            device: "vda".into(),
            sizes_log2: sizes.to_vec(),
            sizes_4k: sizes.to_vec(),
            count,
            bytes,
            ..Requests::default()
        };
        let mut seen = shapes(50_380, own.bytes + dd.bytes, &[(4096, 40_000), (524_288, 10_380)]);
        seen.own = Some(Box::new(shapes(10_380, own.bytes, &[(524_288, 10_380)])));
        seen.issuers = vec![own, dd];
        let stats = RequestStats { own_pid: 7, requests: vec![seen], ..RequestStats::default() };
        case.host.requests = Some(stats);
        let found = &case.found(&RULE)[0];
        assert!(found.sentence.contains("became 2 × 512 KiB on vda"), "{}", found.sentence);
        assert!(found.evidence[1].source.contains("block tracer"), "{:?}", found.evidence);
    }

    /// Pages that the cache lacked were read in small pieces, of which each is one of ours.
    #[test]
    fn requests_for_the_rest_that_a_cache_lacked_are_no_split() {
        let mut case = split(false, 256, 4);
        let bytes = 5190 << 18;
        let top = case.after_top();
        (top.reads, top.read_sectors) = (100_000, bytes / 512);
        let own = Issuer { pid: 7, command: String::new(), count: 100_000, bytes };
        let seen = Requests { device: "loop0".into(), issuers: vec![own], ..Requests::default() };
        let stats = RequestStats { own_pid: 7, requests: vec![seen], ..RequestStats::default() };
        case.host.requests = Some(stats);
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn short_extents_are_named_where_they_bind() {
        let mut case = TestCase::direct(MIB, 1, 1, 519.0);
        let extents = &mut case.file().extents.as_mut().unwrap().value;
        extents.count = extents.mapped_bytes / 65_536;
        case.disk().queue.max_segments = fact(128);
        case.after_top().reads *= 16;
        let sentence = case.found(&RULE)[0].sentence.clone();
        assert_eq!(sentence, "Each 1 MiB read became 16 × 64 KiB on vda (extents of 64 KiB).");
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "erofs".into();
        assert!(!case.found(&RULE)[0].sentence.contains("extents"), "clusters of compressed data");
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "ext4".into();
        let advice = &case.found(&RULE)[0].advice;
        assert!(advice.contains("long extents") && !advice.contains("sectors"), "{advice}");
        case.file().extents.as_mut().unwrap().value.count -= 100;
        assert!(proposes(&case.found(&RULE)[0], "blocks.size=64k"), "whole sectors");
    }

    /// Requests of a disk whose driver takes 254 segments.
    #[test]
    fn pieces_that_are_not_alike_are_named_where_they_were_seen() {
        let mut case = split(true, 1280, 2);
        case.host.facts.devices[0].queue.max_segments = fact(254);
        let seen = Requests {
            device: "loop0".into(),
            count: 10_000,
            sizes_4k: vec![(8192, 4990), (4096, 20), (1016 << 10, 4990)],
            ..Requests::default()
        };
        case.host.requests = Some(RequestStats { requests: vec![seen], ..RequestStats::default() });
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Each 1 MiB read became 2 requests, of 1016 KiB and 8 KiB, on loop0 (max_segments = \
             254 pages of 4 KiB)."
        );
    }

    #[test]
    fn whole_requests_and_foreign_small_ones_are_silent() {
        assert_eq!(TestCase::direct(4096, 32, 1, 60_000.0).found(&RULE), []);
        assert_eq!(TestCase::direct(MIB, 1, 1, 500.0).found(&RULE), []);
        let mut case = TestCase::direct(128 * 1024, 1, 1, 500.0);
        case.after_top().reads *= 2;
        assert_eq!(case.found(&RULE), [], "no limit of this disk is below 1 MiB");
    }

    #[test]
    fn empty_flushes_of_synchronous_writes_are_not_pieces() {
        let mut case = TestCase::direct_write();
        let top = case.after_top();
        (top.flushes, top.writes) = (top.writes, 2 * top.writes);
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn without_device_it_says_so() {
        let mut case = TestCase::direct(MIB, 1, 1, 500.0);
        case.host.facts.targets[0].device = None;
        assert!(case.lacked(&RULE).is_some());
    }
}
