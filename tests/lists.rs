//! Trees whose names are listed: by a walk or in a file; what no list names is left alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Report, Scratch, candor, measured, shared_host, spawn};

/// Paths of files and directories below a directory, with the length of each file.
fn below(directory: &Path) -> BTreeMap<String, Option<u64>> {
    let (mut all, mut left) = (BTreeMap::new(), vec![directory.to_owned()]);
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).expect("a directory").flatten() {
            let (path, metadata) = (entry.path(), entry.metadata().expect("it is there"));
            let name = path.strip_prefix(directory).expect("below").display().to_string();
            all.insert(name, metadata.is_file().then_some(metadata.len()));
            if metadata.is_dir() {
                left.push(path);
            }
        }
    }
    all
}

/// A directory with thirteen larger files and some with odd names.
fn grown(scratch: &Scratch) -> String {
    let root = scratch.path("grown");
    fs::create_dir_all(format!("{root}/a/deep/er")).expect("made");
    fs::create_dir_all(format!("{root}/b c")).expect("made");
    for number in 0..13 {
        let bytes = vec![number as u8; 200_000 + number * 4096];
        fs::write(format!("{root}/a/large{number}"), bytes).expect("written");
    }
    for (name, text) in [("empty", ""), ("b c/ü", "words"), ("a/deep/two\nlines", "1\n2")] {
        fs::write(format!("{root}/{name}"), text).expect("written");
    }
    std::os::unix::fs::symlink(&root, format!("{root}/link")).expect("linked");
    root
}

fn elbencho(words: &[&str]) -> crate::support::Ran {
    candor(&[&["elbencho"], words].concat())
}

/// The last column of a row of a phase.
fn last<'t>(table: &'t str, phase: &str, row: &str) -> &'t str {
    let rows = table.split("---").find(|rows| rows.contains(&format!("\n{phase} ")));
    let line = rows.and_then(|rows| rows.lines().find(|line| line.contains(row)));
    let words = line.and_then(|line| line.split_whitespace().last());
    words.unwrap_or_else(|| panic!("{row} of {phase}: {table}"))
}

#[test]
fn a_walked_tree_is_made_again_seen_and_removed_by_elbencho() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (root, list) = (grown(&scratch), scratch.outside("list"));
    let (copy, json) = (scratch.path("copy"), scratch.outside("results.json"));
    fs::create_dir(&copy).expect("made");
    let scanned = elbencho(&["--treescan", &root, "--treefile", &list]);
    assert_eq!((scanned.code, scanned.err.as_str()), (Some(0), ""));
    let note = "NOTE: Directory scan finished. Files: ";
    assert!(scanned.out.starts_with(note) && scanned.out.contains("; Dirs: 4; Elapsed: 0s\n"));
    let text = fs::read_to_string(&list).expect("a list");
    assert!(text.starts_with("# encoding=base64\nd YQ==\n"), "{text}");
    // A list is written before the phases that read it.
    let (early, empty) = (scratch.outside("early"), scratch.path("empty"));
    fs::create_dir(&empty).expect("made");
    let both = elbencho(&["-d", "-D", "--treescan", &root, "--treefile", &early, &empty]);
    assert_eq!(both.code, Some(0), "{}", both.err);
    assert_eq!(last(&both.out, "RMDIRS", "Dirs total"), "4");
    // The companion writes the same.
    let other = scratch.outside("other");
    assert_eq!(elbencho(&["scan", &root, &other]).code, Some(0));
    assert_eq!(fs::read_to_string(&other).expect("a list"), text);
    let shape = ["-t", "6", "-b", "32k", "--sharesize", "128k", "--treefile", &list, &copy];
    let of = |words: &[&str]| {
        let ran = elbencho(&[words, &["--jsonfile", &json], &shape].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out
    };
    let dry = of(&["--dryrun", "-d", "-w"]);
    let files = "Phase: WRITE\n* Entries per thread: 2 | 0 K | 0 M\n";
    assert!(dry.contains(files), "{dry}");
    let made = of(&["-d", "-w", "--verify", "7"]);
    assert_eq!(
        (last(&made, "MKDIRS", "Dirs total"), last(&made, "WRITE", "Files total")),
        ("4", "16")
    );
    assert!(made.contains("files above the share size are in all counts, once"), "{made}");
    let mut wanted = below(Path::new(&root));
    wanted.remove("link");
    assert_eq!(below(Path::new(&copy)), wanted);
    let seen = of(&["--stat", "-r", "--treerand", "--verify", "7"]);
    assert_eq!(last(&seen, "STAT", "Files total"), "16");
    assert_eq!(last(&seen, "READ", "Files total"), "16");
    let lines = fs::read_to_string(&json).expect("results");
    let read = Report::of(lines.lines().last().expect("a line"));
    let bytes: u64 = wanted.values().flatten().sum();
    let counts = ["custom_tree_files_shared", "files_not_shared", "custom_tree_dirs"];
    let counts = counts.map(|key| read.words(&format!("/config/{key}")).parse::<u64>());
    let [Ok(shared), Ok(whole), Ok(0)] = counts else { panic!("no phase uses directories") };
    assert_eq!(shared + whole, 16);
    assert_eq!(read.words("/last_done/bytes"), bytes.to_string());
    let salted = elbencho(&[&["-r", "--verify", "8"][..], &shape].concat());
    assert_eq!(salted.code, Some(1), "another salt is another word");
    fs::remove_file(format!("{copy}/a/large7")).expect("removed");
    let missing = elbencho(&[&["-r"][..], &shape].concat());
    assert_eq!(missing.code, Some(1));
    let says = |word: &str| missing.err.contains(word);
    assert!(says("READ: open of ") && says("a/large7 ") && says("No such file"), "{}", missing.err);
    fs::write(format!("{copy}/a/large7"), "").expect("written");
    let removed = of(&["-F", "-D", "--treeroundrob"]);
    assert_eq!(last(&removed, "RMFILES", "Files total"), "16", "each shared file once");
    assert_eq!(last(&removed, "RMDIRS", "Dirs total"), "4");
    assert_eq!(below(Path::new(&copy)), BTreeMap::new(), "the path itself stays");
}

