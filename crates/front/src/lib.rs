//! Parts of every front end, whatever its tool.
//!
//! A front end reads the command line and the files of a tool, lowers them to a plan, and prints a
//! report in the tool's format:
//!
//! ```text
//! argv, files ── read ──> options with positions ── lower ──> Plan, notes, data for the output
//! Report ── output ──> text, JSON or CSV of the tool
//! ```
//!
//! A [`Session`] is the tool's part of a run; [`About`] and [`Tool`] describe the tool.
//!
//! A tool brings a [`ValueKind`] (the form of its values; [`Plain`] is ready made), a [`Table`] of
//! [`Row`]s, and a grammar if the tool has one. Help, support matrix, refusals, defaults, notes
//! and suggestions come from the table. All mistakes are reported at once, each with file, line
//! and column:
//!
//! ```
//! use candor_front::{Diagnostic, Texts};
//!
//! let wrong = Diagnostic::nowhere("no-job", "No job(s) defined").remedy("add --name=NAME");
//! assert_eq!(wrong.describe(&Texts::default()), "No job(s) defined; add --name=NAME");
//! ```
//!
//! `tests.rs` builds a whole small front end. Nothing here opens a target or runs a program.

mod choices;
mod command_line;
mod comments;
mod diagnostic;
mod diagnostics;
mod environment;
pub mod evidence;
pub mod failures;
mod found;
mod given;
mod help;
mod host;
pub mod launcher;
mod machine;
mod origins;
mod plain;
pub mod ranks;
mod row;
pub mod schedule;
pub mod session;
mod support;
#[cfg(test)]
mod tests;
mod text;
mod tool;
mod tree;
mod value;
pub mod verdict;

pub use command_line::{Grammar, Item, Spelling, enter, read};
pub use comments::{comments, of_the_whole};
pub use diagnostic::{Diagnostic, Severity};
pub use diagnostics::{Diagnostics, Scope};
pub use environment::Environment;
pub use found::{Found, Zoned};
pub use given::{Assigned, Assignment, Given, GivenOption};
pub use help::unknown;
pub use host::{Host, ReadAs, seed_31_bits};
pub use machine::{Machine, Space};
pub use origins::Origins;
pub use plain::{Plain, Set, store, store_text};
pub use row::{Applied, Coverage, Group, Row, Support, Table, Takes, ValueKind, bare, row};
pub use schedule::Schedule;
pub use session::Session;
pub use text::{Span, Text, Texts, Word};
pub use tool::{About, Answer, Nodes, RANKS, Running, Tool, Work};
pub use tree::{Object, Tree};
pub use value::{Choice, Read, Refused, Value, choose};
