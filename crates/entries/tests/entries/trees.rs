//! Steps over trees: whose things each rank works on, and under which names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{Content, Fill, Format, WordKind, Words};
use candor_plan::entries::{Division, Entries, Over, Step, VerifyItems, Window};
use candor_plan::tree::Spread;
use candor_plan::units::SizeSpec;
use candor_plan::{
    Bytes, Create, Job, Nanos, Phase, Plan, Stonewall, Stop, Target, TargetKind, Tree, check,
};
use candor_record::Measurement;

use crate::common::families;

/// A phase on trees in these directories.
struct Case {
    paths: Vec<PathBuf>,
    tree: Tree,
    workers: u32,
}

impl Case {
    /// Runs phases one after another in one session.
    fn run(&self, phases: &[(Entries, Stop)]) -> Vec<Measurement> {
        let target = |(nth, path): (usize, &PathBuf)| Target {
            name: format!("tree {nth}"),
            path: path.clone(),
            kind: TargetKind::Tree,
            create: Create::Nothing,
            keep: true,
            overwrite: true,
            tree: Some(self.tree.clone()),
            ..Target::default()
        };
        let targets: Vec<Target> = self.paths.iter().enumerate().map(target).collect();
        let phase = |(entries, stop): &(Entries, Stop)| {
            let job = Job {
                workers: self.workers,
                targets: targets.iter().map(|target| target.name.clone()).collect(),
                stop: Some(Stop { continue_on_error: true, ..stop.clone() }),
                work: entries.clone().into(),
                ..Job::default()
            };
            Phase { jobs: vec![job], ..Phase::default() }
        };
        let phases: Vec<Phase> = phases.iter().map(phase).collect();
        let plan = Plan { targets: targets.clone(), phases, ..Plan::default() };
        assert_eq!(check::check(&plan), []);
        let mut session = Session::new(families);
        (0..plan.phases.len())
            .map(|nth| {
                let prepared = Prepared::new(&mut session, &Task::of(&plan, nth));
                let prepared = prepared.expect("prepared");
                prepared.run(&AtomicBool::new(false), &mut ()).remove(0)
            })
            .collect()
    }

    fn step(&self, over: Over, step: Step, change: impl Fn(&mut Entries)) -> Measurement {
        let mut entries = Entries { over, steps: vec![step], ..Entries::default() };
        change(&mut entries);
        self.run(&[(entries, Stop::default())]).remove(0)
    }
}

/// Names below a directory, directories with a slash behind.
fn below(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        for entry in std::fs::read_dir(&path).expect("a directory").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(directory).expect("below").display().to_string();
            let is_directory = path.is_dir();
            names.push(if is_directory { name + "/" } else { name });
            left.extend(is_directory.then_some(path));
        }
    }
    names.sort();
    names
}

fn tree() -> Tree {
    let name = |text: &str| text.parse().ok();
    Tree {
        depth: 1,
        width: 2,
        items: 2,
        items_per_rank: true,
        root_name: name("t.0"),
        directory_name: name("t.{directory}"),
        item_name: name("f.{rank}.{slot}"),
        ..Tree::default()
    }
}

#[test]
fn the_first_rank_makes_roots_and_the_items_of_all() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let case = Case { paths: vec![dir.path().into()], tree: tree(), workers: 3 };
    let first = |entries: &mut Entries| {
        entries.division = Division::First;
        entries.with_roots = entries.over == Over::Directories;
    };
    let made = case.step(Over::Directories, Step::Mkdir, first);
    assert_eq!((made.operation("mkdir").ops, made.errors), (3, Vec::new()));
    assert_eq!(below(dir.path()), ["t.0/", "t.0/t.1/", "t.0/t.2/"]);
    let made = case.step(Over::Items, Step::Create, first);
    assert_eq!((made.operation("create").ops, made.errors), (18, Vec::new()));
    assert_eq!(made.per_worker.iter().map(|worker| worker.ops).collect::<Vec<_>>(), [18, 0, 0]);
    let names = below(dir.path());
    for (rank, directory, slot) in [(0, "", 0), (2, "", 1), (1, "t.1/", 3), (2, "t.2/", 5)] {
        let name = format!("t.0/{directory}f.{rank}.{slot}");
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    // The others find what is theirs.
    let seen = case.step(Over::Items, Step::Stat, |_| {});
    assert_eq!((seen.operation("stat").ops, seen.errors), (18, Vec::new()));
    let removed = case.step(Over::Items, Step::Unlink, first);
    assert_eq!((removed.operation("unlink").ops, removed.errors), (18, Vec::new()));
    let removed = case.step(Over::Directories, Step::Rmdir, first);
    assert_eq!((removed.operation("rmdir").ops, removed.errors), (3, Vec::new()));
    assert_eq!(below(dir.path()), Vec::<String>::new());
}

