//! The table of IOR's options. The name of a row is its directive, for scripts and `-O`.

mod backends;
mod files;
mod output;
mod run;

use std::ops::RangeInclusive;

use super::Options;
use crate::grammar;
use candor_front::{Group, Plain, Refused, Set, Table, bare, store, store_text};

/// The values of IOR's options.
pub type Value = Plain<Options>;

type Row = candor_front::Row<Value>;

/// Name of the option that holds directives.
pub(super) const DIRECTIVES: &str = "directives";
/// Name of the option that names a script.
pub(super) const SCRIPT: &str = "scriptFile";
/// Name of the option that prints the help.
pub(super) const HELP: &str = "help";

/// All options, in the order of the help.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Phases", rows: run::PHASES },
    Group { title: "Files and layout", rows: files::LAYOUT },
    Group { title: "Tasks and their order", rows: files::TASKS },
    Group { title: "Ends", rows: run::ENDS },
    Group { title: "Back ends", rows: backends::API },
    Group { title: "Content and memory", rows: files::CONTENT },
    Group { title: "Results", rows: output::RESULTS },
    Group { title: "Scripts and help", rows: output::READING },
    Group { title: "Options of former versions", rows: backends::FORMER },
    Group { title: "Other back ends and GPUs", rows: backends::ELSEWHERE },
]);

/// A flag: counted without a value, else 0 or 1.
const fn flag(name: &'static str, set: Set<Options>, help: &'static str) -> Row {
    Row::flag(name, "N", set, help).default("0")
}

/// A flag that is refused.
const fn refused_flag(name: &'static str, help: &'static str, why: &'static str) -> Row {
    bare(name, Value::maybe("N"), help).default("0").refused("1", why)
}

/// A refused option with a value.
const fn refused(
    name: &'static str,
    form: &'static str,
    help: &'static str,
    why: &'static str,
) -> Row {
    bare(name, Value::value(form), help).refused("4", why)
}

/// Sets a switch.
fn put(place: &mut bool, text: &str) -> Result<(), Refused> {
    store(place, grammar::flag(text, u32::from(*place))? > 0)
}

/// Counts a flag.
fn count(place: &mut u32, text: &str) -> Result<(), Refused> {
    store(place, grammar::flag(text, *place)?)
}

/// Sets a number within bounds.
fn put_number<T: TryFrom<i64>>(
    place: &mut T,
    text: &str,
    bounds: RangeInclusive<i64>,
) -> Result<(), Refused> {
    let number = grammar::within(text, bounds)?;
    // The bounds are within the type.
    if let Ok(number) = T::try_from(number) {
        *place = number;
    }
    Ok(())
}

/// Sets a number of at most 32 bits.
fn put_count<T: TryFrom<i64>>(place: &mut T, text: &str) -> Result<(), Refused> {
    put_number(place, text, 0..=u32::MAX.into())
}

/// Sets a number of at most 63 bits.
fn put_natural<T: TryFrom<i64>>(place: &mut T, text: &str) -> Result<(), Refused> {
    put_number(place, text, 0..=i64::MAX)
}

/// Sets a number; -1 selects IOR's own value.
fn put_unless_negative(
    place: &mut Option<u32>,
    text: &str,
    bounds: RangeInclusive<i64>,
) -> Result<(), Refused> {
    *place = match grammar::within(text, -1..=*bounds.end())? {
        -1 => None,
        number if bounds.contains(&number) => Some(number as u32),
        number => {
            let message = format!("{number} is out of range");
            let remedy = format!("give {} to {}, or -1", bounds.start(), bounds.end());
            return Err(Refused::whole(text, message, remedy));
        }
    };
    Ok(())
}

/// Sets a text, which may not be empty.
fn put_text(place: &mut Option<String>, text: &str) -> Result<(), Refused> {
    not_empty(text)?;
    store_text(place, text)
}

fn not_empty(text: &str) -> Result<(), Refused> {
    match text {
        "" => Err(Refused::whole(text, "the value is empty", "give a name")),
        _ => Ok(()),
    }
}

/// The help.
pub fn help() -> String {
    let mut text = String::from(
        "Synopsis: ior [OPTIONS]\n\n\
         Sizes take k, m, g, t or p: powers of 1024. Flags may be glued (-wkF), have a value \
         (-k=1),\nand stand in -O or a script by name (-O keepFile=1). The number of tasks comes \
         from\n`candor ior --ranks N` or CANDOR_RANKS.\n",
    );
    for group in TABLE.0 {
        text += &format!("\n{}:\n{}", group.title, Table(std::slice::from_ref(group)).usage());
    }
    text + "\n\
            `candor options ior` lists the support of each option.\n"
}
