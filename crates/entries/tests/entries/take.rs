//! Items that workers take by what is there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{Access, Flow, Pace};
use candor_plan::entries::{Entries, HostPart, Over, Select, Step, Take, VerifyItems, Visit};
use candor_plan::units::SizeSpec;
use candor_plan::{
    Bytes, Create, Job, Nanos, OpsPerSec, Phase, Plan, Stop, Target, TargetKind, Tree, check,
};
use candor_record::{Ended, Measurement};
use proptest::prelude::*;

use crate::common::families;

const FILE_BYTES: u64 = 10_000;

fn tree() -> Tree {
    Tree {
        depth: 2,
        width: 2,
        items: 5,
        leaves_only: true,
        first_number: 1,
        file_size: SizeSpec::Fixed(Bytes(FILE_BYTES)),
        directory_name: "vdb.{level}_{child}.dir".parse().ok(),
        item_name: "vdb_f{number:04}.file".parse().ok(),
        ..Tree::default()
    }
}

/// Files of that tree.
const FILES: u64 = 20;

fn target(name: &str, path: &Path, tree: Tree) -> Target {
    Target {
        name: name.into(),
        path: path.into(),
        kind: TargetKind::Tree,
        create: Create::Nothing,
        keep: true,
        overwrite: true,
        tree: Some(tree),
        ..Target::default()
    }
}

fn job(name: &str, workers: u32, entries: Entries) -> Job {
    Job {
        name: name.into(),
        workers,
        targets: vec!["t".into()],
        work: entries.into(),
        ..Job::default()
    }
}

fn phase(seconds: Option<f64>, jobs: Vec<Job>) -> Phase {
    let time = seconds.map(|seconds| Nanos((seconds * 1e9) as u64));
    Phase { stop: Stop { time, ..Stop::default() }, jobs, ..Phase::default() }
}

/// Runs phases in one session, and gives the measurements of each.
fn run(targets: Vec<Target>, phases: Vec<Phase>) -> Vec<Vec<Measurement>> {
    let plan = Plan { targets, phases, ..Plan::default() };
    let errors: Vec<_> =
        check::check(&plan).into_iter().filter(candor_plan::Problem::is_error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let mut session = Session::new(families);
    let mut one = |index| {
        let prepared = Prepared::new(&mut session, &Task::of(&plan, index)).expect("prepared");
        prepared.run(&AtomicBool::new(false), &mut ())
    };
    (0..plan.phases.len()).map(&mut one).collect()
}

fn once(absent: &[Step], present: &[Step]) -> Entries {
    let take = Take { absent: absent.into(), once: true, ..Take::default() };
    Entries { steps: present.into(), take: Some(take), ..Entries::default() }
}

fn make_directories() -> Entries {
    Entries { over: Over::Directories, ..once(&[Step::Mkdir], &[]) }
}

fn write_files() -> Entries {
    let made = [Step::Create, Step::Write, Step::Close];
    Entries { size: Some(Bytes(4096)), ..once(&made, &[]) }
}

/// A tree with all of its files.
fn format() -> Vec<Phase> {
    vec![
        phase(None, vec![job("mkdir", 3, make_directories())]),
        phase(None, vec![job("create", 3, write_files())]),
    ]
}

fn lengths(path: &Path) -> BTreeMap<String, u64> {
    let below = candor_plan::files_below(path).into_iter().map(|file| {
        let name = file.strip_prefix(path).expect("below").display().to_string();
        (name, file.metadata().expect("there").len())
    });
    below.collect()
}

fn ops(measured: &Measurement, name: &str) -> u64 {
    let stats = measured.operation(name);
    assert_eq!(stats.failed, 0, "{name}: {:?}", measured.errors);
    stats.ops
}

#[test]
fn a_tree_is_made_by_all_workers_each_thing_once() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let done = run(vec![target("t", dir.path(), tree())], format());
    assert_eq!((ops(&done[0][0], "mkdir"), done[0][0].ended), (6, Ended::Done));
    let counts = ["create", "write", "close"].map(|name| ops(&done[1][0], name));
    assert_eq!(counts, [FILES, 3 * FILES, FILES]);
    let files = lengths(dir.path());
    assert_eq!(files.len() as u64, FILES);
    assert!(files.values().all(|bytes| *bytes == FILE_BYTES));
    assert!(files.contains_key("vdb.1_2.dir/vdb.2_1.dir/vdb_f0005.file"), "{files:?}");
}

