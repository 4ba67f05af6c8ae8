//! The table of IOR's options: each is known by its directive, as scripts and `-O` spell it.

mod backends;
mod files;
mod output;
mod run;

use super::Options;
use crate::grammar;
use candor_front::{Group, Plain, Refused, Row, Set, Table, bare, row};

/// Request for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The help.
    Help,
}

/// The options so far, and what asks for something else than tests.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The options.
    pub options: Options,
    /// The script.
    pub(super) script: Option<String>,
    /// Request for a text.
    pub(super) instead: Option<Instead>,
}

impl Draft {
    /// With these options, and nothing else.
    pub fn of(options: Options) -> Draft {
        Draft { options, ..Draft::default() }
    }
}

/// The values of IOR's options.
pub type Value = Plain<Draft>;

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

/// A flag: counted where it is bare, else 0 or 1.
const fn flag(name: &'static str, set: Set<Draft>, help: &'static str) -> Row<Value> {
    row(name, Value::maybe("N"), set, help).default("0")
}

/// An option with a value.
const fn value(
    name: &'static str,
    form: &'static str,
    set: Set<Draft>,
    help: &'static str,
) -> Row<Value> {
    row(name, Value::value(form), set, help)
}

/// A flag that is refused.
const fn refused_flag(name: &'static str, help: &'static str, why: &'static str) -> Row<Value> {
    bare(name, Value::maybe("N"), help).default("0").refused("1", why)
}

/// An option with a value that is refused.
const fn refused(
    name: &'static str,
    form: &'static str,
    help: &'static str,
    why: &'static str,
) -> Row<Value> {
    bare(name, Value::value(form), help).refused("4", why)
}

/// Sets a switch.
fn put(place: &mut bool, text: &str) -> Result<(), Refused> {
    *place = grammar::flag(text, u32::from(*place))? > 0;
    Ok(())
}

/// Counts a flag.
fn count(place: &mut u32, text: &str) -> Result<(), Refused> {
    *place = grammar::flag(text, *place)?;
    Ok(())
}

/// Sets a number within bounds.
fn put_number<T: TryFrom<i64>>(place: &mut T, text: &str, bounds: [i64; 2]) -> Result<(), Refused> {
    let number = grammar::within(text, bounds)?;
    // The bounds are those of the type, or closer.
    if let Ok(number) = T::try_from(number) {
        *place = number;
    }
    Ok(())
}

/// Sets a number that IOR takes from elsewhere where -1 is given.
fn put_unless_negative(
    place: &mut Option<u32>,
    text: &str,
    [min, max]: [i64; 2],
) -> Result<(), Refused> {
    *place = match grammar::within(text, [-1, max])? {
        -1 => None,
        number if number >= min => Some(number as u32),
        number => {
            let message = format!("{number} is out of range");
            return Err(Refused::whole(text, message, format!("give {min} to {max}, or -1")));
        }
    };
    Ok(())
}

/// Sets a text, which may not be empty.
fn put_text(place: &mut Option<String>, text: &str) -> Result<(), Refused> {
    if text.is_empty() {
        return Err(Refused::whole(text, "the value is empty", "give a name"));
    }
    *place = Some(text.to_owned());
    Ok(())
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
