//! candor called as IOR: bytes on disk, the life of files, tables, verdicts, exit codes.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use crate::support::ior::{Ior, rows, rules};
use crate::support::{Loop, Mount, candor, quiet_host, shared_host};

const KIB: u64 = 1 << 10;

/// The word of `-l offset` at a place of a transfer: the rank above, and below the number of the
/// word behind the signature, or the offset of the transfer in the first one of each 4 KiB.
fn word(rank: u64, signature: u64, transfer_offset: u64, index: u64) -> u64 {
    let low = match index % 512 {
        0 => u64::from((transfer_offset as u32).wrapping_mul(index as u32 / 512 + 1)),
        _ => signature + index,
    };
    rank << 32 | low
}

/// Compares a file word by word with the formulas for offsets and content.
fn holds(bytes: &[u8], transfer: u64, signature: u64, rank_of: impl Fn(u64) -> u64) {
    let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    for (nth, found) in words.enumerate() {
        let offset = nth as u64 * 8;
        let start = offset / transfer * transfer;
        let wanted = word(rank_of(start), signature, start, offset % transfer / 8);
        assert_eq!(found, wanted, "at byte {offset}");
    }
}

#[test]
fn every_byte_lies_where_ior_puts_it() {
    let (_host, ior) = (shared_host(), Ior::new());
    const RANKS: u64 = 64;
    // Interleaved: one transfer of each rank, segment after segment.
    ior.text("--ranks 64 -w -k -l o -G 7 -t 8k -b 8k -s 4 -o hard");
    let bytes = fs::read(ior.path("hard")).expect("the file");
    assert_eq!(bytes.len() as u64, RANKS * 4 * 8 * KIB);
    holds(&bytes, 8 * KIB, 7, |offset| offset / (8 * KIB) % RANKS);
    // Segmented: all of a rank side by side.
    ior.text("--ranks 64 -w -k -l o -G 7 -t 8k -b 32k -o easy");
    let bytes = fs::read(ior.path("easy")).expect("the file");
    holds(&bytes, 8 * KIB, 7, |offset| offset / (32 * KIB));
    // Several transfers, blocks and segments, in files of their own.
    ior.text("--ranks 3 -w -k -l o -G 7 -t 8k -b 16k -s 3 -F -o own");
    for rank in 0..3 {
        let bytes = fs::read(ior.path(&format!("own.{rank:08}"))).expect("the file");
        assert_eq!(bytes.len() as u64, 48 * KIB);
        holds(&bytes, 8 * KIB, 7, |_| rank);
    }
}

#[test]
fn files_live_as_they_do_under_ior() {
    let (_host, ior) = (shared_host(), Ior::new());
    ior.text("--ranks 2 -w -r -t 4k -b 8k -F -o a");
    assert_eq!(ior.scratch.entries(), Vec::<String>::new(), "removed at the end");
    ior.text("--ranks 2 -w -k -t 4k -b 8k -F -u -o ./b");
    assert!(Path::new(&ior.path("1/b.00000001")).exists());
    let read = ior.json("--ranks 2 -r -t 4k -b 8k -F -u -o ./b");
    assert!(!Path::new(&ior.path("1/b.00000001")).exists(), "a read removes what it has read");
    let notes = read["candor"]["notes"].to_string();
    assert!(notes.contains("IOR removes the files that it has read"), "{notes}");
    fs::write(ior.path("long"), "x".repeat(100_000)).expect("a file");
    ior.text("-w -k -E -t 4k -b 8k -o long");
    assert_eq!(fs::metadata(ior.path("long")).map(|of| of.len()).ok(), Some(100_000));
    let text = ior.text("-w -k -v -t 4k -b 8k -o long");
    assert!(text.contains("exists already and will be deleted"), "{text}");
    assert_eq!(fs::metadata(ior.path("long")).map(|of| of.len()).ok(), Some(8192));
    ior.text("-w -k -i 2 -m -t 4k -b 8k -o m");
    assert!(Path::new(&ior.path("m.0")).exists() && Path::new(&ior.path("m.1")).exists());
    let missing = ior.run("-r -k -t 4k -b 8k -o none");
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(1));
    assert!(said.contains("none") && said.contains("No such file"), "{said}");
    assert!(!Path::new(&ior.path("none")).exists(), "reading makes nothing");
}

