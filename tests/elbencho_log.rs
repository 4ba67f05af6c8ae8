//! Every operation in a file, completed directories, and readers and writers in balance.

use std::collections::HashMap;
use std::fs::{self, File};

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use crate::support::elbencho::{Elbencho, last, stderr};
use crate::support::{run, shared_host};

/// The lines of a log, each of which is JSON.
fn lines(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a log");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

/// Numbers of begins, ends and errors of each operation.
fn counted(lines: &[Value]) -> HashMap<String, [usize; 3]> {
    let mut counts: HashMap<String, [usize; 3]> = HashMap::new();
    for line in lines {
        let of = counts.entry(line["op_name"].as_str().expect("a name").to_owned()).or_default();
        let has_ended = line["is_finished"].as_bool().expect("a bit");
        of[usize::from(has_ended)] += 1;
        of[2] += usize::from(line["is_error"].as_bool().expect("a bit"));
    }
    counts
}

/// Each end follows a begin of the same worker, operation and place.
fn match_up(lines: &[Value]) {
    let mut open: HashMap<String, i32> = HashMap::new();
    for line in lines {
        let keys = ["job", "worker_rank", "op_name", "entry_name", "offset", "length"];
        let of = open.entry(keys.map(|key| line[key].to_string()).join(" ")).or_default();
        *of += if line["is_finished"] == true { -1 } else { 1 };
        assert!(*of >= 0, "it ends before it begins: {line}");
    }
    assert!(open.values().all(|open| *open == 0), "{open:?}");
}

#[test]
fn each_operation_on_small_files_is_in_the_log_before_and_after() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("tree")).expect("a directory");
    let log = elbencho.scratch.outside("ops.jsonl");
    let line = format!("-d -w --stat -r -F -D -t 3 -n 2 -N 5 -s 8k -b 4k --opslog {log} tree");
    let table = elbencho.table(&line);
    assert!(table.contains("Note: each operation was logged"), "{table}");
    let lines = lines(&log);
    match_up(&lines);
    assert_eq!(last(&table, "WRITE", "Files total"), "30");
    assert_eq!(last(&table, "MKDIRS", "Dirs total"), "6", "directories of ranks do not count");
    // Names are system calls, as in elbencho; files and directories are removed by one.
    let counts = counted(&lines);
    for (op, count) in [
        ("mkdirat", 9),
        ("openat", 60),
        ("pwrite", 60),
        ("pread", 60),
        ("close", 60),
        ("fstatat", 30),
        ("unlinkat", 39),
    ] {
        assert_eq!(counts[op], [count, count, 0], "{op}");
    }
    let mut keys: Vec<&String> = lines[0].as_object().expect("an object").keys().collect();
    keys.sort();
    let wanted = [
        "date",
        "entry_name",
        "is_error",
        "is_finished",
        "length",
        "offset",
        "op_name",
        "worker_rank",
    ];
    assert_eq!(keys, wanted, "no key beyond elbencho's");
    let write = |line: &&Value| line["op_name"] == "pwrite" && line["is_finished"] == false;
    let first = lines.iter().find(write).expect("a write");
    assert!(first["entry_name"].as_str().is_some_and(|name| name.contains("tree/r")), "{first}");
    assert_eq!((&first["offset"], &first["length"]), (&0.into(), &4096.into()), "{first}");
    assert!(first["date"].as_str().is_some_and(|date| date.len() == 28), "{first}");
    let ranks: Vec<bool> =
        (0..3).map(|rank| lines.iter().any(|l| l["worker_rank"] == rank)).collect();
    assert_eq!(ranks, [true; 3]);
    // A second run adds its lines, and failures are errors.
    let failed = elbencho.run(&format!("-r -n 1 -N 1 -s 8k --opslog {log} --opsloglock tree"));
    assert_eq!(failed.status.code(), Some(1));
    let more = self::lines(&log);
    match_up(&more);
    assert!(more.len() > lines.len());
    assert_eq!(counted(&more[lines.len()..])["openat"], [1, 1, 1]);
}

