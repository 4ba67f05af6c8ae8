//! Changes of a comparison as bars with their intervals.

use candor_chart::{Axis, Bar, Chart, Panel, Scale, Series, Shape};
use candor_record::comparison::{Comparison, Fairness, FigureChange};
use candor_record::results::FigureKind;
use candor_record::{Unit, fmt};

use super::{ROWS_MAX, Run, frame};
use crate::comparison;

/// The greatest change, or end of its interval, up to which bars are drawn evenly.
const LINEAR_MAX: f64 = 3.0;

/// The changes of figures as shares of the baseline, for a page that tells the rest. Bars of
/// changes that were not shown, or whose results cannot be believed, are hollow, and words behind
/// each bar say which it is.
pub fn changes(figures: &[&FigureChange], from: &str, to: &str, confidence: f64) -> Chart {
    let names: Vec<String> = figures.iter().map(|of| name(of)).collect();
    let bars = figures.iter().enumerate().map(|(row, of)| bar(row, of)).collect();
    Chart {
        title: "Changes".into(),
        subtitle: legend(confidence),
        description: format!("Changes. {}.", told(figures.iter().copied().zip(&names))),
        x: Axis::categories("", names),
        panels: vec![panel(from, to, bars)],
        ..Chart::default()
    }
}

/// All changes of a comparison of these runs, a panel for each run beside the baseline.
///
/// # Errors
/// A sentence: there is one run only, or nothing of another can be set beside it.
pub fn comparison(comparison: &Comparison, runs: &[Run<'_>]) -> Result<Chart, String> {
    if runs.len() < 2 {
        return Err("no changes: name a run to compare with the first".into());
    }
    let mut rows: Vec<&FigureChange> = Vec::new();
    for figure in comparison.changes.iter().flat_map(|change| &change.figures) {
        if !rows.iter().any(|row| key(row) == key(figure)) {
            rows.push(figure);
        }
    }
    if rows.is_empty() {
        return Err(format!("no changes: {}", comparison.headline));
    }
    let left_out = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    let names = names(&rows);
    let label = |nth: usize| format!("{} ({})", comparison.runs[nth].label, runs[nth].name);
    let mut panels = Vec::new();
    let mut sentences = Vec::new();
    for (change, nth) in comparison.changes.iter().zip(1..) {
        let of_row = |row: &FigureChange| change.figures.iter().find(|of| key(of) == key(row));
        let found = rows.iter().map(|row| of_row(row)).enumerate();
        let found: Vec<_> = found.filter_map(|(row, of)| Some((row, of?))).collect();
        if found.is_empty() {
            continue;
        }
        let (from, to) = (label(0), label(nth));
        let bars = found.iter().map(|(row, of)| bar(*row, of)).collect();
        panels.push(panel(&from, &to, bars));
        let named = found.iter().map(|(row, of)| (*of, &names[*row]));
        sentences.push(format!("From {from} to {to}: {}.", told(named)));
    }
    let framed = frame::framed(Chart::default(), "changes", runs);
    let more = (left_out > 0)
        .then(|| format!("the first {ROWS_MAX} of {} metrics", rows.len() + left_out));
    let parts = [framed.subtitle.clone(), legend(comparison.confidence), more.unwrap_or_default()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let is_unfair = comparison.changes.iter().any(|of| of.fairness != Fairness::Fair);
    Ok(Chart {
        subtitle: parts.join(" · "),
        // A verdict on each run is none on setting one beside the other.
        verdict: if is_unfair { "Unfair comparison".into() } else { framed.verdict },
        caution: caution(comparison),
        description: format!("Changes. {}", sentences.join(" ")),
        x: Axis::categories("", names),
        panels,
        ..framed
    })
}

/// The headlines of changes that are not the storage's alone, rest on what cannot be believed, or
/// are not there.
fn caution(comparison: &Comparison) -> Option<String> {
    let doubtful = comparison.changes.iter().filter(|change| {
        change.fairness != Fairness::Fair
            || change.figures.is_empty()
            || change.doubts.iter().any(|doubt| doubt.unbelieved)
    });
    let headlines: Vec<&str> = doubtful.map(|change| change.headline.as_str()).collect();
    (!headlines.is_empty()).then(|| headlines.join(" "))
}

/// All that tells a figure from others of its run.
fn key(of: &FigureChange) -> (&str, &str, &str, FigureKind) {
    (&of.phase, &of.job, &of.operation, of.kind)
}

fn name(of: &FigureChange) -> String {
    format!("{} {}", of.operation, comparison::short(of))
}

/// Names of rows, with their phases and jobs where there are several.
fn names(rows: &[&FigureChange]) -> Vec<String> {
    let phases = rows.iter().any(|of| of.phase != rows[0].phase);
    let jobs = rows.iter().any(|of| of.job != rows[0].job);
    let name = |of: &&FigureChange| {
        // A job is often named as its phase.
        let job = (jobs && !(phases && of.job == of.phase)).then(|| of.job.clone());
        let parts = [phases.then(|| of.phase.clone()), job, Some(name(of))];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    rows.iter().map(name).collect()
}

fn bar(row: usize, figure: &FigureChange) -> Bar {
    Bar {
        row,
        value: figure.change,
        interval: figure.interval.map(|of| (of.low, of.high)),
        note: comparison::outcome(figure).text,
        is_doubtful: figure.unbelieved || !figure.outcome.is_change(),
    }
}

fn panel(from: &str, to: &str, bars: Vec<Bar>) -> Panel {
    let ends = bars.iter().map(|bar| bar.interval.map_or(bar.value, |(_, to)| to.max(bar.value)));
    // Beside one that became many times as much, all else would be too short to see.
    let scale = if ends.fold(0.0, f64::max) > LINEAR_MAX { Scale::Times } else { Scale::Linear };
    let label = format!("Change from {from} to {to}");
    let axis = Axis::new(&label, Unit::Change, scale);
    Panel::new(axis, vec![Series::new(String::new(), 0, Shape::Bars(bars))])
}

fn legend(confidence: f64) -> String {
    format!("lines are {} intervals; hollow: no change shown", fmt::percent(confidence))
}

/// Figures with their names in words.
fn told<'a>(figures: impl Iterator<Item = (&'a FigureChange, &'a String)>) -> String {
    let one = |(of, name): (&FigureChange, &String)| {
        format!("{name}: {}, {}", fmt::change(of.change), comparison::outcome(of).text)
    };
    figures.map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use candor_record::comparison::{Basis, ChangeInterval, ComparedRun, Outcome, RunChange};
    use candor_record::results::Results;

    use super::*;

    fn figure(phase: &str, change: f64, outcome: Outcome) -> FigureChange {
        FigureChange {
            phase: phase.into(),
            job: phase.into(),
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
        }
    }

    fn bars(panel: &Panel) -> &[Bar] {
        let Shape::Bars(bars) = &panel.series[0].shape else { panic!("bars") };
        bars
    }

    #[test]
    fn a_loss_is_a_full_bar_to_the_left_and_what_was_not_shown_is_hollow() {
        let lost = figure("p", -0.25, Outcome::Worse);
        let same = figure("p", 0.002, Outcome::NotShown);
        let chart = changes(&[&lost, &same], "A", "B", 0.95);
        let bars = bars(&chart.panels[0]);
        assert_eq!(
            (bars[0].value, bars[0].is_doubtful, bars[0].note.as_str()),
            (-0.25, false, "worse")
        );
        assert_eq!((bars[1].is_doubtful, bars[1].note.as_str()), (true, "not shown"));
        assert_eq!(bars[0].interval, Some((-0.375, -0.125)));
    }

    #[test]
    fn beside_many_times_as_much_bars_go_by_logarithms() {
        let (some, many) = (figure("p", 2.5, Outcome::Worse), figure("p", 13.0, Outcome::Worse));
        let scale = |of: &[&FigureChange]| changes(of, "A", "B", 0.95).panels[0].y.scale.clone();
        assert_eq!([scale(&[&some]), scale(&[&some, &many])], [Scale::Linear, Scale::Times]);
    }

    fn compared(changes: &[&[FigureChange]]) -> Comparison {
        let labels = ["A", "B", "C"].iter().take(changes.len() + 1);
        let run = |label: &&str| ComparedRun { label: (*label).into(), ..ComparedRun::default() };
        let change = |(of, run): (&&[FigureChange], &ComparedRun)| RunChange {
            run: run.label.clone(),
            headline: format!("{} changed.", run.label),
            figures: of.to_vec(),
            ..RunChange::default()
        };
        let runs: Vec<ComparedRun> = labels.map(run).collect();
        let changes = changes.iter().zip(&runs[1..]).map(change).collect();
        let headline = "Nothing can be set beside A.".into();
        Comparison { confidence: 0.99, headline, runs, changes, ..Comparison::default() }
    }

    #[test]
    fn each_run_beside_the_baseline_has_a_panel_over_the_same_rows() {
        let (one, two) = ("one", "two");
        let mut all = compared(&[
            &[figure(one, -0.25, Outcome::Worse)],
            &[figure(two, 0.5, Outcome::Better), figure(one, 0.1, Outcome::NotShown)],
        ]);
        let results = Results::default();
        let runs =
            ["disk", "loop", "net"].map(|name| Run { name, results: &results, report: None });
        let chart = comparison(&all, &runs).expect("changes");
        assert_eq!(
            chart.x,
            Axis::categories("", ["one read IOPS", "two read IOPS"].map(Into::into))
        );
        let shown = |at: usize| -> Vec<(usize, f64)> {
            bars(&chart.panels[at]).iter().map(|bar| (bar.row, bar.value)).collect()
        };
        assert_eq!([shown(0), shown(1)], [vec![(0, -0.25)], vec![(0, 0.1), (1, 0.5)]]);
        assert_eq!(chart.panels[1].y.label, "Change from A (disk) to C (net)");
        assert_eq!((chart.title.as_str(), &chart.caution), ("3 runs: changes", &None));
        assert!(chart.description.contains("to B (loop): one read IOPS: -25 %, worse."));

        all.changes[1].fairness = Fairness::OtherWork;
        let chart = comparison(&all, &runs).expect("changes");
        assert_eq!(chart.caution.as_deref(), Some("C changed."));
        assert_eq!(chart.verdict, "Unfair comparison");
    }

    #[test]
    fn too_many_figures_are_counted_and_none_is_a_sentence() {
        let names: Vec<String> = (0..=ROWS_MAX).map(|nth| format!("phase {nth}")).collect();
        let figures: Vec<_> = names.iter().map(|of| figure(of, 0.1, Outcome::Better)).collect();
        let results = Results::default();
        let runs = ["a", "b"].map(|name| Run { name, results: &results, report: None });
        let chart = comparison(&compared(&[&figures]), &runs).expect("changes");
        assert_eq!(bars(&chart.panels[0]).len(), ROWS_MAX);
        assert!(chart.subtitle.ends_with(" · the first 40 of 41 metrics"), "{}", chart.subtitle);
        let refused = comparison(&compared(&[&[]]), &runs).expect_err("no figure");
        assert_eq!(refused, "no changes: Nothing can be set beside A.");
        let alone = comparison(&compared(&[]), &runs[..1]).expect_err("one run");
        assert!(alone.contains("name a run to compare with the first"), "{alone}");
    }
}
