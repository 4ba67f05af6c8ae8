//! `.json.zst`: summaries by operation, with rates by segment and times by 10-second piece.

mod document;
mod store;

use std::io::{self, BufRead, Read};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::error::Category;

pub use document::Document;
use document::{BySize, FirstByte, Operation, Piece, Single, Throughput};
pub use store::{text, text_with_verdict, write};

use super::broken;
use crate::aggregate::{Settings, is_host};
use crate::report::{HostReport, Rate, Report, Results, Segment, SizeClass, TOTAL};
use crate::timing::{Summary, Timing};

/// Largest document in bytes.
const DOCUMENT_MAX: u64 = 1 << 30;

/// Version of the format.
const VERSION: u64 = 2;

/// Reads a document.
///
/// # Errors
/// A sentence with the file, the line and the column.
pub(super) fn read(name: &str, input: Box<dyn BufRead + '_>) -> Result<Document, String> {
    let mut reader = serde_json::Deserializer::from_reader(input.take(DOCUMENT_MAX));
    let read = Document::deserialize(&mut reader).and_then(|read| reader.end().map(|()| read));
    let document = read.map_err(|error| wrong(name, error))?;
    let why = match document.v {
        VERSION if document.by_op_type.is_empty() => "has no operation".to_owned(),
        VERSION => return Ok(document),
        version => format!("has version {version} instead of {VERSION}"),
    };
    Err(format!(
        "{name}: the document {why}, so no results of warp are in it; name a .csv.zst or \
         .json.zst file of warp"
    ))
}

fn wrong(name: &str, error: serde_json::Error) -> String {
    let place = format!("{name}:{}:{}", error.line(), error.column());
    match error.classify() {
        Category::Io => broken(&place, &io::Error::from(error)),
        Category::Eof => format!("{place}: the document ends too early; copy the file again"),
        Category::Syntax | Category::Data => {
            let error = error.to_string();
            let why = error.rsplit_once(" at line ").map_or(error.as_str(), |(why, _)| why);
            format!("{place}: no document of warp: {why}; name a .json.zst file of warp")
        }
    }
}

/// The reports of a document.
///
/// # Errors
/// A sentence if the settings need each request or select nothing, or if a time cannot be read.
pub fn results(name: &str, document: Document, settings: &Settings) -> Result<Results, String> {
    if settings.skip_ns > 0 || settings.limit > 0 || settings.offset > 0 {
        return Err(format!(
            "{name}: has no requests, and --analyze.skip, --analyze.limit and --analyze.offset \
             need them; store requests with --full"
        ));
    }
    let mut results = Results { command_line: document.commandline, ..Results::default() };
    for (op, stored) in document.by_op_type {
        if settings.op.as_ref().is_none_or(|only| *only == op) {
            results.ops.push(report(name, &op, stored)?);
        }
    }
    results.total = report(name, TOTAL, document.total)?;
    if let Some(host) = &settings.host {
        select_host(name, host, &mut results)?;
    }
    let other = results.ops.iter().find(|op| op.segment_ns != settings.segment_ns);
    if let Some(op) = other {
        let seconds = op.segment_ns as f64 / 1e9;
        results.remarks.push(format!("{name} has segments of {seconds} s only"));
    }
    Ok(results)
}

/// Keeps the rates and times of one host.
fn select_host(name: &str, host: &str, results: &mut Results) -> Result<(), String> {
    if !results.total.hosts.keys().any(|known| is_host(known, host)) {
        let hosts: Vec<&str> = results.total.hosts.keys().map(String::as_str).collect();
        return Err(format!("{name}: has no host {host}; its hosts are {}", hosts.join(", ")));
    }
    for report in results.ops.iter_mut().chain([&mut results.total]) {
        report.hosts.retain(|known, _| is_host(known, host));
        let own = report.hosts.values().next().cloned().unwrap_or_default();
        if own.segments.is_empty() && !report.segments.is_empty() {
            return Err(format!(
                "{name}: has no segments of the host {host}; store requests with --full"
            ));
        }
        report.segments = own.segments;
        report.latency = own.latency;
        report.first_byte = Timing::Absent;
        report.sizes.clear();
    }
    results
        .remarks
        .push(format!("errors are totals of all hosts, because {name} has no errors by host"));
    Ok(())
}

fn report(name: &str, op: &str, stored: Operation) -> Result<Report, String> {
    let place = Place { name, op };
    let mut report = Report {
        op: op.to_owned(),
        concurrency: stored.concurrency,
        start_ns: place.time(&stored.start_time)?,
        end_ns: place.time(&stored.end_time)?,
        requests: stored.total_requests,
        objects: stored.total_objects,
        bytes: stored.total_bytes,
        errors: stored.total_errors,
        first_errors: stored.first_errors.unwrap_or_default(),
        clients: stored.clients.into_iter().filter(|name| !name.is_empty()).collect(),
        segment_ns: segment_ns(&stored.throughput),
        segments: place.segments(&stored.throughput)?,
        ..Report::default()
    };
    for (host, throughput) in stored.throughput_by_host.into_iter().flatten() {
        let segments = place.segments(&throughput)?;
        let rate = rate(&throughput);
        report.hosts.insert(host, HostReport { rate, segments, latency: Timing::Absent });
    }
    for piece in stored.requests_by_client.into_iter().flatten().flat_map(|(_, pieces)| pieces) {
        add_piece(&mut report, &piece);
    }
    Ok(report)
}