#[test]
fn blocks_in_flight_and_two_jobs_are_in_one_log_which_waits_for_a_lock() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    let log = elbencho.scratch.outside("ops.jsonl");
    let made = "-w -t 2 -s 2m -b 64k --iodepth 4 --rwmixthr 1 f";
    elbencho.table("-w -s 2m f");
    // Another process has the lock for a while.
    let held = File::create(&log).expect("a file");
    flock(&held, FlockOperation::LockExclusive).expect("a lock");
    let mut running = elbencho.spawn(&format!("{made} --opslog {log} --opsloglock"));
    std::thread::sleep(std::time::Duration::from_millis(700));
    assert_eq!(fs::metadata(&log).expect("a log").len(), 0, "the lock is waited for");
    drop(held);
    running.wait_for_rows("---");
    let ran = running.wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines = lines(&log);
    match_up(&lines);
    // The reader has the first half of the file, and the writer the other.
    let counts = counted(&lines);
    assert_eq!((counts["aiowrite"], counts["aioread"]), ([16, 16, 0], [16, 16, 0]));
    elbencho.table("-r --opsloglock f");
    let refused = elbencho.run("-r --opslog f f");
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("log of operations is the target"), "{}", stderr(&refused));
}

#[test]
fn a_plan_of_its_own_logs_its_operations_too() {
    let _host = shared_host();
    let elbencho = Elbencho::new();
    let (scratch, log) = (&elbencho.scratch, elbencho.scratch.outside("ops.jsonl"));
    let file = scratch.random_file("f", 1 << 20);
    let words = format!("--rw read --size 4k --ops 100 --set phase.job.operations_log.file={log}");
    let report = run(scratch, &file, &words);
    let lines = lines(&log);
    match_up(&lines);
    assert_eq!(lines.len(), 200, "{:?}", lines.first());
    let notes = report.list("/notes");
    assert!(notes.iter().any(|note| note["asked"].to_string().contains("a log of operations")));
}

#[test]
fn completed_directories_are_counted() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("tree")).expect("a directory");
    let table = elbencho.table("-d -w --stat -r -F -D -t 2 -n 3 -N 4 -s 8k -b 4k --dirstats tree");
    for phase in ["WRITE", "READ"] {
        assert_eq!(last(&table, phase, "Dirs total"), "6", "{phase}: {table}");
    }
    assert_eq!(table.matches("Dirs/s").count(), 4, "MKDIRS, WRITE, READ and RMDIRS: {table}");
    elbencho.table("-w -s 4k --dirstats f");
}

#[test]
fn readers_and_writers_keep_their_share_of_bytes() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    elbencho.table("-w -s 16m f");
    let csv = elbencho.scratch.outside("r.csv");
    fs::create_dir(elbencho.path("tree")).expect("a directory");
    elbencho.table("-d -w -t 3 -n 1 -N 8 -s 64k tree");
    let small = "-n 1 -N 8 -s 64k";
    for (percent, block, what) in [
        (70, 65536, "-s 16m f".to_owned()),
        (10, 4096, "-s 16m f".into()),
        (60, 4096, format!("{small} tree")),
    ] {
        let line = format!("-w -t 3 --rwmixthr 1 --rwmixthrpct {percent} --infloop --timelimit 1");
        let _ = fs::remove_file(&csv);
        let log = elbencho.scratch.outside(&format!("{percent}.jsonl"));
        elbencho.table(&format!("{line} -b {block} --csvfile {csv} --opslog {log} {what}"));
        let lines = lines(&log);
        let bytes = |op: &str| counted(&lines)[op][1] as u64 * block;
        let (read, written) = (bytes("pread"), bytes("pwrite"));
        let wanted = (read + written) as f64 * f64::from(percent) / 100.0;
        let off = (read as f64 - wanted).abs();
        assert!(off <= 2.0 * block as f64, "{read} read, {written} written, {percent} %");
        assert!(read + written > 16 << 20, "{read} {written}");
    }
    let refused = elbencho.run("-w -t 3 --rwmixthr 1 --rwmixthrpct 50 -s 1m f");
    assert!(stderr(&refused).contains("--infloop"), "{}", stderr(&refused));
}
