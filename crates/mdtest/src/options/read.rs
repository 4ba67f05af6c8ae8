//! mdtest as a tool of its family.

use std::ffi::OsString;

use super::Options;
use super::rows::{Draft, TABLE};
use candor_front::{Environment, Plain, Table};
use candor_ior_family::reading::{self, Tool};

/// The tool.
#[derive(Clone, Debug, Default)]
pub struct Mdtest;

impl Tool for Mdtest {
    type Options = Options;
    const NAME: &'static str = "mdtest";
    const LIST: &'static str = "see mdtest --help";
    const TABLE: Table<Plain<Draft>> = TABLE;

    fn begin(options: &mut Options, ranks: u32, command: Vec<String>) {
        (options.ranks, options.command) = (ranks, command);
    }
}

/// A command line as read.
pub type Reading = reading::Reading<Mdtest>;

/// Reads a command line, the program's name first.
pub fn read(argv: &[OsString], environment: &mut dyn Environment) -> Reading {
    reading::read(argv, environment)
}
