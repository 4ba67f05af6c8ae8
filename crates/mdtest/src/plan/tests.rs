mod rows;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use candor_plan::entries::{Division, Entries, Select, Step};
use candor_plan::{Job, check};
use proptest::prelude::*;

use super::*;
use crate::options::read;
use candor_front::ReadAs;
use candor_front::evidence::{Surroundings, sentences};

struct TestHost;

impl Host for TestHost {
    fn now(&self) -> Duration {
        Duration::from_secs(1000)
    }

    fn first_bytes(&self, path: &Path, _: ReadAs, _: usize) -> io::Result<Vec<u8>> {
        let is_made = path == Path::new("made");
        is_made.then(|| b"7 items\n".to_vec()).ok_or(io::ErrorKind::NotFound.into())
    }
}

fn reading(line: &str) -> Reading {
    let words = ["mdtest"].into_iter().chain(line.split_whitespace());
    read(&words.map(OsString::from).collect::<Vec<_>>(), &mut Surroundings::default())
}

fn lowered(line: &str) -> Result<Lowered, Vec<String>> {
    let reading = reading(line);
    if !reading.errors.is_empty() {
        return Err(sentences(&reading.errors, &reading.texts));
    }
    lower(&reading, &TestHost).map_err(|errors| sentences(&errors, &reading.texts))
}

fn good(line: &str) -> Lowered {
    let lowered = lowered(line).unwrap_or_else(|errors| panic!("{line}: {errors:?}"));
    let errors: Vec<_> =
        check::check(&lowered.plan).into_iter().filter(candor_plan::Problem::is_error).collect();
    assert_eq!(errors, [], "{line}");
    lowered
}

/// The job of the first phase of a row.
fn job_of(lowered: &Lowered, test: Test) -> &Job {
    let at = lowered.phases.iter().position(|bench| bench.test == test && bench.part == Part::Work);
    &lowered.plan.phases[at.unwrap_or_else(|| panic!("{test:?} runs"))].jobs[0]
}

fn entries(lowered: &Lowered, test: Test) -> &Entries {
    job_of(lowered, test).entries().expect("entries")
}

/// Names of a rank's items for a row, in the first test directory.
fn names(lowered: &Lowered, test: Test, rank: u64) -> Vec<String> {
    let job = job_of(lowered, test);
    let ranks = u64::from(job.workers);
    let target = lowered.plan.target(&job.targets[0]).expect("a target");
    let tree = target.tree.as_ref().expect("a tree");
    let rank = candor_plan::rank::data_rank(rank, ranks, job.rank_shift);
    let (part, of) = (tree.part(rank, ranks), tree.names());
    (0..part.items())
        .map(|nth| {
            let mut path = target.path.display().to_string().into_bytes();
            of.write_directory(&part.item(nth), &mut path);
            of.write_item(&part.item(nth), &mut path);
            String::from_utf8(path).expect("text")
        })
        .collect()
}

