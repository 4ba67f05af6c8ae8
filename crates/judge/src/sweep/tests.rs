//! Sweeps of phases as a run leaves them.

use candor_plan::Bytes;
use candor_plan::units::Direction;
use candor_plan::units::OpsPerSec;
use candor_record::{Knee, Limit, Verdict};

use super::*;
use crate::testcase::{TestCase, Workload};

/// Phases on one target with these results, all of them believable.
struct Ran {
    plan: Plan,
    phases: Vec<PhaseRecord>,
    judged: Vec<Option<PhaseJudgement>>,
}

impl Ran {
    fn of(cases: Vec<TestCase>) -> Ran {
        let mut plan = cases[0].plan.clone();
        plan.phases = cases.iter().map(|case| case.plan.phases[0].clone()).collect();
        let record = |(phase, case): (usize, TestCase)| PhaseRecord { phase, ..case.recorded() };
        let phases: Vec<_> = cases.into_iter().enumerate().map(record).collect();
        let judged = vec![Some(PhaseJudgement::default()); phases.len()];
        Ran { plan, phases, judged }
    }

    /// Random reads of 4 KiB at these depths.
    fn depths(results: &[(u32, f64)]) -> Ran {
        Ran::of(
            results.iter().map(|(depth, ops)| TestCase::direct(4096, *depth, 1, *ops)).collect(),
        )
    }

    fn sweep(&self) -> Option<Sweep> {
        sweep(&self.plan, &self.phases, &self.judged)
    }

    fn knee(&self) -> Knee {
        self.sweep().expect("a sweep").knees.into_iter().next().expect("a knee")
    }

    fn blocks(&mut self, phase: usize) -> &mut Blocks {
        self.plan.phases[phase].jobs[0].blocks_mut().expect("blocks")
    }
}

const LEVEL: [(u32, f64); 4] = [(1, 9346.0), (4, 36_000.0), (16, 63_500.0), (64, 65_900.0)];

#[test]
fn the_least_depth_as_good_as_the_best_is_the_knee() {
    let ran = Ran::depths(&LEVEL);
    let sweep = ran.sweep().expect("phases differ in depth only");
    assert_eq!(sweep.keys, [SweepKey::Depth]);
    let values: Vec<&str> = sweep.rows.iter().map(|row| row.values[0].as_str()).collect();
    assert_eq!(values, ["1", "4", "16", "64"]);
    assert_eq!(sweep.rows[0].gain, None);
    let gain = sweep.rows[1].gain.expect("a step");
    assert!((gain - 3.85).abs() < 0.01, "{gain}");
    assert_eq!(sweep.knees[0].value.as_deref(), Some("16"));
    assert_eq!(
        sweep.knees[0].sentence,
        "The knee is depth 16: 63.5k IOPS, the least tried within 5 % of the best (65.9k IOPS with \
         depth 64); an operation took 252 µs there, 971 µs with depth 64."
    );
}

#[test]
fn rows_go_from_the_least_value_to_the_greatest_whatever_ran_first() {
    let mut results = LEVEL;
    results.reverse();
    let sweep = Ran::depths(&results).sweep().expect("a sweep");
    assert_eq!(sweep.rows.iter().map(|row| row.phase).collect::<Vec<_>>(), [3, 2, 1, 0]);
    assert_eq!(sweep.knees[0].value.as_deref(), Some("16"));
}

#[test]
fn a_rate_that_still_grows_has_no_knee() {
    let knee = Ran::depths(&[(1, 9346.0), (8, 37_800.0), (128, 65_900.0)]).knee();
    let wanted = "No knee up to depth 128: the rate was 65.9k IOPS, 1.74× the rate at depth 8.";
    assert_eq!((knee.value, knee.sentence.as_str()), (None, wanted));
}

#[test]
fn a_rate_that_never_grew_has_no_knee_either() {
    let knee = Ran::depths(&[(4, 40_000.0), (16, 41_000.0), (64, 40_500.0)]).knee();
    assert_eq!(knee.value, None);
    let begins = "No knee: depth 4, the least tried, did 40k IOPS, within 5 % of the best";
    assert!(knee.sentence.starts_with(begins), "{}", knee.sentence);
}

#[test]
fn a_dip_between_better_results_was_disturbed() {
    let knee = Ran::depths(&[(1, 9346.0), (4, 2500.0), (16, 63_500.0), (64, 65_900.0)]).knee();
    assert_eq!(knee.value, None);
    assert!(
        knee.sentence.contains("depth 4 did 2500 IOPS, less than depth 1"),
        "{}",
        knee.sentence
    );
    let falls = Ran::depths(&[(1, 9346.0), (4, 36_000.0), (16, 20_000.0)]).knee();
    assert_eq!(falls.value.as_deref(), Some("4"), "too much load may cost: {}", falls.sentence);
}

#[test]
fn results_that_do_not_stand_have_no_knee() {
    let mut ran = Ran::depths(&LEVEL);
    ran.judged[2].as_mut().expect("judged").verdict = Verdict::Wrong;
    let sweep = ran.sweep().expect("a sweep");
    assert_eq!(sweep.rows[2].verdict, Verdict::Wrong);
    let wanted = "No knee is reported: 1 of 4 results is not trusted.";
    assert_eq!((sweep.knees[0].value.clone(), sweep.knees[0].sentence.as_str()), (None, wanted));
}

