//! candor called as elbencho: phases, names on disk, counts, verified bytes, exit codes.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use crate::support::elbencho::{Elbencho, last, stderr};
use crate::support::shared_host;

/// Number of files and of directories below a directory.
fn counted(directory: &Path) -> (usize, usize) {
    let mut counts = (0, 0);
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        if entry.path().is_dir() {
            let below = counted(&entry.path());
            counts = (counts.0 + below.0, counts.1 + below.1 + 1);
        } else {
            counts.0 += 1;
        }
    }
    counts
}

#[test]
fn directories_of_small_files_are_made_seen_and_removed() {
    let _host = shared_host();
    let elbencho = Elbencho::new();
    let tree = elbencho.path("tree");
    fs::create_dir(&tree).expect("a directory");
    let shape = "-t 4 -n 3 -N 10 -s 8k -b 4k tree";
    let made = elbencho.table(&format!("-d -w {shape}"));
    assert_eq!(last(&made, "MKDIRS", "Dirs total"), "12");
    assert_eq!(last(&made, "WRITE", "Files total"), "120");
    assert_eq!(counted(Path::new(&tree)), (120, 4 + 12));
    let file = format!("{tree}/r3/d2/r3-f9");
    assert_eq!(fs::metadata(&file).map(|file| file.len()).ok(), Some(8192));
    let seen = elbencho.table(&format!("--stat -r {shape}"));
    assert_eq!(last(&seen, "STAT", "Files total"), "120");
    assert_eq!(last(&seen, "READ", "Files total"), "120");
    assert!(last(&seen, "READ", "Throughput MiB/s").parse::<u64>().is_ok(), "{seen}");
    let removed = elbencho.table(&format!("-F -D {shape}"));
    assert_eq!(last(&removed, "RMFILES", "Files total"), "120");
    assert_eq!(last(&removed, "RMDIRS", "Dirs total"), "12");
    assert_eq!(counted(Path::new(&tree)), (0, 0), "the path itself stays");
    let missing = elbencho.run(&format!("-r {shape}"));
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("No such file"), "{}", stderr(&missing));
    assert_eq!(counted(Path::new(&tree)), (0, 0), "reading makes nothing");
}

#[test]
fn written_words_are_offset_and_salt_and_a_flipped_byte_is_found() {
    let _host = shared_host();
    let elbencho = Elbencho::new();
    let sizes = "-t 3 -s 1000008 -b 64k --verify 7 a b";
    let table = elbencho.table(&format!("-w -r --svcelapsed --svcping {sizes}"));
    assert_eq!(last(&table, "READ", "Total MiB"), "1");
    assert!(!table.contains("Svc "), "no service takes part: {table}");
    for name in ["a", "b"] {
        let bytes = fs::read(elbencho.path(name)).expect("the file");
        assert_eq!(bytes.len(), 1_000_008);
        let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        assert!(words.zip(0..).all(|(word, nth)| word == 8 * nth + 7), "{name}");
    }
    let file = fs::OpenOptions::new().write(true).open(elbencho.path("b")).expect("the file");
    file.write_all_at(b"X", 700_001).expect("a byte");
    let ran = elbencho.run(&format!("-r {sizes}"));
    assert_eq!(ran.status.code(), Some(1));
    // The block at 655360, and the byte in it.
    let said = stderr(&ran);
    let (block, byte) = (700_001 / 65536 * 65536, 700_001 % 65536);
    let is_there = said.contains("READ: ") && said.contains("file b ");
    assert!(is_there && said.contains("wanted"), "{said}");
    let number = |behind: &str| {
        let rest = said.split(behind).nth(1).unwrap_or_default();
        rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u64>().ok())
    };
    let found = number("offset ").zip(number("at byte ")).map(|(block, byte)| block + byte);
    assert_eq!(found, Some(block + byte), "{said}");
    let named = "Data verification failed. Offset: 700001; Expected value: ";
    assert!(said.contains(named) && said.contains("Actual value: 88;"), "{said}");
    let salted = elbencho.run("-r -t 1 -s 1000008 -b 64k --verify 8 a");
    assert_eq!(salted.status.code(), Some(1), "another salt is another word");
}

