//! Description of the tool.

use candor_front::About;

use super::options::{self, TABLE};

/// Description of md-workbench.
pub const ABOUT: About = About {
    name: "md-workbench",
    summary: "Run md-workbench's command lines, with its phases, names and lines",
    example: "candor md-workbench --ranks 4 -o /data/dir",
    help: options::help,
    page: || include_str!("page.md.in").replace("{OPTIONS}", &TABLE.matrix()),
    coverage: || TABLE.coverage(),
};
