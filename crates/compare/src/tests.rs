//! Comparisons of results made by hand.

use candor_record::Verdict;
use candor_record::comparison::{Basis, CheckResult, Fairness, Outcome};
use candor_record::results::{
    Area, Condition, Disturbance, DisturbanceKind, FigureKind, Interval, JobResults,
    LatencyResults, OpResults, PhaseResults,
};

use super::*;

fn job(rate: f64) -> JobResults {
    let intervals = (0..8).map(|nth| Interval {
        length_ns: 1_000_000_000,
        ops_per_s: Some(rate * (1.0 + 0.001 * f64::from(nth % 3))),
        ..Interval::default()
    });
    let latency = LatencyResults { mean_ns: Some(1e9 / rate), ..LatencyResults::default() };
    let read = OpResults {
        operation: "read".into(),
        ops_per_s: Some(rate),
        bytes_per_s: Some(rate * 4096.0),
        latency: Some(latency),
        intervals: intervals.collect(),
        ..OpResults::default()
    };
    JobResults { job: "job".into(), operations: vec![read], ..JobResults::default() }
}

fn phase(name: &str, rate: f64) -> PhaseResults {
    let verdict = Some(Verdict::Ok);
    PhaseResults { name: name.into(), jobs: vec![job(rate)], verdict, ..PhaseResults::default() }
}

fn results(phases: Vec<PhaseResults>) -> Results {
    Results { tool: "candor 1".into(), phases, ..Results::default() }
}

/// Repeats of a phase, each a little off the rate.
fn repeated(rate: f64) -> Results {
    let repeat = |nth: u32| {
        let off = 1.0 + 0.002 * (f64::from(nth) - 2.0);
        PhaseResults { repeat: nth, ..phase("read", rate * off) }
    };
    results((0..5).map(repeat).collect())
}

fn compared(one: Results, other: Results, across: &[&str], fail_if: &[&str]) -> Comparison {
    let options = Options {
        across: across.iter().map(|word| (*word).to_owned()).collect(),
        fail_if: fail_if.iter().map(|text| FailIf::parse(text).expect("a condition")).collect(),
        ..Options::default()
    };
    compare(&[("one".into(), one), ("other".into(), other)], &options).expect("a comparison")
}

fn with(mut results: Results, area: Area, name: &str, value: &str) -> Results {
    let (name, value) = (name.to_owned(), value.to_owned());
    results.conditions.push(Condition { area, name, value, matters: true });
    results
}

#[test]
fn repeats_show_three_percent_and_both_runs_the_same_show_none() {
    let all = compared(repeated(1000.0), repeated(970.0), &[], &["iops < -2%", "iops < -8%"]);
    let change = &all.changes[0];
    let iops = &change.figures[0];
    assert_eq!((iops.kind, iops.outcome), (FigureKind::OpsPerS, Outcome::Worse));
    assert_eq!(iops.basis, Basis::Repeats { baseline: 5, run: 5 });
    let results: Vec<CheckResult> = all.checks.iter().map(|check| check.result).collect();
    assert_eq!(results, [CheckResult::Failed, CheckResult::Passed]);
    assert_eq!(all.checked(), CheckResult::Failed);
    assert!(change.headline.starts_with("B is worse than A: IOPS of read -3.0 % (from -3."));
    // A rate in bytes that is one in operations is no figure of its own.
    assert!(change.figures.iter().all(|figure| figure.kind != FigureKind::BytesPerS));

    let same = compared(repeated(1000.0), repeated(1000.0), &[], &["iops < -2%"]);
    assert_eq!(same.checked(), CheckResult::Passed);
    assert!(
        same.headline.starts_with("No significant change from A to B: IOPS of read from "),
        "{}",
        same.headline
    );
}

#[test]
fn single_runs_show_large_changes_only() {
    let of = |rate: f64| {
        let all = compared(
            results(vec![phase("read", 1000.0)]),
            results(vec![phase("read", rate)]),
            &[],
            &["iops < -2%"],
        );
        (all.changes[0].figures[0].outcome, all.checked())
    };
    assert_eq!(of(970.0), (Outcome::NotShown, CheckResult::Undecided));
    assert_eq!(of(700.0), (Outcome::Worse, CheckResult::Failed));
    assert_eq!(of(1400.0), (Outcome::Better, CheckResult::Passed));
}

