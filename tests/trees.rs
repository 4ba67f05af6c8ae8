//! Trees of directories: all names are made, seen and removed; nothing of others is touched.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{
    Loop, Mount, Report, Scratch, candor, measured, nobody_with_files, quiet_host, spawn,
    spawn_as_nobody,
};

/// A phase over a tree: its name, what it is over, its steps, and more of the job.
fn phase(name: &str, over: &str, steps: &str, more: &str) -> String {
    format!(
        "[[phase]]\nname = \"{name}\"\njob = [{{ workers = 3, targets = [\"t\"], {more} \
         work.entries = {{ over = \"{over}\", steps = [{steps}] }} }}]\n"
    )
}

fn target(path: &str, more: &str, tree: &str) -> String {
    format!(
        "[[target]]\nname = \"t\"\npath = \"{path}\"\nkind = \"tree\"\n{more}\n\
         [target.tree]\n{tree}\n"
    )
}

fn ran(scratch: &Scratch, plan: &str) -> Report {
    let (ran, report) = measured(scratch, &["run", &scratch.file("plan.toml", plan)]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    report
}

/// Operations of a step in a phase.
fn ops(report: &Report, phase: usize, step: &str) -> u64 {
    let counted = format!("/phases/{phase}/measurements/0/operations/{step}/ops");
    report.number(&counted) as u64
}

/// Paths below a directory, with the length of each file.
fn below(directory: &Path) -> BTreeSet<(String, u64)> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let metadata = entry.metadata().expect("it is there");
        let name = entry.path().display().to_string();
        if metadata.is_dir() {
            all.insert((name, 0));
            all.extend(below(&entry.path()));
        } else {
            all.insert((name, metadata.len()));
        }
    }
    all
}

#[test]
fn a_tree_of_each_rank_is_made_seen_and_removed() {
    let scratch = Scratch::new();
    let path = scratch.path("tree");
    let shape = "depth = 1\nwidth = 4\nitems = 5\nleaves_only = true\nper_rank = true\n\
                 file_size = \"6k\"\nroot_name = \"r{rank}\"\nitem_name = \"r{rank}-f{number}\"";
    let mut plan = target(&path, "keep = true", shape);
    plan += &phase("dirs", "directories", "\"mkdir\"", "");
    plan += &phase("write", "items", "\"create\", \"write\", \"close\"", "");
    let report = ran(&scratch, &plan);
    assert_eq!((ops(&report, 0, "mkdir"), ops(&report, 1, "write")), (12, 60));
    let made = below(Path::new(&path));
    assert_eq!(made.len(), 3 + 12 + 60);
    assert!(made.contains(&(format!("{path}/r2/d3/r2-f4"), 6144)), "{made:?}");
    // The same tree, by a run that did not make it.
    let mut again = target(&path, "keep = true\noverwrite = true\ncreate = \"nothing\"", shape);
    again += &phase("stat", "items", "\"stat\"", "rank_shift = 1,");
    again += &phase("read", "items", "\"open\", \"read\", \"close\"", "");
    again += &phase("list", "directories", "\"list\"", "");
    again += &phase("delete", "items", "\"unlink\"", "");
    again += &phase("rmdir", "directories", "\"rmdir\"", "");
    let report = ran(&scratch, &again);
    let steps = ["stat", "read", "list", "unlink", "rmdir"];
    let counts: Vec<_> =
        steps.iter().enumerate().map(|(at, step)| ops(&report, at, step)).collect();
    assert_eq!(counts, [60, 60, 15, 60, 12]);
    assert_eq!(report.number("/phases/1/measurements/0/operations/read/bytes"), 60.0 * 6144.0);
    assert_eq!(below(Path::new(&path)).len(), 0, "the roots are gone as well");
}

#[test]
fn files_of_a_shared_tree_are_laid_out_and_removed_again() {
    let scratch = Scratch::new();
    let path = scratch.path("new");
    let shape = "depth = 2\nwidth = 2\nitems = 4\nfile_size = \"1k-8k/1k\"";
    let mut plan = target(&path, "", shape);
    for select in ["shuffled", "random"] {
        plan += &format!(
            "[[phase]]\nname = \"{select}\"\njob = [{{ workers = 2, targets = [\"t\"], \
             work.entries = {{ select = \"{select}\", steps = [\"open\", \"read\", \"close\"] }} }}]\n"
        );
    }
    let report = ran(&scratch, &plan);
    assert_eq!([0, 1].map(|phase| ops(&report, phase, "open")), [28, 28]);
    let bytes = report.number("/phases/0/measurements/0/operations/read/bytes");
    assert!(bytes > 28.0 * 1024.0 && bytes < 28.0 * 8192.0, "{bytes}");
    assert!(!Path::new(&path).exists(), "candor made it");
}

