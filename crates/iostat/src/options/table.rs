//! The table of iostat's options.

use super::{CounterDirectory, Entry, Options, Partitions, Unit};
use candor_front::{Group, Plain, Refused, Set, Table, bare, row, store};

/// A command line as read so far.
#[derive(Debug, Default)]
pub struct CommandLine {
    /// The options.
    pub(super) options: Options,
    /// Units, in the order of their options.
    pub(super) units: Vec<Unit>,
    /// Interval and count.
    pub(super) numbers: Vec<u64>,
    /// The option `-V`.
    pub(super) version: bool,
}

/// The values of iostat's options.
pub type Value = Plain<CommandLine>;

type Row = candor_front::Row<Value>;

/// A switch that is supported exactly. A name of one letter is also its letter.
const fn switch(name: &'static str, set: Set<CommandLine>, help: &'static str) -> Row {
    let switch = row(name, Value::SWITCH, set, help).exact("", "");
    match name.as_bytes() {
        [letter] => switch.letter(*letter as char),
        _ => switch,
    }
}

/// All options, in the order of the manual.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Reports", rows: REPORTS },
    Group { title: "Devices", rows: DEVICES },
    Group { title: "Form", rows: FORM },
]);

#[rustfmt::skip]
const REPORTS: &[Row] = &[
    switch("c", |c, _| store(&mut c.options.cpu, true), "Print CPU utilisation"),
    switch("d", |c, _| store(&mut c.options.devices, true), "Print devices"),
    switch("x", |c, _| store(&mut c.options.extended, true), "Print extended metrics"),
    switch("s", |c, _| store(&mut c.options.short, true), "Print fewer columns"),
    switch("y", |c, _| store(&mut c.options.skip_first, true), "Omit the report since boot"),
    switch("t", |c, _| store(&mut c.options.timestamp, true), "Print the time of each report"),
    switch("V", |c, _| store(&mut c.version, true), "Print the version"),
];

#[rustfmt::skip]
const DEVICES: &[Row] = &[
    Row::flag("p", "DEVICE,…|ALL", partitions, "Print partitions in addition").exact("", "ALL"),
    Row::value("g", "GROUP", group, "Group the devices that follow").exact("", "G"),
    switch("H", |c, _| store(&mut c.options.groups_only, true),
        "Print groups without their members"),
    switch("N", |c, _| store(&mut c.options.mapped_names, true),
        "Print names of the device mapper"),
    switch("z", |c, _| store(&mut c.options.skip_idle, true), "Omit idle devices"),
    bare("j", Value::value("TYPE"), "Print persistent names").letter('j')
        .refused("", "names come from the kernel, or with -N from the device mapper"),
    Row::value("f", "DIRECTORY", |c, t| directory(c, t, false),
        "Read block/DEVICE/stat and diskstats in DIRECTORY; +f adds the kernel's devices")
        .exact("", "/dir"),
];

#[rustfmt::skip]
const FORM: &[Row] = &[
    switch("k", |c, _| { c.units.push(Unit::Kilo); Ok(()) }, "Print amounts in kB"),
    switch("m", |c, _| { c.units.push(Unit::Mega); Ok(()) }, "Print amounts in MB"),
    switch("h", |c, _| {
        (c.options.human, c.options.pretty) = (true, true);
        Ok(())
    }, "Same as --human --pretty"),
    switch("human", |c, _| store(&mut c.options.human, true), "Print each amount with its unit"),
    switch("pretty", |c, _| store(&mut c.options.pretty, true), "Print names at the end of lines"),
    switch("compact", |c, _| store(&mut c.options.compact, true), "Print all columns on one line"),
    Row::value("dec", "0|1|2", decimals, "Print this number of decimals").exact("", "1"),
    Row::value("o", "JSON", format, "Print JSON instead of text").exact("", "JSON"),
];

