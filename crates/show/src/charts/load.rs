//! Rates and latency against depth, workers or size, as lines and as a heat map.

use candor_chart::{Axis, Cell, Chart, Mark, MarkKind, Panel, Scale, Series, Shape, ValueKey};
use candor_record::results::{FigureKind, Load};
use candor_record::{PhaseRecord, Sweep, SweepKey, Unit, fmt};

use super::curve::{self, Curve};
use super::{Run, SERIES_MAX, frame};

/// Latencies further apart than this need a logarithmic axis.
const LINEAR_MAX: f64 = 20.0;

/// A part of the load that a picture can have as an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Block,
    Depth,
    Workers,
}

const KEYS: [Key; 3] = [Key::Depth, Key::Workers, Key::Block];

impl Key {
    fn value(self, load: &Load) -> Option<u64> {
        match self {
            Key::Block => load.block_bytes,
            Key::Depth => load.depth.map(u64::from),
            Key::Workers => load.workers.map(u64::from),
        }
    }

    fn text(self, value: u64) -> String {
        match self {
            Key::Block => fmt::column::size(value),
            Key::Depth | Key::Workers => value.to_string(),
        }
    }

    fn label(self) -> &'static str {
        match self {
            Key::Block => "Block size",
            Key::Depth => "Operations in flight of each worker",
            Key::Workers => "Workers",
        }
    }

    /// The value with its name, where a name of a series needs it.
    fn phrase(self, value: u64) -> String {
        match self {
            Key::Block => self.text(value),
            Key::Depth => format!("depth {value}"),
            Key::Workers => fmt::plural(value as f64, "worker", "workers"),
        }
    }

    /// The figure that more of it is to raise.
    fn rate(self) -> FigureKind {
        if self == Key::Block { FigureKind::BytesPerS } else { FigureKind::OpsPerS }
    }
}

/// Results by the values of one key; those alike in it are repeats.
struct Family<'a> {
    name: String,
    values: Vec<(u64, Vec<Curve<'a>>)>,
}