#[test]
fn a_second_pass_finds_nothing_to_do_and_says_why() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    run(vec![target("t", dir.path(), tree())], format());
    let done = run(vec![target("t", dir.path(), tree())], format());
    assert_eq!((ops(&done[0][0], "mkdir"), ops(&done[1][0], "create")), (0, 0));
    assert_eq!(done[0][0].passed_over["present"], 6);
    assert_eq!(done[1][0].passed_over["present"], FILES);
}

#[test]
fn a_tree_is_removed_files_first_and_children_before_parents() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let remove = |entries| job("remove", 3, entries);
    let unlink = remove(once(&[], &[Step::Unlink]));
    let rmdir = remove(Entries { over: Over::Directories, ..once(&[], &[Step::Rmdir]) });
    // Both at once: directories wait for their files.
    let both = phase(None, vec![unlink, Job { name: "rmdir".into(), ..rmdir }]);
    let phases = format().into_iter().chain([both]).collect();
    let done = run(vec![target("t", dir.path(), tree())], phases);
    assert_eq!((ops(&done[2][0], "unlink"), ops(&done[2][1], "rmdir")), (FILES, 6));
    assert_eq!(std::fs::read_dir(dir.path()).expect("there").count(), 0);
}

#[test]
fn short_files_are_filled_up_and_whole_ones_left_alone() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    run(vec![target("t", dir.path(), tree())], format());
    let path = dir.path().join("vdb.1_1.dir/vdb.2_1.dir/vdb_f0002.file");
    std::fs::File::options().write(true).open(&path).expect("there").set_len(5000).expect("cut");
    std::fs::remove_file(path.with_file_name("vdb_f0003.file")).expect("there");
    let fill = vec![Step::Open, Step::Write, Step::Close];
    let create = write_files();
    let take = Take { short: Some(fill), ..create.take.clone().unwrap_or_default() };
    let restart = Entries { take: Some(take), ..create };
    let done = run(
        vec![target("t", dir.path(), tree())],
        vec![phase(None, vec![job("restart", 2, restart)])],
    );
    let counts = ["create", "open", "write", "close"].map(|name| ops(&done[0][0], name));
    // The short one goes on at 4096: two writes of three.
    assert_eq!(counts, [1, 1, 5, 2]);
    assert_eq!(done[0][0].passed_over["whole"], FILES - 2);
    assert!(lengths(dir.path()).values().all(|bytes| *bytes == FILE_BYTES));
}

#[test]
fn reading_goes_round_and_round_and_ends_where_nothing_is_there() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let read = Entries {
        steps: vec![Step::Open, Step::Read, Step::Close],
        size: Some(Bytes(4096)),
        take: Some(Take::default()),
        ..Entries::default()
    };
    let timed = |seconds| phase(Some(seconds), vec![job("read", 2, read.clone())]);
    let phases = format().into_iter().chain([timed(0.2)]).collect();
    let done = run(vec![target("t", dir.path(), tree())], phases);
    let (opens, reads) = (ops(&done[2][0], "open"), ops(&done[2][0], "read"));
    assert!(opens > FILES && reads.abs_diff(3 * opens) <= 6, "{opens} {reads}");
    let empty = tempfile::tempdir().expect("a scratch directory");
    let done = run(vec![target("t", empty.path(), tree())], vec![timed(30.0)]);
    assert_eq!(ops(&done[0][0], "open"), 0);
    assert!(done[0][0].elapsed_ns < 5_000_000_000 && done[0][0].passed_over["absent"] >= FILES);
}

#[test]
fn creating_and_deleting_keep_each_other_at_work() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let take = |absent: &[Step], present: &[Step]| Entries {
        steps: present.into(),
        select: Select::Random,
        take: Some(Take { absent: absent.into(), ..Take::default() }),
        ..Entries::default()
    };
    let create = job("create", 2, take(&[Step::Create, Step::Close], &[]));
    let delete = job("delete", 2, take(&[], &[Step::Unlink]));
    let phases = [format().remove(0), phase(Some(0.3), vec![create, delete])];
    let done = run(vec![target("t", dir.path(), tree())], phases.into());
    let (created, deleted) = (ops(&done[1][0], "create"), ops(&done[1][1], "unlink"));
    assert_eq!(created - deleted, lengths(dir.path()).len() as u64);
    assert!(created > 2 * FILES, "{created}");
}