#[test]
fn a_thing_has_two_names() {
    let scratch = Scratch::new();
    let path = scratch.path("two");
    let mut plan = target(&path, "", "items = 9\nfile_size = 10");
    plan += &phase("link", "items", "\"link\", \"setxattr\", \"getxattr\"", "");
    fn aliased(name: &str, steps: &str) -> String {
        phase(name, "items", steps, "").replace("steps =", "on_alias = true, steps =")
    }
    plan += &aliased("unlink", "\"stat\", \"getxattr\", \"removexattr\", \"unlink\"");
    plan += &phase("rename", "items", "\"rename\"", "");
    plan += &aliased("back", "\"rename\"");
    plan += &phase("symlink", "items", "\"symlink\"", "");
    plan += &aliased("readlink", "\"lstat\", \"readlink\", \"unlink\"");
    let report = ran(&scratch, &plan);
    let steps = [
        (0, "link"),
        (0, "getxattr"),
        (1, "unlink"),
        (2, "rename"),
        (3, "rename"),
        (4, "symlink"),
        (5, "readlink"),
        (5, "unlink"),
    ];
    assert_eq!(steps.map(|(phase, step)| ops(&report, phase, step)), [9; 8]);
    assert_eq!(scratch.entries(), [""; 0]);
}

#[test]
fn the_files_of_others_are_left_alone() {
    let scratch = Scratch::new();
    let path = scratch.path("theirs");
    fs::create_dir(&path).expect("a directory");
    fs::write(format!("{path}/f1"), "thesis").expect("a file");
    let plan = target(&path, "", "items = 3\nfile_size = \"4k\"")
        + &phase("write", "items", "\"create\", \"write\", \"close\"", "");
    let refused = candor(&["run", &scratch.file("plan.toml", &plan)]);
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    assert!(refused.err.contains("holds what this run did not make"), "{}", refused.err);
    assert_eq!(below(Path::new(&path)).len(), 1);
    // An empty directory of theirs stays, and what they put into it meanwhile.
    fs::remove_file(format!("{path}/f1")).expect("removed");
    ran(&scratch, &plan);
    assert_eq!((Path::new(&path).is_dir(), below(Path::new(&path)).len()), (true, 0));
}

#[test]
fn a_full_filesystem_ends_a_tree_with_a_sentence() {
    let scratch = Scratch::new();
    let Some(mount) = Mount::tmpfs(&scratch, "1m") else { return };
    let path = mount.path("tree");
    let write = phase("write", "items", "\"create\", \"write\", \"close\"", "");
    let plan = target(&path, "", "items = 1000\nfile_size = \"4k\"") + &write;
    let refused = candor(&["run", &scratch.file("plan.toml", &plan)]);
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    assert!(refused.err.contains("1 MiB are free there"), "{}", refused.err);
    // Drawn sizes may all be the smallest.
    let plan = target(&path, "", "items = 1000\nfile_size = \"512-8k/512\"") + &write;
    let (ran, report) = measured(&scratch, &["run", &scratch.file("plan.toml", &plan)]);
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("No space left") || ran.out.contains("No space left"), "{}", ran.err);
    let written = ops(&report, 0, "write");
    assert!(written > 0 && written < 1000, "{written}");
    assert_eq!(mount.entries(), [""; 0], "files of candor's are left");
}

