//! Follow-ups that a phase calls for, and their results.

use candor_plan::blocks::{Access, Engine};
use candor_plan::{Bytes, OpsPerSec};
use candor_record::{Change, CpuTimes};

use crate::testcase::{MIB, TestCase, Workload, fact};
use crate::{Question, questions};

fn changes(case: &TestCase) -> Vec<Change> {
    let questions = questions(&case.case(), &case.judge());
    questions.into_iter().map(|Question { change, .. }| change).collect()
}

/// On bare metal, behind a device that cannot cache much.
fn bare(mut case: TestCase) -> TestCase {
    case.host.facts.host.hypervisor = fact(false);
    case
}

#[test]
fn honest_runs_raise_the_question_whether_it_was_the_load() {
    assert_eq!(changes(&bare(TestCase::direct(4096, 4, 1, 60_000.0))), [Change::MoreDepth]);
    let many = bare(TestCase::direct(4096, 32, 1, 60_000.0));
    assert_eq!(changes(&many), [Change::MoreDepth, Change::OneAtATime]);
    let threads = Workload { engine: Engine::Psync, workers: 4, ..Workload::default() }.case();
    assert_eq!(changes(&bare(threads)), [Change::MoreWorkers]);
    let mut sequence = bare(TestCase::direct(MIB, 8, 1, 500.0));
    sequence.blocks().access = Access::Sequential;
    assert_eq!(changes(&sequence), [Change::MoreDepth]);
    sequence.blocks().engine = Engine::Psync;
    sequence.blocks().depth = 1;
    assert_eq!(changes(&sequence), [], "several workers would read the same");
}

#[test]
fn a_device_that_was_not_fed_raises_the_question_of_threads() {
    let mut case = bare(TestCase::direct(4096, 4, 1, 60_000.0));
    case.after_top().weighted_ms = 9000;
    assert_eq!(changes(&case), [Change::TwiceTheThreads]);
}

#[test]
fn a_virtual_disk_gets_a_second_pass_unless_there_was_one() {
    // 10 s of 150 MiB/s from a file of 1 GiB, and of 500.
    let mut case = Workload { bs: MIB, ops_per_s: 150.0, depth: 4, ..Workload::default() }.case();
    case.host.facts.host.hypervisor = fact(true);
    assert_eq!(changes(&case), [Change::MoreDepth, Change::SamePlaces]);
    let mut over_and_over =
        Workload { bs: MIB, ops_per_s: 500.0, depth: 4, ..Workload::default() }.case();
    over_and_over.host.facts.host.hypervisor = fact(true);
    assert_eq!(changes(&over_and_over), [Change::MoreDepth]);
}

#[test]
fn what_the_counters_decide_raises_no_question() {
    let nothing = |case: &TestCase| assert_eq!(changes(case), [], "{:?}", case.judge().rules());
    nothing(&TestCase::buffered_read());
    nothing(&TestCase::direct(4096, 32, 1, 64_000.0).sata(300_000_000));
    nothing(&TestCase::direct(4096, 4, 1, 60_000.0).on_zram());
    let mut busy = bare(TestCase::direct(4096, 4, 1, 300_000.0));
    busy.measured().per_worker[0].cpu_system_ns = 9_000_000_000;
    nothing(&busy);
    let mut paced = bare(TestCase::direct(4096, 4, 1, 60_000.0));
    paced.blocks().pace.ops = Some(OpsPerSec(60_000));
    nothing(&paced);
}

#[test]
fn what_would_do_harm_or_takes_too_long_raises_no_question() {
    let nothing = |case: &TestCase| assert_eq!(changes(case), [], "{:?}", case.plan);
    nothing(&bare(TestCase::direct_write()));
    nothing(&bare(Workload { seconds: 4, depth: 4, ..Workload::default() }.case()));
    let case = bare(TestCase::direct(4096, 4, 1, 60_000.0));
    let changed = |change: &dyn Fn(&mut TestCase)| {
        let mut changed = case.clone();
        change(&mut changed);
        nothing(&changed);
    };
    changed(&|case| case.plan.repeats = 3);
    changed(&|case| case.plan.phases[0].repeats = 2);
    changed(&|case| case.plan.targets[0].remove = true);
    changed(&|case| case.plan.targets[0].scheduler = Some("none".into()));
    changed(&|case| case.plan.phases[0].jobs[0].hooks.after = Some(Default::default()));
    changed(&|case| case.measured().ended = candor_record::Ended::Interrupted);
    changed(&|case| case.measured().depth_reached = Some(4));
    changed(&|case| case.plan.phases[0].jobs.push(Default::default()));
    let mut other = case.clone();
    other.plan.targets[0].size = Some(Bytes(MIB));
    assert_eq!(changes(&other), [Change::MoreDepth], "and the plain one is");
}