#[test]
fn a_visit_is_a_number_of_reads_and_goes_on_where_the_last_one_ended() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let read = |visit, access| Entries {
        steps: vec![Step::Open, Step::Read, Step::Close],
        size: Some(Bytes(1000)),
        access,
        visit: Some(visit),
        take: Some(Take { once: true, ..Take::default() }),
        ..Entries::default()
    };
    let of = |entries| phase(None, vec![job("read", 2, entries)]);
    let four = read(Visit::Operations(4), Access::Sequential);
    let random = read(Visit::Operations(25), Access::Random);
    let half = read(Visit::Percent(50), Access::Random);
    let phases = [of(four.clone()), of(four.clone()), of(four), of(random), of(half)];
    let phases = format().into_iter().chain(phases).collect();
    let done = run(vec![target("t", dir.path(), tree())], phases);
    let reads = [2, 3, 4, 5, 6].map(|phase: usize| ops(&done[phase][0], "read") / FILES);
    // Four, four, and the last two of ten.
    assert_eq!(reads, [4, 4, 2, 25, 5]);
}

#[test]
fn parts_are_the_same_in_each_phase_and_part_of_one_another() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let of = |parts: &[u64], absent: &[Step], present: &[Step]| {
        let mut entries = Entries { size: Some(Bytes(FILE_BYTES)), ..once(absent, present) };
        let parts = parts.iter().map(|files| Bytes(files * FILE_BYTES)).collect();
        entries.take.as_mut().expect("taken").parts = parts;
        phase(None, vec![job("j", 2, entries)])
    };
    let make = [Step::Create, Step::Write, Step::Close];
    let read = [Step::Open, Step::Read, Step::Close];
    let phases =
        [format().remove(0), of(&[8], &make, &[]), of(&[8], &[], &read), of(&[8, 3], &[], &read)];
    let done = run(vec![target("t", dir.path(), tree())], phases.into());
    let counts = [ops(&done[1][0], "create"), ops(&done[2][0], "read"), ops(&done[3][0], "read")];
    assert_eq!(counts, [8, 8, 3]);
    assert_eq!(lengths(dir.path()).len(), 8);
}

#[test]
fn sizes_are_drawn_for_each_read_and_chance_mixes_reads_and_writes() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let mixed = Entries {
        steps: vec![Step::Open, Step::Write, Step::Close],
        size_mix: Some(SizeSpec::Weighted(vec![(Bytes(512), 50), (Bytes(1024), 50)])),
        access: Access::Random,
        read_percent: 70,
        read_by_chance: true,
        visit: Some(Visit::Operations(100)),
        take: Some(Take { once: true, ..Take::default() }),
        ..Entries::default()
    };
    let phases = format().into_iter().chain([phase(None, vec![job("mix", 2, mixed)])]).collect();
    let done = run(vec![target("t", dir.path(), tree())], phases);
    let (read, write) = (done[2][0].operation("read"), done[2][0].operation("write"));
    let (all, bytes) = (read.ops + write.ops, read.bytes + write.bytes);
    assert_eq!(all, 100 * FILES);
    let share = read.ops as f64 / all as f64;
    assert!((0.64..0.76).contains(&share), "{share}");
    let mean = bytes as f64 / all as f64;
    assert!((700.0..800.0).contains(&mean), "{mean}");
    assert!(lengths(dir.path()).values().all(|bytes| *bytes == FILE_BYTES));
}

#[test]
fn a_rate_counts_the_steps_that_it_is_of() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let read = Entries {
        steps: vec![Step::Open, Step::Read, Step::Close],
        size: Some(Bytes(FILE_BYTES)),
        take: Some(Take::default()),
        pace: Pace { ops: Some(OpsPerSec(200)), ..Pace::default() },
        paced_steps: vec![Step::Read],
        ..Entries::default()
    };
    let timed = phase(Some(1.0), vec![job("read", 2, read)]);
    let phases = format().into_iter().chain([timed]).collect();
    let done = run(vec![target("t", dir.path(), tree())], phases);
    let reads = ops(&done[2][0], "read");
    assert!((180..=202).contains(&reads), "{reads}");
}

#[test]
fn jobs_of_a_flow_keep_their_shares_of_the_steps_that_count() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let of = |weight, steps: &[Step], counted| Entries {
        steps: steps.into(),
        size: steps.contains(&Step::Read).then_some(Bytes(4096)),
        take: Some(Take::default()),
        pace: Pace {
            flow: Some(Flow { weight, together: true, ..Flow::default() }),
            ..Pace::default()
        },
        paced_steps: vec![counted],
        ..Entries::default()
    };
    let read = of(75, &[Step::Open, Step::Read, Step::Close], Step::Read);
    let stat = of(25, &[Step::Stat], Step::Stat);
    let timed = phase(Some(0.5), vec![job("read", 2, read), job("stat", 2, stat)]);
    let phases = format().into_iter().chain([timed]).collect();
    let done = run(vec![target("t", dir.path(), tree())], phases);
    let (reads, stats) = (ops(&done[2][0], "read") as f64, ops(&done[2][1], "stat") as f64);
    assert!((reads / stats - 3.0).abs() < 0.2, "{reads} {stats}");
}

