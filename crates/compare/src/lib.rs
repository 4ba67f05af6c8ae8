//! Comparison of runs: results of several runs in, a [`Comparison`] out.
//!
//! [`compare()`] compares each run with the first one. `pairing` pairs phases, jobs and operations,
//! `conditions` finds conditions that differ, and `estimate` and `figures` give the interval of
//! each change. The sentences of the result are made here (`words`), so text and JSON have the same
//! ones. Nothing here renders or reads a file. The crate's `README.md` explains the method.
//!
//! ```
//! use candor_compare::{Options, compare};
//! use candor_record::results::Results;
//!
//! let run = |name: &str| (name.to_owned(), Results::default());
//! let runs = [run("a.json"), run("b.json")];
//! let comparison = compare(&runs, &Options::default()).unwrap();
//! assert_eq!(comparison.runs.len(), 2);
//! ```
//!
//! [`FailIf`] and [`Expect`] are conditions of the command line, which a comparison or a result is
//! checked against. [`joined`] combines rounds of one command as repeats.

mod bound;
mod check;
mod conditions;
mod estimate;
mod expect;
mod figures;
mod pairing;
mod rounds;
mod thresholds;
mod words;

#[cfg(test)]
mod tests;

use candor_record::comparison::{COMPARISON_VERSION, ComparedRun, Comparison, RunChange};
use candor_record::results::Results;

pub use bound::is_phase;
pub use check::FailIf;
pub use expect::Expect;
pub use rounds::joined;
pub use words::label;

use pairing::Labelled;

/// Questions to a comparison.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Conditions that the comparison is about, by their names or by an area: they are meant to
    /// differ.
    pub across: Vec<String>,
    /// Conditions under which it fails.
    pub fail_if: Vec<FailIf>,
    /// Version of candor that compares.
    pub candor_version: String,
}

/// Sets runs, each with the path that it was read from, beside the first of them.
///
/// # Errors
/// A sentence where `across` names no condition of any run.
pub fn compare(runs: &[(String, Results)], options: &Options) -> Result<Comparison, String> {
    let results: Vec<&Results> = runs.iter().map(|(_, results)| results).collect();
    if let Some(sentence) = conditions::unknown(&options.across, &results) {
        return Err(sentence);
    }
    let labels: Vec<String> = (0..runs.len()).map(words::label).collect();
    let Some((first, others)) = results.split_first() else {
        return Err("there is no run to compare".into());
    };
    let baseline = Labelled { label: &labels[0], results: first };
    let others = others.iter().zip(&labels[1..]);
    let changes: Vec<RunChange> = others
        .map(|(results, label)| change(baseline, Labelled { label, results }, options))
        .collect();
    let checks = changes
        .iter()
        .flat_map(|change| options.fail_if.iter().map(|fail_if| fail_if.check(&labels[0], change)));
    let compared = runs.iter().zip(&labels).map(|((source, results), label)| ComparedRun {
        label: label.clone(),
        source: source.clone(),
        name: results.name.clone(),
        tool: results.tool.clone(),
        started: results.started.clone(),
        verdict: results.verdict,
        headline: results.headline.clone(),
    });
    let headlines: Vec<&str> = changes.iter().map(|change| change.headline.as_str()).collect();
    Ok(Comparison {
        comparison_version: COMPARISON_VERSION,
        candor_version: options.candor_version.clone(),
        headline: headlines.join(" "),
        confidence: thresholds::CONFIDENCE,
        checks: checks.collect(),
        runs: compared.collect(),
        changes,
    })
}

/// The change from the baseline to a run.
fn change(baseline: Labelled<'_>, run: Labelled<'_>, options: &Options) -> RunChange {
    let (pairs, unmatched) = pairing::pairs(baseline, run);
    let differences =
        conditions::differences(baseline.results, run.results, &pairs, &options.across);
    let asked: Vec<_> = options.fail_if.iter().map(|fail_if| fail_if.kind).collect();
    let mut doubts = Vec::new();
    for doubt in pairs.iter().flat_map(|pair| conditions::doubts(baseline.label, run.label, pair)) {
        // Jobs of a phase share its verdict.
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
    }
    let change = RunChange {
        run: run.label.to_owned(),
        headline: String::new(),
        fairness: conditions::fairness(&differences),
        differences,
        doubts,
        unmatched,
        figures: figures::changes(&pairs, &asked),
    };
    RunChange { headline: words::headline(baseline.label, &change), ..change }
}
