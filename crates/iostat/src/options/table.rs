//! The table of iostat's options.

use super::{CounterDirectory, Entry, Options, Partitions, Unit};
use candor_front::{Group, Plain, Refused, Row, Set, Table, bare, row, store};

/// The options so far, and what decides only together.
#[derive(Debug, Default)]
pub struct Draft {
    /// The options.
    pub(super) options: Options,
    /// Units that were asked for.
    pub(super) units: Vec<Unit>,
    /// Interval and count.
    pub(super) numbers: Vec<u64>,
    /// The version is asked for.
    pub(super) version: bool,
}

/// The values of iostat's options.
pub type Value = Plain<Draft>;

const fn switch(letter: &'static str, set: Set<Draft>, help: &'static str) -> Row<Value> {
    row(letter, Value::SWITCH, set, help).letter(letter.as_bytes()[0] as char).exact("", "")
}

const fn long(name: &'static str, set: Set<Draft>, help: &'static str) -> Row<Value> {
    row(name, Value::SWITCH, set, help).exact("", "")
}

/// All options, in the order of the manual.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Reports", rows: REPORTS },
    Group { title: "Devices", rows: DEVICES },
    Group { title: "Form", rows: FORM },
]);

#[rustfmt::skip]
const REPORTS: &[Row<Value>] = &[
    switch("c", |d, _| store(&mut d.options.cpu, true), "time of the CPUs"),
    switch("d", |d, _| store(&mut d.options.devices, true), "devices"),
    switch("x", |d, _| store(&mut d.options.extended, true), "extended figures"),
    switch("s", |d, _| store(&mut d.options.short, true), "fewer columns"),
    switch("y", |d, _| store(&mut d.options.skip_first, true), "no report since boot"),
    switch("t", |d, _| store(&mut d.options.timestamp, true), "the time of each report"),
    switch("V", |d, _| store(&mut d.version, true), "the version"),
];

#[rustfmt::skip]
const DEVICES: &[Row<Value>] = &[
    row("p", Value::maybe("DEVICE,…|ALL"), partitions, "partitions as well").letter('p')
        .exact("", "ALL"),
    row("g", Value::value("GROUP"), group, "the devices that follow as a group").letter('g')
        .exact("", "G"),
    switch("H", |d, _| store(&mut d.options.groups_only, true), "groups without their members"),
    switch("N", |d, _| store(&mut d.options.mapped_names, true), "names of the device mapper"),
    switch("z", |d, _| store(&mut d.options.skip_idle, true), "no devices that did nothing"),
    bare("j", Value::value("TYPE"), "persistent names").letter('j')
        .refused("", "names come from the kernel, or with -N from the device mapper"),
    row("f", Value::value("DIRECTORY"), |d, t| directory(d, t, false),
        "counters of block/DEVICE/stat and diskstats in that directory; +f: add the kernel's")
        .letter('f').exact("", "/dir"),
];

#[rustfmt::skip]
const FORM: &[Row<Value>] = &[
    switch("k", |d, _| { d.units.push(Unit::Kilo); Ok(()) }, "amounts in kB"),
    switch("m", |d, _| { d.units.push(Unit::Mega); Ok(()) }, "amounts in MB"),
    switch("h", |d, _| {
        (d.options.human, d.options.pretty) = (true, true);
        Ok(())
    }, "--human and --pretty"),
    long("human", |d, _| store(&mut d.options.human, true), "a unit with each amount"),
    long("pretty", |d, _| store(&mut d.options.pretty, true), "names at the end of lines"),
    long("compact", |d, _| store(&mut d.options.compact, true), "all columns on one line"),
    row("dec", Value::value("0|1|2"), decimals, "decimals").exact("", "1"),
    row("o", Value::value("JSON"), format, "JSON instead of text").letter('o').exact("", "JSON"),
];

fn decimals(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    draft.options.decimals = match text {
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

fn format(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    match text {
        "JSON" => draft.options.json = true,
        "" => return Err(Refused::whole(text, "`-o` needs the word JSON", "")),
        other => {
            let message = format!("`-o {other}`: the only format is JSON, in capitals");
            return Err(Refused::whole(text, message, ""));
        }
    }
    Ok(())
}

/// The directory of `-f`, or of `+f`, which adds its counters to the kernel's.
pub(super) fn directory(draft: &mut Draft, text: &str, with_kernel: bool) -> Result<(), Refused> {
    if text.is_empty() {
        return Err(Refused::whole(text, "`-f` needs the name of a directory", ""));
    }
    let path = text.into();
    store(&mut draft.options.directory, Some(CounterDirectory { path, with_kernel }))
}

fn group(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    if text.is_empty() {
        return Err(Refused::whole(text, "`-g` needs the name of a group", ""));
    }
    draft.options.entries.push(Entry::Group(text.to_owned()));
    Ok(())
}

fn partitions(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    match text {
        "" => draft.widen(Partitions::Used),
        "ALL" => draft.widen(Partitions::All),
        // A number behind `-p` is the interval, as it is everywhere else.
        number if is_number(number) => {
            draft.widen(Partitions::Used);
            draft.operand(number)?;
        }
        names => {
            for name in names.split(',').filter(|name| !name.is_empty()) {
                draft.options.entries.push(Entry::WithPartitions(device(name)));
            }
        }
    }
    Ok(())
}

impl Draft {
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

/// The kernel's name of `/dev/sda`; it has `!` where names of nodes have `/`.
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
