//! `candor mdtest …`, and the binary called as `mdtest`: mdtest's phases, names, block of rates and
//! exit codes.
//!
//! Its users mean what they write, so nothing asks for consent: all that is made or removed has a
//! name of the test directories.

mod convert;
mod files;
mod operations;
mod run;
mod space;

use std::ffi::OsString;

use candor_front::Coverage;
use candor_mdtest::options::{self, Instead, Reading, TABLE};
use candor_mdtest::plan;
use clap::Command;

use crate::commands;
use crate::commands::foreign::Complaints;
use crate::commands::foreign::conversion::Converter;
use crate::commands::foreign::host::{HostEnvironment, ThisHost};
use crate::commands::foreign::ranks::{self, RankHosts, Ranked};
use crate::commands::foreign::tool::{Page, Tool, arguments};

/// Whatever goes wrong.
const WRONG: u8 = 1;

/// Complaints on stderr.
const COMPLAINTS: Complaints<'_> = Complaints { tool: "mdtest", file: None, exit_code: WRONG };

/// The tool.
pub const TOOL: Tool = Tool {
    name: "mdtest",
    command: Some(command),
    main,
    matrix,
    coverage,
    page: Page::Derived,
    example: "candor mdtest --ranks 4 -n 1000 -d /data/dir",
    converter: Some(Converter { of_file: |_, _| None, read: convert::read }),
    writer: None,
    has_report: true,
};

/// The command line, for the help; the words themselves never pass through it.
fn command() -> Command {
    Command::new("mdtest")
        .about("Run mdtest's command lines, with its phases, names and block of rates")
        .disable_help_flag(true)
        .after_help(options::help())
        .args(ranks::args())
        .arg(arguments())
}

/// How many of the options have an effect.
fn coverage() -> Coverage {
    TABLE.coverage()
}

/// Options, and what candor makes of them.
fn matrix() -> String {
    format!(
        "# Options of mdtest\n\n\
         This page is reference: every option of mdtest and its support in `candor mdtest …`, or \
         candor called as `mdtest`. The tables\nare derived from the program; a test keeps them \
         up to date.\n\n{}\n\
         Names on disk, numbers of items and the order of the phases are mdtest's: each finds \
         trees that the other made.\nNo option needs consent. The exit code is 0, or 1 where \
         mdtest would end. The verdict follows the block on a terminal without\na launcher, or \
         is written where `CANDOR_VERDICT` points; `CANDOR_HTML`, `CANDOR_JSON` and \
         `CANDOR_METRICS` also write\ncandor's own results\n([variables](how-to/from-other-tools.md#candors-own-results-for-other-tools)).\n\n\
         {}{DIFFERENCES}",
        ranks::page("mdtest"),
        TABLE.matrix()
    )
}

/// Where results are not those of mdtest, as Markdown.
const DIFFERENCES: &str = "\
## Differences

- A rate counts successes: tasks × the items per second of the slowest task. Failed items are in no rate, and a line reports number and
  reason; mdtest counts them as work. The exit code is 0 where mdtest only warns: failed mkdir, rmdir, stat, rename and unlink, short
  files, and wrong data. `--warningAsErrors` makes it 1.
- `-a DUMMY` counts operations of the null engine: nothing is made.
- Letters that mdtest skips, such as the `42` of `-R42`, have a note.
- The block of times has seconds of the phase, with a matching title. mdtest's title is in ms/op.
- Latencies of each operation on an item follow the block, in µs: mean, median, 90 %, 99 %, 99.9 % and greatest, over all tasks
  and iterations. A percentile needs ten samples beyond it.
- `--summary-format=JSON` or `CSV` writes one document instead of the text, or in addition to it in the file of `--summary-file`: each
  row of each iteration with items, failures, seconds, rate, latencies and the numbers of each task. JSON has the verdict under `candor`.
- With `-u`, `-N` and a tree of several levels, mdtest looks for directories of the wrong task and finds none; candor finds them. With
  `-n` and `-I` together and a tree of several levels, and with `-R` and several test directories, candor uses all items.
- `-W` ends the creation of files only. mdtest cuts the creation of directories as well, and counts directories that it did not make.
- `-S`: each removal of a shared file counts once, not once per task.
- `-B` is refused by mdtest's present version, with any other option.
- No test begins with a second of sleep.
- On one host `-N` cannot avoid the caches: the kernel knows the neighbour's files. The verdict reports bytes from memory.
";

/// Does what a command line asks for, the program's name first, and gives the exit code.
fn main(argv: &[OsString]) -> u8 {
    let Ranked { argv, hosts } = match ranks::ranked(argv, COMPLAINTS) {
        Ok(ranked) => ranked,
        Err(code) => return code,
    };
    let reading = options::read(&argv, &mut HostEnvironment);
    match reading.instead {
        Some(Instead::Help) => commands::printed(&(options::help() + &ranks::help())),
        None => benchmark(&reading, hosts.as_ref()),
    }
}

fn benchmark(reading: &Reading, hosts: Option<&RankHosts>) -> u8 {
    if !reading.errors.is_empty() {
        return COMPLAINTS.diagnostics(&reading.errors, &reading.texts);
    }
    match plan::lower(reading, &ThisHost::default()) {
        Ok(lowered) => run::main(&lowered, hosts),
        Err(errors) => COMPLAINTS.diagnostics(&errors, &reading.texts),
    }
}