#[test]
fn a_time_limit_ends_the_phase_and_the_run_in_time() {
    let _host = shared_host();
    let elbencho = Elbencho::new();
    elbencho.table("-w -s 1m f");
    let began = Instant::now();
    let table = elbencho.table("-r -F --rand --infloop --timelimit 1 -t 2 -b 4k f");
    assert!(began.elapsed().as_secs_f64() < 3.0, "{:?}", began.elapsed());
    assert!(!table.contains("RMFILES"), "no later phase runs: {table}");
    assert!(Path::new(&elbencho.path("f")).exists());
    let elapsed = last(&table, "READ", "Elapsed time");
    assert!(elapsed.starts_with("1.0"), "{table}");
}

#[test]
fn every_worker_counts_the_files_that_it_removes() {
    let _host = shared_host();
    let elbencho = Elbencho::new();
    elbencho.table("-w -t 6 -s 100000 -b 64k g[01-13]");
    let sizes: Vec<u64> = (1..=13)
        .map(|nth| fs::metadata(elbencho.path(&format!("g{nth:02}"))).expect("made").len())
        .collect();
    assert_eq!(sizes, [100_000; 13], "the last block is shorter");
    let removed = elbencho.table("-F -t 6 g[01-13]");
    assert_eq!(last(&removed, "RMFILES", "Files total"), "78", "13 files, 6 workers");
    let missing = elbencho.run("-r -b 4k g01");
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("`g01` does not exist"), "{}", stderr(&missing));
    assert!(!Path::new(&elbencho.path("g01")).exists());
}

#[test]
fn directories_take_turns_with_several_paths() {
    let (_host, bench) = (shared_host(), Elbencho::new());
    for path in ["a", "b"] {
        fs::create_dir(bench.path(path)).expect("a directory");
    }
    let made = bench.table("-d -w -t 2 -n 3 -N 2 -s 4k a b");
    assert_eq!((last(&made, "MKDIRS", "Dirs total"), last(&made, "WRITE", "Files total")), {
        ("6".to_owned(), "12".to_owned())
    });
    // Directory `d` of rank `r` is in the path numbered `r + d`.
    for (rank, dir, path) in [(0, 0, "a"), (0, 1, "b"), (0, 2, "a"), (1, 0, "b"), (1, 1, "a")] {
        let file = bench.path(&format!("{path}/r{rank}/d{dir}/r{rank}-f1"));
        assert_eq!(fs::metadata(&file).map(|file| file.len()).ok(), Some(4096), "{file}");
    }
    assert_eq!(counted(Path::new(&bench.path("a"))), (6, 2 + 3));
    let read = bench.table("--stat -r -F -D -t 2 -n 3 -N 2 -s 4k a b");
    assert_eq!((last(&read, "STAT", "Files total"), last(&read, "RMDIRS", "Dirs total")), {
        ("12".to_owned(), "6".to_owned())
    });
    for path in ["a", "b"] {
        assert_eq!(counted(Path::new(&bench.path(path))), (0, 0));
    }
}

/// Directories that exist are no error, in a second run and in a second repeat.
#[test]
fn directories_that_exist_are_made_again() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("d")).expect("a directory");
    for more in ["", "", " -i 2"] {
        let table = elbencho.table(&format!("-d -w -t 2 -n 1 -N 1 -s 4k --nolive{more} d"));
        assert_eq!(last(&table, "MKDIRS", "Dirs total"), "2", "{table}");
        assert_eq!(last(&table, "WRITE", "Files total"), "2", "{table}");
        let iterations: Vec<&str> =
            table.lines().filter(|line| line.starts_with("[Starting")).collect();
        let wanted = ["[Starting iteration 1 of 2...]", "[Starting iteration 2 of 2...]"];
        assert_eq!(iterations, if more.is_empty() { &[][..] } else { &wanted });
        let heads = table.lines().filter(|line| line.starts_with("OPERATION ")).count();
        assert_eq!(heads, if more.is_empty() { 1 } else { 2 }, "{table}");
    }
    fs::remove_dir_all(elbencho.path("d/r1/d0")).expect("removed");
    let dangling = elbencho.run("-w -t 2 -n 1 -N 1 -s 4k d");
    assert_eq!(dangling.status.code(), Some(1), "only a phase of -d makes directories");
}

