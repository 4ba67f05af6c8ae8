//! `candor vdbench …`, and the binary called as `vdbench`: parameter files, files of results, and
//! exit codes of vdbench.
//!
//! Its users mean what they write, so nothing asks for consent; only a device that is mounted or
//! held is not written, unless `CANDOR_FORCE=1` insists.

mod anchors;
mod convert;
mod drive;
mod hosts;
mod monitor;
mod outcome;
mod pages;
mod run;
mod utilities;

use std::ffi::OsString;

use candor_front::Diagnostic;
use candor_vdbench::ABOUT;
use candor_vdbench::lower::{Lowered, Request, Systems, lower, refused};
use candor_vdbench::options::{self, Instead, Reading};
use candor_vdbench::runs::expand;

use crate::commands;
use crate::commands::foreign::Complaints;
use crate::commands::foreign::conversion::Converter;
use crate::commands::foreign::host::{HostEnvironment, ThisHost};
use crate::commands::foreign::tool::{Entry, Page, Tool};

/// Exit code of whatever goes wrong: words or files are refused, work fails, data are corrupt.
const FAILED: u8 = 157;

/// Exit code of a run that the user interrupted.
const INTERRUPTED: u8 = 1;

/// Complaints on stderr.
const COMPLAINTS: Complaints<'_> = Complaints { tool: "vdbench", file: None, exit_code: FAILED };

/// The tool.
pub const TOOL: Tool = Tool {
    about: &ABOUT,
    entry: Entry::Own,
    main,
    page: Page::Derived,
    converter: Some(Converter { of_file: convert::of_file, read: convert::read }),
    writer: None,
    has_report: true,
};

/// Does what a command line asks for, the program's name first, and gives the exit code.
fn main(argv: &[OsString]) -> u8 {
    match argv.get(1).and_then(|word| word.to_str()) {
        Some("parseflat") => return utilities::parse_flat(&argv[2..]),
        Some("compare") => return utilities::compare(&argv[2..]),
        Some(word) if utilities::OTHERS.contains(&word) => return utilities::refused(word),
        _ => {}
    }
    let reading = options::read(argv, &mut HostEnvironment);
    match reading.instead {
        Some(Instead::Help) => return commands::printed(&(ABOUT.help)()),
        Some(Instead::Version) => {
            let version = env!("CARGO_PKG_VERSION");
            return commands::printed(&format!(
                "vdbench (candor {version}), with the parameters of vdbench 5.04.07\n"
            ));
        }
        None => {}
    }
    match lowered(&reading) {
        Ok(lowered) => run::main(&reading, lowered),
        Err(errors) => COMPLAINTS.diagnostics(&errors, &reading.texts),
    }
}

/// The runs of a command line.
pub fn lowered(reading: &Reading) -> Result<Lowered, Vec<Diagnostic>> {
    if !reading.errors.is_empty() {
        return Err(reading.errors.clone());
    }
    let runs = expand(&reading.file)?;
    if runs.is_empty() {
        let error = Diagnostic::nowhere("runs", "the parameter files define no run");
        return Err(vec![error.remedy("add rd=")]);
    }
    let Reading { file, texts, options: asked, .. } = reading;
    let systems = Systems::of(file, &ThisHost::default());
    // A simulation looks at nothing.
    if systems.is_empty() || asked.is_simulation {
        return lower(&Request { file, texts, asked, host: &ThisHost::default() }, &runs);
    }
    let errors = refused(&Request { file, texts, asked, host: &ThisHost::default() }, &runs);
    if !errors.is_empty() {
        return Err(errors);
    }
    let wrong = |sentence: String| vec![Diagnostic::nowhere("hosts", sentence)];
    let there = hosts::join(&systems).map_err(wrong)?;
    let lowered = lower(&Request { file, texts, asked, host: &there }, &runs);
    there.looked().map_err(wrong).and(lowered)
}
