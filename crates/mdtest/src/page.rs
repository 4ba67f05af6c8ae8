//! Description of the tool.

use candor_front::About;

use super::options::{self, TABLE};

/// Description of mdtest.
pub const ABOUT: About = About {
    name: "mdtest",
    summary: "Run mdtest's command lines, with its phases, names and block of rates",
    example: "candor mdtest --ranks 4 -n 1000 -d /data/dir",
    help: options::help,
    page: || include_str!("page.md.in").replace("{OPTIONS}", &TABLE.matrix()),
    coverage: || TABLE.coverage(),
};
