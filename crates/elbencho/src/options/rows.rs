//! The table of elbencho's options.

mod elsewhere;
mod files;
mod output;
mod run;
mod s3;

use std::ops::RangeInclusive;

use super::{HelpPart, Instead, Options};
use crate::grammar;
pub(super) use s3::endpoints;

use candor_front::{Group, Plain, Refused, Set, Table, bare, store};

/// The values of elbencho's options.
pub type Value = Plain<Options>;

type Row = candor_front::Row<Value>;

/// Name of the option that selects a file of options.
pub(super) const CONFIG_FILE: &str = "configfile";
/// Name of the option that disables bracket expansion in paths.
pub(super) const PLAIN_PATHS: &str = "nopathexp";

/// Options that request a text, with the text.
const TEXTS: &[(&str, Instead)] = &[
    ("help", Instead::Help(HelpPart::Overview)),
    ("help-large", Instead::Help(HelpPart::Large)),
    ("help-multi", Instead::Help(HelpPart::Multi)),
    ("help-bdev", Instead::Help(HelpPart::BlockDevices)),
    ("help-dist", Instead::Help(HelpPart::Hosts)),
    ("help-s3", Instead::Help(HelpPart::S3)),
    ("help-all", Instead::Help(HelpPart::All)),
    ("version", Instead::Version),
];

/// The text that an option requests.
pub(super) fn requested_text(option: &str) -> Option<Instead> {
    TEXTS.iter().find(|(name, _)| *name == option).map(|(_, text)| *text)
}

/// All options, in the order of the help.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Phases", rows: run::PHASES },
    Group { title: "Run", rows: run::RUN },
    Group { title: "Directories of small files", rows: files::TREE },
    Group { title: "Large files and block devices", rows: files::ACCESS },
    Group { title: "Engine and hints", rows: files::ENGINE },
    Group { title: "Content and verification", rows: files::DATA },
    Group { title: "Mixes of reads and writes", rows: files::MIX },
    Group { title: "Lists of files", rows: files::LISTS },
    Group { title: "Results", rows: output::RESULTS },
    Group { title: "Live figures", rows: output::LIVE },
    Group { title: "Help", rows: output::HELP },
    Group { title: "Several hosts", rows: elsewhere::HOSTS },
    Group { title: "Network", rows: elsewhere::NETWORK },
    Group { title: "GPU", rows: elsewhere::GPU },
    Group { title: "Object stores", rows: s3::ACCESS },
    Group { title: "Requests on objects", rows: s3::REQUESTS },
    Group { title: "Phases of object stores", rows: s3::PHASES },
]);

/// Value of a switch that is off; switches without a value are on.
pub(super) const OFF: &str = "false";

/// A switch; the reader passes `true` or `false` as its value.
const fn switch(name: &'static str, set: Set<Options>, help: &'static str) -> Row {
    Row::flag(name, "BOOL", set, help).default(OFF)
}

/// A switch that the reader handles.
const fn bare_switch(name: &'static str, help: &'static str) -> Row {
    bare(name, Value::maybe("BOOL"), help).default(OFF).exact("", "true")
}

/// A refused option with a value.
const fn refused(
    name: &'static str,
    form: &'static str,
    help: &'static str,
    why: &'static str,
) -> Row {
    bare(name, Value::value(form), help).refused("x", why)
}

/// A refused switch.
const fn refused_switch(name: &'static str, help: &'static str, why: &'static str) -> Row {
    bare(name, Value::maybe("BOOL"), help).default(OFF).refused("true", why)
}

/// Sets a switch.
fn put(place: &mut bool, text: &str) -> Result<(), Refused> {
    store(place, text != OFF)
}

/// Sets a size, or a number with a unit.
fn put_size(place: &mut u64, text: &str) -> Result<(), Refused> {
    store(place, grammar::size(text)?)
}

/// Sets a size that is absent without the option.
fn put_some_size(place: &mut Option<u64>, text: &str) -> Result<(), Refused> {
    store(place, Some(grammar::size(text)?))
}

/// Sets a number within bounds.
fn put_number<T: TryFrom<u64>>(
    place: &mut T,
    text: &str,
    bounds: RangeInclusive<u64>,
) -> Result<(), Refused> {
    let number = grammar::number(text, *bounds.end())?;
    let fits = T::try_from(number).ok().filter(|_| bounds.contains(&number));
    let number = fits.ok_or_else(|| {
        let remedy = format!("give {} to {}", bounds.start(), bounds.end());
        Refused::whole(text, format!("{number} is out of range"), remedy)
    })?;
    store(place, number)
}

/// Sets a number within bounds that is absent without the option.
fn put_some_number<T: TryFrom<u64> + Default>(
    place: &mut Option<T>,
    text: &str,
    bounds: RangeInclusive<u64>,
) -> Result<(), Refused> {
    put_number(place.insert(T::default()), text, bounds)
}

/// The text of a part of the help.
pub fn help(part: HelpPart) -> String {
    let titles: &[&str] = match part {
        HelpPart::Overview => &["Phases", "Run", "Help"],
        HelpPart::Large | HelpPart::BlockDevices => &[
            "Phases",
            "Run",
            "Large files and block devices",
            "Engine and hints",
            "Content and verification",
            "Mixes of reads and writes",
            "Results",
            "Live figures",
        ],
        HelpPart::Multi => &[
            "Phases",
            "Run",
            "Directories of small files",
            "Engine and hints",
            "Content and verification",
            "Lists of files",
            "Results",
            "Live figures",
        ],
        HelpPart::Hosts => &["Several hosts", "Network"],
        HelpPart::S3 => {
            &["Phases", "Run", "Object stores", "Requests on objects", "Phases of object stores"]
        }
        HelpPart::All => &[],
    };
    let mut text = String::from(
        "Usage: elbencho [OPTIONS] PATH [MORE_PATHS]\n\n\
         Paths: directories of many small files, files, block devices, or s3://BUCKET.\n\
         Long names may be shortened; sizes take one letter: K, M, G, T, P, E.\n",
    );
    for group in TABLE.0 {
        if titles.is_empty() || titles.contains(&group.title) {
            text += &format!("\n{}:\n{}", group.title, Table(std::slice::from_ref(group)).usage());
        }
    }
    text + "\n\
            Other parts: --help-large, --help-multi, --help-bdev, --help-dist, --help-s3, \
            --help-all.\n\
            `candor options elbencho` lists the support of each option.\n"
}