#[test]
fn lists_that_are_no_good_end_in_a_sentence() {
    let scratch = Scratch::new();
    let (root, list) = (scratch.path("root"), scratch.outside("list"));
    fs::create_dir(&root).expect("made");
    fs::write(scratch.path("thesis"), "words").expect("written");
    let of = |text: &str, words: &[&str]| {
        fs::write(&list, text).expect("written");
        let ran = elbencho(&[words, &["--treefile", &list, &root]].concat());
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        ran.err
    };
    let error = of("d a\nf 5 ../thesis\n", &["-F"]);
    assert!(error.contains("list:2: `../thesis` leads out of the tree"), "{error}");
    let error = of("f 5 /etc/passwd\n", &["-F"]);
    assert!(error.contains("list:1: `/etc/passwd` is absolute"), "{error}");
    let error = of("d only\n", &["-w"]);
    assert!(error.contains("the list has no files, and there is work on files"), "{error}");
    let gone = elbencho(&["-w", "--treefile", &scratch.outside("none"), &root]);
    assert_eq!(gone.code, Some(1));
    assert!(gone.err.contains("none: it could not be read: No such file"), "{}", gone.err);
    let alone = elbencho(&["--treescan", &root]);
    assert_eq!(alone.code, Some(1));
    assert!(alone.err.contains("--treescan needs a file for its list"), "{}", alone.err);
    let nowhere = elbencho(&["scan", &scratch.path("none"), &scratch.outside("other")]);
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.err.contains("none could not be listed: No such file"), "{}", nowhere.err);
    assert_eq!(below(Path::new(&scratch.dir())).len(), 2, "nothing was made or removed");
}

#[test]
fn what_is_there_is_looked_at_and_stays_unless_it_is_given_up() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let root = grown(&scratch);
    let before = below(Path::new(&root));
    let (_, report) = measured(&scratch, &["tree", &root, "--existing", "--workers", "3"]);
    let ops = |phase: usize, step: &str| {
        report.number(&format!("/phases/{phase}/measurements/0/operations/{step}/ops"))
    };
    // The root is listed as well.
    assert_eq!([ops(0, "stat"), ops(1, "list"), ops(2, "item")], [16.0, 5.0, 16.0]);
    let words = ["tree", &root, "--existing", "--phases", "delete"];
    let refused = candor(&words);
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    assert!(refused.err.contains("holds what this run did not make"), "{}", refused.err);
    assert_eq!(below(Path::new(&root)), before);
    let removed = candor(&[&words[..], &["--overwrite"]].concat());
    assert_eq!(removed.code, Some(0), "{}", removed.err);
    let left = below(Path::new(&root));
    assert!(left.keys().eq(["a", "a/deep", "a/deep/er", "b c", "link"]), "{left:?}");
    let empty = candor(&["tree", &format!("{root}/b c"), "--existing"]);
    assert_eq!(empty.code, Some(2), "{}", empty.err);
    assert!(empty.err.contains("the list has no files"), "{}", empty.err);
}

