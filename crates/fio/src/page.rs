//! Description of the tool.

use candor_front::About;

use super::help;

/// Description of fio.
pub const ABOUT: About = About {
    name: "fio",
    summary: "Run fio's job files and command lines, with fio's output and exit codes",
    example: "candor fio job.fio",
    help: String::new,
    page: || {
        format!(
            "# Engines and options of fio\n\n{}{}",
            help::matrix(),
            include_str!("objects.md.in")
        )
    },
    coverage: help::coverage,
};
