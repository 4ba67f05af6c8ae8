//! candor called as elbencho: what it does to files beside reading and writing them, in directories
//! and in files that are named.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::elbencho::{Elbencho, last};
use crate::support::shared_host;

/// A directory of the scratch folder, with files of two workers in it.
fn with_tree(line: &str) -> Elbencho {
    let elbencho = Elbencho::new();
    fs::create_dir(elbencho.path("tree")).expect("a directory");
    elbencho.table(&format!("-d -w {line} tree"));
    elbencho
}

fn length(elbencho: &Elbencho, name: &str) -> u64 {
    fs::metadata(elbencho.path(name)).expect("there").len()
}

/// Process that holds a lock on all bytes of a file, until its input ends.
struct Holder(Child);

impl Holder {
    /// Locks bytes of a file from there on.
    fn of(path: &str, from: u64) -> Option<Holder> {
        let program = "import fcntl, sys\nfile = open(sys.argv[1], 'r+b')\n\
                       fcntl.lockf(file, fcntl.LOCK_EX, 0, int(sys.argv[2]))\n\
                       print('held', flush=True)\nsys.stdin.read()";
        let mut command = Command::new("python3");
        command.args(["-c", program, path, &from.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let mut line = String::new();
        let said = child.stdout.as_mut().map(std::io::BufReader::new);
        std::io::BufRead::read_line(&mut said?, &mut line).ok()?;
        assert_eq!(line, "held\n");
        Some(Holder(child))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// True where the kernel shows somebody that waits for a lock on that file.
fn is_awaited(path: &str) -> bool {
    let inode = format!(":{} ", fs::metadata(path).expect("there").ino());
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    locks.lines().any(|line| line.contains("->") && line.contains(&inode))
}

#[test]
fn locks_wait_for_those_of_other_processes() {
    let _host = shared_host();
    let elbencho = with_tree("-t 2 -n 1 -N 3 -s 8k -b 4k");
    elbencho.table("-w -s 64k f");
    let (file, small) = (elbencho.path("f"), elbencho.path("tree/r1/d0/r1-f1"));
    let of_tree = "-t 2 -n 1 -N 3 -s 8k -b 4k tree";
    for (path, line) in [
        (&file, "-r -t 2 -b 4k --flock full f".to_owned()),
        (&file, "-w -s 64k -b 4k --mmap --flock range f".to_owned()),
        (&small, format!("-r --flock range {of_tree}")),
        (&small, format!("-w --mmap --flock full {of_tree}")),
    ] {
        let Some(holder) = Holder::of(path, 4096) else {
            return crate::support::skip("there is no python3 to hold a lock");
        };
        let mut child = elbencho
            .command(&line.split(' ').collect::<Vec<_>>())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let began = Instant::now();
        while !is_awaited(path) && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(is_awaited(path), "{line}");
        assert_eq!(child.try_wait().expect("known"), None, "it waits: {line}");
        drop(holder);
        assert_eq!(child.wait().expect("ended").code(), Some(0), "{line}");
    }
    // Bytes behind the file are no bytes of a block, but bytes of the file.
    let _holder = Holder::of(&file, 1 << 30);
    elbencho.table("-r -b 4k --flock range f");
}

#[test]
fn files_are_emptied_extended_and_allocated() {
    let _host = shared_host();
    let shape = "-t 2 -n 1 -N 2 -s 64k -b 4k";
    let elbencho = with_tree(shape);
    let (small, large) = ("tree/r1/d0/r1-f1", "f");
    elbencho.table("-w -s 64k f");
    let shorter = "-t 2 -n 1 -N 2 -s 8k -b 4k";
    for (trunc, bytes) in [("", 65536), (" --trunc", 8192)] {
        elbencho.table(&format!("-w{trunc} {shorter} tree"));
        assert_eq!(length(&elbencho, small), bytes, "{trunc}");
        elbencho.table(&format!("-w{trunc} -s 8k f"));
        assert_eq!(length(&elbencho, large), bytes, "{trunc}");
    }
    elbencho.table("-w --trunc --mmap -s 16k -b 4k f");
    assert_eq!(length(&elbencho, large), 16384);
    // Nothing is written in the write phase: the length is that of the options.
    for (option, has_blocks) in [("--trunctosize", false), ("--preallocfile", true)] {
        elbencho.table(&format!("-w --trunc {option} --rwmixpct 100 {shape} tree"));
        let file = fs::metadata(elbencho.path(small)).expect("there");
        assert_eq!((file.len(), file.blocks() > 0), (65536, has_blocks), "{option}");
    }
}

#[test]
fn random_places_in_small_files_are_written_once_each() {
    let _host = shared_host();
    let shape = "-t 2 -n 1 -N 2 -s 64k -b 4k";
    let elbencho = with_tree(&format!("{shape} --rand --trunc"));
    let file = elbencho.path("tree/r0/d0/r0-f1");
    let bytes = fs::read(&file).expect("the file");
    assert_eq!(bytes.len(), 65536);
    let is_hole = |block: &[u8]| block.iter().all(|byte| *byte == 0);
    assert!(!bytes.chunks(4096).any(is_hole), "each block is written");
    let read = elbencho.table(&format!("-r --rand {shape} tree"));
    assert_eq!(last(&read, "READ", "Files total"), "4");
}

#[test]
fn words_are_read_back_and_mapped_and_many_in_flight() {
    let _host = shared_host();
    let shape = "-t 2 -n 1 -N 3 -s 64k -b 16k --verify 9";
    let elbencho = with_tree(&format!("{shape} --verifydirect"));
    for line in ["--mmap --verifydirect --madv rand,willneed", "--direct --iodepth 4"] {
        elbencho.table(&format!("-w -r {line} {shape} tree"));
        let bytes = fs::read(elbencho.path("tree/r1/d0/r1-f2")).expect("the file");
        let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        assert!(words.zip(0..).all(|(word, nth)| word == 8 * nth + 9), "{line}");
    }
    let file = File::options().write(true).open(elbencho.path("tree/r1/d0/r1-f2")).expect("it");
    file.write_all_at(b"X", 50_000).expect("a byte");
    let read = elbencho.run(&format!("-r --mmap {shape} tree"));
    let said = String::from_utf8_lossy(&read.stderr).into_owned();
    assert_eq!((read.status.code(), said.contains("r1-f2")), (Some(1), true), "{said}");
    file.set_len(20_000).expect("cut");
    let read = elbencho.run(&format!("-r --mmap {shape} tree"));
    let said = String::from_utf8_lossy(&read.stderr).into_owned();
    assert_eq!(
        (read.status.code(), said.contains("Input/output error")),
        (Some(1), true),
        "{said}"
    );
}

#[test]
fn small_files_are_read_beside_writes() {
    let _host = shared_host();
    // A hundred blocks of each worker: seventy are read, whatever its rank.
    let shape = "-t 2 -n 1 -N 1 -s 25m -b 256k";
    let elbencho = with_tree(shape);
    let mixed = elbencho.table(&format!("-w --rwmixpct 70 {shape} tree"));
    assert_eq!(last(&mixed, "RWMIX70", "MiB write"), "15", "{mixed}");
    assert_eq!(last(&mixed, "RWMIX70", "MiB read"), "35", "{mixed}");
    let shape = "-t 3 -n 1 -N 2 -s 8k";
    let elbencho = with_tree(shape);
    let first = |name: &str| fs::read(elbencho.path(name)).expect("a file");
    let names = ["tree/r0/d0/r0-f1", "tree/r1/d0/r1-f0", "tree/r2/d0/r2-f1"];
    for name in names {
        fs::write(elbencho.path(name), [7; 8192]).expect("written");
    }
    let mixed = elbencho.table(&format!("-w --rwmixthr 1 {shape} tree"));
    assert_eq!(
        last(&mixed, "MIX-T1", "Files/s read").parse::<u64>().map(|rate| rate > 0),
        Ok(true)
    );
    let is_old = names.map(|name| first(name) == [7; 8192]);
    assert_eq!(is_old, [true, false, false], "the first worker reads, the others write");
    assert!(Path::new(&elbencho.path("tree/r2/d0/r2-f0")).exists());
}