#[test]
fn a_tree_by_flags_is_made_checked_kept_and_removed() {
    let scratch = Scratch::new();
    let path = scratch.path("flags");
    let shape = ["tree", &path, "--workers", "2", "--levels", "1", "--width", "2", "--files", "5"];
    let bytes = ["--size", "9000", "--verify", "--keep", "--phases", "make,create,read"];
    let (made, report) = measured(&scratch, &[&shape[..], &bytes].concat());
    assert_eq!(made.code, Some(0), "{}", made.err);
    // A tree for each of two workers: its root and two directories, with five files in each.
    assert_eq!([ops(&report, 1, "create"), ops(&report, 2, "item")], [30, 30]);
    assert_eq!(report.number("/phases/2/measurements/0/verify/blocks"), 90.0);
    let all = below(Path::new(&path));
    let files: Vec<_> = all.iter().filter(|(_, bytes)| *bytes == 9000).collect();
    assert_eq!(files.len(), 30, "{all:?}");
    // A byte of one file is another one by now.
    let mut bytes = fs::read(&files[3].0).expect("a file");
    bytes[4321] ^= 1;
    fs::write(&files[3].0, bytes).expect("written");
    let bytes = ["--size", "9000", "--verify", "--phases", "read"];
    let (read, report) = measured(&scratch, &[&shape[..], &bytes].concat());
    assert_ne!(read.code, Some(0));
    assert_eq!(report.number("/phases/0/measurements/0/verify/first/0/offset"), 4096.0);
    assert_eq!(report.words("/phases/0/measurements/0/verify/first/0/path"), files[3].0);
    let gone = ["--size", "9000", "--phases", "delete,remove"];
    let refused = candor(&[&shape[..], &gone].concat());
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    let (removed, _) = measured(&scratch, &[&shape[..], &gone, &["--overwrite"]].concat());
    assert_eq!(removed.code, Some(0), "{}", removed.err);
    assert_eq!(below(Path::new(&path)).len(), 0);
}

/// Many files in progress give the same tree as one after another, also where time ends a phase.
#[test]
fn a_tree_at_depth_is_whole() {
    let scratch = Scratch::new();
    let path = scratch.path("deep");
    let shape = ["tree", &path, "--files", "200", "--size", "1k-20k/1k", "--block", "4k"];
    let depth = ["--depth", "16", "--engine", "io_uring", "--order", "shuffled", "--verify"];
    let time = ["--seconds", "1", "--phases", "create,read,delete"];
    let (ran, report) = measured(&scratch, &[&shape[..], &depth, &time].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!([ops(&report, 0, "create"), ops(&report, 2, "unlink")], [200, 200]);
    assert!(ops(&report, 1, "open") > 200, "it goes on for a second");
    assert_eq!(report.words("/phases/1/measurements/0/engine/name"), "io_uring");
    assert!(report.number("/phases/1/measurements/0/verify/blocks") > 200.0);
    assert!(!Path::new(&path).exists(), "candor made it");
}

/// The report of a finding's next command.
fn try_next(report: &Report, rule: &str) -> Report {
    let next = report.named(rule)["next"].as_str().expect("a command");
    let folder = Path::new(env!("CARGO_BIN_EXE_candor")).parent().expect("a folder").display();
    let script = format!("PATH={folder}:$PATH; {next} --json - 2>/dev/null");
    let shell = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert!(shell.status.success(), "{next}");
    Report::of(&String::from_utf8_lossy(&shell.stdout))
}

#[test]
fn names_are_believed_where_a_device_saw_them() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 << 20) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "") else { return };
    let tree = target(&mount.path("tree"), "", "items = 1000\nfile_size = \"4k\"");
    let of = |steps: &str| phase("names", "items", steps, "");
    fn verdict(report: &Report, at: usize) -> String {
        report.words(&format!("/judgement/phases/{at}/verdict")).to_owned()
    }
    let plan = tree.clone() + &of("\"create\"") + &of("\"stat\"") + &of("\"unlink\"");
    let report = ran(&scratch, &plan);
    assert_eq!([0, 1, 2].map(|at| verdict(&report, at)), ["wrong"; 3], "{}", report.told());
    assert_eq!(report.denies("H7")["measures"], "name_changes");
    // Tests beside this one make names too, so that the cache cannot always be told.
    let by = report.denies("H2")["measures"].as_str().expect("a cache");
    assert!(["name_caches", "memory"].contains(&by), "{by}");
    let synced = try_next(&report, "H7");
    assert!(["ok", "caution"].contains(&&*verdict(&synced, 0)), "{}", synced.told());
    assert!(
        synced.sentence("H7").starts_with("With its final sync the job did"),
        "{}",
        synced.told()
    );
    // What is written into small files counts for the page cache, and so does what is read of them.
    let files =
        tree + &of("\"create\", \"write\", \"close\"") + &of("\"open\", \"read\", \"close\"");
    let report = ran(&scratch, &files);
    report.denies("A3");
    report.denies("A1");
    assert!(report.findings().iter().all(|finding| finding["rule"] != "A19"), "{}", report.told());
}

/// Operations of a phase that ended early: some, and less than all.
fn some_of(report: &Report, step: &str, all: u64) {
    let done = ops(report, 0, step);
    assert!(done > 0 && done < all, "{done} of {all}");
}

