use std::io::Cursor;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::aggregate::Request;
use crate::merge::{Merge, Source};
use crate::report::Report;
use crate::{compare, text};

const SECOND: i64 = 1_000_000_000;

/// 2026-01-02T03:04:05Z.
const START: i64 = 1_767_323_045 * SECOND;

/// A run of some seconds: each thread sends requests of a given time one after the other.
struct Run {
    op: &'static str,
    client: &'static str,
    threads: u32,
    seconds: i64,
    millis: i64,
    bytes: u64,
    offset_s: i64,
}

const GET: Run = Run {
    op: "GET",
    client: "aaaa",
    threads: 4,
    seconds: 6,
    millis: 100,
    bytes: 1 << 20,
    offset_s: 0,
};

const PUT: Run = Run { op: "PUT", millis: 250, threads: 2, ..GET };

const EMPTY: Request<'static> = Request {
    thread: 0,
    op: "",
    client: "",
    objects: 1,
    bytes: 0,
    endpoint: "",
    file: "",
    error: "",
    start_ns: 0,
    first_byte_ns: None,
    last_byte_ns: None,
    end_ns: 0,
    category: "0",
};

/// A file with the requests of runs.
fn csv_of(runs: &[Run]) -> Vec<u8> {
    let mut writer = csv::Writer::new(Vec::new()).expect("memory");
    for run in runs {
        let start = START + run.offset_s * SECOND;
        let count = run.seconds * 1000 / run.millis;
        for nth in 0..count {
            for thread in 0..run.threads {
                let start_ns = start + nth * run.millis * 1_000_000;
                let first_byte_ns = start_ns + run.millis * 400_000;
                let is_upload = run.op == "PUT";
                let request = Request {
                    thread,
                    op: run.op,
                    client: run.client,
                    objects: 1,
                    bytes: run.bytes,
                    endpoint: ["http://a:9000", "http://b:9000"][thread as usize % 2],
                    file: "key",
                    error: if nth == 3 && thread == 0 { "503 Slow Down" } else { "" },
                    start_ns,
                    first_byte_ns: Some(first_byte_ns),
                    last_byte_ns: is_upload.then_some(start_ns + run.millis * 300_000),
                    end_ns: start_ns + run.millis * 1_000_000 - i64::from(thread) * 1_000_000,
                    category: "0",
                };
                writer.request(&request).expect("memory");
            }
        }
    }
    writer.finish("warp get --secret-key=*REDACTED*").expect("memory")
}

/// A document with pieces of 10 seconds, as warp writes it.
fn json_of_pieces() -> Vec<u8> {
    let results = results(&csv_of(&[GET]));
    let mut document = json::Document::of(&results);
    let op = document.by_op_type.get_mut("GET").expect("the operation");
    for pieces in op.requests_by_client.iter_mut().flat_map(|of| of.values_mut()) {
        let mut second = pieces[0].clone();
        let single = second.single_sized_requests.as_mut().expect("times");
        single.dur_99_millis = 300.0;
        single.slowest_millis = 350.0;
        pieces.push(second);
    }
    zstd::encode_all(&*serde_json::to_vec(&document).expect("a document"), 0).expect("memory")
}

fn results(bytes: &[u8]) -> Results {
    read("file", bytes, &Settings::default()).expect("a file of warp")
}

fn json_of(results: &Results) -> Vec<u8> {
    let mut bytes = Vec::new();
    json::write(results, &mut bytes).expect("memory");
    bytes
}

fn wrong(bytes: &[u8]) -> String {
    read("file", bytes, &Settings::default()).expect_err("no file of warp")
}

/// The text in a compressed file.
fn decoded(bytes: &[u8]) -> String {
    String::from_utf8(zstd::decode_all(bytes).expect("compressed")).expect("text")
}

