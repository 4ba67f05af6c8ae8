//! Trees, jobs and formats of file systems.

use candor_plan::blocks::Access;
use candor_plan::check::check;
use candor_plan::entries::{Over, Select, Step, Visit};
use candor_plan::units::SizeSpec;
use candor_plan::{Bytes, Nanos, Phase, Plan, Stop};

use super::group::groups;
use super::seats::Seats;
use super::*;
use crate::definitions::fsd::{FilePlacement, FileSizes};
use crate::definitions::fwd::{FileIo, FileSelect, StopAfter};
use crate::definitions::open_flags::SyncFlag;
use crate::definitions::transfer::TransferSize;

fn common() -> Common {
    Common {
        open_flags: None,
        of_fsd: OpenFlags::default(),
        transfer_size: None,
        content: Content::default(),
    }
}

fn fsd(anchor: &Path) -> Fsd {
    let anchor = Some(anchor.display().to_string());
    Fsd { anchor, depth: 2, width: 2, files: 3, ..Fsd::default() }
}

/// Jobs of one workload on one file system; the plan makes sense.
fn jobs_of(fwd: Fwd, values: &Values) -> Vec<Job> {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let [fsd, other] = [fsd(&dir.path().join("a")), fsd(&dir.path().join("b"))];
    let systems =
        [FileSystem { name: "fsd1", fsd: &fsd }, FileSystem { name: "fsd2", fsd: &other }];
    let fwd = Fwd { fsds: vec!["fsd1".into()], ..fwd };
    let workloads = [Workload { name: "fwd1", fwd: &fwd }];
    let groups = groups(&systems, &workloads, &[], values, &Seats::default()).expect("groups");
    let mut trees = Trees::default();
    let common = Common { transfer_size: values.transfer_size, ..common() };
    let jobs = trees.jobs(&systems, &groups, values, &common).expect("jobs");
    assert_plan(trees.into_targets(), vec![jobs.clone()]);
    jobs
}

