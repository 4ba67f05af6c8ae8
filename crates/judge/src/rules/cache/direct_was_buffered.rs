//! A5: direct I/O that went through the page cache.

use candor_plan::units::Direction;
use candor_record::facts::{DirectIo, TargetFacts, value};
use candor_record::fmt::ratio;
use candor_record::{
    Confidence, Finding, Limit, LimitClass, MeasuredInstead, Quantity, Severity, Snapshot,
};

use crate::builder::FindingBuilder;
use crate::coverage;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::SetupFacts;
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, CACHE_GROWTH, COVERAGE_FULL, WRITTEN_OUT};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A5",
        title: "direct I/O was not direct",
        explanation: "Some filesystems accept O_DIRECT but use the page cache: ext4 with \
            data=journal, btrfs on compressed files or for writes with checksums, any filesystem \
            in memory. candor uses three signs. First, the filesystem reports no direct I/O \
            (statx: both alignments zero). Second, pages of the files appear in the cache during a \
            phase with only direct I/O. Third, on btrfs, as many pages become dirty as were \
            written (nr_dirtied of /proc/vmstat, minus the host's dirtied pages in the idle \
            interval before; since Linux 6.15, which copies all writes with checksums, without \
            that). If the bytes reached the device nevertheless, the severity is caution; \
            otherwise the number is the speed of memory. Use another filesystem or mount option, \
            or the raw device.",
    },
    stage: Stage::Detour,
    limit: Some(LimitClass::Memory),
    before: Some(before),
    after,
};

/// The filesystem says beforehand that it will not be direct.
fn before(setup: &SetupFacts) -> Outcome {
    if !refused(setup) {
        return Outcome::Nothing;
    }
    let sentence = format!(
        "The filesystem of {} reports no support for direct I/O; the run will use the page cache.",
        setup.target_paths()
    );
    Outcome::one(draft(setup, Severity::Caution, sentence).done())
}

fn refused(setup: &SetupFacts) -> bool {
    setup.refuses_direct(&setup.targets_of(|job| job.blocks.direct))
}

fn after(observed: &Observed) -> Outcome {
    if !observed.jobs.iter().any(|job| job.blocks.direct) {
        return Outcome::Nothing;
    }
    let pages = growth(observed).map(Pages::Grown).or_else(|| dirtied(observed).map(Pages::Dirty));
    let refused = refused(&observed.setup);
    match pages {
        None if !refused && nobody_says(observed) => {
            Outcome::lacks("statx alignments of the files, or their pages in the cache")
        }
        None if !refused => Outcome::Nothing,
        _ => Outcome::one(finding(observed, pages)),
    }
}

/// Bytes of pages that direct I/O does not need.
enum Pages {
    /// Files have so many more in the cache.
    Grown(f64),
    /// So many were made dirty.
    Dirty(f64),
}

/// Bytes of pages that were made dirty by writes that were to be direct, on btrfs, which copies
/// them into the cache for their checksums and writes them from there. The kernel counts pages of
/// all processes: what the host dirtied in the idle moment before is left out.
pub fn dirtied(observed: &Observed) -> Option<f64> {
    fn between(from: &Snapshot, to: &Snapshot) -> Option<f64> {
        let count = |snapshot: &Snapshot| snapshot.vmstat?.dirtied_bytes;
        Some(count(to)?.checked_sub(count(from)?)? as f64)
    }
    let others = observed.host.idle.as_ref().and_then(|idle| {
        let seconds = idle.after.at_ns.checked_sub(idle.before.at_ns)? as f64 / 1e9;
        Some(ratio(between(&idle.before, &idle.after)?, seconds) * observed.window_s())
    });
    let all = between(&observed.host.before, &observed.host.after)?;
    let dirtied = all - others.unwrap_or(0.0);
    let targets = observed.targets_of(|job| job.does(Direction::Write));
    let all_here = !targets.is_empty()
        && targets.iter().all(|target| target.holding().is_some_and(|on| on.kind == "btrfs"));
    let each = all_here && observed.all_direct();
    let enough = |bytes: f64| {
        let share = observed.share_seen(Direction::Write, bytes.max(0.0))?;
        (each && share >= WRITTEN_OUT.value).then_some(bytes)
    };
    enough(dirtied).or_else(|| {
        let written = observed.app(Direction::Write).bytes;
        enough(all.min(written)).filter(|_| copies_for_checksums(observed, &targets))
    })
}

