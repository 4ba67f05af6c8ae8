//! Keys and lines beside those of the fio that is installed, from jobs that end at once.

use candor_plan::SteadyFigure;
use candor_plan::work::Figure;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::*;

#[path = "../../../../../tests/fio_peer/tree.rs"]
mod tree;

const FIO: &str = "/usr/bin/fio";

/// The output of the installed fio; none, with the reason printed, where there is no fio.
fn fio(words: &[&str]) -> Option<String> {
    if !Path::new(FIO).exists() {
        println!("skipped: no fio at {FIO}");
        return None;
    }
    let common = ["--name=mix", "--rw=randrw", "--ioengine=null", "--size=1m", "--bs=4k"];
    let ran = Command::new(FIO).args(common).args(words).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(String::from_utf8(ran.stdout).unwrap())
}

fn ours(job: &FioJob, format: Format) -> String {
    let mut report = report(vec![measurement(200, 80)]);
    report.phases[0].hosts.clear();
    report.phases[0].measurements[0].operations.retain(|op| op.figure != Figure::Flush);
    text(&report, std::slice::from_ref(job), &[format])
}

/// Paths that may differ: candor's own, values that depend on what ran, options as written.
fn comparable(document: &str) -> BTreeSet<String> {
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    let own = [
        ".candor",
        ".jobs[].job_start",
        ".global options",
        ".jobs[].job options.",
        // Keys of 3.42 that Debian's version does not have.
        ".jobs[].latency_target_ns",
        ".jobs[].latency_window_us",
    ];
    let bins = |path: &str| path.contains(".bins.");
    let paths = tree::tree(&document).into_iter();
    paths.filter(|path| !own.iter().any(|own| path.starts_with(own)) && !bins(path)).collect()
}

type Change = fn(&mut FioJob);

const CASES: [(&[&str], Change); 10] = [
    (&[], |_| ()),
    (&["--lat_percentiles=1", "--clat_percentiles=0"], |job| {
        job.reporting.lat_percentiles = true;
        job.reporting.clat_percentiles = false;
    }),
    (&["--percentile_list=50:99.9:99.999"], |job| {
        job.reporting.percentiles = vec![50.0, 99.9, 99.999];
    }),
    (&["--unified_rw_reporting=1"], |job| job.reporting.unified_rw = 1),
    (&["--unified_rw_reporting=2"], |job| job.reporting.unified_rw = 2),
    (&["--continue_on_error=all", "--description=words"], |job| {
        job.counts_errors = true;
        job.description = Some("words".into());
    }),
    (&["--numjobs=3", "--group_reporting"], |job| job.group_reporting = true),
    (&["--gtod_reduce=1"], |job| {
        let reporting = &mut job.reporting;
        (reporting.lat, reporting.clat, reporting.slat) = (false, false, false);
    }),
    (&["--latency_target=1s", "--latency_window=1s"], |_| ()),
    (&["--ss=iops:10%", "--ss_dur=1", "--time_based", "--runtime=4", "--rate_iops=100"], |job| {
        job.steady = Some(SteadyGoal {
            figure: SteadyFigure::Ops,
            slope: false,
            limit: 10.0,
            percent: true,
            duration_s: 1,
            windows: 1,
        });
    }),
];

#[test]
fn json_has_the_keys_of_the_installed_fio() {
    for (format, word) in [(Format::Json, "json"), (Format::JsonPlus, "json+")] {
        for (words, change) in CASES {
            let form = format!("--output-format={word}");
            let Some(theirs) = fio(&[words, &[form.as_str()]].concat()) else { return };
            let mut job = job("mix", 1);
            change(&mut job);
            let (ours, theirs) = (comparable(&ours(&job, format)), comparable(&theirs));
            let missing: Vec<_> = theirs.difference(&ours).collect();
            let more: Vec<_> = ours.difference(&theirs).collect();
            assert!(missing.is_empty(), "{words:?} {word}: fio has {missing:#?}");
            // fio has submission latency of this engine in no job, so no percentiles either.
            assert!(more.is_empty(), "{words:?} {word}: fio lacks {more:#?}");
        }
    }
}

#[test]
fn terse_lines_have_as_many_fields_as_those_of_the_installed_fio() {
    for version in 2..=5 {
        let number = format!("--terse-version={version}");
        let Some(theirs) = fio(&["--minimal", &number]) else { return };
        let output =
            Output { formats: vec![Format::Terse], terse_version: version, ..Output::default() };
        let mut report = report(vec![measurement(200, 80)]);
        report.phases[0].hosts.clear();
        let ours = write_at(&report, &[job("mix", 1)], &output, &now());
        assert_eq!(ours.split(';').count(), theirs.split(';').count(), "version {version}");
        let shapes = |line: &str| line.trim().split(';').map(shape).collect::<Vec<_>>();
        assert_eq!(shapes(&ours), shapes(&theirs), "version {version}");
    }
}

/// A field with its digits left out: `0.00%` is `d.d%`.
fn shape(field: &str) -> String {
    let mut shape = String::new();
    for c in field.chars() {
        let c = if c.is_ascii_digit() { 'd' } else { c };
        if c != 'd' || !shape.ends_with('d') {
            shape.push(c);
        }
    }
    shape
}

#[test]
fn text_has_the_lines_of_the_installed_fio() {
    let Some(theirs) = fio(&["--size=1g", "--time_based", "--runtime=1600ms"]) else { return };
    let mut job = job("mix", 1);
    job.shape.engine = "null".into();
    job.shape.depth = 1;
    let output = Output::default();
    let ours = preamble(std::slice::from_ref(&job), &output) + &ours(&job, Format::Normal);
    let theirs: Vec<String> = theirs.lines().filter_map(line_shape).collect();
    let ours: Vec<String> = ours.lines().filter_map(line_shape).collect();
    let at = |word: &str| ours.iter().position(|line| line.starts_with(word)).unwrap();
    // The verdict follows, after a blank line.
    assert_eq!(ours[..at("candor:") - 1], theirs);
}

/// A line without its numbers, units and padding. How many steps a table has, how many percentiles
/// fill a line and whether there is a submission latency depends on what was measured.
fn line_shape(line: &str) -> Option<String> {
    let varies = ["  lat (", "    slat ("];
    if varies.iter().any(|begin| line.starts_with(begin)) {
        return None;
    }
    // The day's name ends the line of a job.
    let mut shape = shape(line.split_inclusive(": pid=").next().unwrap_or(line));
    // 3.42 gives these times units, and only jobs on zones have resets.
    shape = shape.replace("d.dns,", "d,").replace("; d zone resets", "");
    for unit in ["nsec", "usec", "msec"] {
        shape = shape.replace(unit, "sec");
    }
    for prefix in ["Ki", "Mi", "Gi", "Ti", "k", "M", "G", "T"] {
        for unit in ["B", ",", "bit"] {
            shape = shape.replace(&format!("d{prefix}{unit}"), &format!("d{unit}"));
            shape = shape.replace(&format!("{prefix}B/s):"), "B/s):");
        }
    }
    while let Some(at) = shape.find("d.d") {
        shape.replace_range(at..at + 3, "d");
    }
    let squeezed: Vec<&str> = shape.split(' ').filter(|word| !word.is_empty()).collect();
    let indent = line.len() - line.trim_start().len();
    Some(format!(
        "{}{}",
        " ".repeat(indent),
        squeezed.join(" ").replace("= ", "=").replace("[ ", "[")
    ))
}
