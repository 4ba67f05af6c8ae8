//! The parts that every front end needs, whatever its tool: texts with places, diagnostics, the
//! table of options, notes, origins. No module here knows a tool.
//!
//! A front end brings a [`ValueKind`] (the form of its values, and how they are read; [`Plain`] is
//! one ready made), a [`Table`] of [`Row`]s, and a grammar of its own where the tool has one. From
//! the table the kit derives the help, the matrix of support, refusals, notes and suggestions.
//! `tests.rs` builds a whole small front end from nothing else.

mod choices;
mod command_line;
mod diagnostic;
mod diagnostics;
mod environment;
pub mod evidence;
mod found;
mod given;
mod help;
mod host;
pub mod launcher;
mod origins;
mod plain;
pub mod ranks;
mod row;
mod support;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod value;
pub mod verdict;

pub(crate) use choices::choices;
pub use command_line::{Grammar, Item, Spelling, enter, read};
pub use diagnostic::{Diagnostic, Severity};
pub use diagnostics::{Diagnostics, Scope};
pub use environment::Environment;
pub use found::{Found, Zoned};
pub use given::{Assigned, Assignment, Given, GivenOption};
pub use help::unknown;
pub use host::{Host, ReadAs, seed_31_bits};
pub use origins::Origins;
pub use plain::{Plain, Set, store};
pub use row::{Applied, Coverage, Group, Row, Support, Table, Takes, ValueKind, bare, row};
pub use text::{Span, Text, Texts, Word};
pub use tree::{Object, Tree};
pub use value::{Choice, Read, Refused, Value, choose};
