//! The table of dd's operands.

use super::{Distance, Options, Status};
use crate::number::{self, Number, Wrong};
use crate::quoting;
use crate::symbols::{CONVERSIONS, Chosen, FLAGS};
use candor_front::{Choice, Group, Plain, Refused, Row, Table, Takes, ValueKind, bare, row, store};

/// The operands so far, and what decides only together.
#[derive(Debug, Default)]
pub struct Draft {
    /// The options.
    pub(super) options: Options,
    /// The one size of all blocks (`bs=`).
    pub(super) block: Option<usize>,
    /// Sentences that warn.
    pub(super) warnings: Vec<String>,
}

/// The values of dd's operands.
pub type Value = Plain<Draft>;

/// The remedy behind a word that is none of those known.
pub(super) const TRY_HELP: &str = "Try 'dd --help' for more information.";

/// All operands, in the order of the manual.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Files", rows: FILES },
    Group { title: "Blocks", rows: BLOCKS },
    Group { title: "Manner", rows: MANNER },
]);

/// Names of files may be any bytes, so the reader of the command line stores them.
#[rustfmt::skip]
const FILES: &[Row<Value>] = &[
    bare("if", Value::value("FILE"), "the input; standard input without it").exact("", "f"),
    bare("of", Value::value("FILE"), "the output; standard output without it").exact("", "f"),
];

#[rustfmt::skip]
const BLOCKS: &[Row<Value>] = &[
    row("ibs", Value::value("BYTES"), |d, text| {
        d.options.input_block = d.size(text)?;
        Ok(())
    }, "size of a read").default("512").exact("", "1k"),
    row("obs", Value::value("BYTES"), |d, text| {
        d.options.output_block = d.size(text)?;
        Ok(())
    }, "size of a write").default("512").exact("", "1k"),
    row("bs", Value::value("BYTES"), |d, text| {
        d.block = Some(d.size(text)?);
        Ok(())
    }, "size of a read and of its write; ibs and obs count no more").exact("", "1k"),
    row("cbs", Value::value("BYTES"), |d, text| {
        d.options.record_bytes = Some(d.number(text, 1, u64::MAX >> 1)?.value);
        Ok(())
    }, "size of a record of conv=block and unblock").exact("", "80"),
    row("skip", Value::value("N"), |d, text| {
        d.options.skip = d.distance(text)?;
        Ok(())
    }, "input blocks to pass over").alias(&["iseek"]).exact("", "3"),
    row("seek", Value::value("N"), |d, text| {
        d.options.seek = d.distance(text)?;
        Ok(())
    }, "output blocks to pass over").alias(&["oseek"]).exact("", "3"),
    row("count", Value::value("N"), |d, text| {
        d.options.count = Some(d.distance(text)?);
        Ok(())
    }, "input blocks to copy; all without it").exact("", "3"),
];

#[rustfmt::skip]
const MANNER: &[Row<Value>] = &[
    row("conv", Value::value("WORDS"), |d, text| {
        choose(&mut d.options.conversions, text, "invalid conversion")
    }, "conversions").exact("", "sync"),
    row("iflag", Value::value("WORDS"), |d, text| {
        choose(&mut d.options.input_flags, text, "invalid input flag")
    }, "flags of the input").exact("", "direct"),
    row("oflag", Value::value("WORDS"), |d, text| {
        choose(&mut d.options.output_flags, text, "invalid output flag")
    }, "flags of the output").exact("", "direct"),
    row("status", Value::value("LEVEL"), status, "output on stderr: none, noxfer, progress")
        .exact("", "none"),
];

impl Draft {
    /// A number within bounds.
    fn number(&mut self, text: &str, min: u64, max: u64) -> Result<Number, Refused> {
        let quoted = quoting::always(text.as_ref());
        let wrong = |why: &str| {
            let message = format!("invalid number: {quoted}{why}");
            Refused::whole(text, message, "")
        };
        let number = number::read(text, max);
        if number::has_zero_multiplier(text) {
            let meant = "is a zero multiplier; use '00x' if that is intended";
            self.warnings.push(format!("warning: '0x' {meant}"));
        }
        match number {
            Ok(number) if number.value >= min => Ok(number),
            Ok(_) | Err(Wrong::Form) => Err(wrong("")),
            Err(Wrong::TooLarge) => Err(wrong(": Value too large for defined data type")),
        }
    }

    /// The size of a block, which a buffer of that size must be able to hold.
    fn size(&mut self, text: &str) -> Result<usize, Refused> {
        const BYTES_MAX: u64 = (isize::MAX as u64) - (1 << 16);
        let number = self.number(text, 1, BYTES_MAX)?;
        Ok(usize::try_from(number.value).unwrap_or(usize::MAX))
    }

    fn distance(&mut self, text: &str) -> Result<Distance, Refused> {
        let number = self.number(text, 0, u64::MAX >> 1)?;
        Ok(Distance { number: number.value, in_bytes: number.in_bytes })
    }
}

fn choose(chosen: &mut Chosen, list: &str, wrong: &str) -> Result<(), Refused> {
    chosen.add(list).map_err(|word| {
        let message = format!("{wrong}: {}", quoting::always(word.as_ref()));
        Refused::whole(list, message, TRY_HELP)
    })
}

fn status(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    // Of several levels in a list the last counts.
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
        store(&mut draft.options.status, level)?;
    }
    Ok(())
}

/// The text of `--help`.
pub fn help() -> String {
    let mut text = String::from(
        "usage: dd [OPERAND]...\n       dd --help | --version\n\n\
         Copies a file, block by block, and converts it on the way. What the rate measures, and the\n\
         command that measures the storage, stand behind the closing lines on a terminal, or where\n\
         CANDOR_VERDICT=stderr|FILE says so.\n",
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
    text.push_str(&words("Words of conv, with commas between", CONVERSIONS));
    text.push_str(&words("Words of iflag and oflag", FLAGS));
    text + "\n\
            Numbers: c is 1, w 2, b 512, k and K 1024, kB and KB 1000, and so on for M, G, T, P, \
            E;\n\
            MxN is a product; N of skip, seek and count that has a B, as 1kB has, is in bytes.\n\
            SIGUSR1 prints the closing lines, and the copy continues.\n\
            A device that is mounted or in use is not written, unless CANDOR_FORCE=1 is set.\n"
}
