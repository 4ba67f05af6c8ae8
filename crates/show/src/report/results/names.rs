//! Rates of names in several trees, side by side.

use candor_derive::{NameRate, NameRow, NameTable};
use candor_record::Verdict;
use candor_record::fmt::column;

use crate::layout::{Align, Cell, Table, cut};
use crate::style::{Style, Tone};

/// The table, and which caches answered.
pub(super) fn lines(style: &Style, table: &NameTable<'_>) -> Vec<String> {
    let answered = answered(table).map(|line| cut(&line, style.columns()));
    self::table(table).lines(style).into_iter().chain(answered).collect()
}

/// Trees in rows, things done to their names in columns.
pub(in super::super) fn table(table: &NameTable<'_>) -> Table {
    let heads = table.columns.iter().map(|column| ((*column).to_owned(), Align::Right));
    let heads: Vec<_> = std::iter::once(("names/s".to_owned(), Align::Left)).chain(heads).collect();
    let mut text = Table::new(&heads);
    for NameRow { tree, rates } in &table.rows {
        text.row(std::iter::once(Cell::from(*tree)).chain(rates.iter().map(cell)).collect());
    }
    text
}

fn cell(rate: &NameRate) -> Cell {
    let text = column::iops(rate.names_per_s);
    match rate.verdict {
        Verdict::Wrong => Cell::toned(text, Tone::Dim),
        _ => Cell::from(text),
    }
}

/// Columns that a cache answered in each tree, as it was to.
pub(in super::super) fn answered(table: &NameTable<'_>) -> Option<String> {
    let by = |at: usize| {
        let mut caches = table.rows.iter().map(|row| row.rates[at].answered_by);
        let first = caches.next()??;
        caches.all(|cache| cache == Some(first)).then_some(first)
    };
    let columns = table.columns.iter().enumerate();
    let cached = columns.filter_map(|(at, column)| {
        let cache = by(at)?.to_string();
        Some(format!("{column} ({})", cache.trim_start_matches("the ")))
    });
    let cached: Vec<String> = cached.collect();
    (!cached.is_empty()).then(|| format!("Cached: {}", cached.join(", ")))
}