#[test]
fn files_are_copied_and_moved_to_another_tree() {
    let [dir, other] = [(); 2].map(|()| tempfile::tempdir().expect("a scratch directory"));
    let over = |step| {
        let mut entries = Entries {
            size: (step == Step::Copy).then_some(Bytes(4096)).filter(|_| false),
            ..once(&[], &[step])
        };
        entries.take.as_mut().expect("taken").to = Some("to".into());
        phase(None, vec![job("j", 2, entries)])
    };
    let targets = || vec![target("t", dir.path(), tree()), target("to", other.path(), tree())];
    let to = |entries| Job { targets: vec!["to".into()], ..job("mkdir", 1, entries) };
    let directories = phase(None, vec![to(make_directories())]);
    let phases: Vec<Phase> =
        format().into_iter().chain([directories, over(Step::Copy), over(Step::Rename)]).collect();
    let done = run(targets(), phases);
    assert_eq!((ops(&done[3][0], "copy"), ops(&done[4][0], "rename")), (FILES, FILES));
    assert!(lengths(dir.path()).is_empty());
    let copied = lengths(other.path());
    assert_eq!((copied.len() as u64, copied.values().sum()), (FILES, FILES * FILE_BYTES));
}

#[test]
fn attributes_are_looked_at_and_set() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let of = |step| phase(None, vec![job("j", 2, once(&[], &[step]))]);
    let phases = [of(Step::Access), of(Step::Utimens), of(Step::Stat)];
    let phases = format().into_iter().chain(phases).collect();
    let done = run(vec![target("t", dir.path(), tree())], phases);
    let counts = [(2, "access"), (3, "utimens"), (4, "stat")];
    assert_eq!(counts.map(|(phase, name): (usize, _)| ops(&done[phase][0], name)), [FILES; 3]);
}

#[test]
fn an_exponential_order_prefers_the_first_files() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let flat =
        Tree { depth: 1, width: 1, items: 100, file_size: SizeSpec::Fixed(Bytes(512)), ..tree() };
    let read = Entries {
        steps: vec![Step::Utimens],
        select: Select::Exponential { midpoint: 10.0 },
        take: Some(Take::default()),
        ..Entries::default()
    };
    let stop = Stop { ops: Some(100), ..Stop::default() };
    let touch = Phase { stop, jobs: vec![job("touch", 1, read)], ..Phase::default() };
    run(vec![target("t", dir.path(), flat.clone())], format());
    let before = std::time::SystemTime::now();
    std::thread::sleep(std::time::Duration::from_millis(30));
    run(vec![target("t", dir.path(), flat)], vec![touch]);
    let touched =
        candor_plan::files_below(dir.path()).into_iter().enumerate().filter(|(_, file)| {
            file.metadata().and_then(|of| of.modified()).is_ok_and(|at| at > before)
        });
    let numbers: Vec<usize> = touched.map(|(number, _)| number).collect();
    let first = numbers.iter().filter(|number| **number < 25).count();
    assert!(numbers.len() > 15 && first * 2 > numbers.len(), "{numbers:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the shape and the number of workers: each file exactly once, of its size.
    #[test]
    fn any_tree_is_made_whole(
        depth in 1..4_u32, width in 1..4_u32, items in 1..4_u64, workers in 1..5_u32,
        [leaves_only, root_is_bare] in any::<[bool; 2]>(),
    ) {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let file_size = SizeSpec::Weighted(vec![(Bytes(100), 50), (Bytes(700), 50)]);
        let tree = Tree { depth, width, items, leaves_only, root_is_bare, file_size, ..tree() };
        let totals = tree.totals(1);
        let phases = vec![phase(None, vec![
            Job { workers, ..job("mkdir", 1, make_directories()) },
            Job { workers, ..job("create", 1, write_files()) },
        ])];
        let done = run(vec![target("t", dir.path(), tree)], phases);
        prop_assert_eq!(ops(&done[0][0], "mkdir"), totals.directories - 1);
        prop_assert_eq!(ops(&done[0][1], "create"), totals.items);
        let files = lengths(dir.path());
        prop_assert_eq!(files.len() as u64, totals.items);
        prop_assert!(files.values().all(|bytes| [100, 700].contains(bytes)));
    }
}

/// The same work, whose blocks must be those of the last writes to them.
fn tracked(entries: Entries) -> Entries {
    let verify = VerifyItems {
        interval: Bytes(512),
        generations: true,
        read_before_write: true,
        mismatches_max: Some(1),
        times: true,
        ..VerifyItems::default()
    };
    Entries { verify: Some(verify), ..entries }
}