/// Workers make their directories over and over, and each time counts.
#[test]
fn directories_are_made_until_the_time_limit() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("d")).expect("a directory");
    let table = elbencho.table("-d -w --infloop --timelimit 1 -t 2 -n 1 -N 1 -s 4k --nolive d");
    let total: u64 = last(&table, "MKDIRS", "Dirs total").parse().expect("a number");
    assert!(total > 2, "{table}");
    assert!(table.ends_with("---\nTerminating due to phase time limit.\n"), "{table}");
    assert!(!table.contains("WRITE"), "{table}");
}

/// Random offsets of small files, and checks of them, need no alignment.
#[test]
fn offsets_in_small_files_need_no_alignment() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("d")).expect("a directory");
    let log = elbencho.scratch.outside("ops");
    let shape = "-t 1 -n 1 -N 2 -s 64k -b 4k";
    let random = format!("--rand --norandalign {shape}");
    elbencho.table(&format!("-d -w --opslog {log} {random} d"));
    fn offsets(log: &str) -> Vec<u64> {
        let text = fs::read_to_string(log).expect("a log");
        text.lines()
            .filter_map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
                (line["op_name"] == "pwrite").then(|| line["offset"].as_u64().expect("a number"))
            })
            .collect::<Vec<u64>>()
    }
    let found = offsets(&log);
    assert_eq!(found.len(), 2 * 2 * 16);
    assert!(found.iter().any(|offset| offset % 8 != 0), "{found:?}");
    assert!(found.iter().all(|offset| *offset <= 60 << 10), "{found:?}");
    elbencho.table(&format!("-w --verify 3 {shape} d"));
    elbencho.table(&format!("-r --verify 3 {random} d"));
    assert_eq!(elbencho.run(&format!("-r --verify 4 {random} d")).status.code(), Some(1));
    elbencho.table("-w --verify 3 -s 1m -b 64k f");
    elbencho.table("-r --verify 3 --rand --norandalign -s 1m -b 64k f");
    // Any byte of any block is checked.
    let file = fs::OpenOptions::new().write(true).open(elbencho.path("f")).expect("the file");
    file.write_all_at(b"X", 700_001).expect("a byte");
    let ran = elbencho.run("-r --verify 3 --rand --norandalign --randamount 64m -s 1m -b 64k f");
    let said = stderr(&ran);
    assert!(said.contains("Offset: 700001; Expected value: ") && !ran.status.success(), "{said}");
    for more in ["--rand --norandalign", "--rwmixpct 30 --trunctosize"] {
        elbencho.table(&format!("-w --readinline {more} {shape} d"));
    }
}

/// Of a mix by blocks, whole files have one latency; only one by workers has files that are read.
#[test]
fn files_of_a_mix_by_blocks_have_one_latency() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("d")).expect("a directory");
    let line = "-d -w --rwmixpct 30 --trunctosize -n 1 -N 3 -s 64k -b 4k --lat d";
    let table = elbencho.table(line);
    assert!(table.contains("Files latency") && table.contains("IO rd latency"), "{table}");
    assert!(!table.contains("Files rd latency"), "{table}");
}

/// `--nodelerr` forgives what is missing, and nothing else.
#[test]
fn a_directory_that_is_not_empty_is_an_error() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("d")).expect("a directory");
    let shape = "-t 2 -n 1 -N 2 -s 4k d";
    elbencho.table(&format!("-d -w {shape}"));
    let full = elbencho.run(&format!("-D --nodelerr {shape}"));
    assert_eq!(full.status.code(), Some(1));
    assert!(stderr(&full).contains("Directory not empty"), "{}", stderr(&full));
    elbencho.table(&format!("-F -D {shape}"));
    let gone = elbencho.table(&format!("-F -D --nodelerr {shape}"));
    assert_eq!(last(&gone, "RMFILES", "Files total"), "4", "{gone}");
    assert_eq!(
        elbencho.run(&format!("-F {shape}")).status.code(),
        Some(1),
        "without it, it is one"
    );
}

