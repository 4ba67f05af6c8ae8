//! HTTP requests of jobs on objects: the time of each step, failures, connections and servers.

mod facts;
mod failures;

#[cfg(test)]
mod tests;

use candor_derive::results;
use candor_record::fmt::column::{self, time};
use candor_record::fmt::exact;
use candor_record::http::{HttpOp, HttpStats, Peer};
use candor_record::results::{LatencyResults, OpResults, Results};
use candor_record::{Latency, Measurement, PhaseRecord, Report};

use crate::layout::{Align, Cell, Page, Table, width};
use crate::style::Tone;

/// Lines on the first screen.
const BRIEF_MAX: usize = 3;

/// HTTP requests of one job.
pub struct HttpPart {
    /// Phase, and the job if the phase has several.
    pub name: String,
    /// Attempts of each operation, with the times of their steps.
    pub steps: Table,
    /// Servers, if there are several.
    pub servers: Option<Table>,
    /// Further facts, each with its name.
    pub facts: Vec<(&'static str, String)>,
}

/// A job with HTTP requests.
struct Job<'a> {
    /// Name without the number of the repeat.
    title: String,
    /// Name.
    name: String,
    measured: &'a Measurement,
    http: &'a HttpStats,
}

/// HTTP requests of all results; empty without work on objects.
pub fn parts(report: &Report) -> Vec<HttpPart> {
    jobs(report)
        .map(|job| HttpPart {
            steps: steps(job.http),
            servers: servers(job.http),
            facts: facts::of(job.measured, job.http),
            name: job.name,
        })
        .collect()
}

/// The section of the whole page.
pub(super) fn section(page: &mut Page, report: &Report) {
    let parts = parts(report);
    if parts.is_empty() {
        return;
    }
    page.heading("HTTP requests (medians and 99th percentiles)");
    let many = parts.len() > 1;
    for part in &parts {
        if many {
            page.blank();
            page.line(&format!("  {}", page.style.paint(Tone::Strong, &part.name)));
        }
        for table in std::iter::once(&part.steps).chain(&part.servers) {
            for table in in_columns(table, page.style.columns() - 2) {
                table.lines(page.style).iter().for_each(|line| page.line(&format!("  {line}")));
            }
        }
        let wide = part.facts.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
        for (name, text) in &part.facts {
            page.paragraph(&format!("  {name:<wide$}  "), text);
        }
    }
}

/// The table in parts that fit; each part begins with the first column.
fn in_columns(table: &Table, columns: usize) -> Vec<Table> {
    let (mut parts, mut from) = (Vec::new(), 1);
    while from < table.columns.len() {
        let until = (from + 1..=table.columns.len()).rev();
        let mut fitting = until.map(|until| columns_of(table, from, until));
        let part = fitting.find(|part| part.width() <= columns);
        let part = part.unwrap_or_else(|| columns_of(table, from, from + 1));
        from += part.columns.len() - 1;
        parts.push(part);
    }
    parts
}

/// The first column of a table, and some of the others.
fn columns_of(table: &Table, from: usize, until: usize) -> Table {
    let columns = table.columns[..1].iter().chain(&table.columns[from..until]).cloned().collect();
    let rows = table.rows.iter().map(|row| {
        let first = row.iter().take(1);
        first.chain(row.iter().take(until).skip(from)).cloned().collect()
    });
    Table { columns, rows: rows.collect() }
}

/// Lines of the first screen: failures, times to the first byte, certificates.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let jobs: Vec<Job<'_>> = jobs(report).collect();
    let many = jobs.len() > 1;
    let failures = jobs.iter().filter_map(|job| {
        let failures = failures::brief(job.http)?;
        let name = if many { format!("{}: ", job.name) } else { String::new() };
        Some(format!("{name}{failures}."))
    });
    let unverified = jobs.iter().any(|job| job.http.connections.unverified);
    let unverified = unverified.then(|| "Certificates of the servers were not verified.".into());
    let lines = failures.chain(first_byte(&jobs)).chain(unverified);
    lines.take(BRIEF_MAX).collect()
}

