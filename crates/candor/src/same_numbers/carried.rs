//! Numbers that a page carries within itself: files to keep, and values that its script shows.

use candor_plan::work::Figure;
use candor_record::fmt::axis::short;
use candor_record::results::JobResults;
use candor_record::{Measurement, OpStats, Unit};
use candor_show::csv::{self, Table};
use serde_json::Value;

use super::{EVERYWHERE, of_csv, of_json, of_record, page, recorded, rows};

/// The file of that name that a page holds, unpacked; none where it would make the page too large.
fn file(page: &str, name: &str) -> Option<String> {
    let (before, _) = page.split_once(&format!("\" download=\"{name}\""))?;
    let (_, digits) = before.rsplit_once("href=\"data:application/gzip;base64,").expect("a file");
    let packed = bytes(digits);
    // Ten bytes of a head without further fields, and eight at the end.
    let deflated = &packed[10..packed.len() - 8];
    let text = miniz_oxide::inflate::decompress_to_vec(deflated).expect("deflated");
    Some(String::from_utf8(text).expect("a text"))
}

/// The bytes that are written in sixty-four digits.
fn bytes(digits: &str) -> Vec<u8> {
    let value = |digit: u8| match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let four = |digits: &[u8]| {
        let bits = digits.iter().fold(0u32, |bits, digit| bits << 6 | u32::from(value(*digit)));
        let all = (bits << (6 * (4 - digits.len()))).to_be_bytes();
        all[1..digits.len()].to_vec()
    };
    digits.trim_end_matches('=').as_bytes().chunks(4).flat_map(four).collect()
}

#[test]
fn files_on_a_page_have_the_numbers_of_the_record() {
    let mut left_out = 0;
    for (name, report) in recorded() {
        let (page, numbers) = (page(&report), of_record(&report));
        match file(&page, "report.json.gz") {
            Some(text) => assert_eq!(of_json(&text), numbers, "report.json.gz of {name}"),
            None => left_out += 1,
        }
        match file(&page, "samples.csv.gz") {
            Some(text) => assert_eq!(of_csv(&report, &text), numbers, "samples.csv.gz of {name}"),
            None => left_out += 1,
        }
    }
    assert!(left_out < 10, "{left_out}");
}

/// Values of the pictures of a page, as its script reads them, of those with that title.
pub fn values(page: &str, title: &str) -> Vec<Value> {
    let open = "<script type=\"application/json\">";
    let all = page.split(open).skip(1).map(|rest| {
        let text = rest.split("</script>").next().unwrap_or(rest);
        serde_json::from_str(text).expect("values")
    });
    // In front stand the phases of a part of a series.
    all.filter(|of: &Value| of["title"].as_str().is_some_and(|text| is_titled(text, title)))
        .collect()
}

/// True for the title of a picture of that kind, with or without the name of its part.
fn is_titled(text: &str, kind: &str) -> bool {
    text == kind || text.to_lowercase().ends_with(&format!(": {}", kind.to_lowercase()))
}

fn points(series: &Value) -> Vec<Vec<Option<f64>>> {
    let all = series["points"].as_array().expect("points").iter();
    all.map(|point| point.as_array().expect("a point").iter().map(Value::as_f64).collect())
        .collect()
}

/// The curves of a picture of percentiles: the series of a colour are parts of one.
fn curves(picture: &Value) -> Vec<Vec<(f64, f64)>> {
    let mut curves: Vec<Vec<(f64, f64)>> = Vec::new();
    for series in picture["panels"][0]["series"].as_array().expect("series") {
        let slot = series["slot"].as_u64().expect("a place") as usize;
        curves.resize(curves.len().max(slot + 1), Vec::new());
        let points = points(series);
        curves[slot].extend(points.iter().filter_map(|point| point[0].zip(point[1])));
    }
    curves
}