#[test]
fn wrong_bytes_are_found_and_counted_once() {
    let (_host, ior) = (shared_host(), Ior::new());
    let shape = "--ranks 2 -G 5 -l o -k -t 4k -b 512k -s 2 -o f";
    ior.text(&shape.replace("--ranks 2", "--ranks 2 -w -W -R"));
    let check = shape.replace("--ranks 2", "--ranks 2 -r -R");
    ior.text(&check);
    let file = fs::OpenOptions::new().write(true).open(ior.path("f")).expect("the file");
    file.write_all_at(b"X", 700_001).expect("a byte");
    let ran = ior.run(&check);
    let (out, said) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.status.code(), Some(1));
    assert!(out.contains("WARNING: Incorrect data on read (1 errors found)."), "{out}");
    assert!(said.contains("file f offset 700416") || said.contains("offset 696320"), "{said}");
    // IOR's exit code would be 0 for these.
    for block in 0..256_u64 {
        file.write_all_at(b"XX", block * 4096 + 100).expect("bytes");
    }
    let ran = ior.run(&check);
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(1));
    assert!(out.contains("(256 errors found)") || out.contains("(257 errors found)"), "{out}");
    let other = ior.run(&check.replace("-G 5", "-G 6"));
    assert_eq!(other.status.code(), Some(1), "another signature");
}

#[test]
fn others_read_what_a_task_wrote() {
    let (_host, ior) = (shared_host(), Ior::new());
    for layout in ["-F", "-s 2"] {
        let line = format!("--ranks 4 -w -W -r -R -C -G 3 -l o -t 4k -b 16k {layout} -o f");
        let mut command = ior.command(&line);
        command.env("IOR_FAKE_NODES", "2").env("IOR_FAKE_TASK_PER_NODES", "2");
        let ran = command.output().expect("ior starts");
        let out = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(
            (ran.status.code(), &*String::from_utf8_lossy(&ran.stderr)),
            (Some(0), ""),
            "{out}"
        );
        assert!(out.contains("constant task offset"), "{out}");
    }
    for order in ["-Z -X 3", "-Z -Z -X 3"] {
        ior.text(&format!("--ranks 4 -w -r -R {order} -G 3 -l o -t 4k -b 16k -F -o f"));
    }
    for random in ["-F", "-g"] {
        let line = "--ranks 4 -w -W -r -R -z --random-offset-seed=7 -G 3 -l o -t 4k -b 64k";
        ior.text(&format!("{line} {random} -o f"));
    }
    ior.text("--ranks 2 -w -k -G 3 -l o -t 4k -b 64k -s 2 -o f");
    ior.text("--ranks 2 -r -R -z -z --random-offset-seed=7 -G 3 -l o -t 4k -b 64k -s 2 -o f");
}

/// A filesystem of its own on a loop device, to which nobody else writes.
fn disk(ior: &Ior) -> Option<Mount> {
    let device = Loop::blank(&ior.scratch, 256 << 20)?;
    Mount::ext4(&ior.scratch, device, "noatime")
}

