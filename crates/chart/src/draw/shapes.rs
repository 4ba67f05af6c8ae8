//! Series: lines, steps, areas, bands, dots, intervals.

use crate::decimate;
use crate::model::{Panel, Shape};
use crate::svg::{n, path};

use super::{Axes, Plot, Sheet};

/// Lines of up to so many points have a marker at each of them.
const MARKED_MAX: usize = 40;
/// Markers along a longer line, where there are several lines.
const MARKERS: usize = 7;

/// Classes of a place in the palette: for what is stroked and for what is filled.
pub fn classes(slot: usize) -> (String, String) {
    let slot = slot % crate::look::SLOTS;
    (format!("l{slot}"), format!("f{slot}"))
}

/// A series of that shape is told from others by markers as well.
pub fn has_markers(shape: &Shape) -> bool {
    matches!(shape, Shape::Line(_) | Shape::Step(_) | Shape::Dots(_))
}

/// A series of a panel.
pub fn draw(panel: &Panel, nth: usize, axes: Axes<'_>, plot: Plot, sheet: &mut Sheet<'_>) {
    let series = &panel.series[nth];
    let (slot, columns) = (series.slot, (plot.right - plot.left) as usize);
    match &series.shape {
        Shape::Line(points) => {
            stroke(&places(&decimate::line(points, columns), axes), slot, "", sheet);
            markers(panel, nth, points, axes, sheet);
        }
        Shape::Dotted(points) => {
            stroke(&places(&decimate::line(points, columns), axes), slot, "2 3", sheet);
        }
        Shape::Step(points) => {
            let corners = corners(&decimate::line(points, columns), axes);
            stroke(&corners, slot, "", sheet);
            markers(panel, nth, points, axes, sheet);
        }
        Shape::Area(points) => {
            let corners = corners(&decimate::line(points, columns), axes);
            area(&corners, axes.y.base(), slot, sheet);
            stroke(&corners, slot, "", sheet);
        }
        Shape::Dots(points) => {
            for place in places(points, axes).into_iter().flatten() {
                marker(slot, place, sheet);
            }
        }
        Shape::Band(spans) => band(&decimate::band(spans, columns), axes, slot, sheet),
        Shape::Whiskers(spans) => whiskers(spans, axes, slot, sheet),
        // Bars and cells have pictures of their own.
        Shape::Bars(_) | Shape::Cells(..) => {}
    }
}

type Place = Option<(f64, f64)>;

fn place(x: f64, y: f64, axes: Axes<'_>) -> Place {
    Some((axes.x.place(x)?, axes.y.place(y)?))
}

fn places(points: &[(f64, f64)], axes: Axes<'_>) -> Vec<Place> {
    points.iter().map(|(x, y)| place(*x, *y, axes)).collect()
}

/// The corners of steps, each of which holds to the next x.
fn corners(points: &[(f64, f64)], axes: Axes<'_>) -> Vec<Place> {
    let pair = |pair: &[(f64, f64)]| {
        let (x, y) = pair[0];
        [place(x, y, axes), place(pair[1].0, y, axes)]
    };
    let last = points.last().map(|(x, y)| place(*x, *y, axes));
    points.windows(2).flat_map(pair).chain(last).collect()
}

fn stroke(places: &[Place], slot: usize, dashes: &str, sheet: &mut Sheet<'_>) {
    let (d, class) = (path(places), classes(slot).0);
    if !d.contains('L') {
        return;
    }
    // Dense lines are thin, so that their ups and downs do not become one block.
    let stroke_width = if places.len() > 400 { "1.2" } else { "1.8" };
    let mut attributes = vec![
        ("d", d.as_str()),
        ("class", class.as_str()),
        ("stroke", sheet.paint.slot(slot)),
        ("stroke-width", stroke_width),
        ("stroke-linejoin", "round"),
    ];
    if !dashes.is_empty() {
        attributes.push(("stroke-dasharray", dashes));
    }
    sheet.svg.put("path", &attributes);
}

fn area(corners: &[Place], base: f64, slot: usize, sheet: &mut Sheet<'_>) {
    for run in corners.split(Option::is_none) {
        let (Some(Some(first)), Some(Some(last))) = (run.first(), run.last()) else { continue };
        let d = format!("{}L{} {}L{} {}Z", path(run), n(last.0), n(base), n(first.0), n(base));
        fill(&d, slot, "0.3", sheet);
    }
}

fn fill(d: &str, slot: usize, opacity: &str, sheet: &mut Sheet<'_>) {
    let (class, colour) = (classes(slot).1, sheet.paint.slot(slot));
    let attributes = [("d", d), ("class", &class), ("fill", colour), ("fill-opacity", opacity)];
    sheet.svg.put("path", &attributes);
}

