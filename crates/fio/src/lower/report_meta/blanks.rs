//! Spaces between an equals sign and a number with a unit. fio 3.33 does not find a unit after one;
//! later versions and candor skip them.

use candor_record::Note;

use crate::ast::{Ast, Origin, Section};
use crate::options::{self, Kind};
use candor_front::Diagnostics;
use candor_front::{Assignment, Span, Texts};

pub(in crate::lower) fn notes(ast: &Ast, section: &Section, diagnostics: &mut Diagnostics) {
    let blocks = ast.globals_of(section).iter().chain([&section.own]);
    let in_files = blocks.filter(|block| block.origin == Origin::JobFile);
    for assignment in in_files.flat_map(|block| &block.assignments) {
        if let Some(note) = note(&ast.texts, assignment) {
            diagnostics.add_note(note);
        }
    }
}

fn note(texts: &Texts, assignment: &Assignment) -> Option<Note> {
    let at = assignment.value_at();
    let before = Span { start: at.start.checked_sub(1)?, end: at.start, ..at };
    let blank = matches!(texts.snippet(before), " " | "\t");
    let value = &assignment.value.as_ref()?.text;
    let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = value.split_at(digits);
    let has_unit = !number.is_empty() && unit.starts_with(|c: char| c.is_ascii_alphabetic());
    let row = options::TABLE.find(&assignment.name.text)?;
    (blank && has_unit && is_number(row.kind)).then(|| Note {
        asked: format!("{}= {value}", row.name),
        did: format!("{value}, as later versions of fio read it"),
        why: format!("fio 3.33 does not skip the blank, and reads {number}"),
        place: Some(texts.location(at)),
    })
}

fn is_number(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Int(..)
            | Kind::Signed(..)
            | Kind::Ints(..)
            | Kind::Size(_)
            | Kind::Sizes(_)
            | Kind::Amount
            | Kind::Time(_)
            | Kind::Times(_)
    )
}