#[test]
fn items_stand_in_the_tree_of_another_rank_and_trees_in_directories_by_rank() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let paths: Vec<PathBuf> = ["a", "b"].map(|name| dir.path().join(name)).into();
    paths.iter().for_each(|path| std::fs::create_dir(path).expect("made"));
    let tree = Tree {
        items_per_rank: false,
        per_rank: true,
        depth: 0,
        tree_shift: 1,
        spread: Spread::Ranks,
        root_name: "t.{rank}".parse().ok(),
        ..tree()
    };
    let case = Case { paths, tree, workers: 4 };
    case.step(Over::Directories, Step::Mkdir, |entries| entries.with_roots = true);
    let made = case.step(Over::Items, Step::Mknod, |_| {});
    assert_eq!((made.operation("mknod").ops, made.errors), (8, Vec::new()));
    let names = below(dir.path());
    // Rank 1 is in the directory of odd ranks, and rank 0 has its items in its tree.
    for name in ["a/t.0/f.3.1", "b/t.1/f.0.0", "a/t.2/f.1.0", "b/t.3/f.2.1"] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
}

#[test]
fn roots_that_count_apart_are_in_every_target() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let paths: Vec<PathBuf> = ["a", "b"].map(|name| dir.path().join(name)).into();
    paths.iter().for_each(|path| std::fs::create_dir(path).expect("made"));
    let tree = Tree { per_rank: true, root_name: "r{rank}".parse().ok(), ..tree() };
    let own = Case { paths: paths.clone(), tree: tree.clone(), workers: 2 };
    let roots = |entries: &mut Entries| (entries.with_roots, entries.roots_apart) = (true, true);
    let counts = |made: &Measurement, names: [&str; 2]| names.map(|name| made.operation(name).ops);
    let made = own.step(Over::Directories, Step::Mkdir, roots);
    assert_eq!((counts(&made, ["mkdir", "make_root"]), made.errors), ([4, 4], Vec::new()));
    let names = below(dir.path());
    for name in ["a/r0/", "b/r0/", "a/r1/", "b/r1/"] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    let removed = own.step(Over::Directories, Step::Rmdir, roots);
    assert_eq!((counts(&removed, ["rmdir", "remove_root"]), removed.errors), ([4, 4], Vec::new()));
    assert_eq!(below(dir.path()), ["a/", "b/"]);
    // A root of all is every worker's.
    let shared = Tree { per_rank: false, root_name: "r0".parse().ok(), ..tree };
    let shared = Case { paths: paths[..1].to_vec(), tree: shared, workers: 2 };
    let every = |entries: &mut Entries| {
        roots(entries);
        (entries.division, entries.idempotent) = (Division::Every, true);
    };
    let made = shared.step(Over::Directories, Step::Mkdir, every);
    assert_eq!((counts(&made, ["mkdir", "make_root"]), made.errors), ([4, 2], Vec::new()));
    let removed = shared.step(Over::Directories, Step::Rmdir, every);
    assert_eq!((counts(&removed, ["rmdir", "remove_root"]), removed.errors), ([4, 2], Vec::new()));
    assert_eq!(below(dir.path()), ["a/", "b/"]);
}

