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

/// Six significant digits, which no screen has pixels for; whole numbers in full, and others where
/// a reader who rounds them again could come to another number, which takes a zero at the end of
/// the six. What is no number is `null`.
fn number(value: f64) -> Value {
    let short = format!("{value:.5e}");
    let is_edge = short.split('e').next().is_some_and(|digits| digits.ends_with('0'));
    let is_full = is_edge || value.fract() == 0.0;
    let value = if is_full { value } else { short.parse().unwrap_or(value) };
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use candor_record::Unit;
    use candor_record::fmt::axis::short;
    use proptest::prelude::*;

    use super::*;

    /// The script rounds what it reads for the second time.
    #[test]
    fn a_value_beside_a_half_or_a_step_reads_as_it_is() {
        for (value, unit) in [
            (12_250.04, Unit::OpsPerS),
            (12_349.999_9, Unit::Ns),
            (9_999.999_6, Unit::OpsPerS),
            (0.099_999_99, Unit::Share),
            (999.499_999, Unit::BytesPerS),
        ] {
            let read = number(value).as_f64().expect("a number");
            assert_eq!(short(read, unit), short(value, unit), "{value}");
        }
        let texts = [12_345.678, 123_456_789.0, f64::NAN].map(|value| number(value).to_string());
        assert_eq!(texts, ["12345.7", "123456789", "null"]);
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_drawn(
            whole in 1u32..100_000,
            power in -4i32..7,
            off in prop_oneof![Just(0.0), -1e-5f64..1e-5, -1e-7f64..1e-7],
            unit in prop_oneof![
                Just(Unit::OpsPerS), Just(Unit::BytesPerS), Just(Unit::Ns), Just(Unit::Share),
            ],
        ) {
            // No share of a whole has four digits before its sign.
            let power = if unit == Unit::Share { power.min(-3) } else { power };
            let value = f64::from(whole) * 10f64.powi(power) * (1.0 + off);
            let read = number(value).as_f64().expect("a number");
            prop_assert_eq!(short(read, unit), short(value, unit));
        }
    }
}
