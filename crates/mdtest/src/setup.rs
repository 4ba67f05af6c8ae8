//! A test with its operations and numbers of items.

use candor_plan::check::OPERATION_MAX;
use candor_plan::path_of;

use super::options::{BackEnd, Options, Phases, Reading};
use candor_front::{Diagnostics, Host, ReadAs, seed_31_bits};

/// Largest number of directories in a tree, and of runs of all phases.
const DIRECTORIES_MAX: u64 = 1 << 32;
const RUNS_MAX: u64 = 4096;
/// Longest file with the items of an earlier run, in bytes.
const ITEMS_BYTES_MAX: usize = 4096;
/// Largest number of test directories of all runs.
const TEST_DIRS_MAX: u64 = 1 << 14;

/// A row of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the rows'")]
pub enum Test {
    DirCreate,
    DirStat,
    DirRead,
    DirRename,
    DirRemove,
    FileCreate,
    FileStat,
    FileRead,
    FileRemove,
    TreeCreate,
    TreeRemove,
}

impl Test {
    /// All rows, in the order of the results.
    pub const ALL: [Test; 11] = [
        Test::DirCreate,
        Test::DirStat,
        Test::DirRead,
        Test::DirRename,
        Test::DirRemove,
        Test::FileCreate,
        Test::FileStat,
        Test::FileRead,
        Test::FileRemove,
        Test::TreeCreate,
        Test::TreeRemove,
    ];

    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Test::DirCreate => "Directory creation",
            Test::DirStat => "Directory stat",
            Test::DirRead => "Directory read",
            Test::DirRename => "Directory rename",
            Test::DirRemove => "Directory removal",
            Test::FileCreate => "File creation",
            Test::FileStat => "File stat",
            Test::FileRead => "File read",
            Test::FileRemove => "File removal",
            Test::TreeCreate => "Tree creation",
            Test::TreeRemove => "Tree removal",
        }
    }

    /// True for creation and removal of the tree.
    pub fn is_of_tree(self) -> bool {
        matches!(self, Test::TreeCreate | Test::TreeRemove)
    }

    /// True for items that are directories.
    pub fn is_of_dirs(self) -> bool {
        self < Test::FileCreate
    }
}

/// A test as it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// The options as given; if none names an operation, all operations are set.
    pub asked: Options,
    /// Directories of a tree, including the root.
    pub directories: u64,
    /// Items of a task per directory with items.
    pub items_per_dir: u64,
    /// Test directories of an iteration, each with its own tree and items.
    pub loops: u64,
    /// Items of a task.
    pub items: u64,
    /// Numbers of tasks; all iterations run for each.
    pub task_counts: Vec<u32>,
    /// Items per task of an earlier run, from its file.
    pub first_items: Option<u64>,
    /// Seed of the random order; absent for sequential order.
    pub random_seed: Option<u64>,
    /// Seed of the data.
    pub data_seed: u64,
}

impl Setup {
    /// Items of all tasks.
    pub fn all_items(&self, tasks: u32) -> u64 {
        self.items.saturating_mul(tasks.into())
    }

    /// Sentence about the items of `tasks` tasks.
    pub fn totals(&self, tasks: u32) -> String {
        let phases = self.asked.phases;
        let all = self.all_items(tasks);
        let noun = match (phases.files, phases.dirs) {
            (true, true) => "files/directories",
            (true, false) if self.asked.making.shared => {
                return format!("{tasks} tasks, 1 file");
            }
            (true, false) => "files",
            (false, _) => "directories",
        };
        format!("{tasks} tasks, {all} {noun}")
    }

    /// The test directory of a path, by iteration and loop.
    pub fn test_dir(path: &str, iteration: u32, nth: u64) -> String {
        let slash = if path.ends_with('/') { "" } else { "/" };
        format!("{path}{slash}test-dir.{iteration}-{nth}")
    }

    /// Test directories of an iteration.
    pub fn test_dirs(&self, iteration: u32) -> impl Iterator<Item = String> {
        let paths = self.asked.tree.paths.iter();
        paths.flat_map(move |path| {
            (0..self.loops).map(move |nth| Setup::test_dir(path, iteration, nth))
        })
    }
}

/// Settles the options, and adds all errors to `out`.
pub fn settle(reading: &Reading, host: &dyn Host, out: &mut Diagnostics) -> Setup {
    let mut asked = reading.options.clone();
    settle_phases(&mut asked);
    let checks = [check_together, check_tree, check_data, check_tasks, check_dummy];
    checks.iter().for_each(|check| check(reading, &asked, out));
    let counted = count(reading, &asked, out);
    let run = &asked.run;
    let creates_files = asked.phases.create && asked.phases.files;
    let file = run.stonewall_file.as_deref().filter(|_| !creates_files);
    let first_items = file.and_then(|file| {
        let items = items_of(host, file);
        if items.is_none() {
            let why = "the file cannot be read, or holds no number";
            out.note(reading, "x", "all items are worked on", why);
        }
        items
    });
    let random = run.random || run.random_seed > 0;
    let seed = if run.random_seed > 0 { run.random_seed } else { seed_31_bits(host) };
    Setup {
        first_items,
        random_seed: random.then_some(seed),
        data_seed: asked.data.seed.unwrap_or_else(|| seed_31_bits(host)),
        task_counts: task_counts(&asked),
        asked,
        ..counted
    }
}