#[test]
fn other_conditions_are_told_and_intended_ones_are_fair() {
    let on =
        |filesystem: &str, rate: f64| with(repeated(rate), Area::Storage, "filesystem", filesystem);
    let all = compared(on("ext4", 1000.0), on("xfs", 900.0), &[], &["iops < -5%"]);
    let change = &all.changes[0];
    assert_eq!(change.fairness, Fairness::OtherEnvironment);
    assert_eq!(all.checked(), CheckResult::Undecided);
    assert!(change.headline.contains("(filesystem: ext4 → xfs)"), "{}", change.headline);
    for across in ["filesystem", "storage"] {
        let all = compared(on("ext4", 1000.0), on("xfs", 900.0), &[across], &["iops < -5%"]);
        assert_eq!(all.changes[0].fairness, Fairness::Fair);
        assert!(all.changes[0].differences[0].intended);
        assert_eq!(all.checked(), CheckResult::Failed);
    }
    let options = Options { across: vec!["filesytem".into()], ..Options::default() };
    let runs = [("one".into(), on("ext4", 1.0)), ("other".into(), on("xfs", 1.0))];
    let error = compare(&runs, &options).expect_err("no such condition");
    assert!(error.contains("did you mean `filesystem`?"), "{error}");
}

#[test]
fn series_that_made_about_as_many_names_are_compared() {
    let fairness = |key: &str, names: &str| {
        let on = |names: &str| with(repeated(1000.0), Area::Plan, key, names);
        compared(on("1000"), on(names), &[], &[]).changes[0].fairness
    };
    let items = "tree.items of target own directories";
    assert_eq!(fairness(items, "1900"), Fairness::Fair);
    assert_eq!(fairness(items, "600"), Fairness::Fair);
    assert_eq!(fairness(items, "2000"), Fairness::OtherWork);
    assert_eq!(fairness(items, "none"), Fairness::OtherWork);
    assert_eq!(fairness("tree.depth of target", "1001"), Fairness::OtherWork);
}

#[test]
fn the_work_of_a_job_is_compared_job_by_job() {
    let deep = |depth: &str| {
        let mut results = repeated(1000.0);
        for phase in &mut results.phases {
            phase.jobs[0].conditions = vec![Condition {
                name: "depth".into(),
                value: depth.into(),
                matters: true,
                ..Condition::default()
            }];
        }
        results
    };
    let change = compared(deep("4"), deep("8"), &[], &[]).changes.remove(0);
    assert_eq!(change.fairness, Fairness::OtherWork);
    assert_eq!(
        change.headline,
        "B is not the same work as A (depth: 4 → 8), so their numbers are not comparable."
    );
    // Another tool tells the load only.
    let mut foreign = results(vec![phase("read", 1000.0)]);
    foreign.tool = "fio-3.33".into();
    foreign.phases[0].jobs[0].load.depth = Some(8);
    let mut own = deep("4");
    own.phases.iter_mut().for_each(|phase| phase.jobs[0].load.depth = Some(4));
    let change = compared(own, foreign, &[], &[]).changes.remove(0);
    let told: Vec<&str> = change.differences.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(told, ["depth", "tool"]);
}

#[test]
fn the_load_of_others_is_a_condition() {
    let disturbed = |share: f64| {
        let mut results = repeated(1000.0);
        for phase in &mut results.phases {
            phase.disturbances = vec![Disturbance { kind: DisturbanceKind::CpuOfOthers, share }];
        }
        results
    };
    let fairness =
        |share: f64| compared(disturbed(0.1), disturbed(share), &[], &[]).changes[0].fairness;
    assert_eq!((fairness(0.15), fairness(0.4)), (Fairness::Fair, Fairness::OtherEnvironment));
    for across in ["CPU time of others", "host"] {
        let change = compared(disturbed(0.1), disturbed(0.4), &[across], &[]).changes.remove(0);
        assert_eq!(change.fairness, Fairness::Fair, "{across}");
    }
}

#[test]
fn a_stop_of_any_length_is_a_condition() {
    let stopped = |share: f64| {
        let mut results = repeated(1000.0);
        for phase in &mut results.phases {
            phase.disturbances = vec![Disturbance { kind: DisturbanceKind::Stopped, share }];
        }
        results
    };
    let change = compared(stopped(0.0), stopped(0.004), &[], &[]).changes.remove(0);
    assert_eq!(change.fairness, Fairness::OtherEnvironment);
    let told = "time in which the process was stopped: 0 % → 0.4 %";
    assert!(change.headline.contains(told), "{}", change.headline);
    let change = compared(stopped(0.0), stopped(0.0), &[], &[]).changes.remove(0);
    assert_eq!(change.fairness, Fairness::Fair);
}

