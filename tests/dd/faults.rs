//! Copies into faults: no room, bad blocks, streams that nobody has.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;

use super::*;

/// Both tools with the same operands: ours, and the installed one's where there is one.
fn pair(dd: &Dd, operands: &[&str]) -> (Output, Option<Output>) {
    let theirs = installed()
        .map(|program| of(program, operands, &dd.scratch.dir()).output().expect("dd starts"));
    (dd.run(operands), theirs)
}

fn agree(ours: &Output, theirs: Option<&Output>) {
    if let Some(theirs) = theirs {
        assert_eq!(lines(ours), lines(theirs));
        assert_eq!(ours.status.code(), theirs.status.code());
        assert!(ours.stdout == theirs.stdout);
    }
}

#[test]
fn a_full_filesystem_keeps_the_counts() {
    let dd = Dd::new();
    let Some(mount) = Mount::tmpfs(&dd.scratch, "256k") else { return };
    let to = format!("of={}", mount.path("b"));
    for operands in [
        ["if=/dev/zero", &to, "bs=10k", "status=noxfer"],
        ["if=/dev/zero", &to, "obs=10k", "status=noxfer"],
    ] {
        let (ours, theirs) = pair(&dd, &operands);
        agree(&ours, theirs.as_ref());
        assert_eq!(ours.status.code(), Some(1));
        assert!(stderr(&ours).contains("No space left on device"), "{}", stderr(&ours));
        assert!(stderr(&ours).contains("\n25+"), "{}", stderr(&ours));
        assert_eq!(fs::metadata(mount.path("b")).expect("it is there").len(), 256 << 10);
    }
}