/// The kernel copies all direct writes of btrfs into the cache where it makes checksums: how much
/// others dirtied in the idle moment decides nothing then.
fn copies_for_checksums(observed: &Observed, targets: &[&TargetFacts]) -> bool {
    let release = value(&observed.facts.host.kernel).map_or("", String::as_str);
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let kernel = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    kernel >= COPIES_SINCE
        && targets.iter().all(|target| {
            target.holding().is_some_and(|on| {
                !on.options.split(',').any(|option| ["nodatasum", "nodatacow"].contains(&option))
            })
        })
}

/// Linux that copies direct writes of btrfs with checksums into the page cache first.
const COPIES_SINCE: (u32, u32) = (6, 15);

/// Neither the filesystem nor the cache could be asked.
fn nobody_says(observed: &Observed) -> bool {
    let files = observed.files(&observed.targets_of(|job| job.blocks.direct));
    let unknown = files.iter().all(|file| file.direct == DirectIo::Unknown);
    unknown && observed.host.after.cache.is_none() && observed.app_all().bytes >= BYTES_MIN.value
}

/// Growth of the files' share of the cache, where it is more than direct I/O explains.
fn growth(observed: &Observed) -> Option<f64> {
    let (before, after) = (observed.host.before.cache?, observed.host.after.cache?);
    let grown = after.resident_bytes.saturating_sub(before.resident_bytes) as f64;
    let grown = grown - by_others(observed);
    let most = observed.app_all().bytes.min(after.size_bytes as f64);
    let much = grown > CACHE_GROWTH.value * most && grown >= BYTES_MIN.value;
    (observed.all_direct() && much).then_some(grown)
}

/// Bytes that other processes may have brought into the cache: what the devices read beyond what
/// this process was charged for, readahead included, and, where it wrote nothing, whatever was
/// written.
fn by_others(observed: &Observed) -> f64 {
    let (Some(top), Some(ours)) = (observed.top, observed.process(Direction::Read)) else {
        return 0.0;
    };
    let read = (top.read.bytes - ours.max(observed.app(Direction::Read).bytes)).max(0.0);
    if observed.does(Direction::Write) {
        return read;
    }
    fn dirty(snapshot: &Snapshot) -> Option<f64> {
        let cache = snapshot.cache?;
        Some(cache.dirty_bytes? as f64 + cache.writeback_bytes.unwrap_or(0) as f64)
    }
    let (before, after) = (dirty(&observed.host.before), dirty(&observed.host.after));
    read + top.write.bytes + (after.unwrap_or(0.0) - before.unwrap_or(0.0)).max(0.0)
}

fn finding(observed: &Observed, pages: Option<Pages>) -> Finding {
    let else_where = missed_the_device(observed);
    let severity = if else_where { Severity::Wrong } else { Severity::Caution };
    let tail = if else_where { "; the number is the speed of memory" } else { "" };
    let what = if matches!(pages, Some(Pages::Dirty(_))) { "writes to " } else { "" };
    let sentence = format!(
        "The filesystem accepted O_DIRECT for {what}{} but used the page cache{tail}.",
        observed.target_paths()
    );
    let grown = pages.map(|pages| match pages {
        Pages::Grown(bytes) => (
            "cached during the phase".into(),
            Quantity::bytes(bytes),
            "cachestat or mincore".into(),
        ),
        Pages::Dirty(bytes) => {
            ("pages made dirty".into(), Quantity::bytes(bytes), "/proc/vmstat nr_dirtied".into())
        }
    });
    let draft = draft(&observed.setup, severity, sentence).evidence_if(grown);
    if else_where {
        draft.measures(MeasuredInstead::PageCache).limits(Limit::PageCache).done()
    } else {
        draft.done()
    }
}

/// The bytes moved did not reach the device within the measured time.
fn missed_the_device(observed: &Observed) -> bool {
    let reads = coverage::of_reads(observed).share();
    let writes =
        observed.top.and_then(|top| observed.share_seen(Direction::Write, top.write.bytes));
    reads.is_some_and(|share| share < COVERAGE_FULL.value)
        || writes.is_some_and(|share| share < WRITTEN_OUT.value)
}

fn draft(setup: &SetupFacts, severity: Severity, sentence: String) -> FindingBuilder {
    let targets = setup.targets_of(|job| job.blocks.direct);
    let kind = targets.iter().find_map(|target| target.filesystem.as_ref());
    let says = setup
        .refuses_direct(&targets)
        .then(|| ("direct I/O by the filesystem".into(), "not supported", "statx".into()));
    let fs = kind.map(|fs| {
        let value = format!("{} {}", fs.kind, fs.options);
        ("filesystem".into(), value.trim().to_owned(), "/proc/self/mountinfo".into())
    });
    FindingBuilder::new("A5", severity, sentence)
        .confidence(if says.is_some() { Confidence::Certain } else { Confidence::Likely })
        .evidence_if(says)
        .evidence_if(fs)
        .advice("Use another filesystem or mount option, or test the raw device.", None)
}

