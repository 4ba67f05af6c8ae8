//! Results, live metrics, help.

use super::{PLAIN_PATHS, Row, bare_switch, put, put_number, switch};
use candor_front::store_text;

#[rustfmt::skip]
pub(super) const RESULTS: &[Row] = &[
    switch("lat", |o, t| put(&mut o.output.latency, t), "Print minimum, mean and maximum latencies")
        .exact("", "true"),
    switch("latpercent", |o, t| put(&mut o.output.percentiles, t), "Print percentiles of latencies")
        .exact("", "true"),
    Row::value("latpercent9s", "N", |o, t| put_number(&mut o.output.percentile_nines, t, 0..=6),
        "Print further percentiles with N nines after the point").default("0").exact("", "1"),
    switch("lathisto", |o, t| put(&mut o.output.histogram, t), "Print a histogram of latencies")
        .exact("", "true"),
    switch("allelapsed", |o, t| put(&mut o.output.all_elapsed, t), "Print the time of each worker")
        .exact("", "true"),
    switch("cpu", |o, t| put(&mut o.output.cpu, t), "Print CPU utilisation").exact("", "true"),
    switch("base10", |o, t| put(&mut o.output.base10, t), "Print units as powers of 10")
        .exact("", "true"),
    Row::value("resfile", "FILE", |o, t| store_text(&mut o.output.result_file, t),
        "Append the table to FILE").exact("", "f"),
    Row::value("csvfile", "FILE", |o, t| store_text(&mut o.output.csv_file, t),
        "Append lines of CSV to FILE").exact("", "f"),
    switch("nocsvlabels", |o, t| put(&mut o.output.no_csv_labels, t),
        "Omit the header of the CSV file").exact("", "true"),
    Row::value("jsonfile", "FILE", |o, t| store_text(&mut o.output.json_file, t),
        "Append a line of JSON per phase to FILE").exact("", "f"),
    Row::value("opslog", "FILE", |o, t| store_text(&mut o.output.operations_log, t),
        "Append a line of JSON before and after each operation")
        .exact("job.operations_log.file", "f"),
    switch("opsloglock", |o, t| put(&mut o.output.operations_log_locked, t),
        "Write lines of that file under a lock").exact("job.operations_log.lock", "true"),
];

#[rustfmt::skip]
pub(super) const LIVE: &[Row] = &[
    Row::value("liveint", "MS", |o, t| put_number(&mut o.output.live_interval_ms, t, 1..=1 << 32),
        "Set the interval of live metrics").default("2000").exact("phase.interval", "500"),
    switch("live1", |o, t| put(&mut o.output.live_line, t), "Print live metrics on one line")
        .exact("", "true"),
    switch("live1n", |o, t| put(&mut o.output.live_lines, t), "Print each interval on a new line")
        .exact("", "true"),
    switch("nolive", |o, t| put(&mut o.output.no_live, t), "Disable live metrics")
        .exact("", "true"),
    Row::value("livecsv", "FILE", |o, t| store_text(&mut o.output.live_csv_file, t),
        "Write live metrics as CSV to FILE, or to stdout").exact("", "f"),
    switch("livecsvex", |o, t| put(&mut o.output.live_csv_extended, t),
        "Write a CSV row for each worker").exact("", "true"),
];

#[rustfmt::skip]
pub(super) const HELP: &[Row] = &[
    bare_switch("help", "Print this help").letter('h'),
    bare_switch("help-large", "Print help for large files"),
    bare_switch("help-multi", "Print help for many small files"),
    bare_switch("help-bdev", "Print help for block devices"),
    bare_switch("help-dist", "Print help for several hosts"),
    bare_switch("help-s3", "Print help for object stores"),
    bare_switch("help-all", "Print all options"),
    bare_switch("version", "Print the version"),
    bare_switch(PLAIN_PATHS, "Do not expand brackets in paths"),
];