#[test]
fn bad_blocks_cost_a_block_where_the_copy_is_to_go_on() {
    let dd = Dd::new();
    // The first page of a process's memory cannot be read, and no page is ever mapped there.
    for operands in [
        &["if=/proc/self/mem", "bs=16", "count=2"][..],
        &["if=/proc/self/mem", "bs=16", "count=2", "conv=noerror,sync"],
        &["if=/proc/self/mem", "bs=16", "count=2", "conv=noerror,sync,block", "cbs=4"],
    ] {
        let (ours, theirs) = pair(&dd, operands);
        agree(&ours, theirs.as_ref());
        let goes_on = operands.len() > 3;
        assert_eq!(ours.status.success(), goes_on, "{}", stderr(&ours));
        assert!(stderr(&ours).contains("error reading '/proc/self/mem': Input/output error"));
        assert_ne!(goes_on, ours.stdout.is_empty());
    }
    // A directory has nothing to read at any place.
    let output = dd.run(&["if=/tmp", "conv=noerror,sync"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

/// Runs a shell's line with `dd` as either tool.
fn shell(dd: &Dd, line: &str) -> [Option<Output>; 2] {
    // The installed tool says what it is called as.
    let line = format!("dd() {{ (exec -a dd \"$DD\" \"$@\"); }}; {line}");
    let run = |program: &str| {
        let mut command = of("bash", &["-c", &line], &dd.scratch.dir());
        command.env("DD", program).output().expect("a shell")
    };
    [Some(run(&dd.link)), installed().map(run)]
}

#[test]
fn streams_that_are_closed_or_that_nobody_reads() {
    let dd = Dd::new();
    fs::write(dd.scratch.path("a"), "abc").expect("written");
    for line in [
        "dd if=a >&-",
        "dd of=b <&-",
        "dd if=a of=b <&- >&-",
        "dd if=/dev/zero bs=4k | head -c 10 > /dev/null; exit ${PIPESTATUS[0]}",
        "trap '' PIPE; dd if=/dev/zero bs=1M count=9 status=none | head -c 1 > /dev/null; \
         exit ${PIPESTATUS[0]}",
        "dd if=a of=/dev/full",
        "printf abcd | dd bs=2 seek=3 | cat",
        "true | dd iflag=nocache count=0",
        "dd if=/dev/null of=/dev/null conv=fsync",
        "dd if=a bs=1 count=3 status=none of=b; dd if=a bs=2 seek=1 >> b; cat b",
        "(dd bs=1 count=1; dd bs=1 skip=1) < a",
    ] {
        let [ours, theirs] = shell(&dd, line);
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return };
        assert_eq!(lines(&ours), lines(&theirs), "{line}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{line}");
        assert!(ours.stdout == theirs.stdout, "{line}");
    }
}

#[test]
fn short_reads_are_those_of_the_installed_dd() {
    let Some(installed) = installed() else { return };
    let dd = Dd::new();
    let pieces: [&[u8]; 7] = [b"ab", b"cde", b"f", b"ghi", b"", b"", b""];
    for operands in [
        &["bs=3", "count=2"][..],
        &["bs=3", "skip=1"],
        &["bs=3", "skip=2B"],
        &["bs=3", "count=7B"],
        &["bs=3", "count=2B"],
        &["bs=3", "iflag=fullblock", "count=2"],
        &["bs=3", "conv=sync"],
        &["bs=4", "conv=sync,swab"],
        &["obs=4"],
        &["bs=5", "count=9", "status=none"],
        &["ibs=3", "obs=3", "count=3"],
    ] {
        let [ours, theirs] = [dd.link.as_str(), installed].map(|program| {
            let (input, feed) = UnixDatagram::pair().expect("sockets");
            for piece in pieces {
                feed.send(piece).expect("it fits");
            }
            let mut command = of(program, operands, &dd.scratch.dir());
            command.stdin(OwnedFd::from(input)).output().expect("dd starts")
        });
        agree(&ours, Some(&theirs));
        assert!(!ours.stdout.is_empty(), "{operands:?}");
    }
}

#[test]
fn devices_end_where_they_end() {
    let _turn = shared_host();
    let dd = Dd::new();
    let (Some(device), true) = (Loop::new(&dd.scratch, 64 << 10, &[]), root()) else { return };
    let (from, to) = (format!("if={}", device.node), format!("of={}", device.node));
    for operands in [
        &[from.as_str(), "skip=127"][..],
        &[&from, "skip=128"],
        &[&from, "skip=200"],
        &[&from, "iseek=65530B", "bs=1"],
        &["if=/dev/zero", &to, "bs=3000"],
        &["if=/dev/zero", &to],
        &["if=/dev/zero", &to, "ibs=3000", "obs=2999"],
        &["if=/dev/zero", &to, "seek=500", "count=1"],
        &["if=/dev/zero", &to, "seek=127", "count=1", "conv=notrunc"],
        &[&from, "iflag=direct", "bs=600", "count=1"],
        &[&from, "iflag=direct", "bs=4k", "count=3"],
    ] {
        let (ours, theirs) = pair(&dd, operands);
        agree(&ours, theirs.as_ref());
    }
}

#[test]
fn blocks_that_cannot_be_read_become_zeros() {
    let _turn = shared_host();
    let dd = Dd::new();
    let Some(device) = Loop::new(&dd.scratch, 64 << 10, &[]) else { return };
    // Behind the end of its file a loop device has nothing to read.
    let file = fs::File::options().write(true).open(&device.backing).expect("the file");
    file.set_len(32 << 10).expect("a shorter file");
    let from = format!("if={}", device.node);
    for operands in [
        &[from.as_str(), "bs=4k"][..],
        &[&from, "bs=4k", "conv=noerror,sync"],
        &[&from, "bs=4k", "conv=noerror"],
        &[&from, "bs=16k", "conv=noerror,sync", "iflag=fullblock"],
        &[&from, "ibs=4k", "obs=1k", "conv=noerror,sync", "count=12"],
    ] {
        let (ours, theirs) = pair(&dd, operands);
        agree(&ours, theirs.as_ref());
        let content = fs::read(&device.backing).expect("read");
        assert!(ours.stdout.starts_with(&content[..24 << 10]), "{}", stderr(&ours));
    }
}

#[test]
fn links_and_names_that_need_quotes() {
    let dd = Dd::new();
    fs::write(dd.scratch.path("a b"), "abc").expect("written");
    symlink("a b", dd.scratch.path("l")).expect("a link");
    for operands in [
        &["if=a b", "bs=1", "skip=5"][..],
        &["if=it's"],
        &["if=x\ny"],
        &["if="],
        &["if=l", "iflag=nofollow"],
        &["if=a b", "iflag=directory"],
        &["if=a b", "of=a b/"],
        &["if=a b", "of=l", "conv=excl"],
        &["if=a b", "of=n", "conv=nocreat"],
        &["if=a b", "of=n", "seek=9223372036854775807"],
        &["if=a b", "of=/dev/null", "skip=9223372036854775807"],
        &["if=a b", "bs=1E"],
        &["if=a b", "of=n", "seek=3", "bs=2"],
    ] {
        let (ours, theirs) = pair(&dd, operands);
        agree(&ours, theirs.as_ref());
    }
}
