//! Whole runs: which files are there before, while and after.

use candor_plan::units::Direction;
use std::fs;
use std::path::Path;

use candor_plan::blocks::{Blocks, Hints, Opening, Share};
use candor_plan::units::{Extent, Mix};
use candor_plan::{
    Bytes, Create, Hook, Hooks, Job, Layout, Member, OnFailure, Phase, Plan, Target, TargetKind,
};
use candor_record::{Ended, Measurement, Report};
use candor_run::{Control, HostOptions, Options};

const KIB: u64 = 1 << 10;

/// A directory on a real filesystem.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch directory")
}

fn target(name: &str, path: &Path) -> Target {
    Target {
        name: name.into(),
        path: path.into(),
        size: Some(Bytes(64 * KIB)),
        keep: true,
        overwrite: true,
        ..Target::default()
    }
}

/// One pass of 4 KiB operations over a target.
fn job(target: &str, mix: Mix) -> Job {
    let blocks = Blocks { mix, ..Blocks::default() };
    let targets = vec![target.to_owned()];
    Job { name: target.into(), targets, work: blocks.into(), ..Job::default() }
}

fn plan(targets: Vec<Target>, jobs: Vec<Job>) -> Plan {
    let phase = Phase { jobs, on_failure: OnFailure::EndJob, ..Phase::default() };
    Plan { targets, phases: vec![phase], ..Plan::default() }
}

fn run(plan: &Plan) -> Report {
    let host = HostOptions { at_once: true, ..HostOptions::default() };
    let (options, control) = (Options::default(), Control::default());
    candor_run::execute(plan, &options, &host, &control, |_| {}).expect("admitted")
}

fn measured(report: &Report) -> &[Measurement] {
    &report.phases[0].measurements
}

/// Length and allocated bytes.
fn size(path: &Path) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().expect("it is there");
    (metadata.len(), metadata.blocks() * 512)
}

#[test]
fn space_is_made_as_asked_and_kept() {
    let dir = scratch();
    let all = 64 * KIB;
    for (name, layout, wanted) in [
        ("written", Layout::Write, (all, all)),
        ("allocated", Layout::Allocate, (all, all)),
        ("reserved", Layout::Reserve, (0, all)),
        ("sparse", Layout::Sparse, (all, 0)),
        ("never", Layout::Never, (0, 0)),
    ] {
        let path = dir.path().join(name);
        // Nothing is written by the job, so that what is there was laid out.
        let mix = if layout == Layout::Write { Mix::READ } else { Mix::WRITE };
        let only = Job { prepare_only: true, ..job(name, mix) };
        let report = run(&plan(vec![Target { layout, ..target(name, &path) }], vec![only]));
        assert_eq!(size(&path), wanted, "{name}");
        assert_eq!(measured(&report)[0].ended, Ended::Done);
        assert_eq!((measured(&report)[0].ops_done(), report.cut_short), (0, None));
    }
}

#[test]
fn files_that_are_long_enough_are_used_as_they_are() {
    let dir = scratch();
    let (long, short) = (dir.path().join("long"), dir.path().join("short"));
    fs::write(&long, vec![7; 100_000]).expect("written");
    fs::write(&short, [7; 5000]).expect("written");
    let targets = vec![target("long", &long), target("short", &short)];
    let report = run(&plan(targets, vec![job("long", Mix::READ), job("short", Mix::READ)]));
    assert!(measured(&report).iter().all(|m| m.of(Direction::Read).ops == 16), "{report:?}");
    assert_eq!(fs::read(&long).expect("read"), vec![7; 100_000]);
    let short = fs::read(&short).expect("read");
    assert_eq!((short.len() as u64, &short[..5000]), (64 * KIB, &[7; 5000][..]));
}

#[test]
fn files_of_a_set_have_names_and_sizes_of_their_own() {
    let dir = scratch();
    let member = |name: &str, kib: u64| Member { name: name.into(), size: Some(Bytes(kib * KIB)) };
    let set = Target {
        kind: TargetKind::FileSet,
        members: vec![member("a", 8), member("sub/b", 64), member("c", 16)],
        create: Create::Parents,
        ..target("set", &dir.path().join("new"))
    };
    let report = run(&plan(vec![set], vec![job("set", Mix::READ)]));
    assert_eq!(report.cut_short, None);
    for (name, kib) in [("a", 8), ("sub/b", 64), ("c", 16)] {
        assert_eq!(size(&dir.path().join("new").join(name)).0, kib * KIB, "{name}");
    }
    let existing = Target {
        kind: TargetKind::Existing,
        size: None,
        ..target("found", &dir.path().join("new"))
    };
    let report = run(&plan(vec![existing], vec![job("found", Mix::READ)]));
    assert_eq!(measured(&report)[0].of(Direction::Read).ops, (8 + 64 + 16) / 4);
}