#[test]
fn blocks_are_those_of_their_last_writes_whatever_happens_to_their_files() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let random = |steps: &[Step]| {
        tracked(Entries {
            steps: steps.into(),
            select: Select::Random,
            access: Access::Random,
            size_mix: Some(SizeSpec::Weighted(vec![(Bytes(512), 50), (Bytes(2048), 50)])),
            visit: Some(Visit::Percent(30)),
            take: Some(Take::default()),
            ..Entries::default()
        })
    };
    let mixed = Entries { read_percent: 40, ..random(&[Step::Open, Step::Write, Step::Close]) };
    let in_order = tracked(Entries {
        steps: vec![Step::Open, Step::Write, Step::Close],
        size: Some(Bytes(1024)),
        visit: Some(Visit::Operations(3)),
        take: Some(Take::default()),
        ..Entries::default()
    });
    let delete = Entries {
        steps: vec![Step::Unlink],
        take: Some(Take::default()),
        select: Select::Random,
        pace: Pace { ops: Some(OpsPerSec(200)), ..Pace::default() },
        ..Entries::default()
    };
    let absent = vec![Step::Create, Step::Write, Step::Close];
    let create = tracked(Entries {
        size: Some(Bytes(4096)),
        take: Some(Take { absent, ..Take::default() }),
        ..Entries::default()
    });
    let jobs = [
        ("mixed", mixed),
        ("in order", in_order),
        ("reads", random(&[Step::Open, Step::Read, Step::Close])),
        ("delete", delete),
        ("create", create),
    ];
    let jobs = jobs.into_iter().map(|(name, entries)| job(name, 2, entries)).collect();
    let mut phases = format();
    phases[1].jobs[0].work = tracked(write_files()).into();
    phases.push(phase(Some(0.7), jobs));
    let done = run(vec![target("t", dir.path(), tree())], phases);
    let mut blocks = 0;
    for measured in &done[2] {
        let ended = (measured.ended, &measured.errors);
        assert_eq!(ended, (Ended::Time, &Vec::new()), "{}: {:?}", measured.job, measured.verify);
        let Some(verify) = &measured.verify else { continue };
        assert_eq!(verify.mismatches(), 0, "{}: {verify:?}", measured.job);
        blocks += verify.blocks;
    }
    assert!(blocks > 1000, "{blocks}");
    assert!(done[2][0].read_back.is_some(), "blocks were read before they were written");
}

/// Each session stands for a host: its table does not know what the other one does.
#[test]
fn hosts_that_share_a_tree_have_parts_of_it_and_see_what_others_have_changed() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let mut hosts = [Session::new(families), Session::new(families)];
    let mut on = |host: usize, over: Over, (present, absent): (&[Step], &[Step]), of: u32| {
        let part = HostPart { number: if of == 1 { 0 } else { host as u32 }, of };
        let of_one = once(absent, present);
        let take = of_one.take.clone().map(|take| Take { host_part: Some(part), ..take });
        let jobs = vec![job("j", 3, Entries { over, take, ..of_one })];
        let phases = vec![phase(None, jobs)];
        let targets = vec![target("t", dir.path(), tree())];
        let plan = Plan { targets, phases, ..Plan::default() };
        let prepared = Prepared::new(&mut hosts[host], &Task::of(&plan, 0)).expect("prepared");
        let measured = prepared.run(&AtomicBool::new(false), &mut ()).remove(0);
        assert_eq!(measured.errors, [], "{over:?}");
        [Step::Mkdir, Step::Create, Step::Unlink, Step::Rmdir]
            .map(|step| measured.operation(step.name()).ops)
    };
    let (items, directories) = (Over::Items, Over::Directories);
    for _ in 0..2 {
        assert_eq!(on(0, directories, (&[], &[Step::Mkdir]), 1), [6, 0, 0, 0]);
        let made: Vec<_> =
            (0..2).map(|host| on(host, items, (&[], &[Step::Create, Step::Close]), 2)).collect();
        assert_eq!(made, [[0, FILES / 2, 0, 0]; 2]);
        assert_eq!(on(1, items, (&[Step::Unlink], &[]), 2), [0, 0, FILES / 2, 0]);
        assert_eq!(on(0, items, (&[Step::Unlink], &[]), 1), [0, 0, FILES / 2, 0]);
        assert_eq!(on(0, directories, (&[Step::Rmdir], &[]), 1), [0, 0, 0, 6]);
    }
}
