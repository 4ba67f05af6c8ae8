//! A13: loop devices and the cache of their backing file.

use candor_plan::blocks::{Access, Range};
use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, LoopBacking, PathKind, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, MeasuredInstead, Severity, Snapshot};

use crate::builder::FindingBuilder;
use crate::flow::Flow;
use crate::foreign;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::SetupFacts;
use crate::stage::Stage;
use crate::thresholds::{
    BYTES_MIN, COVERAGE_MEMORY, HOLES_MOST, LEAF_COVERAGE, LOOP_NEARLY, LOOP_SPARE, MAPPED,
    WRITTEN_OUT,
};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A13",
        title: "loop device over page cache",
        explanation: "A loop device reads and writes a file, by default through the page cache of \
            the file. Direct I/O on the loop is then still answered from memory, and the loop's \
            own counters count all of it. candor checks whether the loop bypasses the cache \
            (loop/dio), and reads the cached, allocated and compressed share of the file (FIEMAP). \
            candor compares the loop's bytes with the bytes of the disk below. Traffic of other \
            processes is subtracted if known; otherwise the result is unverified. If the disk \
            moved nine tenths of the bytes, the severity is caution; with less, the number is the \
            speed of memory, or a mix. Set up the loop with losetup --direct-io=on, on a fully \
            written file.",
    },
    stage: Stage::LowerCache,
    limit: Some(LimitClass::Memory),
    before: Some(before),
    after,
};

fn loops<'a>(setup: &SetupFacts<'a>) -> Vec<(&'a DeviceFacts, &'a LoopBacking)> {
    let devices = setup.devices().into_iter();
    devices.filter_map(|device| Some((device, device.loop_backing.as_ref()?))).collect()
}

fn before(setup: &SetupFacts) -> Outcome {
    let buffered = |(_, backing): &(_, &LoopBacking)| value(&backing.direct) == Some(&false);
    let found = loops(setup).into_iter().filter(buffered).map(|(device, backing)| {
        let sentence = format!(
            "{} uses the page cache of {}; direct I/O on it is not direct.",
            device.name, backing.file.value
        );
        draft(device, backing, Severity::Caution, sentence).done()
    });
    found.collect::<Vec<_>>().into()
}

fn after(observed: &Observed) -> Outcome {
    let mut found = Vec::new();
    for (device, backing) in loops(&observed.setup) {
        let Some(direct) = direct(observed, device, backing) else {
            return Outcome::lacks(format!("the direct I/O mode of {}", device.name));
        };
        let on = Loop { device, backing, direct };
        found.extend(match below(observed, &on) {
            Some(below) if below.share < below.least() => missed(observed, &on, &below),
            Some(below) if below.is_unsure => Some(unsure(observed, &on)),
            _ if !direct => Some(buffered(&on)),
            _ => None,
        });
    }
    found.into()
}

/// The loop bypassed the page cache throughout the phase.
fn direct(observed: &Observed, device: &DeviceFacts, backing: &LoopBacking) -> Option<bool> {
    let later = observed.host.later_facts.iter().filter_map(|later| {
        let device = later.facts.device(&device.name)?;
        value(&device.loop_backing.as_ref()?.direct).copied()
    });
    let start = value(&backing.direct).copied()?;
    Some(later.fold(start, |all, direct| all && direct))
}

/// A loop device gave a small part of the bytes from memory: a caution.
pub fn explains_rest(observed: &Observed) -> bool {
    loops(&observed.setup).into_iter().any(|(device, backing)| {
        let Some(direct) = direct(observed, device, backing) else { return false };
        let on = Loop { device, backing, direct };
        let small = |below: &Below| (LOOP_NEARLY.value..below.least()).contains(&below.share);
        below(observed, &on).filter(small).and_then(|below| missed(observed, &on, &below)).is_some()
    })
}

/// A loop device.
struct Loop<'a> {
    device: &'a DeviceFacts,
    backing: &'a LoopBacking,
    direct: bool,
}

/// Bytes that a loop moved in the main direction, and what the disks below moved for it.
struct Below {
    op: Direction,
    /// Share of them that the disks below moved, and what a cache may hide.
    share: f64,
    /// The same without that.
    moved: f64,
    /// All of the backing file was in the page cache all the time.
    is_cached: bool,
    /// Others used the disks, and nobody knows what of their bytes was whose.
    is_unsure: bool,
    /// Share of the backing file that has no data on the disks; absent where that is not known.
    empty: Option<f64>,
}