#[test]
fn curves_on_a_page_go_through_the_percentiles_of_the_record() {
    let mut compared = 0;
    for (name, report) in recorded() {
        let results = candor_derive::results(&report);
        let jobs = results.phases.iter().flat_map(|phase| &phase.jobs);
        let latencies: Vec<_> =
            jobs.flat_map(JobResults::work).filter_map(|op| op.latency.as_ref()).collect();
        let page = page(&report);
        let pictures = values(&page, "Latency percentiles");
        let drawn: Vec<_> = pictures.iter().flat_map(curves).collect();
        for (latency, curve) in latencies.iter().zip(&drawn) {
            for percentile in EVERYWHERE {
                let Some(ns) = latency.percentile_ns(percentile) else { continue };
                // A point tells from which percentile on the curve has its value; where one stands
                // exactly there, the values on both of its sides are that percentile.
                let before = curve.iter().rfind(|(from, _)| *from < percentile);
                let at = curve.iter().rfind(|(from, _)| *from <= percentile);
                let is_there = [before, at].iter().flatten().any(|(_, shown)| *shown == ns as f64);
                assert!(is_there, "p{percentile} of {name}: {ns}, not {before:?} or {at:?}");
                compared += 1;
            }
        }
        assert_eq!(latencies.len(), drawn.len(), "curves of {name}");
    }
    assert!(compared > 300, "{compared}");
}

/// Values of a panel of the timeline, without its gaps.
fn timeline(page: &str, panel: &str) -> Vec<f64> {
    let pictures = values(page, "Performance over time");
    let panels = pictures.iter().flat_map(|of| of["panels"].as_array().expect("panels"));
    let panels = panels.filter(|of| of["y"]["label"] == panel);
    let series = panels.flat_map(|of| of["series"].as_array().expect("series"));
    series
        .filter(|of| of["shape"] == "line")
        .flat_map(points)
        .filter_map(|point| point[1])
        .collect()
}

#[test]
fn timelines_on_a_page_have_the_samples_of_the_table() {
    let mut compared = 0;
    for (name, report) in recorded() {
        let page = page(&report);
        let text = csv::table(&report, Table::Samples).expect("written");
        for (panel, column, unit) in [
            ("IOPS", "ops_per_s", Unit::OpsPerS),
            ("Throughput", "bytes_per_s", Unit::BytesPerS),
            ("Latency", "latency_ns_p50", Unit::Ns),
        ] {
            // Commits stand in for writes that each have a flush, with the bytes of these.
            let of_work = |job: &Measurement| -> Vec<String> {
                let is_durable = panel != "Throughput" && job.durable_writes().is_some();
                let is_work = |stats: &&OpStats| match stats.figure {
                    Figure::Write => !is_durable,
                    Figure::Commit => is_durable,
                    figure => figure.is_work(),
                };
                job.operations.iter().filter(is_work).map(|stats| stats.name.clone()).collect()
            };
            let jobs = report.phases.iter().flat_map(|phase| &phase.measurements);
            let work: Vec<String> = jobs.flat_map(of_work).collect();
            let mut shown = timeline(&page, panel);
            let mut rows = rows(&text);
            // Operations that consist of others are in the table only.
            rows.retain(|row| work.contains(&row["operation"]));
            // Intervals of less than a second have a mean only.
            let column = if rows.iter().all(|row| row[column].is_empty()) {
                "latency_ns_mean"
            } else {
                column
            };
            let mut told: Vec<f64> =
                rows.iter().filter_map(|row| row[column].parse().ok()).collect();
            // Work on names moves no bytes, and has no such panel.
            told.retain(|value| panel != "Throughput" || *value > 0.0);
            shown.retain(|value| panel != "Throughput" || *value > 0.0);
            shown.sort_by(f64::total_cmp);
            told.sort_by(f64::total_cmp);
            let words = |all: &[f64]| all.iter().map(|of| short(*of, unit)).collect::<Vec<_>>();
            assert_eq!(words(&shown), words(&told), "{panel} of {name}");
            compared += shown.len();
        }
    }
    assert!(compared > 600, "{compared}");
}
