//! Description of the tool.

use candor_front::About;

use super::options;

/// Description of warp.
pub const ABOUT: About = About {
    name: "warp",
    summary: "Run warp's command lines, and read its result files",
    example: "candor warp analyze warp-get.csv.zst",
    help: options::help,
    page: options::page,
    coverage: options::coverage,
};
