//! Sweeps: their table on the first screen and on the whole page.

use super::*;

const NARROW: Style = Style { color: false, width: 80, is_screen: true };

fn row(depth: u32, ops_per_s: f64, mean_ns: f64, gain: Option<f64>) -> SweepRow {
    SweepRow {
        values: vec!["4 KiB".into(), depth.to_string()],
        ops_per_s,
        bytes_per_s: ops_per_s * 4096.0,
        latency_ns_mean: Some(mean_ns),
        latency_ns_p99: Some(1_050_000),
        gain,
        ..SweepRow::default()
    }
}

fn report() -> Report {
    let phases = sample::series()[2..4].to_vec();
    let mut report = sample::report("every number is the storage's own.", phases);
    let sentence = "The knee is depth 16: 63.5k IOPS, the least tried within 5 % of the best \
                    (65.9k IOPS with depth 64); an operation took 252 µs there, 971 µs with depth \
                    64.";
    let large = SweepRow {
        verdict: Verdict::Wrong,
        latency_ns_p99: None,
        ..row(64, 65_900.0, 971_000.0, Some(1.038))
    };
    let rows =
        vec![row(1, 9346.0, 107_000.0, None), row(16, 63_500.0, 252_000.0, Some(6.79)), large];
    let knees =
        vec![Knee { value: Some("16".into()), sentence: sentence.into(), ..Knee::default() }];
    let keys = vec![SweepKey::Bs, SweepKey::Depth];
    report.judgement.sweep = Some(Sweep { keys, rows, knees });
    report
}

#[test]
fn a_sweep_has_one_table_and_its_knee() {
    let text = first_screen(&report(), &NARROW);
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for wanted in [
        "bs depth IOPS MB/s mean p99 gain trust",
        "4 KiB 1 9.35k 38.3 107 µs 1.05 ms ok",
        "4 KiB 16 63.5k 260 252 µs 1.05 ms 6.79× ok",
        "4 KiB 64 65.9k 270 971 µs - 1.04× wrong",
    ] {
        assert!(lines.iter().any(|line| line == wanted), "no {wanted}: {text}");
    }
    assert!(text.contains("The knee is depth 16: 63.5k IOPS"), "{text}");
    assert!(!text.contains("random read 4 KiB, depth 1"), "one table: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_whole_page_has_the_table_beside_the_results() {
    let text = plain(&report());
    for part in ["Sweep of bs and depth", "random read 4 KiB, depth 1", "The knee is depth 16"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn long_sweeps_are_cut_on_the_first_screen() {
    let mut report = report();
    let Some(sweep) = &mut report.judgement.sweep else { return };
    sweep.rows = (1..40).map(|depth| row(depth, 9346.0, 107_000.0, None)).collect();
    let text = first_screen(&report, &NARROW);
    assert!(text.lines().count() <= 23, "{text}");
    assert!(text.contains("more rows") && text.contains("The knee is depth 16"), "{text}");
    let piped = first_screen(&report, &Style { is_screen: false, ..NARROW });
    assert!(piped.lines().count() > 45 && !piped.contains('…'), "{piped}");
}