#[test]
fn a_rate_that_was_set_and_a_depth_that_does_nothing_have_no_knee() {
    let mut paced = Ran::depths(&LEVEL);
    (0..4).for_each(|phase| paced.blocks(phase).pace.ops = Some(OpsPerSec(10_000)));
    assert_eq!(paced.sweep().expect("a sweep").knees, []);
    let mut sync = Ran::depths(&LEVEL);
    (0..4).for_each(|phase| sync.blocks(phase).engine = candor_plan::Engine::Psync);
    assert_eq!(sync.sweep().expect("a sweep").knees, []);
}

#[test]
fn larger_blocks_are_weighed_by_bandwidth() {
    let sizes = [(4096u64, 9000.0), (65_536, 8000.0), (1 << 20, 510.0)];
    let cases = sizes.map(|(bs, ops)| TestCase::direct(bs, 1, 1, ops)).to_vec();
    let sweep = Ran::of(cases).sweep().expect("a sweep");
    assert_eq!(sweep.keys, [SweepKey::Bs]);
    assert_eq!(sweep.rows[1].values, ["64 KiB"]);
    assert_eq!(
        sweep.knees[0].sentence,
        "The knee is 64 KiB blocks: 524 MB/s, the least tried within 5 % of the best (535 MB/s \
         with 1 MiB blocks); an operation took 125 µs there, 1.96 ms with 1 MiB blocks."
    );
}

#[test]
fn two_keys_have_a_series_for_each_value_of_the_first() {
    let cases =
        [(4096, 1, 9000.0), (4096, 16, 60_000.0), (65_536, 1, 4000.0), (65_536, 16, 8000.0)];
    let cases = cases.map(|(bs, depth, ops)| TestCase::direct(bs, depth, 1, ops)).to_vec();
    let ran = Ran::of(cases);
    let sweep = ran.sweep().expect("a sweep");
    assert_eq!(sweep.keys, [SweepKey::Bs, SweepKey::Depth]);
    assert_eq!(sweep.rows[2].values, ["64 KiB", "1"]);
    assert_eq!(sweep.rows[2].gain, None, "another series begins");
    assert_eq!(sweep.rows[3].gain, Some(2.0));
    assert_eq!(sweep.knees.len(), 2);
    assert!(sweep.knees[1].sentence.starts_with("64 KiB blocks: no knee up to depth 16"));
    let mut lacks_one = ran;
    lacks_one.plan.phases.pop();
    assert_eq!(lacks_one.sweep(), None);
}

#[test]
fn other_plans_are_no_sweep() {
    let mut other = Ran::depths(&LEVEL);
    other.blocks(2).direct = false;
    assert_eq!(other.sweep(), None, "they differ in something else");
    let twice = Ran::depths(&[(4, 1.0), (4, 1.0)]);
    assert_eq!(twice.sweep(), None, "they do not differ");
    let single = Ran::depths(&LEVEL[..1]);
    assert_eq!(single.sweep(), None);
    let write = Workload { op: Direction::Write, ..Workload::default() }.case();
    let kinds = Ran::of(vec![TestCase::direct(4096, 1, 1, 10_000.0), write]);
    assert_eq!(kinds.sweep(), None, "the table of results has both");
    let mut sizes = Ran::depths(&LEVEL);
    let large = SizeSpec::Fixed(Bytes(8192));
    sizes.blocks(3).size = PerDirection::all(large);
    assert_eq!(sizes.sweep(), None, "not each pair of values is there");
}

#[test]
fn repeats_count_together() {
    let mut ran = Ran::depths(&LEVEL[..2]);
    let mut again = ran.phases[0].clone();
    again.repeat = 1;
    let stats = again.measurements[0].of_mut(Direction::Read);
    stats.ops *= 3;
    ran.phases.push(again);
    ran.judged.push(Some(PhaseJudgement::default()));
    let row = &ran.sweep().expect("a sweep").rows[0];
    assert!((row.ops_per_s / 9346.0 - 2.0).abs() < 0.01, "{}", row.ops_per_s);
}

/// The report of that sweep, judged whole.
fn report(ran: Ran) -> candor_record::Judgement {
    let Ran { plan, phases, .. } = ran;
    crate::judge_again(&candor_record::Report { plan, phases, ..Default::default() })
}

#[test]
fn rows_answer_each_others_open_questions() {
    fn limits(results: &[(u32, f64)]) -> Vec<Option<Limit>> {
        let phases = report(Ran::depths(results)).phases.into_iter();
        phases.map(|phase| phase.expect("a result").limited_by).collect()
    }
    let more = limits(&[(4, 23_600.0), (16, 37_700.0), (64, 38_000.0)]);
    let Some(Limit::Load { times, .. }) = more[0] else { panic!("{more:?}") };
    assert!((times - 1.61).abs() < 0.01, "{more:?}");
    let flat = limits(&[(16, 37_700.0), (32, 37_900.0), (64, 38_000.0)]);
    assert!(matches!(flat[0], Some(Limit::DeviceFlat { .. })), "{flat:?}");
    assert!(matches!(flat[2], Some(Limit::Device { .. })), "nothing above 64 was tried: {flat:?}");
}

#[test]
fn a_wait_for_cpus_is_no_limit_where_more_depth_moved_more() {
    let mut ran = Ran::depths(&[(1, 1930.0), (64, 27_400.0)]);
    for worker in &mut ran.phases[0].measurements[0].per_worker {
        worker.run_wait_ns = Some(worker.elapsed_ns / 100 * 74);
    }
    let judged = report(ran);
    let first = judged.phases[0].as_ref().expect("a result");
    assert!(matches!(first.limited_by, Some(Limit::Load { .. })), "{:?}", first.limited_by);
}