#[test]
fn requests_become_the_text_of_a_run() {
    insta::assert_snapshot!(text::results(&results(&csv_of(&[GET])), true));
    insta::assert_snapshot!(text::results(&results(&csv_of(&[GET, PUT])), false));
    let stat = Run { op: "STAT", bytes: 0, millis: 20, ..GET };
    insta::assert_snapshot!(text::results(&results(&csv_of(&[stat])), false));
    let first = csv_of(&[PUT, Run { offset_s: 6, ..GET }]);
    let text = text::results(&results(&first), false);
    assert!(text.contains("Report: PUT") && !text.contains("Total"), "{text}");
    let short = Run { seconds: 1, ..GET };
    insta::assert_snapshot!(text::results(&results(&csv_of(&[short])), false));
}

#[test]
fn the_rate_and_the_segments_cover_the_same_time() {
    let results = results(&csv_of(&[GET]));
    let report = &results.ops[0];
    // 4 threads, 10 requests/s each, 1 MiB per request; all threads are active for 5.997 s.
    assert_eq!(report.segments.len(), 5);
    let rate = report.rate().expect("segments");
    assert!((rate.objects - 40.0).abs() < 0.5, "{rate:?}");
    assert!((rate.bytes / f64::from(1 << 20) - rate.objects).abs() < 1e-6, "{rate:?}");
    assert_eq!((report.requests, report.errors, report.concurrency), (240, 1, 4));
    let hosts: f64 = report.hosts.values().map(|host| host.rate.objects).sum();
    assert!((hosts - rate.objects).abs() < 1e-6);
}

#[test]
fn uploads_wait_for_the_answer_after_their_last_byte() {
    let results = results(&csv_of(&[GET, PUT]));
    let summaries = results.ops.iter().map(|op| op.first_byte.summary().expect("times"));
    assert_eq!(summaries.map(|summary| summary.mean).collect::<Vec<_>>(), [40e6, 25e6]);
}

#[test]
fn written_files_have_the_columns_of_warp() {
    let text = decoded(&csv_of(&[Run { seconds: 1, threads: 1, millis: 500, ..PUT }]));
    insta::assert_snapshot!(text.replace('\t', " | "));
    let results = results(&csv_of(&[Run { seconds: 3, ..GET }]));
    let json: serde_json::Value = serde_json::from_str(&decoded(&json_of(&results))).expect("JSON");
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&json["by_op_type"]["GET"]["throughput"]).expect("JSON")
    );
    let single = &json["by_op_type"]["GET"]["requests_by_client"]["aaaa"][0];
    let single = &single["single_sized_requests"];
    assert_eq!(single["dur_percentiles_millis"].as_array().map(Vec::len), Some(101));
    assert_eq!((json["v"].as_u64(), json["final"].as_bool()), (Some(2), Some(true)));
}

#[test]
fn summaries_keep_rates_and_times() {
    let whole = results(&csv_of(&[GET, PUT]));
    let again = results(&json_of(&whole));
    let texts = [&whole, &again].map(|of| text::results(of, false));
    assert_eq!(texts[0], texts[1]);
    assert!(!texts[1].contains("S31"));
    assert_eq!(again.command_line, "warp get --secret-key=*REDACTED*");
}

#[test]
fn percentiles_of_several_pieces_have_a_remark() {
    let results = results(&json_of_pieces());
    insta::assert_snapshot!(text::results(&results, false));
}

#[test]
fn rates_by_size_are_printed() {
    let text = r#"{"v":2,"by_op_type":{"GET":{"concurrency":8,"total_requests":9,"hosts":1,
        "clients":{"a":2},"first_errors":null,"throughput":{"ops":9,
        "segmented":{"segment_duration_millis":1000,"segments":[
            {"start":"2026-01-02T03:04:05Z","bytes_per_sec":2e6,"obj_per_sec":4}]}},
        "requests_by_client":{"a":[{"multi_sized_requests":{"by_size":[
            {"min_size":0,"max_size":1024,"bps_average":1e6,"bps_median":2e6,"bps_fastest":3e6,
             "bps_slowest":4e5}]}},{"multi_sized_requests":{"by_size":[
            {"min_size":0,"max_size":1024,"bps_average":3e6,"bps_median":2e6,"bps_fastest":9e6,
             "bps_slowest":1e5}]}}]}}}}"#;
    insta::assert_snapshot!(text::results(&results(text.as_bytes()), false));
}

