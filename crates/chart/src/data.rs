//! The values of a picture as JSON, for a script that reads them out or draws it again.

use serde_json::{Value, json};

use crate::decimate;
use crate::model::{Axis, Chart, Level, Mark, Panel, Scale, Series, Shape};
use crate::scale::Placed;

/// Columns that long series are thinned for: as wide as a wide screen.
const COLUMNS: usize = 1000;

impl Chart {
    /// The values; README.md describes the form. Long series come thinned as in the picture.
    pub fn data(&self) -> Value {
        json!({
            "title": self.title,
            "x": axis(&self.x),
            "panels": self.panels.iter().map(panel).collect::<Vec<_>>(),
            "marks": self.marks.iter().map(mark).collect::<Vec<_>>(),
        })
    }
}

fn axis(axis: &Axis) -> Value {
    let mut value = json!({
        "label": axis.label,
        "unit": axis.unit,
        "scale": Placed::word(&axis.scale),
    });
    if let Scale::Category(names) = &axis.scale {
        value["names"] = json!(names);
    }
    if !axis.ticks.is_empty() {
        value["ticks"] = json!(axis.ticks);
    }
    value
}

fn panel(panel: &Panel) -> Value {
    let level = |level: &Level| json!({ "value": number(level.value), "label": level.label });
    json!({
        "y": axis(&panel.y),
        "series": panel.series.iter().map(series).collect::<Vec<_>>(),
        "levels": panel.levels.iter().map(level).collect::<Vec<_>>(),
    })
}

fn mark(mark: &Mark) -> Value {
    json!({ "at": number(mark.at), "until": mark.until.map(number), "label": mark.label })
}

fn series(series: &Series) -> Value {
    let pair = |(x, y): (f64, f64)| json!([number(x), number(y)]);
    let three = |(x, from, to): (f64, f64, f64)| json!([number(x), number(from), number(to)]);
    let points: Vec<Value> = match &series.shape {
        Shape::Line(points)
        | Shape::Dotted(points)
        | Shape::Step(points)
        | Shape::Area(points)
        | Shape::Dots(points) => decimate::line(points, COLUMNS).into_iter().map(pair).collect(),
        Shape::Band(spans) => decimate::band(spans, COLUMNS).into_iter().map(three).collect(),
        Shape::Whiskers(spans) => spans.iter().copied().map(three).collect(),
        Shape::Bars(bars) => {
            let ends = |(from, to): (f64, f64)| json!([number(from), number(to)]);
            let bar = bars
                .iter()
                .map(|bar| json!([bar.row, number(bar.value), bar.interval.map(ends), bar.note]));
            bar.collect()
        }
        Shape::Cells(cells, _) => {
            let cell = cells.iter().map(|cell| {
                json!([cell.x.0, cell.x.1, cell.y.0, cell.y.1, cell.value].map(number))
            });
            cell.collect()
        }
    };
    let mut value = json!({
        "name": series.name,
        "slot": series.slot,
        "shape": series.shape.word(),
        "points": points,
    });
    if let Shape::Cells(_, key) = &series.shape {
        value["key"] = json!({ "label": key.label, "unit": key.unit, "is_log": key.is_log });
    }
    value
}

/// Six significant digits, which no screen has pixels for; what is no number is `null`.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return json!(value as i64);
    }
    let short: f64 = format!("{value:.5e}").parse().unwrap_or(f64::NAN);
    match short.fract() == 0.0 && short.abs() < 1e15 {
        true => json!(short as i64),
        false => json!(short),
    }
}
