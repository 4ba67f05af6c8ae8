//! Jobs of one phase: those that wait for others, fail alone, or find no room.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{Blocks, Durability, Engine, Share};
use candor_plan::rank::HostIndex;
use candor_plan::units::{Direction, Mix};
use candor_plan::{Bytes, Job, Measure, Nanos, OnFailure, Phase, Plan, Stop, Target, TargetKind};
use candor_record::{Ended, Measurement};

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

/// A device on which every write fails for want of space.
const FULL: &str = "/dev/full";

/// A job that writes 64 KiB of a target of the same name.
fn writer(name: &str) -> Job {
    let blocks = Blocks { mix: Mix::WRITE, ..Blocks::default() };
    let targets = vec![name.to_owned()];
    Job { name: name.into(), targets, work: blocks.into(), ..Job::default() }
}

fn plan(paths: &[(&str, &Path)], jobs: Vec<Job>, on_failure: OnFailure) -> Plan {
    let target = |(name, path): &(&str, &Path)| Target {
        name: (*name).into(),
        path: (*path).into(),
        size: Some(Bytes(64 << 10)),
        ..Target::default()
    };
    let phase = Phase { jobs, on_failure, ..Phase::default() };
    let targets = paths.iter().map(target).collect();
    Plan { targets, phases: vec![phase], ..Plan::default() }
}

fn run(plan: &Plan) -> Vec<Measurement> {
    let prepared =
        Prepared::new(&mut Session::new(families), &Task::of(plan, 0)).expect("prepared");
    prepared.run(&AtomicBool::new(false), &mut ())
}

fn ends(all: &[Measurement]) -> Vec<Ended> {
    all.iter().map(|measurement| measurement.ended).collect()
}

#[test]
fn a_job_starts_when_those_it_waits_for_have_ended() {
    let file = tempfile::NamedTempFile::new().expect("a scratch file");
    let stop = Some(Stop { time: Some(Nanos(150_000_000)), ..Stop::default() });
    let first = Job { name: "first".into(), stop, ..writer("t") };
    let beside = Job { name: "beside".into(), ..writer("t") };
    let second = Job { name: "second".into(), after: vec!["first".into()], ..writer("t") };
    let third = Job { name: "third".into(), after: vec!["second".into()], ..writer("t") };
    let jobs = vec![first, beside, second, third];
    let all = run(&plan(&[("t", file.path())], jobs, OnFailure::EndRun));
    assert_eq!(ends(&all), [Ended::Time, Ended::Done, Ended::Done, Ended::Done]);
    let began: Vec<u64> = all.iter().map(|m| m.start_unix_ms.expect("known")).collect();
    let since = |at: usize| began[at].saturating_sub(began[0]);
    assert!(since(1) < 100 && since(2) >= 149 && since(3) >= since(2), "{began:?}");
    assert!(all.iter().skip(1).all(|m| m.of(Direction::Write).ops == 16), "{all:?}");
    assert!(all[2].elapsed_ns < 100_000_000, "its own time counts from its own start");
}

#[test]
fn a_job_without_its_file_fails_alone() {
    let file = tempfile::NamedTempFile::new().expect("a scratch file");
    let skipped = Path::new("/proc/no-such-file");
    let paths = [("skipped", skipped), ("there", file.path())];
    let jobs = || vec![writer("skipped"), writer("there")];
    let all = run(&plan(&paths, jobs(), OnFailure::EndJob));
    assert_eq!(ends(&all), [Ended::Failed, Ended::Done]);
    assert_eq!((all[0].job.as_str(), all[0].errors[0].errno), ("skipped", libc::ENOENT));
    assert!(all[0].errors[0].path.contains("no-such-file"), "{:?}", all[0].errors);
    assert_eq!(all[1].of(Direction::Write).ops, 16);
    let together = plan(&paths, jobs(), OnFailure::EndRun);
    let refused = Prepared::new(&mut Session::new(families), &Task::of(&together, 0));
    assert!(refused.is_err(), "by default nothing runs");
}

