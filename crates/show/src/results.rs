//! Page of `candor show` for results of another tool, which nobody judged.

#[cfg(test)]
mod tests;

use candor_record::fmt::column::{iops, rate, share, time};
use candor_record::fmt::counted;
use candor_record::results::{FigureKind, JobResults, OpResults, PhaseResults, Results};

use crate::layout::{Align, Cell, Page, Table};
use crate::style::Style;

/// Lines of a table; the document for machines has all.
const ROWS_MAX: usize = 100;

/// The page.
pub fn text(results: &Results, style: &Style) -> String {
    let mut page = Page::new(style);
    let at = results.started.as_ref().map_or(String::new(), |at| format!(", started {at}"));
    page.heading(&format!("{}: results of {}{at}", results.name, results.tool));
    page.paragraph("", "Not judged: cache use and limits are unknown.");
    operations(&mut page, results);
    devices(&mut page, results);
    page.blank();
    for condition in &results.conditions {
        page.aside("", &format!("{}: {}", condition.name, condition.value));
    }
    page.finish()
}

/// A table with its rows, as far as they fit on a page.
fn table(page: &mut Page, columns: &[(&str, Align)], rows: Vec<Vec<Cell>>) {
    if rows.is_empty() {
        return;
    }
    let more = rows.len().saturating_sub(ROWS_MAX);
    let mut table = Table::new(columns);
    rows.into_iter().take(ROWS_MAX).for_each(|row| table.row(row));
    page.blank();
    for line in table.lines(page.style) {
        page.line(&line);
    }
    if more > 0 {
        let lines = counted(more as u64, "line");
        page.aside("", &format!("{lines} more: --json FILE has all."));
    }
}

/// A cell of what is known, else a dash.
fn cell(value: Option<f64>, print: impl Fn(f64) -> String) -> Cell {
    value.map_or("-".to_owned(), print).into()
}

fn ns(value: f64) -> String {
    time(value.round() as u64)
}

fn operations(page: &mut Page, results: &Results) {
    let left = ["phase", "job", "operation"].map(|name| (name, Align::Left));
    let right = ["ops/s", "bandwidth", "mean", "p50", "p99"].map(|name| (name, Align::Right));
    let row = |phase: &PhaseResults, job: &JobResults, op: &OpResults| {
        let figure = |kind| op.figure_value(kind);
        let percentile = |p| cell(figure(FigureKind::LatencyPercentile(p)), ns);
        let name = match phase.repeat {
            0 => phase.name.clone(),
            repeat => format!("{} #{}", phase.name, repeat + 1),
        };
        vec![
            name.into(),
            job.job.clone().into(),
            op.operation.clone().into(),
            cell(figure(FigureKind::OpsPerS), iops),
            cell(figure(FigureKind::BytesPerS), rate),
            cell(figure(FigureKind::LatencyMean), ns),
            percentile(50.0),
            percentile(99.0),
        ]
    };
    let mut rows = Vec::new();
    for phase in &results.phases {
        for job in &phase.jobs {
            rows.extend(job.operations.iter().map(|op| row(phase, job, op)));
        }
    }
    table(page, &[&left[..], &right[..]].concat(), rows);
}

fn devices(page: &mut Page, results: &Results) {
    let left = ["device", "intervals"].map(|name| (name, Align::Left));
    let right = ["reads/s", "writes/s", "requests/s", "read", "written", "queue", "busy"]
        .map(|name| (name, Align::Right));
    let mut rows = Vec::new();
    for device in results.phases.iter().flat_map(|phase| &phase.devices) {
        let mean = device.mean();
        let name = match device.host.as_str() {
            "" => device.device.clone(),
            host => format!("{} on {host}", device.device),
        };
        rows.push(vec![
            name.into(),
            device.intervals.len().to_string().into(),
            cell(mean.reads_per_s, iops),
            cell(mean.writes_per_s, iops),
            cell(mean.requests_per_s, iops),
            cell(mean.bytes_read_per_s, rate),
            cell(mean.bytes_written_per_s, rate),
            cell(mean.queue_mean, |queue| format!("{queue:.2}")),
            cell(mean.utilisation, share),
        ]);
    }
    table(page, &[&left[..], &right[..]].concat(), rows);
}
