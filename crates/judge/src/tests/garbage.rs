//! Whatever comes in, a judgement comes out, without panic and without NaN.

use candor_plan::objects::ObjectOp;
use candor_plan::units::Direction;
use candor_plan::{Job, Plan};
use candor_record::http::{AttemptFailure, FailureClass};
use candor_record::*;

use crate::case::Case;
use crate::testcase::{MIB, TestCase};

fn check(judgement: &PhaseJudgement) {
    let text = format!("{judgement:?}");
    assert!(!text.contains("NaN") && !text.contains("inf,") && !text.contains("inf)"), "{text}");
    serde_json::to_string(&judgement.findings).unwrap();
    serde_json::to_string(&judgement.ceilings).unwrap();
    assert!(!judgement.headline.is_empty());
    for finding in &judgement.findings {
        assert!(!finding.sentence.is_empty() && finding.sentence.ends_with('.'), "{finding:?}");
    }
}

fn judge(case: &TestCase) -> PhaseJudgement {
    let judgement = case.judge();
    check(&judgement);
    case.preflight();
    judgement
}

#[test]
fn nothing_at_all() {
    let (plan, record) = (Plan::default(), PhaseRecord::default());
    let case = Case::new(&plan, &record, &[], &[]);
    let judgement = crate::judge(&case);
    check(&judgement);
    assert_eq!(judgement.verdict, Verdict::Unverified);
    assert!(judgement.headline.starts_with("Nothing was measured"));
    assert_eq!(crate::preflight::preflight(&case), []);
}

#[test]
fn a_plan_without_measurements() {
    for mut case in cases() {
        case.record = PhaseRecord::default();
        case.host = HostRecord { facts: case.host.facts, ..HostRecord::default() };
        assert_eq!(judge(&case).verdict, Verdict::Unverified);
        case.host.facts = Facts::default();
        judge(&case);
    }
}

#[test]
fn errors_are_quoted_where_nothing_was_done() {
    let mut case = TestCase::direct(4096, 1, 1, 1000.0);
    let measured = case.measured();
    measured.operations.clear();
    measured.errors.push(IoFailure {
        op: None,
        path: "/data/file".into(),
        offset: 0,
        errno: 5,
        message: "input/output error".into(),
        count: 1,
    });
    assert_eq!(
        judge(&case).headline,
        "Nothing was measured: no operation completed: input/output error (/data/file)."
    );
}

fn cases() -> Vec<TestCase> {
    vec![
        TestCase::direct(4096, 32, 2, 60_000.0),
        TestCase::direct(MIB, 4, 1, 500.0).sata(300_000_000),
        TestCase::direct(4096, 1, 1, 10_000.0).on_loop(false),
        TestCase::direct(4096, 1, 1, 10_000.0).on_zram(),
        TestCase::buffered_read(),
        TestCase::buffered_write(),
        TestCase::direct_write(),
        TestCase::direct_write().seconds(40, |second| 9000.0 - 200.0 * second as f64),
        TestCase::direct(4096, 64, 1, 9000.0).on_array("raid5", &[0.9, 0.05, 0.05]),
        TestCase::direct(MIB, 4, 1, 900.0).behind("PCIe", 985_000_000, 3_940_000_000),
        followed_up(),
    ]
}

/// With follow-ups of every kind.
fn followed_up() -> TestCase {
    let mut case = TestCase::direct(4096, 8, 2, 9000.0);
    use Change::*;
    for change in [
        OtherPlaces,
        SamePlaces,
        MoreDepth,
        MoreWorkers,
        TwiceTheThreads,
        OneAtATime,
        FilesOfTheirOwn,
    ] {
        case.follow_up(change, 4, 8, 20_000.0);
    }
    case
}