impl Below {
    fn least(&self) -> f64 {
        if self.op == Direction::Write { WRITTEN_OUT.value } else { LEAF_COVERAGE.value }
    }

    /// Parts without data are why the disks moved so little.
    fn is_empty(&self) -> bool {
        let empty = self.empty.filter(|_| self.op == Direction::Read);
        empty.is_some_and(|empty| empty >= 0.5 * (1.0 - self.share))
    }
}

fn below(observed: &Observed, on: &Loop) -> Option<Below> {
    let op = observed.main_op();
    let end = observed.host.after_flush.as_ref().unwrap_or(&observed.host.after);
    let upper = observed.flow_of(&on.device.name)?.side(op).bytes;
    let leaves = leaves(observed, on.device);
    let counted = leaves.iter().all(|leaf| value(&leaf.counts_io) != Some(&false));
    let lower = Flow::between(&leaves, &observed.host.before, end).filter(|_| counted)?;
    let empty = empty(observed, on);
    // A loop that bypasses the cache asks the disk for all that its file holds.
    let may_miss =
        !on.direct || is_compressed(on) || empty.is_none_or(|empty| empty > 1.0 - MAPPED.value);
    let others = foreign::share_below(observed, &leaves, op);
    let lower = (1.0 - others.unwrap_or(0.0)) * lower.side(op).bytes;
    let is_cached = op == Direction::Read && is_cached(observed, on);
    let share = ratio(lower + observed.slack_bytes(op), upper).min(1.0);
    let share = if is_cached { 0.0 } else { share };
    let moved = ratio(lower, upper).min(share);
    let may_hide = !on.direct || empty.is_some();
    let hidden = hidden(observed, empty, op);
    // Data in memory needs no disk: more than the rest can only be traffic of others.
    let most = 1.0 - in_memory(observed, on, op).max(hidden);
    let too_much = moved > most + LOOP_SPARE.value;
    let disturbed = others.is_none() && (foreign::matters(observed) || too_much);
    // Parts without data decide, whatever others moved.
    let has_holes = hidden > 1.0 - LOOP_NEARLY.value;
    let held = if disturbed && has_holes { 1.0 - hidden } else { 1.0 };
    let (share, moved) = (share.min(held), moved.min(held));
    let is_unsure = may_hide && !has_holes && disturbed;
    (may_miss && upper >= BYTES_MIN.value).then_some(Below {
        op,
        share,
        moved,
        is_cached,
        is_unsure,
        empty,
    })
}

/// The share of a backing file that has no data on the disks. Where a filesystem lies on the loop,
/// the parts of its own files are not known.
fn empty(observed: &Observed, on: &Loop) -> Option<f64> {
    let file = on.backing.stored.as_ref()?;
    let held = held(observed, on)? as f64;
    let known = observed.targets().into_iter().all(|target| target.kind == PathKind::Device)
        && !observed.written_before();
    (known && file.size_bytes > 0).then(|| (1.0 - ratio(held, file.size_bytes as f64)).max(0.0))
}

/// The data of a backing file: the least at any time.
fn held(observed: &Observed, on: &Loop) -> Option<u64> {
    let start = on.backing.stored.as_ref()?.data_bytes()?;
    let later = observed.host.later_facts.iter().filter_map(|later| {
        let device = later.facts.device(&on.device.name)?;
        device.loop_backing.as_ref()?.stored.as_ref()?.data_bytes()
    });
    Some(later.fold(start, u64::min))
}

/// The filesystem of a loop's file stores it compressed.
fn is_compressed(on: &Loop) -> bool {
    let extents = on.backing.stored.as_ref().and_then(|file| value(&file.extents));
    extents.is_some_and(|extents| extents.encoded_bytes > 0)
}

/// The share of the backing file that was in the page cache all the time, if reads go through it.
fn in_memory(observed: &Observed, on: &Loop, op: Direction) -> f64 {
    let share = |snapshot: &Snapshot| {
        let files = &snapshot.state.loop_files;
        let file = files.iter().find(|file| file.device == on.device.name);
        file.map_or(0.0, |file| {
            ratio(file.cache.resident_bytes as f64, file.cache.size_bytes as f64)
        })
    };
    let applies = !on.direct && op == Direction::Read;
    if applies { share(&observed.host.before).min(share(&observed.host.after)) } else { 0.0 }
}