#[test]
fn copies_hold_everything_and_every_rank_works_on_what_all_share() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let paths: Vec<PathBuf> = ["a", "b"].map(|name| dir.path().join(name)).into();
    paths.iter().for_each(|path| std::fs::create_dir(path).expect("made"));
    let tree = Tree {
        items_per_rank: false,
        depth: 0,
        spread: Spread::Copies,
        root_name: None,
        item_name: "f.{slot}".parse().ok(),
        ..tree()
    };
    let case = Case { paths, tree, workers: 3 };
    let made = case.step(Over::Items, Step::Create, |entries| entries.division = Division::Every);
    assert_eq!((made.operation("create").ops, made.errors), (3 * 2 * 2, Vec::new()));
    assert_eq!(below(dir.path()), ["a/", "a/f.0", "a/f.1", "b/", "b/f.0", "b/f.1"]);
    let few = |entries: &mut Entries| {
        entries.division = Division::Every;
        entries.first = Some(1);
    };
    assert_eq!(case.step(Over::Items, Step::Stat, few).operation("stat").ops, 3 * 2);
}

#[test]
fn a_chain_of_renames_leaves_the_same_names() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let flat = Tree { depth: 0, items: 5, root_name: None, ..tree() };
    let case = Case { paths: vec![dir.path().into()], tree: flat.clone(), workers: 2 };
    case.step(Over::Items, Step::Create, |_| {});
    for (nth, name) in below(dir.path()).iter().enumerate() {
        std::fs::write(dir.path().join(name), nth.to_string()).expect("written");
    }
    let renamed = case.step(Over::Items, Step::Rename, |entries| entries.rename_chain = true);
    assert_eq!((renamed.operation("rename").ops, renamed.errors), (10, Vec::new()));
    let held: BTreeMap<String, String> = below(dir.path())
        .into_iter()
        .map(|name| {
            let content = std::fs::read_to_string(dir.path().join(&name)).expect("read");
            (name, content)
        })
        .collect();
    assert_eq!(held.len(), 10);
    let of = |name: &str| held[name].as_str();
    // Each has what the next one had, the last but one what the first had, and the last its own.
    assert_eq!(["f.0.0", "f.0.1", "f.0.2", "f.0.3", "f.0.4"].map(of), ["1", "2", "3", "0", "4"]);
    let alone = tempfile::tempdir().expect("a scratch directory");
    let one = Tree { items: 1, ..flat };
    let case = Case { paths: vec![alone.path().into()], tree: one, workers: 1 };
    case.step(Over::Items, Step::Create, |_| {});
    let renamed = case.step(Over::Items, Step::Rename, |entries| entries.rename_chain = true);
    assert_eq!(renamed.operation("rename").ops, 0, "the only thing keeps its name");
    assert_eq!(below(alone.path()), ["f.0.0"]);
}

#[test]
fn words_tell_the_owner_and_the_number_of_each_file() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let file_size = SizeSpec::Fixed(Bytes(3901));
    let flat = Tree { depth: 0, items: 4, root_name: None, file_size, ..tree() };
    let case = Case { paths: vec![dir.path().into()], tree: flat, workers: 2 };
    for kind in [WordKind::Timestamp, WordKind::Offset, WordKind::Incompressible, WordKind::Random]
    {
        let entries = |steps: &[Step]| Entries {
            steps: steps.to_vec(),
            content: Content {
                fill: Fill::Words,
                words: Some(Words { kind, seed: 9, rank_block: None }),
                ..Content::default()
            },
            verify: Some(VerifyItems {
                format: Format::Words,
                continue_on_mismatch: true,
                read_back: steps.contains(&Step::Write),
                ..VerifyItems::default()
            }),
            ..Entries::default()
        };
        let checked = |measured: &Measurement| {
            let stats = measured.verify.clone().expect("checked");
            (stats.blocks, stats.first.len())
        };
        let writes = entries(&[Step::Create, Step::Write, Step::Close]);
        let made = case.run(&[(writes, Stop::default())]);
        assert_eq!(checked(&made[0]), (8, 0), "{kind:?}: {:?}", made[0].verify);
        let path = dir.path().join("f.1.2");
        let mut bytes = std::fs::read(&path).expect("the file");
        let word = |at: usize| u64::from_ne_bytes(bytes[8 * at..8 * at + 8].try_into().unwrap());
        match kind {
            WordKind::Timestamp => assert_eq!((word(0), word(7)), (1 << 32 | 9, 1 << 32 | 16)),
            WordKind::Offset => assert_eq!((word(0), word(7)), (1 << 32 | 2, 1 << 32 | 16)),
            WordKind::Incompressible | WordKind::Random => assert_ne!(word(1), 0),
        }
        assert_eq!(bytes[3896..], [56, 57, 58, 59, 60], "bytes behind the last word");
        let reads = || (entries(&[Step::Open, Step::Read, Step::Close]), Stop::default());
        assert_eq!(checked(&case.run(&[reads()])[0]), (8, 0));
        for at in [1000, 3899] {
            bytes[at] ^= 4;
            std::fs::write(&path, &bytes).expect("written");
            let found = case.run(&[reads()]).remove(0).verify.expect("checked");
            assert_eq!((found.flipped, found.first.len()), (1, 1), "{kind:?}: {found:?}");
            assert!(found.first[0].path.ends_with("f.1.2"), "{found:?}");
            bytes[at] ^= 4;
        }
        // A file in place of another one of its rank is told by its number.
        std::fs::copy(dir.path().join("f.1.3"), &path).expect("copied");
        let found = case.run(&[reads()]).remove(0).verify.expect("checked");
        let expected = usize::from(kind != WordKind::Timestamp);
        assert_eq!(found.first.len(), expected, "{kind:?}: {found:?}");
    }
}

