//! Reports as text in the form of warp, and segments as a table.

use jiff::Timestamp;

use super::report::{Rate, Report, Results, Segment, Spread};
use super::timing::Summary;

/// The results as text: each operation, then all together if they ran at the same time.
pub fn results(results: &Results, verbose: bool) -> String {
    let total = [&results.total];
    let total = total.into_iter().filter(|_| results.is_mixed());
    let blocks: Vec<String> =
        results.ops.iter().chain(total).map(|report| block(report, verbose)).collect();
    let mut text = blocks.join("\n");
    if blocks.is_empty() {
        text.push_str("No operation matches.\n");
    }
    text + &remarks(results)
}

/// The remarks, each on a line.
pub fn remarks(results: &Results) -> String {
    let lines = results.remarks.iter().map(|remark| format!("Remark: {remark}.\n"));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn block(report: &Report, verbose: bool) -> String {
    let Some((rate, spread)) = report.rate().zip(report.spread()) else {
        let length = elapsed(report.segment_ns as f64);
        let (op, errors) = (&report.op, errors(report));
        return format!(
            "Skipping {op}: too few samples. All threads are active for less than {length}; \
             run longer.\n{errors}"
        );
    };
    let (op, concurrency) = (&report.op, report.concurrency);
    let ran = elapsed(report.duration_ns() as f64);
    let mut text = format!("Report: {op}. Concurrency: {concurrency}. Ran: {ran}\n");
    text.push_str(&format!(" * Average: {}\n", rate_text(&rate)));
    text.push_str(&times(report));
    text.push_str(&errors(report));
    text.push_str(&sizes(report));
    text.push_str(&throughput(report, &spread));
    if report.hosts.len() > 1 {
        text.push_str(&by_host(report));
    }
    if verbose {
        text.push_str(&requests_by_host(report));
    }
    text
}

fn times(report: &Report) -> String {
    let mut text = String::new();
    let latency = report.latency.summary();
    if let Some(summary) = &latency {
        text.push_str(&format!(" * Reqs: {}\n", requests(summary)));
    }
    if let Some(summary) = report.first_byte.summary() {
        text.push_str(&format!(" * TTFB: {}\n", first_byte(&summary)));
    }
    if let Some(summary) = latency.filter(Summary::is_averaged) {
        let pieces = summary.pieces;
        text.push_str(&format!(
            " * Percentiles and medians are means of {pieces} pieces of the run; the true values \
             can differ (S31)\n"
        ));
    }
    text
}

fn requests(summary: &Summary) -> String {
    let Summary { mean, p50, p90, p99, fastest, slowest, std_dev, .. } = summary;
    format!(
        "Avg: {}, 50%: {}, 90%: {}, 99%: {}, Fastest: {}, Slowest: {}, StdDev: {}",
        elapsed(*mean),
        elapsed(*p50),
        elapsed(*p90),
        elapsed(*p99),
        elapsed(*fastest),
        elapsed(*slowest),
        elapsed(*std_dev)
    )
}

fn first_byte(summary: &Summary) -> String {
    let quartile = [summary.p25, summary.p75].map(|of| of.map_or("-".to_owned(), elapsed));
    let Summary { mean, p50, p90, p99, fastest, slowest, std_dev, .. } = summary;
    format!(
        "Avg: {}, Best: {}, 25th: {}, Median: {}, 75th: {}, 90th: {}, 99th: {}, Worst: {} \
         StdDev: {}",
        elapsed(*mean),
        elapsed(*fastest),
        quartile[0],
        elapsed(*p50),
        quartile[1],
        elapsed(*p90),
        elapsed(*p99),
        elapsed(*slowest),
        elapsed(*std_dev)
    )
}

fn errors(report: &Report) -> String {
    if report.errors == 0 {
        return String::new();
    }
    let (errors, requests) = (report.errors, report.requests);
    let mut text = format!(" * Errors: {errors} of {requests} requests\n");
    for message in report.first_errors.iter().take(3) {
        text.push_str(&format!("   - {message}\n"));
    }
    text
}

fn sizes(report: &Report) -> String {
    let mut text = String::new();
    for class in &report.sizes {
        text.push_str(&format!(
            " * Sizes {} to {}: Avg: {}, 50%: {}, Fastest: {}, Slowest: {}\n",
            candor_record::fmt::size(class.min_bytes as f64),
            candor_record::fmt::size(class.max_bytes as f64),
            mib_per_s(class.average),
            mib_per_s(class.median),
            mib_per_s(class.fastest),
            mib_per_s(class.slowest)
        ));
    }
    text
}

fn throughput(report: &Report, spread: &Spread) -> String {
    let length = elapsed(report.segment_ns as f64);
    format!(
        "\nThroughput, split into {} x {length}:\n * Fastest: {}\n * 50% Median: {}\n \
         * Slowest: {}\n",
        report.segments.len(),
        rate_text(&spread.fastest),
        rate_text(&spread.median),
        rate_text(&spread.slowest)
    )
}

fn by_host(report: &Report) -> String {
    let mut text = "\nThroughput by host:\n".to_owned();
    for (name, host) in &report.hosts {
        text.push_str(&format!(" * {name}: Avg: {}\n", rate_text(&host.rate)));
    }
    text
}

fn requests_by_host(report: &Report) -> String {
    let mut text = "\nRequests by host:\n".to_owned();
    for (name, host) in &report.hosts {
        match host.latency.summary() {
            Some(summary) => text.push_str(&format!(
                " * {name}: {} requests: {}\n",
                summary.requests,
                requests(&summary)
            )),
            None => text.push_str(&format!(" * {name}: the times of its requests are unknown\n")),
        }
    }
    text
}

/// A rate, such as `12.50 MiB/s, 1.25 obj/s`; operations without bytes have objects only.
pub fn rate_text(rate: &Rate) -> String {
    let objects = format!("{:.2} obj/s", rate.objects);
    if rate.bytes > 0.0 { format!("{}, {objects}", mib_per_s(rate.bytes)) } else { objects }
}

/// Bytes per second in MiB/s.
pub fn mib_per_s(bytes: f64) -> String {
    format!("{:.2} MiB/s", bytes / 1_048_576.0)
}

/// A time in ns as Go prints it, with at most three digits of a unit below a minute.
pub fn elapsed(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0}ns"),
        ns if ns < 1e6 => format!("{}µs", short(ns / 1e3)),
        ns if ns < 1e9 => format!("{}ms", short(ns / 1e6)),
        ns if ns < 60e9 => format!("{}s", short(ns / 1e9)),
        ns => {
            let seconds = (ns / 1e9).round() as u64;
            let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            let hours = if hours > 0 { format!("{hours}h") } else { String::new() };
            format!("{hours}{minutes}m{rest}s")
        }
    }
}

