//! Follow-ups that a phase calls for, and their results.

use candor_plan::blocks::{Access, Engine};
use candor_plan::{Bytes, OpsPerSec};
use candor_record::Change;

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
    assert_eq!(changes(&bare(TestCase::direct(4096, 4, 1, 60_000.0))), [Change::TwiceTheDepth]);
    let many = bare(TestCase::direct(4096, 32, 1, 60_000.0));
    assert_eq!(changes(&many), [Change::TwiceTheDepth, Change::OneAtATime]);
    let threads = Workload { engine: Engine::Psync, workers: 4, ..Workload::default() }.case();
    assert_eq!(changes(&bare(threads)), [Change::TwiceTheWorkers]);
    let mut sequence = bare(TestCase::direct(MIB, 8, 1, 500.0));
    sequence.blocks().access = Access::Sequential;
    assert_eq!(changes(&sequence), [Change::TwiceTheDepth]);
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
    assert_eq!(changes(&case), [Change::TwiceTheDepth, Change::SamePlaces]);
    let mut over_and_over =
        Workload { bs: MIB, ops_per_s: 500.0, depth: 4, ..Workload::default() }.case();
    over_and_over.host.facts.host.hypervisor = fact(true);
    assert_eq!(changes(&over_and_over), [Change::TwiceTheDepth]);
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
    assert_eq!(changes(&other), [Change::TwiceTheDepth], "and the plain one is");
}

/// Acceptance case T8: 34.7k with one job, 75k with four, 85k with eight, of a device that does
/// 90k.
#[test]
fn t08_the_load_first_and_then_the_device() {
    let jobs = |workers: u32, ops_per_s: f64, twice: f64| {
        let workload =
            Workload { engine: Engine::Psync, workers, ops_per_s, ..Workload::default() };
        let mut case = bare(workload.case());
        assert_eq!(changes(&case)[0], Change::TwiceTheWorkers);
        case.follow_up(Change::TwiceTheWorkers, 2 * workers, 1, twice);
        case.judge()
    };
    let one = jobs(1, 34_700.0, 60_000.0);
    assert_eq!(
        one.limit().as_deref(),
        Some("the load: twice the workers (2) moved 1.73 times as much")
    );
    let four = jobs(4, 75_000.0, 85_000.0);
    assert!(four.limit().unwrap().starts_with("the device at depth 4: twice the workers (8)"));
    let eight = jobs(8, 85_000.0, 88_000.0);
    assert_eq!(
        eight.limit().as_deref(),
        Some("the device at depth 8: twice the workers (16) moved 1.04 times as much")
    );
    let sentences = eight.follow_ups.join("");
    let showed = "Twice the workers (16): 88k IOPS, 1.04 times the 85k IOPS of the phase: ";
    let cost = "no more is to be had that way. It took 600 ms and read 172 MiB.";
    assert_eq!(sentences, format!("{showed}{cost}"));
}

#[test]
fn a_follow_up_that_shows_nothing_changes_nothing() {
    let mut case = bare(TestCase::direct(4096, 4, 1, 60_000.0));
    let without = case.judge().limited_by;
    case.follow_up(Change::TwiceTheDepth, 1, 8, 120_000.0);
    let follow_up = &mut case.record.follow_ups[0].measurement;
    follow_up.elapsed_ns = 1000;
    let judgement = case.judge();
    assert_eq!(judgement.limited_by, without);
    assert!(judgement.follow_ups[0].starts_with("Twice the depth (8) showed nothing."));
}