fn rate(throughput: &Throughput) -> Rate {
    let seconds = throughput.measure_duration_millis as f64 / 1e3;
    match throughput.measure_duration_millis {
        0 => Rate::default(),
        _ => Rate { bytes: throughput.bytes / seconds, objects: throughput.objects / seconds },
    }
}

/// Length of the segments; 1 s if there are none.
fn segment_ns(throughput: &Throughput) -> u64 {
    let millis = throughput.segmented.as_ref().map(|of| of.segment_duration_millis);
    millis.filter(|millis| *millis > 0).unwrap_or(1000).saturating_mul(1_000_000)
}

/// A place in a document.
struct Place<'a> {
    name: &'a str,
    op: &'a str,
}

impl Place<'_> {
    fn time(&self, text: &str) -> Result<i64, String> {
        let time = match text {
            "" => return Ok(0),
            text => text.parse::<Timestamp>().ok(),
        };
        let ns = time.and_then(|time| i64::try_from(time.as_nanosecond()).ok());
        ns.ok_or_else(|| {
            let Place { name, op } = self;
            let shown: String = text.chars().take(40).collect();
            format!("{name}: {op} has the time `{shown}`, and not one in RFC 3339; copy it again")
        })
    }

    fn segments(&self, throughput: &Throughput) -> Result<Vec<Segment>, String> {
        let Some(segmented) = &throughput.segmented else { return Ok(Vec::new()) };
        let seconds = segment_ns(throughput) as f64 / 1e9;
        let mut segments = Vec::new();
        for stored in segmented.segments.iter().flatten() {
            segments.push(Segment {
                start_ns: self.time(&stored.start)?,
                bytes: stored.bytes_per_sec * seconds,
                objects: stored.obj_per_sec * seconds,
                errors: stored.errors,
                counts: None,
            });
        }
        // Files order segments by rate.
        segments.sort_by_key(|segment| segment.start_ns);
        Ok(segments)
    }
}

fn add_piece(report: &mut Report, piece: &Piece) {
    if let Some(single) = &piece.single_sized_requests {
        let pieces = single.merged_entries.max(1);
        report.latency.add(&latency(single));
        report.first_byte.add(&first_byte(&single.first_byte, single.requests, pieces));
        for (host, own) in single.by_host.iter().flatten() {
            report.hosts.entry(host.clone()).or_default().latency.add(&latency(own));
        }
    }
    let multi = piece.multi_sized_requests.iter();
    for by_size in multi.flat_map(|multi| multi.by_size.iter().flatten()) {
        let (requests, pieces) = (by_size.requests.max(1), by_size.merged_entries.max(1));
        report.first_byte.add(&first_byte(&by_size.first_byte, requests, pieces));
        let class = size_class(by_size, requests);
        let known = report.sizes.iter_mut().find(|known| known.is_like(&class));
        match known {
            Some(known) => known.add(&class),
            None => report.sizes.push(class),
        }
    }
}

fn size_class(stored: &BySize, requests: u64) -> SizeClass {
    let pieces = stored.merged_entries.max(1) as f64;
    SizeClass {
        min_bytes: stored.min_size,
        max_bytes: stored.max_size,
        requests,
        average: stored.bps_average / pieces,
        median: stored.bps_median / pieces,
        fastest: stored.bps_fastest / pieces,
        slowest: stored.bps_slowest / pieces,
    }
}

fn latency(stored: &Single) -> Timing {
    if stored.requests == 0 {
        return Timing::Absent;
    }
    let scale = Scale::of(stored.merged_entries.max(1));
    let percentiles = scale.all(&stored.dur_percentiles_millis);
    Timing::Averaged(Box::new(Summary {
        requests: stored.requests,
        pieces: stored.merged_entries.max(1),
        mean: scale.ns(stored.dur_avg_millis),
        fastest: ns(stored.fastest_millis),
        slowest: ns(stored.slowest_millis),
        std_dev: scale.ns(stored.std_dev_millis),
        p25: percentiles.get(25).copied(),
        p50: scale.ns(stored.dur_median_millis),
        p75: percentiles.get(75).copied(),
        p90: scale.ns(stored.dur_90_millis),
        p99: scale.ns(stored.dur_99_millis),
        percentiles,
    }))
}

fn first_byte(stored: &Option<FirstByte>, requests: u64, pieces: u64) -> Timing {
    let Some(stored) = stored.as_ref().filter(|_| requests > 0) else { return Timing::Absent };
    let scale = Scale::of(pieces);
    Timing::Averaged(Box::new(Summary {
        requests,
        pieces,
        mean: scale.ns(stored.average_millis),
        fastest: ns(stored.fastest_millis),
        slowest: ns(stored.slowest_millis),
        std_dev: scale.ns(stored.std_dev_millis),
        p25: Some(scale.ns(stored.p25_millis)),
        p50: scale.ns(stored.median_millis),
        p75: Some(scale.ns(stored.p75_millis)),
        p90: scale.ns(stored.p90_millis),
        p99: scale.ns(stored.p99_millis),
        percentiles: scale.all(&stored.percentiles_millis),
    }))
}

/// Stored values are sums over pieces; results have their average.
struct Scale(f64);

impl Scale {
    fn of(pieces: u64) -> Scale {
        Scale(1.0 / pieces as f64)
    }

    fn ns(&self, millis: f64) -> f64 {
        ns(millis) * self.0
    }

    fn all(&self, percentiles: &Option<Vec<f64>>) -> Vec<f64> {
        percentiles.iter().flatten().map(|millis| self.ns(*millis)).collect()
    }
}

fn ns(millis: f64) -> f64 {
    millis * 1e6
}