/// A plan of phases with these jobs has no errors.
fn assert_plan(targets: Vec<Target>, phases: Vec<Vec<Job>>) {
    let stop = Stop { time: Some(Nanos::from_secs(1)), ..Stop::default() };
    let plan = Plan {
        targets,
        phases: phases
            .into_iter()
            .map(|jobs| Phase { stop: stop.clone(), jobs, ..Phase::default() })
            .collect(),
        ..Plan::default()
    };
    let errors: Vec<_> = check(&plan).into_iter().filter(candor_plan::Problem::is_error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn entries(job: &Job) -> &candor_plan::Entries {
    job.entries().expect("entries")
}

/// An operation, with steps for files that are there and that are not, and the step that counts.
type Case = (FileOperation, FileIo, &'static [Step], &'static [Step], Step);

#[test]
fn each_operation_has_its_steps() {
    use FileOperation as Op;
    use Step::{Close, Create, Open, Read, Unlink, Write};
    let random = FileIo { random: true, ..FileIo::default() };
    let delete = FileIo { delete_first: true, ..FileIo::default() };
    let order = FileIo::default();
    #[rustfmt::skip]
    let cases: &[Case] = &[
        (Op::Read, order, &[Open, Read, Close], &[], Read),
        (Op::Read, random, &[Open, Read, Close], &[], Read),
        (Op::Write, order, &[Open, Write, Close], &[Create, Write, Close], Write),
        (Op::Write, random, &[Open, Write, Close], &[], Write),
        (Op::Write, delete, &[Unlink, Create, Write, Close], &[Create, Write, Close], Write),
        (Op::Create, order, &[], &[Create, Close], Create),
        (Op::Delete, order, &[Unlink], &[], Unlink),
        (Op::Mkdir, order, &[], &[Step::Mkdir], Step::Mkdir),
        (Op::Rmdir, order, &[Step::Rmdir], &[], Step::Rmdir),
        (Op::Open, order, &[Open, Close], &[], Open),
        (Op::Close, order, &[Open, Close], &[], Close),
        (Op::Getattr, order, &[Step::Stat], &[], Step::Stat),
        (Op::Setattr, order, &[Step::Utimens], &[], Step::Utimens),
        (Op::Access, order, &[Step::Access], &[], Step::Access),
        (Op::Copy, order, &[Step::Copy], &[], Step::Copy),
        (Op::Move, order, &[Step::Rename], &[], Step::Rename),
    ];
    for (operation, file_io, present, absent, counted) in cases {
        let target = group::goes_over(*operation).then(|| "fsd2".to_owned());
        let fwd = Fwd { operation: *operation, file_io: *file_io, target, ..Fwd::default() };
        let jobs = jobs_of(fwd, &Values::default());
        let of = entries(&jobs[0]);
        let take = of.take.as_ref().expect("taken");
        assert_eq!((&of.steps[..], &take.absent[..]), (*present, *absent), "{operation:?}");
        assert_eq!(of.paced_steps, [*counted], "{operation:?}");
        assert_eq!(take.to.is_some(), group::goes_over(*operation), "{operation:?}");
        let of_directories = matches!(operation, Op::Mkdir | Op::Rmdir);
        assert_eq!(of.over == Over::Directories, of_directories, "{operation:?}");
    }
}

#[test]
fn words_of_a_workload_are_words_of_the_plan() {
    let fwd = Fwd {
        operation: FileOperation::Read,
        transfer_size: TransferSize::Mixed(vec![(4096, 30.0), (65_536, 70.0)]),
        file_io: FileIo { random: true, ..FileIo::default() },
        file_select: FileSelect { random: true, poisson: Some(4.0), once: false },
        stop_after: Some(StopAfter::Operations(50)),
        threads: 5,
        open_flags: Some(OpenFlags { direct: true, ..OpenFlags::default() }),
        ..Fwd::default()
    };
    let jobs = jobs_of(fwd, &Values::default());
    let of = entries(&jobs[0]);
    let mixed = SizeSpec::Weighted(vec![(Bytes(4096), 30), (Bytes(65_536), 70)]);
    assert_eq!((jobs[0].workers, of.size, of.size_mix.clone()), (5, None, Some(mixed)));
    assert_eq!(of.select, Select::Exponential { midpoint: 4.0 });
    assert_eq!(of.visit, Some(Visit::Operations(50)));
    assert!(of.direct);
}

#[test]
fn a_mix_of_reads_and_writes_is_drawn_by_chance() {
    let random = FileIo { random: true, ..FileIo::default() };
    let of = |percent| {
        let fwd = Fwd { read_percent: Some(percent), file_io: random, ..Fwd::default() };
        jobs_of(fwd, &Values::default()).remove(0)
    };
    let job = of(70.0);
    let mixed = entries(&job);
    assert_eq!((mixed.read_percent, mixed.read_by_chance), (70, true));
    assert_eq!(mixed.paced_steps, [Step::Read, Step::Write]);
    let [all, none] = [of(100.0), of(0.0)];
    assert_eq!(entries(&all).steps, [Step::Open, Step::Read, Step::Close]);
    assert_eq!((entries(&none).steps[1], entries(&none).read_by_chance), (Step::Write, false));
    // The share of a run mixes reads and writes of any workload, in order as well.
    let values = Values { read_percent: Some(40.0), ..Values::default() };
    let opens = Fwd { operation: FileOperation::Open, ..Fwd::default() };
    let job = jobs_of(opens, &values).remove(0);
    let mixed = entries(&job);
    assert_eq!(mixed.steps, [Step::Open, Step::Write, Step::Close]);
    assert_eq!((mixed.read_percent, mixed.access.clone()), (40, Access::Sequential));
}

#[test]
fn values_of_loops_replace_those_of_definitions() {
    let mut values = Values::default();
    for (kind, value) in [
        (LoopKind::Depth, 1.0),
        (LoopKind::Width, 4.0),
        (LoopKind::Files, 7.0),
        (LoopKind::FileSize, 8192.0),
        (LoopKind::Threads, 3.0),
        (LoopKind::TransferSize, 1024.0),
        (LoopKind::WorkingSet, 65_536.0),
    ] {
        assert!(values.set(kind, value));
    }
    assert!(!values.set(LoopKind::HitArea, 1.0));
    values.operation = Some(FileOperation::Write);
    let dir = tempfile::tempdir().expect("a scratch directory");
    let fsd = fsd(dir.path());
    let tree = Shape::of(&fsd, &values).expect("a shape").tree();
    assert_eq!((tree.depth, tree.width, tree.items), (1, 4, 7));
    let jobs = jobs_of(Fwd::default(), &values);
    let of = entries(&jobs[0]);
    assert_eq!((jobs[0].workers, of.size, of.steps[1]), (3, Some(Bytes(1024)), Step::Write));
    assert_eq!(of.take.as_ref().expect("taken").parts, [Bytes(65_536)]);
}

/// Names of the phases of a format, and those of their jobs' trees.
fn formatted(
    trees: &mut Trees,
    fsd: &Fsd,
    values: &Values,
    format: Format,
) -> Vec<(&'static str, Tree)> {
    let system = FileSystem { name: "fsd1", fsd };
    let shape = Shape::of(fsd, values).expect("a shape");
    let formatter = Formatter::of(None);
    let content = Content::default();
    let phases =
        trees.format(&[(system, shape, vec![Seat::default()])], format, &formatter, None, &content);
    let phases = phases.expect("phases");
    let named = phases
        .iter()
        .map(|(step, jobs)| {
            let target = trees.targets.iter().find(|target| target.name == jobs[0].0.targets[0]);
            (step.name(), target.and_then(|target| target.tree.clone()).expect("a tree"))
        })
        .collect();
    assert_plan(
        trees.targets.clone(),
        phases
            .into_iter()
            .map(|(_, jobs)| jobs.into_iter().map(|(job, _)| job).collect())
            .collect(),
    );
    named
}

#[test]
fn a_format_removes_what_stands_there_and_makes_the_tree() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let (fsd, yes) = (fsd(dir.path()), Format { is_wanted: true, ..Format::default() });
    let (mut trees, values) = (Trees::default(), Values::default());
    let tree = Shape::of(&fsd, &values).expect("a shape").tree();
    let new = [("mkdir", tree.clone()), ("create", tree.clone())];
    assert_eq!(formatted(&mut trees, &fsd, &values, yes), new, "nothing stands there");
    // The next one removes what the first one made, by its own shape.
    let more = Values { files: Some(9), ..Values::default() };
    let second = formatted(&mut trees, &fsd, &more, yes);
    assert_eq!(second[..2], [("delete", tree.clone()), ("rmdir", tree)]);
    assert_eq!((second[3].0, second[3].1.items), ("create", 9));
    let restart = formatted(&mut trees, &fsd, &more, Format { restart: true, ..yes });
    assert_eq!(restart.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["mkdir", "create"]);
}

#[test]
fn a_tree_of_an_earlier_run_is_found_by_its_names() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let below = dir.path().join("vdb.1_5.dir");
    std::fs::create_dir(&below).expect("made");
    std::fs::write(below.join("vdb_f0042.file"), "x").expect("written");
    let (fsd, yes) = (fsd(dir.path()), Format { is_wanted: true, ..Format::default() });
    let phases = formatted(&mut Trees::default(), &fsd, &Values::default(), yes);
    let (name, old) = &phases[0];
    assert_eq!((*name, old.depth, old.width, old.items), ("delete", 1, 5, 42));
    assert!(!old.leaves_only && old.root_is_bare);
}

