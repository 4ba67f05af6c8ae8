//! F10: others used the device.

use candor_plan::units::Direction;
use candor_plan::work::Figure;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::foreign::{self, Foreign};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::condition::part_of_rotating_disk;
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, FOREIGN, FOREIGN_MOST};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F10",
        title: "others used the device meanwhile",
        explanation: "The device counters include the traffic of all processes; the process \
            counters include only the process's own traffic. candor reads the device counters in \
            an idle interval before the phase, and compares the device's reads with the reads of \
            this process. In a phase that only reads, other processes cause all writes, except for \
            dirty pages of the file that the reads write out. A disk below a loop device moved the \
            rest for others. If single requests were traced, the requests of other processes \
            count, and the idle interval counts for no more than was traced. \
            More than 5 % foreign traffic makes the result noisier and lower. From 90 % of bytes \
            and requests on, the result is only the rate left over by other users. No counter can \
            verify such a result as the rate of the device. If the plan limits the rate, the \
            verdict stays *caution*. The finding bounds the lost share, \
            except next to flushes of others and on rotating disks: a flush or a seek takes its \
            own time. \
            Stop the other traffic and run again.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let app = observed.app_all().bytes;
    if app < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    if observed.top.is_none() {
        return Outcome::lacks("the counters of the device");
    }
    match foreign::known(observed) {
        None => Outcome::lacks("an idle interval before the phase, or /proc/self/io"),
        Some(all) => match foreign::most(all, app) {
            Some(foreign) => Outcome::one(finding(observed, &foreign, app)),
            None => Outcome::Nothing,
        },
    }
}

fn finding(observed: &Observed, foreign: &Foreign, app: f64) -> Finding {
    let seen = observed.host.requests.as_ref();
    let names: Vec<&str> = foreign.devices.iter().map(|device| device.name.as_str()).collect();
    let most = seen.and_then(|seen| seen.largest_other(&foreign::seen_at(&foreign.devices)));
    let most = most
        .map_or(String::new(), |who| format!("; most requests from {} ({})", who.command, who.pid));
    let sentence = format!(
        "{} of the traffic on {} came from other users ({} {}{most}).",
        fmt::percent(foreign.share(app)),
        names.join(", "),
        fmt::rate(ratio(foreign.bytes, observed.window_s())),
        foreign.how
    );
    let stat = format!("/sys/class/block/{}/stat", names.join(","));
    // What little was left over tells of the others, not of the device; a plan's own rate is not.
    let (of_bytes, of_requests) =
        (foreign.share(app), foreign::share_of_requests(observed, &foreign.devices));
    let is_left_over = of_bytes.min(of_requests) >= FOREIGN_MOST.value && !observed.paced();
    let severity = if is_left_over { Severity::Unverified } else { Severity::Caution };
    // A device that is full gives others the time of their bytes or of their requests.
    let lost = of_bytes.max(of_requests);
    let draft = FindingBuilder::new("F10", severity, sentence).confidence(Confidence::Likely);
    let draft = if takes_more(observed) { draft } else { draft.lost_at_most(lost) };
    draft
        .evidence(
            "bytes of others",
            Quantity::bytes(foreign.bytes),
            format!("{stat}, {}", foreign.from),
        )
        .evidence("bytes of all", Quantity::bytes(foreign.all), stat)
        .advice("Find the process (candor watch as root), stop it, and run again.", None)
        .done()
}

