use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::options::Skip;
use crate::options::defaults;

fn read_as(given: &TraceOptions, text: &str) -> Result<Recorded, String> {
    let bytes = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let read = super::super::read("t.log", bytes, given, &|_, _| None);
    read.map_err(|fault| format!("{fault}; {}", fault.remedy))
}

fn read(text: &str) -> Result<Recorded, String> {
    read_as(&defaults().trace, text)
}

/// Steps as `time file op offset length`.
fn message(recorded: &Recorded) -> Vec<String> {
    recorded
        .steps
        .iter()
        .map(|step| {
            let (at, name) = (step.at_ns / 1000, step.action.name());
            format!("{at} {} {name} {} {}", step.file, step.offset, step.length)
        })
        .collect()
}

const THREE: &str = "fio version 3 iolog
100 f add
101 g add
102 f open
110 f write 0 4096
1110 g open
1110 g read 20000 1000
1120 f sync 0 0
1130 g datasync 0 0
1140 f trim 8192 4096
1150 f close
1150 g close
";

#[test]
fn version_3_has_times() {
    let recorded = read(THREE).expect("a trace");
    assert_eq!(recorded.files, ["f", "g"]);
    assert!(recorded.remarks.is_empty() && recorded.depth.is_none());
    assert_eq!(
        message(&recorded),
        [
            "10 0 write 0 4096",
            "1010 1 read 20000 1000",
            "1020 0 fsync 0 0",
            "1030 1 fdatasync 0 0",
            "1040 0 trim 8192 4096",
        ]
    );
}

#[test]
fn times_that_go_back_are_no_time() {
    let text =
        "fio version 3 iolog\n5 f add\n5 f open\n400 f read 0 1\n300 f read 1 1\n500 f read 2 1";
    assert_eq!(
        message(&read(text).expect("a trace")),
        ["395 0 read 0 1", "395 0 read 1 1", "595 0 read 2 1"]
    );
}

#[test]
fn version_2_waits() {
    let text = "fio version 2 iolog\nf add\nf open\nf read 0 512\nf wait 20 0\nf read 512 512\n\
                f wait 10 0\nf write 0 512\nf wait 30 0\nf close\n";
    let recorded = read(text).expect("a trace");
    assert_eq!(
        message(&recorded),
        ["0 0 read 0 512", "20000 0 read 512 512", "20000 0 write 0 512"]
    );
    assert_eq!(recorded.remarks.len(), 1);
    assert_eq!((&*recorded.remarks[0].place, recorded.remarks[0].times), ("t.log:5", 3));
    // The scale is for times of lines.
    let faster = TraceOptions { time_scale: 400, ..defaults().trace };
    assert_eq!(read_as(&faster, text).expect("a trace").steps[1].at_ns, 20_000_000);
}

#[test]
fn options_change_what_is_replayed() {
    let with = |change: fn(&mut TraceOptions)| {
        let mut given = defaults().trace;
        change(&mut given);
        read_as(&given, THREE).expect("a trace")
    };
    let one = with(|given| given.redirect = Some("/dev/x".into()));
    assert_eq!(one.files, ["/dev/x"]);
    assert!(one.steps.iter().all(|step| step.file == 0));
    let times = |recorded: &Recorded| recorded.steps[1].at_ns / 1000;
    assert_eq!(times(&with(|given| given.no_stall = true)), 0);
    assert_eq!(times(&with(|given| given.time_scale = 200)), 505);
    assert_eq!(times(&with(|given| given.time_scale = 50)), 2020);
    let offsets = |recorded: Recorded| (recorded.steps[1].offset, recorded.steps[1].length);
    assert_eq!(offsets(with(|given| given.scale = 3)), (6666, 1000));
    assert_eq!(offsets(with(|given| given.align = 8192)), (16384, 1000));
    assert_eq!(offsets(with(|given| (given.scale, given.align) = (3, 512))), (6656, 1000));
    let skip = with(|given| {
        given.skip = Skip { write: true, trim: true, flush: true, read: false };
    });
    assert_eq!(message(&skip), ["1010 1 read 20000 1000"]);
    assert_eq!(skip.files, ["f", "g"], "what is opened is opened all the same");
}

#[test]
fn oddities_are_passed_over_with_a_remark() {
    let text = "fio version 3 iolog\n0 a b add\n0 a b open\n\n# rest\n0 a b read 0 4096 junk\n\
                0 a b wait 100 0\n0 a b read 0 0\n0 a b sync\nfio version 3 iolog\n9 a b read 0 1\n\
                12 a b wri";
    let recorded = read(text).expect("a trace");
    assert_eq!(recorded.files, ["a b"]);
    assert_eq!(message(&recorded), ["0 0 read 0 4096", "0 0 fsync 0 0", "0 0 read 0 1"]);
    let places: Vec<&str> = recorded.remarks.iter().map(|remark| &*remark.place).collect();
    assert_eq!(places, ["t.log:7", "t.log:8", "t.log:10", "t.log:12"]);
}

#[test]
fn what_is_wrong_is_reported_with_line_column_and_word() {
    let begin = "fio version 3 iolog\n0 f add\n0 f open\n";
    let long = format!("{begin}0 {} open\n", "x".repeat(20_000));
    for (text, sentence) in [
        ("", "t.log:1:1: the trace is empty; begin it with `fio version 3 iolog`"),
        ("0, 0, 4096\n", "t.log:1:1: `0, 0, 4096` is of version 1 of fio's traces"),
        ("fio version 4 iolog\n", "t.log:1:1: `fio version 4 iolog` is not the first line"),
        ("fio version 3 iolog\n", "t.log: the trace has no operation that is replayed; "),
        (&*long, "t.log:4:1: the line has more than 16384 bytes"),
        (
            &format!("{begin}0 f raed 0 4096\n"),
            "t.log:4:5: `raed` is no action; did you mean `read`?; use one of add, open",
        ),
        (&format!("{begin}0 f\n"), "t.log:4:1: `0 f` has no file and action; a line is `time file"),
        (&format!("{begin}x f read 0 1\n"), "t.log:4:1: `x` is no time in microseconds; "),
        (&format!("{begin}0 f read x 4096\n"), "t.log:4:10: `x` is no offset in bytes; "),
        (&format!("{begin}0 f read 0 4k\n"), "t.log:4:12: `4k` is no length in bytes; "),
        (&format!("{begin}0 f read -1 4\n"), "t.log:4:10: `-1` is no offset in bytes; "),
        (&format!("{begin}0 f read 0\n"), "t.log:4:5: `read` has no offset and length; "),
        (&format!("{begin}0 f read 0 9999999999\n"), "t.log:4:10: 9999999999B are more than"),
        (&format!("{begin}0 f read 9223372036854775807 1\n"), "t.log:4:10: 92233720368"),
        (
            &format!("{begin}0 ff read 0 1\n"),
            "t.log:4:3: `ff` was not added; did you mean `f`?; put a line `ff add` in front",
        ),
        (
            &format!("{begin}0 f close\n0 f read 0 1\n"),
            "t.log:5:3: `f` is not open; put a line `f open` in front",
        ),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.starts_with(sentence), "{error}");
    }
}

/// A first line, then lines with words of a trace, some of them missing.
const LIKE_A_TRACE: &str = "(fio version [23] iolog\n)?\
    ([0-9]{0,3} ?[fg] ?(add|open|close|wait|read|write|sync|x)? ?[0-9]{0,20} ?[0-9]{0,4}\n?){0,9}\
    \\PC*";

proptest! {
    #[test]
    fn no_text_is_too_much(text in LIKE_A_TRACE) {
        let _ = read(&text);
    }
}