#[test]
fn segments_are_a_table() {
    let run = results(&csv_of(&[Run { seconds: 3, ..GET }]));
    insta::assert_snapshot!(text::segments(&run).replace('\t', " | "));
    let summaries = results(&json_of(&run));
    assert!(text::segments(&summaries).contains("\t\t\t\t\t"), "no counts");
}

fn select(bytes: &[u8], settings: &Settings) -> Results {
    read("file", bytes, settings).expect("a file of warp")
}

#[test]
fn settings_select_requests() {
    let bytes = csv_of(&[GET, PUT]);
    let op = Settings { op: Some("PUT".to_owned()), ..Settings::default() };
    assert_eq!(select(&bytes, &op).ops.len(), 1);
    let host = Settings { host: Some("a:9000".to_owned()), ..Settings::default() };
    assert_eq!(select(&bytes, &host).total.hosts.len(), 1);
    let skip = Settings { skip_ns: 3 * SECOND as u64, ..Settings::default() };
    assert_eq!(select(&bytes, &skip).ops[0].segments.len(), 2);
    let few = Settings { limit: 10, offset: 5, ..Settings::default() };
    assert_eq!(select(&bytes, &few).total.requests, 10);
    let long = Settings { segment_ns: 2 * SECOND as u64, ..Settings::default() };
    assert_eq!(select(&bytes, &long).ops[0].segments.len(), 2);
    let none = Settings { op: Some("X".to_owned()), ..Settings::default() };
    assert_eq!(text::results(&select(&bytes, &none), false), "No operation matches.\n");
}

#[test]
fn summaries_of_one_host_or_operation() {
    let bytes = json_of(&results(&csv_of(&[GET, PUT])));
    let host = Settings { host: Some("b:9000".to_owned()), ..Settings::default() };
    let of_host = read("file", &*bytes, &host).expect("a file");
    assert!(of_host.ops.iter().all(|op| op.hosts.len() == 1 && !op.segments.is_empty()));
    let refused = [
        Settings { host: Some("c".to_owned()), ..Settings::default() },
        Settings { skip_ns: 1, ..Settings::default() },
    ];
    let sentences = refused.map(|settings| read("file", &*bytes, &settings).expect_err("refused"));
    insta::assert_snapshot!(sentences.join("\n"));
    let long = Settings { segment_ns: 5 * SECOND as u64, ..Settings::default() };
    assert_eq!(read("file", &*bytes, &long).expect("a file").remarks.len(), 1);
}

#[test]
fn messages_keep_tabs_quotes_and_lines() {
    let messages = ["\"quoted\" first", "a\ttab", "<Error>\n  <Code>\"1\"</Code>\r\n</Error>"];
    let mut writer = csv::Writer::new(Vec::new()).expect("memory");
    for error in messages {
        let request = Request { op: "GET", error, start_ns: START, end_ns: START, ..EMPTY };
        writer.request(&request).expect("memory");
    }
    let read = results(&writer.finish("").expect("memory"));
    assert_eq!(
        (read.total.first_errors, read.total.errors),
        (messages.map(str::to_owned).into(), 3)
    );
}

#[test]
fn stored_sums_of_merged_pieces_become_averages() {
    let mut whole = results(&json_of_pieces());
    let before = whole.ops[0].latency.summary().expect("times");
    assert_eq!(before.pieces, 2);
    let text = json::text(&whole);
    let p99 = "\"dur_99_millis\": 400.0";
    assert!(text.contains(p99) && text.contains("\"merged_entries\": 2"), "{text}");
    whole = results(&json_of(&whole));
    let after = whole.ops[0].latency.summary().expect("times");
    assert!((after.p99 - before.p99).abs() < 1.0 && (after.mean - before.mean).abs() < 1.0);
}