/// Others took more of the device's time than their share of bytes or requests: they flushed its
/// cache, or its arm moved for them. One fsync is at most two flushes, of the data and the journal.
fn takes_more(observed: &Observed) -> bool {
    let ran = || observed.ran.iter();
    let calls: f64 = ran().map(|ran| ran.measured.figure(Figure::Flush).ops as f64).sum();
    let durable = ran().filter(|ran| ran.durable_each());
    let writes: f64 = durable.map(|ran| ran.measured.of(Direction::Write).ops as f64).sum();
    let flushes = observed.top.map_or(0.0, |top| top.flushes) - 2.0 * (calls + writes);
    flushes > FOREIGN.value * observed.app_all().ops
        || observed.devices().into_iter().any(part_of_rotating_disk::turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, fact, moved};
    use candor_plan::units::Direction;
    use candor_record::facts::{AccountingOutcome, AccountingProbe, DeviceKind};
    use candor_record::requests::{Issuer, RequestOp, RequestStats, Requests};
    use candor_record::{CacheState, IdleWindow, Verdict};

    #[test]
    fn reads_of_others_are_seen_beside_ours() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.after_top().read_sectors += 84_000_000 / 512;
        let found = case.found(&RULE);
        assert!(
            found[0].sentence.starts_with("16 % of the traffic on vda came from other users"),
            "{}",
            found[0].sentence
        );
        assert_eq!(found[0].severity, Severity::Caution);
    }

    #[test]
    fn what_others_left_over_is_not_verifiable() {
        let mut case = TestCase::direct(4096, 1, 1, 1000.0);
        let ours = case.after_top().read_sectors;
        case.after_top().read_sectors = ours * 20;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Caution, "some large requests");
        case.after_top().reads *= 20;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Unverified);
        assert_eq!(case.judge().verdict, Verdict::Unverified);
    }

    #[test]
    fn who_it_is_is_named_where_requests_were_seen() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.after_top().read_sectors += 84_000_000 / 512;
        let who = Issuer { pid: 99, command: "rsync".into(), count: 9, bytes: 84_000_000 };
        let seen = Requests { device: "vda".into(), issuers: vec![who], ..Requests::default() };
        case.host.requests = Some(RequestStats { requests: vec![seen], ..RequestStats::default() });
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.ends_with("most requests from rsync (99))."), "{sentence}");
    }

    #[test]
    fn writes_in_a_phase_that_only_reads_are_foreign() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.after_top().write_sectors += 100 * MIB / 512;
        assert_eq!(case.found(&RULE).len(), 1);
    }

    /// Seen on Linux 6.18: direct reads of a file that had just been written through the page cache
    /// made the kernel write 105 MB, in requests of candor's own.
    #[test]
    fn dirty_pages_that_reads_write_out_are_ours() {
        fn read() -> TestCase {
            let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
            case.after_top().write_sectors += 100 * MIB / 512;
            case
        }
        let mut dirty = read();
        let pages = |bytes| CacheState {
            size_bytes: 256 * MIB,
            resident_bytes: bytes,
            dirty_bytes: Some(bytes),
            writeback_bytes: Some(0),
        };
        (dirty.host.before.cache, dirty.host.after.cache) =
            (Some(pages(100 * MIB)), Some(pages(0)));
        assert_eq!(dirty.found(&RULE), []);
        dirty.host.after.cache = Some(pages(100 * MIB));
        assert_eq!(dirty.found(&RULE).len(), 1, "they are dirty still");
        let mut traced = read();
        let by = |pid| {
            let who = Issuer { pid, command: "candor".into(), count: 100, bytes: 100 * MIB };
            let seen = Requests {
                device: "vda".into(),
                direction: RequestOp::Write,
                bytes: 100 * MIB,
                issuers: vec![who],
                ..Requests::default()
            };
            Some(RequestStats { own_pid: 7, requests: vec![seen], ..RequestStats::default() })
        };
        traced.host.requests = by(7);
        assert_eq!(traced.found(&RULE), []);
        traced.host.requests = by(9);
        assert_eq!(traced.found(&RULE).len(), 1);
    }

    /// A neighbour wrote and flushed 4 KiB at a time: 19 % of the bytes, 16 % of the requests, and
    /// 37 % of the rate that the device has alone.
    #[test]
    fn nothing_bounds_what_flushes_of_others_take() {
        let mut case = TestCase::direct(4096, 4, 1, 16_400.0);
        case.after_top().write_sectors += 84_000_000 / 512;
        case.after_top().writes += 20_000;
        let lost = |case: &TestCase| case.found(&RULE)[0].lost_share_max;
        assert!(lost(&case).is_some());
        (case.after_top().writes, case.after_top().flushes) = (40_000, 20_000);
        assert_eq!(lost(&case), None);
        assert_eq!(case.judge().verdict, Verdict::Caution);
    }

    #[test]
    fn nor_what_seeks_take() {
        let mut case = TestCase::direct(4096, 4, 1, 400.0);
        case.after_top().read_sectors += 84_000_000 / 512;
        assert!(case.found(&RULE)[0].lost_share_max.is_some());
        (case.disk().kind, case.disk().queue.rotational) = (DeviceKind::Ata, fact(true));
        assert_eq!(case.found(&RULE)[0].lost_share_max, None);
    }

    #[test]
    fn the_idle_moment_tells_for_writes() {
        let mut case = TestCase::direct_write();
        let mut idle =
            IdleWindow { before: case.host.before.clone(), after: case.host.before.clone() };
        idle.after.at_ns += 1_000_000_000;
        case.host.idle = Some(idle.clone());
        assert_eq!(case.found(&RULE), []);
        idle.after.devices[0].1 = moved(Direction::Write, 100, 8 * MIB);
        case.host.idle = Some(idle);
        assert_eq!(case.found(&RULE), [], "a burst that did not go on");
        case.after_top().write_sectors += 80 * MIB / 512;
        let sentence = case.found(&RULE)[0].sentence.clone();
        assert!(sentence.contains("estimated from the idle interval before"), "{sentence}");
        // The tracer knows who wrote: candor alone.
        let trace = |own_pid| {
            let who = Issuer { pid: 7, command: "candor".into(), count: 9, bytes: 9 * MIB };
            let seen = Requests {
                device: "vda".into(),
                bytes: 9 * MIB,
                issuers: vec![who],
                ..Requests::default()
            };
            Some(RequestStats { own_pid, requests: vec![seen], ..RequestStats::default() })
        };
        case.host.requests = trace(7);
        assert_eq!(case.found(&RULE), []);
        case.host.requests = trace(8);
        assert_eq!(case.found(&RULE).len(), 1);
    }

    #[test]
    fn below_a_loop_the_disk_is_named() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0).on_loop(true);
        let mut idle =
            IdleWindow { before: case.host.before.clone(), after: case.host.before.clone() };
        idle.after.at_ns += 1_000_000_000;
        idle.after.devices[1].1 = moved(Direction::Read, 100, 8 * MIB);
        case.host.idle = Some(idle);
        case.host.after.devices[1].1.read_sectors += 80 * MIB / 512;
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(
            sentence.starts_with("17 % of the traffic on vda came from other users"),
            "{sentence}"
        );
    }

    #[test]
    fn the_device_that_counted_is_named() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0).on_loop(true);
        case.host.facts.devices[0].counts_io = fact(false);
        case.host.facts.targets[0].accounting_probe = Some(AccountingProbe {
            direct: true,
            outcome: AccountingOutcome::CountedBelow,
            ..AccountingProbe::default()
        });
        *case.after_top() = case.host.before.devices[0].1;
        case.host.after.devices[1].1.read_sectors += 84_000_000 / 512;
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains(" of the traffic on vda came"), "{}", found[0].sentence);
        let sources: Vec<&str> = found[0].evidence.iter().map(|of| of.source.as_str()).collect();
        assert!(sources.iter().all(|of| of.contains("vda/stat")), "{sources:?}");
    }

    /// Seen on Linux 6.18: two runs on two loop devices of one disk. The loop moved 57 MB, the disk
    /// 7370 MB, all of it by threads of the kernel.
    #[test]
    fn a_disk_that_moves_more_than_its_loop_has_other_users() {
        let mut case = TestCase::direct(4096, 8, 1, 3476.0).on_loop(true);
        let disk = &mut case.host.after.devices[1].1;
        (disk.reads, disk.read_sectors) = (disk.reads * 3 / 2, 7_370_000_000 / 512);
        let found = case.found(&RULE);
        let sentence = &found[0].sentence;
        assert!(
            sentence.starts_with("98 % of the traffic on vda came from other users"),
            "{sentence}"
        );
        assert!(sentence.contains("beyond the traffic of the loop device"), "{sentence}");
        assert_eq!(found[0].severity, Severity::Caution, "most requests were ours");
        // Through the page cache a loop reads ahead.
        let mut cached = TestCase::direct(4096, 8, 1, 3476.0).on_loop(false);
        cached.host.after.devices[1].1.read_sectors *= 3;
        assert_eq!(cached.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 8, 1, 3476.0).on_loop(true).found(&RULE), []);
    }

    /// Others that began after the idle moment, while candor wrote: only the tracer saw them.
    #[test]
    fn processes_that_were_seen_to_write_beside_are_others() {
        fn by(pid: u32, command: &str) -> Vec<Finding> {
            let mut case = TestCase::direct_write();
            let who = |pid, bytes| Issuer { pid, command: command.into(), count: 9, bytes };
            let seen = Requests {
                device: "vda".into(),
                direction: RequestOp::Write,
                bytes: 10 * MIB,
                issuers: vec![who(7, 6 * MIB), who(pid, 4 * MIB)],
                ..Requests::default()
            };
            let stats =
                RequestStats { own_pid: 7, requests: vec![seen], ..RequestStats::default() };
            case.host.requests = Some(stats);
            case.found(&RULE)
        }
        let found = by(9, "fio");
        assert!(
            found[0].sentence.starts_with("40 % of the traffic on vda came from other users"),
            "{found:?}"
        );
        assert_eq!(by(9, "kworker/0:1H"), [], "it may work for us");
        assert_eq!(by(7, "candor"), []);
    }

    #[test]
    fn a_cached_run_and_an_honest_one_are_alone() {
        let mut case = TestCase::buffered_read();
        case.after_top().read_sectors = 20 * MIB / 512;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 32, 1, 60_000.0).found(&RULE), []);
        assert_eq!(TestCase::direct_write().found(&RULE), []);
    }
}