#[test]
fn what_is_appended_leaves_what_was_there() {
    let dir = scratch();
    let path = dir.path().join("log");
    fs::write(&path, [7; 8192]).expect("written");
    let append = Target { append: true, layout: Layout::Never, ..target("log", &path) };
    run(&plan(vec![append], vec![job("log", Mix::WRITE)]));
    let bytes = fs::read(&path).expect("read");
    assert_eq!((bytes.len() as u64, &bytes[..8192]), (72 * KIB, &[7; 8192][..]));
    assert!(bytes[8192..].iter().any(|byte| *byte != 0));
}

#[test]
fn files_are_removed_where_asked_whoever_made_them() {
    let dir = scratch();
    let (own, other) = (dir.path().join("own"), dir.path().join("other"));
    fs::write(&other, [7; 100]).expect("written");
    let remove = |name: &str, path: &Path| Target { remove: true, ..target(name, path) };
    let targets = vec![remove("own", &own), remove("other", &other)];
    run(&plan(targets, vec![job("own", Mix::WRITE), job("other", Mix::READ)]));
    assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 0);
}

#[test]
fn jobs_that_cannot_begin_fail_alone() {
    let dir = scratch();
    let there = dir.path().join("there");
    let targets = vec![
        target("no-directory", &dir.path().join("no/such/file")),
        Target { create: Create::Nothing, ..target("not-made", &dir.path().join("absent")) },
        target("there", &there),
    ];
    let jobs = ["no-directory", "not-made", "there"].map(|name| job(name, Mix::WRITE));
    let mut plan = plan(targets, jobs.into());
    let next =
        Phase { name: "next".into(), jobs: vec![job("there", Mix::READ)], ..Phase::default() };
    plan.phases.push(next);
    let report = run(&plan);
    let ended: Vec<_> = measured(&report).iter().map(|m| m.ended).collect();
    assert_eq!(ended, [Ended::Failed, Ended::Failed, Ended::Done]);
    for failed in &measured(&report)[..2] {
        assert_eq!((failed.errors[0].errno, failed.ops_done()), (libc::ENOENT, 0));
    }
    assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 1);
    assert_eq!((report.phases.len(), report.cut_short), (2, None), "the run went on");
}

#[test]
fn a_phase_in_which_nothing_runs_is_reported() {
    let dir = scratch();
    let alone = target("absent", &dir.path().join("no/such/file"));
    let report = run(&plan(vec![alone], vec![job("absent", Mix::READ)]));
    assert_eq!(measured(&report)[0].ended, Ended::Failed);
    assert_eq!(report.cut_short, None);
}

#[test]
fn commands_run_before_and_after() {
    let dir = scratch();
    let path = dir.path().join("file");
    let hook = |command: String, output: &str| {
        let output = Some(dir.path().join(output).display().to_string());
        Some(Hook { command, output, may_fail: false })
    };
    let list = format!("stat -c %b {}", path.display());
    let hooks = Hooks { before: hook(list.clone(), "before"), after: hook(list, "after") };
    let works = Job { hooks, ..job("file", Mix::WRITE) };
    let bad = Hooks { before: hook("exit 9".into(), "bad"), after: None };
    let fails = Job { name: "fails".into(), hooks: bad, ..job("file", Mix::WRITE) };
    let sparse = Target { layout: Layout::Sparse, ..target("file", &path) };
    let report = run(&plan(vec![sparse], vec![works, fails]));
    let said = |name: &str| fs::read_to_string(dir.path().join(name)).expect("kept");
    assert_eq!((said("before").trim(), said("after").trim() != "0"), ("0", true));
    let ended: Vec<_> = measured(&report).iter().map(|m| m.ended).collect();
    assert_eq!(ended, [Ended::Done, Ended::Failed]);
    assert!(measured(&report)[1].errors[0].message.contains("exit 9"), "{report:?}");
}

