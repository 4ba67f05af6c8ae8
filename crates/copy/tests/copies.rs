//! Copies between files and pipes, without the words of any tool.

use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;

use candor_copy::{Amount, CopyPlan, Counts, Ended, Notice, Observer, copy};

/// Keeps what it hears.
#[derive(Default)]
struct Heard {
    notices: Vec<String>,
    turns: u64,
}

impl Observer for Heard {
    fn turn(&mut self, _: &Counts) {
        self.turns += 1;
    }

    fn notice(&mut self, notice: Notice, _: &Counts) {
        self.notices.push(format!("{notice:?}"));
    }
}

fn plan(input_block: usize, output_block: usize) -> CopyPlan {
    CopyPlan {
        input_block,
        output_block,
        skip: Amount::default(),
        seek: Amount::default(),
        count: None,
        one_to_one: false,
        pad: None,
        whole_blocks: false,
        tells_short_read: false,
        survives_read_errors: false,
        sparse: false,
        input_direct: false,
        output_direct: false,
        drops_input_pages: false,
        drops_output_pages: false,
        flush: None,
    }
}

/// Copies from there; what comes out, and what is heard.
fn copied(plan: &CopyPlan, input: impl AsFd) -> (Vec<u8>, Ended, Heard) {
    let mut output = tempfile::tempfile().expect("a file");
    let mut heard = Heard::default();
    let ended = copy(plan, input.as_fd(), output.as_fd(), None, &mut heard);
    let mut bytes = Vec::new();
    rewind(&mut output).read_to_end(&mut bytes).expect("read");
    (bytes, ended.expect("there is memory"), heard)
}

/// A stream of which each read gives one of these pieces, or its beginning, and then nothing.
fn pieces(pieces: &[&[u8]]) -> UnixDatagram {
    let (input, feed) = UnixDatagram::pair().expect("sockets");
    pieces.iter().chain(&[&b""[..]; 3]).for_each(|piece| {
        feed.send(piece).expect("it fits");
    });
    input
}

/// A pipe that holds these bytes.
fn pipe(bytes: &[u8]) -> PipeReader {
    let (input, mut feed) = io::pipe().expect("a pipe");
    feed.write_all(bytes).expect("it fits");
    input
}

fn rewind(file: &mut File) -> &mut File {
    io::Seek::rewind(file).expect("a file");
    file
}

fn blocks(counts: &Counts) -> [u64; 4] {
    let Counts { read_full, read_partial, written_full, written_partial, .. } = *counts;
    [read_full, read_partial, written_full, written_partial]
}

#[test]
fn short_reads_are_gathered_or_handed_on() {
    let stream = || pieces(&[b"abc", b"defg", b"hi"]);
    let (bytes, ended, _) = copied(&plan(4, 4), stream());
    assert_eq!((&*bytes, blocks(&ended.counts)), (&b"abcdefghi"[..], [1, 2, 2, 1]));
    let one_to_one = CopyPlan { one_to_one: true, tells_short_read: true, ..plan(4, 4) };
    let (_, ended, heard) = copied(&one_to_one, stream());
    assert_eq!(blocks(&ended.counts), [1, 2, 1, 2]);
    assert_eq!(heard.notices, ["ShortRead(3)"]);
    assert_eq!(heard.turns, 5, "a turn before each read, and behind the last");
    let padded = CopyPlan { pad: Some(b'-'), ..one_to_one.clone() };
    assert_eq!(copied(&padded, stream()).0, b"abc-defghi--");
    let whole = CopyPlan { whole_blocks: true, ..plan(4, 4) };
    assert_eq!(blocks(&copied(&whole, stream()).1.counts), [1, 1, 1, 1]);
}

#[test]
fn parts_are_passed_over_and_counted() {
    let count = Some(Amount { blocks: 1, bytes: 1 });
    let skip = Amount { blocks: 1, bytes: 1 };
    let some = CopyPlan { skip, count, ..plan(2, 3) };
    let (bytes, ended, _) = copied(&some, pipe(b"abcdefgh"));
    assert_eq!((&*bytes, blocks(&ended.counts)), (&b"def"[..], [1, 1, 1, 0]));
    let (bytes, ended, heard) = copied(&CopyPlan { skip, ..plan(8, 8) }, pipe(b"abc"));
    assert!(bytes.is_empty() && ended.is_good);
    assert_eq!(heard.notices, ["SkippedLess"]);
    let far = Amount { blocks: u64::MAX, bytes: 0 };
    let (_, ended, _) = copied(&CopyPlan { skip: far, ..plan(8, 8) }, pipe(b"abc"));
    assert!(!ended.is_good);
}

#[test]
fn faults_end_the_copy_with_their_counts() {
    let (full, zero) = (File::options().write(true).open("/dev/full"), File::open("/dev/zero"));
    let (full, zero) = (full.expect("/dev/full"), zero.expect("/dev/zero"));
    let mut heard = Heard::default();
    let ended = copy(&plan(4, 8), zero.as_fd(), full.as_fd(), None, &mut heard);
    let ended = ended.expect("there is memory");
    assert!(!ended.is_good && blocks(&ended.counts) == [2, 0, 0, 0]);
    assert!(heard.notices[0].starts_with("GatheredWriteFailed"), "{:?}", heard.notices);
    let directory = File::open("/").expect("a directory");
    let survives = CopyPlan { survives_read_errors: true, pad: Some(0), ..plan(4, 4) };
    let ended = copy(&survives, directory.as_fd(), full.as_fd(), None, &mut heard);
    assert!(!ended.expect("there is memory").is_good, "a directory holds nothing at any place");
    let huge = plan(usize::MAX >> 2, 1);
    let memory = copy(&huge, zero.as_fd(), full.as_fd(), None, &mut heard);
    assert!(memory.is_err_and(|memory| !memory.is_output && memory.bytes == huge.input_block));
}

#[test]
fn zeros_become_holes_and_the_length_stays() {
    let (input, mut output) = (tempfile::tempfile().expect("a file"), tempfile::tempfile());
    let output = output.as_mut().expect("a file");
    input.set_len(100_000).expect("a length");
    let sparse = CopyPlan { sparse: true, one_to_one: true, ..plan(4096, 4096) };
    let ended = copy(&sparse, input.as_fd(), output.as_fd(), None, &mut Heard::default());
    assert!(ended.is_ok_and(|ended| ended.is_good && ended.counts.bytes_written == 100_000));
    assert_eq!(output.metadata().expect("there").len(), 100_000);
    let blocks = std::os::unix::fs::MetadataExt::blocks(&output.metadata().expect("there"));
    assert_eq!(blocks, 0);
}