/// Distinct values of a key, ascending.
fn values(curves: &[Curve<'_>], key: Key) -> Vec<u64> {
    let mut values: Vec<u64> =
        curves.iter().filter_map(|curve| key.value(&curve.job.load)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Keys of which the curves have several values, that with the most first.
fn varying(curves: &[Curve<'_>]) -> Vec<Key> {
    let mut keys: Vec<Key> =
        KEYS.into_iter().filter(|key| values(curves, *key).len() > 1).collect();
    keys.sort_by_key(|key| std::cmp::Reverse(values(curves, *key).len()));
    keys
}

/// The key along which lines go: that along which the judgement of a run looks for knees, else that
/// with the most values.
fn along(curves: &[Curve<'_>], runs: &[Run<'_>]) -> Option<Key> {
    let keys = varying(curves);
    let report = runs.iter().find_map(|run| run.report);
    let judged = report.and_then(|report| last_key(report.judgement.sweep.as_ref()?));
    judged.filter(|key| keys.contains(key)).or_else(|| keys.first().copied())
}

/// The key whose values the knees of a sweep are.
fn last_key(sweep: &Sweep) -> Option<Key> {
    match sweep.keys.last()? {
        SweepKey::Rw => None,
        SweepKey::Bs => Some(Key::Block),
        SweepKey::Depth => Some(Key::Depth),
        SweepKey::Workers => Some(Key::Workers),
    }
}

/// Whether lines against load say something: three values of a key in one series, and few series.
pub fn has_curve(runs: &[Run<'_>]) -> bool {
    let curves = curve::all(runs);
    let Some(key) = along(&curves, runs) else { return false };
    let families = families(&curves, runs, key);
    families.len() <= SERIES_MAX && families.iter().any(|family| family.values.len() > 2)
}

/// Whether a run has results of several kinds of work, as a check does: no axis holds them all.
pub fn is_of_unlike_work(runs: &[Run<'_>]) -> bool {
    let mut kinds: Vec<_> =
        curve::all(runs).into_iter().map(|curve| curve.job.load.access.clone()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    runs.len() == 1 && kinds.len() > 2
}

/// Whether a heat map says something: results of one kind of work for all pairs of values.
pub fn has_grid(runs: &[Run<'_>]) -> bool {
    let curves = curve::all(runs);
    let [x, y] = varying(&curves)[..] else { return false };
    let mut pairs: Vec<_> =
        curves.iter().map(|curve| (x.value(&curve.job.load), y.value(&curve.job.load))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let kind = |curve: &Curve<'_>| (curve.job.load.access.clone(), curve.op.operation.clone());
    let is_one_kind = curves.iter().all(|curve| kind(curve) == kind(&curves[0]));
    is_one_kind && pairs.len() == values(&curves, x).len() * values(&curves, y).len()
}

/// Series of curves that differ in the key only.
fn families<'a>(curves: &[Curve<'a>], runs: &[Run<'_>], key: Key) -> Vec<Family<'a>> {
    let others: Vec<Key> = varying(curves).into_iter().filter(|other| *other != key).collect();
    let differ = |text: &dyn Fn(&Curve<'_>) -> String| {
        curves.iter().any(|curve| text(curve) != text(&curves[0]))
    };
    let access = |curve: &Curve<'_>| curve.job.load.access.clone().unwrap_or_default();
    let op = |curve: &Curve<'_>| curve.op.operation.clone();
    let run = |curve: &Curve<'_>| runs[curve.run].name.to_owned();
    // Several files of a tool are often the steps of one sweep.
    let is_one_each =
        (0..runs.len()).all(|nth| values(&of_run(curves, nth), key).len() < 2) && runs.len() > 1;
    let (by_run, by_access, by_op) = (differ(&run) && !is_one_each, differ(&access), differ(&op));
    let mut families: Vec<Family<'a>> = Vec::new();
    for curve in curves {
        let Some(value) = key.value(&curve.job.load) else { continue };
        let mut name: Vec<String> = Vec::new();
        name.extend(by_run.then(|| run(curve)));
        name.extend(by_access.then(|| access(curve)));
        name.extend((by_op && !name.contains(&op(curve))).then(|| op(curve)));
        name.extend(
            others.iter().filter_map(|other| Some(other.phrase(other.value(&curve.job.load)?))),
        );
        let name = if name.is_empty() { op(curve) } else { name.join(", ") };
        let at = families.iter().position(|family| family.name == name).unwrap_or_else(|| {
            families.push(Family { name, values: Vec::new() });
            families.len() - 1
        });
        match families[at].values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, curves)) => curves.push(*curve),
            None => families[at].values.push((value, vec![*curve])),
        }
    }
    families.iter_mut().for_each(|family| family.values.sort_by_key(|(value, _)| *value));
    families
}

fn of_run<'a>(curves: &[Curve<'a>], run: usize) -> Vec<Curve<'a>> {
    curves.iter().filter(|curve| curve.run == run).copied().collect()
}

/// A figure of repeats: the mean, and the least and the greatest where there are several.
fn figure(curves: &[Curve<'_>], kind: FigureKind) -> Option<(f64, Option<(f64, f64)>)> {
    let all: Option<Vec<f64>> = curves.iter().map(|curve| curve.op.figure_value(kind)).collect();
    let all = all?;
    match (candor_derive::spread(&all), &all[..]) {
        (Some(spread), _) => Some((spread.mean, Some((spread.min, spread.max)))),
        (None, [one]) => Some((*one, None)),
        (None, _) => None,
    }
}

/// A line for each family, with whiskers where several runs repeat a load.
fn series(
    families: &[Family<'_>],
    kind: FigureKind,
    suffix: &str,
    shape: fn(Vec<(f64, f64)>) -> Shape,
) -> Vec<Series> {
    let mut all = Vec::new();
    for (slot, family) in families.iter().enumerate().take(SERIES_MAX) {
        let (mut points, mut spans) = (Vec::new(), Vec::new());
        for (value, curves) in &family.values {
            let Some((mean, ends)) = figure(curves, kind) else { continue };
            points.push((*value as f64, mean));
            spans.extend(ends.map(|(low, high)| (*value as f64, low, high)));
        }
        all.push(Series::new(format!("{}{suffix}", family.name), slot, shape(points)));
        all.push(Series::new(String::new(), slot, Shape::Whiskers(spans)));
    }
    all.retain(|series| !is_empty(&series.shape));
    all
}

/// Rate and latency against a part of the load.
///
/// # Errors
/// A sentence: all have the same load.
pub fn lines(runs: &[Run<'_>]) -> Result<Chart, String> {
    let curves = curve::all(runs);
    let Some(key) = along(&curves, runs) else {
        return Err(
            "no chart against load: all results have the same depth, number of workers and \
            block size"
                .into(),
        );
    };
    let families = families(&curves, runs, key);
    let rate = key.rate();
    let of_ops = curve::rate_label(&curves);
    let label = if rate == FigureKind::BytesPerS { "Throughput" } else { of_ops };
    let mut panels = vec![Panel::new(
        Axis::linear(label, rate.unit()),
        series(&families, rate, "", Shape::Line),
    )];
    let p99 = FigureKind::LatencyPercentile(99.0);
    let mut latency = series(&families, FigureKind::LatencyMean, " mean", Shape::Line);
    latency.extend(series(&families, p99, " p99", Shape::Dotted));
    if !latency.is_empty() {
        panels.push(Panel::new(latency_axis(&latency), latency));
    }
    let all = values(&curves, key);
    let ticks = all.iter().map(|value| (*value as f64, key.text(*value))).collect();
    let unit = if key == Key::Block { Unit::Bytes } else { Unit::Count };
    let x = Axis::new(key.label(), unit, Scale::Log).with_ticks(ticks);
    let marks = knees(runs, key);
    let what = match key {
        Key::Block => "throughput and latency by block size",
        Key::Depth => "IOPS and latency by depth",
        Key::Workers => "IOPS and latency by workers",
    };
    let chart = frame::framed(Chart { x, panels, marks, ..Chart::default() }, what, runs);
    Ok(frame::first_of(chart, families.len()))
}

/// Rate and latency of the trials with which a run searched for a load, and the load that it chose.
///
/// # Errors
/// A sentence: no run searched, or all its trials had the same load.
pub fn search(runs: &[Run<'_>]) -> Result<Chart, String> {
    let report = match runs {
        [Run { report: Some(report), .. }] => report,
        _ => return Err("a search chart needs one report of candor".into()),
    };
    let results = candor_derive::search_results(report);
    let run = [Run { name: runs[0].name, results: &results, report: None }];
    if !has_curve(&run) {
        return Err("this run did not search for a load: fewer than three loads were tried".into());
    }
    let trials = curve::all(&run);
    let is_trial = |record: &&PhaseRecord| {
        let tried = record.tried.iter().flat_map(|phase| &phase.jobs);
        tried.map(candor_derive::load).any(|load| load.depth.is_some())
    };
    let chosen = report.phases.iter().rfind(is_trial).and_then(|record| {
        let key = along(&trials, &run)?;
        let job = report.plan.phases.get(record.phase)?.jobs.first()?;
        let at = key.value(&candor_derive::load(job))?;
        let label = format!("chosen: {}", key.phrase(at));
        Some(Mark { at: at as f64, until: None, label, kind: MarkKind::Knee })
    });
    let chart = lines(&run)?;
    Ok(Chart { marks: chosen.into_iter().collect(), ..chart })
}

fn is_empty(shape: &Shape) -> bool {
    match shape {
        Shape::Whiskers(spans) => spans.is_empty(),
        Shape::Line(points) | Shape::Dotted(points) => points.is_empty(),
        _ => false,
    }
}

fn latency_axis(series: &[Series]) -> Axis {
    let points = series.iter().flat_map(|of| match &of.shape {
        Shape::Line(points) | Shape::Dotted(points) => points.clone(),
        _ => Vec::new(),
    });
    let (mut low, mut high) = (f64::MAX, 0f64);
    for (_, ns) in points {
        (low, high) = (low.min(ns), high.max(ns));
    }
    if high > low * LINEAR_MAX {
        Axis::log("Latency", Unit::Ns)
    } else {
        Axis::linear("Latency", Unit::Ns)
    }
}

/// The knees that the judgement of a run shows, at their values of the key.
fn knees(runs: &[Run<'_>], key: Key) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for report in runs.iter().filter_map(|run| run.report) {
        let sweep = report.judgement.sweep.as_ref();
        let Some(sweep) = sweep.filter(|sweep| last_key(sweep) == Some(key)) else { continue };
        let named = sweep.knees.iter().filter_map(|knee| Some((knee, knee.value.as_ref()?)));
        for (knee, text) in named {
            // A row has the same value in the same words, and the plan has it as a number.
            let row = sweep.rows.iter().find(|row| row.values.last() == Some(text));
            let job = row.and_then(|row| report.plan.phases.get(row.phase)?.jobs.first());
            let load = job.map(candor_derive::load);
            let Some(at) = load.and_then(|load| key.value(&load)) else { continue };
            let mut label = format!("knee at {}", key.phrase(at));
            if !knee.series.is_empty() {
                label += &format!(" ({})", knee.series);
            }
            if !marks.iter().any(|mark| mark.label == label) {
                marks.push(Mark { at: at as f64, until: None, label, kind: MarkKind::Knee });
            }
        }
    }
    marks
}

/// Rate and latency by two parts of the load.
///
/// # Errors
/// A sentence: the results do not have several values of two of them.
pub fn heatmap(runs: &[Run<'_>]) -> Result<Chart, String> {
    let curves = curve::all(runs);
    let keys = varying(&curves);
    let [x, y, ..] = keys[..] else {
        return Err("a heat map needs results with several values of two of depth, workers and \
            block size"
            .into());
    };
    let (columns, rows) = (values(&curves, x), values(&curves, y));
    let cells = |kind: FigureKind| -> Vec<Cell> {
        let mut cells = Vec::new();
        for (column, x_value) in (0u32..).map(f64::from).zip(&columns) {
            for (row, y_value) in (0u32..).map(f64::from).zip(&rows) {
                let is_here = |curve: &&Curve<'_>| {
                    let load = &curve.job.load;
                    x.value(load) == Some(*x_value) && y.value(load) == Some(*y_value)
                };
                let here: Vec<_> = curves.iter().filter(is_here).copied().collect();
                let Some((value, _)) = figure(&here, kind) else { continue };
                let around = |at: f64| (at - 0.5, at + 0.5);
                cells.push(Cell { x: around(column), y: around(row), value });
            }
        }
        cells
    };
    let rate = if x == Key::Block || y == Key::Block { Key::Block.rate() } else { x.rate() };
    let figures = [rate, FigureKind::LatencyPercentile(99.0)];
    let figures = figures.into_iter().map(|kind| match cells(kind) {
        none if none.is_empty() => (FigureKind::LatencyMean, cells(FigureKind::LatencyMean)),
        cells => (kind, cells),
    });
    let names = |key: Key, values: &[u64]| -> Vec<String> {
        values.iter().map(|value| key.text(*value)).collect()
    };
    let panel = |(kind, cells): (FigureKind, Vec<Cell>)| {
        let label = match kind {
            FigureKind::OpsPerS => curve::rate_label(&curves),
            FigureKind::BytesPerS => "Throughput",
            FigureKind::LatencyMean => "Latency, mean",
            FigureKind::LatencyPercentile(_) => "Latency, p99",
        };
        let key =
            ValueKey { label: label.into(), unit: kind.unit(), is_log: kind.unit() == Unit::Ns };
        let series = Series::new(String::new(), 0, Shape::Cells(cells, key));
        Panel::new(Axis::categories(y.label(), names(y, &rows)), vec![series])
    };
    let panels: Vec<Panel> = figures.filter(|(_, cells)| !cells.is_empty()).map(panel).collect();
    let x = Axis::categories(x.label(), names(x, &columns));
    let what = format!("rate and latency by {} and {}", word(keys[0]), word(keys[1]));
    Ok(frame::framed(Chart { x, panels, ..Chart::default() }, &what, runs))
}

fn word(key: Key) -> &'static str {
    match key {
        Key::Block => "block size",
        Key::Depth => "depth",
        Key::Workers => "workers",
    }
}
