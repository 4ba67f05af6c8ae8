//! A number that is shown in several places is the same number in all of them.
//!
//! Each recorded report is shown in every form, and the results of its operations are looked up
//! there: as they are where numbers are written in full, as people read them elsewhere.

mod carried;
mod compared;

use std::collections::BTreeMap;
use std::path::PathBuf;

use candor_chart::{Panel, Shape};
use candor_metrics::{Format, RunMetrics};
use candor_plan::work::Figure;
use candor_record::fmt::column;
use candor_record::{Event, Measurement, OpStats, PhaseRecord, Report};
use candor_show::charts::{self, Run};
use candor_show::csv::{self, Table};
use candor_show::{Style, json, report};

/// Figures of an operation, as the record has them.
#[derive(Clone, Debug, PartialEq)]
struct Figures {
    ops: u64,
    bytes: u64,
    ops_per_s: f64,
    bytes_per_s: f64,
    /// (percentile, ns), as far as they are quoted.
    percentiles: Vec<(f64, u64)>,
}

/// By index of the phase, job and operation.
type Numbers = BTreeMap<(usize, String, String), Figures>;

/// Percentiles that every form has, where samples carry them.
const EVERYWHERE: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

fn recorded() -> Vec<(String, Report)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../judge/tests/recorded"));
    let files = std::fs::read_dir(folder).expect("the recorded reports");
    let mut all = Vec::new();
    for path in files.map(|file| file.expect("an entry").path()) {
        let text = std::fs::read_to_string(&path).expect("a recorded report");
        let mut report = candor_record::read_unjudged(&text).expect("a report");
        report.judgement = candor_judge::judge_again(&report);
        all.push((path.display().to_string(), report));
    }
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert!(all.len() > 40, "{}", all.len());
    all
}

/// The numbers of the record.
fn of_record(report: &Report) -> Numbers {
    let mut numbers = Numbers::new();
    for (nth, (phase, _)) in report.judged().enumerate() {
        for (job, stats) in operations(phase) {
            let quoted = |p| Some((p, stats.latency.as_ref()?.percentile_ns(p)?));
            let figures = Figures {
                ops: stats.ops,
                bytes: stats.bytes,
                ops_per_s: stats.ops_per_s,
                bytes_per_s: stats.bytes_per_s,
                percentiles: EVERYWHERE.into_iter().filter_map(quoted).collect(),
            };
            numbers.insert((nth, job.to_owned(), stats.name.clone()), figures);
        }
    }
    numbers
}

/// The operations of a phase that completed something, each with its job.
fn operations(phase: &PhaseRecord) -> impl Iterator<Item = (&str, &OpStats)> {
    let jobs = phase.measurements.iter();
    let all = jobs.flat_map(|job| job.operations.iter().map(|stats| (job.job.as_str(), stats)));
    all.filter(|(_, stats)| stats.ops > 0)
}

/// JSON and CSV.
fn for_machines(report: &Report) -> [String; 2] {
    [json::report(report).expect("written"), csv::report(report).expect("written")]
}

fn of_json(text: &str) -> Numbers {
    let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let mut numbers = Numbers::new();
    let judged = value["judgement"]["phases"].as_array().expect("judgements").iter();
    let phases = value["phases"].as_array().expect("phases").iter();
    let phases = phases.zip(judged).filter(|(_, judged)| !judged.is_null());
    for (nth, (phase, _)) in phases.enumerate() {
        for job in phase["measurements"].as_array().expect("jobs") {
            let name = job["job"].as_str().expect("a name");
            for (operation, stats) in job["operations"].as_object().expect("operations") {
                let of = |key: &str| stats[key].as_f64().expect("a number");
                let whole = |key: &str| stats[key].as_u64().expect("a whole number");
                if whole("ops") == 0 {
                    continue;
                }
                let quoted = stats["latency"]["percentiles"].as_array().into_iter().flatten();
                let quoted = quoted.map(|pair| {
                    (pair[0].as_f64().expect("a percentile"), pair[1].as_u64().expect("a time"))
                });
                let figures = Figures {
                    ops: whole("ops"),
                    bytes: whole("bytes"),
                    ops_per_s: of("ops_per_s"),
                    bytes_per_s: of("bytes_per_s"),
                    percentiles: quoted.filter(|(p, _)| EVERYWHERE.contains(p)).collect(),
                };
                numbers.insert((nth, name.to_owned(), operation.clone()), figures);
            }
        }
    }
    numbers
}

/// The rows of a table, each by the names of its columns.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

