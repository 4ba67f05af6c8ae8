//! The table of options: every option of a job, one row each.
//!
//! Reading, refusals, notes, the help and the matrix of support all come from these rows. The rows
//! stand in `rows/`, one file per topic; what a job has set of them is a
//! [`JobOptions`](super::job_options::JobOptions).

mod apply;
mod engine_names;
mod kind;
mod own;
mod read;
mod rows;
#[cfg(test)]
mod tests;
mod value;

pub use apply::defaults;
pub use engine_names::{ENGINES, EngineName, engine};
pub use kind::{Kind, Parsed, Row};
pub use read::{Reading, notes, read, refusals};

use candor_front::{Group, Table};
use rows::*;

const fn group(title: &'static str, rows: &'static [Row]) -> Group<Kind> {
    Group { title, rows }
}

/// All options, in the order of the matrix.
pub const TABLE: Table<Kind> = Table(&[
    group("Description of the job", description::ROWS),
    group("Units", description::UNITS),
    group("Run time", runtime::ROWS),
    group("Direction, engine and depth", io::ROWS),
    group("Block sizes", blocks::ROWS),
    group("Sizes and offsets", area::ROWS),
    group("Random offsets", random::ROWS),
    group("Files", files::ROWS),
    group("Making and removing files", files::MAKING),
    group("Durability", files::DURABILITY),
    group("Contents of buffers", buffers::ROWS),
    group("Memory of buffers", buffers::MEMORY),
    group("Rates", pace::ROWS),
    group("Think time", pace::THINK),
    group("Latency goals", pace::GOALS),
    group("Flow between jobs", pace::FLOW),
    group("Verification", verify::ROWS),
    group("Traces", trace::ROWS),
    group("Processes and their order", processes::ROWS),
    group("User, host and directory of jobs", processes::PLACEMENT),
    group("Zones", zones::ROWS),
    group("Data placement", zones::DATA_PLACEMENT),
    group("Log files", logs::ROWS),
    group("Statistics", logs::STATISTICS),
    group("Errors", logs::ERRORS),
    group("Options of single engines", engines::ROWS),
    group("Options of single engines", engines::PROGRAMS),
    group("Options of single engines", engines::LACKING),
    group("Profiles", engines::PROFILES),
]);
