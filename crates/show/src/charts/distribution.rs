//! Percentile curves and histograms of latency.

use candor_chart::{Axis, Chart, Panel, Series, Shape};
use candor_record::Unit;
use candor_record::results::{Bin, LatencyResults};

use super::curve::{self, Part};
use super::{Run, SERIES_MAX, frame};

const PARTS: [Part; 5] = [Part::Run, Part::Phase, Part::Repeat, Part::Job, Part::Op];

/// A percentile curve of each operation; dotted where fewer than ten operations lie beyond.
///
/// # Errors
/// A sentence: no operation has latencies.
pub fn percentiles(runs: &[Run<'_>]) -> Result<Chart, String> {
    let series = of_each(runs, |latency, name, slot| {
        let curve: Vec<(f64, f64)> =
            latency.curve().into_iter().map(|(p, ns)| (p, ns as f64)).collect();
        if latency.buckets.is_empty() {
            return vec![Series::new(name, slot, Shape::Line(curve))];
        }
        let carried = latency.carried_percentile();
        // The value that the carried end has begins before it.
        let (mut sure, rest): (Vec<_>, Vec<_>) =
            curve.into_iter().partition(|(p, _)| *p <= carried);
        let Some(last) = sure.last().copied() else { return Vec::new() };
        let bend = (carried.min(99.999_999), last.1);
        sure.push(bend);
        let rest: Vec<_> = std::iter::once(bend).chain(rest).collect();
        let mut all = vec![Series::new(name, slot, Shape::Step(sure))];
        if rest.len() > 1 {
            all.push(Series::new(String::new(), slot, Shape::Dotted(rest)));
        }
        all
    });
    let panel = Panel::new(Axis::log("Latency", Unit::Ns), series);
    finished(panel, Axis::nines(), "latency percentiles", runs)
}

/// Shares of the operations by latency.
///
/// # Errors
/// A sentence: no operation has a histogram.
pub fn histogram(runs: &[Run<'_>]) -> Result<Chart, String> {
    let series = of_each(runs, |latency, name, slot| {
        let bins = latency.bins();
        let end = bins.last().map(|bin| (bin.to_ns, 0.0));
        let points: Vec<_> = bins.iter().map(|bin: &Bin| (bin.from_ns, bin.share)).collect();
        let points: Vec<_> = points.into_iter().chain(end).collect();
        if points.is_empty() {
            Vec::new()
        } else {
            vec![Series::new(name, slot, Shape::Area(points))]
        }
    });
    let panel = Panel::new(Axis::linear("Share of operations", Unit::Share), series);
    finished(panel, Axis::log("Latency", Unit::Ns), "latency histogram", runs)
}

/// The series of each operation with latencies.
fn of_each(
    runs: &[Run<'_>],
    series: impl Fn(&LatencyResults, String, usize) -> Vec<Series>,
) -> Vec<Series> {
    let curves: Vec<_> =
        curve::all(runs).into_iter().filter(|curve| curve.op.latency.is_some()).collect();
    let names = curve::names(&curves, runs, &PARTS);
    let latencies = curves.iter().filter_map(|curve| curve.op.latency.as_ref()).zip(names);
    let of =
        |(slot, (latency, name)): (usize, (&LatencyResults, String))| series(latency, name, slot);
    latencies.take(SERIES_MAX).enumerate().flat_map(of).collect()
}

fn finished(panel: Panel, x: Axis, what: &str, runs: &[Run<'_>]) -> Result<Chart, String> {
    let chart = Chart { x, panels: vec![panel], ..Chart::default() };
    match chart.is_empty() {
        true => Err(format!("there is no picture of {what}: no latency of the runs was recorded")),
        false => Ok(frame::framed(chart, what, runs)),
    }
}