/// The index of the phase of a row.
fn phase_of(report: &Report, row: &BTreeMap<String, String>) -> usize {
    let is = |phase: &PhaseRecord| {
        phase.name == row["phase"] && (phase.repeat + 1).to_string() == row["repeat"]
    };
    report.judged().position(|(phase, _)| is(phase)).expect("a phase of that name")
}

fn of_csv(report: &Report, text: &str) -> Numbers {
    let mut numbers = Numbers::new();
    let results = rows(text).into_iter();
    for row in results.filter(|row| row["row"] == "result" && row["ops"] != "0") {
        let quoted = EVERYWHERE.into_iter().filter_map(|p| {
            let cell = &row[&format!("latency_ns_p{p}")];
            Some((p, cell.parse().ok()?))
        });
        let figures = Figures {
            ops: row["ops"].parse().expect("a whole number"),
            bytes: row["bytes"].parse().expect("a whole number"),
            ops_per_s: row["ops_per_s"].parse().expect("a number"),
            bytes_per_s: row["bytes_per_s"].parse().expect("a number"),
            percentiles: quoted.collect(),
        };
        let of = (phase_of(report, &row), row["job"].clone(), row["operation"].clone());
        numbers.insert(of, figures);
    }
    numbers
}

/// Percentiles by phase, job and operation.
fn percentiles_of_csv(report: &Report) -> BTreeMap<(usize, String, String), Vec<(f64, u64)>> {
    let mut all = BTreeMap::<_, Vec<(f64, u64)>>::new();
    let text = csv::table(report, Table::Percentiles).expect("written");
    let rows = rows(&text).into_iter();
    for row in rows.filter(|row| row["kind"] == "all" && row["target"].is_empty()) {
        let percentile: f64 = row["percentile"].parse().expect("a number");
        if EVERYWHERE.contains(&percentile) {
            let of = (phase_of(report, &row), row["job"].clone(), row["operation"].clone());
            let ns = row["latency_ns"].parse().expect("a time");
            all.entry(of).or_default().push((percentile, ns));
        }
    }
    all
}

/// The endpoint's figures of one phase after its end, by job and operation.
fn of_endpoint(phase: &PhaseRecord) -> BTreeMap<(String, String), Figures> {
    let mut metrics = RunMetrics::default();
    metrics.take(&Event::PhaseDone { record: Box::new(phase.clone()) });
    let text = Format::OpenMetrics.write(&metrics.registry());
    let value = |name: &str, job: &str, operation: &str, more: &str| -> Option<f64> {
        let phase = &phase.name;
        let labels = format!(r#"phase="{phase}",job="{job}",operation="{operation}"{more}"#);
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}{{{labels}}} ")));
        line.map(|value| value.parse().expect("a number"))
    };
    let figures = operations(phase).map(|(job, stats)| {
        let of = |name| value(name, job, &stats.name, "").expect("a series");
        let quoted = EVERYWHERE.into_iter().filter_map(|p| {
            let more = format!(r#",percentile="{p}""#);
            let seconds = value("candor_result_latency_seconds", job, &stats.name, &more)?;
            Some((p, (seconds * 1e9).round() as u64))
        });
        let figures = Figures {
            ops: of("candor_operations_total") as u64,
            bytes: of("candor_bytes_total") as u64,
            ops_per_s: of("candor_result_operations_per_second"),
            bytes_per_s: of("candor_result_bytes_per_second"),
            percentiles: quoted.collect(),
        };
        ((job.to_owned(), stats.name.clone()), figures)
    });
    figures.collect()
}

#[test]
fn forms_for_machines_have_the_numbers_of_the_record() {
    for (name, report) in recorded() {
        let numbers = of_record(&report);
        assert!(!numbers.is_empty(), "{name}");
        let [text, table] = for_machines(&report);
        assert_eq!(of_json(&text), numbers, "JSON of {name}");
        assert_eq!(of_csv(&report, &table), numbers, "CSV of {name}");
        let percentiles = percentiles_of_csv(&report);
        for (of, figures) in &numbers {
            let quoted = percentiles.get(of).cloned().unwrap_or_default();
            assert_eq!(quoted, figures.percentiles, "percentiles of {of:?} in {name}");
        }
        for (nth, (phase, _)) in report.judged().enumerate() {
            let is_read_back = phase.measurements.iter().any(|job| job.read_back.is_some());
            for ((job, operation), figures) in of_endpoint(phase) {
                let of = (nth, job, operation);
                let expected = &numbers[&of];
                // Its counters of reads have those that read back as well.
                if !(is_read_back && of.2 == "read") {
                    assert_eq!(&figures, expected, "endpoint: {of:?} in {name}");
                }
            }
        }
    }
}

/// Texts of an operation's numbers, as people read them.
fn texts(figures: &Figures, figure: Figure) -> Vec<String> {
    let mut texts = Vec::new();
    if matches!(figure, Figure::Read | Figure::Write) {
        texts.push(column::iops(figures.ops_per_s));
        texts.push(column::mb_per_s(figures.bytes_per_s));
    }
    texts
}

#[test]
fn forms_for_people_have_them_in_their_words() {
    let mut found = 0;
    for (name, report) in recorded() {
        let text = report::text(&report, &Style::default());
        let words: Vec<&str> = text.split_whitespace().collect();
        let numbers = of_record(&report);
        for (nth, (phase, _)) in report.judged().enumerate() {
            for (job, stats) in operations(phase) {
                let figures = &numbers[&(nth, job.to_owned(), stats.name.clone())];
                // The text has no p95.
                let quoted = figures.percentiles.iter().filter(|(p, _)| *p != 95.0);
                let times = quoted.filter(|_| stats.figure.is_work());
                let times = times.map(|(_, ns)| column::time(*ns));
                for number in texts(figures, stats.figure).into_iter().chain(times) {
                    let parts: Vec<&str> = number.split_whitespace().collect();
                    let is_here = words.windows(parts.len()).any(|part| part == parts);
                    assert!(is_here, "{number} of {job} in {name}:\n{text}");
                    found += 1;
                }
            }
        }
    }
    assert!(found > 80, "{found}");
}

fn page(report: &Report) -> String {
    let [text, table] = for_machines(report);
    candor_html::report(report, &text, &table)
}

/// The section of a page with that name.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("id=\"{id}\"")).expect(id);
    rest.split("</section>").next().unwrap_or(rest)
}