/// Times to the first byte of operations that move bytes, or of all if none does.
fn first_byte(jobs: &[Job<'_>]) -> Option<String> {
    let mut steps = Vec::new();
    for job in jobs {
        let ops: Vec<&HttpOp> = moving(job).collect();
        for op in &ops {
            // One operation alone has the name of its phase.
            let name = if ops.len() == 1 { job.title.clone() } else { op.name.clone() };
            add_step(&mut steps, name, op);
        }
    }
    if steps.is_empty() {
        for op in jobs.iter().flat_map(|job| &job.http.operations) {
            add_step(&mut steps, op.name.clone(), op);
        }
    }
    let named: Vec<String> =
        steps.iter().filter_map(|step| facts::step(&step.name, &step.latency)).collect();
    (!named.is_empty()).then(|| format!("Time to first byte: {}.", named.join(", ")))
}

/// Operations of a job that move bytes.
fn moving<'a>(job: &Job<'a>) -> impl Iterator<Item = &'a HttpOp> {
    let measured = job.measured;
    job.http.operations.iter().filter(|op| measured.operation(&op.name).bytes > 0)
}

/// Time to the first byte under a name.
struct FirstByte {
    name: String,
    latency: Option<Latency>,
}

/// Adds the time to the first byte of an operation. Repeats share a name.
fn add_step(steps: &mut Vec<FirstByte>, name: String, op: &HttpOp) {
    match steps.iter_mut().find(|known| known.name == name) {
        Some(known) => Latency::merge(&mut known.latency, op.first_byte.as_ref()),
        None => steps.push(FirstByte { name, latency: op.first_byte.clone() }),
    }
}

/// Buckets and their servers, a line for each.
pub(super) fn storage(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for (phase, _) in report.judged() {
        for measured in &phase.measurements {
            let line = storage_of(report, phase, measured);
            lines.extend(line.filter(|line| !lines.contains(line)));
        }
    }
    lines
}

/// `s3://training at http://10.0.0.1:9000 (ExampleStore)`.
fn storage_of(report: &Report, phase: &PhaseRecord, measured: &Measurement) -> Option<String> {
    let http = measured.http.as_ref()?;
    let planned = &report.plan.phases.get(phase.phase)?.jobs;
    let job = planned.iter().find(|job| job.name == measured.job)?;
    let names = job.work.objects()?.buckets.iter();
    let mut buckets: Vec<&str> =
        names.filter_map(|name| Some(report.plan.bucket(name)?.bucket.as_str())).collect();
    buckets.dedup();
    let buckets: Vec<String> = buckets.iter().map(|bucket| format!("s3://{bucket}")).collect();
    let endpoints: Vec<&str> = http.endpoints.iter().map(|of| of.url.as_str()).collect();
    let mut software: Vec<&str> =
        http.peers.iter().flat_map(|peer| &peer.servers).map(String::as_str).collect();
    software.sort_unstable();
    software.dedup();
    let is_local = http.peers.iter().any(|peer| peer.is_local);
    software.extend(is_local.then_some("on this host"));
    let software = match &software[..] {
        [] => String::new(),
        software => format!(" ({})", software.join(", ")),
    };
    Some(format!("{} at {}{software}", buckets.join(", "), endpoints.join(", ")))
}

/// Jobs with HTTP requests, each under the name of its phase.
fn jobs(report: &Report) -> impl Iterator<Item = Job<'_>> {
    report.judged().flat_map(|(phase, _)| {
        phase.measurements.iter().filter_map(move |measured| {
            let http = measured.http.as_deref()?;
            let title = title(phase, measured);
            let name = match phase.repeat {
                0 => title.clone(),
                nth => format!("{title} #{}", nth + 1),
            };
            Some(Job { title, name, measured, http })
        })
    })
}

