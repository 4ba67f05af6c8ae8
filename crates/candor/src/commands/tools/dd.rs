//! `candor dd …`, and the binary called as `dd`: GNU dd, and what its rate measures.
//!
//! People's data depends on it: it copies as dd does, asks no consent, and does nothing before the
//! first block that dd would not do, but for counters that are read where somebody reads the
//! sentence behind the closing lines. Only a device that others hold is not written.

mod evidence;
mod files;
mod observer;

use std::cell::Cell;
use std::ffi::OsString;
use std::os::fd::AsFd;

use candor_copy::{Amount, Convert, CopyPlan, Flush, Put, WriteFailed, copy, process};
use candor_dd::convert::Conversion;
use candor_dd::lines::size;
use candor_dd::options::{self, Distance, Options, Request, Status};
use candor_front::{About, Coverage};

use self::evidence::Evidence;
use self::files::{Files, cause};
use self::observer::Closing;
use crate::commands::foreign::launch::is_launched;
use crate::commands::foreign::tool::{Entry, Page, Tool};
use crate::commands::foreign::verdict::Verdict;
use crate::{commands, screen};

/// Whatever goes wrong.
const FAILED: u8 = 1;

/// Description.
const ABOUT: About = About {
    name: "dd",
    summary: "Copy a file as GNU dd does, and report what its rate measures",
    example: "candor dd if=/data/file of=/dev/null bs=1M",
    help: options::help,
    page: matrix,
    coverage,
};

/// The tool.
pub const TOOL: Tool = Tool {
    about: &ABOUT,
    entry: Entry::Own,
    main,
    page: Page::Written("how-to/from-other-tools.md#dd"),
    converter: None,
    writer: None,
    has_report: false,
};

/// How many of the options have an effect.
fn coverage() -> Coverage {
    options::TABLE.coverage()
}

/// Operands, and what candor makes of them.
fn matrix() -> String {
    format!("# Operands of dd\n\n{}", options::TABLE.matrix())
}

/// Does what a command line asks for, the program's name first, and gives the exit code.
fn main(argv: &[OsString]) -> u8 {
    match options::read(argv) {
        Ok(Request::Help) => commands::printed(&options::help()),
        Ok(Request::Version) => commands::printed(&format!(
            "dd (candor {}), with the operands of GNU coreutils 9\n",
            env!("CARGO_PKG_VERSION")
        )),
        Ok(Request::Copy(options)) => {
            tell(&options.warnings);
            copied(&options).unwrap_or_else(|sentence| {
                tell(&[sentence]);
                FAILED
            })
        }
        Err(mistake) => {
            tell(&mistake.sentences);
            if !mistake.remedy.is_empty() {
                screen::tell(&format!("{}\n", mistake.remedy));
            }
            FAILED
        }
    }
}

fn tell(sentences: &[String]) {
    screen::tell(&candor_front::failures::lines("dd", sentences));
}

/// Copies, and gives the exit code. The error is a sentence, after which no closing lines follow.
fn copied(options: &Options) -> Result<u8, String> {
    process::take_signals(std::env::var_os("POSIXLY_CORRECT").is_none());
    let files = Files::open(options)?;
    let verdict = Verdict::chosen();
    let evidence = is_wanted(&verdict, options).then(Evidence::begin);
    let truncated = Cell::new(0);
    let conversion = Conversion::of(options);
    let mut converter = conversion.map(|of| Converter { of, truncated: &truncated });
    let convert = converter.as_mut().map(|converter| converter as &mut dyn Convert);
    let mut closing = Closing::new(options, &files, &truncated);
    let plan = plan(options);
    let (input, output) = (files.input.as_fd(), files.output.as_fd());
    let ended = copy(&plan, input, output, convert, &mut closing).map_err(|memory| {
        let which = if memory.is_output { "output" } else { "input" };
        let human = size(memory.bytes as u64, 1024);
        format!("memory exhausted by {which} buffer of size {} bytes ({human})", memory.bytes)
    })?;
    // The counters belong to the copy, not to what follows it.
    let evidence = evidence.map(Evidence::end);
    let wanted = evidence.filter(|_| ended.is_good && ended.counts.bytes_read > 0);
    close(files)?;
    closing.print(&ended.counts);
    if let Some(signal) = process::interrupt() {
        process::end_by(signal);
    }
    if let Some(evidence) = wanted {
        say(&verdict, &evidence.text(options, &ended.counts))?;
    }
    Ok(if ended.is_good { 0 } else { FAILED })
}