/// Typical lines, the number of items per task, and mdtest's line with the totals.
const LINES: &[(&str, u64, &str)] = &[
    ("", 0, "1 tasks, 0 files/directories"),
    ("-n 10", 10, "1 tasks, 10 files/directories"),
    ("--ranks 4 -n 25", 25, "4 tasks, 100 files/directories"),
    ("-n 1k -F", 1024, "1 tasks, 1024 files"),
    ("-D -n 3", 3, "1 tasks, 3 directories"),
    ("--ranks 2 -F -D -n 3", 3, "2 tasks, 6 files/directories"),
    ("-I 5", 5, "1 tasks, 5 files/directories"),
    ("-I 5 -z 1 -b 2", 15, "1 tasks, 15 files/directories"),
    ("-I 5 -z 2 -b 2 -L", 20, "1 tasks, 20 files/directories"),
    ("-n 50 -z 1 -b 2", 48, "1 tasks, 48 files/directories"),
    ("-n 50 -z 1 -b 2 -L", 50, "1 tasks, 50 files/directories"),
    ("-n 51 -z 1 -b 2 -L", 50, "1 tasks, 50 files/directories"),
    ("-n 10 -z 3", 8, "1 tasks, 8 files/directories"),
    ("-n 10 -z 3 -b 1 -L", 10, "1 tasks, 10 files/directories"),
    ("-n 2 -z 1 -b 2", 0, "1 tasks, 0 files/directories"),
    ("-n 10 -I 5", 10, "1 tasks, 10 files/directories"),
    ("-n 10 -I 5 -z 1 -b 2", 30, "1 tasks, 30 files/directories"),
    ("--ranks 3 -n 9 -I 3 -F", 9, "3 tasks, 27 files"),
    ("--ranks 2 -u -n 7", 7, "2 tasks, 14 files/directories"),
    ("--ranks 2 -u -I 7 -z 1 -b 3", 28, "2 tasks, 56 files/directories"),
    ("--ranks 4 -S -n 4", 4, "4 tasks, 1 file"),
    ("--ranks 4 -c -n 4", 4, "4 tasks, 16 files/directories"),
    ("-k -F -n 4", 4, "1 tasks, 4 files"),
    ("--ranks 2 -N 1 -n 4", 4, "2 tasks, 8 files/directories"),
    ("--ranks 2 -u -N 1 -n 4 -F", 4, "2 tasks, 8 files"),
    ("-w 3901 -e 3901 -F -n 10", 10, "1 tasks, 10 files"),
    ("-F -C -n 10", 10, "1 tasks, 10 files"),
    ("-F -T -E -r -n 10", 10, "1 tasks, 10 files"),
    ("-W 1 -n 100 -F -C", 100, "1 tasks, 100 files"),
    ("-F -T -x made -n 100", 100, "1 tasks, 100 files"),
    ("-R --random-seed 4 -n 10", 10, "1 tasks, 10 files/directories"),
    ("-i 3 -n 5", 5, "1 tasks, 5 files/directories"),
    ("--ranks 4 -f 1 -l 4 -s 1 -n 5", 5, "1 tasks, 5 files/directories"),
    ("--ranks 4 -d /a@/b -u -n 2", 2, "4 tasks, 8 files/directories"),
    ("-d /a -z 2 -b 10 -n 1110", 1110, "1 tasks, 1110 files/directories"),
    ("-y -w 100 -F -n 2", 2, "1 tasks, 2 files"),
    ("-Y -n 2", 2, "1 tasks, 2 files/directories"),
    ("-p 1 -n 2", 2, "1 tasks, 2 files/directories"),
    ("-X -w 100 -e 100 -F -n 2", 2, "1 tasks, 2 files"),
    ("--verify-write -w 100 -F -n 2", 2, "1 tasks, 2 files"),
    ("-P -n 2 -v", 2, "1 tasks, 2 files/directories"),
    ("-B -n 2", 2, "1 tasks, 2 files/directories"),
    ("-a POSIX --posix.odirect -w 4k -F -n 2", 2, "1 tasks, 2 files"),
    (
        "--run-cmd-before-phase true --run-cmd-after-phase true -n 2",
        2,
        "1 tasks, 2 files/directories",
    ),
    ("--ranks 2 -u -L -F -N 1 -n 100 -C -Y -W 300 -x /tmp/s -d /d", 100, "2 tasks, 200 files"),
    ("--ranks 2 -w 3901 -e 3901 -t -F -N 1 -n 100 -C -W 3 -d /d", 100, "2 tasks, 200 files"),
];

#[test]
fn items_are_counted_as_mdtest_counts_them() {
    for (line, items, totals) in LINES {
        let lowered = good(line);
        let setup = &lowered.setup;
        assert_eq!(
            (setup.items, setup.totals(setup.task_counts[0])),
            (*items, (*totals).into()),
            "{line}"
        );
    }
}

#[test]
fn names_match_mdtest() {
    let shared = good("--ranks 2 -n 8 -z 1 -b 2 -d /t");
    assert_eq!(
        names(&shared, Test::FileCreate, 1),
        [
            "/t/test-dir.0-0/mdtest_tree.0/file.mdtest.1.0",
            "/t/test-dir.0-0/mdtest_tree.0/file.mdtest.1.1",
            "/t/test-dir.0-0/mdtest_tree.0/mdtest_tree.1/file.mdtest.1.2",
            "/t/test-dir.0-0/mdtest_tree.0/mdtest_tree.1/file.mdtest.1.3",
            "/t/test-dir.0-0/mdtest_tree.0/mdtest_tree.2/file.mdtest.1.4",
            "/t/test-dir.0-0/mdtest_tree.0/mdtest_tree.2/file.mdtest.1.5",
        ]
    );
    let dirs = names(&shared, Test::DirCreate, 0);
    assert_eq!(dirs[5], "/t/test-dir.0-0/mdtest_tree.0/mdtest_tree.2/dir.mdtest.0.5");
    // Numbers of items in leaves also count the empty directories above.
    let leaves = good("--ranks 2 -I 2 -z 2 -b 2 -L -u -i 2");
    let of = names(&leaves, Test::FileStat, 1);
    let tree = "./out/test-dir.0-0/mdtest_tree.1.0/mdtest_tree.1.1";
    assert_eq!(of[0], format!("{tree}/mdtest_tree.1.3/file.mdtest.1.6"));
    let last = "./out/test-dir.0-0/mdtest_tree.1.0/mdtest_tree.1.2/mdtest_tree.1.6";
    assert_eq!(of[7], format!("{last}/file.mdtest.1.13"));
    let shared = good("--ranks 2 -S -n 2");
    assert_eq!(names(&shared, Test::FileCreate, 0)[0], {
        "./out/test-dir.0-0/mdtest_tree.0/file.mdtest.shared.0"
    });
}

