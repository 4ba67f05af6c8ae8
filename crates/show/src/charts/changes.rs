//! Changes of a comparison as bars with their intervals.

use candor_chart::{Axis, Bar, Chart, Panel, Series, Shape};
use candor_record::comparison::FigureChange;
use candor_record::{Unit, fmt};

use crate::comparison;

/// The changes of figures as shares of the baseline. Bars of changes that were not shown, or whose
/// results cannot be believed, are hollow, and words behind each bar say which it is.
pub fn changes(figures: &[&FigureChange], labels: [&str; 2], confidence: f64) -> Chart {
    let bar = |(row, figure): (usize, &&FigureChange)| Bar {
        row,
        value: figure.change,
        interval: figure.interval.map(|of| (of.low, of.high)),
        note: comparison::outcome(figure).text,
        is_doubtful: figure.unbelieved || !figure.outcome.is_change(),
    };
    let bars = figures.iter().enumerate().map(bar).collect();
    let names = figures.iter().map(|of| format!("{} {}", of.operation, comparison::short(of)));
    let axis = Axis::linear(&format!("Change from {} to {}", labels[0], labels[1]), Unit::Share);
    let description = figures.iter().map(|of| {
        let name = format!("{} {}", of.operation, comparison::short(of));
        format!("{name}: {}, {}", fmt::change(of.change), comparison::outcome(of).text)
    });
    Chart {
        title: "Changes".into(),
        subtitle: format!(
            "lines are {} intervals; hollow: no change shown",
            fmt::percent(confidence)
        ),
        description: format!("Changes. {}.", description.collect::<Vec<_>>().join("; ")),
        x: Axis::categories("", names),
        panels: vec![Panel::new(axis, vec![Series::new(String::new(), 0, Shape::Bars(bars))])],
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use candor_record::comparison::{Basis, ChangeInterval, Outcome};
    use candor_record::results::FigureKind;

    use super::*;

    #[test]
    fn a_loss_is_a_full_bar_to_the_left_and_what_was_not_shown_is_hollow() {
        let figure = |change: f64, outcome| FigureChange {
            phase: "p".into(),
            job: "j".into(),
            operation: "read".into(),
            kind: FigureKind::OpsPerS,
            baseline: 100.0,
            run: 100.0 + 100.0 * change,
            change,
            interval: Some(ChangeInterval { low: change - 0.125, high: change + 0.125 }),
            p_value: None,
            p_value_corrected: None,
            basis: Basis::Rate,
            outcome,
            unbelieved: false,
        };
        let (lost, same) = (figure(-0.25, Outcome::Worse), figure(0.002, Outcome::NotShown));
        let chart = changes(&[&lost, &same], ["A", "B"], 0.95);
        let Shape::Bars(bars) = &chart.panels[0].series[0].shape else { panic!("bars") };
        assert_eq!(
            (bars[0].value, bars[0].is_doubtful, bars[0].note.as_str()),
            (-0.25, false, "worse")
        );
        assert_eq!((bars[1].is_doubtful, bars[1].note.as_str()), (true, "not shown"));
        assert_eq!(bars[0].interval, Some((-0.375, -0.125)));
    }
}
