//! Results, scripts and help.

use super::{
    DIRECTIVES, HELP, Options, Row, SCRIPT, Value, count, flag, not_empty, put, put_count, put_text,
};
use crate::grammar;
use crate::options::Format;
use candor_front::{Refused, bare, choose, store};

#[rustfmt::skip]
pub(super) const RESULTS: &[Row] = &[
    flag("verbose", |o, t| count(&mut o.output.verbose, t), "Increase verbosity; up to five times")
        .letter('v').exact("", "2"),
    Row::value("refNum", "N",
        |o, t| grammar::number(t).and_then(|n| store(&mut o.output.reference, n)),
        "Repeat the user's number N in the summary").letter('A').default("0").exact("", "42"),
    Row::value("summaryFile", "FILE", |o, t| put_text(&mut o.output.summary_file, t),
        "Write the results to FILE").exact("", "results"),
    Row::value("summaryFormat", "WORD", format, "Select the format of results: default, JSON, CSV")
        .default("default").exact("", "JSON"),
    flag("summaryAlways", |o, t| put(&mut o.output.summary_always, t),
        "Print the summary of each test after its results").exact("", "1"),
    Row::value("saveRankPerformanceDetailsCSV", "FILE", |o, t| put_text(&mut o.output.rank_csv, t),
        "Write a row per task and phase to FILE").exact("", "ranks.csv"),
    Row::value("savePerOpDataCSV", "PREFIX", |o, t| put_text(&mut o.output.operations_csv, t),
        "Write a row per transfer to files with PREFIX").exact("blocks.measure.log", "ops"),
    Row::value("outlierThreshold", "SECONDS", |o, t| put_count(&mut o.output.outlier_s, t),
        "Report tasks SECONDS or more from the mean").letter('j').default("0").exact("", "5"),
    flag("dryRun", |o, t| put(&mut o.output.dry_run, t), "Print the plan only").exact("", "1"),
    flag("warningAsErrors", |o, t| put(&mut o.output.warnings_are_errors, t),
        "End the run at a warning before it starts").exact("", "1"),
    Row::value("debug", "TEXT", |o, t| put_text(&mut o.output.debug, t),
        "Print TEXT before the options").exact("", "text"),
    Row::value("platform", "TEXT", |o, t| put_text(&mut o.output.platform, t),
        "Set the name of the platform").exact("", "name"),
];

#[rustfmt::skip]
pub(super) const READING: &[Row] = &[
    Row::value(SCRIPT, "FILE", |_, t| not_empty(t),
        "Run the tests of FILE between IOR START and IOR STOP").letter('f')
        .exact("phase", "script"),
    bare(DIRECTIVES, Value::value("KEY=VALUE,..."), "Set options by name").letter('O')
        .exact("", "verbose=1"),
    bare(HELP, Value::maybe("N"), "Print this help").letter('h').default("0").exact("", "1"),
];

fn format(options: &mut Options, text: &str) -> Result<(), Refused> {
    let known = Format::CHOICES.iter().position(|choice| choice.word.eq_ignore_ascii_case(text));
    match known {
        Some(nth) => store(&mut options.output.format, Format::ALL[nth]),
        None => choose(text, Format::CHOICES).map(|_| ()),
    }
}
