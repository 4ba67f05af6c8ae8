//! Trends as a picture.

use candor_chart::{Axis, Chart, Level, Mark, MarkKind, Panel, Scale, Series, Shape};
use candor_derive::trend::{Trend, TrendPoint, Trends};
use candor_plan::work::is_request;
use candor_record::Verdict;
use candor_record::fmt::{counted, percent};
use candor_record::results::FigureKind;

use super::{day, named};

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
        let (first, last) = (day(&first.started), day(&last.started));
        Some(if first == last { first.to_owned() } else { format!("{first} to {last}") })
    };
    let title = match shown {
        [one] => format!("{}: {}", one.figure, named(one)),
        _ => "Trends".to_owned(),
    };
    let left_out = match trends.trends.len() - shown.len() {
        0 => String::new(),
        more => format!("; {more} more kinds of work not shown"),
    };
    Chart {
        title,
        subtitle: format!("{}{left_out}", span().unwrap_or_default()),
        source: "candor history".into(),
        verdict: verdict(shown),
        caution: None,
        description: shown.iter().map(described).collect::<Vec<_>>().join(" "),
        x: Axis::date(),
        panels: shown.iter().map(panel).collect(),
        marks: marks(shown),
    }
}

/// Seconds since 1970.
fn moment(point: &TrendPoint) -> f64 {
    point.start_unix_ms as f64 / 1e3
}

fn panel(trend: &Trend) -> Panel {
    let of = |counts: bool| -> Vec<(f64, f64)> {
        let points = trend.points.iter().filter(|point| point.counts() == counts);
        points.map(|point| (moment(point), point.value)).collect()
    };
    let label = match trend.figure {
        FigureKind::OpsPerS if is_request(&trend.series.operation) => "Requests".to_owned(),
        FigureKind::OpsPerS => "IOPS".to_owned(),
        FigureKind::BytesPerS => "Throughput".to_owned(),
        FigureKind::LatencyMean => "Mean latency".to_owned(),
        FigureKind::LatencyPercentile(p) => format!("p{p} latency"),
    };
    let counting = of(true);
    let level =
        trend.level.zip(counting.last()).map(|(value, _)| Level { value, label: "now".into() });
    // The line comes last, above the dots of runs that do not count.
    let mut series = Vec::new();
    let left_out = thinned(of(false));
    if !left_out.is_empty() {
        let name = "cut short, or not the storage's";
        series.push(Series::new(name, 1, Shape::Dots(left_out)));
    }
    series.push(Series::new(named(trend), 0, Shape::Line(counting.clone())));
    if counting.len() <= DOTS_MAX {
        series.push(Series::new("", 0, Shape::Dots(counting)));
    }
    let mut panel = Panel::new(Axis::new(&label, trend.figure.unit(), Scale::Linear), series);
    panel.levels.extend(level);
    panel
}

/// Dots of which many lie on each other: the least and the greatest of some neighbours each.
fn thinned(dots: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if dots.len() <= DOTS_MAX {
        return dots;
    }
    let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    dots.chunks(dots.len().div_ceil(DOTS_MAX / 2))
        .flat_map(|some| {
            [some.iter().min_by(by_value), some.iter().max_by(by_value)]
                .into_iter()
                .flatten()
                .copied()
                .collect::<Vec<_>>()
        })
        .collect()
}

/// A mark per change; operations of the same run that changed alike share one.
fn marks(shown: &[Trend]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for (trend, change) in shown.iter().flat_map(|of| of.changes.iter().map(move |to| (of, to))) {
        let point = trend.points.iter().find(|point| point.run == change.run);
        let Some(at) = point.map(moment) else { continue };
        let label = format!("run {}: {}", change.run, signed(change.change_share));
        if !marks.iter().any(|mark| mark.label == label) {
            marks.push(Mark { at, until: None, label, kind: MarkKind::Finding });
        }
    }
    marks
}

fn signed(share: f64) -> String {
    let sign = if share > 0.0 { "+" } else { "-" };
    format!("{sign}{}", percent(share.abs()))
}

/// The worst verdict of the results that count, how many have it, and how many do not count.
fn verdict(shown: &[Trend]) -> String {
    let (counting, left_out): (Vec<&TrendPoint>, Vec<&TrendPoint>) =
        shown.iter().flat_map(|trend| &trend.points).partition(|point| point.counts());
    let verdicts: Vec<Verdict> = counting.iter().filter_map(|point| point.verdict).collect();
    let judged = verdicts.iter().max().map(|worst| {
        let concerned = verdicts.iter().filter(|verdict| *verdict == worst).count();
        match counting.len() {
            1 => worst.label().to_owned(),
            all if all == concerned => format!("{}: all {all} results", worst.label()),
            all => format!("{}: {concerned} of {all} results", worst.label()),
        }
    });
    let unjudged = (judged.is_none() && !counting.is_empty()).then(|| "Not judged".to_owned());
    let left_out = Some(left_out.len()).filter(|results| *results > 0);
    let left_out =
        left_out.map(|results| format!("{} left out", counted(results as u64, "result")));
    [judged.or(unjudged), left_out].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn described(trend: &Trend) -> String {
    let changes: Vec<String> = trend
        .changes
        .iter()
        .map(|change| format!("{} in run {}", signed(change.change_share), change.run))
        .collect();
    let changes = if changes.is_empty() {
        "no change beyond the noise".to_owned()
    } else {
        format!("changes: {}", changes.join(", "))
    };
    let runs = counted(trend.points.len() as u64, "run");
    format!("{} of {} in {runs}: {changes}.", trend.figure, named(trend))
}