/// The founding runs: each ends with the finding that its author came to by hand.
#[test]
fn the_read_that_measures_the_cache_is_named() {
    let (_host, ior) = (quiet_host(), Ior::new());
    let Some(disk) = disk(&ior) else { return };
    let shape = format!("--ranks 2 -t 1m -b 4m -s 4 -F -o {}", disk.path("f"));
    fn measures_cache(document: &Value) {
        assert!(rules(document, "read").contains(&"A1".to_owned()), "{document:#}");
    }
    let plain = ior.json(&shape);
    measures_cache(&plain);
    assert!(rules(&plain, "write").contains(&"A3".to_owned()), "{plain:#}");
    let reordered = ior.json(&format!("{shape} -C"));
    measures_cache(&reordered);
    let notes = reordered["candor"]["notes"].to_string();
    assert!(notes.contains("cannot avoid the cache here"), "{notes}");
    let flushed = ior.json(&format!("{shape} -C -e"));
    measures_cache(&flushed);
    assert!(!rules(&flushed, "write").contains(&"A3".to_owned()), "{flushed:#}");
    // The files still fit into the memory that is left.
    measures_cache(&ior.json(&format!("{shape} -e -M 64m")));
    let ran = ior.command(&shape).env("CANDOR_VERDICT", "stderr").output().expect("ior starts");
    let verdict = String::from_utf8_lossy(&ran.stderr);
    assert!(verdict.contains("\ncandor: ") && verdict.contains("page cache"), "{verdict}");
}

#[test]
fn text_in_a_pipe_is_that_of_ior_and_notes_are_on_stderr() {
    let (_host, ior) = (quiet_host(), Ior::new());
    for launched in [false, true] {
        let mut command = ior.command("-w -a MPIIO -b 256k -t 64k -o f");
        if launched {
            for (name, value) in [("RANK", "0"), ("SIZE", "1"), ("LOCAL_RANK", "0")] {
                command.env(format!("OMPI_COMM_WORLD_{name}"), value);
            }
            command.env("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
        }
        let ran = command.output().expect("ior starts");
        let (text, told) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with("Finished "), "{text}{told}");
        let notes: Vec<_> = told.lines().filter(|line| line.starts_with("ior: note: ")).collect();
        assert!(notes.len() == 1 && notes[0].contains("api=MPIIO"), "{told}");
    }
}

#[test]
fn files_of_another_size_are_warned_of_before_the_row() {
    let (_host, ior) = (quiet_host(), Ior::new());
    std::fs::write(ior.path("f"), vec![0; 300_000]).expect("a file");
    let line = "-r -b 256k -t 64k -o f -k";
    let warning = "WARNING: Expected aggregate file size       = 262144\n\
                   WARNING: Stat() of aggregate file size      = 300000\n\
                   WARNING: Using actual aggregate bytes moved = 262144\n";
    let text = ior.text(line);
    assert!(text.contains(&format!("{warning}read ")), "{text}");
    let ran = ior.run(&format!("{line} -O summaryFormat=CSV"));
    assert_eq!(String::from_utf8_lossy(&ran.stderr), warning, "rows of CSV stay alone");
    std::fs::write(ior.path("f"), vec![0; 262_144]).expect("a file");
    assert!(!ior.text(line).contains("WARNING"), "{text}");
}

#[test]
fn direct_runs_have_no_cache_to_name() {
    let (_host, ior) = (quiet_host(), Ior::new());
    let Some(disk) = disk(&ior) else { return };
    let line = format!("--ranks 2 -t 1m -b 8m -F --posix.odirect -o {}", disk.path("f"));
    let document = ior.json(&line);
    for phase in ["write", "read"] {
        let found = rules(&document, phase);
        assert!(!found.iter().any(|rule| rule == "A1" || rule == "A3"), "{document:#}");
    }
}