#[test]
fn an_error_of_one_job_ends_others_only_where_planned() {
    let file = tempfile::NamedTempFile::new().expect("a scratch file");
    let paths = [("full", Path::new(FULL)), ("there", file.path())];
    let stop = Some(Stop { time: Some(Nanos(300_000_000)), ..Stop::default() });
    for (on_failure, ended) in
        [(OnFailure::EndJob, Ended::Time), (OnFailure::EndRun, Ended::Interrupted)]
    {
        let there = Job { stop: stop.clone(), ..writer("there") };
        let all = run(&plan(&paths, vec![writer("full"), there], on_failure));
        assert_eq!(ends(&all), [Ended::Failed, ended]);
        assert_eq!(all[0].errors[0].errno, libc::ENOSPC);
    }
}

#[test]
fn no_space_left_is_an_end_where_planned() {
    let stop = Some(Stop { until_full: true, ..Stop::default() });
    let full = Job { stop, ..writer("full") };
    let all = run(&plan(&[("full", Path::new(FULL))], vec![full], OnFailure::EndRun));
    assert_eq!(ends(&all), [Ended::Full]);
    assert!(all[0].errors.is_empty() && all[0].of(Direction::Write).failed == 0, "{all:?}");
}

#[test]
fn final_flushes_are_charged_to_their_own_jobs() {
    let file = tempfile::NamedTempFile::new().expect("a scratch file");
    let mut flushed = Job { name: "flushed".into(), ..writer("t") };
    if let Some(blocks) = flushed.blocks_mut() {
        blocks.durability = Durability { fsync_at_end: true, ..Durability::default() };
    }
    let again = Job { name: "again".into(), ..flushed.clone() };
    let jobs = vec![flushed, writer("t"), again];
    let all = run(&plan(&[("t", file.path())], jobs, OnFailure::EndRun));
    let flushed: Vec<bool> = all.iter().map(|m| m.elapsed_with_flush_ns.is_some()).collect();
    assert_eq!(flushed, [true, false, true]);
}

#[test]
fn two_hosts_write_as_one_with_all_the_workers() {
    let (one, both) = (tempfile::NamedTempFile::new(), tempfile::NamedTempFile::new());
    let (one, both) = (one.expect("a scratch file"), both.expect("a scratch file"));
    let sliced = |path: &Path, workers: u32| {
        let blocks = Blocks { mix: Mix::WRITE, share: Share::Slice, ..Blocks::default() };
        let job = Job { workers, work: blocks.into(), ..writer("t") };
        plan(&[("t", path)], vec![job], OnFailure::EndRun)
    };
    let whole = run(&sliced(one.path(), 4)).remove(0);
    let plan = sliced(both.path(), 2);
    let on = |host: u32| {
        let task = Task { host: HostIndex { host, hosts: 2 }, ..Task::of(&plan, 0) };
        let prepared = Prepared::new(&mut Session::new(families), &task).expect("prepared");
        prepared.run(&AtomicBool::new(false), &mut ()).remove(0)
    };
    let mut merged = on(0);
    merged.merge(on(1));
    let written = |path: &Path| std::fs::read(path).expect("read");
    assert_eq!(written(one.path()).len(), 64 << 10);
    assert!(written(one.path()) == written(both.path()), "the same bytes at the same places");
    let counts = |measured: &Measurement| {
        let op = measured.of(Direction::Write);
        let ranks: Vec<_> = measured.per_worker.iter().map(|w| (w.rank, w.ops, w.bytes)).collect();
        (op.ops, op.bytes, ranks, measured.workers, measured.last_done.bytes)
    };
    assert_eq!(counts(&merged), counts(&whole));
}