#[test]
fn later_phases_take_what_was_reached_in_time() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let many = Tree { depth: 0, items: 200_000, root_name: None, ..tree() };
    let case = Case { paths: vec![dir.path().into()], tree: many, workers: 2 };
    let entries = |steps: &[Step], as_reached| Entries {
        steps: steps.to_vec(),
        as_reached,
        ..Entries::default()
    };
    let timed = Stop {
        time: Some(Nanos(50_000_000)),
        stonewall: Stonewall::WearOut,
        passes: Some(1),
        ..Stop::default()
    };
    let done = case.run(&[
        (entries(&[Step::Create, Step::Close], false), timed),
        (entries(&[Step::Stat], true), Stop::default()),
        (entries(&[Step::Unlink], true), Stop::default()),
    ]);
    let [made, seen, removed] = &done[..] else { panic!("three phases") };
    let made = made.operation("item").ops;
    assert!(made > 0 && made < 400_000 && made.is_multiple_of(2), "{made}");
    assert_eq!((seen.operation("stat").ops, seen.errors.len()), (made, 0));
    assert_eq!((removed.operation("unlink").ops, removed.errors.len()), (made, 0));
    assert_eq!(below(dir.path()), Vec::<String>::new());
}

/// A tree of windows: directories of each rank in one root, with so many items each.
fn windows(items: u64) -> Tree {
    Tree {
        items,
        leaves_only: true,
        per_rank: true,
        shared_root: true,
        items_across: true,
        file_size: SizeSpec::Fixed(Bytes(100)),
        root_name: None,
        directory_name: "{rank}_{child}".parse().ok(),
        item_name: "file-{number}".parse().ok(),
        ..tree()
    }
}

/// Phases on a window that begins at a number: directories and items are made, the window moves on
/// by so many items twice, what is in it then is removed.
fn moving(start: u64, first: Option<u64>, stop: &Stop) -> [(Entries, Stop); 6] {
    use Step::*;
    let words = Words { kind: WordKind::Offset, seed: 7, rank_block: None };
    let content = Content { fill: Fill::Words, words: Some(words), ..Content::default() };
    let window =
        |enter: &[Step], rank_step| Some(Window { start, enter: enter.to_vec(), rank_step });
    let entries = |over, steps: &[Step], window| Entries {
        over,
        steps: steps.to_vec(),
        window,
        content: content.clone(),
        ..Entries::default()
    };
    let moves = Entries {
        first,
        verify: Some(VerifyItems {
            format: Format::Words,
            continue_on_mismatch: true,
            ..VerifyItems::default()
        }),
        ..entries(
            Over::Items,
            &[Stat, Open, Read, Close, Unlink],
            window(&[Create, Write, Close], 1),
        )
    };
    let once = Stop { passes: Some(1), ..Stop::default() };
    [
        (entries(Over::Directories, &[Mkdir], None), once.clone()),
        (entries(Over::Items, &[Create, Write, Close], window(&[], 0)), once.clone()),
        (moves.clone(), stop.clone()),
        (moves, stop.clone()),
        (entries(Over::Items, &[Unlink], window(&[], 0)), once.clone()),
        (entries(Over::Directories, &[Rmdir], None), once),
    ]
}

