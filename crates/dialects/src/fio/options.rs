//! Every option of a job: one row each, one file per topic.
//!
//! What is read, what is refused, what is noted, the help and the matrix of options all come from
//! these rows.

mod area;
mod blocks;
mod buffers;
mod description;
mod engine_names;
mod engines;
mod files;
mod io;
mod kind;
mod logs;
mod own;
mod pace;
mod processes;
mod random;
mod read;
mod row;
mod runtime;
mod support;
#[cfg(test)]
mod tests;
mod trace;
mod value;
mod verify;
mod zones;

pub use engine_names::{ENGINES, EngineName, engine};
pub use kind::{Kind, Parsed};
pub use read::{Reading, read};
pub use row::{Category, Row, Support};
pub(super) use support::{note, refuse};
pub use support::{notes, refusals};

use super::ast::{Bare, OptionName};

/// The tables, each with what it is about.
const TABLES: &[(Category, &[Row])] = &[
    (description::CATEGORY, description::ROWS),
    (Category::Units, description::UNITS),
    (runtime::CATEGORY, runtime::ROWS),
    (io::CATEGORY, io::ROWS),
    (blocks::CATEGORY, blocks::ROWS),
    (area::CATEGORY, area::ROWS),
    (random::CATEGORY, random::ROWS),
    (files::CATEGORY, files::ROWS),
    (Category::Making, files::MAKING),
    (Category::Durability, files::DURABILITY),
    (buffers::CATEGORY, buffers::ROWS),
    (Category::Memory, buffers::MEMORY),
    (pace::CATEGORY, pace::ROWS),
    (Category::Think, pace::THINK),
    (Category::Goals, pace::GOALS),
    (Category::Flow, pace::FLOW),
    (verify::CATEGORY, verify::ROWS),
    (trace::CATEGORY, trace::ROWS),
    (processes::CATEGORY, processes::ROWS),
    (Category::Placement, processes::PLACEMENT),
    (zones::CATEGORY, zones::ROWS),
    (Category::DataPlacement, zones::DATA_PLACEMENT),
    (logs::CATEGORY, logs::ROWS),
    (Category::Statistics, logs::STATISTICS),
    (Category::Errors, logs::ERRORS),
    (engines::CATEGORY, engines::ROWS),
    (engines::CATEGORY, engines::PROGRAMS),
    (engines::CATEGORY, engines::LACKING),
    (Category::Profiles, engines::PROFILES),
];

/// All rows with what they are about, in the order of the matrix.
pub fn rows() -> impl Iterator<Item = (Category, &'static Row)> {
    TABLES.iter().flat_map(|(category, rows)| rows.iter().map(|row| (*category, row)))
}

/// The row of an option, by any of its names.
pub fn find(name: &str) -> Option<&'static Row> {
    rows().map(|(_, row)| row).find(|row| row.names().any(|known| known == name))
}

/// All names of all options.
pub fn names() -> impl Iterator<Item = &'static str> {
    rows().flat_map(|(_, row)| row.names())
}

/// The names of all options, as the command line needs them.
pub fn option_names() -> Vec<OptionName> {
    let of_row = |row: &'static Row| {
        let bare = match row.kind {
            Kind::Flag => Bare::Always,
            Kind::MaybeText => Bare::Last,
            _ => Bare::Never,
        };
        row.names().map(move |name| OptionName { name, bare })
    };
    rows().flat_map(|(_, row)| of_row(row)).collect()
}