/// A run of psync after follow-ups with these rates, each with twice the workers of the last.
fn doubled(workers: u32, ops_per_s: f64, steps: &[f64]) -> TestCase {
    let workload = Workload { engine: Engine::Psync, workers, ops_per_s, ..Workload::default() };
    let mut case = bare(workload.case());
    for (step, rate) in steps.iter().enumerate() {
        case.follow_up(Change::MoreWorkers, workers << (step + 1), 1, *rate);
    }
    case
}

/// The limit after these steps.
fn limit(workers: u32, ops_per_s: f64, steps: &[f64]) -> Option<String> {
    doubled(workers, ops_per_s, steps).judge().limit()
}

/// The load that is asked for next.
fn next(case: &TestCase) -> Option<u32> {
    let questions = questions(&case.case(), &case.judge());
    questions.into_iter().find(|q| q.change == Change::MoreWorkers).map(|q| q.workers)
}

/// Acceptance case T8: 34.7k with one job, 75k with four, 85k with eight, of a device that does
/// 90k.
#[test]
fn t08_the_load_first_and_then_the_device() {
    assert_eq!(
        limit(1, 34_700.0, &[60_000.0, 75_000.0]).as_deref(),
        Some("the load: 4 workers moved 2.16 times as much")
    );
    assert_eq!(
        limit(4, 75_000.0, &[85_000.0, 88_000.0, 88_500.0]).as_deref(),
        Some("the device at depth 4: up to 32 workers moved at most 1.18 times as much")
    );
    let eight = doubled(8, 85_000.0, &[88_000.0, 87_000.0]).judge();
    assert_eq!(
        eight.limit().as_deref(),
        Some("the device at depth 8: up to 32 workers moved at most 1.04 times as much")
    );
    let cost = "Cost: 600 ms, read 172 MiB.";
    assert_eq!(
        eight.follow_ups[0],
        format!("16 workers: 88k IOPS, 1.04 times the phase's 85k IOPS: no gain. {cost}")
    );
}

#[test]
fn doubling_goes_on_until_two_steps_gain_nothing() {
    assert_eq!(next(&doubled(4, 60_000.0, &[])), Some(8));
    assert_eq!(next(&doubled(4, 60_000.0, &[60_000.0])), Some(16), "one step decides nothing");
    assert_eq!(next(&doubled(4, 60_000.0, &[61_000.0, 62_000.0])), None);
    assert_eq!(next(&doubled(4, 60_000.0, &[61_000.0, 66_000.0, 67_000.0])), Some(64));
    assert_eq!(next(&doubled(4, 60_000.0, &[61_000.0, 66_000.0, 67_000.0, 66_000.0])), None);
    assert_eq!(limit(4, 60_000.0, &[60_000.0]), None, "silent after one step");
    assert_eq!(
        limit(4, 60_000.0, &[60_500.0, 85_000.0]).as_deref(),
        Some("the load: 16 workers moved 1.42 times as much")
    );
}

#[test]
fn gains_are_reported_as_they_are() {
    let case = doubled(4, 60_000.0, &[64_800.0, 84_000.0]);
    let sentences = case.judge().follow_ups;
    assert!(sentences[0].contains("1.08 times the phase's 60k IOPS: 8 % more. "));
    assert!(sentences[1].contains("1.4 times the phase's 60k IOPS: more load gains more. "));
}

#[test]
fn a_disturbed_step_is_repeated_and_never_believed() {
    assert_eq!(next(&doubled(4, 60_000.0, &[4200.0])), Some(8), "the same once more");
    let mut again = doubled(4, 60_000.0, &[4200.0]);
    assert!(again.judge().follow_ups[0].contains("disturbed, no conclusion"));
    again.follow_up(Change::MoreWorkers, 8, 1, 4100.0);
    assert_eq!((next(&again), again.judge().limit()), (None, None), "silent");
    let mut well = doubled(4, 60_000.0, &[4200.0]);
    well.follow_up(Change::MoreWorkers, 8, 1, 90_000.0);
    assert_eq!(next(&well), Some(16));
    assert_eq!(
        well.judge().limit().as_deref(),
        Some("the load: 8 workers moved 1.5 times as much")
    );
}

