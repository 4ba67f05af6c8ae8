//! fio: command lines and job files to plans, reports to fio's output.
//!
//! [`read`] makes a syntax tree with positions; [`options`] gives it types, by
//! a table with one row per option; [`lower::lower`] makes the plan; [`output`] prints text, JSON,
//! terse lines and logs. [`write::job_file`] writes a plan as a job file. [`trace`] reads recorded
//! I/O, and [`state`] the files of verification. Nothing here opens a target or runs a program.
//!
//! ```
//! let coverage = candor_fio::help::coverage();
//! assert!(coverage.works > 200 && coverage.works <= coverage.listed);
//! ```

pub mod ast;
pub mod flags;
pub mod help;
pub mod job;
pub mod lower;
pub mod options;
pub mod output;
mod page;
pub mod show_command;
pub mod state;
pub mod trace;
pub mod values;
pub mod write;

pub use page::ABOUT;

use std::ffi::OsString;

use candor_front::Diagnostic;

/// Reads a command line of fio, the program's name first, and the job files that it names.
///
/// The syntax tree contains everything that could be read, in addition to all diagnostics.
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
