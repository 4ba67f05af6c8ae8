//! The report in parts: the words, numbers and tables of the text, for pages of another shape.
//!
//! Each part is made by the function that the text is made by, so that no two renderings of a
//! report differ in a number or a word.

use candor_derive::NameTable;
use candor_record::Report;

use super::results::rows::{self, Column, NAME_COLUMNS_MAX, Row};
use super::{results, sweep, troubles};
use crate::layout::{Align, Cell, Table};
use crate::{describe, style::Tone};

pub use super::findings::Folded;
pub use super::http::{HttpPart, first_bytes, parts as http};
pub use super::key_numbers::KeyNumber;

/// Percentiles that are columns, unless others are asked for.
const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Whether to believe it, in a line, and the role of that line.
pub fn verdict(report: &Report) -> (String, Tone) {
    super::verdict_line(report)
}

/// Why the run ended early.
pub fn cut_short(report: &Report) -> Option<String> {
    super::cut_short(report)
}

/// The numbers by which people compare storage, as far as they can be believed.
pub fn key_numbers(report: &Report) -> Vec<KeyNumber> {
    super::key_numbers::all(report)
}

/// Each target from its path down to the devices, in a line.
pub fn targets(report: &Report) -> Vec<String> {
    let facts = report.facts();
    let targets = facts.targets.iter().map(|target| describe::target(facts, target));
    targets.chain(super::http::storage(report)).collect()
}

/// Which program ran when, how long, and on what host.
pub fn ran(report: &Report) -> String {
    super::ran(report)
}

/// One row of the results.
pub struct ResultRow {
    /// Phase, or operation within it.
    pub name: String,
    /// A number for each of the heads.
    pub numbers: Vec<Cell>,
    /// Facts beside the first row of a phase.
    pub about: Option<ResultNotes>,
}

/// Facts about a phase, beside its first row.
pub struct ResultNotes {
    /// The ceiling it came nearest to; empty where it has none.
    pub at_most: String,
    /// Share of that ceiling.
    pub used: String,
    /// Whether to believe it.
    pub mark: Cell,
    /// Limit of the phase or what it measured instead, and the findings that say so.
    pub remark: String,
}

/// Names of the columns of numbers, and all rows.
pub fn results(report: &Report) -> (Vec<String>, Vec<ResultRow>) {
    let rows = rows::all(report);
    let asked = &report.percentiles;
    let percentiles = if asked.is_empty() { &PERCENTILES[..] } else { asked };
    let mut columns = Column::rates(&rows);
    columns.extend([Column::MbPerS, Column::MibPerS, Column::Mean]);
    columns.extend(percentiles.iter().map(|p| Column::Percentile(*p)));
    columns.push(Column::Max);
    columns.retain(|column| rows.iter().any(|row| row.cell(*column).holds_value()));
    let shown = |row: Row| ResultRow {
        numbers: columns.iter().map(|column| row.cell(*column)).collect(),
        name: row.full_name.unwrap_or(row.name),
        about: row.phase.map(|about| ResultNotes {
            at_most: about.at_most,
            used: about.used,
            mark: about.mark,
            remark: about.remark,
        }),
    };
    let rows = rows.into_iter().map(shown).collect();
    (columns.iter().map(|column| column.name()).collect(), rows)
}

/// Means and spreads of phases that ran several times, with what is to be said of them.
pub fn repeats(report: &Report) -> Option<(Table, Vec<String>)> {
    let repeats = &report.judgement.repeats;
    let mut lines = vec![results::repeats::INTERVAL.to_owned()];
    lines.extend(results::repeats::left_out(repeats));
    (!repeats.is_empty()).then(|| (results::repeats::table(repeats, true, NAME_COLUMNS_MAX), lines))
}

/// The hosts of each result of several, under its name.
pub fn hosts(report: &Report) -> Vec<(String, Table)> {
    super::hosts::tables(report)
}

/// Rates of names in several trees, and which caches answered.
pub fn names(report: &Report) -> Option<(Table, Option<String>)> {
    let table = NameTable::of(report)?;
    Some((results::names::table(&table), results::names::answered(&table)))
}

/// The table of a sweep, and a sentence for each knee.
pub fn sweep(report: &Report) -> Option<(Table, Vec<String>)> {
    let sweep = report.judgement.sweep.as_ref()?;
    let knees = sweep.knees.iter().map(|knee| knee.sentence.clone()).collect();
    Some((sweep::table(sweep, sweep.rows.len()), knees))
}

/// Each element of the path that has a ceiling, and how that comes about.
pub fn ceilings(report: &Report) -> Vec<(&str, String)> {
    results::ceiling_lines(report)
}

/// Sentences below the results: trials before and after them, goals, what was filled.
pub fn remarks(report: &Report) -> Vec<String> {
    let goals = results::goals(report).into_iter().chain(super::filled::lines(report));
    let trials = [results::search_line(report), results::submission_line(report)];
    goals.chain(trials.into_iter().flatten()).chain(results::follow_up_lines(report)).collect()
}

/// Failed operations, and what verification came to: a heading with its lines.
pub fn troubles(report: &Report) -> Vec<(&'static str, Vec<String>)> {
    let [clean, idle] = troubles::verified(report);
    let all = [("Errors", troubles::errors(report)), ("Verified", clean), ("Not verified", idle)];
    all.into_iter().filter(|(_, lines)| !lines.is_empty()).collect()
}

/// Diagnoses, heaviest first, alike ones of several phases told as one.
pub fn findings(report: &Report) -> Vec<Folded<'_>> {
    super::findings::folded(report)
}

/// Requests that ran otherwise than asked.
pub fn notes(report: &Report) -> Option<Table> {
    let heads = ["Asked", "Done", "Why", "Where"].map(|name| (name, Align::Left));
    let mut table = Table::new(&heads);
    for note in &report.notes {
        let place = note.place.clone().unwrap_or_default();
        let cells = [note.asked.clone(), note.did.clone(), note.why.clone(), place];
        table.row(cells.into_iter().map(Cell::from).collect());
    }
    (!report.notes.is_empty()).then_some(table)
}

/// Facts that could not be read, a sentence each, and rules that could not be applied.
pub fn unseen(report: &Report) -> (Vec<String>, Vec<String>) {
    (super::missing(report), super::unapplied(report))
}