#[test]
fn a_shift_goes_one_further_with_each_phase() {
    let lowered = good("--ranks 4 -n 2 -N 1 -U -C -T -E -r -u");
    let first = |test, rank| names(&lowered, test, rank).remove(0);
    let at = |tree: u64, owner: u64, noun: &str| {
        format!("./out/test-dir.0-0/mdtest_tree.{tree}.0/{noun}.mdtest.{owner}.0")
    };
    // A rank's items are in its neighbour's tree.
    assert_eq!(first(Test::DirCreate, 3), at(0, 3, "dir"));
    assert_eq!(first(Test::DirStat, 3), at(1, 0, "dir"));
    assert_eq!(first(Test::DirRename, 3), at(1, 0, "dir"));
    assert_eq!(first(Test::DirRemove, 3), at(3, 2, "dir"));
    assert_eq!(first(Test::FileCreate, 3), at(0, 3, "file"));
    assert_eq!(first(Test::FileStat, 3), at(1, 0, "file"));
    assert_eq!(first(Test::FileRead, 3), at(2, 1, "file"));
    assert_eq!(first(Test::FileRemove, 3), at(3, 2, "file"));
}

#[test]
fn phases_come_in_order() {
    let of = |line: &str| -> Vec<String> {
        good(line).plan.phases.iter().map(|phase| phase.name.clone()).collect()
    };
    assert_eq!(
        of("-n 2"),
        [
            "Tree creation",
            "Directory creation",
            "Directory stat",
            "Directory rename",
            "Directory removal",
            "File creation",
            "File stat",
            "File read",
            "File removal",
            "Tree removal",
        ]
    );
    assert_eq!(
        of("-n 1 -D"),
        [
            "Tree creation",
            "Directory creation",
            "Directory stat",
            "Directory removal",
            "Tree removal",
        ]
    );
    assert_eq!(of("-F -T -n 2"), ["File stat"]);
    assert_eq!(
        of("--ranks 2 -F -C -n 2 -c"),
        ["Tree creation", "File creation", "File creation: open",]
    );
    let hooked = "-F -C -n 2 --run-cmd-before-phase a --run-cmd-after-phase b";
    assert_eq!(
        of(hooked),
        ["Tree creation", "before File creation", "File creation", "after File creation",]
    );
    let several = good("--ranks 4 -f 2 -l 4 -s 2 -i 2 -F -T -n 1");
    let shown: Vec<_> = several.phases.iter().map(|b| (b.tasks, b.iteration, b.is_last)).collect();
    assert_eq!(shown, [(2, 0, false), (2, 1, true), (4, 0, false), (4, 1, true)]);
    let delays = |line: &str| -> Vec<u64> {
        good(line).plan.phases.iter().map(|phase| phase.delay.0 / 1_000_000_000).collect()
    };
    assert_eq!(delays("-C -T -n 2 -p 3"), [0, 3, 0, 3, 0]);
}

#[test]
fn options_reach_the_plan() {
    let steps = |line: &str, test| entries(&good(line), test).steps.clone();
    use Step::*;
    assert_eq!(steps("-F -n 2", Test::FileCreate), [Create, Close]);
    assert_eq!(steps("-F -n 2 -w 9", Test::FileCreate), [Create, Write, Close]);
    assert_eq!(steps("-F -n 2 -w 9 -y", Test::FileCreate), [Create, Write, Fsync, Close]);
    assert_eq!(steps("-F -n 2 -k", Test::FileCreate), [Mknod]);
    assert_eq!(steps("-F -n 2", Test::FileRead), [Open, Close]);
    assert_eq!(steps("-F -n 2 -w 9 -e 9", Test::FileRead), [Open, Read, Close]);
    let random = good("-n 9 -R --random-seed 5");
    assert_eq!((entries(&random, Test::FileStat).select, random.plan.seed), (Select::Shuffled, 5));
    assert_eq!(entries(&random, Test::FileCreate).select, Select::Sequential);
    let walled = good("-n 9 -W 2 -F");
    assert_eq!(
        job_of(&walled, Test::FileCreate).stop.as_ref().and_then(|s| s.time).map(|t| t.0),
        { Some(2_000_000_000) }
    );
    let reached = |test| entries(&walled, test).as_reached;
    assert_eq!((reached(Test::FileCreate), reached(Test::FileStat)), (false, true));
    assert_eq!(entries(&good("-F -T -n 9 -x made"), Test::FileStat).first, Some(7));
    let who = |line: &str, test| entries(&good(line), test).division;
    assert_eq!(who("-n 2", Test::TreeCreate), Division::First);
    assert_eq!(who("-n 2 -u", Test::TreeCreate), Division::Own);
    assert_eq!(who("-n 2 -c", Test::DirRemove), Division::First);
    assert_eq!(who("-n 2 -S", Test::FileStat), Division::Every);
    assert_eq!(who("-n 2 -S", Test::FileRemove), Division::First);
    assert!(entries(&good("-n 2 -Y"), Test::FileCreate).syncfs_at_end);
    assert!(!entries(&good("-n 2 -Y"), Test::FileStat).syncfs_at_end);
    let paths = good("--ranks 3 -d /a@/b -u -n 2 -i 2");
    let targets = &job_of(&paths, Test::FileStat).targets;
    assert_eq!(targets[..], ["files in /a/test-dir.0-0", "files in /b/test-dir.0-0"]);
}

