//! md-workbench as a tool of its family.

use std::ffi::OsString;

use super::Options;
use super::rows::{Draft, TABLE};
use candor_front::{Environment, Plain, Table};
use candor_ior_family::reading::{self, Tool};

/// The tool.
#[derive(Clone, Debug, Default)]
pub struct MdWorkbench;

impl Tool for MdWorkbench {
    type Options = Options;
    const NAME: &'static str = "md-workbench";
    const LIST: &'static str = "see md-workbench --help";
    const TABLE: Table<Plain<Draft>> = TABLE;

    fn begin(options: &mut Options, ranks: u32, command: Vec<String>) {
        (options.ranks, options.command) = (ranks, command);
    }
}

/// A command line as read.
pub type Reading = reading::Reading<MdWorkbench>;

/// Reads a command line, the program's name first.
pub fn read(argv: &[OsString], environment: &mut dyn Environment) -> Reading {
    reading::read(argv, environment)
}