/// Reads of two files, the second twice as long, then one file after the other of a single target.
#[test]
fn targets_are_counted_apart_where_planned() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let [short, long] = ["short", "long"].map(|name| dir.path().join(name));
    std::fs::write(&short, [0; 64 << 10]).expect("written");
    std::fs::write(&long, [0; 128 << 10]).expect("written");
    let of = |per_target: bool, workers: u32, ramp_ms: u64| {
        let measure = Measure { per_target, ..Measure::default() };
        let job = Job {
            targets: vec!["short".into(), "long".into()],
            workers,
            work: Blocks { measure, ..Blocks::default() }.into(),
            ..Job::default()
        };
        let paths = [("short", short.as_path()), ("long", long.as_path())];
        let mut plan = plan(&paths, vec![job], OnFailure::EndRun);
        plan.targets[1].size = Some(Bytes(128 << 10));
        plan.phases[0].ramp = Nanos(ramp_ms * 1_000_000);
        run(&plan).remove(0)
    };
    assert_eq!(of(false, 1, 0).per_target, []);
    for (workers, ramp_ms) in [(1, 0), (3, 0), (2, 50)] {
        let measured = of(true, workers, ramp_ms);
        let reads = measured.of(Direction::Read);
        let seen: Vec<_> = measured.per_target.iter().collect();
        let of =
            |at: usize| (seen[at].target.as_str(), seen[at].path.as_str(), &seen[at].operations[0]);
        let ((short_name, short_path, first), (long_name, long_path, second)) = (of(0), of(1));
        assert_eq!((short_name, long_name, seen.len()), ("short", "long", 2));
        assert!(short_path.ends_with("/short") && long_path.ends_with("/long"));
        if ramp_ms == 0 {
            let workers = u64::from(workers);
            assert_eq!((first.ops, second.ops), (16 * workers, 32 * workers));
        }
        assert_eq!((first.bytes, reads.ops), (first.ops * 4096, first.ops + second.ops));
        let latencies = [first, second].map(|op| op.latency.as_ref().expect("measured"));
        let [short_sum, long_sum] = latencies.map(|latency| latency.histogram.sum_ns());
        let whole = reads.latency.as_ref().expect("measured").histogram.sum_ns();
        assert_eq!(short_sum + long_sum, whole, "the same latencies, divided");
        assert!((first.ops_per_s + second.ops_per_s - reads.ops_per_s).abs() < 1.0);
    }
}

#[test]
fn files_of_a_single_target_are_counted_apart_within_a_limit() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let measure = Measure { per_target: true, ..Measure::default() };
    let work = Blocks { mix: Mix::WRITE, measure, ..Blocks::default() };
    let job = Job { work: work.into(), ..writer("set") };
    let mut plan = plan(&[("set", dir.path())], vec![job], OnFailure::EndRun);
    (plan.targets[0].kind, plan.targets[0].files) = (TargetKind::FileSet, 3);
    for named in candor_engine::names::named(&plan.targets[0]) {
        std::fs::write(&named.path, [0; 64 << 10]).expect("written");
    }
    let measured = run(&plan).remove(0);
    let counts: Vec<u64> = measured.per_target.iter().map(|file| file.operations[0].ops).collect();
    assert_eq!(counts, [16, 16, 16]);
    assert!(measured.per_target[2].path.contains("set.2"), "{:?}", measured.per_target[2].path);
    plan.phases[0].jobs[0].workers = 3000;
    let refused = Prepared::new(&mut Session::new(families), &Task::of(&plan, 0)).err();
    let sentence = refused.expect("too many counts").to_string();
    assert!(sentence.contains("3 targets counted apart in each of 3000 workers"), "{sentence}");
}

#[test]
fn counts_of_the_first_end_never_exceed_those_of_the_last() {
    let dir = super::common::scratch();
    let path = dir.path().join("file");
    std::fs::write(&path, [0; 64 << 10]).expect("written");
    for round in 0..40 {
        // Each worker passes over its slice: the last one has the rest of the division as well.
        let workers = round % 7 + 2;
        let bytes = 4096 * u64::from(workers + round % 8);
        let blocks = Blocks {
            share: Share::Slice,
            engine: if round % 2 == 0 { Engine::Null } else { Engine::Psync },
            ..Blocks::default()
        };
        let mut job = Job { workers, ..writer("file") };
        job.work = blocks.into();
        let mut plan = plan(&[("file", &path)], vec![job], OnFailure::EndRun);
        plan.targets[0].size = Some(Bytes(bytes));
        plan.phases[0].stop = Stop { passes: Some(100), ..Stop::default() };
        let measured = run(&plan).remove(0);
        let (first, last) = (measured.first_done.as_ref().expect("work"), measured.last_done);
        assert!(first.at_ns <= last.at_ns && first.ops <= last.ops && first.bytes <= last.bytes);
        let worked = measured.per_worker.iter().filter(|worker| worker.ops > 0);
        let least = worked.map(|worker| worker.ops).min().expect("one worked");
        assert!(first.ops >= least, "{first:?}: a worker that had done {least} had ended");
        let summed: u64 = first.operations.iter().map(|op| op.ops).sum();
        assert_eq!(summed, first.ops);
        for op in &first.operations {
            let last = measured.operation(&op.name);
            assert!(op.ops <= last.ops && op.bytes <= last.bytes, "{op:?} {last:?}");
        }
    }
}
