//! Titles, corners and cautions, alike for all pictures.

use candor_chart::Chart;
use candor_record::results::Load;
use candor_record::{Verdict, fmt};

use super::curve::{self, Part};
use super::{Run, SERIES_MAX};

/// Results that the text alternative tells of, at most.
const TOLD_MAX: usize = 6;

/// The chart with the frame that these runs give it.
pub fn framed(chart: Chart, what: &str, runs: &[Run<'_>]) -> Chart {
    Chart {
        title: title(what, runs),
        subtitle: subtitle(runs),
        source: source(runs),
        verdict: verdict(runs),
        caution: caution(runs),
        description: description(what, runs),
        ..chart
    }
}

fn title(what: &str, runs: &[Run<'_>]) -> String {
    match runs {
        // A sweep is named by its keys.
        [run] if run.name.contains(" by ") => {
            let (what, _) = what.split_once(" by ").unwrap_or((what, ""));
            format!("{}: {what}", run.name)
        }
        [run] if !run.name.is_empty() => format!("{}: {what}", run.name),
        [] | [_] => fmt::capital(what),
        many => format!("{} runs: {what}", many.len()),
    }
}

/// The load and its targets, as far as all have it in common.
fn subtitle(runs: &[Run<'_>]) -> String {
    let curves = curve::all(runs);
    let common = |of: &dyn Fn(&curve::Curve<'_>) -> Option<String>| {
        let mut all = curves.iter().map(of);
        let first = all.next().flatten()?;
        all.all(|other| other.as_ref() == Some(&first)).then_some(first)
    };
    let load = |of: fn(&Load) -> Option<String>| common(&|curve| of(&curve.job.load));
    let parts = [
        load(|load| load.access.clone()),
        load(|load| load.block_bytes.map(fmt::column::size)),
        load(|load| load.depth.map(|depth| format!("depth {depth}"))),
        load(|load| load.workers.map(|n| fmt::plural(f64::from(n), "worker", "workers"))),
        common(&|curve| Some(curve.job.targets.join(", ")).filter(|text| !text.is_empty())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The chart with a word about the series that it leaves out, of so many in all.
pub fn first_of(chart: Chart, all: usize) -> Chart {
    if all <= SERIES_MAX {
        return chart;
    }
    let text = format!("{} · the first {SERIES_MAX} of {all} series", chart.subtitle);
    Chart { subtitle: text.trim_start_matches(" · ").to_owned(), ..chart }
}

fn source(runs: &[Run<'_>]) -> String {
    let mut tools: Vec<&str> = Vec::new();
    for run in runs {
        if !run.results.tool.is_empty() && !tools.contains(&run.results.tool.as_str()) {
            tools.push(&run.results.tool);
        }
    }
    let mut text = tools.join(", ");
    if let [run] = runs {
        let started = run.results.started.as_deref().unwrap_or_default();
        // Seconds are enough of a time.
        let started =
            started.split_once('.').map_or(started.to_owned(), |(whole, _)| format!("{whole}Z"));
        if !started.is_empty() {
            text += &format!(" · {started}");
        }
    }
    text
}

/// The worst verdict, and how many runs it concerns where there are several.
fn verdict(runs: &[Run<'_>]) -> String {
    let verdicts: Vec<Verdict> = runs.iter().filter_map(|run| run.results.verdict).collect();
    let Some(worst) = verdicts.iter().max() else {
        return "Not judged".to_owned();
    };
    let concerned = verdicts.iter().filter(|verdict| *verdict == worst).count();
    match runs.len() {
        1 => worst.label().to_owned(),
        2 if concerned == 2 => format!("{}: both runs", worst.label()),
        all if concerned == all => format!("{}: all {all} runs", worst.label()),
        all => format!("{}: {concerned} of {all} runs", worst.label()),
    }
}

/// Reasons not to believe the numbers, of each run that has one.
fn caution(runs: &[Run<'_>]) -> Option<String> {
    let is_doubtful =
        |run: &&Run<'_>| run.results.verdict.is_some_and(|verdict| verdict > Verdict::Caution);
    let sentence = |run: &Run<'_>| match runs.len() {
        1 => run.results.headline.clone(),
        _ => format!("{}: {}", run.name, run.results.headline),
    };
    let all: Vec<String> = runs.iter().filter(is_doubtful).map(sentence).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn description(what: &str, runs: &[Run<'_>]) -> String {
    let curves = curve::all(runs);
    let parts = [Part::Run, Part::Phase, Part::Repeat, Part::Job, Part::Op];
    let names = curve::names(&curves, runs, &parts);
    let told = curves.iter().zip(&names).take(TOLD_MAX);
    let told = told.map(|(curve, name)| format!("{name}: {}", curve::in_words(curve)));
    let told: Vec<String> = told.collect();
    let more = match curves.len().saturating_sub(TOLD_MAX) {
        0 => String::new(),
        more => format!("; and {}", fmt::counted(more as u64, "more result")),
    };
    if told.is_empty() {
        fmt::capital(what)
    } else {
        format!("{}. {}{more}.", fmt::capital(what), told.join("; "))
    }
}