/// A random mix makes its file as it goes, with an exact share of reads.
#[test]
fn a_mix_makes_its_file() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    let csv = elbencho.scratch.outside("r.csv");
    let line = "-w --rwmixpct 30 -t 2 -s 4m -b 16k --rand --nolive --log 1";
    let table = elbencho.table(&format!("{line} --csvfile {csv} newfile"));
    assert_eq!(fs::metadata(elbencho.path("newfile")).expect("made").len(), 4 << 20);
    // Of each hundred blocks of a worker the first thirty are read, its rank being the start.
    assert_eq!(last(&table, "RWMIX30", "IOs write"), "140", "{table}");
    assert_eq!(last(&table, "RWMIX30", "IOs read"), "116", "{table}");
    let sequential = elbencho.run("-w --rwmixpct 30 -t 1 -s 4m -b 16k other");
    assert_eq!(sequential.status.code(), Some(1), "nothing is there to be read");
}

#[test]
fn all_workers_make_and_remove_the_directories_that_they_share() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("d")).expect("a directory");
    let table = elbencho.table("-d -w -F -D -t 3 -n 1 -N 2 -s 4k --dirsharing d");
    assert_eq!(last(&table, "MKDIRS", "Dirs total"), "3", "{table}");
    assert_eq!(last(&table, "WRITE", "Files total"), "6", "{table}");
    assert_eq!(last(&table, "RMDIRS", "Dirs total"), "3", "{table}");
    assert_eq!(counted(Path::new(&elbencho.path("d"))), (0, 0));
}

/// Command lines that elbencho 3.1-10 runs.
#[test]
fn options_without_effect_are_accepted() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("d")).expect("a directory");
    elbencho.table("-w -t 2 -s 4m -b 64k --flock range --iodepth 4 --nolive f1");
    elbencho.table("-w -t 2 -s 4m -b 16k --rankoffset 1 --nolive f1");
    let inline = elbencho.table("-w -t 1 -s 1m -b 64k --readinline --dirsharing --nolive f2");
    assert_eq!(last(&inline, "WRITE", "Total MiB"), "1", "{inline}");
    elbencho.table("-d -w -t 2 -n 1 -N 3 -s 64k -b 4k --norandalign --rand --nolive d");
    let mixed = "-w -t 2 -n 1 -N 3 -s 64k -b 64k --limitwrite 50m --rwmixpct 30 --nolive d";
    elbencho.table(mixed);
    let empty = elbencho.table("d");
    assert_eq!(empty.lines().count(), 2, "no phase is a table without rows: {empty}");
    let small = elbencho.table("-d -w -t 2 -n 1 -N 1 -s 64k -b 4k --readinline --statinline d");
    assert_eq!(last(&small, "WRITE+s+r", "Files total"), "2", "{small}");
}

#[test]
fn half_of_the_variance_compresses_to_half() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    elbencho.table("-w -s 1m -b 64k --blockvarpct 50 f");
    let bytes = fs::read(elbencho.path("f")).expect("the file");
    // Runs of one word are what a compressor saves.
    let same = bytes.windows(16).step_by(8).filter(|pair| pair[..8] == pair[8..]).count();
    let share = same as f64 * 8.0 / bytes.len() as f64;
    assert!((0.48..0.52).contains(&share), "{share}");
}

#[test]
fn a_dry_run_and_a_version_have_elbenchos_words() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    let dry = elbencho.table("-w -r --dryrun -t 2 -s 4m -b 64k f");
    assert!(dry.starts_with("Phase: WRITE\n* Entries per thread: 1 | 0 K | 0 M\n"), "{dry}");
    assert!(dry.contains("Phase: READ\n") && dry.contains("* Bytes total:        4194304 | 4 MiB"));
    assert!(!Path::new(&elbencho.path("f")).exists(), "nothing is made");
    let version = elbencho.table("--version");
    assert!(version.starts_with("elbencho\n * Version: 3.1-10\n * Net protocol version: 3.1.3\n"));
}