#[test]
fn files_are_brought_into_the_cache_and_dropped_from_it() {
    let dir = scratch();
    let path = dir.path().join("file");
    let random: Vec<u8> = (0..64 * KIB).map(|at| ((at * at) >> 7) as u8).collect();
    fs::write(&path, random).expect("written");
    fs::File::open(&path).and_then(|file| file.sync_all()).expect("flushed");
    let resident = || candor_observe::cache::look(&path).expect("told").resident_bytes;
    let with = |hints: Hints| {
        let mut only = job("file", Mix::READ);
        if let Some(blocks) = only.blocks_mut() {
            (blocks.hints, blocks.direct) = (hints, true);
        }
        run(&plan(vec![target("file", &path)], vec![only]))
    };
    with(Hints { invalidate: true, ..Hints::default() });
    assert_eq!(resident(), 0);
    let report = with(Hints { pre_read: true, ..Hints::default() });
    assert_eq!(report.phases[0].host().before.cache.expect("told").resident_bytes, 64 * KIB);
}

/// A target that nobody lays out, and a job whose workers open it in the phase.
fn opened_in_phase(path: &Path, mix: Mix, keep: bool) -> (Target, Job) {
    let target = Target {
        keep,
        overwrite: false,
        create: Create::Parents,
        layout: Layout::Never,
        ..target("made", path)
    };
    let mut job = Job { workers: 2, ..job("made", mix) };
    if let Some(blocks) = job.blocks_mut() {
        blocks.opening = Opening::InStages;
        blocks.share = Share::Slice;
        blocks.durability.fsync_at_end = mix == Mix::WRITE;
    }
    (target, job)
}

#[test]
fn what_workers_make_in_their_phase_is_the_runs_own() {
    let dir = scratch();
    for keep in [true, false] {
        let path = dir.path().join(format!("kept-{keep}/file"));
        let (target, write) = opened_in_phase(&path, Mix::WRITE, keep);
        let (_, read) = opened_in_phase(&path, Mix::READ, keep);
        let mut plan = plan(vec![target], vec![write.clone()]);
        let phase = |name: &str, job: &Job| Phase {
            name: name.into(),
            jobs: vec![job.clone()],
            ..Phase::default()
        };
        plan.phases = vec![phase("write", &write), phase("again", &write), phase("read", &read)];
        let report = run(&plan);
        for phase in &report.phases {
            let measured = &phase.measurements[0];
            assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
            assert_eq!((measured.ops_done(), measured.operation("open").ops), (16, 2));
            assert!(measured.stages.is_some_and(|stages| stages.close.length_ns() > 0));
        }
        let flushed = report.phases[0].measurements[0].elapsed_with_flush_ns;
        assert_eq!(flushed, Some(report.phases[0].measurements[0].elapsed_ns));
        assert_eq!(path.exists(), keep);
    }
    let theirs = dir.path().join("theirs");
    fs::write(&theirs, "words").expect("written");
    let (target, write) = opened_in_phase(&theirs, Mix::WRITE, false);
    let refused = candor_run::execute(
        &plan(vec![target], vec![write]),
        &Options::default(),
        &HostOptions { at_once: true, ..HostOptions::default() },
        &Control::default(),
        |_| {},
    );
    assert_eq!(refused.err().map(|error| error.exit_code()), Some(3), "nobody consented");
    assert_eq!(fs::read_to_string(&theirs).expect("still there"), "words");
}

#[test]
fn memory_is_occupied_while_a_run_goes_on() {
    let dir = scratch();
    let path = dir.path().join("file");
    let mut plan = plan(vec![target("file", &path)], vec![job("file", Mix::READ)]);
    plan.occupy_memory = Some(Extent::Bytes(Bytes(32 << 20)));
    let report = run(&plan);
    let occupied = report.phases[0].hosts[0].facts.host.memory_occupied;
    assert_eq!(occupied.map(|memory| memory.bytes), Some(32 << 20));
    plan.occupy_memory = Some(Extent::Bytes(Bytes(1 << 60)));
    let (options, host, control) = Default::default();
    let refused = candor_run::execute(&plan, &options, &host, &control, |_| {});
    let refused = refused.expect_err("no host has so much").to_string();
    assert!(refused.contains(" of memory are to be occupied, and "), "{refused}");
}