/// The share without data, where all of the loop is read.
fn hidden(observed: &Observed, empty: Option<f64>, op: Direction) -> f64 {
    let evenly = |access: &Access| matches!(access, Access::Sequential | Access::Random);
    let applies = op == Direction::Read
        && observed
            .ran
            .iter()
            .all(|ran| ran.blocks.range == Range::default() && evenly(&ran.blocks.access));
    empty.filter(|_| applies).unwrap_or(0.0)
}

/// All of the backing file was in the page cache before the phase and after it.
fn is_cached(observed: &Observed, on: &Loop) -> bool {
    let all = |snapshot: &Snapshot| {
        let files = &snapshot.state.loop_files;
        let file = files.iter().find(|file| file.device == on.device.name)?;
        let (size, resident) = (file.cache.size_bytes as f64, file.cache.resident_bytes as f64);
        Some(size > 0.0 && resident >= LEAF_COVERAGE.value * size)
    };
    !on.direct
        && all(&observed.host.before) == Some(true)
        && all(&observed.host.after) == Some(true)
}

fn leaves<'a>(observed: &Observed<'a>, device: &DeviceFacts) -> Vec<&'a DeviceFacts> {
    let below = observed.chain(&device.name).into_iter().filter(|leaf| leaf.name != device.name);
    below.filter(|d| d.below.iter().all(|b| observed.facts.device(b).is_none())).collect()
}

