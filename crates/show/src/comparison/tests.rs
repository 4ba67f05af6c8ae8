use crate::json::schema::{COMPARISON, violations_of};
use candor_record::comparison::{ChangeInterval, Doubt, Fairness};
use candor_record::results::Area;
use candor_record::{Verdict, comparison};

use super::*;

fn run(label: &str, verdict: Verdict) -> ComparedRun {
    ComparedRun {
        label: label.into(),
        source: format!("{label}.json"),
        name: "random read 4 KiB".into(),
        tool: "candor 0.1.0".into(),
        started: Some("2026-11-23T18:12:23Z".into()),
        verdict: Some(verdict),
        headline: String::new(),
    }
}

fn figure(kind: FigureKind, baseline: f64, run: f64, outcome: Outcome) -> FigureChange {
    let change = run / baseline - 1.0;
    let known = outcome != Outcome::Unknown;
    let why = "there are neither repeats nor intervals enough; --repeats 5 would tell".to_owned();
    FigureChange {
        phase: "random read 4 KiB".into(),
        job: "job".into(),
        operation: "read".into(),
        kind,
        baseline,
        run,
        change,
        interval: known.then_some(ChangeInterval { low: change - 0.03, high: change + 0.04 }),
        p_value: known.then_some(0.002),
        p_value_corrected: known.then_some(0.008),
        basis: if known {
            Basis::Intervals { baseline: 4, run: 4 }
        } else {
            Basis::Nothing { why }
        },
        outcome,
        unbelieved: false,
    }
}

fn difference(
    area: Area,
    name: &str,
    baseline: Option<&str>,
    run: Option<&str>,
    matters: bool,
) -> Difference {
    Difference {
        area,
        name: name.into(),
        baseline: baseline.map(str::to_owned),
        run: run.map(str::to_owned),
        matters,
        intended: name != "kernel",
    }
}

fn sample() -> Comparison {
    let options = |more: &str| format!("rw,relatime,discard,resv_strict,resuid=65534{more}");
    let mounts = [options(",commit=5"), options(",nobarrier")];
    let change = RunChange {
        run: "B".into(),
        headline: "B ran under other conditions than A.".into(),
        fairness: Fairness::OtherEnvironment,
        differences: vec![
            difference(Area::Host, "kernel", Some("6.12.1"), Some("6.18.44"), true),
            difference(Area::Storage, "scheduler", Some("none"), Some("mq-deadline"), true),
            difference(
                Area::Host,
                "time of workers waiting for a CPU in random read 4 KiB",
                Some("loop device (734 MB) over ext4"),
                Some("vda (virtio, disk, 275 GB)"),
                true,
            ),
            difference(Area::Storage, "link", None, Some("PCIe 8.0 GT/s x4"), true),
            difference(
                Area::Storage,
                "mount options",
                Some(mounts[0].as_str()),
                Some(mounts[1].as_str()),
                true,
            ),
            difference(Area::Plan, "seed", Some("1"), Some("2"), false),
            difference(Area::Plan, "stop.time", Some("4s"), Some("30s"), false),
        ],
        doubts: vec![Doubt {
            run: "B".into(),
            phase: "random read 4 KiB".into(),
            sentence: "Not the storage's number (page cache): the data came from memory.".into(),
            unbelieved: true,
        }],
        unmatched: vec!["B: write".into()],
        figures: vec![
            figure(FigureKind::OpsPerS, 16_500.0, 12_100.0, Outcome::Worse),
            figure(FigureKind::BytesPerS, 67.6e6, 49.6e6, Outcome::Suspected),
            figure(FigureKind::LatencyMean, 61_100.0, 54_300.0, Outcome::Better),
            figure(FigureKind::LatencyPercentile(99.0), 163e3, 160e3, Outcome::NotShown),
            figure(FigureKind::LatencyPercentile(99.9), 3.8e6, 60.1e6, Outcome::Unknown),
        ],
    };
    let check = |condition: &str, result: CheckResult| Check {
        condition: condition.into(),
        run: "B".into(),
        result,
        sentence: "IOPS of read -27 %, from -30 % to -23 %.".into(),
    };
    Comparison {
        comparison_version: comparison::COMPARISON_VERSION,
        candor_version: "0.1.0".into(),
        headline: change.headline.clone(),
        confidence: 0.99,
        runs: vec![run("A", Verdict::Ok), run("B", Verdict::Wrong)],
        changes: vec![change],
        checks: vec![
            check("iops < -5%", CheckResult::Failed),
            check("p99 > 5%", CheckResult::Undecided),
            check("mean > 5%", CheckResult::Passed),
        ],
    }
}

#[test]
fn a_comparison_tells_what_differs_before_what_changed() {
    let page = text(&sample(), &Style { color: false, width: 80, is_screen: true });
    assert!(page.lines().all(|line| width(line) <= 80), "{page}");
    insta::assert_snapshot!(page);
}

#[test]
fn colours_carry_no_meaning_alone() {
    let plain = text(&sample(), &Style { color: false, width: 80, is_screen: true });
    let colored = text(&sample(), &Style { color: true, width: 80, is_screen: true });
    let mut stripped = colored.clone();
    while let Some(start) = stripped.find('\x1b') {
        let end = stripped[start..].find('m').map_or(stripped.len(), |at| start + at + 1);
        stripped.replace_range(start..end, "");
    }
    assert_ne!(plain, colored);
    // The words of a check may wrap elsewhere, as escapes take room.
    let words = |page: &str| page.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&plain), words(&stripped));
}

#[test]
fn a_comparison_is_read_back_from_its_json() {
    let json = crate::json::comparison(&sample()).expect("JSON");
    assert!(json.starts_with("{\n  \"comparison_version\": 1,"), "{json}");
    assert_eq!(serde_json::from_str::<Comparison>(&json).expect("a comparison"), sample());
}

#[test]
fn comparisons_fit_their_schema() {
    for comparison in [sample(), Comparison::default()] {
        let document = crate::json::comparison(&comparison).expect("JSON");
        let document = serde_json::from_str(&document).expect("a document");
        assert_eq!(violations_of(COMPARISON, &document), [""; 0]);
    }
    let wrong = serde_json::json!({"comparison_version": "1", "further": 2});
    assert!(violations_of(COMPARISON, &wrong).len() > 3);
}