/// Number at the start of a file with the items of an earlier run; `None` if it cannot be read.
fn items_of(host: &dyn Host, file: &str) -> Option<u64> {
    let bytes = host.first_bytes(&path_of(file), ReadAs::Replaceable, ITEMS_BYTES_MAX).ok()?;
    String::from_utf8(bytes).ok()?.split_whitespace().next()?.parse().ok()
}

/// Sets all operations if none is named, and files and directories if neither is named.
fn settle_phases(asked: &mut Options) {
    let phases = &mut asked.phases;
    let Phases { create, stat, read, remove, rename, .. } = *phases;
    if ![create, stat, read, remove, rename].contains(&true) {
        [phases.create, phases.stat, phases.read, phases.remove, phases.rename] = [true; 5];
    }
    if !phases.files && !phases.dirs {
        [phases.files, phases.dirs] = [true; 2];
    }
    if asked.making.shared {
        phases.dirs = false;
    }
}

fn task_counts(asked: &Options) -> Vec<u32> {
    match asked.run.last {
        0 => vec![asked.ranks],
        last => (asked.run.first..=last).step_by(asked.run.stride.max(1) as usize).collect(),
    }
}

/// Refuses options that exclude each other.
fn check_together(reading: &Reading, asked: &Options, out: &mut Diagnostics) {
    let (making, tree, run) = (&asked.making, &asked.tree, &asked.run);
    let several = tree.paths.len() > 1;
    let data = &asked.data;
    let rules = [
        (
            "N",
            run.no_barriers && run.shift > 0,
            "items may be looked up before they are made \
            where phases do not wait for each other",
            "remove -B or -N",
        ),
        (
            "c",
            making.shared && making.collective,
            "-S has task 0 remove the shared files already",
            "remove -c or -S",
        ),
        (
            "c",
            several && making.collective,
            "task 0 works in one directory only",
            "name one directory, or remove -c",
        ),
        (
            "c",
            run.no_barriers && making.collective,
            "the others wait for task 0",
            "remove -B or -c",
        ),
        (
            "u",
            tree.unique && making.shared,
            "a file that all share has no directory per task",
            "remove -u or -S",
        ),
        (
            "N",
            several && run.shift > 0,
            "tasks in other directories have no neighbours",
            "name one directory, or remove -N",
        ),
        ("d", several && !tree.unique, "several directories need a tree for each task", "add -u"),
        (
            "k",
            making.mknod && data.write_bytes > 0,
            "mknod opens no file to write",
            "remove -k or -w",
        ),
        ("D", making.shared && asked.phases.dirs, "-S shares files", "remove -D"),
        (
            "W",
            run.stonewall_s > 0 && tree.branch > 1 && tree.depth > 0,
            "the number of files that each task reached fits no tree with branches",
            "use -b 1, or remove -W",
        ),
    ];
    for (option, _, message, remedy) in rules.into_iter().filter(|(_, breaks, ..)| *breaks) {
        out.wrong(reading, option, message.to_owned(), remedy);
    }
}

fn check_tree(reading: &Reading, asked: &Options, out: &mut Diagnostics) {
    let tree = &asked.tree;
    if tree.branch == 0 && tree.depth > 0 {
        let message = format!("a tree {} deep has no branches", tree.depth);
        out.wrong(reading, "b", message, "give 1 or more");
    }
    if directories(tree.depth, tree.branch) > DIRECTORIES_MAX {
        let message = "the tree has more than 4 billion directories".to_owned();
        out.wrong(reading, "z", message, "use a smaller -z or -b");
    }
    let (items, each) = (tree.items, tree.items_per_dir);
    if items > 0 && each > 0 && tree.unique {
        let message = "-n and -I are both given, with a tree for each task".to_owned();
        out.wrong(reading, "I", message, "give one of them, or remove -u");
    } else if items > 0 && each > 0 && !items.is_multiple_of(each) {
        let message = format!("{items} items are no multiple of {each} per directory");
        out.wrong(reading, "n", message, "use a multiple");
    } else if items > each && each > 0 && asked.run.stonewall_s > 0 {
        let message = "-W ends creation in one test directory only".to_owned();
        out.wrong(reading, "W", message, "give -n or -I alone, or remove -W");
    }
}

