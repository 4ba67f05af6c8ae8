//! Long series made short: of each pixel column the first point, the last, the least and the
//! greatest are kept, so that the line looks the same and no extreme is lost.

/// Points to draw of those in a width of so many columns between two x values.
pub fn line(points: &[(f64, f64)], columns: usize) -> Vec<(f64, f64)> {
    let columns = columns.max(1);
    if points.len() <= columns * 2 {
        return points.to_vec();
    }
    let finite = || points.iter().map(|(x, _)| *x).filter(|x| x.is_finite());
    let (low, high) = (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max));
    let column = |x: f64| ((x - low) / (high - low) * columns as f64).floor();
    let mut kept = Vec::new();
    let mut from = 0;
    for at in 1..=points.len() {
        let is_end = points.get(at).is_none_or(|(x, y)| {
            let (last_x, last_y) = points[at - 1];
            column(*x) != column(last_x) || y.is_finite() != last_y.is_finite()
        });
        if is_end {
            of_column(&points[from..at], &mut kept);
            from = at;
        }
    }
    kept
}

/// First, least, greatest and last of one column, in their order.
fn of_column(points: &[(f64, f64)], kept: &mut Vec<(f64, f64)>) {
    let by_value = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
    let all = 0..points.len();
    let least = all.clone().min_by(by_value).unwrap_or(0);
    let greatest = all.max_by(by_value).unwrap_or(0);
    let mut indexes = [0, least, greatest, points.len() - 1];
    indexes.sort_unstable();
    let mut last = None;
    for index in indexes {
        if last != Some(index) {
            kept.push(points[index]);
            last = Some(index);
        }
    }
}

/// Spans to draw of those in a width of so many columns: one for each column, from the least of
/// its lower ends to the greatest of its upper ones.
pub fn band(spans: &[(f64, f64, f64)], columns: usize) -> Vec<(f64, f64, f64)> {
    let columns = columns.max(1);
    if spans.len() <= columns * 2 {
        return spans.to_vec();
    }
    let each = spans.len().div_ceil(columns);
    let of = |spans: &[(f64, f64, f64)]| {
        let middle = spans[spans.len() / 2].0;
        let mut whole =
            spans.iter().filter(|(_, from, to)| from.is_finite() && to.is_finite()).peekable();
        if whole.peek().is_none() {
            return (middle, f64::NAN, f64::NAN);
        }
        let ends = (f64::MAX, f64::MIN);
        let (low, high) = whole.fold(ends, |(low, high), span| (low.min(span.1), high.max(span.2)));
        (middle, low, high)
    };
    spans.chunks(each).map(of).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_extreme_is_lost(
            values in prop::collection::vec(-1e12f64..1e12, 1..3000),
            columns in 1usize..300,
        ) {
            let points: Vec<(f64, f64)> =
                values.iter().zip(0u32..).map(|(y, x)| (f64::from(x), *y)).collect();
            let kept = line(&points, columns);
            prop_assert!(kept.len() <= points.len() && kept.len() <= columns * 4 + 4);
            prop_assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let ends = |points: &[(f64, f64)]| {
                let values = || points.iter().map(|(_, y)| *y);
                (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max))
            };
            prop_assert_eq!(ends(&kept), ends(&points));
            prop_assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));

            let spans: Vec<_> = points.iter().map(|(x, y)| (*x, *y, y + 1.0)).collect();
            let kept = band(&spans, columns);
            prop_assert!(kept.len() <= columns * 2 || kept.len() == spans.len());
            let least = kept.iter().map(|span| span.1).fold(f64::MAX, f64::min);
            prop_assert_eq!(least, ends(&points).0);
        }
    }

    #[test]
    fn a_gap_stays_a_gap() {
        let value = |x: u32| if (400..600).contains(&x) { f64::NAN } else { 1.0 };
        let points: Vec<_> = (0..1000).map(|x| (f64::from(x), value(x))).collect();
        let kept = line(&points, 100);
        assert!(kept.iter().any(|(x, y)| (400.0..600.0).contains(x) && y.is_nan()));
        assert!(kept.iter().all(|(x, y)| y.is_nan() == (400.0..600.0).contains(x)));
    }
}
