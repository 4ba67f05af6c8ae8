//! `candor mdtest …`, and the binary called as `mdtest`: mdtest's phases, names, block of rates and
//! exit codes.
//!
//! Its users mean what they write, so nothing asks for consent: all that is made or removed has a
//! name of the test directories.

mod files;
mod host;
mod operations;
mod run;

use std::ffi::OsString;

use candor_dialects::kit::Coverage;
use candor_dialects::mdtest::options::{self, Instead, Reading, TABLE};
use candor_dialects::mdtest::plan;
use clap::{Arg, Command};

pub use self::host::ThisHost;
use super::foreign::Complaints;
use super::foreign::host::HostEnvironment;
use super::foreign::ranks::{self, RankHosts, Ranked};
use crate::commands;

/// Whatever goes wrong.
const WRONG: u8 = 1;

/// Complaints on stderr.
const COMPLAINTS: Complaints<'_> = Complaints { tool: "mdtest", file: None };

/// The command line, for the help; the words themselves never pass through it.
pub fn command() -> Command {
    Command::new("mdtest")
        .about("Run mdtest's command lines, with its phases, names and block of rates")
        .disable_help_flag(true)
        .after_help(options::help())
        .args(ranks::args())
        .arg(Arg::new("WORDS").num_args(0..).allow_hyphen_values(true).trailing_var_arg(true))
}

/// How many of the options have an effect.
pub fn coverage() -> Coverage {
    TABLE.coverage()
}

/// Options, and what candor makes of them.
pub fn matrix() -> String {
    format!(
        "# Options of mdtest\n\n\
         `candor mdtest …`, or candor called as `mdtest`, takes them. The tables are derived from \
         the program; a test keeps them so.\n\n{}\n\
         Names on disk, numbers of items and the order of the phases are mdtest's: a tree that one \
         made the other one finds.\nNothing asks for consent. The exit code is 0, or 1 where \
         mdtest would end. The verdict follows the block on a terminal that no \
         launcher has made, or goes\nwhere \
         `CANDOR_VERDICT` says; `CANDOR_HTML`, `CANDOR_JSON` and `CANDOR_METRICS` also write \
         candor's own results\n([variables](how-to/from-other-tools.md#candors-own-results-for-other-tools)).\n\n\
         {}{DIFFERENCES}",
        ranks::page("mdtest"),
        TABLE.matrix()
    )
}

/// Where results are not those of mdtest, as Markdown.
const DIFFERENCES: &str = "\
## Differences

- A rate counts what succeeded: tasks × the items per second of the slowest task. Items that failed are in no rate, and a line says
  how many and why; mdtest counts them as work. The exit code is 0 where mdtest only warns: of mkdir, rmdir, stat, rename and unlink that
  fail, of files that are too short, of data that is not what was written. `--warningAsErrors` makes it 1.
- `-a DUMMY` counts operations of the null engine: nothing is made.
- Letters that mdtest skips, such as the `42` of `-R42`, have a note.
- The block of times holds seconds of the phase, and is titled so. mdtest titles it in ms/op.
- Below the block are latencies of each operation on an item, in µs: mean, median, 90 %, 99 %, 99.9 % and greatest, over all tasks
  and iterations. A percentile is given where ten samples lie beyond it.
- `--summary-format=JSON` or `CSV` gives one document in place of the text, or beside it in the file of `--summary-file`: each row of
  each iteration with items, failures, seconds, rate, latencies and the figures of each task. JSON has the verdict under `candor`.
- With `-u`, `-N` and a tree of several levels, mdtest looks for directories of the wrong task and finds none; candor finds them. With
  `-n` and `-I` together and a tree of several levels, and with `-R` and several test directories, all items are worked on.
- `-W` ends the creation of files only. mdtest cuts the creation of directories as well, and counts those that it did not make.
- `-S`: each removal of a shared file counts once, not once per task.
- `-B` is refused by mdtest's present version, whatever other options are given.
- There is no second of sleep before each test.
- On one host `-N` cannot avoid the caches: the neighbour's files are known to the same kernel. The verdict tells what came from
  memory.
";

/// Does what a command line asks for, the program's name first, and gives the exit code.
pub fn main(argv: &[OsString]) -> u8 {
    let Ranked { argv, hosts } = match ranks::ranked(argv, ("mdtest", WRONG)) {
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
        COMPLAINTS.diagnostics(&reading.errors, &reading.texts);
        return WRONG;
    }
    match plan::lower(reading, &ThisHost) {
        Ok(lowered) => run::main(&lowered, hosts),
        Err(errors) => {
            COMPLAINTS.diagnostics(&errors, &reading.texts);
            WRONG
        }
    }
}