#[test]
fn a_tree_of_another_definition_is_not_used() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let fsd = fsd(dir.path());
    let system = FileSystem { name: "fsd1", fsd: &fsd };
    let shape = Shape::of(&fsd, &Values::default()).expect("a shape");
    let file = dir.path().join(control::NAME);
    std::fs::write(&file, Control::of(&shape).text("then")).expect("written");
    assert_eq!(Trees::default().use_as_is(&system, &shape), Ok(()));
    let all = Fsd { placement: FilePlacement::All, sizes: FileSizes::Fixed(1), ..fsd.clone() };
    let other = Shape::of(&all, &Values::default()).expect("a shape");
    let wrong = Trees::default().use_as_is(&system, &other).expect_err("another definition");
    assert!(wrong.contains("distribution") && wrong.contains("format=yes"), "{wrong}");
    std::fs::write(&file, "nonsense").expect("written");
    assert!(Trees::default().use_as_is(&system, &shape).is_err());
    // Within a run, too.
    std::fs::remove_file(&file).expect("removed");
    let mut trees = Trees::default();
    assert_eq!(trees.use_as_is(&system, &shape), Ok(()));
    assert!(trees.use_as_is(&system, &other).is_err());
}

#[test]
fn flags_of_the_run_come_before_those_of_the_workload() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let mut fsd = fsd(dir.path());
    fsd.open_flags = OpenFlags { direct: true, ..OpenFlags::default() };
    let systems = [FileSystem { name: "fsd1", fsd: &fsd }];
    let flags = |of_fwd: Option<OpenFlags>, of_run: Option<OpenFlags>| {
        let fwd = Fwd {
            fsds: vec!["fsd1".into()],
            operation: FileOperation::Write,
            open_flags: of_fwd,
            ..Fwd::default()
        };
        let workloads = [Workload { name: "a", fwd: &fwd }];
        let values = Values::default();
        let groups = groups(&systems, &workloads, &[], &values, &Seats::default()).expect("groups");
        let common = Common { open_flags: of_run, ..common() };
        let jobs = Trees::default().jobs(&systems, &groups, &values, &common).expect("jobs");
        let of = entries(&jobs[0]);
        (of.direct, of.open_sync, of.has(Step::Fsync))
    };
    use candor_plan::blocks::OpenSync;
    let dsync = Some(OpenFlags { sync: SyncFlag::Dsync, ..OpenFlags::default() });
    let fsync = Some(OpenFlags { fsync_at_close: true, ..OpenFlags::default() });
    assert_eq!(flags(None, None), (true, OpenSync::None, false));
    assert_eq!(flags(dsync, None), (false, OpenSync::Dsync, false));
    assert_eq!(flags(dsync, fsync), (false, OpenSync::None, true));
}
