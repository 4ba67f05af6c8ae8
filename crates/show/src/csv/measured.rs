//! Work of jobs: results, their parts by target, and samples.

use candor_record::{
    Latency, Measurement, OpSample, OpStats, PhaseRecord, Report, Sample, TargetOp, TargetStats,
    Verdict,
};

use super::table::{Cell, Column, columns};

/// Percentiles that have columns in every table.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// An operation of a job, over all of its phase or in one interval of it.
#[derive(Clone, Copy, Default)]
pub struct Row<'a> {
    /// `result`, `target` or `sample`.
    row: &'static str,
    phase: &'a str,
    repeat: u32,
    job: &'a str,
    operation: &'a str,
    start_s: f64,
    length_s: f64,
    ops: u64,
    bytes: u64,
    ops_per_s: Option<f64>,
    bytes_per_s: Option<f64>,
    failed: Option<u64>,
    /// Latencies, but for samples.
    latency: Option<&'a Latency>,
    /// Mean latency of a sample.
    sample_ns_mean: Option<f64>,
    /// Median latency of a sample.
    sample_ns_p50: Option<u64>,
    /// 99th percentile of latency of a sample.
    sample_ns_p99: Option<u64>,
    verdict: Verdict,
    target: &'a str,
}

impl Row<'_> {
    fn mean(&self) -> Option<f64> {
        self.latency.and_then(Latency::valid_mean_ns).or(self.sample_ns_mean)
    }

    fn percentile(&self, percentile: f64) -> Option<u64> {
        self.latency.and_then(|latency| latency.percentile_ns(percentile))
    }
}

/// The columns of results, targets and samples together. Those of further percentiles follow the
/// fixed ones, so that those keep their places.
pub fn overview_columns<'a>(percentiles: &[f64]) -> Vec<Column<Row<'a>>> {
    let mut columns: Vec<Column<Row<'a>>> = columns! { of:
        "row" "Kind of the row: `result`, `target` or `sample`" = of.row;
        "phase" "Name of the phase" = of.phase;
        "repeat" "Number of its repeat, from 1" = of.repeat;
        "job" "Name of the job" = of.job;
        "operation" "Name of the operation, such as `read` or `fsync`" = of.operation;
        "start_s" "Start of the interval since the start of the phase, its ramp left out"
            = of.start_s;
        "length_s" "Length of the phase (of writes with the final flush) or of the interval"
            = of.length_s;
        "ops" "Operations that completed" = of.ops;
        "bytes" "Bytes moved by these operations" = of.bytes;
        "ops_per_s" "Operations per second" = of.ops_per_s;
        "bytes_per_s" "Bytes per second" = of.bytes_per_s;
        "failed" "Operations that failed; of results only" = of.failed;
        "latency_ns_mean" "Mean latency" = of.mean();
        "latency_ns_min" "Minimum latency" = of.latency.map(|latency| latency.min_ns);
        "latency_ns_p50" "Median latency" = of.percentile(50.0).or(of.sample_ns_p50);
        "latency_ns_p90" "90th percentile; this and the next percentiles need ten samples beyond \
            them"
            = of.percentile(90.0);
        "latency_ns_p95" "95th percentile" = of.percentile(95.0);
        "latency_ns_p99" "99th percentile" = of.percentile(99.0).or(of.sample_ns_p99);
        "latency_ns_p99.9" "99.9th percentile" = of.percentile(99.9);
        "latency_ns_max" "Maximum latency" = of.latency.and_then(Latency::valid_max_ns);
        "verdict" "Verdict on the phase" = of.verdict.name();
        "target" "Path of the target, in rows of a target" = of.target;
    };
    let further = percentiles.iter().copied().filter(|p| !PERCENTILES.contains(p));
    columns.extend(further.map(|p| Column {
        name: format!("latency_ns_p{p}"),
        help: "A requested percentile",
        cell: Box::new(move |of: &Row<'a>| of.percentile(p).cell()),
    }));
    columns
}

/// Results, targets and samples.
pub fn overview_rows(report: &Report) -> impl Iterator<Item = Row<'_>> {
    let of_jobs = report.judged().flat_map(|(phase, judged)| {
        let jobs = phase.measurements.iter();
        jobs.map(move |measurement| (phase, measurement, judged.verdict))
    });
    of_jobs.flat_map(|(phase, measurement, verdict)| rows(phase, measurement, verdict))
}

