//! Small pictures of numbers, made of characters.

use std::collections::VecDeque;

/// Heights of a sparkline, from nothing to all.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Parts of a character, from an eighth to seven.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Values over time, the oldest ones forgotten.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Oldest first; none where there was no value.
    values: VecDeque<Option<f64>>,
    /// Values kept.
    kept: usize,
}

/// Values kept of a timeline that has a screen's width.
const KEPT: usize = 512;

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline::of(KEPT)
    }
}

impl Timeline {
    /// Without values; only so many are kept.
    pub fn of(kept: usize) -> Timeline {
        Timeline { values: VecDeque::new(), kept }
    }

    /// Adds a value.
    pub fn push(&mut self, value: Option<f64>) {
        if self.values.len() == self.kept {
            self.values.pop_front();
        }
        self.values.push_back(value.filter(|value| value.is_finite()));
    }

    /// The greatest value of the last so many.
    pub fn greatest(&self, last: usize) -> Option<f64> {
        self.last(last).flatten().max_by(f64::total_cmp)
    }

    /// The last values in so many columns, the newest on the right. The scale begins at zero.
    pub fn sparkline(&self, columns: usize) -> String {
        let greatest = self.greatest(columns).unwrap_or(0.0);
        let height = |value: f64| {
            if greatest > 0.0 {
                (value / greatest * 7.0).round().clamp(0.0, 7.0) as usize
            } else {
                0
            }
        };
        let mark = |value: Option<f64>| value.map_or(' ', |value| HEIGHTS[height(value)]);
        let text: String = self.last(columns).map(mark).collect();
        format!("{text:>columns$}")
    }

    fn last(&self, count: usize) -> impl Iterator<Item = Option<f64>> {
        self.values.iter().skip(self.values.len().saturating_sub(count)).copied()
    }
}

/// A bar of so many columns that is filled to a share, with `┃` at the shares of `marks`.
pub fn bar(share: f64, marks: &[f64], columns: usize) -> String {
    let share = share.clamp(0.0, 1.0);
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    let mut text: Vec<char> = vec!['█'; eighths / 8];
    text.extend((!eighths.is_multiple_of(8)).then(|| EIGHTHS[eighths % 8 - 1]));
    text.resize(columns, '·');
    for mark in marks.iter().filter(|mark| (0.0..=1.0).contains(*mark)) {
        let at = (mark * columns as f64).ceil() as usize;
        if let Some(place) = text.get_mut(at.saturating_sub(1)) {
            *place = '┃';
        }
    }
    text.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparklines_show_the_last_values_from_zero_to_the_greatest() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.sparkline(4), "    ");
        for value in [Some(0.0), Some(70.0), None, Some(140.0)] {
            timeline.push(value);
        }
        assert_eq!(timeline.sparkline(6), "  ▁▅ █");
        assert_eq!(timeline.sparkline(1), "█");
        assert_eq!((timeline.greatest(9), timeline.greatest(0)), (Some(140.0), None));
        timeline.push(Some(f64::NAN));
        assert_eq!(timeline.sparkline(2), "█ ");
        (0..2 * KEPT).for_each(|_| timeline.push(Some(0.0)));
        assert_eq!((timeline.values.len(), timeline.sparkline(2)), (KEPT, "▁▁".to_owned()));
    }

    #[test]
    fn bars_are_filled_to_the_eighth_of_a_column_and_marked() {
        assert_eq!(bar(0.5, &[], 4), "██··");
        assert_eq!(bar(0.55, &[], 4), "██▎·");
        assert_eq!(bar(0.25, &[0.75, 1.0, 2.0], 8), "██···┃·┃");
        assert_eq!((bar(7.0, &[], 3), bar(-1.0, &[0.0], 3)), ("███".into(), "┃··".into()));
        assert_eq!(bar(f64::NAN, &[], 2), "··");
    }
}
