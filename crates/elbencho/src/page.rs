//! Description of the tool.

use candor_front::About;

use super::options::{self, HelpPart, TABLE};

/// Description of elbencho.
pub const ABOUT: About = About {
    name: "elbencho",
    summary: "Run elbencho's command lines, with its phases, tables and exit codes",
    example: "candor elbencho -w -r -t 4 -b 1m -s 1g /data/file",
    help: || options::help(HelpPart::Overview),
    page: || include_str!("page.md.in").to_owned() + &TABLE.matrix(),
    coverage: || TABLE.coverage(),
};
