//! Results, live figures, help.

use super::{HelpPart, Instead, Value, instead, put, put_number, switch, value};
use candor_front::{Row, store};

#[rustfmt::skip]
pub(super) const RESULTS: &[Row<Value>] = &[
    switch("lat", |d, t| put(&mut d.options.output.latency, t), "latencies: least, mean, greatest")
        .exact("", "true"),
    switch("latpercent", |d, t| put(&mut d.options.output.percentiles, t),
        "latencies: percentiles").exact("", "true"),
    value("latpercent9s", "N", |d, t| put_number(&mut d.options.output.percentile_nines, t, [0, 6]),
        "nines after the decimal point of further percentiles").default("0").exact("", "1"),
    switch("lathisto", |d, t| put(&mut d.options.output.histogram, t), "latencies: histogram")
        .exact("", "true"),
    switch("allelapsed", |d, t| put(&mut d.options.output.all_elapsed, t), "time of each worker")
        .exact("", "true"),
    switch("cpu", |d, t| put(&mut d.options.output.cpu, t), "CPU utilisation").exact("", "true"),
    switch("base10", |d, t| put(&mut d.options.output.base10, t), "units are powers of 10")
        .exact("", "true"),
    value("resfile", "FILE", |d, t| store(&mut d.options.output.result_file, Some(t.into())),
        "the table goes to the end of FILE as well").exact("", "f"),
    value("csvfile", "FILE", |d, t| store(&mut d.options.output.csv_file, Some(t.into())),
        "lines of CSV at the end of FILE").exact("", "f"),
    switch("nocsvlabels", |d, t| put(&mut d.options.output.no_csv_labels, t),
        "no header in that file").exact("", "true"),
    value("jsonfile", "FILE", |d, t| store(&mut d.options.output.json_file, Some(t.into())),
        "a line of JSON for each phase at the end of FILE").exact("", "f"),
    value("opslog", "FILE", |d, t| store(&mut d.options.output.operations_log, Some(t.into())),
        "a line of JSON before and after each operation at the end of FILE")
        .exact("job.operations_log.file", "f"),
    switch("opsloglock", |d, t| put(&mut d.options.output.operations_log_locked, t),
        "lines of that file under a lock").exact("job.operations_log.lock", "true"),
];

#[rustfmt::skip]
pub(super) const LIVE: &[Row<Value>] = &[
    value("liveint", "MS",
        |d, t| put_number(&mut d.options.output.live_interval_ms, t, [1, 1 << 32]),
        "interval of live figures").default("2000").exact("phase.interval", "500"),
    switch("live1", |d, t| put(&mut d.options.output.live_line, t), "live figures on one line")
        .exact("", "true"),
    switch("live1n", |d, t| put(&mut d.options.output.live_lines, t),
        "live figures on a new line each").exact("", "true"),
    switch("nolive", |d, t| put(&mut d.options.output.no_live, t), "no live figures")
        .exact("", "true"),
    value("livecsv", "FILE", |d, t| store(&mut d.options.output.live_csv_file, Some(t.into())),
        "live figures as CSV; stdout is standard output").exact("", "f"),
    switch("livecsvex", |d, t| put(&mut d.options.output.live_csv_extended, t),
        "a row for each worker").exact("", "true"),
];

#[rustfmt::skip]
pub(super) const HELP: &[Row<Value>] = &[
    switch("help", |d, t| instead(d, t, Instead::Help(HelpPart::Overview)), "this help")
        .letter('h').exact("", "true"),
    switch("help-large", |d, t| instead(d, t, Instead::Help(HelpPart::Large)),
        "help for large files").exact("", "true"),
    switch("help-multi", |d, t| instead(d, t, Instead::Help(HelpPart::Multi)),
        "help for many small files").exact("", "true"),
    switch("help-bdev", |d, t| instead(d, t, Instead::Help(HelpPart::BlockDevices)),
        "help for block devices").exact("", "true"),
    switch("help-dist", |d, t| instead(d, t, Instead::Help(HelpPart::Hosts)),
        "help for several hosts").exact("", "true"),
    switch("help-s3", |d, t| instead(d, t, Instead::Help(HelpPart::S3)),
        "help for object stores").exact("", "true"),
    switch("help-all", |d, t| instead(d, t, Instead::Help(HelpPart::All)), "all options")
        .exact("", "true"),
    switch("version", |d, t| instead(d, t, Instead::Version), "the version").exact("", "true"),
    switch("nopathexp", |d, t| put(&mut d.plain_paths, t), "brackets in paths are letters")
        .exact("", "true"),
];
