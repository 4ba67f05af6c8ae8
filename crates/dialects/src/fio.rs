//! fio: job files and command lines into a plan, a report into fio's output.

pub mod ast;
pub mod flags;
pub mod help;
pub mod job;
pub mod job_options;
pub mod lower;
pub mod options;
pub mod output;
pub mod show_command;
pub mod state;
pub mod trace;
pub mod values;
pub mod write;

use std::ffi::OsString;

use crate::kit::Diagnostic;

/// Reads a command line of fio, the program's name first, and the job files that it names.
///
/// Everything that could be read is in the syntax tree, beside all diagnostics.
pub fn read(
    argv: &[OsString],
    environment: &mut dyn ast::FioEnvironment,
) -> (ast::Ast, Vec<Diagnostic>) {
    let names = ast::Names {
        flags: flags::TABLE.spellings().collect(),
        options: options::TABLE.spellings().collect(),
    };
    ast::read(argv, &names, environment)
}