/// The phase, and the job if the phase has several.
fn title(phase: &PhaseRecord, measured: &Measurement) -> String {
    match phase.measurements.len() {
        1 => phase.name.clone(),
        _ => format!("{}, {}", phase.name, measured.job),
    }
}

/// Attempts of each operation, with the times of their steps; columns without a value are left out.
fn steps(http: &HttpStats) -> Table {
    let heads = ["attempts", "retries", "wait", "send", "first byte", "p99", "transfer", "attempt"];
    let heads = heads.map(|head| (head, Align::Right)).into_iter();
    let mut table =
        Table::new(&[("operation", Align::Left)].into_iter().chain(heads).collect::<Vec<_>>());
    for op in http.operations.iter().filter(|op| op.attempts > 0) {
        table.row(cells(op));
    }
    without_empty_columns(&table)
}

fn cells(op: &HttpOp) -> Vec<Cell> {
    vec![
        op.name.as_str().into(),
        exact(op.attempts).into(),
        count(op.retries),
        median(&op.wait),
        median(&op.send),
        median(&op.first_byte),
        percentile(&op.first_byte, 99.0),
        median(&op.transfer),
        median(&op.attempt),
    ]
}

/// A count; empty for none.
fn count(count: u64) -> Cell {
    if count == 0 { Cell::default() } else { exact(count).into() }
}

fn median(latency: &Option<Latency>) -> Cell {
    percentile(latency, 50.0)
}

fn percentile(latency: &Option<Latency>, percentile: f64) -> Cell {
    let value = latency.as_ref().and_then(|latency| latency.percentile_ns(percentile));
    // A step that did not occur takes 0 ns.
    let value = value.filter(|ns| *ns > 0);
    value.map(time).unwrap_or_default().into()
}

fn without_empty_columns(table: &Table) -> Table {
    let kept: Vec<usize> = (0..table.columns.len())
        .filter(|at| table.rows.iter().any(|row| row[*at].holds_value()))
        .collect();
    let rows = table.rows.iter().map(|row| kept.iter().map(|at| row[*at].clone()).collect());
    Table {
        columns: kept.iter().map(|at| table.columns[*at].clone()).collect(),
        rows: rows.collect(),
    }
}

/// The servers, if there are several.
fn servers(http: &HttpStats) -> Option<Table> {
    let heads = ["connections", "attempts", "failed", "bytes", "first byte", "p99"];
    let heads = heads.map(|head| (head, Align::Right)).into_iter();
    let heads = [("server", Align::Left)].into_iter().chain(heads);
    let mut table = Table::new(&heads.chain([("software", Align::Left)]).collect::<Vec<_>>());
    http.peers.iter().for_each(|peer| table.row(server(peer)));
    (http.peers.len() > 1).then(|| without_empty_columns(&table))
}

fn server(peer: &Peer) -> Vec<Cell> {
    vec![
        peer.address.as_str().into(),
        exact(peer.connections).into(),
        exact(peer.attempts).into(),
        count(peer.failed),
        column::size(peer.bytes).into(),
        median(&peer.first_byte),
        percentile(&peer.first_byte, 99.0),
        peer.servers.join(", ").into(),
    ]
}

/// Times to the first byte as results, one operation for each operation of a job, for charts.
pub fn first_bytes(report: &Report) -> Results {
    let mut all = results(report);
    for (phase, (record, _)) in all.phases.iter_mut().zip(report.judged()) {
        for (job, measured) in phase.jobs.iter_mut().zip(&record.measurements) {
            job.operations = measured
                .http
                .iter()
                .flat_map(|http| &http.operations)
                .filter_map(first_byte_results)
                .collect();
        }
    }
    all
}

fn first_byte_results(op: &HttpOp) -> Option<OpResults> {
    let latency = op.first_byte.as_ref()?;
    Some(OpResults {
        operation: format!("{} first byte", op.name),
        ops: Some(latency.count),
        latency: Some(LatencyResults::from(latency)),
        ..OpResults::default()
    })
}
