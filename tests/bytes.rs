//! Names that are not UTF-8: each command takes, prints, keeps and removes them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::{Scratch, shared_host};

/// A byte that begins no character.
const NAME: &[u8] = b"f\xff";

/// Runs a command line of bytes in the scratch directory.
fn run(scratch: &Scratch, line: &[u8]) -> Output {
    let words = line.split(|byte| *byte == b' ').map(OsStr::from_bytes);
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.args(words).current_dir(scratch.dir()).stdin(Stdio::null());
    command.env("CANDOR_FORCE", "1").output().expect("candor starts")
}

/// The same, of a line that succeeds; its standard output.
fn runs(scratch: &Scratch, line: &[u8]) -> String {
    let ran = run(scratch, line);
    let err = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(0), "{}: {err}", line.escape_ascii());
    String::from_utf8(ran.stdout).expect("output is text")
}

fn path(scratch: &Scratch, name: &[u8]) -> PathBuf {
    PathBuf::from(scratch.dir()).join(OsStr::from_bytes(name))
}

/// Names in the scratch directory.
fn names(scratch: &Scratch) -> Vec<OsString> {
    let entries = fs::read_dir(scratch.dir()).expect("the directory");
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

fn make(scratch: &Scratch, name: &[u8], bytes: usize) {
    fs::write(path(scratch, name), vec![7; bytes]).expect("a file");
}

#[test]
fn a_run_makes_reports_and_removes_files_of_such_names() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let words = b"run --target f\xff --size 64k --rw write --bs 4k --quiet --json j\xff";
    runs(&scratch, words);
    assert_eq!(names(&scratch), [OsStr::from_bytes(b"j\xff")], "its own file is removed");
    let text = fs::read_to_string(path(&scratch, b"j\xff")).expect("a report in UTF-8");
    let report: Value = serde_json::from_str(&text).expect("a report");
    assert_eq!(report["plan"]["target"][0]["path"], "f\u{efff}");

    runs(&scratch, b"run j\xff --quiet --json again");
    let shown = runs(&scratch, b"show j\xff");
    assert!(shown.contains(r"f\xff"), "{shown}");
    fs::remove_file(path(&scratch, b"j\xff")).expect("removed");
    fs::remove_file(path(&scratch, b"again")).expect("removed");

    runs(&scratch, &[&words[..words.len() - 10], b" --keep"].concat());
    assert_eq!(names(&scratch), [OsStr::from_bytes(NAME)]);
    let refused = run(&scratch, b"run --target f\xff --rw read --quiet --json f\xff");
    assert_eq!(refused.status.code(), Some(3), "the output is the target");
    let err = String::from_utf8(refused.stderr).expect("messages are text");
    assert!(err.contains(r"f\xff"), "{err}");
    assert_eq!(fs::metadata(path(&scratch, NAME)).expect("kept").len(), 64 << 10);
}

#[test]
fn a_directory_of_such_a_name_is_a_target() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    fs::create_dir(path(&scratch, b"d\xff")).expect("a directory");
    fs::write(path(&scratch, b"d\xff/g\xfe"), [0; 4096]).expect("a file");
    let found = runs(&scratch, b"tree d\xff --existing --phases read --json - --quiet");
    let report: Value = serde_json::from_str(&found).expect("a report");
    assert_eq!(report["plan"]["target"][0]["path"], "d\u{efff}");
    runs(&scratch, b"tree d\xff/t --files 20 --workers 2 --size 4k --quiet");
    let cached = runs(&scratch, b"cache status d\xff");
    assert!(cached.contains(r"d\xff/g\xfe"), "{cached}");
    runs(&scratch, b"check d\xff --seconds 1 --size 2m --quiet");
    let left = fs::read_dir(path(&scratch, b"d\xff")).expect("the directory").count();
    assert_eq!(left, 1, "own files are removed");
}

#[test]
fn fronts_use_files_of_such_names() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    runs(&scratch, b"fio --name=a --filename=f\xff --size=64k --rw=write --bs=4k --output=o\xff");
    assert_eq!(fs::metadata(path(&scratch, NAME)).expect("written").len(), 64 << 10);
    assert!(path(&scratch, b"o\xff").exists());
    fs::write(path(&scratch, b"job\xff"), b"[a]\nfilename=f\xff\nsize=64k\nrw=read\n").unwrap();
    let plan = runs(&scratch, b"convert fio job\xff");
    assert!(plan.contains(r#"path = "f\uefff""#), "{plan}");
    fs::write(path(&scratch, b"plan\xff"), plan).unwrap();
    runs(&scratch, b"run plan\xff --quiet");
    runs(&scratch, b"fio job\xff --write_iolog=log\xff");
    fs::remove_file(path(&scratch, NAME)).unwrap();

    runs(&scratch, b"elbencho -w -t 1 -s 64k -b 4k f\xff");
    assert_eq!(fs::metadata(path(&scratch, NAME)).expect("written").len(), 64 << 10);
    runs(&scratch, b"elbencho -F f\xff");
    assert!(!path(&scratch, NAME).exists());

    runs(&scratch, b"ior -w -k -b 64k -t 4k -o f\xff");
    assert_eq!(fs::metadata(path(&scratch, NAME)).expect("written").len(), 64 << 10);
    fs::remove_file(path(&scratch, NAME)).unwrap();
    runs(&scratch, b"ior -w -k -F -b 64k -t 4k -o f\xff");
    assert!(path(&scratch, b"f\xff.00000000").exists());

    runs(&scratch, b"mdtest -n 5 -d m\xff");
    fs::write(
        path(&scratch, b"v\xff"),
        b"sd=sd1,lun=v\xfe,size=1m\nwd=wd1,sd=sd1,xfersize=4k\n\
          rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1\n",
    )
    .unwrap();
    runs(&scratch, b"vdbench -f v\xff -o out\xff");
    assert!(path(&scratch, b"out\xff/summary.html").exists());
    assert!(path(&scratch, b"v\xfe").exists());
}

#[test]
fn commands_to_try_run_in_a_shell() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    make(&scratch, NAME, 4096);
    let ran = run(&scratch, b"run f\xff --rw read");
    let err = String::from_utf8(ran.stderr).expect("messages are text");
    assert!(err.contains(r"$'f\xff'"), "{err}");
}