fn names(observed: &Observed, device: &DeviceFacts) -> String {
    let leaves = leaves(observed, device);
    leaves.iter().map(|leaf| leaf.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn buffered(on: &Loop) -> Finding {
    let file = &on.backing.file.value;
    let sentence = format!("{} is backed by {file} through the page cache.", on.device.name);
    draft(on.device, on.backing, Severity::Caution, sentence).done()
}

fn unsure(observed: &Observed, on: &Loop) -> Finding {
    let disks = names(observed, on.device);
    let sentence = format!(
        "Other processes also used {disks}: the bytes moved for {} cannot be counted separately.",
        on.device.name
    );
    draft(on.device, on.backing, Severity::Unverified, sentence).done()
}

/// The disks moved less than the loop did.
fn missed(observed: &Observed, on: &Loop, below: &Below) -> Option<Finding> {
    let (disks, file) = (names(observed, on.device), &on.backing.file.value);
    let name = &on.device.name;
    let part = match below.moved {
        moved if moved <= 0.0 => "none".to_owned(),
        moved => format!("only {}", fmt::percent(moved)),
    };
    let moved = format!("{disks} moved {part} of the bytes of {name}");
    let empty = below.empty.unwrap_or(0.0);
    let is_compressed = is_compressed(on) && !below.is_empty();
    let why = match (below.is_empty(), on.direct) {
        _ if is_compressed => format!("{file} is stored compressed"),
        (true, _) => format!("{} of {file} are holes or were never written", fmt::percent(empty)),
        (false, true) if below.empty.is_some() => return None,
        (false, true) => format!("{file} has holes or was never fully written"),
        (false, false) => format!("the rest is memory, because {file} is cached"),
    };
    let (least, mix, all) = match below.is_empty() || on.direct {
        _ if is_compressed => (
            0.0,
            MeasuredInstead::CompressedData,
            (MeasuredInstead::CompressedData, Limit::LoopHoles),
        ),
        true => (
            1.0 - HOLES_MOST.value,
            MeasuredInstead::MemoryAndDevice,
            (MeasuredInstead::LoopHoles, Limit::LoopHoles),
        ),
        false => (
            COVERAGE_MEMORY.value,
            MeasuredInstead::PageCacheAndDevice,
            (MeasuredInstead::LoopPageCache, Limit::LoopPageCache),
        ),
    };
    let severity =
        if below.share >= LOOP_NEARLY.value { Severity::Caution } else { Severity::Wrong };
    let sentence = if below.is_cached && !below.is_empty() {
        format!("All of {file} was in the page cache: memory answered the reads of {name}.")
    } else {
        format!("{moved}: {why}.")
    };
    let draft = draft(on.device, on.backing, severity, sentence);
    let draft =
        if on.direct && !below.is_empty() { draft.confidence(Confidence::Likely) } else { draft };
    let draft = match below.is_empty() || on.direct {
        _ if is_compressed => {
            draft.advice("Put the backing file on a filesystem that stores it as it is.", None)
        }
        true => draft.advice("Write the backing file once with random data.", None),
        false => draft,
    };
    let draft = match severity {
        Severity::Wrong if below.share >= least => draft.measures(mix),
        Severity::Wrong => draft.measures(all.0).limits(all.1),
        _ => draft,
    };
    Some(draft.done())
}

fn draft(
    device: &DeviceFacts,
    backing: &LoopBacking,
    severity: Severity,
    sentence: String,
) -> FindingBuilder {
    let dio = backing.direct.as_ref().map(|direct| {
        let value = if direct.value { "1" } else { "0" };
        (format!("loop/dio of {}", device.name), value, direct.from.clone())
    });
    FindingBuilder::new("A13", severity, sentence)
        .evidence("backing file", backing.file.value.clone(), backing.file.from.clone())
        .evidence_if(dio)
        .advice(
            format!(
                "Let the loop bypass the cache: losetup --direct-io=on /dev/{} (as root); then \
                 run again.",
                device.name
            ),
            // No run changes how the loop reads its file.
            None,
        )
}

#[cfg(test)]
mod tests {
    use candor_record::facts::{Extents, Fact, FileFacts};
    use candor_record::requests::{Issuer, RequestStats, Requests};
    use candor_record::{CacheState, IdleWindow, LoopFile, Verdict};

    use super::*;
    use crate::testcase::{MIB, TestCase, fact, moved};

    fn image(data: u64, encoded: u64) -> Option<FileFacts> {
        let size = 512 * MIB;
        let extents =
            Extents { count: 1, mapped_bytes: data, encoded_bytes: encoded, ..Extents::default() };
        let path = "/images/a".into();
        Some(FileFacts { path, size_bytes: size, extents: fact(extents), ..FileFacts::default() })
    }

    /// The disk moved a fifth of the bytes that the loop device did.
    fn a_fifth_below() -> TestCase {
        let mut case = TestCase::direct(4096, 4, 1, 40_000.0).on_loop(true);
        case.host.facts.targets[0].kind = PathKind::Device;
        let bytes = case.record.measurements[0].of(Direction::Read).bytes;
        case.after_disk(moved(Direction::Read, 20_000, bytes / 5));
        case
    }

    #[test]
    fn a_backing_file_that_was_punched_meanwhile_has_holes() {
        let mut case = a_fifth_below();
        let stored = |case: &mut TestCase, file| {
            case.host.facts.devices[0].loop_backing.as_mut().unwrap().stored = file;
        };
        stored(&mut case, image(512 * MIB, 0));
        assert_eq!(case.found(&RULE), [], "the disk below is of another opinion (A19)");
        let start = case.host.facts.clone();
        stored(&mut case, image(0, 0));
        let facts = std::mem::replace(&mut case.host.facts, start);
        case.host.later_facts = vec![candor_record::LaterFacts { facts, ..Default::default() }];
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert!(found[0].sentence.contains("100 % of"), "{found:?}");
        let judged = case.judge();
        let changed = judged.finding("F15").map(|f| f.sentence.clone()).unwrap_or_default();
        assert!(changed.contains("data on disk of /images/a: 512 MiB, later 0 bytes"), "{changed}");
    }

    #[test]
    fn a_backing_file_that_is_stored_compressed_moves_fewer_bytes() {
        let mut case = a_fifth_below();
        let backing = case.host.facts.devices[0].loop_backing.as_mut().unwrap();
        backing.stored = image(512 * MIB, 512 * MIB);
        let found = case.found(&RULE);
        assert_eq!(found[0].measures, Some(MeasuredInstead::CompressedData));
        assert!(found[0].sentence.ends_with("is stored compressed."), "{found:?}");
        let bytes = case.record.measurements[0].of(Direction::Read).bytes;
        case.after_disk(moved(Direction::Read, 20_000, bytes));
        assert_eq!(case.found(&RULE), [], "data that does not compress");
    }

    #[test]
    fn a_cached_backing_file_is_memory() {
        let mut case = TestCase::direct(4096, 32, 1, 400_000.0).on_loop(false);
        case.after_disk(moved(
            Direction::Read,
            100,
            case.record.measurements[0].of(Direction::Read).bytes / 3,
        ));
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert!(found[0].sentence.contains("vda moved only 33 %"), "{}", found[0].sentence);
        assert!(case.preflight().iter().any(|finding| finding.rule == "A13"));
    }

    #[test]
    fn a_part_of_the_bytes_is_a_mix_and_none_of_them_is_the_cache() {
        fn of(share: f64) -> Option<MeasuredInstead> {
            let mut case = TestCase::direct(4096, 32, 1, 40_000.0).on_loop(false);
            let bytes = case.record.measurements[0].of(Direction::Read).bytes;
            case.after_disk(moved(Direction::Read, 100, (bytes as f64 * share) as u64));
            case.found(&RULE)[0].measures
        }
        assert_eq!(of(0.8), Some(MeasuredInstead::PageCacheAndDevice));
        assert_eq!(of(0.01), Some(MeasuredInstead::LoopPageCache));
    }

    #[test]
    fn bytes_of_others_on_the_disk_are_none_of_the_loops() {
        let mut case = TestCase::direct(4096, 1, 1, 80_000.0).on_loop(false);
        assert_eq!(case.found(&RULE)[0].severity, Severity::Caution);
        let bytes = case.record.measurements[0].of(Direction::Read).bytes;
        let who = Issuer { pid: 99, command: "rsync".into(), count: 9, bytes: bytes / 10 * 9 };
        let seen =
            Requests { device: "vda".into(), bytes, issuers: vec![who], ..Requests::default() };
        case.host.requests = Some(RequestStats { requests: vec![seen], ..RequestStats::default() });
        assert_eq!(case.found(&RULE)[0].severity, Severity::Wrong);
    }

    /// Reads of a loop over a file of which so many percent have data, where the disk moved this
    /// share of the bytes.
    fn reads(direct: bool, held_percent: u64, share: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0).on_loop(direct);
        let bytes = case.record.measurements[0].of(Direction::Read).bytes;
        case.after_disk(moved(Direction::Read, 100, (bytes as f64 * share) as u64));
        let extents = Extents { mapped_bytes: held_percent * MIB, ..Extents::default() };
        let file = FileFacts {
            size_bytes: 100 * MIB,
            extents: Some(Fact::new(extents, "FIEMAP of /data/image")),
            ..FileFacts::default()
        };
        case.host.facts.devices[0].loop_backing.as_mut().unwrap().stored = Some(file);
        case
    }

    /// The severity, and the object measured instead.
    fn told(case: &TestCase) -> Option<(Severity, Option<MeasuredInstead>)> {
        case.found(&RULE).first().map(|finding| (finding.severity, finding.measures))
    }

    #[test]
    fn a_file_that_was_cached_is_memory_whatever_the_disk_did_meanwhile() {
        let mut case = reads(false, 100, 1.5);
        assert_eq!(told(&case), Some((Severity::Caution, None)));
        fn cached(percent: u64) -> LoopFile {
            LoopFile {
                device: "loop0".into(),
                cache: CacheState {
                    size_bytes: 100 * MIB,
                    resident_bytes: percent * MIB,
                    ..CacheState::default()
                },
            }
        }
        case.host.before.state.loop_files = vec![cached(20)];
        case.host.after.state.loop_files = vec![cached(100)];
        assert_eq!(told(&case), Some((Severity::Caution, None)), "it came from the disk");
        case.host.before.state.loop_files = vec![cached(100)];
        let memory = Some((Severity::Wrong, Some(MeasuredInstead::LoopPageCache)));
        assert_eq!(told(&case), memory);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "All of /data/image was in the page cache: memory answered the reads of loop0."
        );
    }

    /// Seen on Linux 6.18: another process began to read the disk after the idle moment, and no
    /// request was traced.
    #[test]
    fn a_disk_that_others_use_vouches_for_no_more_than_was_not_in_memory() {
        let with_pages = |percent: u64, share| {
            let mut case = reads(false, 100, share);
            let file = LoopFile {
                device: "loop0".into(),
                cache: CacheState {
                    size_bytes: 100 * MIB,
                    resident_bytes: percent * MIB,
                    ..CacheState::default()
                },
            };
            case.host.before.state.loop_files = vec![file.clone()];
            case.host.after.state.loop_files = vec![file];
            case
        };
        assert_eq!(told(&with_pages(60, 1.0)), Some((Severity::Unverified, None)));
        let memory = told(&with_pages(60, 0.4)).map(|(severity, _)| severity);
        assert_eq!(memory, Some(Severity::Wrong), "four tenths came from the disk");
        assert_eq!(told(&with_pages(5, 1.0)), Some((Severity::Caution, None)));
        // Half of the file is holes: the disk cannot have moved all of it.
        let mix = Some((Severity::Wrong, Some(MeasuredInstead::MemoryAndDevice)));
        assert_eq!(told(&reads(true, 50, 1.0)), mix);
        // All of it was read, as far as that is known; a part of it may be full.
        let mut part = reads(true, 50, 1.0);
        part.blocks().range.length =
            Some(candor_plan::units::Extent::Bytes(candor_plan::Bytes(MIB)));
        assert_eq!(told(&part), None);
    }

    #[test]
    fn nine_tenths_from_the_disk_are_remarked() {
        for (direct, held) in [(false, 100), (true, 91)] {
            let case = reads(direct, held, 0.91);
            assert_eq!(told(&case), Some((Severity::Caution, None)), "{direct}");
            let judged = case.judge();
            assert_eq!(judged.verdict, Verdict::Caution, "{:?}", judged.findings);
        }
    }

    #[test]
    fn holes_are_no_page_cache_and_some_of_them_a_mix() {
        for direct in [false, true] {
            let holes = Some((Severity::Wrong, Some(MeasuredInstead::LoopHoles)));
            assert_eq!(told(&reads(direct, 0, 0.0)), holes, "{direct}");
            let mix = Some((Severity::Wrong, Some(MeasuredInstead::MemoryAndDevice)));
            assert_eq!(told(&reads(direct, 70, 0.7)), mix, "{direct}");
        }
        let sentence = &reads(true, 30, 0.3).found(&RULE)[0].sentence;
        assert_eq!(
            sentence,
            "vda moved only 30 % of the bytes of loop0: 70 % of /data/image are holes or were \
             never written."
        );
        let sentence = &reads(true, 0, 0.0).found(&RULE)[0].sentence;
        assert!(sentence.starts_with("vda moved none of the bytes of loop0"), "{sentence}");
        assert_eq!(told(&reads(true, 100, 0.3)), None, "no part of the file explains it");
    }

    #[test]
    fn beside_others_nobody_knows_unless_they_were_told_apart() {
        let mut case = reads(false, 100, 1.2);
        let mut idle =
            IdleWindow { before: case.host.before.clone(), after: case.host.before.clone() };
        idle.after.at_ns += 1_000_000_000;
        idle.after.devices[1].1 = moved(Direction::Read, 100, 8 * MIB);
        case.host.idle = Some(idle);
        assert_eq!(told(&case), Some((Severity::Unverified, None)));
        let seen = Requests { device: "vda".into(), bytes: 9 * MIB, ..Requests::default() };
        case.host.requests = Some(RequestStats { requests: vec![seen], ..RequestStats::default() });
        assert_ne!(told(&case), Some((Severity::Unverified, None)));
    }

    #[test]
    fn a_cold_backing_file_is_a_remark() {
        let found = TestCase::direct(4096, 32, 1, 40_000.0).on_loop(false).found(&RULE);
        assert_eq!(found[0].severity, Severity::Caution);
    }

    #[test]
    fn a_direct_loop_is_silent_unless_its_file_has_holes() {
        let mut case = TestCase::direct(4096, 32, 1, 40_000.0).on_loop(true);
        assert_eq!(case.found(&RULE), []);
        assert_eq!(case.preflight(), []);
        case.after_disk(moved(Direction::Read, 1, 4096));
        assert_eq!(case.found(&RULE)[0].severity, Severity::Wrong);
    }

    #[test]
    fn a_read_that_never_reached_the_loop_says_nothing_of_its_file() {
        let mut case = TestCase::buffered_read().on_loop(true);
        *case.after_top() = Default::default();
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn without_the_flag_it_says_so() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0).on_loop(true);
        case.host.facts.devices[0].loop_backing.as_mut().unwrap().direct = None;
        assert!(case.lacked(&RULE).unwrap().contains("loop0"));
        case.host.facts.devices[0].loop_backing.as_mut().unwrap().direct = fact(true);
        assert_eq!(case.lacked(&RULE), None);
    }
}