#[test]
fn older_files_have_fewer_columns_and_may_be_plain() {
    let text = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\t\
                first_byte\tend\tduration_ns\n\
                0\t0\tGET\tx\t1\t5\thttp://a\tk\t\t2026-01-02T03:04:05.5Z\t\
                2026-01-02T03:04:05.6+00:00\t2026-01-02T03:04:08Z\t2\r\n\n\
                1\t0\t\"GET\"\tx\t1\t5\thttp://a\tk\t\t2026-01-02T03:04:08Z\t\
                0001-01-01T00:00:00Z\t2026-01-02T03:04:09Z\t2\n# warp get\n";
    let read = results(text.as_bytes());
    let report = &read.ops[0];
    assert_eq!((report.requests, report.bytes, report.segments.len()), (2, 10, 3));
    assert_eq!(report.first_byte.summary().map(|of| of.requests), Some(1));
    assert_eq!(read.command_line, "warp get");
}

const TIME: &str = "2026-01-02T03:04:05Z";

/// A file whose third line is this.
fn with_line(line: &str) -> Vec<u8> {
    format!("op\tbytes\tstart\tend\nGET\t1\t{TIME}\t{TIME}\n{line}\n").into_bytes()
}

#[test]
fn damaged_and_foreign_files_have_a_sentence() {
    let (csv, json) = (csv_of(&[GET]), json_of(&results(&csv_of(&[GET]))));
    let mut flipped = csv.clone();
    flipped[20..60].fill(0xff);
    let time = TIME;
    let sentences = [
        wrong(b""),
        wrong(&csv[..csv.len() / 2]),
        wrong(&json[..json.len() / 2]),
        wrong(&flipped),
        wrong(b"hello\nworld\n"),
        wrong(b"op\tbytes\tstart\tend\n# warp get\n"),
        wrong(b"{\"a\": 1}"),
        wrong(b"{\"v\": 2}"),
        wrong(b"{\"v\": 2, \"by_op_type\": 5}"),
        wrong(b"{\"v\": 2, "),
        wrong(&with_line(&format!("GET\t-1\t{time}\t{time}"))),
        wrong(&with_line(&format!("GET\t1\tyesterday\t{time}"))),
        wrong(&with_line(&format!("GET\t1\t{time}\t2020-01-01T00:00:00Z"))),
        wrong(&with_line(&format!("\t1\t{time}\t{time}"))),
        wrong(&with_line(&format!("GET\t1\t{time}\t2126-01-01T00:00:00Z"))),
        wrong(&[&with_line("")[..], b"\xff\xfe\n"].concat()),
        wrong(&with_line(&"x".repeat(2 << 20))),
        wrong(br#"{"v":2,"by_op_type":{"GET":{"start_time":"now"}}}"#),
    ];
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn comparisons_set_like_beside_like() {
    let before = results(&csv_of(&[GET, PUT]));
    let stat = Run { op: "STAT", bytes: 0, ..GET };
    let slower = Run { millis: 125, threads: 3, ..GET };
    let after = results(&csv_of(&[slower, PUT, stat]));
    insta::assert_snapshot!(compare::text(&before, &after));
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&compare::json(&before, &after)["operations"][0]).unwrap()
    );
    let averaged = results(&json_of_pieces());
    insta::assert_snapshot!(compare::text(&results(&csv_of(&[GET])), &averaged));
    let same = compare::text(&averaged, &averaged);
    assert!(same.contains("Avg: +0.0% (+0ns), 50%:") && same.contains("S31"), "{same}");
}

fn source(name: &str, bytes: &[u8]) -> Source<'static> {
    Source { name: name.to_owned(), input: Box::new(Cursor::new(bytes.to_vec())) }
}

#[test]
fn merged_requests_keep_everything() {
    let (one, other) = (csv_of(&[GET]), csv_of(&[Run { offset_s: 2, ..GET }, PUT]));
    let merge = Merge::open(vec![source("one", &one), source("other", &other)]).expect("files");
    assert_eq!(merge.ending(), ".csv.zst");
    let mut bytes = Vec::new();
    let merged = merge.write(&mut bytes).expect("memory");
    insta::assert_snapshot!(text::results(&merged, false));
    let get: &Report = &merged.ops[0];
    assert_eq!((get.requests, get.concurrency, get.segments.len()), (480, 8, 7));
    let hosts: f64 = get.hosts.values().map(|host| host.rate.objects).sum();
    assert!((hosts - get.rate().expect("segments").objects).abs() < 1e-6, "{hosts}");
    let again = results(&bytes);
    assert_eq!(again.ops[0].latency, get.latency);
    assert_eq!(again.ops[0].clients.iter().collect::<Vec<_>>(), ["aaaa", "aaaa-2"]);
}

