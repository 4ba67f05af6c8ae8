//! candor called as mdtest: names on disk, rows, failures, files beside the results.

use std::fs;

use crate::support::mdtest::{Mdtest, below, row};
use crate::support::{quiet_host, shared_host};

#[test]
fn a_whole_test_has_all_rows_and_leaves_nothing() {
    let _host = shared_host();
    let mdtest = Mdtest::new();
    let text = mdtest.text(2, "-n 30 -z 1 -b 2 -i 2 -d t -w 100 -e 100");
    assert!(text.contains("\n2 tasks, 60 files/directories\n"), "{text}");
    assert!(text.contains("launched with 2 total task(s) on 1 node(s)"), "{text}");
    for name in [
        "Directory creation",
        "Directory stat",
        "Directory rename",
        "Directory removal",
        "File creation",
        "File stat",
        "File read",
        "File removal",
        "Tree creation",
        "Tree removal",
    ] {
        let [max, min, mean, deviation] = row(&text, name);
        assert!(min > 0.0 && min <= mean && mean <= max && deviation >= 0.0, "{name}: {text}");
    }
    assert!(text.contains("\nLATENCY (in us/op)"), "{text}");
    assert_eq!(below(&mdtest.dir()), Vec::<String>::new(), "the directory of -d went, too");
}

#[test]
fn names_on_disk_are_those_of_mdtest() {
    let _host = shared_host();
    let mdtest = Mdtest::new();
    mdtest.text(2, "-C -n 6 -z 1 -b 2 -d shared");
    let names = below(&mdtest.dir().join("shared"));
    let tree = "test-dir.0-0/mdtest_tree.0/";
    let mut expected = vec!["test-dir.0-0/".to_owned(), tree.to_owned()];
    for (directory, slots) in [("", 0..2), ("mdtest_tree.1/", 2..4), ("mdtest_tree.2/", 4..6)] {
        if !directory.is_empty() {
            expected.push(format!("{tree}{directory}"));
        }
        for (rank, slot) in
            [0, 1].into_iter().flat_map(|rank| slots.clone().map(move |k| (rank, k)))
        {
            expected.push(format!("{tree}{directory}dir.mdtest.{rank}.{slot}/"));
            expected.push(format!("{tree}{directory}file.mdtest.{rank}.{slot}"));
        }
    }
    expected.sort();
    assert_eq!(names, expected);
    // What one run made the next one finds, and the last one removes.
    mdtest.text(2, "-T -E -n 6 -z 1 -b 2 -d shared");
    mdtest.text(2, "-r -n 6 -z 1 -b 2 -d shared");
    assert_eq!(below(&mdtest.dir().join("shared")), Vec::<String>::new());
}

#[test]
fn trees_of_tasks_copies_and_shared_files_have_their_names() {
    let _host = shared_host();
    let mdtest = Mdtest::new();
    // Each task's tree, in which stand its neighbour's files; items of leaves only.
    mdtest.text(2, "-C -F -u -L -N 1 -I 1 -z 1 -b 2 -d unique");
    assert_eq!(
        below(&mdtest.dir().join("unique")),
        [
            "test-dir.0-0/",
            "test-dir.0-0/mdtest_tree.0.0/",
            "test-dir.0-0/mdtest_tree.0.0/mdtest_tree.0.1/",
            "test-dir.0-0/mdtest_tree.0.0/mdtest_tree.0.1/file.mdtest.1.1",
            "test-dir.0-0/mdtest_tree.0.0/mdtest_tree.0.2/",
            "test-dir.0-0/mdtest_tree.0.0/mdtest_tree.0.2/file.mdtest.1.2",
            "test-dir.0-0/mdtest_tree.1.0/",
            "test-dir.0-0/mdtest_tree.1.0/mdtest_tree.1.1/",
            "test-dir.0-0/mdtest_tree.1.0/mdtest_tree.1.1/file.mdtest.0.1",
            "test-dir.0-0/mdtest_tree.1.0/mdtest_tree.1.2/",
            "test-dir.0-0/mdtest_tree.1.0/mdtest_tree.1.2/file.mdtest.0.2",
        ]
    );
    mdtest.text(2, "-T -E -r -F -u -L -N 1 -I 1 -z 1 -b 2 -d unique");
    // Several directories, several test directories, shared files, files of task 0 by mknod.
    mdtest.text(2, "-C -F -u -n 1 -d a@b");
    assert_eq!(
        below(&mdtest.dir().join("b")),
        [
            "test-dir.0-0/",
            "test-dir.0-0/mdtest_tree.1.0/",
            "test-dir.0-0/mdtest_tree.1.0/file.mdtest.1.0",
        ]
    );
    mdtest.text(1, "-C -F -n 2 -I 1 -i 2 -d loops");
    let loops = below(&mdtest.dir().join("loops"));
    let files: Vec<_> = loops.iter().filter(|name| !name.ends_with('/')).collect();
    assert_eq!(
        files,
        [
            "test-dir.0-0/mdtest_tree.0/file.mdtest.0.0",
            "test-dir.0-1/mdtest_tree.0/file.mdtest.0.0",
            "test-dir.1-0/mdtest_tree.0/file.mdtest.0.0",
            "test-dir.1-1/mdtest_tree.0/file.mdtest.0.0",
        ]
    );
    for (line, name) in
        [("-S", "file.mdtest.shared.1"), ("-c", "file.mdtest.2.1"), ("-k", "file.mdtest.2.1")]
    {
        mdtest.text(3, &format!("{line} -C -F -n 2 -d {line}x"));
        let path = format!("{line}x/test-dir.0-0/mdtest_tree.0/{name}");
        assert!(mdtest.dir().join(&path).is_file(), "{path}");
        mdtest.text(3, &format!("{line} -T -E -r -F -n 2 -d {line}x"));
        assert_eq!(below(&mdtest.dir().join(format!("{line}x"))), Vec::<String>::new());
    }
}