#[test]
fn tables_and_documents_agree() {
    let (_host, ior) = (shared_host(), Ior::new());
    let text = ior.text("--ranks 2 -t 4k -b 64k -i 2 -v -A 42 -o f");
    for (access, number) in [("write", 2), ("read", 2), ("remove", 2)] {
        assert_eq!(rows(&text, access).len(), number, "{text}");
    }
    let write = &rows(&text, "write")[0];
    assert_eq!((write.len(), &write[4][..], &write[5][..]), (11, "64.00", "4.00"), "{text}");
    let number = |cell: &str| cell.parse::<f64>().expect("a number");
    let total = number(&write[9]);
    let bandwidth = 128.0 / 1024.0 / total;
    assert!((number(&write[1]) / bandwidth - 1.0).abs() < 0.02, "{text}");
    assert!(text.contains("\nMax Write: ") && text.contains("\nMax Read:  "), "{text}");
    let summary = text.split("Summary of all tests:\n").nth(1).expect("a summary");
    let mut lines = summary.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let (head, row) = (lines.next().expect("a head"), lines.next().expect("a row"));
    assert_eq!((head.len(), row.len(), row[0], row[26]), (27, 27, "write", "42"), "{summary}");
    let document = ior.json("--ranks 2 -t 4k -b 64k -i 2 -o f");
    assert_eq!(document["tests"][0]["Results"].as_array().map(Vec::len), Some(4), "{document:#}");
    let result = &document["tests"][0]["Results"][0];
    let of = |key: &str| result[key].as_f64().unwrap_or_default();
    assert!((of("bwMiB") * of("totalTime") * 1024.0 - 128.0).abs() < 0.01, "{result}");
    assert!(of("closeTime") > 0.0 && of("latency") > 0.0 && of("openTime") > 0.0, "{result}");
    assert_eq!(document["summary"][1]["operation"], "read");
    ior.text("--ranks 2 -t 4k -b 64k -o f -O summaryFile=out.csv,summaryFormat=CSV");
    let csv = fs::read_to_string(ior.path("out.csv")).expect("the file");
    let last: Vec<&str> = csv.lines().last().unwrap_or_default().split(',').collect();
    assert_eq!((csv.lines().count(), last.len(), last[0], last[10]), (3, 12, "read", "2"), "{csv}");
}

#[test]
fn rows_of_tasks_and_transfers_are_written() {
    let (_host, ior) = (shared_host(), Ior::new());
    ior.text(
        "--ranks 2 -w -r -t 4k -b 16k -F -o f -O \
         saveRankPerformanceDetailsCSV=ranks.csv,savePerOpDataCSV=ops",
    );
    let ranks = fs::read_to_string(ior.path("ranks.csv")).expect("the file");
    let cells: Vec<Vec<&str>> = ranks.lines().map(|line| line.split(',').collect()).collect();
    let starts: Vec<String> = cells.iter().map(|row| row[..2].join(" ")).collect();
    assert_eq!(starts, ["access rank", "write 0", "write 1", "read 0", "read 1"], "{ranks}");
    assert!(cells.iter().all(|row| row.len() == 6), "{ranks}");
    for rank in 0..2 {
        let rows = fs::read_to_string(ior.path(&format!("ops-0-{rank:05}.csv"))).expect("rows");
        assert_eq!(rows.lines().next(), Some("time,runtime,tp"));
        assert_eq!(rows.lines().count(), 1 + 4 + 4, "{rows}");
    }
}

#[test]
fn a_deadline_keeps_its_count_for_reads() {
    let (_host, ior) = (quiet_host(), Ior::new());
    let shape = "-t 4k -b 4k -s 1000000 -o f";
    let wear = "-O stoneWallingWearOut=1,stoneWallingStatusFile=count";
    let began = Instant::now();
    let text = ior.text(&format!("--ranks 2 -w -k -D 1 -O interIODelay=2000 {wear} {shape}"));
    assert!(began.elapsed().as_secs_f64() < 6.0, "{:?}", began.elapsed());
    let count: u64 = fs::read_to_string(ior.path("count")).expect("a count").parse().expect("one");
    let line = text.lines().find(|line| line.starts_with("stonewalling pairs")).expect("a line");
    assert!(count > 10 && line.contains(&format!("max: {count} ")), "{count}: {text}");
    let bytes = fs::metadata(ior.path("f")).map(|of| of.len()).expect("the file");
    assert_eq!(bytes, 2 * count * 4096);
    let document = ior.json(&format!("--ranks 2 -r -k -O stoneWallingStatusFile=count {shape}"));
    let moved = document["summary"][0]["xsizeMiB"].as_f64().expect("an amount");
    assert_eq!(moved * f64::from(1 << 20), bytes as f64, "{document:#}");
    // Within one run, reads end where the write did.
    let both = ior.json(&format!("--ranks 2 -w -r -D 1 -O interIODelay=5000 {shape}"));
    let amounts: Vec<f64> = both["summary"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| row["xsizeMiB"].as_f64().unwrap_or_default())
        .collect();
    assert!(amounts.len() == 2 && amounts[1] <= amounts[0] && amounts[1] > 0.0, "{both:#}");
}

