//! Figures of several results beside each other, with intervals where there are repeats.

use candor_chart::{Axis, Bar, Chart, Panel, Series, Shape};
use candor_record::results::FigureKind;
use candor_record::{Spread, Unit, fmt};

use super::curve::{self, Curve, Part};
use super::{ROWS_MAX, Run, frame};

/// Operations of this size and more are told by their throughput.
const LARGE_BYTES: u64 = 64 << 10;

/// Results of one operation that are repeats of each other.
type Group<'a> = Vec<Curve<'a>>;

/// Rate and latency of each result; repeats are one row with the interval of their mean.
///
/// # Errors
/// A sentence: the runs have no results.
pub fn bars(runs: &[Run<'_>]) -> Result<Chart, String> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for curve in curve::all(runs) {
        match groups.iter_mut().find(|group| {
            let (a, b) = (&group[0], &curve);
            (a.run, &a.phase.name, &a.job.job, &a.op.operation)
                == (b.run, &b.phase.name, &b.job.job, &b.op.operation)
        }) {
            Some(group) => group.push(curve),
            None => groups.push(vec![curve]),
        }
    }
    groups.truncate(ROWS_MAX);
    if groups.is_empty() {
        return Err("no bars: the runs have no results of operations".into());
    }
    let first: Vec<Curve<'_>> = groups.iter().map(|group| group[0]).collect();
    let names = curve::names(&first, runs, &[Part::Run, Part::Phase, Part::Job, Part::Op]);
    let panels: Vec<Panel> =
        kinds(&first).into_iter().filter_map(|kind| panel(kind, &groups, runs)).collect();
    let x = Axis::categories("", names);
    Ok(frame::framed(Chart { x, panels, ..Chart::default() }, "results", runs))
}

/// The figures that are shown: throughput of large operations, operations per second of others.
fn kinds(curves: &[Curve<'_>]) -> Vec<FigureKind> {
    let rate = if curves.iter().all(|curve| curve.op.bytes_per_s.is_some_and(|rate| rate > 0.0))
        && curves.iter().any(|curve| curve.job.load.block_bytes >= Some(LARGE_BYTES))
    {
        FigureKind::BytesPerS
    } else {
        FigureKind::OpsPerS
    };
    vec![rate, FigureKind::LatencyMean, FigureKind::LatencyPercentile(99.0)]
}

fn panel(kind: FigureKind, groups: &[Group<'_>], runs: &[Run<'_>]) -> Option<Panel> {
    let bar = |(row, group): (usize, &Group<'_>)| {
        let (value, half) = match spread(kind, group, runs) {
            Some(spread) => (spread.mean, Some(spread.interval_95)),
            None => (group.first()?.op.figure_value(kind)?, None),
        };
        let doubtful = group.iter().any(Curve::is_doubtful);
        let share = half.map(|half| format!("± {}", fmt::percent(fmt::ratio(half, value))));
        let words = doubtful.then(|| "not the storage's number".to_owned());
        let note: Vec<String> = share.into_iter().chain(words).collect();
        Some(Bar {
            row,
            value,
            interval: half.map(|half| ((value - half).max(0.0), value + half)),
            note: note.join(", "),
            is_doubtful: doubtful,
        })
    };
    let bars: Vec<Bar> = groups.iter().enumerate().filter_map(bar).collect();
    let label = match kind {
        FigureKind::OpsPerS => curve::rate_label(&groups.concat()).to_owned(),
        FigureKind::BytesPerS => "Throughput".to_owned(),
        FigureKind::LatencyMean => "Latency, mean".to_owned(),
        FigureKind::LatencyPercentile(p) => format!("Latency, p{p}"),
    };
    let axis = Axis::linear(&label, kind.unit());
    let slot = usize::from(kind.unit() == Unit::Ns);
    let series = Series::new(String::new(), slot, Shape::Bars(bars.clone()));
    (!bars.is_empty()).then(|| Panel::new(axis, vec![series]))
}

/// The spread of repeats: that of the judgement where there is one, so that the mean is the same
/// number everywhere.
fn spread(kind: FigureKind, group: &Group<'_>, runs: &[Run<'_>]) -> Option<Spread> {
    let first = group.first()?;
    let judged = runs[first.run].report.map(|report| &report.judgement.repeats);
    let repeats = judged.and_then(|all| all.iter().find(|of| of.name == first.phase.name));
    if let Some(repeats) = repeats {
        let of = repeats
            .results
            .iter()
            .find(|of| of.job == first.job.job && of.operation == first.op.operation)?;
        return match kind {
            FigureKind::OpsPerS => Some(of.ops_per_s),
            FigureKind::BytesPerS => of.bytes_per_s,
            FigureKind::LatencyMean => of.latency_ns_mean,
            FigureKind::LatencyPercentile(99.0) => of.latency_ns_p99,
            FigureKind::LatencyPercentile(_) => None,
        };
    }
    let values: Option<Vec<f64>> = group.iter().map(|of| of.op.figure_value(kind)).collect();
    candor_derive::spread(&values?)
}