#[test]
fn failures_are_no_work() {
    let _host = shared_host();
    let mdtest = Mdtest::new();
    let ran = mdtest.run(2, "-T -U -D -n 4 -d nothing");
    assert_eq!(ran.status.code(), Some(0), "mdtest warns of these, and goes on");
    let strict = mdtest.run(2, "-T -D -n 4 -d nothing --warningAsErrors");
    assert_eq!(strict.status.code(), Some(1));
    let unread = mdtest.run(2, "-E -F -n 4 -d nothing");
    assert_eq!(unread.status.code(), Some(1), "mdtest ends where a file cannot be opened");
    let text = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(row(&text, "Directory stat"), [0.0; 4], "{text}");
    assert_eq!(row(&text, "Directory rename"), [0.0; 4], "{text}");
    assert!(
        text.contains("WARNING: Directory rename of iteration 0: 8 operations failed"),
        "{text}"
    );
    assert!(String::from_utf8_lossy(&ran.stderr).contains("No such file"), "{ran:?}");
    assert!(!mdtest.dir().join("nothing").exists(), "looking makes nothing");
    let hook = mdtest.run(1, "-C -F -n 1 -d t --run-cmd-before-phase false");
    assert_eq!(hook.status.code(), Some(1), "a command that fails is no success");
}

#[test]
fn flipped_bytes_are_found() {
    let _host = shared_host();
    let mdtest = Mdtest::new();
    for packet in ["t", "o", "i", "r"] {
        let data = format!("-F -n 5 -G 7 --dataPacketType {packet} -d {packet}");
        mdtest.text(2, &format!("-C -w 3901 --verify-write {data}"));
        mdtest.text(2, &format!("-E -e 3901 -X {data}"));
        let file = format!("{packet}/test-dir.0-0/mdtest_tree.0/file.mdtest.1.3");
        let file = mdtest.dir().join(file);
        let mut bytes = fs::read(&file).expect("the file");
        assert_eq!(bytes.len(), 3901);
        bytes[2000] ^= 1;
        fs::write(&file, bytes).expect("written");
        let ran = mdtest.run(2, &format!("-E -e 3901 -X {data}"));
        assert_eq!(ran.status.code(), Some(0), "{packet}: mdtest warns of wrong data");
        assert!(String::from_utf8_lossy(&ran.stderr).contains("verify failed"), "{ran:?}");
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(text.contains("ERROR: verifying the data on read (1 errors)!"), "{text}");
    }
}

#[test]
fn a_stonewall_leaves_as_many_files_of_each_task() {
    let _host = shared_host();
    let mdtest = Mdtest::new();
    mdtest.text(2, "-C -F -n 3000000 -W 1 -x made -d t");
    let made: u64 = fs::read_to_string(mdtest.scratch.path("made"))
        .expect("written")
        .parse()
        .expect("a number");
    assert!(made > 0 && made < 3_000_000, "{made}");
    let tree = mdtest.dir().join("t/test-dir.0-0/mdtest_tree.0");
    let files = || fs::read_dir(&tree).map_or(0, |entries| entries.count() as u64);
    assert_eq!(files(), 2 * made);
    let text = mdtest.text(2, "-T -r -F -n 3000000 -x made -d t");
    assert!(row(&text, "File stat")[0] > 0.0, "{text}");
    assert_eq!(files(), 0);
}

#[test]
fn figures_go_to_files() {
    let _host = shared_host();
    let mdtest = Mdtest::new();
    let shown = mdtest.text(
        2,
        "-F -n 8 -d t -w 10 -e 10 --saveRankPerformanceDetails ranks.csv --savePerOpDataCSV op \
         --summary-format=JSON --summary-file all.json -P",
    );
    assert!(shown.contains("SUMMARY rate (in ops/sec)"), "{shown}");
    assert!(shown.contains("SUMMARY time (in s)"), "{shown}");
    let read = |name: &str| fs::read_to_string(mdtest.scratch.path(name)).expect(name);
    assert_eq!(read("ranks.csv").lines().count(), 1 + 1 + 2);
    for name in ["File creation", "File stat", "File read", "File removal"] {
        let lines = read(&format!("op-{name}-00001.csv"));
        assert_eq!(lines.lines().count(), 1 + 8, "{name}: {lines}");
    }
    let document: serde_json::Value = serde_json::from_str(&read("all.json")).expect("JSON");
    let runs = &document["runs"][0]["iterations"][0];
    assert_eq!(runs["File read"]["items"].as_u64(), Some(16));
    assert_eq!(runs["File creation"]["steps"]["write"]["count"].as_u64(), Some(16));
    let csv = mdtest.text(1, "-F -n 8 -d t --summary-format CSV");
    assert!(csv.starts_with("tasks,iteration,operation,"), "{csv}");
    let names = below(&mdtest.dir());
    assert!(!names.iter().any(|name| name.ends_with(".jsonl")), "{names:?}");
}

#[test]
fn the_verdict_names_what_memory_answered() {
    let _host = quiet_host();
    let mdtest = Mdtest::new();
    let line = "-F -n 2000 -d t --summary-format JSON";
    let document: serde_json::Value = serde_json::from_str(&mdtest.text(2, line)).expect("JSON");
    let findings = document["candor"]["findings"].as_array().expect("findings");
    let rules: Vec<_> = findings.iter().filter_map(|finding| finding["rule"].as_str()).collect();
    // The files were looked up right after they were made; on a filesystem in memory that is A5.
    assert!(rules.iter().any(|rule| ["H2", "H7", "A5"].contains(rule)), "{rules:?}");
}