fn decimals(line: &mut CommandLine, text: &str) -> Result<(), Refused> {
    line.options.decimals = match text {
        "0" => 0,
        "1" => 1,
        "2" => 2,
        _ => {
            let message = format!("`--dec={text}`: decimals are --dec=0, --dec=1 or --dec=2");
            return Err(Refused::whole(text, message, ""));
        }
    };
    Ok(())
}

fn format(line: &mut CommandLine, text: &str) -> Result<(), Refused> {
    match text {
        "JSON" => line.options.json = true,
        "" => return Err(Refused::whole(text, "`-o` needs the word JSON", "")),
        other => {
            let message = format!("`-o {other}`: the only format is JSON, in capitals");
            return Err(Refused::whole(text, message, ""));
        }
    }
    Ok(())
}

/// The directory of `-f`, or of `+f`, which adds it to the kernel's devices.
pub(super) fn directory(
    line: &mut CommandLine,
    text: &str,
    with_kernel: bool,
) -> Result<(), Refused> {
    if text.is_empty() {
        return Err(Refused::whole(text, "`-f` needs the name of a directory", ""));
    }
    let path = text.into();
    store(&mut line.options.directory, Some(CounterDirectory { path, with_kernel }))
}

fn group(line: &mut CommandLine, text: &str) -> Result<(), Refused> {
    if text.is_empty() {
        return Err(Refused::whole(text, "`-g` needs the name of a group", ""));
    }
    line.options.entries.push(Entry::Group(text.to_owned()));
    Ok(())
}

fn partitions(line: &mut CommandLine, text: &str) -> Result<(), Refused> {
    match text {
        "" => line.widen(Partitions::Used),
        "ALL" => line.widen(Partitions::All),
        // A number after `-p` is the interval.
        number if is_number(number) => {
            line.widen(Partitions::Used);
            line.operand(number)?;
        }
        names => {
            for name in names.split(',').filter(|name| !name.is_empty()) {
                line.options.entries.push(Entry::WithPartitions(device(name)));
            }
        }
    }
    Ok(())
}

impl CommandLine {
    fn widen(&mut self, partitions: Partitions) {
        if self.options.partitions != Partitions::All {
            self.options.partitions = partitions;
        }
    }

    /// A device, the interval or the count.
    pub(super) fn operand(&mut self, word: &str) -> Result<(), Refused> {
        let refused = |message: String| Err(Refused::whole(word, message, ""));
        match word {
            "" => return refused("an empty word names no device".to_owned()),
            "ALL" => self.options.entries.push(Entry::All),
            _ if is_number(word) => match word.parse::<u32>() {
                Ok(number) => self.numbers.push(u64::from(number)),
                Err(_) => return refused(format!("`{word}` is too large a number")),
            },
            _ => self.options.entries.push(Entry::Device(device(word))),
        }
        Ok(())
    }
}

/// The kernel's name of `/dev/sda`, with `!` for each `/` in the node's name.
fn device(word: &str) -> String {
    word.strip_prefix("/dev/").unwrap_or(word).replace('/', "!")
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_front::evidence::{self, Sources};

    #[test]
    fn every_option_is_stored_and_read() {
        let readers = [
            "candor/src/commands/watch",
            "candor/src/commands/watch.rs",
            "iostat/src/lib.rs",
            "iostat/src/columns.rs",
            "iostat/src/json.rs",
            "iostat/src/options/read.rs",
            "iostat/src/rows.rs",
            "iostat/src/text.rs",
        ];
        let sources = Sources::of(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), &readers);
        let broken = evidence::unread_settings(&TABLE, &sources);
        assert!(broken.is_empty(), "{broken:#?}");
    }

    #[test]
    fn names_are_unique_and_refusals_have_reasons() {
        for row in TABLE.rows() {
            assert!(TABLE.rows().filter(|other| other.name == row.name).count() == 1);
            assert!(row.is_done() || !row.support.reason().is_empty(), "{}", row.name);
        }
    }
}