#[cfg(test)]
mod tests {
    use candor_record::{IdleWindow, VmStat};

    use super::*;
    use crate::testcase::{MIB, TestCase, fact};

    #[test]
    fn pages_that_appear_in_a_direct_phase_give_it_away() {
        // 16384 of 16384 pages were cached under data=journal.
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        let cache = case.host.after.cache.as_mut().unwrap();
        (cache.resident_bytes, cache.size_bytes) = (64 * MIB, 64 * MIB);
        let found = case.found(&RULE);
        assert_eq!(
            (found[0].severity, found[0].limits.as_ref().map(ToString::to_string).as_deref()),
            (Severity::Caution, None)
        );
        case.process_read(0);
        assert_eq!(case.found(&RULE)[0].severity, Severity::Wrong);
    }

    #[test]
    fn pages_that_others_brought_in_are_not_the_filesystems() {
        let mut read = TestCase::direct(4096, 1, 1, 10_000.0);
        read.host.after.cache.as_mut().unwrap().resident_bytes = 64 * MIB;
        let mut written = read.clone();
        assert_eq!(read.found(&RULE).len(), 1);
        read.after_top().read_sectors += 64 * MIB / 512;
        assert_eq!(read.found(&RULE), [], "another process read them from the disk");
        written.host.after.cache.as_mut().unwrap().dirty_bytes = Some(64 * MIB);
        assert_eq!(written.found(&RULE), [], "another process wrote them");
    }

    /// Direct writes to btrfs during which so many bytes of pages were made dirty for each of ours.
    fn dirtying(filesystem: &str, share: f64) -> TestCase {
        let mut case = TestCase::direct_write();
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = filesystem.into();
        let bytes = case.measured().of(Direction::Write).bytes as f64 * share;
        let dirtied = |bytes| VmStat { dirtied_bytes: Some(bytes), ..VmStat::default() };
        case.host.before.vmstat = Some(dirtied(1 << 40));
        case.host.after.vmstat = Some(dirtied((1 << 40) + bytes as u64));
        case
    }

    /// Linux 6.18: 1.01 to 1.3 pages for each that was written, 0.12 without checksums.
    #[test]
    fn pages_that_each_write_makes_dirty_give_btrfs_away() {
        let found = dirtying("btrfs", 1.01).found(&RULE);
        assert!(found[0].sentence.contains("O_DIRECT for writes to /data/file but used"));
        assert_eq!(found[0].severity, Severity::Caution, "the device had them all");
        assert_eq!(dirtying("btrfs", 0.12).found(&RULE), [], "without checksums");
        assert_eq!(dirtying("ext4", 1.3).found(&RULE), [], "pages of others");
        let mut beside = dirtying("btrfs", 1.01);
        let mut idle =
            IdleWindow { before: beside.host.before.clone(), after: beside.host.before.clone() };
        idle.after.at_ns += 1_000_000_000;
        idle.after.vmstat.as_mut().unwrap().dirtied_bytes = Some((1 << 40) + 40 * MIB);
        beside.host.idle = Some(idle);
        assert_eq!(beside.found(&RULE), [], "others do so all the time");
        // Seen on Linux 6.18: another process wrote 300 MB into the page cache meanwhile.
        let on = |kernel: &str, options: &str| {
            let mut case = beside.clone();
            case.host.facts.host.kernel = fact(kernel.to_owned());
            let target = &mut case.host.facts.targets[0];
            target.filesystem.as_mut().unwrap().options = options.into();
            case.found(&RULE).len()
        };
        assert_eq!(on("6.18.5", "rw,relatime"), 1);
        assert_eq!(on("6.18.5", "rw,nodatacow"), 0, "no checksums, no copies");
        assert_eq!(on("6.14.0-2-amd64", "rw,relatime"), 0, "it wrote directly");
    }

    #[test]
    fn the_filesystem_says_it_beforehand() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.file().direct = DirectIo::Unsupported;
        assert!(case.preflight().iter().any(|finding| finding.rule == "A5"));
        assert_eq!(case.found(&RULE)[0].confidence, Confidence::Certain);
    }

    #[test]
    fn honest_direct_io_is_silent() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        assert_eq!(case.found(&RULE), []);
        case.host.after.cache.as_mut().unwrap().resident_bytes = 64 * 1024;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::buffered_read().found(&RULE), []);
    }

    #[test]
    fn without_statx_and_cache_it_says_so() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.file().direct = DirectIo::Unknown;
        case.host.after.cache = None;
        assert!(case.lacked(&RULE).unwrap().contains("statx"));
    }
}