/// Somebody reads what the rate measures.
fn is_wanted(verdict: &Verdict, options: &Options) -> bool {
    match verdict {
        Verdict::WithResults => {
            options.status != Status::None && !is_launched() && screen::is_read_by_a_person()
        }
        Verdict::Off => false,
        Verdict::Stderr | Verdict::File(_) => true,
    }
}

fn say(verdict: &Verdict, text: &str) -> Result<(), String> {
    match verdict {
        Verdict::WithResults => screen::tell(text),
        verdict => verdict.deliver(text)?,
    }
    Ok(())
}

/// Closes both files; an error may have waited for that.
fn close(files: Files) -> Result<(), String> {
    let Files { input, input_name, output, output_name, .. } = files;
    process::close(input).map_err(|error| {
        format!("closing input file {}: {}", input_name.quoted(), cause(&error))
    })?;
    process::close(output)
        .map_err(|error| format!("closing output file {}: {}", output_name.quoted(), cause(&error)))
}

/// The copy in sizes and manners.
fn plan(options: &Options) -> CopyPlan {
    let (input, output) = (options.input_block, options.output_block);
    let has = |word| options.has(word);
    let pad = if options.records.is_some() { b' ' } else { 0 };
    let (reads, writes) = (options.input_flags, options.output_flags);
    let count = options.count.map(|count| amount(count, input));
    let skip = amount(options.skip, input);
    let counts_blocks = skip.blocks > 0 || count.is_some_and(|count| count.blocks > 0);
    let is_direct = reads.has("direct") || writes.has("direct");
    let whole_blocks = reads.has("fullblock");
    let one_to_one = options.block.is_some() && !options.transforms();
    CopyPlan {
        input_block: input,
        output_block: output,
        skip,
        seek: amount(options.seek, output),
        count,
        one_to_one,
        pad: has("sync").then_some(pad),
        whole_blocks,
        tells_short_read: one_to_one && !whole_blocks && (counts_blocks || is_direct),
        survives_read_errors: has("noerror"),
        sparse: has("sparse"),
        input_direct: reads.has("direct"),
        output_direct: writes.has("direct"),
        drops_input_pages: reads.has("nocache"),
        drops_output_pages: writes.has("nocache"),
        flush: match (has("fsync"), has("fdatasync")) {
            (true, _) => Some(Flush::All),
            (false, true) => Some(Flush::Data),
            (false, false) => None,
        },
    }
}

fn amount(distance: Distance, block: usize) -> Amount {
    let block = block as u64;
    if distance.in_bytes {
        // The rest is less than a block, which fits memory.
        Amount { blocks: distance.number / block, bytes: (distance.number % block) as usize }
    } else {
        Amount { blocks: distance.number, bytes: 0 }
    }
}

/// dd's conversions as steps of the copy.
struct Converter<'a> {
    of: Conversion,
    truncated: &'a Cell<u64>,
}

impl Convert for Converter<'_> {
    fn convert(&mut self, block: &mut [u8], put: Put<'_>) -> Result<(), WriteFailed> {
        let done = self.of.convert(block, put);
        self.truncated.set(self.of.truncated());
        done
    }

    fn finish(&mut self, put: Put<'_>) -> Result<(), WriteFailed> {
        self.of.finish(put)
    }
}