fn check_data(reading: &Reading, asked: &Options, out: &mut Diagnostics) {
    let (data, phases) = (&asked.data, asked.phases);
    if data.verify_read && !phases.read {
        out.wrong(reading, "verify-read", "nothing is read".to_owned(), "add -E");
    } else if data.verify_read && data.read_bytes == 0 {
        out.wrong(reading, "verify-read", "no bytes are read".to_owned(), "give -e");
    }
    if data.verify_write && data.write_bytes == 0 {
        let why = "-w is 0: nothing is written that could be compared, as in mdtest";
        out.note(reading, "verify-write", "compared nothing", why);
    }
    if phases.create && phases.read && data.read_bytes > data.write_bytes {
        let message =
            format!("{} bytes are read of files of {}", data.read_bytes, data.write_bytes);
        out.wrong(reading, "e", message, "read at most as many bytes as -w writes");
    }
    for (option, bytes) in [("w", data.write_bytes), ("e", data.read_bytes)] {
        if bytes > OPERATION_MAX.0 {
            let message = format!("{bytes} bytes are more than the kernel moves at once");
            out.wrong(reading, option, message, "use smaller files");
        }
        if data.direct && !bytes.is_multiple_of(512) {
            let message = format!("{bytes} bytes are no multiple of 512, which direct I/O needs");
            out.wrong(reading, option, message, "use a multiple of 512");
        }
    }
    if phases.read && phases.files && data.read_bytes == 0 && reading.given.has("E") {
        let why = "-e is 0: files are opened and closed, and nothing is read";
        out.note(reading, "E", "opened and closed each file", why);
    }
    if asked.making.fsync && data.write_bytes == 0 && phases.create {
        let why = "-w is 0: nothing is written that could be synced, as in mdtest";
        out.note(reading, "y", "synced nothing", why);
    }
}

fn check_tasks(reading: &Reading, asked: &Options, out: &mut Diagnostics) {
    let (run, ranks) = (&asked.run, asked.ranks);
    if run.last > ranks {
        let message = format!("{} tasks are more than the {ranks} that there are", run.last);
        out.wrong(reading, "l", message, "start more with --ranks, or use fewer");
    }
    if run.last > 0 && run.first > run.last {
        let message = format!("the first number of tasks, {}, is above the last", run.first);
        out.wrong(reading, "f", message, "give -f at most as large as -l");
    }
    let fewest = task_counts(asked).first().copied().unwrap_or(ranks);
    if asked.tree.paths.len() > fewest as usize {
        let message =
            format!("{} directories are more than {fewest} tasks", asked.tree.paths.len());
        out.wrong(reading, "d", message, "start more with --ranks, or name fewer");
    }
    let runs = task_counts(asked).len() as u64 * u64::from(run.iterations);
    if runs > RUNS_MAX {
        let message = format!("{runs} iterations of all numbers of tasks are more than {RUNS_MAX}");
        out.wrong(reading, "i", message, "use fewer");
    }
}

/// Refuses options that need files, for DUMMY.
fn check_dummy(reading: &Reading, asked: &Options, out: &mut Diagnostics) {
    if asked.data.back_end != BackEnd::Dummy {
        return;
    }
    let rules = [
        ("verify-read", asked.data.verify_read, "DUMMY has no bytes to compare"),
        ("verify-write", asked.data.verify_write, "DUMMY has no bytes to compare"),
        ("savePerOpDataCSV", asked.output.per_op_prefix.is_some(), "DUMMY logs no operations"),
    ];
    for (option, _, message) in rules.into_iter().filter(|(_, breaks, _)| *breaks) {
        out.wrong(reading, option, message.to_owned(), "use -a POSIX, or leave it out");
    }
}

/// Directories of a tree, including the root, limited to 64 bits.
fn directories(depth: u32, branch: u32) -> u64 {
    let level = |level: u32| u64::from(branch).saturating_pow(level);
    (0..=depth).fold(0, |sum: u64, nth| sum.saturating_add(level(nth)))
}

/// Items per directory, test directory and task. `-n` is rounded down to a multiple of the
/// directories with items.
fn count(reading: &Reading, asked: &Options, out: &mut Diagnostics) -> Setup {
    let tree = &asked.tree;
    let directories = directories(tree.depth, tree.branch);
    let leaves = u64::from(tree.branch).saturating_pow(tree.depth);
    let holders = if tree.leaf_only { leaves } else { directories }.max(1);
    let (items_per_dir, loops) = match (tree.items, tree.items_per_dir) {
        (0, each) => (each, 1),
        (items, 0) => (items / holders, 1),
        (items, each) => (each, (items / each).max(1)),
    };
    let items = items_per_dir.saturating_mul(holders).saturating_mul(loops);
    if tree.items_per_dir == 0 && items != tree.items {
        let did = format!("{items} items of each task");
        out.note(reading, "n", &did, "it is rounded down to a multiple of the directories");
    }
    let all = items.saturating_mul(asked.ranks.into());
    if all > u64::from(u32::MAX) {
        let message = format!("{all} items of all tasks are more than 4 billion");
        out.wrong(reading, "n", message, "use fewer items or tasks");
    }
    let runs = u64::from(asked.run.iterations) * task_counts(asked).len() as u64;
    let dirs = runs.saturating_mul(loops).saturating_mul(tree.paths.len() as u64);
    if dirs > TEST_DIRS_MAX {
        let message = format!("{dirs} test directories of all runs are more than {TEST_DIRS_MAX}");
        out.wrong(reading, "I", message, "use more items per directory, or fewer iterations");
    }
    Setup { directories, items_per_dir, loops, items, ..Setup::default() }
}
