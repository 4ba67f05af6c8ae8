//! Results of the benchmark phase: reports by operation from the engine's counts.

use std::collections::BTreeSet;

use candor_plan::objects::{OBJECT, OPERATIONS, ObjectOp, PUT_PART};
use candor_record::http::{HttpOp, HttpStats};
use candor_record::{Latency, Measurement, PhaseRecord, Sample};

use super::options::{Command, Options};
use super::plan;
use super::report::{HostReport, Rate, Report, Results, Segment, TOTAL};
use super::timing::Timing;

#[cfg(test)]
mod tests;

/// Most messages of failures to keep.
const ERRORS_MAX: usize = 10;

/// An operation of warp, and its rows in the table of operations.
#[derive(Clone, Copy)]
struct Shown {
    /// Name of warp.
    name: &'static str,
    /// Row whose operations count.
    counted: &'static str,
    /// Rows whose bytes count.
    moved: &'static [&'static str],
    /// Row whose answers count.
    answered: &'static str,
}

impl Shown {
    const fn of(name: &'static str, op: ObjectOp) -> Shown {
        Shown::row(name, op as u8)
    }

    const fn row(name: &'static str, row: u8) -> Shown {
        let counted = OPERATIONS[row as usize].name;
        Shown { name, counted, moved: &[], answered: counted }
    }

    fn moves(&self, row: &str) -> bool {
        row == self.counted || self.moved.contains(&row)
    }
}

const PUT_IN_PARTS: Shown =
    Shown { moved: &["put", "put_part"], answered: "put_part", ..Shown::row("PUT", OBJECT) };

/// The operations of a command.
fn shown(options: &Options) -> Vec<Shown> {
    let in_parts = options.work.part_bytes > 0 && !options.upload.disable_multipart;
    match options.command {
        Command::Get => vec![Shown::of("GET", ObjectOp::Get)],
        Command::Put if in_parts => vec![PUT_IN_PARTS],
        Command::Put => vec![Shown::of("PUT", ObjectOp::Put)],
        Command::Delete => vec![Shown::of("DELETE", ObjectOp::DeleteMany)],
        Command::List => vec![Shown::of("LIST", ObjectOp::List)],
        Command::Stat => vec![Shown::of("STAT", ObjectOp::Head)],
        Command::Mixed => vec![
            Shown::of("DELETE", ObjectOp::Delete),
            Shown::of("GET", ObjectOp::Get),
            Shown::of("PUT", ObjectOp::Put),
            Shown::of("STAT", ObjectOp::Head),
        ],
        Command::Multipart => vec![Shown::of("GETPART", ObjectOp::Get)],
        Command::MultipartPut => vec![Shown::row("PUTPART", PUT_PART)],
        Command::Analyze | Command::Compare | Command::Merge => Vec::new(),
    }
}

/// The results of a benchmark.
pub fn of(options: &Options, record: &PhaseRecord) -> Results {
    let command_line = options.command_line.clone();
    let clients: BTreeSet<String> = record.host_names().into_iter().collect();
    let Some(measured) = record.measurements.first() else {
        return Results { command_line, ..Results::default() };
    };
    let source = Source { options, measured, clients };
    let mut ops: Vec<Report> = shown(options).iter().map(|op| source.report(op)).collect();
    ops.retain(|op| op.requests > 0);
    let mut total = source.empty(TOTAL);
    ops.iter().for_each(|op| add(&mut total, op));
    source.add_hosts(&mut total);
    if let [only] = &mut ops[..] {
        source.add_hosts(only);
    }
    let wanted = &options.analysis.op;
    ops.retain(|op| wanted.as_ref().is_none_or(|wanted| *wanted == op.op));
    Results { command_line, ops, total, remarks: Vec::new() }
}

/// Rates of an interval, for `--autoterm`.
pub fn rate(options: &Options, sample: &Sample) -> Rate {
    let seconds = (sample.length_ns as f64 / 1e9).max(f64::MIN_POSITIVE);
    let mut rate = Rate::default();
    for shown in shown(options) {
        let segment = part(&shown, sample, 1.0);
        rate.bytes += segment.bytes / seconds;
        rate.objects += segment.objects / seconds;
    }
    rate
}

struct Source<'a> {
    options: &'a Options,
    measured: &'a Measurement,
    clients: BTreeSet<String>,
}

