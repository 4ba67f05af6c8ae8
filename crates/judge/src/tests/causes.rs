//! One cause instead of its symptoms, in the right order, in one line.

use candor_record::facts::AccountingOutcome;
use candor_record::{Severity, Verdict};

use crate::testcase::{MIB, TestCase, Workload};

#[test]
fn the_page_cache_explains_the_impossible() {
    let judgement = TestCase::buffered_read().sata(600_000_000).judge();
    assert_eq!(judgement.rules(), ["A1"]);
    let taken = &judgement.findings[0].consequences;
    assert!(taken.iter().any(|other| other.rule == "D9" && other.sentence.contains("8.87×")));
    assert_eq!(judgement.verdict, Verdict::Wrong);
    assert_eq!(judgement.limit().as_deref(), Some("the page cache"));
    assert!(judgement.headline.starts_with("Not the storage's number (the page cache): 100 %"));
    assert_eq!(judgement.ceilings, [], "what passes a ceiling was not held by it");
}

#[test]
fn unwritten_blocks_explain_that_nothing_was_fetched() {
    let mut case = TestCase::direct(4096, 1, 1, 1_440_000.0);
    case.file().extents.as_mut().unwrap().value.unwritten_bytes = 1024 * MIB;
    case.process_read(0);
    case.after_disk(Default::default());
    let judgement = case.judge();
    assert_eq!(judgement.rules(), ["A9"]);
    assert!(judgement.limit().unwrap().contains("unwritten blocks"));
}

#[test]
fn a_small_hole_does_not_excuse_a_cached_file() {
    let mut case = TestCase::buffered_read();
    case.file().extents.as_mut().unwrap().value.mapped_bytes = 1024 * MIB / 100 * 97;
    let judgement = case.judge();
    assert_eq!(judgement.rules(), ["A1", "A8"]);
    assert_eq!(judgement.findings[1].severity, Severity::Caution);
}

#[test]
fn direct_io_that_was_none_explains_the_cache() {
    let mut case = TestCase::direct(4096, 1, 1, 1_000_000.0);
    case.file().direct = candor_record::facts::DirectIo::Unsupported;
    case.process_read(0);
    case.after_disk(Default::default());
    let judgement = case.judge();
    assert_eq!(judgement.rules(), ["A5"]);
    assert_eq!(judgement.limit().as_deref(), Some("the page cache"));
}

#[test]
fn heaviest_first() {
    let mut case = Workload { seconds: 2, depth: 8, ..Workload::default() }.case();
    case.host.facts.targets[0].accounting_probe.as_mut().unwrap().outcome =
        AccountingOutcome::NotCounted;
    case.after_disk(Default::default());
    let judgement = case.judge();
    assert_eq!(judgement.rules(), ["A17", "G1"]);
    assert_eq!(judgement.verdict, Verdict::Unverified);
    assert!(judgement.headline.starts_with("Cannot be verified: Linux does not count"));
}

#[test]
fn remarks_are_named_in_the_headline() {
    let mut case = Workload { seconds: 2, ..Workload::default() }.case();
    case.measured().per_worker[0].run_wait_ns = Some(900_000_000);
    case.measured().elapsed_ns = 900_000_000;
    let judgement = case.judge();
    assert_eq!(
        judgement.headline,
        "22.2k reads/s of 4 KiB = 91 MB/s (86.8 MiB/s): the storage's number, with caution: \
         workers starved of CPU (B8) and one more finding."
    );
}

