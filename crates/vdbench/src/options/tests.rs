//! Command lines.

use std::collections::BTreeMap;
use std::io;

use super::*;

struct Files(BTreeMap<&'static str, &'static str>);

impl Environment for Files {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let found = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(found.as_bytes().to_vec())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

const PARMS: &str = "sd=sd1,lun=$lun,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n";

fn of(line: &str) -> Reading {
    let files = [
        ("p", PARMS),
        ("a", "sd=sd1,lun=/x,size=1m\n"),
        ("b", "wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=9\n"),
    ];
    let argv: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
    read(&argv, &mut Files(files.into()))
}

fn complaint(line: &str) -> String {
    let reading = of(line);
    reading.errors.iter().map(|error| error.describe(&reading.texts)).collect::<Vec<_>>().join("\n")
}

#[test]
fn values_stand_joined_or_behind() {
    for line in [
        "vdbench -f p -o out -e 60 -i 5 lun=/x",
        "vdbench -fp -oout -e60 -i5 lun=/x",
        "vdbench lun=/x -e60 -f p -i5 -o out",
    ] {
        let reading = of(line);
        assert_eq!(complaint(line), "", "{line}");
        let options = &reading.options;
        assert_eq!(options.output.as_deref(), Some("out"));
        assert_eq!((options.elapsed_s, options.interval_s), (Some(60), Some(5)));
        let rd = &reading.file.rds.all[0].options;
        assert_eq!((rd.elapsed_s, rd.interval_s), (60, 5));
        assert_eq!(reading.file.sds.all[0].options.luns, ["/x"]);
    }
}

#[test]
fn several_files_and_further_parameters() {
    let reading = of("vdbench -f a b + elapsed=10 interval=2");
    assert_eq!(complaint("vdbench -f a b + elapsed=10 interval=2"), "");
    let rd = &reading.file.rds.all[0].options;
    assert_eq!((rd.elapsed_s, rd.interval_s), (10, 2));
    let names: Vec<&str> = reading.files().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn letters_ask_for_validation() {
    let reading = of("vdbench -f p lun=/x -vrt -jn");
    let (_, validation) = reading.options.validation.expect("asked for");
    assert!(validation.is_on && validation.read_after_write && validation.time);
    assert!(reading.options.journal.is_some_and(|journal| journal.no_flush && !journal.recover));
    assert!(complaint("vdbench -f p lun=/x -vx").contains('x'));
}

#[test]
fn tests_are_built_in() {
    let reading = of("vdbench -t");
    assert_eq!(complaint("vdbench -t"), "");
    assert_eq!(reading.file.sds.all[0].options.luns, ["/tmp/quick_vdbench_test"]);
    assert!(of("vdbench -t1").file.sds.all[0].options.open_flags != Default::default());
    assert!(of("vdbench -tf").file.is_of_files());
    assert!(complaint("vdbench -t9").contains("-t9"));
}

#[test]
fn faults_are_told_with_their_words() {
    for (line, part) in [
        ("vdbench", "no parameter file"),
        ("vdbench -f", "-f needs a value"),
        ("vdbench -f nowhere", "nowhere"),
        ("vdbench -x", "-x"),
        ("vdbench -f p lun=/x -e sixty", "sixty"),
        ("vdbench -f p lun=/x other=1", "other"),
        ("vdbench -f p", "lun"),
        ("vdbench -f p lun=/x -r rd9", "rd9"),
        ("vdbench stray", "stray"),
    ] {
        assert!(complaint(line).contains(part), "{line}: {}", complaint(line));
    }
}

#[test]
fn every_option_has_an_example_that_works() {
    for row in TABLE.rows() {
        if row.example.is_empty() || ["f", "r", "v", "j"].contains(&row.name) {
            continue;
        }
        let line = format!("vdbench -f p lun=/x -{}{}", row.name, row.example);
        assert_eq!(complaint(&line), "", "{line}");
    }
}
