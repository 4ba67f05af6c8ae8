//! Distributions of latencies: percentiles and buckets.

use candor_record::histogram::{bucket_low, bucket_middle};
use candor_record::http::HttpOp;
use candor_record::{Latency, Measurement, OpStats, Report, TargetOp};

use super::table::{Column, columns};

/// A distribution.
#[derive(Clone, Copy)]
struct Distribution<'a> {
    phase: &'a str,
    repeat: u32,
    job: &'a str,
    operation: &'a str,
    /// Path of the target; empty for all together.
    target: &'a str,
    kind: &'static str,
    latency: &'a Latency,
}

/// A quoted percentile.
pub struct Percentile<'a> {
    of: Distribution<'a>,
    percentile: f64,
    latency_ns: u64,
}

/// A bucket that holds something.
pub struct Bucket<'a> {
    of: Distribution<'a>,
    bucket: usize,
    count: u64,
}

/// The columns of percentiles.
pub fn percentile_columns<'a>() -> Vec<Column<Percentile<'a>>> {
    columns! { row:
        "phase" "Name of the phase" = row.of.phase;
        "repeat" "Number of its repeat, from 1" = row.of.repeat;
        "job" "Name of the job" = row.of.job;
        "operation" "Name of the operation; `read_back` for reads that verify" = row.of.operation;
        "target" "Path of the target, if targets were counted separately; empty for all together"
            = row.of.target;
        "kind" "Section of the latency: `all`, `submission`, `completion`, or `from_intended`: \
            from the start intended by a rate; of HTTP requests `wait`, `send`, `first_byte`, \
            `transfer` and `attempt`"
            = row.of.kind;
        "percentile" "Percentile, from 0 (the least) to 100 (the greatest)" = row.percentile;
        "latency_ns" "Value" = row.latency_ns;
        "samples" "Latencies in the distribution" = row.of.latency.count;
    }
}

/// Percentiles of all distributions, with the least and the greatest latency.
pub fn percentile_rows(report: &Report) -> impl Iterator<Item = Percentile<'_>> {
    distributions(report).flat_map(|of| {
        let least = (0.0, of.latency.min_ns);
        let greatest = (100.0, of.latency.max_ns);
        let quoted = of.latency.percentiles.iter().copied();
        let all = std::iter::once(least).chain(quoted).chain([greatest]);
        all.map(move |(percentile, latency_ns)| Percentile { of, percentile, latency_ns })
    })
}

/// The columns of buckets.
pub fn bucket_columns<'a>() -> Vec<Column<Bucket<'a>>> {
    columns! { row:
        "phase" "Name of the phase" = row.of.phase;
        "repeat" "Number of its repeat, from 1" = row.of.repeat;
        "job" "Name of the job" = row.of.job;
        "operation" "Name of the operation; `read_back` for reads that verify" = row.of.operation;
        "target" "Path of the target, if targets were counted separately; empty for all together"
            = row.of.target;
        "kind" "Section of the latency, as in `percentiles`" = row.of.kind;
        "from_ns" "Lower bound of the bucket" = bucket_low(row.bucket);
        "below_ns" "Lower bound of the next bucket" = bucket_low(row.bucket + 1);
        "middle_ns" "Middle of the bucket, used for percentiles" = bucket_middle(row.bucket);
        "count" "Latencies in the bucket" = row.count;
    }
}

/// Buckets of all distributions.
pub fn bucket_rows(report: &Report) -> impl Iterator<Item = Bucket<'_>> {
    distributions(report).flat_map(|of| {
        let filled = of.latency.histogram.filled();
        filled.map(move |(bucket, count)| Bucket { of, bucket, count })
    })
}

fn distributions(report: &Report) -> impl Iterator<Item = Distribution<'_>> {
    super::phases(report).flat_map(|(phase, repeat)| {
        phase.measurements.iter().flat_map(move |measurement| {
            of_job(measurement).map(move |(operation, target, kind, latency)| Distribution {
                phase: &phase.name,
                repeat,
                job: &measurement.job,
                operation,
                target,
                kind,
                latency,
            })
        })
    })
}

type Named<'a> = (&'a str, &'a str, &'static str, &'a Latency);

fn of_job(measurement: &Measurement) -> impl Iterator<Item = Named<'_>> {
    let back = measurement.read_back.iter().map(|back| &back.reads);
    let whole = measurement.operations.iter().chain(back).flat_map(of_operation);
    let requests = measurement.http.iter().flat_map(|http| &http.operations).flat_map(of_request);
    let targets = measurement.per_target.iter().flat_map(|of| {
        let path = if of.path.is_empty() { &of.target } else { &of.path };
        of.operations.iter().filter_map(move |op| of_target(op, path))
    });
    whole.chain(requests).chain(targets)
}

fn of_request(op: &HttpOp) -> impl Iterator<Item = Named<'_>> {
    let steps = [
        ("wait", &op.wait),
        ("send", &op.send),
        ("first_byte", &op.first_byte),
        ("transfer", &op.transfer),
        ("attempt", &op.attempt),
    ];
    let measured = steps.into_iter().filter_map(|(step, latency)| Some((step, latency.as_ref()?)));
    measured.map(|(step, latency)| (op.name.as_str(), "", step, latency))
}

fn of_target<'a>(op: &'a TargetOp, path: &'a str) -> Option<Named<'a>> {
    Some((&op.name, path, "all", op.latency.as_ref()?))
}

fn of_operation(stats: &OpStats) -> impl Iterator<Item = Named<'_>> {
    let kinds = [
        ("all", &stats.latency),
        ("submission", &stats.submission),
        ("completion", &stats.completion),
        ("from_intended", &stats.from_intended),
    ];
    let measured = kinds.into_iter().filter_map(|(kind, latency)| Some((kind, latency.as_ref()?)));
    measured.map(|(kind, latency)| (stats.name.as_str(), "", kind, latency))
}
