//! Medians and spreads.

/// The middle of some figures, with their least and greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Spread {
    /// Of some figures; none if there are none.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Some(Spread { median, min, max })
    }

    /// `1.12 (1.08–1.15)`.
    pub fn text(&self, decimals: usize) -> String {
        let Spread { median, min, max } = self;
        format!("{median:.decimals$} ({min:.decimals$}–{max:.decimals$})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one_or_between_two() {
        let odd = Spread::of([3.0, 1.0, 2.0]).expect("three figures");
        assert_eq!(odd, Spread { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(Spread::of([1.0, 2.0]).expect("two figures").median, 1.5);
        assert_eq!(Spread::of([]), None);
        assert_eq!(odd.text(1), "2.0 (1.0–3.0)");
    }
}
