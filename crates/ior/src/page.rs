//! Description of the tool.

use candor_front::About;

use super::options::{self, TABLE};

/// Description of IOR.
pub const ABOUT: About = About {
    name: "ior",
    summary: "Run IOR's command lines and scripts, with its tables, without MPI",
    example: "candor ior --ranks 4 -w -r -t 1m -b 256m -o /data/file",
    help: options::help,
    page,
    coverage: || TABLE.coverage(),
};

/// Options with their letters, and their support.
fn page() -> String {
    let mut tables = TABLE.matrix();
    for row in TABLE.rows() {
        if let Some(letter) = row.letter {
            let name = format!("| `{}`", row.name);
            tables = tables.replacen(&name, &format!("| `-{letter}`, `{}`", row.name), 1);
        }
    }
    include_str!("page.md.in").to_owned() + &tables
}
