//! Reports to the stored form.

use std::collections::BTreeMap;
use std::io::{self, Write};

use candor_front::Object;
use jiff::Timestamp;
use serde::Serialize;

use super::VERSION;
use super::document::{
    BySize, Document, FirstByte, Multi, Operation, Piece, Segmented, Single, StoredSegment,
    Throughput,
};
use crate::report::{Rate, Report, Results, Segment, SizeClass, spread};
use crate::timing::{Summary, Timing};

/// Writes results as `.json.zst`.
///
/// # Errors
/// The output cannot be written.
pub fn write(results: &Results, output: impl Write) -> io::Result<()> {
    let mut encoder = zstd::Encoder::new(output, 0)?;
    serde_json::to_writer(&mut encoder, &Document::of(results))?;
    encoder.finish().map(drop)
}

/// Results as JSON, without compression.
pub fn text(results: &Results) -> String {
    pretty(&Document::of(results))
}

/// The same with candor's verdict under a separate key.
pub fn text_with_verdict(results: &Results, verdict: &Object) -> String {
    pretty(&Judged { document: Document::of(results), candor: verdict })
}

#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    document: Document,
    candor: &'a Object,
}

fn pretty(document: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(document);
    // Strings as keys and finite or null numbers: all of it has a form in JSON.
    json.map_or_else(|error| unreachable!("{error}"), |json| json + "\n")
}

impl Document {
    /// The stored form of results. Times of all requests become one piece.
    pub fn of(results: &Results) -> Document {
        let ops = results.ops.iter().map(|report| (report.op.clone(), Operation::of(report)));
        Document {
            v: VERSION,
            commandline: results.command_line.clone(),
            is_final: true,
            warp_version: format!("candor {}", env!("CARGO_PKG_VERSION")),
            total: Operation::of(&results.total),
            by_op_type: ops.collect(),
        }
    }
}

impl Operation {
    fn of(report: &Report) -> Operation {
        let client = report.clients.first().cloned().unwrap_or_else(|| "candor".to_owned());
        let pieces = piece(report).map(|piece| BTreeMap::from([(client, vec![piece])]));
        let by_host = report.hosts.iter().map(|(name, host)| {
            let segments = &host.segments;
            let duration_ns = report.duration_ns();
            (name.clone(), throughput(segments, report.segment_ns, duration_ns, host.rate))
        });
        let total = throughput(
            &report.segments,
            report.segment_ns,
            report.duration_ns(),
            report.rate().unwrap_or_default(),
        );
        Operation {
            total_requests: report.requests,
            total_objects: report.objects,
            total_errors: report.errors,
            total_bytes: report.bytes,
            concurrency: report.concurrency,
            start_time: time(report.start_ns),
            end_time: time(report.end_ns),
            first_errors: Some(report.first_errors.clone()),
            hosts: report.hosts.keys().cloned().collect(),
            clients: report.clients.iter().cloned().collect(),
            throughput: total,
            throughput_by_host: Some(by_host.collect()),
            requests_by_client: pieces,
        }
    }
}

/// Bytes and objects of segments, which have a rate over a time.
fn throughput(segments: &[Segment], segment_ns: u64, duration_ns: u64, rate: Rate) -> Throughput {
    let start = segments.first().map_or(0, |segment| segment.start_ns);
    let end = segments.last().map_or(0, |segment| segment.start_ns);
    let seconds = duration_ns as f64 / 1e9;
    Throughput {
        start_time: time(start),
        end_time: time(end.saturating_add_unsigned(segment_ns)),
        measure_duration_millis: duration_ns / 1_000_000,
        bytes: rate.bytes * seconds,
        objects: rate.objects * seconds,
        ops: segments.iter().filter_map(|of| of.counts).map(|counts| counts.ended).sum(),
        errors: segments.iter().map(|segment| segment.errors).sum(),
        segmented: segmented(segments, segment_ns),
    }
}

/// Segments by rate, as warp stores them; none without segments.
fn segmented(segments: &[Segment], segment_ns: u64) -> Option<Segmented> {
    let spread = spread(segments, segment_ns)?;
    let mut sorted = segments.to_vec();
    sorted.sort_by(|one, other| {
        one.rate(segment_ns).rank().total_cmp(&other.rate(segment_ns).rank())
    });
    let median = sorted.get(sorted.len() / 2);
    let by_bytes = spread.fastest.bytes > 0.0;
    Some(Segmented {
        segment_duration_millis: segment_ns / 1_000_000,
        sorted_by: if by_bytes { "bps" } else { "ops" }.to_owned(),
        segments: Some(sorted.iter().map(|segment| stored(segment, segment_ns)).collect()),
        fastest_start: start(sorted.last()),
        fastest_bps: spread.fastest.bytes,
        fastest_ops: spread.fastest.objects,
        median_start: start(median),
        median_bps: spread.median.bytes,
        median_ops: spread.median.objects,
        slowest_start: start(sorted.first()),
        slowest_bps: spread.slowest.bytes,
        slowest_ops: spread.slowest.objects,
    })
}

