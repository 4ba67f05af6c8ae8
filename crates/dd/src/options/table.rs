//! The table of dd's operands.

use std::ops::RangeInclusive;

use super::{Distance, Options, Status};
use crate::number::{self, Number, Wrong};
use crate::quoting;
use crate::symbols::{CONVERSIONS, Chosen, FLAGS};
use candor_front::{Choice, Group, Plain, Refused, Table, Takes, ValueKind, bare, store};

/// The values of dd's operands.
pub type Value = Plain<Options>;

type Row = candor_front::Row<Value>;

/// Remedy for an unknown word.
pub(super) const TRY_HELP: &str = "Try 'dd --help' for more information.";

/// All operands, in the order of the manual.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Files", rows: FILES },
    Group { title: "Blocks", rows: BLOCKS },
    Group { title: "Manner", rows: MANNER },
]);

/// File names may contain any bytes, so the reader of the command line stores them.
#[rustfmt::skip]
const FILES: &[Row] = &[
    bare("if", Value::value("FILE"), "Read from FILE instead of stdin").exact("", "f"),
    bare("of", Value::value("FILE"), "Write to FILE instead of stdout").exact("", "f"),
];

#[rustfmt::skip]
const BLOCKS: &[Row] = &[
    Row::value("ibs", "BYTES", |o, t| size(t, o).map(|size| o.input_block = size),
        "Read BYTES at a time").default("512").exact("", "1k"),
    Row::value("obs", "BYTES", |o, t| size(t, o).map(|size| o.output_block = size),
        "Write BYTES at a time").default("512").exact("", "1k"),
    Row::value("bs", "BYTES", |o, t| size(t, o).map(|size| o.block = Some(size)),
        "Read and write BYTES at a time; overrides ibs and obs").exact("", "1k"),
    Row::value("cbs", "BYTES", record_bytes, "Convert records of BYTES (conv=block, unblock)")
        .exact("", "80"),
    Row::value("skip", "N", |o, t| distance(t, o).map(|skip| o.skip = skip), "Skip N input blocks")
        .alias(&["iseek"]).exact("", "3"),
    Row::value("seek", "N", |o, t| distance(t, o).map(|seek| o.seek = seek), "Skip N output blocks")
        .alias(&["oseek"]).exact("", "3"),
    Row::value("count", "N", |o, t| distance(t, o).map(|count| o.count = Some(count)),
        "Copy N input blocks [default: all]").exact("", "3"),
];

#[rustfmt::skip]
const MANNER: &[Row] = &[
    Row::value("conv", "WORDS", |o, t| choose(&mut o.conversions, t, "invalid conversion"),
        "Convert the data").exact("", "sync"),
    Row::value("iflag", "WORDS", |o, t| choose(&mut o.input_flags, t, "invalid input flag"),
        "Set flags of the input").exact("", "direct"),
    Row::value("oflag", "WORDS", |o, t| choose(&mut o.output_flags, t, "invalid output flag"),
        "Set flags of the output").exact("", "direct"),
    Row::value("status", "LEVEL", status, "Limit output on stderr: none, noxfer, progress")
        .exact("", "none"),
];

/// A number within bounds; a warning about it is added to the options.
fn number(
    text: &str,
    bounds: RangeInclusive<u64>,
    options: &mut Options,
) -> Result<Number, Refused> {
    let quoted = quoting::always(text.as_ref());
    if number::has_zero_multiplier(text) {
        let meant = "is a zero multiplier; use '00x' if that is intended";
        options.warnings.push(format!("warning: '0x' {meant}"));
    }
    let why = match number::read(text, *bounds.end()) {
        Ok(number) if bounds.contains(&number.value) => return Ok(number),
        Ok(_) | Err(Wrong::Form) => "",
        Err(Wrong::TooLarge) => ": Value too large for defined data type",
    };
    Err(Refused::whole(text, format!("invalid number: {quoted}{why}"), ""))
}

/// The size of a block, which must fit into a buffer.
fn size(text: &str, options: &mut Options) -> Result<usize, Refused> {
    const BYTES_MAX: u64 = (isize::MAX as u64) - (1 << 16);
    let number = number(text, 1..=BYTES_MAX, options)?;
    Ok(usize::try_from(number.value).unwrap_or(usize::MAX))
}

fn record_bytes(options: &mut Options, text: &str) -> Result<(), Refused> {
    options.record_bytes = Some(number(text, 1..=u64::MAX >> 1, options)?.value);
    Ok(())
}

fn distance(text: &str, options: &mut Options) -> Result<Distance, Refused> {
    let number = number(text, 0..=u64::MAX >> 1, options)?;
    Ok(Distance { number: number.value, in_bytes: number.in_bytes })
}

fn choose(chosen: &mut Chosen, list: &str, wrong: &str) -> Result<(), Refused> {
    chosen.add(list).map_err(|word| {
        let message = format!("{wrong}: {}", quoting::always(word.as_ref()));
        Refused::whole(list, message, TRY_HELP)
    })
}

fn status(options: &mut Options, text: &str) -> Result<(), Refused> {
    // The last level of a list counts.
    for level in text.split(',') {
        let level = match level {
            "none" => Status::None,
            "noxfer" => Status::NoTransfer,
            "progress" => Status::Progress,
            _ => {
                let message = format!("invalid status level: {}", quoting::always(level.as_ref()));
                return Err(Refused::whole(text, message, TRY_HELP));
            }
        };
        store(&mut options.status, level)?;
    }
    Ok(())
}

/// The text of `--help`.
pub fn help() -> String {
    let mut text = String::from(
        "usage: dd [OPERAND]...\n       dd --help | --version\n\n\
         Copy a file block by block, with conversions. On a terminal, or with\n\
         CANDOR_VERDICT=stderr|FILE, two more lines follow the closing lines: the meaning of the\n\
         rate, and a command that measures the storage.\n",
    );
    for group in TABLE.0 {
        text.push_str(&format!("\n{}:\n", group.title));
        for row in group.rows {
            let Takes::One(value) = row.kind.takes() else { continue };
            let names: Vec<_> = row.names().map(|name| format!("{name}={value}")).collect();
            let default = match row.default {
                "" => String::new(),
                default => format!(" ({default})"),
            };
            text.push_str(&format!("  {:<18} {}{default}\n", names.join(", "), row.help));
        }
    }
    let words = |head: &str, choices: &[Choice]| {
        let line = |choice: &Choice| format!("  {:<18} {}\n", choice.word, choice.help);
        format!("\n{head}:\n{}", choices.iter().map(line).collect::<String>())
    };
    text.push_str(&words("Words of conv, separated by commas", CONVERSIONS));
    text.push_str(&words("Words of iflag and oflag", FLAGS));
    text + "\n\
            Units: c is 1, w 2, b 512, k and K 1024, kB and KB 1000, likewise M, G, T, P and E.\n\
            MxN is a product. For skip, seek and count, an N with a B (1kB) is in bytes.\n\
            SIGUSR1 prints the closing lines, and the copy continues.\n\
            A mounted or busy device is written only if CANDOR_FORCE=1 is set.\n"
}
