use candor_plan::work::Figure;
use candor_record::{LatencyCounts, OpSample, Sample, Sweep, SweepKey, SweepRow, Verdict};

use super::*;
use crate::sample;

#[test]
fn a_row_for_each_result_and_each_interval_of_it() {
    let mut phases = sample::series();
    phases.truncate(1);
    phases[0].record.name = "a \"name\", with commas".into();
    let op = |ops| OpSample {
        name: "write".into(),
        figure: Figure::Write,
        ops,
        bytes: ops << 20,
        latency_sum_ns: ops * 2000,
        latency_ns_p50: Some(1900),
        latency_ns_p99: None,
        latency_ns_max: None,
        latency_ns_stddev: None,
        latency_counts: LatencyCounts::default(),
    };
    let second = 1_000_000_000;
    let at = |nth: u64, ops| Sample {
        at_ns: nth * second,
        length_ns: second,
        operations: vec![op(ops)],
    };
    phases[0].record.measurements[0].samples = vec![at(1, 500), at(2, 0), at(3, 496)];
    let without = OpSample { latency_sum_ns: 0, latency_ns_p50: None, ..op(7) };
    let last = Sample { operations: vec![without], ..at(4, 7) };
    phases[0].record.measurements[0].samples.push(last);
    let text = report(&sample::report("", phases)).expect("written");
    let lines: Vec<&str> = text.lines().collect();
    let name = r#""a ""name"", with commas""#;
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[0].starts_with("row,phase,repeat,job,operation,start_s,length_s,ops,bytes,"));
    assert!(lines[1].starts_with(&format!("result,{name},1,job,write,0.0,10.0,4980,")));
    assert_eq!(
        lines[3],
        format!(
            "sample,{name},1,job,write,2.0,1.0,496,520093696,496.0,520093696.0,,\
             2000.0,,1900,,,,,,ok,"
        )
    );
    assert!(lines[4].ends_with(",7,7340032,7.0,7340032.0,,,,,,,,,,ok,"), "{}", lines[4]);
    let columns = |line: &str| line.replace(name, "").matches(',').count();
    assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{text}");
}

#[test]
fn percentiles_that_were_asked_for_are_further_columns() {
    let mut all = sample::report("", sample::series());
    let before = report(&all).expect("written");
    all.quote(&[50.0, 75.0, 99.99]);
    let after = report(&all).expect("written");
    for (nth, (line, plain)) in after.lines().zip(before.lines()).enumerate() {
        let further = line.strip_prefix(plain).expect("the other columns stay");
        match nth {
            0 => assert_eq!(further, ",latency_ns_p75,latency_ns_p99.99"),
            // 4000 samples carry no p99.99.
            _ => assert!(further[1..].trim_end_matches(',').parse::<u64>().is_ok(), "{line}"),
        }
    }
}

/// All tables of a report that a real kernel gave, or of one made for the purpose.
fn recorded(name: &str) -> Report {
    let path = format!("{}/../judge/tests/recorded/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a recorded report");
    let mut report = candor_record::read_unjudged(&text).expect("a report");
    // The verdict is not the point, and judging again is another crate's.
    report.judgement.phases = vec![Some(Default::default()); report.phases.len()];
    report
}

#[test]
fn every_table_has_rows_of_one_width_and_its_columns_are_described() {
    let mut filled = [false; Table::ALL.len()];
    let recorded = ["zram-traced", "past-the-knee", "shared-file", "direct-read"].map(recorded);
    for report in recorded.into_iter().chain([sample::objects::run()]) {
        for (of, filled) in Table::ALL.into_iter().zip(&mut filled) {
            let text = table(&report, of).expect("written");
            let mut rows = csv::ReaderBuilder::new().from_reader(text.as_bytes());
            let names = rows.headers().expect("names").clone();
            let described = page();
            let section =
                described.split(&format!("## {}\n", of.name())).nth(1).expect("a section");
            let section = section.split("\n## ").next().expect("text");
            let settings = ["rw", "bs", "depth", "workers"];
            for name in names.iter().filter(|name| !settings.contains(name)) {
                assert!(section.contains(&format!("| `{name}` |")), "{name} of {of:?}");
            }
            // The reader refuses rows of another width.
            let count = rows.records().inspect(|row| assert!(row.is_ok(), "{row:?}")).count();
            *filled |= count > 0;
        }
    }
    let empty: Vec<_> = Table::ALL.iter().zip(filled).filter(|(_, filled)| !filled).collect();
    // No recorded report has repeats, a sweep or several hosts; they have tests of their own.
    let unfilled = [Table::Repeats, Table::Sweep, Table::Hosts];
    assert_eq!(empty, unfilled.each_ref().map(|table| (table, false)));
}

