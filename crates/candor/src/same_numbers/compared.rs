//! Numbers of comparisons: in text, JSON, the tables and values of the page, and the picture.

use candor_chart::{Look, Shape};
use candor_compare::Options;
use candor_record::comparison::{Comparison, FigureChange};
use candor_record::fmt;
use candor_record::results::{FigureKind, Results};
use candor_show::charts::{Run, changes};
use candor_show::{Style, comparison as shown, json};
use serde_json::Value;

use super::{carried, recorded};

/// Each recorded run beside the next one, as far as they have figures in common.
fn comparisons() -> Vec<([Results; 2], Comparison)> {
    let all: Vec<(String, Results)> = recorded()
        .iter()
        .map(|(name, report)| (name.clone(), candor_derive::results(report)))
        .collect();
    let compared = all.windows(2).map(|pair| {
        let comparison = candor_compare::compare(pair, &Options::default()).expect("compared");
        ([pair[0].1.clone(), pair[1].1.clone()], comparison)
    });
    let compared: Vec<_> = compared.filter(|(_, of)| !of.changes[0].figures.is_empty()).collect();
    assert!(compared.len() > 20, "{}", compared.len());
    compared
}

fn figures(comparison: &Comparison) -> &[FigureChange] {
    &comparison.changes[0].figures
}

/// The figure of a phase of a run that ran once.
fn measured(results: &Results, of: &FigureChange) -> Option<f64> {
    let mut phases = results.repeats_of(&of.phase);
    let (Some(phase), None) = (phases.next(), phases.next()) else { return None };
    let job = phase.jobs.iter().find(|job| job.job == of.job)?;
    job.operation(&of.operation)?.figure_value(of.kind)
}

#[test]
fn comparisons_for_machines_have_the_numbers_of_the_records() {
    let mut compared = 0;
    for (results, comparison) in comparisons() {
        let text = json::comparison(&comparison).expect("written");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let written = value["changes"][0]["figures"].as_array().expect("figures");
        assert_eq!(written.len(), figures(&comparison).len());
        for (figure, written) in figures(&comparison).iter().zip(written) {
            let of = |key: &str| written[key].as_f64().expect("a number");
            assert_eq!([of("baseline"), of("run")], [figure.baseline, figure.run]);
            assert_eq!(of("change"), figure.change);
            let change = of("run") / of("baseline") - 1.0;
            assert!((change - of("change")).abs() < 1e-9, "{change} {figure:?}");
            let interval = figure.interval.map(|of| (Some(of.low), Some(of.high)));
            let ends = &written["interval"];
            let ends = ends.is_object().then(|| (ends["low"].as_f64(), ends["high"].as_f64()));
            assert_eq!(ends, interval);
            for (results, shown) in results.iter().zip([figure.baseline, figure.run]) {
                if let Some(value) = measured(results, figure) {
                    assert_eq!(value, shown, "{figure:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

/// Texts of a figure's numbers, as people read them: those that a picture has come first.
fn texts(of: &FigureChange) -> Vec<String> {
    let value = |value: f64| match of.kind {
        FigureKind::OpsPerS => fmt::count(value),
        FigureKind::BytesPerS => fmt::rate_decimal(value),
        FigureKind::LatencyMean | FigureKind::LatencyPercentile(_) => fmt::time(value),
    };
    let interval = of.interval.map(|of| {
        let (low, high) = (fmt::change(of.low), fmt::change(of.high));
        format!("{low} to {high}")
    });
    let all =
        [Some(fmt::change(of.change)), Some(value(of.baseline)), Some(value(of.run)), interval];
    all.into_iter().flatten().collect()
}

#[test]
fn comparisons_for_people_have_them_in_their_words() {
    let mut found = 0;
    for (_, comparison) in comparisons() {
        let text = shown::text(&comparison, &Style::default());
        let page = candor_html::comparison(&comparison);
        let words: Vec<&str> = text.split_whitespace().collect();
        for number in figures(&comparison).iter().flat_map(texts) {
            let parts: Vec<&str> = number.split_whitespace().collect();
            let is_here = words.windows(parts.len()).any(|part| part == parts);
            assert!(is_here, "{number} is not in:\n{text}");
            assert!(page.contains(&format!(">{number}<")), "{number} is not on the page");
            found += 1;
        }
    }
    assert!(found > 700, "{found}");
}

#[test]
fn bars_of_a_comparison_have_its_changes() {
    let mut drawn = 0;
    for (results, comparison) in comparisons() {
        let runs = ["one", "other"].iter().zip(&results);
        let runs: Vec<_> =
            runs.map(|(name, results)| Run { name, results, report: None }).collect();
        let chart = changes::comparison(&comparison, &runs).expect("a picture");
        let Shape::Bars(bars) = &chart.panels[0].series[0].shape else { panic!("bars") };
        let svg = chart.svg(&Look::default());
        assert_eq!(bars.len(), figures(&comparison).len());
        for (bar, figure) in bars.iter().zip(figures(&comparison)) {
            assert_eq!(bar.value, figure.change);
            assert_eq!(bar.interval, figure.interval.map(|of| (of.low, of.high)));
            let label = format!(">{}, {}</text>", texts(figure)[0], bar.note);
            assert!(svg.contains(&label), "{label}");
            drawn += 1;
        }
        // The page has a picture for each job, with the same bars.
        let page = candor_html::comparison(&comparison);
        let pictures = carried::values(&page, "Changes");
        let points = pictures.iter().flat_map(|of| {
            of["panels"][0]["series"][0]["points"].as_array().expect("points").clone()
        });
        let shown: Vec<String> =
            points.map(|point| fmt::change(point[1].as_f64().expect("a change"))).collect();
        let told: Vec<String> =
            figures(&comparison).iter().map(|of| texts(of)[0].clone()).collect();
        assert_eq!(shown, told);
        for (figure, text) in figures(&comparison).iter().zip(&told) {
            let label = format!(">{text}, ");
            assert!(page.contains(&label), "{label} of {figure:?}");
        }
    }
    assert!(drawn > 200, "{drawn}");
}
