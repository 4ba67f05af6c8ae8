//! Phases beside each other: repeats and sweeps.

use candor_record::{RepeatedOp, Repeats, Report, Spread, SweepRow};

use super::table::{Cell, Column, columns};

/// A figure of an operation over the repeats of its phase.
pub struct Repeated<'a> {
    phase: &'a Repeats,
    of: &'a RepeatedOp,
    figure: &'static str,
    spread: &'a Spread,
}

/// The columns of repeats.
pub fn repeat_columns<'a>() -> Vec<Column<Repeated<'a>>> {
    columns! { row:
        "phase" "Name of the phase" = row.phase.name.as_str();
        "job" "Name of the job" = row.of.job.as_str();
        "operation" "Name of the operation" = row.of.operation.as_str();
        "figure" "One of `ops_per_s`, `bytes_per_s`, `latency_ns_mean`, `latency_ns_p50`, \
            `latency_ns_p99`"
            = row.figure;
        "repeats" "Repeats in the mean, without repeats that failed"
            = row.spread.count;
        "mean" "Mean of the repeats, in the unit at the end of the metric's name" = row.spread.mean;
        "stddev" "Standard deviation of a single repeat" = row.spread.stddev;
        "min" "Minimum" = row.spread.min;
        "max" "Maximum" = row.spread.max;
        "interval_95" "Half the width of the 95 % interval of the mean" = row.spread.interval_95;
        "verdict" "Worst verdict of the repeats" = row.phase.verdict.name();
    }
}

/// Figures of all phases that ran several times.
pub fn repeat_rows(report: &Report) -> impl Iterator<Item = Repeated<'_>> {
    let operations = report
        .judgement
        .repeats
        .iter()
        .flat_map(|phase| phase.results.iter().map(move |of| (phase, of)));
    operations.flat_map(|(phase, of)| {
        let figures = [
            ("ops_per_s", Some(&of.ops_per_s)),
            ("bytes_per_s", of.bytes_per_s.as_ref()),
            ("latency_ns_mean", of.latency_ns_mean.as_ref()),
            ("latency_ns_p50", of.latency_ns_p50.as_ref()),
            ("latency_ns_p99", of.latency_ns_p99.as_ref()),
        ];
        let known = figures.into_iter().filter_map(|(figure, spread)| Some((figure, spread?)));
        known.map(move |(figure, spread)| Repeated { phase, of, figure, spread })
    })
}

/// The columns of a sweep of those settings.
pub fn sweep_columns<'a>(keys: &[&str]) -> Vec<Column<&'a SweepRow>> {
    let settings = keys.iter().enumerate().map(|(nth, key)| Column {
        name: (*key).to_owned(),
        help: "Value of the setting",
        cell: Box::new(move |row: &&'a SweepRow| row.values.get(nth).map(String::as_str).cell()),
    });
    let figures: Vec<Column<&'a SweepRow>> = columns! { row:
        "ops_per_s" "Operations per second" = row.ops_per_s;
        "bytes_per_s" "Bytes per second" = row.bytes_per_s;
        "latency_ns_mean" "Mean latency" = row.latency_ns_mean;
        "latency_ns_p99" "99th percentile of latency, with enough operations"
            = row.latency_ns_p99;
        "gain" "Rate over the rate of the next smaller value" = row.gain;
        "verdict" "Verdict; for repeats, the worst" = row.verdict.name();
    };
    settings.chain(figures).collect()
}

/// The rows of the sweep, where the report has one.
pub fn sweep_rows(report: &Report) -> impl Iterator<Item = &SweepRow> {
    report.judgement.sweep.iter().flat_map(|sweep| &sweep.rows)
}
