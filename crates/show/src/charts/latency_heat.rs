//! Latencies over time as a heat map.

use candor_chart::{Axis, Cell, Chart, Panel, Series, Shape, ValueKey};
use candor_record::Unit;
use candor_record::results::{Interval, latency_spans};

use super::timeline::{self, Lines};
use super::{Run, SERIES_MAX, frame};

/// Columns of a picture, at most: intervals are put together until there are no more.
const COLUMNS_MAX: u64 = 120;

/// Shares of the operations by latency, from one span of time to the next; a panel for each
/// operation.
///
/// # Errors
/// A sentence: latencies of intervals were not counted.
pub fn over_time(runs: &[Run<'_>]) -> Result<Chart, String> {
    let lines = Lines::of(runs);
    let counted: Vec<&String> =
        lines.slots.iter().filter(|name| is_counted(&lines, name)).collect();
    if counted.is_empty() {
        return Err("no heat map of latency over time: the report has no latency counts per \
            interval. candor counts them with intervals of a second or more; fio logs single \
            latencies or histograms"
            .into());
    }
    let length_ns = (lines.end_ns() / COLUMNS_MAX as f64).ceil() as u64;
    let panel = |name: &&String| {
        let label = match counted.len() {
            1 => "Latency".to_owned(),
            _ => format!("Latency, {name}"),
        };
        let key = ValueKey { label: "Share of operations".into(), unit: Unit::Share, is_log: true };
        let shape = Shape::Cells(cells(&lines, name, length_ns), key);
        Panel::new(Axis::log(&label, Unit::Ns), vec![Series::new(String::new(), 0, shape)])
    };
    let panels = counted.iter().take(SERIES_MAX).map(panel).collect();
    let marks = timeline::marks(runs, &lines);
    let chart = Chart { x: Axis::elapsed(), panels, marks, ..Chart::default() };
    let chart = frame::framed(chart, "latency distribution over time", runs);
    Ok(frame::first_of(chart, counted.len()))
}

fn is_counted(lines: &Lines<'_>, name: &str) -> bool {
    let mut intervals = lines.named(name).flat_map(|(_, intervals)| intervals);
    intervals.any(|interval: &Interval| !interval.latency_counts.is_empty())
}

fn cells(lines: &Lines<'_>, name: &str, length_ns: u64) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (offset, intervals) in lines.named(name) {
        for span in latency_spans(intervals, length_ns) {
            let start = offset + span.start_ns as f64;
            let x = (start, start + span.length_ns as f64);
            // A logarithm has no zero.
            cells.extend(span.bins.iter().map(|bin| Cell {
                x,
                y: (bin.from_ns.max(1.0), bin.to_ns),
                value: bin.share,
            }));
        }
    }
    cells
}