fn short(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.decimals$}");
    if decimals == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Columns of the table of segments.
const COLUMNS: &str = "index\top\thost\tduration_s\tobjects_per_op\tbytes\tfull_ops\tpartial_ops\t\
                       ops_started\tops_ended\terrors\tmb_per_sec\tops_ended_per_sec\t\
                       objs_per_sec\tstart_time\tend_time\n";

/// All segments as a table with tabs: each operation, then its hosts if there are several. Columns
/// that the file does not have are empty.
pub fn segments(results: &Results) -> String {
    let mut text = COLUMNS.to_owned();
    for report in &results.ops {
        text.push_str(&rows(report, "", &report.segments));
        for (name, host) in report.hosts.iter().filter(|_| report.hosts.len() > 1) {
            text.push_str(&rows(report, name, &host.segments));
        }
    }
    text
}

fn rows(report: &Report, host: &str, segments: &[Segment]) -> String {
    let rows = segments.iter().enumerate();
    rows.map(|(index, segment)| row(report, host, index, segment)).collect()
}

fn row(report: &Report, host: &str, index: usize, segment: &Segment) -> String {
    let seconds = report.segment_ns as f64 / 1e9;
    let successes = report.requests.saturating_sub(report.errors).max(1);
    let objects_per_op = report.objects as f64 / successes as f64;
    let rate = segment.rate(report.segment_ns);
    let counts = segment.counts;
    let ended_per_s = counts.map(|counts| format!("{:.2}", counts.ended as f64 / seconds));
    let counts = counts.map_or("\t\t\t".to_owned(), |of| {
        format!("{}\t{}\t{}\t{}", of.full, of.partial, of.started, of.ended)
    });
    format!(
        "{index}\t{}\t{host}\t{seconds}\t{objects_per_op:.2}\t{:.0}\t{counts}\t{}\t{:.2}\t{}\t\
         {:.2}\t{}\t{}\n",
        report.op,
        segment.bytes,
        segment.errors,
        rate.bytes / 1_048_576.0,
        ended_per_s.unwrap_or_default(),
        rate.objects,
        time(segment.start_ns),
        time(segment.start_ns.saturating_add_unsigned(report.segment_ns))
    )
}

fn time(ns: i64) -> String {
    let time = Timestamp::from_nanosecond(i128::from(ns));
    time.map(|time| time.to_string()).unwrap_or_default()
}