#[test]
fn the_first_rows_of_each_table() {
    let report = recorded("zram-traced");
    let mut all = String::new();
    for of in Table::ALL {
        let text = table(&report, of).expect("written");
        let first: Vec<&str> = text.lines().take(4).collect();
        all.push_str(&format!(
            "## {}, {} lines\n{}\n",
            of.name(),
            text.lines().count(),
            first.join("\n")
        ));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_tables_of_http_requests() {
    let run = sample::objects::run();
    let tables = [Table::HttpRequests, Table::HttpServers, Table::HttpFailures];
    let texts = tables.map(|of| format!("## {}\n{}", of.name(), table(&run, of).expect("written")));
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn samples_alone_have_no_gaps() {
    let mut phases = sample::series();
    phases.truncate(1);
    let op = |ops| OpSample { name: "write".into(), ops, bytes: ops, ..OpSample::default() };
    let at = |nth: u64, ops| Sample {
        at_ns: nth * 1_000_000_000,
        length_ns: 1_000_000_000,
        operations: vec![op(ops), OpSample { name: "fsync".into(), ..op(0) }],
    };
    phases[0].record.measurements[0].samples = vec![at(1, 500), at(2, 0), at(3, 250)];
    let text = table(&sample::report("", phases), Table::Samples).expect("written");
    let rates = text.lines().skip(1).map(|line| line.split(',').nth(9).expect("a rate"));
    assert_eq!(rates.collect::<Vec<_>>(), ["500.0", "0.0", "250.0"], "{text}");
}

#[test]
fn repeats_are_a_row_per_figure_with_the_spread_of_each() {
    let mut phases = sample::series();
    phases.truncate(1);
    let mut report = sample::report("", phases);
    let (mut again, judged) = (report.phases.clone(), report.judgement.phases.clone());
    again[0].repeat = 1;
    let stats = &mut again[0].measurements[0].operations[0];
    stats.ops_per_s *= 3.0;
    let first = stats.ops_per_s / 3.0;
    report.phases.extend(again);
    report.judgement.phases.extend(judged);
    report.judgement.repeats = candor_derive::repeats(&report.judged().collect::<Vec<_>>());
    let text = table(&report, Table::Repeats).expect("written");
    let mut rows = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = rows.records().map(|row| row.expect("a row")).collect();
    let figures: Vec<&str> = rows.iter().map(|row| &row[3]).collect();
    let all = ["ops_per_s", "bytes_per_s", "latency_ns_mean", "latency_ns_p50", "latency_ns_p99"];
    assert_eq!(figures, all, "{text}");
    assert!(rows.iter().all(|row| &row[0] == report.phases[0].name.as_str() && &row[4] == "2"));
    let number = |column: usize| rows[0][column].parse::<f64>().expect("a number");
    let near = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 1e-3;
    // Two values x and 3x: mean 2x, deviation x√2, ends of the interval at ±12.7 x.
    assert!(near(number(5), 2.0 * first) && near(number(6), first * 2f64.sqrt()), "{text}");
    assert!(near(number(7), first) && near(number(8), 3.0 * first), "{text}");
    assert!(near(number(9), 12.706 * first) && &rows[0][10] == "ok", "{text}");
}

#[test]
fn a_sweep_is_a_row_per_value_under_the_names_of_its_settings() {
    let mut report = sample::report("", sample::series());
    let row = |depth: u32, gain| SweepRow {
        values: vec!["4 KiB".into(), depth.to_string()],
        ops_per_s: f64::from(depth) * 100.0,
        bytes_per_s: f64::from(depth) * 409_600.0,
        latency_ns_mean: Some(1500.5),
        gain,
        ..SweepRow::default()
    };
    let large = SweepRow { verdict: Verdict::Wrong, ..row(16, Some(1.9)) };
    report.judgement.sweep = Some(Sweep {
        keys: vec![SweepKey::Bs, SweepKey::Depth],
        rows: vec![row(8, None), large],
        knees: Vec::new(),
    });
    let text = table(&report, Table::Sweep).expect("written");
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "bs,depth,ops_per_s,bytes_per_s,latency_ns_mean,latency_ns_p99,gain,verdict",
            "4 KiB,8,800.0,3276800.0,1500.5,,,ok",
            "4 KiB,16,1600.0,6553600.0,1500.5,,1.9,wrong",
        ]
    );
}