/// Where the load is known to be the limit, other questions come before how far it goes.
#[test]
fn what_is_known_is_asked_last() {
    let mut case = bare(TestCase::direct(4096, 32, 1, 60_000.0));
    case.follow_up(Change::MoreDepth, 1, 64, 80_000.0);
    assert_eq!(changes(&case), [Change::OneAtATime, Change::MoreDepth]);
    case.follow_up(Change::OneAtATime, 1, 1, 9000.0);
    assert_eq!(changes(&case), [Change::MoreDepth]);
}

/// The search of a series knows what more load moves.
#[test]
fn a_search_answers_before_the_phase() {
    let searched = |steps: &[(u32, f64)]| {
        let mut case = bare(TestCase::direct(4096, 16, 1, 60_000.0));
        let step = |(depth, ops_per_s): &(u32, f64)| {
            let step = TestCase::direct(4096, *depth, 1, *ops_per_s);
            let tried = Some(step.plan.phases[0].clone());
            candor_record::PhaseRecord { search_step: true, tried, ..step.recorded() }
        };
        case.after(steps.iter().map(step).collect());
        case
    };
    let flat = searched(&[(8, 40e3), (16, 70e3), (32, 71e3), (64, 72e3)]);
    assert_eq!(changes(&flat), [Change::OneAtATime]);
    assert_eq!(
        flat.judge().limit().as_deref(),
        Some("the device at depth 16: up to depth 64 moved at most 1.03 times as much")
    );
    let open = searched(&[(8, 40e3), (16, 70e3)]);
    assert_eq!(changes(&open), [Change::MoreDepth, Change::OneAtATime]);
    // A step that was disturbed and ran once more is no greater load.
    let again = searched(&[(8, 40e3), (16, 70e3), (16, 5e3), (16, 69e3)]);
    assert_eq!(changes(&again), [Change::MoreDepth, Change::OneAtATime]);
    let limit = again.judge().limit().unwrap_or_default();
    assert!(!limit.starts_with("the load") && !limit.contains("up to"), "{limit}");
}

#[test]
fn a_follow_up_that_shows_nothing_names_no_limit() {
    let mut case = bare(TestCase::direct(4096, 4, 1, 60_000.0));
    case.follow_up(Change::MoreDepth, 1, 8, 120_000.0);
    let follow_up = &mut case.record.follow_ups[0].measurement;
    follow_up.elapsed_ns = 1000;
    let judgement = case.judge();
    assert_eq!(judgement.limited_by, None);
    assert!(judgement.follow_ups[0].starts_with("Depth 8: no result."));
}

/// Seen on Linux 6.18: one worker on one CPU, with another process on it; more workers on the
/// same CPU moved 0.97 times as much, and on other CPUs twice as much.
#[test]
fn trials_that_could_have_no_more_of_the_cpus_prove_nothing_about_the_device() {
    let mut case = doubled(1, 10_000.0, &[9_900.0, 9_700.0, 9_800.0]);
    assert!(case.judge().limit().is_some_and(|limit| limit.starts_with("the device")));
    case.plan.phases[0].jobs[0].placement.cpus = vec![1];
    let times = |busy: f64| CpuTimes {
        user_ns: (busy * 1e10) as u64,
        idle_ns: ((1.0 - busy) * 1e10) as u64,
        ..CpuTimes::default()
    };
    case.host.before.cpus = vec![CpuTimes::default(); 2];
    case.host.after.cpus = vec![times(0.1), times(0.998)];
    let limit = case.judge().limit();
    assert!(limit.as_ref().is_none_or(|limit| !limit.starts_with("the device")), "{limit:?}");
}

/// A process that took the CPUs for half of the phase: the trial after it was not disturbed.
#[test]
fn trials_are_compared_with_the_seconds_that_were_not_disturbed() {
    let mut case = doubled(1, 12_000.0, &[23_000.0])
        .seconds(10, |second| if second < 5 { 20_000.0 } else { 4_000.0 });
    let sentence = &case.judge().follow_ups[0];
    assert!(sentence.contains("1.15 times the phase's 20k IOPS"), "{sentence}");
    case = doubled(1, 12_000.0, &[23_000.0]).seconds(10, |_| 12_000.0);
    let sentence = &case.judge().follow_ups[0];
    assert!(sentence.contains("1.92 times the phase's 12k IOPS"), "{sentence}");
}