#[test]
fn a_page_has_them_in_the_cells_of_its_tables() {
    let mut found = 0;
    for (name, report) in recorded() {
        let page = page(&report);
        let results = section(&page, "results");
        let numbers = of_record(&report);
        for (nth, (phase, _)) in report.judged().enumerate() {
            for (job, stats) in operations(phase).filter(|(_, stats)| stats.figure.is_work()) {
                let figures = &numbers[&(nth, job.to_owned(), stats.name.clone())];
                let times = figures.percentiles.iter().map(|(_, ns)| column::time(*ns));
                for number in texts(figures, stats.figure).into_iter().chain(times) {
                    let cell = format!(">{number}<");
                    assert!(results.contains(&cell), "{number} of {job} on the page of {name}");
                    found += 1;
                }
            }
        }
    }
    assert!(found > 300, "{found}");
}

/// Values of the bars of a picture, with the index of each one's row.
fn bars(panel: &Panel) -> Vec<(usize, f64)> {
    let bars = panel.series.iter().flat_map(|series| match &series.shape {
        Shape::Bars(bars) => bars.clone(),
        _ => Vec::new(),
    });
    bars.map(|bar| (bar.row, bar.value)).collect()
}

#[test]
fn pictures_have_the_numbers_of_the_record() {
    let mut compared = 0;
    for (name, report) in recorded() {
        let results = candor_derive::results(&report);
        let run = Run { name: "run", results: &results, report: Some(&report) };
        let chart = charts::bars::bars(&[run]).expect("a picture");
        let jobs = report.judged().flat_map(|(phase, _)| &phase.measurements);
        let work = jobs.flat_map(Measurement::shown_operations).filter(|stats| stats.ops > 0);
        let work: Vec<OpStats> = work.collect();
        let expected = |of: &dyn Fn(&OpStats) -> Option<f64>| -> Vec<(usize, f64)> {
            let rows = work.iter().enumerate();
            rows.filter_map(|(row, stats)| Some((row, of(stats)?))).collect()
        };
        for panel in &chart.panels {
            let expected = match panel.y.label.as_str() {
                "IOPS" => expected(&|stats| Some(stats.ops_per_s)),
                "Throughput" => expected(&|stats| Some(stats.bytes_per_s)),
                "Latency, mean" => expected(&|stats| Some(stats.latency.as_ref()?.mean_ns)),
                "Latency, p99" => {
                    expected(&|stats| Some(stats.latency.as_ref()?.percentile_ns(99.0)? as f64))
                }
                other => panic!("no figure is called {other}"),
            };
            assert_eq!(bars(panel), expected, "{} of {name}", panel.y.label);
            compared += expected.len();
        }
    }
    assert!(compared > 150, "{compared}");
}
