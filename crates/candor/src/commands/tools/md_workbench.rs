//! `candor md-workbench …`, and the binary called as `md-workbench`: its phases, names, lines and
//! exit codes.
//!
//! Its users mean what they write, so nothing asks for consent: all that is made or removed has a
//! name of the sets.

mod convert;
mod files;
mod latencies;
mod run;

use std::ffi::OsString;

use candor_front::Coverage;
use candor_md_workbench::options::{self, Instead, Reading, TABLE};
use candor_md_workbench::plan;
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
const COMPLAINTS: Complaints<'_> =
    Complaints { tool: "md-workbench", file: None, exit_code: WRONG };

/// The tool.
pub const TOOL: Tool = Tool {
    name: "md-workbench",
    command: Some(command),
    main,
    matrix,
    coverage,
    page: Page::Derived,
    example: "candor md-workbench --ranks 4 -o /data/dir",
    converter: Some(Converter { of_file: |_, _| None, read: convert::read }),
    writer: None,
    has_report: true,
};

/// The command line, for the help; the words themselves never pass through it.
fn command() -> Command {
    Command::new("md-workbench")
        .about("Run md-workbench's command lines, with its phases, names and lines")
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
        "# Options of md-workbench\n\n\
         This page is reference: every option of md-workbench and its support in `candor \
         md-workbench …`, or candor called as\n`md-workbench`. The tables are derived from the \
         program; a test keeps them up to date.\n\n{}\n\
         Names on disk, the numbers of objects and the order of the operations are md-workbench's: \
         each finds sets and objects that the\nother made. No option needs consent. The exit \
         code is 0, or 1 if anything failed. The verdict follows the lines on a terminal, or\nis \
         written where `CANDOR_VERDICT` points; `CANDOR_HTML`, `CANDOR_JSON` and `CANDOR_METRICS` \
         also write candor's own results\n\
         ([variables](how-to/from-other-tools.md#candors-own-results-for-other-tools)).\n\n\
         {}{DIFFERENCES}",
        ranks::page("md-workbench"),
        TABLE.matrix()
    )
}

/// Where results are not those of md-workbench, as Markdown.
const DIFFERENCES: &str = "\
## Differences

- A rate counts successes: stats, reads, deletes and creates over the time of the slowest process. Failed operations are in no rate, a
  line reports number and reason, and the exit code is 1. md-workbench uses four times the reads, and counts a failed delete as one.
- A missing object fails in each operation on it, and the new one is created nevertheless; md-workbench continues with the next
  object, and has one less from then on.
- `-w` without `-W` continues to the count of the furthest process, like with `-W`: otherwise later phases would look for objects that
  do not exist. The line about the end of the time has the time of the last process.
- Between sets and objects, in creation and removal, all processes wait for each other; the times include both steps.
- The deviation of the time of one process is 0, not `-nan`.
- The seven latencies (least, quartiles, 90 %, 99 %, greatest) come from a histogram: all except the ends are within 1/64.
- The files of `-L` with `--latency-all` have the operations of all processes in order of completion, not one process after another.
- `--summary-format=JSON` or `CSV` writes one document instead of the text, or in addition to it in the file of `--summary-file`: each
  phase with operations, failures, rates, latencies, and objects and seconds of each process. JSON has the verdict under `candor`.
- On one host `-O` cannot avoid the caches: the kernel knows the objects of other processes. The verdict reports bytes from memory.
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