/// The columns of samples alone.
pub fn sample_columns<'a>() -> Vec<Column<Row<'a>>> {
    columns! { of:
        "phase" "Name of the phase" = of.phase;
        "repeat" "Number of its repeat, from 1" = of.repeat;
        "job" "Name of the job" = of.job;
        "operation" "Name of the operation; reads for verification count as `read`" = of.operation;
        "start_s" "Start of the interval since the start of the phase, its ramp left out"
            = of.start_s;
        "length_s" "Length of the interval" = of.length_s;
        "ops" "Operations that completed" = of.ops;
        "bytes" "Bytes moved by these operations" = of.bytes;
        "ops_per_s" "Operations per second" = of.ops_per_s;
        "bytes_per_s" "Bytes per second" = of.bytes_per_s;
        "latency_ns_mean" "Mean latency" = of.sample_ns_mean;
        "latency_ns_p50" "Median latency, in intervals of a second or more"
            = of.sample_ns_p50;
        "latency_ns_p99" "99th percentile of latency, with ten samples beyond it"
            = of.sample_ns_p99;
        "verdict" "Verdict on the phase" = of.verdict.name();
    }
}

/// Samples alone.
pub fn sample_rows(report: &Report) -> impl Iterator<Item = Row<'_>> {
    let of_jobs = report.judged().flat_map(|(phase, judged)| {
        let jobs = phase.measurements.iter();
        jobs.map(move |measurement| (of_job(phase, measurement, judged.verdict), measurement))
    });
    of_jobs.flat_map(|(of_job, measurement)| {
        let occurs = |op: &OpSample| {
            let mut all = measurement.samples.iter().flat_map(|sample| &sample.operations);
            all.any(|other| other.name == op.name && other.ops > 0)
        };
        let first = measurement.samples.first().map_or(&[][..], |sample| &sample.operations);
        let names: Vec<&str> =
            first.iter().filter(|op| occurs(op)).map(|op| op.name.as_str()).collect();
        measurement.samples.iter().flat_map(move |interval| {
            let ops = interval.operations.iter();
            let kept: Vec<_> = ops.filter(|op| names.contains(&op.name.as_str())).collect();
            kept.into_iter().map(move |op| sample(interval, op, of_job))
        })
    })
}

fn of_job<'a>(phase: &'a PhaseRecord, measurement: &'a Measurement, verdict: Verdict) -> Row<'a> {
    Row {
        phase: &phase.name,
        repeat: phase.repeat + 1,
        job: &measurement.job,
        verdict,
        ..Row::default()
    }
}

/// Rows of a job.
fn rows<'a>(
    phase: &'a PhaseRecord,
    measurement: &'a Measurement,
    verdict: Verdict,
) -> impl Iterator<Item = Row<'a>> {
    let of_job = of_job(phase, measurement, verdict);
    let length_s = move |figure| measurement.times().of_ns(figure) as f64 / 1e9;
    let done = measurement.operations.iter().filter(|stats| stats.ops > 0 || stats.failed > 0);
    let results = done.map(move |stats| result(stats, length_s(stats.figure), of_job));
    let targets = measurement.per_target.iter().flat_map(move |of| {
        let done = of.operations.iter().filter(|op| op.ops > 0);
        done.map(move |op| on_target(of, op, length_s(op.figure), of_job))
    });
    let samples = measurement.samples.iter().flat_map(move |interval| {
        let done = interval.operations.iter().filter(|op| op.ops > 0);
        done.map(move |op| sample(interval, op, of_job))
    });
    results.chain(targets).chain(samples)
}

fn result<'a>(stats: &'a OpStats, length_s: f64, of_job: Row<'a>) -> Row<'a> {
    Row {
        row: "result",
        operation: &stats.name,
        length_s,
        ops: stats.ops,
        bytes: stats.bytes,
        ops_per_s: Some(stats.ops_per_s),
        bytes_per_s: Some(stats.bytes_per_s),
        failed: Some(stats.failed),
        latency: stats.latency.as_ref(),
        ..of_job
    }
}

/// A part of a result. Operations that failed are not counted by target.
fn on_target<'a>(of: &'a TargetStats, op: &'a TargetOp, length_s: f64, of_job: Row<'a>) -> Row<'a> {
    Row {
        row: "target",
        operation: &op.name,
        length_s,
        ops: op.ops,
        bytes: op.bytes,
        ops_per_s: Some(op.ops_per_s),
        bytes_per_s: Some(op.bytes_per_s),
        target: if of.path.is_empty() { &of.target } else { &of.path },
        latency: op.latency.as_ref(),
        ..of_job
    }
}

fn sample<'a>(sample: &Sample, op: &'a OpSample, of_job: Row<'a>) -> Row<'a> {
    let interval = sample.interval(op);
    Row {
        row: "sample",
        operation: &op.name,
        start_s: interval.start_ns as f64 / 1e9,
        length_s: interval.length_ns as f64 / 1e9,
        ops: op.ops,
        bytes: op.bytes,
        ops_per_s: interval.ops_per_s,
        bytes_per_s: interval.bytes_per_s,
        sample_ns_mean: interval.latency_ns_mean,
        sample_ns_p50: interval.latency_ns_p50,
        sample_ns_p99: interval.latency_ns_p99,
        ..of_job
    }
}
