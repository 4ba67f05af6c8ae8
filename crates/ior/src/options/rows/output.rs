//! Results, scripts and help.

use super::{Draft, Instead, Value, count, flag, put, put_number, put_text, value};
use crate::grammar;
use crate::options::Format;
use candor_front::{Refused, Row, choose, store};

const COUNT_MAX: i64 = u32::MAX as i64;

#[rustfmt::skip]
pub(super) const RESULTS: &[Row<Value>] = &[
    flag("verbose", |d, t| count(&mut d.options.output.verbose, t),
        "more output; up to five times").letter('v').exact("", "2"),
    value("refNum", "N",
        |d, t| grammar::number(t).and_then(|n| store(&mut d.options.output.reference, n)),
        "a number of your own, repeated in the summary").letter('A').default("0")
        .exact("", "42"),
    value("summaryFile", "FILE", |d, t| put_text(&mut d.options.output.summary_file, t),
        "file of the results").exact("", "results"),
    value("summaryFormat", "WORD", format, "form of the results: default, JSON, CSV")
        .default("default").exact("", "JSON"),
    flag("summaryAlways", |d, t| put(&mut d.options.output.summary_always, t),
        "the summary of each test follows its results").exact("", "1"),
    value("saveRankPerformanceDetailsCSV", "FILE",
        |d, t| put_text(&mut d.options.output.rank_csv, t),
        "file that gets a row for each task and phase").exact("", "ranks.csv"),
    value("savePerOpDataCSV", "PREFIX", |d, t| put_text(&mut d.options.output.operations_csv, t),
        "begin of the names of files with a row for each transfer")
        .exact("blocks.measure.log", "ops"),
    value("outlierThreshold", "SECONDS",
        |d, t| put_number(&mut d.options.output.outlier_s, t, [0, COUNT_MAX]),
        "name tasks that are so far from the mean").letter('j').default("0").exact("", "5"),
    flag("dryRun", |d, t| put(&mut d.options.output.dry_run, t),
        "print the plan, and do nothing").exact("", "1"),
    flag("warningAsErrors", |d, t| put(&mut d.options.output.warnings_are_errors, t),
        "a warning ends the run before it begins").exact("", "1"),
    value("debug", "TEXT", |d, t| put_text(&mut d.options.output.debug, t),
        "text that is printed before the options").exact("", "text"),
    value("platform", "TEXT", |d, t| put_text(&mut d.options.output.platform, t),
        "name of the platform").exact("", "name"),
];

#[rustfmt::skip]
pub(super) const READING: &[Row<Value>] = &[
    value("scriptFile", "FILE", |d, t| put_text(&mut d.script, t),
        "a script of tests between IOR START and IOR STOP").letter('f').exact("phase", "script"),
    value("directives", "KEY=VALUE,...", |_, _| Ok(()),
        "options by their names, with commas between")
        .letter('O').exact("", "verbose=1"),
    flag("help", |d, _| store(&mut d.instead, Some(Instead::Help)), "print this help").letter('h')
        .exact("", "1"),
];

fn format(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    let known = Format::CHOICES.iter().position(|choice| choice.word.eq_ignore_ascii_case(text));
    match known {
        Some(nth) => store(&mut draft.options.output.format, Format::ALL[nth]),
        None => choose(text, Format::CHOICES).map(|_| ()),
    }
}
