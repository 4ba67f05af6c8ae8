//! Flags that are no options of jobs.

use std::fs;

use super::fio;
use crate::support::Scratch;

const SMALL: [&str; 4] = ["--name=small", "--ioengine=null", "--size=64k", "--rw=randread"];

#[test]
fn what_is_traced_has_its_kind_and_the_process() {
    let scratch = Scratch::new();
    let words = ["--debug=process,io,parse,mem"];
    let ran = fio(&scratch, &[&words, &SMALL[..]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with("fio: set debug option process\n"), "{}", ran.out);
    let said = |kind: &str, text: &str| {
        let begins = |line: &&str| line.starts_with(&format!("{kind:<9}"));
        ran.out.lines().filter(begins).any(|line| line.ends_with(text))
    };
    assert!(said("parse", " [small] size=64k"), "{}", ran.out);
    assert!(said("process", " job `small` has ended"), "{}", ran.out);
    assert!(said("io", " job `small`: read: 16 operations, 65536 bytes"), "{}", ran.out);
    assert!(said("mem", " candor keeps no trace of this"), "{}", ran.out);
    let listed = fio(&scratch, &["--debug=help"]);
    assert_eq!(listed.code, Some(0));
    assert!(listed.out.starts_with("fio: dumping debug options:process,file,io,mem,"));
    let wrong = fio(&scratch, &["--debug=procss"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.err.contains("did you mean `process`"), "{}", wrong.err);
}

#[test]
fn operations_are_printed_one_by_one() {
    let scratch = Scratch::new();
    let words = ["--debug=io", "--name=a", "--filename=f", "--rw=write", "--bs=4k", "--size=64k"];
    let ran = fio(&scratch, &words);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let of = |word: &str| {
        let lines = ran.out.lines().filter(|line| line.starts_with("io ") && line.contains(word));
        lines.map(|line| line.split_once(": off=").expect("an offset").1).collect::<Vec<_>>()
    };
    let offsets: Vec<_> =
        (0..16_u64).map(|nth| format!("{:#x},len=0x1000,ddir=1,file=f", nth * 4096)).collect();
    assert_eq!(
        (of("complete: io_u 0x"), of("queue: io_u 0x")),
        (
            offsets.iter().map(String::as_str).collect(),
            offsets.iter().map(String::as_str).collect(),
        )
    );
    let began = std::time::Instant::now();
    let many = ["--debug=io", "--name=a", "--ioengine=null", "--size=1g", "--output=many"];
    assert_eq!(fio(&scratch, &many).code, Some(0));
    // Four times what the longest ring holds.
    let many = fs::read_to_string(scratch.path("many")).expect("a quarter of a million operations");
    assert_eq!(many.matches("complete: io_u ").count(), 1 << 18);
    assert!(began.elapsed().as_secs() < 15, "{:?}", began.elapsed());
}

#[test]
fn bandwidth_of_all_jobs_is_logged() {
    let scratch = Scratch::new();
    let pace = ["--rate=1m", "--runtime=2", "--time_based", "--numjobs=2", "--bandwidth-log"];
    let ran = fio(&scratch, &[&SMALL[..], &pace].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let text = fs::read_to_string(scratch.path("agg-read_bw.log")).expect("a log");
    let rates = text.lines().map(|line| {
        let fields: Vec<u64> = line.split(", ").map(|field| field.parse().expect("n")).collect();
        assert_eq!(fields[2..], [0, 0, 0], "{line}");
        fields[1]
    });
    let rates: Vec<u64> = rates.collect();
    // Two jobs of 1 MiB/s, in KiB/s. One of them may end too soon to have a last sample.
    assert!(
        rates.len() >= 3 && rates[..3].iter().all(|rate| (1800..2300).contains(rate)),
        "{text}"
    );
    assert!(fs::metadata(scratch.path("agg-trim_bw.log")).is_ok());
}

#[test]
fn files_that_are_laid_out_are_reported_in_text_only() {
    let scratch = Scratch::new();
    let words = ["--name=a", "--size=4m", "--nrfiles=2", "--rw=randread"];
    let ran = fio(&scratch, &words);
    assert!(
        ran.out.contains("Starting 1 process\na: Laying out IO files (2 files / total 4MiB)\n"),
        "{}",
        ran.out
    );
    let again = fio(&scratch, &words);
    assert!(!again.out.contains("Laying out"), "{}", again.out);
    let json = ["--name=b", "--size=1m", "--rw=randread", "--output-format=json"];
    assert!(fio(&scratch, &json).out.starts_with("{\n"));
}

#[test]
fn checksums_are_measured_or_listed() {
    let scratch = Scratch::new();
    let ran = fio(&scratch, &["--crctest=crc32c"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with("crc32c:\t\t") && ran.out.ends_with(" MiB/sec\n"), "{}", ran.out);
    for (word, told) in [("--crctest=help", ""), ("--crctest=md4", "unknown hash `md4`")] {
        let ran = fio(&scratch, &[word]);
        assert!(ran.code == Some(1) && ran.out.starts_with("md5\n"), "{}", ran.out);
        assert!(ran.err.contains(told) && ran.err.is_empty() == told.is_empty(), "{}", ran.err);
    }
}

/// The number that follows some words in a text, up to another.
fn number_behind(text: &str, words: &str, end: char) -> f64 {
    let rest = text.split(words).nth(1).unwrap_or_else(|| panic!("{words} in {text}"));
    let number = rest.split(end).next().unwrap_or_default();
    number.parse().unwrap_or_else(|_| panic!("{number} behind {words}"))
}

#[test]
fn idleness_of_the_cpus_is_shown() {
    let scratch = Scratch::new();
    let job = ["--name=a", "--ioengine=null", "--size=1m", "--rw=read"];
    let ran = fio(&scratch, &[&["--idle-prof=percpu"], &job[..]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let system = number_behind(&ran.out, "\nCPU idleness:\n  system: ", '%');
    let first = number_behind(&ran.out, "%\n  percpu: ", '%');
    let mean = number_behind(&ran.out, "%\n  unit work: mean=", 'u');
    assert!((0.0..=100.0).contains(&system) && (0.0..=100.0).contains(&first) && mean > 0.0);
    let words = ["--idle-prof=system", "--output-format=json"];
    let ran = fio(&scratch, &[&words, &job[..]].concat());
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let keys: Vec<_> = json["cpu_idleness"].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["system", "unit_mean", "unit_stddev"]);
    let ran = fio(&scratch, &[&["--idle-prof=calibrate"], &job[..]].concat());
    assert!(ran.out.starts_with("CPU idleness:\n  unit work: mean="), "{}", ran.out);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 2));
}

#[test]
fn clocks_of_the_cpus_are_compared() {
    let ran = fio(&Scratch::new(), &["--cpuclock-test"]);
    assert!(ran.out.starts_with("cs: reliable_tsc: ") && ran.out.contains("\ncs: Testing "));
    let (passed, ended) = (ran.code == Some(0), ran.out.ends_with("\ncs: Pass!\n"));
    assert!(passed == ended && (passed || ran.out.contains("\ncs: Failed: ")), "{}", ran.out);
}
