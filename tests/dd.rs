//! candor called as dd, beside the dd that is installed.
//!
//! People's data depends on the copy: bytes, holes, lines and exit codes are held against the
//! installed tool's, over operands drawn at random and over faults that are made on purpose.

mod faults;
mod grid;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Loop, Mount, Scratch, quiet_host, root, shared_host, skip};

/// candor under the name of dd.
struct Dd {
    link: String,
    scratch: Scratch,
}

impl Dd {
    fn new() -> Dd {
        let scratch = Scratch::new();
        let link = scratch.outside("dd");
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        Dd { link, scratch }
    }

    fn command(&self, operands: &[&str]) -> Command {
        of(&self.link, operands, &self.scratch.dir())
    }

    fn run(&self, operands: &[&str]) -> Output {
        self.command(operands).output().expect("dd starts")
    }

    /// Runs it with this input on its stdin.
    fn fed(&self, operands: &[&str], input: &[u8]) -> Output {
        fed(self.command(operands), input)
    }
}

/// A dd in that directory, in the C locale.
fn of(program: &str, operands: &[&str], dir: &str) -> Command {
    let mut command = Command::new(program);
    // The installed tool says what it is called as.
    command.arg0("dd").args(operands).current_dir(dir).env("LC_ALL", "C").stdin(Stdio::null());
    command.env_remove("CANDOR_VERDICT").env_remove("CANDOR_FORCE");
    command
}