#[test]
fn phases_repeat_until_their_minimum_time() {
    let (_host, ior) = (shared_host(), Ior::new());
    let line = "--ranks 2 -w -r -R -k -G 3 -t 16k -b 64k -O minTimeDuration=1 -o f";
    let text = ior.text(line);
    for access in ["write", "read"] {
        let row = &rows(&text, access)[0];
        assert!(row[9].parse::<f64>().expect("total time") >= 1.0, "{text}");
    }
    let bytes = fs::read(ior.path("f")).expect("the file");
    assert_eq!(bytes.len(), 128 << 10);
    let summary = text.split("Summary of all tests:\n").nth(1).expect("a summary");
    for row in summary.lines().skip(1).take(2) {
        let moved = row.split_whitespace().nth(24).and_then(|mib| mib.parse::<f64>().ok());
        assert!(moved.is_some_and(|mib| mib > 1.0), "more than the file: {summary}");
    }
}

#[test]
fn every_back_end_moves_the_same_bytes() {
    let (_host, ior) = (shared_host(), Ior::new());
    let all = ["POSIX", "MMAP", "AIO", "io_uring", "MPIIO"];
    for (nth, api) in all.into_iter().enumerate() {
        let line = format!("--ranks 2 -a {api} -w -W -r -R -k -G 9 -l o -t 8k -b 32k -o f{nth}");
        ior.json(&line);
        let bytes = fs::read(ior.path(&format!("f{nth}"))).expect("the file");
        assert_eq!(bytes, fs::read(ior.path("f0")).expect("the file"), "{api}");
    }
    let text = ior.text("--ranks 2 -a DUMMY -t 8k -b 32k -o none");
    assert_eq!(rows(&text, "read").len(), 1, "{text}");
    let refused = ior.run("-a HDF5 -o f");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("HDF5 is not done"));
}

#[test]
fn scripts_run_their_tests() {
    let (_host, ior) = (shared_host(), Ior::new());
    fs::write(
        ior.path("script"),
        "IOR START\n  # two tests\n  blockSize=16k, transferSize=4k\n  testFile=f\n  keepFile=1\n  \
         writeFile=1,readFile=0\nRUN\n  writeFile=0,readFile=1,keepFile=0\nRUN\nIOR STOP\n",
    )
    .expect("a script");
    let text = ior.text("--ranks 2 -f script -v");
    assert_eq!((rows(&text, "write").len(), rows(&text, "read").len()), (1, 1), "{text}");
    assert_eq!(text.matches("\nOptions: \n").count(), 2, "{text}");
    let plan = candor(&["convert", &ior.path("script")]);
    assert_eq!(plan.code, Some(0), "{}", plan.err);
    assert!(plan.out.contains("segments"), "{}", plan.out);
    let saved = ior.scratch.outside("plan.toml");
    let line = format!("-w -k -l o -G 7 -t 4k -b 16k -o {}", ior.path("g"));
    let words: Vec<&str> = ["convert", "--save", &saved, "ior", "--ranks", "2"]
        .into_iter()
        .chain(line.split(' '))
        .collect();
    assert_eq!(candor(&words).code, Some(0));
    let ran = candor(&["run", &saved]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let bytes = fs::read(ior.path("g")).expect("the file");
    holds(&bytes, 4 * KIB, 7, |offset| offset / (16 * KIB));
}

#[test]
fn a_dry_run_touches_nothing() {
    let ior = Ior::new();
    let text = ior.text("--ranks 2 -w -r --dryRun -o f");
    assert!(text.contains("phase 0: test 0, repetition 0: write 2 tasks"), "{text}");
    assert_eq!(ior.scratch.entries(), Vec::<String>::new());
    assert!(ior.text("-h").contains("--transferSize"));
}
