//! Percentile curves and histograms of latency.

use candor_chart::{Axis, Chart, Panel, Series, Shape};
use candor_record::Unit;
use candor_record::results::{Bin, LatencyResults};

use super::curve::{self, Curve, Part};
use super::{Run, SERIES_MAX, frame};

const PARTS: [Part; 5] = [Part::Run, Part::Phase, Part::Repeat, Part::Job, Part::Op];

/// A percentile curve of each operation; dotted where fewer than ten operations lie beyond.
///
/// # Errors
/// A sentence: no operation has latencies.
pub fn percentiles(runs: &[Run<'_>]) -> Result<Chart, String> {
    let merged = merged(runs);
    let series = of_each(&merged, runs, |latency, name, slot| {
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
    finished(panel, Axis::nines(), "latency percentiles", &merged, runs)
}

/// Shares of the operations by latency.
///
/// # Errors
/// A sentence: no operation has a histogram.
pub fn histogram(runs: &[Run<'_>]) -> Result<Chart, String> {
    let merged = merged(runs);
    let series = of_each(&merged, runs, |latency, name, slot| {
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
    finished(panel, Axis::log("Latency", Unit::Ns), "latency histogram", &merged, runs)
}

/// Operations with latencies; repeats that have counts are one.
fn merged<'a>(runs: &[Run<'a>]) -> Vec<(Curve<'a>, LatencyResults)> {
    let mut merged: Vec<(Curve<'a>, LatencyResults)> = Vec::new();
    for curve in curve::all(runs) {
        let Some(latency) = &curve.op.latency else { continue };
        match merged.iter_mut().find(|(first, sum)| {
            curve.is_repeat_of(first) && !sum.buckets.is_empty() && !latency.buckets.is_empty()
        }) {
            Some((_, sum)) => sum.add_counts(latency),
            None => merged.push((curve, latency.clone())),
        }
    }
    merged
}

/// The series of each operation with latencies.
fn of_each(
    merged: &[(Curve<'_>, LatencyResults)],
    runs: &[Run<'_>],
    series: impl Fn(&LatencyResults, String, usize) -> Vec<Series>,
) -> Vec<Series> {
    let curves: Vec<Curve<'_>> = merged.iter().map(|(curve, _)| *curve).collect();
    let names = curve::names(&curves, runs, &PARTS);
    let latencies = merged.iter().map(|(_, latency)| latency).zip(names);
    let of =
        |(slot, (latency, name)): (usize, (&LatencyResults, String))| series(latency, name, slot);
    latencies.take(SERIES_MAX).enumerate().flat_map(of).collect()
}

fn finished(
    panel: Panel,
    x: Axis,
    what: &str,
    merged: &[(Curve<'_>, LatencyResults)],
    runs: &[Run<'_>],
) -> Result<Chart, String> {
    let chart = Chart { x, panels: vec![panel], ..Chart::default() };
    if chart.is_empty() {
        return Err(format!("no {what}: no latency of the runs was recorded"));
    }
    Ok(frame::first_of(frame::framed(chart, what, runs), merged.len()))
}