#[test]
fn all_conflicts_are_refused_at_once() {
    for (line, part) in [
        ("-B -N 1 -n 2", "items may be looked up before they are made"),
        ("-c -S -n 2", "-S has task 0 remove"),
        ("-u -S -n 2", "no directory per task"),
        ("--ranks 2 -d /a@/b -n 2", "several directories need a tree for each task; add -u"),
        ("-d /a@/b -u -n 2", "2 directories are more than 1 tasks"),
        ("--ranks 2 -d /a@/b -u -n 2 -N 1", "have no neighbours"),
        ("-k -w 5 -n 2", "mknod opens no file to write"),
        ("-z 1 -b 0 -n 2", "a tree 1 deep has no branches"),
        ("-n 10 -I 5 -u", "-n and -I are both given"),
        ("-n 10 -I 3", "10 items are no multiple of 3"),
        ("-W 1 -z 1 -b 2 -n 9", "fits no tree with branches"),
        ("-X -C -n 2", "nothing is read"),
        ("-X -n 2", "no bytes are read"),
        ("-w 5 -e 6 -n 2", "6 bytes are read of files of 5"),
        ("-l 2 -n 2", "2 tasks are more than the 1"),
        ("--ranks 4 -f 3 -l 2 -n 2", "above the last"),
        ("--posix.odirect -w 100 -n 2", "no multiple of 512"),
        ("-z 40 -b 2 -n 9", "more than 4 billion directories"),
    ] {
        let errors = lowered(line).map(|_| ()).expect_err(line);
        assert!(errors.iter().any(|error| error.contains(part)), "{line}: {errors:?}");
    }
    assert_eq!(lowered("-c -S -u -k -w 5 -n 2").map(|_| ()).expect_err("wrong").len(), 3);
    let noted = good("--ranks 2 -n 50 -z 1 -b 2 -N 1");
    let notes: Vec<_> = noted.notes.iter().map(|note| note.asked.as_str()).collect();
    assert!(notes.contains(&"n=50") && notes.contains(&"N=1"), "{notes:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// For any tree, the ranks have each item once, in directories of the tree phase, and every
    /// phase has the same items.
    #[test]
    fn every_item_is_there_once(
        depth in 0..3_u32,
        branch in 1..4_u32,
        items in 0..40_u64,
        flags: [bool; 3],
        ranks in 1..5_u32,
        shift in 0..4_u32,
    ) {
        let [leaves, unique, per_dir] = flags;
        let flag = |set: bool, text: &'static str| if set { text } else { "" };
        let line = format!(
            "--ranks {ranks} -z {depth} -b {branch} {} {items} {} {} -N {shift}",
            flag(per_dir, "-I").to_owned() + flag(!per_dir, "-n"),
            flag(leaves, "-L"),
            flag(unique, "-u"),
        );
        let lowered = good(&line);
        let holders = if leaves {
            u64::from(branch).pow(depth)
        } else {
            (0..=depth).map(|level| u64::from(branch).pow(level)).sum()
        };
        let each = if per_dir { items * holders } else { items / holders * holders };
        prop_assert_eq!(lowered.setup.items, each);
        if each == 0 {
            return Ok(());
        }
        let all = |test| {
            let mut all = BTreeSet::new();
            for rank in 0..u64::from(ranks) {
                for name in names(&lowered, test, rank) {
                    assert!(all.insert(name), "{line}");
                }
            }
            all
        };
        let files = all(Test::FileCreate);
        prop_assert_eq!(files.len() as u64, each * u64::from(ranks));
        for test in [Test::FileStat, Test::FileRead, Test::FileRemove] {
            prop_assert_eq!(&all(test), &files);
        }
        prop_assert_eq!(all(Test::DirCreate).len(), files.len());
    }
}