#[test]
fn merged_summaries_keep_everything() {
    let json = json_of(&results(&csv_of(&[Run { offset_s: 3, ..GET }])));
    let csv = csv_of(&[Run { client: "bbbb", ..GET }]);
    let merge = Merge::open(vec![source("a", &json), source("b", &csv)]).expect("files");
    assert_eq!(merge.ending(), ".json.zst");
    let mut bytes = Vec::new();
    let merged = merge.write(&mut bytes).expect("memory");
    assert_eq!(merged.ops[0].segments.len(), 8);
    assert_eq!(merged.remarks.len(), 2);
    assert_eq!(results(&bytes).ops[0].requests, 480);
    let long = r#"{"v":2,"by_op_type":{"GET":{"throughput":{"segmented":{
        "segment_duration_millis":5000}}}}}"#;
    let merge = Merge::open(vec![source("a", &json), source("b", long.as_bytes())]);
    let refused = merge.expect("files").write(Vec::new()).expect_err("other segments");
    assert!(refused.starts_with("b: GET has segments of 5 s"), "{refused}");
}

#[test]
fn names_of_files_have_command_time_and_letters() {
    let now = Timestamp::from_nanosecond(i128::from(START)).expect("a time");
    assert_eq!(name("get", now, 0x0102_0304), "warp-get-2026-01-02[030405]-edcb");
}

/// Reads any bytes, plain and compressed.
fn read_any(bytes: &[u8]) {
    let _ = read("file", bytes, &Settings::default());
    let compressed = zstd::encode_all(bytes, 0).expect("memory");
    if let Ok(results) = read("file", &*compressed, &Settings::default()) {
        let _ = (text::results(&results, true), text::segments(&results));
        let _ = (compare::text(&results, &results), json_of(&results));
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>, line in "[-0-9.eEZT:\t]{0,40}", cut in 0usize..20_000) {
        read_any(&bytes);
        read_any(format!("op\tbytes\tstart\tend\n{line}\n").as_bytes());
        let csv = csv_of(&[Run { seconds: 1, ..GET }]);
        let _ = read("file", &csv[..cut.min(csv.len())], &Settings::default());
    }

    #[test]
    fn no_odd_number_panics(
        bytes: u64, objects: u64, thread: u32,
        start in -2i64..1 << 40, length in 0i64..1 << 40, first in any::<i32>(),
    ) {
        let [from, to, middle] = [start, start + length, start + i64::from(first)]
            .map(|ns| Timestamp::from_nanosecond(i128::from(ns)).expect("a time"));
        read_any(format!(
            "op\tbytes\tn_objects\tthread\tstart\tfirst_byte\tend\nGET\t{bytes}\t{objects}\t\
             {thread}\t{from}\t{middle}\t{to}\nGET\t{bytes}\t{objects}\t0\t{from}\t\t{to}\n"
        ).as_bytes());
    }

    #[test]
    fn no_odd_document_panics(number in any::<f64>(), count: u64, millis: u64, v in 2u64..3) {
        let number = if number.is_finite() { number } else { 0.0 };
        read_any(format!(
            r#"{{"v":{v},"total":{{"total_requests":{count}}},"by_op_type":{{"GET":{{
                "total_requests":{count},"total_errors":{millis},"throughput":{{
                "measure_duration_millis":{millis},"bytes":{number},"segmented":{{
                "segment_duration_millis":{millis},"segments":[{{"bytes_per_sec":{number}}}]}}}},
                "requests_by_client":{{"a":[{{"single_sized_requests":{{"requests":{count},
                "dur_avg_millis":{number},"merged_entries":{count}}}}},{{"single_sized_requests":{{
                "requests":{count},"merged_entries":{millis},"dur_percentiles_millis":[{number}]
                }}}}]}}}}}}}}"#
        ).as_bytes());
    }
}
