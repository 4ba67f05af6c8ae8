use super::*;
use crate::file;
use crate::lines::{Reader, Substitutes};
use candor_front::{Environment, Texts};

struct Only<'a>(&'a str);

impl Environment for Only<'_> {
    fn file(&mut self, _: &str) -> std::io::Result<Vec<u8>> {
        Ok(self.0.as_bytes().to_vec())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

/// Names and headings of the runs of a file, or its complaints.
fn runs(text: &str) -> Vec<String> {
    let (mut texts, mut substitutes) = (Texts::default(), Substitutes::default());
    let mut only = Only(text);
    let mut reader = Reader::new(&mut only, &mut texts, &mut substitutes);
    reader.file("f", None);
    let lines = reader.finish(None);
    let read = file::read(lines);
    let told = |errors: Vec<Diagnostic>| {
        errors.iter().map(|error| error.describe(&texts)).collect::<Vec<_>>()
    };
    if !read.errors.is_empty() {
        return told(read.errors);
    }
    match expand(&read.file) {
        Ok(runs) => runs
            .iter()
            .map(|run| format!("{}; {}; {}", run.name, run.rate_text(false), run.loops_text()))
            .collect(),
        Err(errors) => told(errors),
    }
}

const LUNS: &str = "sd=sd1,lun=/x\nsd=sd2,lun=/y\nwd=w,sd=sd*\n";

fn with_luns(rds: &str) -> Vec<String> {
    runs(&format!("{LUNS}{rds}"))
}

#[test]
fn the_founding_file_is_one_run() {
    let found = runs(
        "sd=sd1,lun=/dev/sdx,openflags=o_direct\n\
         wd=seq,sd=sd1,xfersize=16k,readpct=100,seekpct=0\n\
         rd=default,io=max,el=1m,in=1,forthreads=(32)\n\
         rd=seq_rd,wd=seq\n",
    );
    assert_eq!(found, ["seq_rd; Uncontrolled MAX; For loops: threads=32"]);
}

#[test]
fn loops_nest_as_they_are_written() {
    let found = with_luns("rd=r,wd=w,iorate=(100,200),forx=(4k,8k),forth=(1-2,d)\n");
    assert_eq!(found.len(), 8);
    assert_eq!(found[0], "r; 100; For loops: xfersize=4k threads=1 iorate=100");
    assert_eq!(found[1], "r; 200; For loops: xfersize=4k threads=1 iorate=200");
    assert_eq!(found[2], "r; 100; For loops: xfersize=4k threads=2 iorate=100");
    assert_eq!(found[7], "r; 200; For loops: xfersize=8k threads=2 iorate=200");
    let without_for = with_luns("rd=r,wd=w,iorate=max,seekpct=(0,100),xfersize=(512,1m)\n");
    assert_eq!(without_for[1], "r; Uncontrolled MAX; For loops: seekpct=0 xfersize=1m");
}

#[test]
fn curves_follow_their_greatest_rate() {
    let found = with_luns("rd=r,wd=w,iorate=curve,curve=(50,100),threads=(4,8)\n");
    assert_eq!(
        found,
        [
            "r; Uncontrolled curve; For loops: threads=4",
            "r_(50%); 50% of the curve's maximum; For loops: threads=4",
            "r_(100%); 100% of the curve's maximum; For loops: threads=4",
            "r; Uncontrolled curve; For loops: threads=8",
            "r_(50%); 50% of the curve's maximum; For loops: threads=8",
            "r_(100%); 100% of the curve's maximum; For loops: threads=8",
        ]
    );
    assert_eq!(with_luns("rd=r,wd=w,iorate=curve\n").len(), 7);
}

#[test]
fn shares_of_the_previous_run_and_defaults() {
    let found = with_luns(
        "rd=default,elapsed=10,iorate=max\nrd=a,wd=w\nrd=b,wd=w,iorate=(50%,80%)\n\
         rd=default,threads=(2,4)\nrd=c,wd=w,iorate=7\n",
    );
    assert_eq!(
        found,
        [
            "a; Uncontrolled MAX; For loops: None",
            "b_(50%); 50% of the previous run; For loops: iorate=50%",
            "b_(80%); 80% of the previous run; For loops: iorate=80%",
            "c; 7; For loops: threads=2",
            "c; 7; For loops: threads=4",
        ]
    );
}

#[test]
fn sets_of_luns_are_runs_of_their_own() {
    assert_eq!(
        with_luns("rd=r,wd=w,sd=single,iorate=1\n"),
        ["r_sd1; 1; For loops: None", "r_sd2; 1; For loops: None"]
    );
    assert_eq!(with_luns("rd=r,wd=w,sd=setsof2,iorate=1\n"), ["r_sd1_sd2; 1; For loops: None"]);
    assert_eq!(
        with_luns("rd=r,wd=w,sd=range,iorate=1\n"),
        ["r_sd1-sd1; 1; For loops: None", "r_sd1-sd2; 1; For loops: None"]
    );
}

#[test]
fn times_must_fit_and_rates_be_given() {
    for (rd, told) in [
        (
            "rd=r,wd=w,iorate=1,elapsed=3,interval=2",
            "f:4:28: elapsed=3 is less than two intervals of 2 s; give 4 at least",
        ),
        (
            "rd=r,wd=w,iorate=1,elapsed=5,interval=2",
            "f:4:28: elapsed=5 is no multiple of interval=2; give 6, for example",
        ),
        (
            "rd=r,wd=w,iorate=1,warmup=3,interval=2",
            "f:4:27: warmup=3 is no multiple of interval=2; give 4, for example",
        ),
        (
            "rd=r,wd=w",
            "f:4:1: rd=r has no iorate; add iorate=max, or a number of operations per second",
        ),
        (
            "rd=default,iorate=max",
            "there is no run: no rd= but rd=default; add a run, such as \
             rd=run1,wd=*,iorate=max,elapsed=30",
        ),
    ] {
        assert_eq!(with_luns(rd), [told], "{rd}");
    }
}

/// Forty files, from the manual's and from the wild, and what they run.
#[test]
fn files_are_the_runs_that_they_should_be() {
    let all = include_str!("../../tests/files.cases");
    let mut told = String::new();
    for case in all.split("== ").skip(1) {
        let (name, text) = case.split_once('\n').expect("a name and a file");
        told += &format!("== {name}\n{}\n", runs(text).join("\n"));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_list_of_rates_may_end_as_fast_as_possible() {
    let found = with_luns("rd=r,wd=w,iorate=(100,max)\n");
    let expected = ["r; 100; For loops: iorate=100", "r; Uncontrolled MAX; For loops: iorate=max"];
    assert_eq!(found, expected);
}
