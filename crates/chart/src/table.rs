//! The values of a panel as a table, for those who read rather than look.

use candor_record::fmt::axis::short;

use crate::model::{Axis, Chart, Shape};
use crate::unit::value_text;

/// The values of a panel as a table of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns.
    pub head: Vec<String>,
    /// The rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
    /// Rows that were left out between these.
    pub left_out: usize,
}

/// One value of a column: where its row stands, and the text.
type Entry = (f64, String);

impl Chart {
    /// The values of a panel, in at most so many rows that lie evenly among all.
    pub fn table(&self, panel: usize, rows_max: usize) -> Table {
        let Some(panel) = self.panels.get(panel) else { return Table::default() };
        let mut head = vec![self.x.label.clone()];
        let mut columns: Vec<Vec<Entry>> = Vec::new();
        for series in &panel.series {
            let name = if series.name.is_empty() { &panel.y.label } else { &series.name };
            head.push(name.clone());
            columns.push(entries(&series.shape, &panel.y));
        }
        let mut places: Vec<f64> = columns.iter().flatten().map(|(x, _)| *x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let every = places.len().div_ceil(rows_max.max(1)).max(1);
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut next = vec![0; columns.len()];
        for (nth, place) in places.iter().enumerate() {
            let mut row = vec![value_text(&self.x, *place)];
            for (column, next) in columns.iter().zip(&mut next) {
                let mut texts = Vec::new();
                while let Some((_, text)) = column.get(*next).filter(|(x, _)| x <= place) {
                    texts.push(text.as_str());
                    *next += 1;
                }
                row.push(texts.join(", "));
            }
            if nth % every == 0 {
                rows.push(row);
            }
        }
        Table { head, left_out: places.len() - rows.len(), rows }
    }
}

/// The values of a series by their places, ascending.
fn entries(shape: &Shape, y: &Axis) -> Vec<Entry> {
    let between =
        |low: f64, high: f64| format!("{} to {}", short(low, y.unit), short(high, y.unit));
    let mut entries: Vec<Entry> = match shape {
        Shape::Line(points)
        | Shape::Dotted(points)
        | Shape::Step(points)
        | Shape::Area(points)
        | Shape::Dots(points) => {
            points.iter().map(|(x, value)| (*x, short(*value, y.unit))).collect()
        }
        Shape::Band(spans) | Shape::Whiskers(spans) => {
            spans.iter().map(|(x, low, high)| (*x, between(*low, *high))).collect()
        }
        Shape::Bars(bars) => {
            let text = |bar: &crate::Bar| match bar.note.as_str() {
                "" => short(bar.value, y.unit),
                note => format!("{} {note}", short(bar.value, y.unit)),
            };
            bars.iter().map(|bar| (bar.row as f64, text(bar))).collect()
        }
        Shape::Cells(cells, key) => {
            let text = |cell: &crate::Cell| {
                let place = value_text(y, (cell.y.0 + cell.y.1) / 2.0);
                format!("{place}: {}", short(cell.value, key.unit))
            };
            cells.iter().map(|cell| ((cell.x.0 + cell.x.1) / 2.0, text(cell))).collect()
        }
    };
    entries.retain(|(x, _)| x.is_finite());
    entries.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    entries
}

#[cfg(test)]
mod tests {
    use candor_record::Unit;

    use super::*;
    use crate::{Panel, Series};

    #[test]
    fn a_row_has_the_values_of_all_series_at_its_place() {
        let second = |nth: u32| f64::from(nth) * 1e9;
        let points = |of: f64| Shape::Line((0..10).map(|nth| (second(nth), of)).collect());
        let series = vec![
            Series::new("read", 0, points(100e6)),
            Series::new("write", 1, Shape::Line(vec![(second(4), 5e6)])),
        ];
        let panel = Panel::new(Axis::linear("Throughput", Unit::BytesPerS), series);
        let chart = Chart { x: Axis::elapsed(), panels: vec![panel], ..Chart::default() };
        let table = chart.table(0, 5);
        assert_eq!(table.head, ["Time since start", "read", "write"]);
        assert_eq!((table.rows.len(), table.left_out), (5, 5));
        assert_eq!(table.rows[2], ["4 s", "100 MB/s", "5 MB/s"]);
        assert_eq!(table.rows[4], ["8 s", "100 MB/s", ""]);
        assert_eq!(chart.table(3, 5), Table::default());
    }
}