fn fed(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("dd starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // Whoever reads only a part of it closes the pipe early.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("dd ends")
}

/// The installed dd, if it is that of coreutils.
fn installed() -> Option<&'static str> {
    let version = Command::new("/usr/bin/dd").arg("--version").output();
    match version {
        Ok(output) if output.stdout.starts_with(b"dd (coreutils) 9") => Some("/usr/bin/dd"),
        _ => {
            skip("no dd of coreutils 9 is installed");
            None
        }
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The lines on stderr, without times and rates, and without those of progress.
fn lines(output: &Output) -> Vec<String> {
    fn line(line: &str) -> String {
        match line.split_once(" copied, ") {
            Some((amount, _)) => format!("{amount} copied"),
            None => line.to_owned(),
        }
    }
    stderr(output).lines().filter(|line| !line.starts_with('\r')).map(line).collect()
}

#[test]
fn copies_are_those_of_the_file() {
    let dd = Dd::new();
    let content: Vec<u8> = (0..100_003_u32).map(|n| (n.wrapping_mul(n) >> 5) as u8).collect();
    fs::write(dd.scratch.path("a"), &content).expect("written");
    for operands in [
        &["if=a", "of=b"][..],
        &["if=a", "of=b", "bs=4k"],
        &["if=a", "of=b", "ibs=3", "obs=7000"],
        &["if=a", "of=b", "bs=1M", "conv=fsync"],
        &["if=a", "of=b", "bs=64k", "iflag=nocache", "oflag=nocache"],
    ] {
        let output = dd.run(operands);
        assert!(output.status.success(), "{operands:?}: {}", stderr(&output));
        assert!(fs::read(dd.scratch.path("b")).expect("read") == content, "{operands:?}");
    }
    let output = dd.run(&["if=a", "bs=100"]);
    assert!(output.stdout == content);
    assert_eq!(&lines(&output)[..2], ["1000+1 records in", "1000+1 records out"]);
}

#[test]
fn holes_stay_holes() {
    let dd = Dd::new();
    let mut content = vec![0; 1 << 20];
    content[300_000..300_100].fill(7);
    fs::write(dd.scratch.path("a"), &content).expect("written");
    let blocks = |name: &str| fs::metadata(dd.scratch.path(name)).expect("there").blocks();
    for to in ["of=b", "of=c"] {
        let manner = if to == "of=c" { "conv=sparse" } else { "conv=notrunc" };
        assert!(dd.run(&["if=a", to, "bs=4k", manner]).status.success());
    }
    assert!(fs::read(dd.scratch.path("c")).expect("read") == content);
    assert!(blocks("c") < blocks("b") / 4, "{} of {}", blocks("c"), blocks("b"));
    let hole = fs::File::open(dd.scratch.path("c")).expect("open");
    let at = rustix::fs::seek(&hole, rustix::fs::SeekFrom::Hole(0)).expect("it seeks");
    assert_eq!(at, 0, "the file begins with a hole");
    // A pipe cannot seek, so zeros are written.
    assert!(dd.run(&["if=a", "bs=4k", "conv=sparse"]).stdout == content);
}

#[test]
fn records_and_ebcdic_are_those_of_the_manual() {
    let dd = Dd::new();
    let text = b"one\ntwenty-one\n\n";
    let records = dd.fed(&["conv=block", "cbs=8"], text);
    assert_eq!(records.stdout, b"one     twenty-o        ");
    assert_eq!(lines(&records)[2], "1 truncated record");
    let back = dd.fed(&["conv=unblock", "cbs=8"], &records.stdout);
    assert_eq!(back.stdout, b"one\ntwenty-o\n\n");
    let ebcdic = dd.fed(&["conv=ebcdic", "cbs=4"], b"A1\n");
    assert_eq!(ebcdic.stdout, [0xc1, 0xf1, 0x40, 0x40]);
    assert_eq!(dd.fed(&["conv=ascii", "cbs=4"], &ebcdic.stdout).stdout, b"A1\n");
    assert_eq!(dd.fed(&["conv=ibm"], b"[]").stdout, [0xad, 0xbd]);
}

#[test]
fn signals_are_answered() {
    let dd = Dd::new();
    let start = || {
        let output = tempfile::tempfile().expect("a file");
        let mut command = dd.command(&["bs=1"]);
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        command.stdout(output.try_clone().expect("a second handle"));
        let mut child = command.spawn().expect("dd starts");
        child.stdin.as_mut().expect("a pipe").write_all(b"abc").expect("written");
        // Its handlers are there before it copies, and then it waits for more.
        while output.metadata().expect("there").len() < 3 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        child
    };
    let copied = ["3+0 records in", "3+0 records out", "3 bytes copied"];
    let mut child = start();
    kill_process(Pid::from_child(&child), Signal::USR1).expect("it runs");
    child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(lines(&output), [copied, copied].concat(), "{}", stderr(&output));

    let child = start();
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.signal(), Some(2));
    assert_eq!(lines(&output), copied);
}

#[test]
fn the_sentence_stands_where_it_is_asked_for() {
    let dd = Dd::new();
    let operands = ["if=/dev/zero", "of=b", "bs=64k", "count=16"];
    assert!(!stderr(&dd.run(&operands)).contains("candor"), "stderr is no terminal");
    let output = dd.command(&operands).env("CANDOR_VERDICT", "stderr").output().expect("it runs");
    let told = stderr(&output);
    let last = told.lines().last().unwrap_or_default();
    assert!(last.starts_with("candor: this is the rate of "), "{told}");
    if dd.scratch.on_disk() {
        assert!(last.contains("writes to the page cache"), "{told}");
        assert!(last.contains("which nothing flushed"), "{told}");
    }
    let (_, line) = last.split_once("; the storage: ").expect("a command");
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    let checked = command.args(&words).arg("--dry-run").current_dir(dd.scratch.dir()).output();
    let checked = checked.expect("candor starts");
    assert!(checked.status.success(), "{line}: {}", stderr(&checked));
}

#[test]
fn direct_writes_are_seen_at_the_device() {
    let _turn = quiet_host();
    let dd = Dd::new();
    let Some(device) = Loop::direct(&dd.scratch, 16 << 20) else { return };
    let to = format!("of={}", device.node);
    let mut command = dd.command(&["if=/dev/zero", &to, "bs=1M", "count=8", "oflag=direct"]);
    let output = command.env("CANDOR_VERDICT", "stderr").output().expect("it runs");
    let told = stderr(&output);
    assert!(told.contains("direct writes") && told.contains(" counted "), "{told}");
    assert!(told.contains(&format!("; the storage: candor check {}", device.node)), "{told}");
}

#[test]
fn a_flush_reaches_the_device() {
    let _turn = quiet_host();
    let dd = Dd::new();
    let Some(device) = Loop::direct(&dd.scratch, 4 << 20) else { return };
    let flushes = || {
        let stat = fs::read_to_string(device.sys("stat")).unwrap_or_default();
        stat.split_whitespace().nth(15).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0)
    };
    let to = format!("of={}", device.node);
    for (flush, is_flushed) in
        [("conv=notrunc", false), ("conv=fsync", true), ("conv=fdatasync", true)]
    {
        let before = flushes();
        let output = dd.run(&["if=/dev/zero", &to, "bs=64k", "count=4", flush]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(flushes() > before, is_flushed, "{flush}");
    }
}

#[test]
fn a_device_that_others_hold_is_not_written() {
    let _turn = shared_host();
    let dd = Dd::new();
    let Some(device) = Loop::blank(&dd.scratch, 16 << 20) else { return };
    let Some(mount) = Mount::ext4(&dd.scratch, device, "defaults") else { return };
    let (node, point) = (mount.node().to_owned(), mount.path(""));
    let to = format!("of={node}");
    let operands = ["if=/dev/null", to.as_str(), "bs=4k", "count=1"];
    let output = dd.run(&operands);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("is not written: it is in use by"), "{told}");
    assert!(told.contains(point.trim_end_matches('/')), "{told}");
    assert!(told.contains("CANDOR_FORCE=1"), "{told}");
    let mut forced = dd.command(&operands);
    assert!(forced.env("CANDOR_FORCE", "1").output().expect("it runs").status.success());
    // A shell that opened the device for it does not help.
    let mut redirected = dd.command(&["if=/dev/null"]);
    let file = fs::File::options().write(true).open(&node).expect("it opens");
    let output = redirected.stdout(file).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn help_and_version_are_data() {
    let dd = Dd::new();
    let help = dd.run(&["--help"]);
    assert!(help.status.success() && help.stderr.is_empty());
    assert!(String::from_utf8_lossy(&help.stdout).contains("conv=WORDS"));
    assert!(dd.run(&["--version"]).stdout.starts_with(b"dd (candor"));
    let mut words = Command::new(env!("CARGO_BIN_EXE_candor"));
    let output = words.args(["dd", "if=/dev/null", "of=/dev/null"]).output().expect("it runs");
    assert_eq!(lines(&output)[0], "0+0 records in");
}