impl Source<'_> {
    fn start_ns(&self) -> i64 {
        let begun_ns = self.measured.start_unix_ms.unwrap_or(0).saturating_mul(1_000_000);
        let start_ns = begun_ns.saturating_add(self.options.analysis.skip_ns);
        i64::try_from(start_ns).unwrap_or(i64::MAX)
    }

    fn http(&self) -> Option<&HttpStats> {
        self.measured.http.as_deref()
    }

    fn empty(&self, name: &str) -> Report {
        let start_ns = self.start_ns();
        Report {
            op: name.to_owned(),
            concurrency: self.measured.workers.into(),
            start_ns,
            end_ns: start_ns.saturating_add_unsigned(self.measured.elapsed_ns),
            clients: self.clients.clone(),
            segment_ns: plan::segment_ns(self.options),
            ..Report::default()
        }
    }

    fn report(&self, shown: &Shown) -> Report {
        let counted = self.measured.operation(shown.counted);
        let rows = self.measured.operations.iter().filter(|row| shown.moves(&row.name));
        let objects = self.objects_per_request(shown);
        // Answers of failures alone are no result.
        let http = self.http().filter(|_| counted.ops > 0);
        let answers = http.and_then(|http| answers(http, shown.answered));
        let failures = self.measured.errors.iter();
        let failures = failures.filter(|error| error.op.as_deref() == Some(shown.counted));
        Report {
            requests: counted.ops.saturating_add(counted.failed),
            objects: (counted.ops as f64 * objects).round() as u64,
            bytes: rows.fold(0, |sum, row| sum.saturating_add(row.bytes)),
            errors: counted.failed,
            first_errors: failures.map(|of| of.message.clone()).take(ERRORS_MAX).collect(),
            segments: self.segments(shown, objects),
            latency: timing(counted.latency.as_ref()),
            first_byte: timing(answers.and_then(|op| op.first_byte.as_ref())),
            ..self.empty(shown.name)
        }
    }

    /// Keys of a page, or of a request that deletes several.
    fn objects_per_request(&self, shown: &Shown) -> f64 {
        let requests = self.measured.operation(shown.counted).ops.max(1) as f64;
        let Some(objects) = self.http().map(|http| &http.objects) else { return 1.0 };
        match self.options.command {
            Command::Delete => objects.keys_deleted as f64 / requests,
            Command::List => objects.keys as f64 / requests,
            _ => 1.0,
        }
    }

    /// Whole intervals in which all workers were busy.
    fn segments(&self, shown: &Shown, objects_per_request: f64) -> Vec<Segment> {
        let length_ns = plan::segment_ns(self.options);
        let busy_ns = self.measured.first_done.as_ref().map_or(u64::MAX, |done| done.at_ns);
        let slack_ns = length_ns / 10;
        let whole = self.measured.samples.iter().filter(|sample| {
            sample.length_ns + slack_ns >= length_ns
                && sample.at_ns <= busy_ns.saturating_add(slack_ns)
        });
        let segments = whole.map(|sample| {
            let scale = length_ns as f64 / sample.length_ns as f64;
            let after_ns = sample.at_ns.saturating_sub(sample.length_ns);
            let segment = part(shown, sample, scale);
            Segment {
                start_ns: self.start_ns().saturating_add_unsigned(after_ns),
                objects: segment.objects * objects_per_request,
                ..segment
            }
        });
        segments.collect()
    }

    /// Adds the servers: each has the share of the bytes and requests that its connections had.
    fn add_hosts(&self, report: &mut Report) {
        let Some((http, rate)) = self.http().zip(report.rate()) else { return };
        let bytes: u64 = http.peers.iter().map(|peer| peer.bytes).sum();
        let attempts: u64 = http.peers.iter().map(|peer| peer.attempts).sum();
        for peer in &http.peers {
            let host: &mut HostReport = report.hosts.entry(peer.endpoint.clone()).or_default();
            host.rate.bytes += rate.bytes * peer.bytes as f64 / bytes.max(1) as f64;
            host.rate.objects += rate.objects * peer.attempts as f64 / attempts.max(1) as f64;
        }
    }
}

fn answers<'a>(http: &'a HttpStats, name: &str) -> Option<&'a HttpOp> {
    http.operations.iter().find(|op| op.name == name)
}

/// Bytes and requests of an interval.
fn part(shown: &Shown, sample: &Sample, scale: f64) -> Segment {
    let mut segment = Segment::default();
    for row in &sample.operations {
        if shown.moves(&row.name) {
            segment.bytes += row.bytes as f64 * scale;
        }
        if row.name == shown.counted {
            segment.objects += row.ops as f64 * scale;
        }
    }
    segment
}

fn timing(latency: Option<&Latency>) -> Timing {
    latency.map_or(Timing::Absent, |latency| Timing::Requests(latency.histogram.clone()))
}

/// Adds an operation to the total.
fn add(total: &mut Report, op: &Report) {
    total.requests = total.requests.saturating_add(op.requests);
    total.objects = total.objects.saturating_add(op.objects);
    total.bytes = total.bytes.saturating_add(op.bytes);
    total.errors = total.errors.saturating_add(op.errors);
    total.first_errors.extend(op.first_errors.iter().cloned());
    total.first_errors.truncate(ERRORS_MAX);
    total.latency.add(&op.latency);
    total.first_byte.add(&op.first_byte);
    if total.segments.is_empty() {
        total.segments.clone_from(&op.segments);
        return;
    }
    for (sum, segment) in total.segments.iter_mut().zip(&op.segments) {
        sum.bytes += segment.bytes;
        sum.objects += segment.objects;
    }
}
