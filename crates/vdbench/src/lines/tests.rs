use std::collections::BTreeMap;
use std::io;

use super::*;
use candor_front::Word;

struct Files(BTreeMap<&'static str, &'static str>);

impl Environment for Files {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let text = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(text.as_bytes().to_vec())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

/// The lines of files, of which the first is named on the command line, and its complaints.
fn read(
    files: &[(&'static str, &'static str)],
    keys: &[(&str, &str)],
) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut substitutes) = (Texts::default(), Substitutes::default());
    let line = texts.add("command line", "vdbench");
    for (key, value) in keys {
        let at = Span { text: line, start: 0, end: 0 };
        substitutes.set(key, Word { text: (*value).to_owned(), at });
    }
    let mut files = Files(files.iter().copied().collect());
    let first = *files.0.keys().next().expect("a file");
    let mut reader = Reader::new(&mut files, &mut texts, &mut substitutes);
    reader.file(first, None);
    let lines = reader.finish(None);
    let told = lines.errors.iter().chain(&lines.remarks).map(|told| told.describe(&texts));
    let told = told.chain(substitutes.unused().iter().map(|told| told.describe(&texts))).collect();
    (lines.all.into_iter().map(|line| line.text).collect(), told)
}

#[test]
fn comments_blanks_continuation_and_the_end() {
    let text = "  * a comment\n# another\n/ third\n\n sd=sd1, \nlun=/x behind\nwd=w \teof=1\n\
                rd=r,\n*between\n  io=max\neof here\nrd=never\n";
    let (lines, told) = read(&[("f", text)], &[]);
    assert_eq!(lines, ["sd=sd1,lun=/x", "wd=w", "rd=r,io=max"]);
    assert_eq!(told, ["f:7:7: `eof=1` follows a blank, and vdbench ignores text after a blank"]);
}

#[test]
fn quotes_keep_blanks_and_must_be_closed() {
    let (lines, told) = read(&[("f", "startcmd=\"ls -l /x\",loop=2 rest\nsd=\"open lun\n")], &[]);
    assert_eq!(lines, ["startcmd=\"ls -l /x\",loop=2", "sd=\"open lun"]);
    assert_eq!(told, ["f:2:4: the quote is not closed in its line; close it with another \""]);
}

#[test]
fn files_are_included_once_deep_from_beside_or_from_here() {
    let files = [
        ("d/a", "one=1\ninclude=b comment\ninclude=c\ntwo=2\n"),
        ("d/b", "inner=1\neof\nnever=1\n"),
    ];
    let (lines, told) = read(&files, &[]);
    assert_eq!(lines, ["one=1", "inner=1", "two=2"]);
    assert_eq!(told, ["d/a:3:1: the included file `c` is not there; looked for d/c and c"]);
    let nested = [("a", "include=b\n"), ("b", "include=c\n"), ("c", "x=1\n")];
    let (lines, told) = read(&nested, &[]);
    assert_eq!((lines.len(), told.len()), (0, 1));
    assert!(told[0].starts_with("b:1:1: `include=c` is in a file"), "{told:?}");
}

#[test]
fn variables_are_replaced_wherever_they_stand() {
    let text = "sd=sd1,lun=$lun/$lunx,size=!size\n* $size\n";
    let (lines, told) = read(&[("f", text)], &[("lun", "/d"), ("lunx", "y"), ("size", "1g")]);
    assert_eq!(lines, ["sd=sd1,lun=/d/y,size=1g"]);
    assert_eq!(told, [""; 0]);
    let (_, told) = read(&[("f", "sd=sd1,lun=$lun,size=$host\n")], &[("key", "1")]);
    assert_eq!(
        told,
        [
            "f:1:12: the variable `$lun` has no value; give it on the command line: lun=VALUE",
            "command line:1:1: key=1 matches no $key of the parameter files; remove it",
        ]
    );
}

#[test]
fn bytes_know_their_places() {
    let mut texts = Texts::default();
    texts.add("command line", "vdbench");
    let mut substitutes = Substitutes::default();
    let at = Span { text: 0, start: 0, end: 7 };
    substitutes.set("k", Word { text: "long-value".into(), at });
    let mut files = Files([("f", " a=$k,\n  bb=7 x\n")].into());
    let mut reader = Reader::new(&mut files, &mut texts, &mut substitutes);
    reader.file("f", None);
    let line = reader.finish(None).all.remove(0);
    assert_eq!(line.text, "a=long-value,bb=7");
    let place = |part: Range<usize>| texts.snippet(line.span(part)).to_owned();
    assert_eq!(place(0..1), "a");
    assert_eq!(place(2..12), "$k");
    assert_eq!(place(4..5), "$k");
    assert_eq!(place(13..15), "bb");
    assert_eq!(place(16..17), "7");
    assert_eq!(texts.location(line.span(13..15)), "f:2:3");
}

#[test]
fn extras_go_to_run_definitions_of_one_line() {
    let mut texts = Texts::default();
    texts.add("command line", "vdbench + el=5");
    let mut substitutes = Substitutes::default();
    let mut files = Files([("f", "rd=a,io=max note\nrd=b,\nio=1\nwd=w\n")].into());
    let mut reader = Reader::new(&mut files, &mut texts, &mut substitutes);
    reader.file("f", None);
    let at = Span { text: 0, start: 10, end: 14 };
    let lines = reader.finish(Some(("el=5", at)));
    let lines: Vec<_> = lines.all.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines, ["rd=a,io=max,el=5", "rd=b,io=1", "wd=w"]);
}

/// Files that include themselves, or others again and again, end in a few hundred problems.
#[test]
fn includes_are_bounded_in_problems_and_bytes() {
    let itself: &'static str = "include=f\n".repeat(3000).leak();
    let (lines, told) = read(&[("f", itself)], &[]);
    assert_eq!((lines.len(), told.len()), (0, PROBLEMS_MAX + 1));
    assert!(told[0].contains("is in a file that is included itself"), "{}", told[0]);
    assert!(told[PROBLEMS_MAX].contains("300 problems"), "{}", told[PROBLEMS_MAX]);
    let comments: &'static str = "* nothing\n".repeat(FILE_BYTES_MAX / 10).leak();
    let many: &'static str = "include=g\n".repeat(40).leak();
    let (_, told) = read(&[("f", many), ("g", comments)], &[]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("all files together have more than"), "{}", told[0]);
}