#[test]
fn windows_move_on_and_hold_as_many_items() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let case = Case { paths: vec![dir.path().into()], tree: windows(4), workers: 3 };
    let once = Stop { passes: Some(1), ..Stop::default() };
    let phases = moving(5, Some(6), &once);
    let names = |from: u64| {
        let mut all: Vec<_> = (0..3)
            .flat_map(|rank| [(rank, 0), (rank, 1)])
            .flat_map(|(rank, set)| (from..from + 4).map(move |n| format!("{rank}_{set}/file-{n}")))
            .collect();
        all.sort();
        all
    };
    let files = || {
        let mut names = below(dir.path());
        names.retain(|name| !name.ends_with('/'));
        names
    };
    // A start of 10 items is number 5 of both directories.
    let start = |phases: &[(Entries, Stop)]| {
        let mut phases = phases.to_vec();
        phases.iter_mut().for_each(|(entries, _)| {
            entries.window.iter_mut().for_each(|window| window.start *= 2);
        });
        phases
    };
    case.run(&start(&phases[..2]));
    assert_eq!(files(), names(5));
    let done = case.run(&start(&phases[2..4]));
    for moved in &done {
        assert_eq!(moved.errors, []);
        let found = moved.verify.as_ref().map(|stats| (stats.blocks, stats.first.len()));
        assert_eq!(found, Some((18, 0)));
        for name in ["stat", "unlink", "write", "open_to_close", "create_to_close"] {
            assert_eq!(moved.operation(name).ops, 18, "{name}");
        }
        let [open, read] =
            ["open_to_close", "read"].map(|name| moved.operation(name).latency.clone());
        assert!(open.expect("timed").mean_ns > read.expect("timed").mean_ns);
    }
    assert_eq!(files(), names(11), "two phases by three numbers each");
    let mut last = start(&phases[4..]);
    last[0].0.window.iter_mut().for_each(|window| window.start = 22);
    let removed = case.run(&last);
    assert_eq!((removed[0].operation("unlink").ops, removed[0].errors.len()), (24, 0));
    assert_eq!(below(dir.path()), Vec::<String>::new());
}

#[test]
fn windows_move_on_as_far_for_each_rank_when_time_is_up() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let case = Case { paths: vec![dir.path().into()], tree: windows(5000), workers: 2 };
    let timed = Stop {
        time: Some(Nanos(50_000_000)),
        stonewall: Stonewall::WearOut,
        passes: Some(1),
        ..Stop::default()
    };
    let done = case.run(&moving(0, Some(10_000_000), &timed));
    for moved in &done[2..4] {
        let ops = moved.operation("create_to_close").ops;
        // Whole rounds of two directories of two ranks.
        assert!(ops > 0 && ops.is_multiple_of(4), "{ops}");
    }
    let removed = done[4].operation("unlink");
    assert_eq!((removed.ops, done[4].errors.len()), (20_000, 0));
    assert_eq!(below(dir.path()), Vec::<String>::new());
}

#[test]
fn the_first_rank_makes_the_directories_of_all_in_one_root() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let tree = Tree { root_name: "t".parse().ok(), ..windows(1) };
    let case = Case { paths: vec![dir.path().into()], tree, workers: 3 };
    let first = |entries: &mut Entries| {
        entries.division = Division::First;
        entries.with_roots = true;
    };
    let made = case.step(Over::Directories, Step::Mkdir, first);
    assert_eq!((made.operation("mkdir").ops, made.errors), (7, Vec::new()));
    let removed = case.step(Over::Directories, Step::Rmdir, first);
    assert_eq!((removed.operation("rmdir").ops, removed.errors), (7, Vec::new()));
    assert_eq!(below(dir.path()), Vec::<String>::new());
}