#[test]
fn the_device_is_the_limit_when_nothing_else_is() {
    let mut shared = TestCase::direct(4096, 32, 1, 98_170.0);
    shared.after_top().weighted_ms *= 2;
    assert_eq!(
        shared.judge().limit().as_deref(),
        Some(
            "the device or depth 32 (60.8 in flight including other users, mean latency 326 µs; a \
             higher depth was not tried)"
        )
    );
    let judgement = TestCase::direct(4096, 32, 1, 98_170.0).judge();
    assert_eq!(
        judgement.limit().as_deref(),
        Some(
            "the device or depth 32 (30.4 in flight, mean latency 326 µs; a higher depth was not \
             tried)"
        )
    );
    assert_eq!(
        judgement.headline,
        "98.2k reads/s of 4 KiB = 402 MB/s (383 MiB/s): the storage's number; limited by the \
         device or depth 32 (30.4 in flight, mean latency 326 µs; a higher depth was not tried)."
    );
}

#[test]
fn the_rate_that_the_plan_asks_for_is_a_limit() {
    let mut case = TestCase::direct(4096, 32, 1, 10_000.0);
    case.blocks().pace.ops = Some(candor_plan::OpsPerSec(10_000));
    case.measured().occupancy = 1.2;
    let judgement = case.judge();
    let limit = judgement.limit().unwrap();
    assert_eq!(limit, "the plan's rate (10k IOPS)");
    assert_eq!(judgement.verdict, Verdict::Ok);
    // Seen next to spinning processes: 700 of 700 IOPS, and "at most about 98 % too low".
    case.measured().per_worker[0].run_wait_ns = Some(7_300_000_000);
    let headline = case.judge().headline;
    assert!(headline.ends_with("with caution: workers starved of CPU (B8)."), "{headline}");
}

#[test]
fn buffered_writes_are_memory_in_one_line() {
    let judgement = TestCase::buffered_write().judge();
    assert_eq!(judgement.rules(), ["A3", "G1"]);
    assert!(judgement.headline.starts_with("Not the storage's number (memory, not the device)"));
    assert!(judgement.limit().unwrap().starts_with("memory"));
}

#[test]
fn jobs_that_move_nothing_measure_candor() {
    for nop in [false, true] {
        let mut case = TestCase::direct(4096, 32, 1, 9_000_000.0);
        case.after_disk(Default::default());
        case.process_read(0);
        let blocks = case.blocks();
        if let candor_plan::blocks::Engine::IoUring(options) = &mut blocks.engine {
            options.nop = nop;
        }
        if !nop {
            blocks.engine = candor_plan::blocks::Engine::Null;
        }
        let judgement = case.judge();
        assert_eq!(judgement.rules(), [] as [&str; 0]);
        assert_eq!(judgement.limit().as_deref(), Some("candor itself: no byte was moved"));
        assert!(judgement.headline.contains("9M operations/s that move no data"));
    }
}

#[test]
fn work_on_memory_is_not_limited_by_candor() {
    let mut case = TestCase::direct(4096, 32, 1, 9_000_000.0);
    case.after_disk(Default::default());
    case.process_read(0);
    let mut of_engine = case.clone();
    of_engine.blocks().engine = candor_plan::blocks::Engine::PageFault;
    case.plan.phases[0].jobs[0].work = candor_plan::Memory::default().into();
    for case in [case, of_engine] {
        let judgement = case.judge();
        assert_eq!(judgement.limit(), None);
        assert!(!judgement.headline.contains("move no data"), "{}", judgement.headline);
    }
}

/// A buffered read of half a second: a longer one would be answered by the page cache as well.
#[test]
fn a_rejected_result_proposes_nothing_but_its_cause() {
    fn short(mut case: TestCase) -> (Option<bool>, Option<bool>) {
        case.measured().elapsed_ns = 500_000_000;
        case.plan.phases[0].stop.time = Some(candor_plan::Nanos(500_000_000));
        let judged = case.judge();
        let proposes = |rule: &str| judged.finding(rule).map(|f| !f.changes.is_empty());
        (proposes("A1"), proposes("G1"))
    }
    assert_eq!(short(TestCase::buffered_read()), (Some(true), Some(false)));
    assert_eq!(short(TestCase::direct(4096, 4, 1, 10_000.0)), (None, Some(true)));
}
