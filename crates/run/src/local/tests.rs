//! Phases on this host, step by step.

use std::time::{SystemTime, UNIX_EPOCH};

use candor_plan::blocks::Blocks;
use candor_plan::entries::{Entries, Step};
use candor_plan::tree::Tree;
use candor_plan::units::{Mix, SizeSpec};
use candor_plan::{Bytes, Engine, Job, Nanos, Stop, Target, TargetKind};
use candor_record::Ended;

use super::*;
use crate::control::{Command, Control};
use crate::events::consumed;
use crate::runner::Collected;

/// A phase of one worker that does nothing for so long.
fn plan(seconds: f64) -> Plan {
    let target = Target {
        name: "nothing".into(),
        path: "/dev/null".into(),
        size: Some(Bytes(1 << 20)),
        ..Target::default()
    };
    let blocks = Blocks { mix: Mix::READ, engine: Engine::Null, ..Blocks::default() };
    let targets = vec![target.name.clone()];
    let jobs = vec![Job { targets, work: blocks.into(), ..Job::default() }];
    let time = Some(Nanos((seconds * 1e9) as u64));
    let phase = Phase { jobs, stop: Stop { time, ..Stop::default() }, ..Phase::default() };
    Plan { targets: vec![target], phases: vec![phase], ..Plan::default() }
}

fn task(plan: &Plan) -> Task<'_> {
    Task { plan, phase: &plan.phases[0], index: Some(0), repeat: 0, follow_up: false }
}

fn local(plan: &Plan, control: &Control) -> Local {
    let host =
        HostOptions { at_once: true, block_trace: BlockTraceMode::Off, ..HostOptions::default() };
    let channels = Channels { control: control.clone(), ..Channels::default() };
    let mut local = Local::new(&host, &channels);
    local.open(plan).expect("nothing speaks against it");
    local
}

fn no_interim(_: Collected) {
    panic!("nobody requested it");
}

#[test]
fn two_phases_start_at_one_moment() {
    let (plan, control) = (plan(0.1), Control::default());
    let (mut one, mut other) = (local(&plan, &control), local(&plan, &control));
    let (one, other) = (one.prepare(&task(&plan)), other.prepare(&task(&plan)));
    let wait = Duration::from_millis(400);
    let (at, at_unix) = (Instant::now() + wait, SystemTime::now() + wait);
    let running = [one, other].map(|ready| ready.expect("it is ready").start(Some(at)));
    let started = running.map(|running| {
        let collected = running.collect(&mut no_interim);
        assert_eq!(collected.measurements[0].ended, Ended::Time);
        assert!(collected.measurements[0].ops_done() > 0);
        collected.measurements[0].start_unix_ms.expect("it has started")
    });
    let at_ms = at_unix.duration_since(UNIX_EPOCH).expect("after 1970").as_millis() as u64;
    let late_ms = started.map(|ms| ms.checked_sub(at_ms));
    // A busy host may wake a thread late, and never early.
    let in_time = |late: &Option<u64>| late.is_some_and(|ms| ms < 100);
    assert!(late_ms.iter().all(in_time), "{late_ms:?} ms after {at_ms}");
}

#[test]
fn a_stop_ends_the_wait_for_the_start() {
    let (plan, control) = (plan(60.0), Control::default());
    let mut local = local(&plan, &control);
    let ready = local.prepare(&task(&plan)).expect("it is ready");
    let running = ready.start(Some(Instant::now() + Duration::from_secs(3600)));
    control.send(Command::Stop);
    let collected = running.collect(&mut no_interim);
    assert_eq!(collected.measurements[0].ended, Ended::Interrupted);
    let prepared = local.prepare(&task(&plan));
    assert!(matches!(prepared.err(), Some(RunError::Interrupted)));
}

#[test]
fn what_is_dropped_does_not_run_on() {
    let (plan, control) = (plan(3600.0), Control::default());
    let mut local = local(&plan, &control);
    drop(local.prepare(&task(&plan)).expect("it is ready"));
    assert!(!control.is_stopped());
    drop(local.prepare(&task(&plan)).expect("it is ready again").start(None));
    assert!(control.is_stopped());
}

#[test]
fn interims_come_while_it_runs() {
    let (plan, control) = (plan(0.6), Control::default());
    let mut local = local(&plan, &control);
    let running = local.prepare(&task(&plan)).expect("it is ready").start(None);
    control.send(Command::Interim);
    let mut interims = Vec::new();
    let ended = running.collect(&mut |interim| interims.push(interim));
    assert_eq!(interims.len(), 1);
    let ops = |of: &Collected| of.measurements[0].ops_done();
    assert!(ops(&interims[0]) < ops(&ended));
    assert_eq!((interims[0].hosts.len(), &interims[0].hosts[0].host), (1, &ended.hosts[0].host));
}

#[test]
fn each_interval_is_one_event_with_all_jobs_and_the_host() {
    let mut plan = plan(0.5);
    plan.phases[0].interval = Nanos(100_000_000);
    let second = Job { name: "second".into(), ..plan.phases[0].jobs[0].clone() };
    plan.phases[0].jobs.push(second);
    let mut intervals = Vec::new();
    let take = |event: &Event| {
        if let Event::Sampled { samples, hosts, in_ramp: false, .. } = event {
            intervals.push((samples.len(), hosts[0].clone()));
        }
    };
    let during = consumed(&Control::default(), take, |channels| {
        let mut local = Local::new(&HostOptions::default(), channels);
        local.open(&plan).expect("nothing speaks against it");
        let ready = local.prepare(&task(&plan)).expect("it is ready");
        ready.start(None).collect(&mut no_interim).hosts[0].during.len()
    });
    assert!(intervals.len() >= 3 && intervals.len() == during, "{intervals:?}");
    let cpus = intervals[0].1.cpus_busy.len();
    for (jobs, host) in intervals.iter().take(3) {
        assert!(*jobs == 2 && host.length_ns >= 50_000_000 && !host.host.is_empty());
        let busy = host.cpus_busy.iter().chain(&host.cpu_busy);
        assert!(cpus > 0 && busy.clone().count() == cpus + 1);
        assert!(busy.clone().all(|share| (0.0..=1.0).contains(share)));
    }
}