#[test]
fn what_cannot_be_believed_is_said_and_never_passes() {
    let mut cached = repeated(5000.0);
    for phase in &mut cached.phases {
        phase.verdict = Some(Verdict::Wrong);
        phase.headline = "Not the storage's number (page cache)".into();
    }
    let all = compared(repeated(1000.0), cached.clone(), &[], &["iops < -2%"]);
    assert_eq!(all.checked(), CheckResult::Undecided);
    assert_eq!(
        all.headline,
        "Not comparable: what B measured is not the storage, or could not be verified."
    );
    let outcomes = all.changes[0].figures.iter().map(|figure| figure.outcome);
    assert!(
        outcomes.clone().all(|of| of == Outcome::Unknown),
        "{:?}",
        outcomes.collect::<Vec<_>>()
    );
    // Other results of the same runs are compared.
    let with_write = |mut of: Results, rate: f64| {
        of.phases.extend(
            repeated(rate)
                .phases
                .into_iter()
                .map(|phase| PhaseResults { name: "write".into(), ..phase }),
        );
        of
    };
    let all =
        compared(with_write(repeated(1000.0), 1000.0), with_write(cached.clone(), 500.0), &[], &[]);
    assert!(all.headline.starts_with("B is worse than A: IOPS of read in write -50 %"));
    assert!(all.headline.contains("Some results of B are left out"), "{}", all.headline);
    let turned = compared(cached.clone(), repeated(1000.0), &[], &["iops < -2%"]);
    assert!(!turned.headline.contains("better") && !turned.headline.contains("worse"));
    let all = compared(repeated(1000.0), cached.clone(), &[], &[]);
    let [doubt] = &all.changes[0].doubts[..] else { panic!("one doubt") };
    assert_eq!((doubt.run.as_str(), doubt.unbelieved), ("B", true));

    // A single repeat from the cache is left out, and told.
    let mut mixed = repeated(1000.0);
    mixed.phases[3] = PhaseResults { repeat: 3, ..cached.phases[0].clone() };
    let all = compared(repeated(1000.0), mixed, &[], &["iops < -5%"]);
    let iops = &all.changes[0].figures[0];
    assert_eq!(iops.basis, Basis::Repeats { baseline: 5, run: 4 });
    assert!(iops.run < 1010.0, "{iops:?}");
    assert!(all.changes[0].doubts[0].sentence.starts_with("1 repeat left out"));
    assert_eq!(all.checked(), CheckResult::Passed);
}

#[test]
fn partners_are_found_by_name_or_as_the_only_ones_and_others_are_told() {
    let renamed = compared(
        results(vec![phase("read 4 KiB", 1000.0)]),
        results(vec![phase("read 8 KiB", 1000.0)]),
        &[],
        &[],
    );
    assert_eq!(renamed.changes[0].figures[0].phase, "read 4 KiB");
    let two = |first: &str, second: &str| results(vec![phase(first, 1.0), phase(second, 1.0)]);
    let change = compared(two("a", "b"), two("b", "c"), &[], &[]).changes.remove(0);
    assert_eq!(change.unmatched, ["A: a", "B: c"]);
    assert!(change.figures.iter().all(|figure| figure.phase == "b"));
    let change = compared(two("a", "b"), two("c", "d"), &[], &[]).changes.remove(0);
    assert_eq!(change.headline, "A and B have no result in common.");
    let mut jobs = results(vec![phase("a", 1.0)]);
    jobs.phases[0].jobs.push(JobResults { job: "log".into(), ..job(1.0) });
    let change = compared(jobs, results(vec![phase("a", 1.0)]), &[], &[]).changes.remove(0);
    assert_eq!(change.unmatched, ["A: job log of a"]);
}

#[test]
fn more_runs_are_set_beside_the_first_of_them() {
    let runs = [1000.0, 1000.0, 500.0].map(|rate| (String::new(), repeated(rate)));
    let all = compare(&runs, &Options::default()).expect("a comparison");
    let labels: Vec<&str> = all.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(labels, ["A", "B", "C"]);
    assert!(all.headline.contains("C is worse than A: IOPS of read -50 %"), "{}", all.headline);
    assert_eq!((words::label(25), words::label(26)), ("Z".to_owned(), "Z2".to_owned()));
    assert!(compare(&[], &Options::default()).is_err());
}