/// A list with some thousand files, and the words of a run over it.
fn long_list(scratch: &Scratch, files: usize) -> String {
    let lines = (0..files).map(|nth| format!("f 100 d{}/file{nth}\n", nth % 10));
    scratch.file("list", &lines.collect::<String>())
}

#[test]
fn names_of_a_list_are_laid_out_and_removed_and_nothing_of_others() {
    let scratch = Scratch::new();
    let root = scratch.path("new");
    let list = long_list(&scratch, 200);
    let words = ["tree", &root, "--list", &list, "--workers", "3", "--verify"];
    let (ran, report) = measured(&scratch, &words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(report.number("/phases/1/measurements/0/operations/item/ops"), 200.0);
    assert!(!Path::new(&root).exists(), "candor made it");
    let plan = format!(
        "[[target]]\nname = \"t\"\npath = \"{root}\"\nkind = \"tree\"\nlisting.file = \"{list}\"\n\
         [[phase]]\nname = \"read\"\njob = [{{ workers = 2, targets = [\"t\"], work.entries = {{ \
         steps = [\"open\", \"read\", \"close\"] }} }}]\n"
    );
    let (ran, report) = measured(&scratch, &["run", &scratch.file("plan.toml", &plan)]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(report.number("/phases/0/measurements/0/operations/read/bytes"), 20_000.0);
    assert!(!Path::new(&root).exists(), "candor laid it out");
    let depth = ["--depth", "8", "--order", "shuffled"];
    let (ran, report) = measured(&scratch, &[&words[..4], &depth].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(report.number("/phases/2/measurements/0/operations/stat/ops"), 200.0);
    fs::write(scratch.outside("huge"), "f 1125899906842624 a\n").expect("written");
    let full = candor(&["tree", &root, "--list", &scratch.outside("huge"), "--block", "1m"]);
    assert_eq!(full.code, Some(3), "{}", full.err);
    assert!(full.err.contains("would write 1 PiB of new data"), "{}", full.err);
    fs::create_dir_all(format!("{root}/d7")).expect("made");
    fs::write(format!("{root}/d7/file7"), "thesis").expect("written");
    let refused = candor(&words);
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    assert_eq!(fs::read_to_string(format!("{root}/d7/file7")).expect("left"), "thesis");
}

#[test]
fn an_interrupt_in_a_list_leaves_nothing() {
    let scratch = Scratch::new();
    let root = scratch.path("new");
    let list = long_list(&scratch, 50_000);
    let mut running =
        spawn(&["tree", &root, "--list", &list, "--phases", "make,create", "--rate-ops", "5000"]);
    running.wait_for("create");
    std::thread::sleep(Duration::from_millis(500));
    assert!(Path::new(&format!("{root}/d1/file1")).exists());
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    assert!(!Path::new(&root).exists(), "candor made it");
}

/// Most memory that a process has had resident so far, in bytes.
fn resident_max(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[test]
fn a_million_listed_files_take_less_than_200_mb() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    fn line(nth: u32) -> String {
        format!("f {} some/deep/dir{:05}/file-number-{nth:08}\n", nth % 9000, nth / 1000)
    }
    let list = scratch.file("list", &(0..1_000_000).map(line).collect::<String>());
    let plan = format!(
        "[[target]]\nname = \"t\"\npath = \"{}\"\nkind = \"tree\"\ncreate = \"nothing\"\n\
         keep = true\nlisting = {{ file = \"{list}\", shuffled = true, share_above = \"8k\" }}\n\
         [[phase]]\nname = \"stat\"\nstop.continue_on_error = true\n\
         job = [{{ workers = 4, targets = [\"t\"], work.entries = {{ steps = [\"stat\"] }} }}]\n",
        scratch.dir()
    );
    let json = scratch.outside("report.json");
    let plan = scratch.file("plan.toml", &plan);
    let running = spawn(&["run", &plan, "--json", &json, "--no-follow-ups"]);
    let mut most = 0;
    while let Some(now) = resident_max(running.pid()) {
        most = most.max(now);
        std::thread::sleep(Duration::from_millis(5));
    }
    running.wait();
    let report = Report::read(&json).expect("a report");
    let failed = report.number("/phases/0/measurements/0/operations/stat/failed");
    assert_eq!(failed, 1_000_000.0, "each name is looked up once");
    assert!(most > 50_000_000 && most < 200_000_000, "{most} bytes");
}