#[test]
fn a_survey_leaves_nothing_behind() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let file = dir.path().join("file");
    std::fs::write(&file, [7; 5000]).expect("written");
    let local = Local::new(&HostOptions::default(), &Channels::default());
    let survey = |path: &Path| local.survey(path).expect("it is there");
    let found = survey(dir.path());
    assert_eq!((found.kind, found.length_bytes), (PathKind::Directory, None));
    let found = survey(&file);
    assert_eq!((found.kind, found.length_bytes), (PathKind::File, Some(5000)));
    assert_eq!(survey(Path::new("/dev/null")).kind, PathKind::Other);
    assert!(local.survey(&dir.path().join("nothing")).is_err());
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 1);
}

#[test]
fn a_file_is_written_where_every_byte_has_a_block_of_its_own() {
    let is_written = |extents: Option<Extents>| {
        let extents = extents.map(|value| Fact::new(value, "FIEMAP"));
        super::is_written(&FileFacts { size_bytes: 4096, extents, ..FileFacts::default() })
    };
    let whole = Extents { count: 1, mapped_bytes: 4096, ..Extents::default() };
    assert!(is_written(Some(whole)));
    assert!(!is_written(None), "nobody knows");
    assert!(!is_written(Some(Extents { mapped_bytes: 4095, ..whole })), "a hole");
    assert!(!is_written(Some(Extents { unwritten_bytes: 512, ..whole })), "preallocated");
    assert!(!is_written(Some(Extents { encoded_bytes: 512, ..whole })), "compressed");
    assert!(!is_written(Some(Extents { repeated_bytes: 512, ..whole })), "a reflink");
}

/// Changes that another process makes to a file after its facts were read show at the end.
#[test]
fn facts_that_changed_meanwhile_are_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("file");
    let later_sizes = |change: bool| {
        std::fs::write(&path, vec![1; 1 << 20]).expect("written");
        let (mut plan, control) = (plan(0.1), Control::default());
        plan.targets[0].path.clone_from(&path);
        let blocks = Blocks { mix: Mix::READ, engine: Engine::Psync, ..Blocks::default() };
        plan.phases[0].jobs[0].work = blocks.into();
        let mut local = local(&plan, &control);
        let ready = local.prepare(&task(&plan)).expect("it is ready");
        if change {
            let file = File::options().write(true).open(&path).expect("it is there");
            file.set_len(2 << 20).expect("longer");
        }
        let collected = ready.start(None).collect(&mut no_interim);
        let sizes = |facts: &candor_record::Facts| facts.targets[0].files[0].size_bytes;
        let later = &collected.hosts[0].later_facts;
        later.iter().map(|later| sizes(&later.facts)).collect::<Vec<u64>>()
    };
    assert_eq!(later_sizes(false), [] as [u64; 0]);
    assert_eq!(later_sizes(true), [2 << 20]);
}

/// A phase that goes once over all items of a tree.
fn over_items(steps: &[Step]) -> Phase {
    let entries = Entries { steps: steps.to_vec(), ..Entries::default() };
    let jobs = vec![Job { targets: vec!["tree".into()], work: entries.into(), ..Job::default() }];
    Phase { jobs, ..Phase::default() }
}

#[test]
fn phases_over_names_run_in_any_order() {
    const KINDS: [&[Step]; 4] = [
        &[Step::Create, Step::Write, Step::Close],
        &[Step::Open, Step::Read, Step::Close],
        &[Step::Stat],
        &[Step::Unlink],
    ];
    for order in 0..KINDS.len().pow(3) {
        let kinds = [order % 4, order / 4 % 4, order / 16];
        let dir = tempfile::tempdir().expect("a scratch directory");
        let tree = Tree { items: 3, file_size: SizeSpec::Fixed(Bytes(4096)), ..Tree::default() };
        let target = Target {
            name: "tree".into(),
            path: dir.path().join("tree"),
            kind: TargetKind::Tree,
            tree: Some(tree),
            ..Target::default()
        };
        let phases = kinds.iter().map(|kind| over_items(KINDS[*kind])).collect();
        let plan = Plan { targets: vec![target], phases, ..Plan::default() };
        let mut local = local(&plan, &Control::default());
        let mut items_exist = false;
        for (index, kind) in kinds.iter().enumerate() {
            // A run hands over a copy of the phase.
            let phase = plan.phases[index].clone();
            let task = Task { phase: &phase, index: Some(index), ..task(&plan) };
            let running = local.prepare(&task).expect("it is ready").start(None);
            let measured = running.collect(&mut no_interim).measurements.remove(0);
            // Items that no earlier phase makes are laid out.
            items_exist |= !kinds[..index].contains(&0);
            let succeeds = items_exist || *kind == 0;
            assert_eq!(measured.errors.is_empty(), succeeds, "{kinds:?}: {:?}", measured.errors);
            items_exist = succeeds && *kind != 3;
        }
    }
}
