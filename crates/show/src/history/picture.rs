//! Trends as a picture.

use candor_chart::{Axis, Chart, Level, Mark, MarkKind, Panel, Scale, Series, Shape};
use candor_record::fmt::{counted, percent};
use candor_record::results::FigureKind;
use candor_record::trend::{Trend, TrendPoint, Trends};

use super::{day, work};

/// Runs up to which each has a dot; beyond, dots hide the line and make the picture large.
const DOTS_MAX: usize = 300;
/// Panels of a picture: more of them could not be read.
const PANELS_MAX: usize = 6;

/// The trends with the most runs, one panel each over one axis of days; changes are marks.
pub fn chart(trends: &Trends) -> Chart {
    let shown = &trends.trends[..trends.trends.len().min(PANELS_MAX)];
    let points = || shown.iter().flat_map(|trend| &trend.points);
    let span = || {
        let first = points().min_by_key(|point| point.start_unix_ms)?;
        let last = points().max_by_key(|point| point.start_unix_ms)?;
        Some(format!("{} to {}", day(&first.started), day(&last.started)))
    };
    let title = match shown {
        [one] => format!("{}: {}", one.figure, work(&one.series)),
        _ => "Trends".to_owned(),
    };
    let left_out = match trends.trends.len() - shown.len() {
        0 => String::new(),
        more => format!("; {more} more kinds of work are not drawn"),
    };
    Chart {
        title,
        subtitle: format!("{}{left_out}", span().unwrap_or_default()),
        source: "candor history".into(),
        verdict: verdict(shown),
        caution: None,
        description: shown.iter().map(described).collect::<Vec<_>>().join(" "),
        x: Axis::date(),
        panels: shown.iter().enumerate().map(|(slot, trend)| panel(slot, trend)).collect(),
        marks: shown.iter().flat_map(marks).collect(),
    }
}

/// Seconds since 1970.
fn moment(point: &TrendPoint) -> f64 {
    point.start_unix_ms as f64 / 1e3
}

fn panel(slot: usize, trend: &Trend) -> Panel {
    let of = |counts: bool| -> Vec<(f64, f64)> {
        let points = trend.points.iter().filter(|point| point.counts() == counts);
        points.map(|point| (moment(point), point.value)).collect()
    };
    let label = match trend.figure {
        FigureKind::OpsPerS => "IOPS".to_owned(),
        FigureKind::BytesPerS => "Throughput".to_owned(),
        FigureKind::LatencyMean => "Mean latency".to_owned(),
        FigureKind::LatencyPercentile(p) => format!("p{p} latency"),
    };
    let counting = of(true);
    let level =
        trend.level.zip(counting.last()).map(|(value, _)| Level { value, label: "now".into() });
    let name = work(&trend.series);
    let mut series = vec![Series::new(name, slot, Shape::Line(counting.clone()))];
    if counting.len() <= DOTS_MAX {
        series.push(Series::new("", slot, Shape::Dots(counting)));
    }
    let left_out = of(false);
    if !left_out.is_empty() {
        series.push(Series::new(
            "cut short or not to be believed",
            slot + 1,
            Shape::Dots(left_out),
        ));
    }
    let mut panel = Panel::new(Axis::new(&label, trend.figure.unit(), Scale::Linear), series);
    panel.levels.extend(level);
    panel
}

fn marks(trend: &Trend) -> Vec<Mark> {
    let mark = |change: &candor_record::trend::TrendChange| {
        let point = trend.points.iter().find(|point| point.run == change.run)?;
        Some(Mark {
            at: moment(point),
            until: None,
            label: format!("run {}: {}", change.run, signed(change.change_share)),
            kind: MarkKind::Finding,
        })
    };
    trend.changes.iter().filter_map(mark).collect()
}

fn signed(share: f64) -> String {
    let sign = if share > 0.0 { "+" } else { "-" };
    format!("{sign}{}", percent(share.abs()))
}

fn verdict(shown: &[Trend]) -> String {
    match shown.iter().map(Trend::left_out).sum::<usize>() {
        0 => String::new(),
        runs => format!("{} left out", counted(runs as u64, "result")),
    }
}

fn described(trend: &Trend) -> String {
    let changes: Vec<String> = trend
        .changes
        .iter()
        .map(|change| format!("{} in run {}", signed(change.change_share), change.run))
        .collect();
    let changes = match changes.is_empty() {
        true => "no change beyond the noise".to_owned(),
        false => format!("changes: {}", changes.join(", ")),
    };
    let runs = counted(trend.points.len() as u64, "run");
    format!("{} of {} in {runs}: {changes}.", trend.figure, work(&trend.series))
}
