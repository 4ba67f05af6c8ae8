use candor_derive::trend::ListedResult;
use candor_record::Verdict;
use candor_record::results::{Area, FigureKind, Load};

use super::*;

fn series() -> Series {
    Series {
        tool: "candor".into(),
        host: "node1".into(),
        targets: vec!["/data".into()],
        phase: "main".into(),
        job: "job".into(),
        load: Load {
            access: Some("randread".into()),
            block_bytes: Some(4096),
            depth: Some(32),
            workers: Some(1),
            ..Load::default()
        },
        operation: "read".into(),
        conditions: Vec::new(),
    }
}

fn run(run: u64) -> ListedRun {
    ListedRun {
        run,
        started: format!("2026-11-{:02}T17:45:51Z", run % 30 + 1),
        tool: "candor 0.1.0".into(),
        name: "random read 4 KiB, depth 32, of a long name".into(),
        targets: vec!["/data".into()],
        verdict: Some(Verdict::Ok),
        is_whole: true,
        results: vec![ListedResult {
            phase: "main".into(),
            operation: "read".into(),
            figure: FigureKind::OpsPerS,
            value: 146_484.0,
        }],
        ..ListedRun::default()
    }
}

#[test]
fn runs_are_a_table() {
    let runs = vec![
        ListedRun { tags: vec!["base".into()], verdict: Some(Verdict::Caution), ..run(12_345) },
        ListedRun {
            targets: vec!["/mnt/a/very/long/path/to/a/file".into(), "/b".into()],
            verdict: None,
            results: ["create", "create", "read", "remove"]
                .map(|phase| ListedResult { phase: phase.into(), ..run(1).results[0].clone() })
                .to_vec(),
            ..run(7)
        },
        ListedRun {
            is_whole: false,
            name: String::new(),
            command: "candor check".into(),
            ..run(1)
        },
    ];
    let all = RunList { history_version: 1, in_all: 9, matching: 8, runs };
    let text = list(&all, &Style { color: false, width: 80, is_screen: true });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.starts_with("  run  started (UTC) "), "{text}");
    for part in [
        "12345  2026-11-16 17:45  random ",
        "  read 146k IOPS  caution     base\n",
        " +1  3 results       not judged\n",
        "  candor ",
        "  cut short\n",
        "The newest 3 of 8 runs: --last N shows more.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The first difference ends a run.
    let corrupt = ListedRun { verdict: Some(Verdict::Corrupt), is_whole: false, ..run(1) };
    let corrupt = RunList { in_all: 1, matching: 1, runs: vec![corrupt], ..RunList::default() };
    let text = list(&corrupt, &Style::default());
    assert!(text.ends_with("  corrupt\n"), "{text}");
    let untagged = RunList { in_all: 1, matching: 1, runs: vec![run(1)], ..RunList::default() };
    assert_eq!(list(&untagged, &Style::default()).lines().count(), 2);
    let none = RunList { in_all: 9, ..RunList::default() };
    assert_eq!(list(&none, &Style::default()), "No run in the history matches.\n");
    let empty = list(&RunList::default(), &Style::default());
    assert!(empty.starts_with("The history is empty"), "{empty}");
}

/// The text without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn trend() -> Trend {
    let point = |at: u64| TrendPoint {
        run: at + 1,
        started: format!("2026-10-{:02}T10:00:00Z", at + 1),
        start_unix_ms: 1_790_000_000_000 + i64::try_from(at).expect("small") * 86_400_000,
        value: if at < 12 { 1000.0 + at as f64 } else { 800.0 - at as f64 },
        verdict: Some(if at == 15 { Verdict::Wrong } else { Verdict::Ok }),
        is_whole: true,
    };
    let difference = |name: &str, before: &str| Difference {
        area: Area::Host,
        name: name.into(),
        before: before.into(),
        after: "6.12.9".into(),
    };
    let change = TrendChange {
        run: 13,
        started: "2026-10-13T10:00:00Z".into(),
        run_before: 12,
        before: 1005.5,
        after: 785.0,
        change_share: 785.0 / 1005.5 - 1.0,
        runs_before: 12,
        runs_after: 7,
        differences: vec![difference("kernel", "6.12.3"), difference("cap of sda", "")],
    };
    Trend {
        series: series(),
        apart: Vec::new(),
        figure: FigureKind::OpsPerS,
        points: (0..20).map(point).collect(),
        level: Some(785.0),
        noise_share: Some(0.002),
        changes: vec![change],
    }
}

#[test]
fn a_trend_names_what_changed() {
    let quiet = Trend {
        figure: FigureKind::LatencyPercentile(99.0),
        points: trend().points[..3].to_vec(),
        apart: vec![Condition {
            name: "direct".into(),
            value: "yes".into(),
            ..Condition::default()
        }],
        level: Some(1001.0),
        noise_share: None,
        changes: Vec::new(),
        ..trend()
    };
    let all = Trends { history_version: 1, trends: vec![trend(), quiet], single: 3 };
    let text = trends(&all, &Style { color: false, width: 140, is_screen: true });
    for part in [
        "iops: read, randread 4 KiB, depth 32 on /data of node1 (phase main, candor)\n",
        "  ████████████▁▁▁·▁▁▁▁\n",
        "  20 runs, 1 (2026-10-01) to 20 (2026-10-20); median since the last change 785 IOPS, last",
        " run 781 IOPS; noise from run to run 0.2 %.",
        "Changed in run 13 (2026-10-13 10:00): 1006 IOPS became 785 IOPS, -22 %, worse; medians of",
        "12 runs before and 7 runs after.",
        "Different from run 12: kernel 6.12.3 → 6.12.9; cap of sda absent → 6.12.9.",
        "  1 run left out: cut short, or not the storage's numbers.\n",
        "p99: read, randread 4 KiB, depth 32 on /data of node1 (phase main, candor); direct yes\n",
        "Too few runs to separate a change from noise: at least 8 counted runs are needed.",
        "3 kinds of work ran only once.",
    ] {
        assert!(words(&text).contains(&words(part)), "{part}\n{text}");
    }
    let none = trends(&Trends::default(), &Style::default());
    assert!(none.starts_with("No work of these runs ran twice"), "{none}");
}

#[test]
fn a_picture_has_a_panel_per_trend_and_a_mark_per_change() {
    let all = Trends { history_version: 1, trends: vec![trend(); 8], single: 0 };
    let picture = chart(&all);
    assert_eq!((picture.panels.len(), picture.marks.len()), (6, 1), "all changed in one run");
    assert_eq!(picture.marks[0].label, "run 13: -22 %");
    assert!(picture.subtitle.ends_with("2 more kinds of work not shown"), "{picture:?}");
    assert_eq!(picture.verdict, "The storage's number: all 114 results; 6 results left out");
    let day = Trend { points: trend().points[..1].to_vec(), ..trend() };
    let day = chart(&Trends { trends: vec![day], ..all.clone() });
    assert_eq!(
        (day.subtitle.as_str(), day.verdict.as_str()),
        ("2026-10-01", "The storage's number")
    );
    assert!(picture.description.contains("in 20 runs: changes: -22 % in run 13."));
    assert!(!picture.is_empty() && chart(&Trends::default()).is_empty());
}
