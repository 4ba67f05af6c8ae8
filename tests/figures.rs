//! Figures of every day: percentiles, targets apart, repeats, and verdicts that a script requires.

use crate::support::{Report, Scratch, candor, quiet_host};

/// A run that moves no byte, and so needs no device.
const NULL: [&str; 6] = ["run", "--engine", "null", "--ops", "50000", "--quiet"];

#[test]
fn percentiles_that_were_asked_for_are_in_table_report_and_csv() {
    let scratch = Scratch::new();
    let [json, csv] = ["report.json", "table.csv"].map(|name| scratch.outside(name));
    let asked = ["--percentiles", "99.9,75,99.999", "--json", &json, "--csv", &csv];
    let ran = candor(&[&NULL[..], &asked].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let head = ran.out.lines().find(|line| line.contains("IOPS")).expect("a table");
    for (word, is_there) in [("p75", true), ("p99.9", true), ("p99.999", true), ("p50", false)] {
        assert_eq!(head.split_whitespace().any(|name| name == word), is_there, "{word}: {head}");
    }
    assert!(ran.out.contains("p99.999 needs 1,000,000 operations"), "{}", ran.out);
    let report = Report::read(&json).expect("a report");
    assert_eq!(report.violations(), Vec::<String>::new());
    let quoted = report.list("/phases/0/measurements/0/operations/read/latency/percentiles");
    let quoted: Vec<f64> = quoted.iter().filter_map(|pair| pair[0].as_f64()).collect();
    assert_eq!(quoted, [1.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9]);
    let table = std::fs::read_to_string(&csv).expect("a table");
    assert!(table.lines().next().is_some_and(|head| head.ends_with(",latency_ns_p99.999")));
    // A stored report has the whole distribution, and remembers what was asked.
    let again = candor(&["show", &json]);
    assert!(again.out.contains("p99.9") && again.out.contains("p75"), "{}", again.out);
    let other = candor(&["show", &json, "--percentiles", "20,80"]);
    assert!(other.out.contains("p20") && other.out.contains("p80"), "{}", other.out);
    let wrong = candor(&[&NULL[..], &["--percentiles", "50,100"]].concat());
    assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{}", wrong.err);
}

#[test]
fn targets_are_told_apart() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let [first, second] = ["first", "second"].map(|name| scratch.path(name));
    let [json, csv] = ["report.json", "table.csv"].map(|name| scratch.outside(name));
    let words = [
        "run",
        "--target",
        &first,
        "--target",
        &second,
        "--size",
        "8m",
        "--rw",
        "randread",
        "--per-target",
        "--quiet",
        "--json",
        &json,
        "--csv",
        &csv,
    ];
    let ran = candor(&words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = Report::read(&json).expect("a report");
    assert_eq!(report.violations(), Vec::<String>::new());
    let measured = "/phases/0/measurements/0";
    let ops = |at: usize| {
        let of = format!("{measured}/per_target/{at}");
        assert!(report.number(&format!("{of}/operations/read/latency/mean_ns")) > 0.0);
        report.number(&format!("{of}/operations/read/ops"))
    };
    assert_eq!(report.list(&format!("{measured}/per_target")).len(), 2);
    assert_eq!(report.words(&format!("{measured}/per_target/1/path")), second);
    assert_eq!(ops(0) + ops(1), report.number(&format!("{measured}/operations/read/ops")));
    for end in ["/first ", "/second "] {
        assert!(
            ran.out.lines().any(|line| line.contains(end) && line.starts_with("  ")),
            "{}",
            ran.out
        );
    }
    let table = std::fs::read_to_string(&csv).expect("a table");
    let rows = table.lines().filter(|line| line.starts_with("target,")).collect::<Vec<_>>();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(rows[1].ends_with(&format!(",{second}")), "{table}");
}

#[test]
fn repeats_have_a_mean_with_its_interval() {
    let scratch = Scratch::new();
    let json = scratch.outside("report.json");
    let ran = candor(&[&NULL[..], &["--repeats", "3", "--json", &json]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains(" 3 repeats"), "{}", ran.out);
    assert!(ran.out.contains("mean of 3 repeats"), "{}", ran.out);
    let report = Report::read(&json).expect("a report");
    assert_eq!(report.violations(), Vec::<String>::new());
    assert_eq!(report.list("/phases").len(), 3);
    let rate = |nth: usize| {
        report.number(&format!("/phases/{nth}/measurements/0/operations/read/ops_per_s"))
    };
    let figure =
        |name: &str| report.number(&format!("/judgement/repeats/0/results/0/ops_per_s/{name}"));
    let all = [rate(0), rate(1), rate(2)];
    let mean = all.iter().sum::<f64>() / 3.0;
    assert!((figure("mean") / mean - 1.0).abs() < 1e-9);
    assert!(all.iter().all(|rate| (figure("min")..=figure("max")).contains(rate)));
    // t of two degrees of freedom, over the root of three.
    let half = 4.302_652_729_911_275 * figure("stddev") / 3f64.sqrt();
    assert!((figure("interval_95") / half - 1.0).abs() < 1e-9);
    let again = candor(&["judge", &json]);
    assert!(again.out.contains("\nRepeats\n"), "{}", again.out);
}

#[test]
fn a_script_may_require_a_verdict() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let (file, json) = (scratch.path("own"), scratch.outside("report.json"));
    // The file was written just before, and is read from the page cache.
    let read = ["run", "--target", &file, "--size", "64m", "--rw", "read", "--bs", "1m", "--quiet"];
    let ran = candor(&[&read[..], &["--require", "caution", "--json", &json]].concat());
    assert_eq!(ran.code, Some(6), "{}", ran.err);
    let told = "candor: required \"caution\", and the verdict is \"wrong\"";
    assert!(ran.err.contains(told), "{}", ran.err);
    assert!(ran.out.contains("IOPS"), "{}", ran.out);
    for words in [["show", &json], ["judge", &json]] {
        assert_eq!(candor(&words).code, Some(0));
        let required = candor(&[&words[..], &["--require", "ok"]].concat());
        assert_eq!(required.code, Some(6), "{}", required.err);
    }
    let text = std::fs::read_to_string(&json).expect("a report");
    let mild = text.replace("\"verdict\": \"wrong\"", "\"verdict\": \"caution\"");
    std::fs::write(&json, mild).expect("a report");
    for (required, code) in [("ok", 6), ("caution", 0)] {
        let shown = candor(&["show", &json, "--require", required]);
        assert_eq!(shown.code, Some(code), "{required}: {}", shown.err);
    }
    let wrong = candor(&[&NULL[..], &["--require", "yes"]].concat());
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
}