/// Ways to break a case.
fn breakers() -> Vec<fn(&mut TestCase)> {
    vec![
        |case| case.measured().elapsed_ns = 0,
        |case| case.host.after.at_ns = 0,
        |case| case.measured().occupancy = f64::NAN,
        |case| case.measured().occupancy = f64::INFINITY,
        |case| case.measured().engine.clock_cost_ns = f64::NAN,
        |case| case.measured().of_mut(Direction::Read).ops = u64::MAX,
        |case| case.measured().of_mut(Direction::Write).bytes = u64::MAX,
        |case| case.measured().of_mut(Direction::Read).ops = 0,
        |case| case.measured().per_worker.clear(),
        |case| case.measured().per_worker[0] = WorkerStats::default(),
        |case| case.measured().per_worker[0].cpu_user_ns = u64::MAX,
        |case| case.measured().samples = vec![Sample::default(); 20],
        |case| case.measured().job = "another".into(),
        |case| case.host.before.devices[0].1.reads = u64::MAX,
        |case| case.host.after.devices.clear(),
        |case| case.after_top().read_sectors = u64::MAX,
        |case| case.host.after.process_io = None,
        |case| case.host.before.process_io.as_mut().unwrap().read_bytes = u64::MAX,
        |case| case.host.after.cache = Some(CacheState::default()),
        |case| case.host.before.cache.as_mut().unwrap().resident_bytes = u64::MAX,
        |case| case.host.idle = Some(IdleWindow::default()),
        |case| case.host.facts.targets.clear(),
        |case| case.host.facts.devices.clear(),
        |case| case.host.facts.devices[0].below.push("vda".into()),
        |case| case.host.facts.devices[0].queue = Default::default(),
        |case| case.plan.targets.clear(),
        |case| case.blocks().depth = 0,
        |case| case.blocks().depth = u32::MAX,
        |case| case.plan.phases[0].jobs[0].workers = u32::MAX,
        |case| case.plan.phases[0].jobs.push(Job::default()),
        |case| case.plan.phases[0].ramp = candor_plan::Nanos(u64::MAX),
        |case| case.measured().of_mut(Direction::Read).latency = None,
        |case| {
            if let Some(latency) = case.measured().of_mut(Direction::Read).latency.as_mut() {
                (latency.mean_ns, latency.count) = (f64::NAN, u64::MAX);
            }
        },
    ]
}

#[test]
fn broken_once_or_twice_there_is_always_a_judgement() {
    let breakers = breakers();
    for case in cases() {
        for one in &breakers {
            for other in &breakers {
                let mut case = case.clone();
                one(&mut case);
                let ready = !case.host.after.devices.is_empty()
                    && !case.host.facts.devices.is_empty()
                    && case.host.before.process_io.is_some()
                    && !case.record.measurements[0].per_worker.is_empty();
                if ready && case.host.before.cache.is_some() {
                    other(&mut case);
                }
                judge(&case);
            }
        }
    }
}

/// Ways to break the requests for objects.
fn broken_requests() -> Vec<fn(&mut TestCase)> {
    vec![
        |case| *case.http() = HttpStats::default(),
        |case| case.measured().elapsed_ns = 0,
        |case| case.measured().per_worker.clear(),
        |case| case.measured().operations.clear(),
        |case| case.attempts().attempts = u64::MAX,
        |case| case.attempts().retries = u64::MAX,
        |case| case.attempts().good_bytes = 0,
        |case| case.attempts().attempt = None,
        |case| case.attempts().near_40_ms = u64::MAX,
        |case| case.http().in_flight_max = 0,
        |case| case.http().in_flight_ns = u64::MAX,
        |case| case.http().peers.clear(),
        |case| case.http().tcp = Some(Default::default()),
        |case| case.http().connections.opened = u64::MAX,
        |case| case.http().connections.paid_mean_ns = f64::NAN,
        |case| case.http().clock.as_mut().unwrap().min_s = f64::NAN,
        |case| case.http().clock.as_mut().unwrap().max_s = f64::NEG_INFINITY,
        |case| case.http().objects.missing_deletes = Some(u64::MAX),
        |case| case.http().objects.empty_reads = u64::MAX,
        |case| case.http().objects.distinct_reads = 0,
        |case| case.http().objects.mismatches = u64::MAX,
        |case| case.http().objects.age_s.as_mut().unwrap().min_s = f64::NAN,
        |case| {
            let failure = AttemptFailure { attempts: u64::MAX, permitted: u64::MAX, ..failure() };
            case.http().failures = vec![failure.clone(), failure];
        },
        |case| case.plan.buckets.clear(),
        |case| case.objects().depth = u32::MAX,
        |case| case.plan.phases.clear(),
    ]
}

fn failure() -> AttemptFailure {
    AttemptFailure { class: FailureClass::Throttled, final_attempts: 9, ..Default::default() }
}

#[test]
fn broken_requests_are_judged() {
    for one in &broken_requests() {
        for other in &broken_requests() {
            let mut case = TestCase::on_objects(ObjectOp::Get, 4096, 8, 4000.0);
            one(&mut case);
            let http = case.record.measurements[0].http.as_ref();
            let is_whole = http.is_some_and(|http| {
                http.clock.is_some() && http.objects.age_s.is_some() && !http.operations.is_empty()
            });
            if is_whole && !case.plan.phases.is_empty() {
                other(&mut case);
            }
            judge(&case);
        }
    }
}
