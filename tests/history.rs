//! `candor history`: runs that finished, kept and found again, whatever happens to the place.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Mount, Ran, Running, Scratch, root};

/// candor with these words, whose history is in that directory.
fn command(dir: &str, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.args(words).env("CANDOR_HISTORY", dir);
    command
}

fn candor(dir: &str, words: &[&str]) -> Ran {
    Running::start(&mut command(dir, words), Stdio::null()).wait()
}

/// Words of a run of a moment on a file.
fn short(target: &str) -> Vec<&str> {
    let words = "run --rw randread --bs 4k --engine psync --size 1m --ops 200 --no-follow-ups";
    let rest = ["--quiet", "--target", target];
    words.split(' ').chain(rest).collect()
}

/// Numbers of the runs that are listed with these words.
fn listed(dir: &str, words: &[&str]) -> Vec<u64> {
    let ran = candor(dir, &[&["history"], words, &["--json", "-"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let list: Value = serde_json::from_str(&ran.out).expect("a document");
    let runs = list["runs"].as_array().expect("runs").iter();
    runs.map(|run| run["run"].as_u64().expect("a number")).collect()
}

#[test]
fn a_run_is_kept_listed_shown_and_pruned() {
    let scratch = Scratch::new();
    let (dir, file) = (scratch.outside("history"), scratch.path("file"));
    let first = candor(&dir, &short(&file));
    assert_eq!(first.code, Some(0), "{}", first.err);
    assert!(first.err.contains("finished runs are kept in"), "{}", first.err);
    let second = candor(&dir, &short(&file));
    assert!(!second.err.contains("finished runs"), "told once: {}", second.err);
    let out = candor(&dir, &[&short(&file)[..], &["--no-history"]].concat());
    assert_eq!((out.code, listed(&dir, &[])), (Some(0), vec![2, 1]));
    assert_eq!(listed(&dir, &["--target", &scratch.dir(), "--tool", "candor"]), [2, 1]);
    assert_eq!(listed(&dir, &["--target", "/elsewhere"]), [0; 0]);

    let shown = candor(&dir, &["history", "show", "1"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let again = candor(&dir, &["show", "history:1"]);
    assert_eq!(again.out, shown.out, "{}", again.err);
    let none = candor(&dir, &["show", "history:77"]);
    assert!(none.code == Some(1) && none.err.contains("no run 77"), "{}", none.err);

    assert_eq!(candor(&dir, &["history", "tag", "1", "base"]).code, Some(0));
    assert_eq!(listed(&dir, &["list", "--tag", "base"]), [1]);
    let trend = scratch.outside("trend.svg");
    let told = candor(&dir, &["history", "trend", "--figure", "iops", "--chart", &trend]);
    assert!(told.out.contains("2 runs, 1 ("), "{} {}", told.out, told.err);
    assert!(fs::read_to_string(&trend).expect("a picture").starts_with("<svg"));
    let table = candor(&dir, &["history", "export", "--csv", "-"]);
    assert!(table.out.starts_with("run,started,") && table.out.contains(",iops,1/s,"));
    let parquet = scratch.outside("table.parquet");
    let written = candor(&dir, &["history", "export", "--parquet", &parquet]);
    assert!(written.err.ends_with(" rows written\n"), "{}", written.err);
    let parquet = fs::read(&parquet).expect("a table");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let nothing = candor(&dir, &["history", "prune"]);
    assert!(nothing.code == Some(2) && nothing.err.contains("--keep N"), "{}", nothing.err);
    assert_eq!(candor(&dir, &["history", "prune", "--keep", "0"]).code, Some(0));
    assert_eq!(listed(&dir, &[]), [1], "a tag protects");
}

#[test]
fn results_of_other_tools_are_imported_once_and_drop_in_commands_leave_nothing() {
    let scratch = Scratch::new();
    let dir = scratch.outside("history");
    let json = scratch.outside("fio.json");
    let target = format!("--filename={}", scratch.path("file"));
    let words = ["fio", "--name=j", "--rw=write", "--size=64k", "--output-format=json"];
    let output = format!("--output={json}");
    let ran = candor(&dir, &[&words[..], &[target.as_str(), output.as_str()]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(fs::metadata(&dir).is_err(), "candor fio leaves no history behind");

    let imported = candor(&dir, &["history", "import", &json]);
    assert!(imported.err.contains("is run 1\n"), "{}", imported.err);
    let again = candor(&dir, &["history", "import", &json]);
    assert!(again.err.contains("is run 1 already"), "{}", again.err);
    assert_eq!(listed(&dir, &["--tool", "fio"]), [1]);
    let shown = candor(&dir, &["history", "show", "1"]);
    assert!(shown.out.contains("Not judged") && shown.out.contains("write"), "{}", shown.out);
    let page = scratch.outside("page.html");
    for words in [["--csv", "-"], ["--html", page.as_str()], ["--require", "caution"]] {
        let refused = candor(&dir, &[&["history", "show", "history:1"], &words[..]].concat());
        let why = format!("{} needs a report of candor", words[0]);
        assert!(refused.code == Some(1) && refused.err.contains(&why), "{}", refused.err);
    }
    let absent = candor(&dir, &["history", "import", "/none"]);
    assert!(absent.code == Some(1) && absent.err.contains("/none"), "{}", absent.err);
    let off = candor("off", &["history"]);
    assert!(off.code == Some(1) && off.err.contains("CANDOR_HISTORY=off"), "{}", off.err);
}

#[test]
fn runs_that_end_at_once_are_all_kept() {
    let scratch = Scratch::new();
    let dir = scratch.outside("history");
    let files: Vec<String> = (0..4).map(|number| scratch.path(&format!("{number}"))).collect();
    let start = |file: &String| Running::start(&mut command(&dir, &short(file)), Stdio::null());
    let running: Vec<Running> = files.iter().map(start).collect();
    for ran in running.into_iter().map(Running::wait) {
        assert!(ran.code == Some(0) && !ran.err.contains("warning"), "{}", ran.err);
    }
    let mut runs = listed(&dir, &[]);
    runs.sort_unstable();
    assert_eq!(runs, [1, 2, 3, 4]);
}

#[test]
fn a_damaged_index_loses_nothing() {
    let scratch = Scratch::new();
    let (dir, file) = (scratch.outside("history"), scratch.path("file"));
    candor(&dir, &short(&file));
    candor(&dir, &["history", "tag", "1", "base"]);
    let index = format!("{dir}/history.db");
    let damage = || {
        let length = fs::metadata(&index).expect("an index").len();
        fs::write(&index, vec![0x5a; usize::try_from(length).expect("small")]).expect("writable");
    };
    damage();
    let ran = candor(&dir, &short(&file));
    assert_eq!(ran.code, Some(0), "the run is not concerned: {}", ran.err);
    assert!(ran.err.contains("kept as run 2 and not listed yet"), "{}", ran.err);
    assert_eq!(listed(&dir, &[]), [2, 1]);
    assert_eq!(listed(&dir, &["--tag", "base"]), [1]);
    damage();
    let repaired = candor(&dir, &["history", "repair"]);
    assert!(repaired.err.contains("is damaged") && repaired.err.contains("in order, 2 runs"));
    assert!(fs::metadata(format!("{dir}/history.db.damaged-2")).is_ok(), "kept aside");
}

#[test]
fn a_full_disk_is_a_warning_and_no_more() {
    let scratch = Scratch::new();
    if !root() {
        return;
    }
    let Some(small) = Mount::tmpfs(&scratch, "1m") else { return };
    let (dir, file) = (small.path("history"), scratch.path("file"));
    assert_eq!(candor(&dir, &short(&file)).code, Some(0));
    // All of the room that is left, so that not even a note fits.
    let mut filler = fs::File::create(small.path("filler")).expect("a file");
    while std::io::Write::write_all(&mut filler, &[1; 512]).is_ok() {}
    let ran = candor(&dir, &short(&file));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("warning") && ran.err.contains("No space left"), "{}", ran.err);
    drop(filler);
    fs::remove_file(small.path("filler")).expect("it is there");
    assert_eq!(listed(&dir, &[]), [1]);
    assert_eq!(candor(&dir, &short(&file)).code, Some(0));
    assert_eq!(listed(&dir, &[]).len(), 2);
}

#[test]
fn a_read_only_home_is_a_warning_and_the_history_can_still_be_read() {
    let scratch = Scratch::new();
    let Some(home) = Mount::tmpfs(&scratch, "1m") else { return };
    let (dir, file) = (home.path("a?#%b"), scratch.path("file"));
    assert_eq!(candor(&dir, &short(&file)).code, Some(0));
    let Some(()) = home.set_read_only() else { return };
    for dir in [&dir, &home.path("none-yet")] {
        let ran = candor(dir, &short(&file));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.contains("random read 4 KiB"), "the report is printed: {}", ran.out);
        let warned: Vec<&str> =
            ran.err.lines().filter(|line| line.contains("the history")).collect();
        assert!(warned.len() == 1 && warned[0].contains("Read-only file system"), "{}", ran.err);
    }
    assert_eq!(listed(&dir, &[]), [1]);
    let table = candor(&dir, &["history", "export", "--csv", "-"]);
    assert!(table.code == Some(0) && table.out.contains(",iops,1/s,"), "{}", table.err);
    for words in [&["tag", "1", "base"][..], &["prune", "--keep", "0"]] {
        let refused = candor(&dir, &[&["history"], words].concat());
        let why = refused.err.to_lowercase().replace('-', "");
        assert!(refused.code == Some(1) && why.contains("readonly"), "{}", refused.err);
    }
    assert_eq!(listed(&dir, &["--tag", "base"]), [0; 0]);
}

#[test]
fn an_import_that_was_killed_loses_nothing_and_completes() {
    const FILES: usize = 50;
    let scratch = Scratch::new();
    let dir = scratch.outside("history");
    let results = include_str!("../crates/readers/tests/results/fio-plus.json");
    // The name is a part of the results, so that these are different ones.
    let files: Vec<String> =
        (0..FILES).map(|number| scratch.file(&format!("{number}.json"), results)).collect();
    fn words(files: &[String]) -> Vec<String> {
        ["history".into(), "import".into()].into_iter().chain(files.iter().cloned()).collect()
    }
    let start = |files: &[String]| {
        let words = words(files);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Running::start(&mut command(&dir, &words), Stdio::null())
    };
    assert_eq!(start(&files[..3]).wait().code, Some(0));
    assert_eq!(candor(&dir, &["history", "tag", "2", "base"]).code, Some(0));
    // Several kills, since each one hits another moment of the way of a file.
    for last in [9, 20, 31] {
        let mut running = start(&files);
        running.wait_for(&format!("is run {last}\n"));
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code, None);
    }
    let before = listed(&dir, &["--last", "1000"]);
    // A number that was claimed by a killed import and never used stays free.
    assert!((28..FILES).contains(&before.len()), "{before:?}");
    assert_eq!(listed(&dir, &["--tag", "base"]), [2]);

    let again = start(&files).wait();
    assert_eq!(again.code, Some(0), "{}", again.err);
    let list = candor(&dir, &["history", "list", "--last", "1000", "--json", "-"]);
    let list: Value = serde_json::from_str(&list.out).expect("a document");
    let runs = list["runs"].as_array().expect("runs");
    let mut names: Vec<&str> = runs.iter().filter_map(|run| run["name"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!((runs.len(), names.len()), (FILES, FILES), "nothing twice");
    let kept: Vec<u64> = runs.iter().filter_map(|run| run["run"].as_u64()).collect();
    assert!(before.iter().all(|run| kept.contains(run)), "{before:?} {kept:?}");
    let repaired = candor(&dir, &["history", "repair"]);
    let told: Vec<&str> = repaired.err.lines().collect();
    assert_eq!(told, [format!("candor: the history is in order, {FILES} runs")]);
}

#[test]
fn tests_stay_out_of_the_history_of_the_user() {
    assert_eq!(std::env::var("CANDOR_HISTORY").as_deref(), Ok("off"), "see .cargo/config.toml");
}