fn start(segment: Option<&Segment>) -> String {
    segment.map(|segment| time(segment.start_ns)).unwrap_or_default()
}

fn stored(segment: &Segment, segment_ns: u64) -> StoredSegment {
    let rate = segment.rate(segment_ns);
    StoredSegment {
        start: time(segment.start_ns),
        bytes_per_sec: rate.bytes,
        obj_per_sec: rate.objects,
        errors: segment.errors,
    }
}

fn piece(report: &Report) -> Option<Piece> {
    let hosts = report.hosts.iter();
    let hosts = hosts.filter_map(|(name, host)| Some((name.clone(), single(&host.latency)?)));
    let pieces = report.latency.summary().map_or(1, |summary| summary.pieces);
    let single = single(&report.latency).map(|single| Single {
        obj_size: (report.bytes / report.objects.max(1)).saturating_mul(pieces),
        first_byte: report.first_byte.summary().map(|summary| first_byte(&summary, pieces)),
        by_host: Some(hosts.collect()),
        ..single
    });
    let multi = (!report.sizes.is_empty()).then(|| Multi {
        requests: report.requests,
        by_size: Some(report.sizes.iter().map(by_size).collect()),
    });
    (single.is_some() || multi.is_some()).then(|| Piece {
        start_time: time(report.start_ns),
        end_time: time(report.end_ns),
        single_sized_requests: single,
        multi_sized_requests: multi,
    })
}

fn single(timing: &Timing) -> Option<Single> {
    let summary = timing.summary()?;
    let scale = Scale::of(summary.pieces);
    Some(Single {
        requests: summary.requests,
        dur_avg_millis: scale.sum(summary.mean),
        dur_median_millis: scale.sum(summary.p50),
        dur_90_millis: scale.sum(summary.p90),
        dur_99_millis: scale.sum(summary.p99),
        fastest_millis: millis(summary.fastest),
        slowest_millis: millis(summary.slowest),
        std_dev_millis: scale.sum(summary.std_dev),
        dur_percentiles_millis: scale.sums(&summary.percentiles),
        merged_entries: summary.pieces,
        ..Single::default()
    })
}

/// Times to the first byte, as sums over the pieces of the latency.
fn first_byte(summary: &Summary, pieces: u64) -> FirstByte {
    let scale = Scale::of(pieces);
    FirstByte {
        average_millis: scale.sum(summary.mean),
        fastest_millis: millis(summary.fastest),
        p25_millis: scale.sum(summary.p25.unwrap_or_default()),
        median_millis: scale.sum(summary.p50),
        p75_millis: scale.sum(summary.p75.unwrap_or_default()),
        p90_millis: scale.sum(summary.p90),
        p99_millis: scale.sum(summary.p99),
        slowest_millis: millis(summary.slowest),
        std_dev_millis: scale.sum(summary.std_dev),
        percentiles_millis: scale.sums(&summary.percentiles),
    }
}

/// Averages of pieces are stored as their sum.
struct Scale(f64);

impl Scale {
    fn of(pieces: u64) -> Scale {
        Scale(pieces as f64)
    }

    fn sum(&self, ns: f64) -> f64 {
        millis(ns) * self.0
    }

    fn sums(&self, percentiles: &[f64]) -> Option<Vec<f64>> {
        let sums = percentiles.iter().map(|ns| self.sum(*ns));
        (!percentiles.is_empty()).then(|| sums.collect())
    }
}

fn by_size(class: &SizeClass) -> BySize {
    BySize {
        requests: class.requests,
        min_size: class.min_bytes,
        max_size: class.max_bytes,
        bps_average: class.average,
        bps_median: class.median,
        bps_fastest: class.fastest,
        bps_slowest: class.slowest,
        merged_entries: 1,
        ..BySize::default()
    }
}

fn millis(ns: f64) -> f64 {
    ns / 1e6
}

fn time(ns: i64) -> String {
    let time = Timestamp::from_nanosecond(i128::from(ns));
    time.map(|time| time.to_string()).unwrap_or_default()
}
