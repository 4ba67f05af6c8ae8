//! `candor ior …`, and the binary called as `ior`: IOR's phases, tables and scripts, without MPI.
//!
//! Its users mean what they write, so nothing asks for consent; only a device that is mounted or
//! held is not written, unless `CANDOR_FORCE=1` insists.

mod convert;
mod drive;
mod host;
mod run;

use std::ffi::OsString;

use candor_front::{About, Coverage};
use candor_ior::options::{self, Instead, Reading, TABLE};

use crate::commands;
use crate::commands::foreign::Complaints;
use crate::commands::foreign::conversion::Converter;
use crate::commands::foreign::host::HostEnvironment;
use crate::commands::foreign::ranks::{self, RankHosts, Ranked};
use crate::commands::foreign::tool::{Entry, Page, Tool};

/// Whatever goes wrong.
const WRONG: u8 = 1;

/// Complaints on stderr.
const COMPLAINTS: Complaints<'_> = Complaints { tool: "ior", file: None, exit_code: WRONG };

/// Description.
const ABOUT: About = About {
    name: "ior",
    summary: "Run IOR's command lines and scripts, with its tables, without MPI",
    example: "candor ior --ranks 4 -w -r -t 1m -b 256m -o /data/file",
    help: options::help,
    page: matrix,
    coverage,
};

/// The tool.
pub const TOOL: Tool = Tool {
    about: &ABOUT,
    entry: Entry::Ranked,
    main,
    page: Page::Derived,
    converter: Some(Converter { of_file: convert::of_file, read: convert::read }),
    writer: None,
    has_report: true,
};

/// How many of the options have an effect.
fn coverage() -> Coverage {
    TABLE.coverage()
}

/// Options with their letters, and what candor makes of them.
fn matrix() -> String {
    let mut tables = TABLE.matrix();
    for row in TABLE.rows() {
        if let Some(letter) = row.letter {
            let name = format!("| `{}`", row.name);
            tables = tables.replacen(&name, &format!("| `-{letter}`, `{}`", row.name), 1);
        }
    }
    include_str!("ior/matrix.md").to_owned() + &tables
}

/// Does what a command line asks for, the program's name first, and gives the exit code.
fn main(argv: &[OsString]) -> u8 {
    let Ranked { argv, hosts } = match ranks::ranked(argv, COMPLAINTS) {
        Ok(ranked) => ranked,
        Err(code) => return code,
    };
    let mut reading = options::read(&argv, &mut HostEnvironment);
    if let Some(hosts) = &hosts {
        // -C and -Z reckon with these hosts, unless a variable says otherwise.
        reading.fake.nodes.get_or_insert(hosts.count());
        reading.fake.tasks_per_node.get_or_insert(hosts.nodes().ranks_each);
        reading.on_several_hosts = true;
    }
    match reading.instead {
        Some(Instead::Help) => commands::printed(&(options::help() + &ranks::help())),
        None => tests(&reading, hosts.as_ref()),
    }
}

fn tests(reading: &Reading, hosts: Option<&RankHosts>) -> u8 {
    if !reading.errors.is_empty() {
        return COMPLAINTS.diagnostics(&reading.errors, &reading.texts);
    }
    let lowered = match host::lowered(reading, hosts) {
        Ok(lowered) => lowered,
        Err(sentence) => return COMPLAINTS.sentence(&sentence),
    };
    match lowered {
        Ok(lowered) if lowered.setup.output.dry_run => run::dry(&lowered, hosts),
        Ok(lowered) => run::main(reading, &lowered, hosts),
        Err(errors) => COMPLAINTS.diagnostics(&errors, &reading.texts),
    }
}