fn band(spans: &[(f64, f64, f64)], axes: Axes<'_>, slot: usize, sheet: &mut Sheet<'_>) {
    let both =
        |(x, from, to): &(f64, f64, f64)| Some((place(*x, *from, axes)?, place(*x, *to, axes)?));
    let both: Vec<_> = spans.iter().map(both).collect();
    for run in both.split(Option::is_none) {
        let upper = run.iter().flatten().map(|(_, to)| Some(*to));
        let lower = run.iter().rev().flatten().map(|(from, _)| Some(*from));
        let outline: Vec<Place> = upper.chain(lower).collect();
        match run.len() {
            0 => {}
            1 => whisker(run[0], slot, sheet),
            _ => fill(&format!("{}Z", path(&outline)), slot, "0.2", sheet),
        }
    }
}

fn whiskers(spans: &[(f64, f64, f64)], axes: Axes<'_>, slot: usize, sheet: &mut Sheet<'_>) {
    for (x, from, to) in spans {
        let ends = place(*x, *from, axes).zip(place(*x, *to, axes));
        whisker(ends, slot, sheet);
    }
}

/// An interval as a line with a bar at each end.
fn whisker(ends: Option<((f64, f64), (f64, f64))>, slot: usize, sheet: &mut Sheet<'_>) {
    let Some(((x, from), (_, to))) = ends else { return };
    let (left, from, to) = (n(x - 4.0), n(from), n(to));
    let d = format!("M{left} {from}h8M{left} {to}h8M{} {from}V{to}", n(x));
    let attributes: [(&str, &str); 4] = [
        ("d", &d),
        ("class", &classes(slot).0),
        ("stroke", sheet.paint.slot(slot)),
        ("stroke-width", "1.4"),
    ];
    sheet.svg.put("path", &attributes);
}

/// Markers of a line: at each point of a short one, here and there along a long one that is not
/// alone.
fn markers(
    panel: &Panel,
    nth: usize,
    points: &[(f64, f64)],
    axes: Axes<'_>,
    sheet: &mut Sheet<'_>,
) {
    let slot = panel.series[nth].slot;
    let others: Vec<usize> =
        (0..panel.series.len()).filter(|index| has_markers(&panel.series[*index].shape)).collect();
    let is_alone = others.iter().all(|other| panel.series[*other].slot == slot);
    let marked: Vec<usize> = match points.len() {
        0..=MARKED_MAX => (0..points.len()).collect(),
        _ if is_alone => Vec::new(),
        count => {
            // Each line has its markers a little further on, so that they do not hide each other.
            let rank = others.iter().position(|other| *other == nth).unwrap_or(0);
            let shift = (rank as f64 + 0.5) / others.len() as f64;
            (0..MARKERS)
                .map(|k| ((k as f64 + shift) / MARKERS as f64 * count as f64) as usize)
                .collect()
        }
    };
    for index in marked {
        if let Some(place) = points.get(index).and_then(|(x, y)| place(*x, *y, axes)) {
            marker(slot, place, sheet);
        }
    }
}

/// The marker of a place in the palette.
pub fn marker(slot: usize, (x, y): (f64, f64), sheet: &mut Sheet<'_>) {
    let at = |dx: f64, dy: f64| format!("{} {}", n(x + dx), n(y + dy));
    let d = match slot % crate::look::SLOTS {
        0 => format!("M{}a3.2 3.2 0 1 1 6.4 0a3.2 3.2 0 1 1 -6.4 0Z", at(-3.2, 0.0)),
        1 => format!("M{}h6v6h-6Z", at(-3.0, -3.0)),
        2 => format!("M{}l4 7h-8Z", at(0.0, -4.2)),
        3 => format!("M{}l4 4l-4 4l-4 -4Z", at(0.0, -4.0)),
        4 => format!("M{}l4 -7h-8Z", at(0.0, 4.2)),
        5 => format!("M{}h3v3h3v3h-3v3h-3v-3h-3v-3h3Z", at(-1.5, -4.5)),
        6 => format!("M{}h3v9h-3Z", at(-1.5, -4.5)),
        _ => format!("M{}l2 2l-2 2l2 2l-2 2l-2 -2l-2 2l-2 -2l2 -2l-2 -2l2 -2l2 2Z", at(2.0, -4.0)),
    };
    let attributes: [(&str, &str); 5] = [
        ("d", &d),
        ("class", &format!("{} halo", classes(slot).1)),
        ("fill", sheet.paint.slot(slot)),
        ("stroke", sheet.paint.back),
        ("stroke-width", "1"),
    ];
    sheet.svg.put("path", &attributes);
}