#[test]
fn an_interrupt_keeps_the_counts_and_leaves_nothing() {
    let scratch = Scratch::new();
    let (path, json) = (scratch.path("tree"), scratch.outside("report.json"));
    let shape = ["tree", &path, "--files", "100000", "--phases", "create"];
    let mut running = spawn(&[&shape[..], &["--rate-ops", "5000", "--json", &json]].concat());
    running.wait_for("create");
    std::thread::sleep(Duration::from_millis(700));
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    let report = Report::read(&json).expect("a partial report");
    some_of(&report, "create", 100_000);
    assert_eq!(report.words("/phases/0/measurements/0/ended"), "interrupted");
    assert!(!Path::new(&path).exists(), "candor made it");
}

#[test]
fn what_a_killed_tree_left_is_removed_by_the_next_run() {
    let scratch = Scratch::new();
    let (path, next) = (scratch.path("tree"), scratch.path("next"));
    let shape = ["--workers", "2", "--levels", "1", "--width", "3", "--files", "20000"];
    let words = ["tree", &path, "--phases", "create", "--rate-ops", "5000"];
    let mut running = spawn(&[&words[..], &shape[..]].concat());
    running.wait_for("create");
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::KILL);
    running.wait();
    assert!(below(Path::new(&path)).len() > 100, "it left files");
    fs::write(format!("{path}/thesis"), "words").expect("written");
    let ran = candor(&["tree", &next, "--files", "2", "--phases", "create"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(scratch.entries().contains(&"tree".to_owned()), "what others put there stays");
    assert_eq!(fs::read_dir(&path).expect("listed").count(), 1);
}

#[test]
fn a_file_removed_beneath_a_phase_is_no_work() {
    let scratch = Scratch::new();
    let (path, json) = (scratch.path("tree"), scratch.outside("report.json"));
    let shape = ["tree", &path, "--files", "100", "--size", "1k", "--phases", "create,read"];
    let time = ["--seconds", "20", "--rate-ops", "3000", "--json", &json];
    let mut running = spawn(&[&shape[..], &time].concat());
    running.wait_for("read");
    std::thread::sleep(Duration::from_millis(500));
    let gone = format!("{path}/rank.0/f77");
    fs::remove_file(&gone).expect("removed");
    let ran = running.wait();
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let sentence = format!("open of `{gone}` failed: No such file or directory");
    assert!(ran.err.contains(&sentence), "{}", ran.err);
    let report = Report::read(&json).expect("a report");
    let counted = |step: &str, of: &str| {
        report.number(&format!("/phases/1/measurements/0/operations/{step}/{of}"))
    };
    assert_eq!([counted("open", "failed"), counted("item", "failed")], [1.0, 0.0]);
    let (opened, whole) = (counted("open", "ops"), counted("item", "ops"));
    assert!(whole > 0.0 && whole <= opened, "{whole} of {opened}");
    assert!(!Path::new(&path).exists(), "candor made it");
}

#[test]
fn a_permission_that_is_lost_ends_in_a_sentence_about_what_is_left() {
    let scratch = Scratch::new();
    let Some(mount) = Mount::tmpfs(&scratch, "64m") else { return };
    let open = fs::Permissions::from_mode(0o1777);
    fs::set_permissions(mount.path("."), open).expect("changed");
    let path = mount.path("tree");
    let shape = ["tree", &path, "--files", "100000", "--phases", "create"];
    let Some(mut running) = spawn_as_nobody(&[&shape[..], &["--rate-ops", "5000"]].concat()) else {
        return;
    };
    running.wait_for("create");
    std::thread::sleep(Duration::from_millis(500));
    let shut = fs::Permissions::from_mode(0o000);
    fs::set_permissions(format!("{path}/rank.0"), shut).expect("changed");
    let ran = running.wait();
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("failed: Permission denied"), "{}", ran.err);
    assert!(ran.err.contains(&format!("to remove what the run made below {path}: left up to")));
}

#[test]
fn too_few_open_files_are_told() {
    let scratch = Scratch::new();
    let Some(mount) = Mount::tmpfs(&scratch, "64m") else { return };
    let open = fs::Permissions::from_mode(0o1777);
    fs::set_permissions(mount.path("."), open).expect("changed");
    let path = mount.path("tree");
    let shape = ["tree", &path, "--files", "500", "--size", "1k", "--phases", "create"];
    let depth = ["--depth", "64", "--engine", "io_uring"];
    let Some(ran) = nobody_with_files(48, &[&shape[..], &depth].concat()) else { return };
    assert_ne!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.err.contains("open files"), "{}", ran.err);
    assert_eq!(mount.entries(), [""; 0], "files of candor's are left");
}
