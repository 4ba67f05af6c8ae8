//! `candor elbencho …`, and the binary called as `elbencho`: elbencho's phases, tables and exit
//! codes.
//!
//! Its users mean what they write, so nothing asks for consent; only a device that is mounted or
//! held is not written, unless `CANDOR_FORCE=1` insists.

mod files;
mod hosts;
mod live;
mod run;

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use candor_elbencho::ABOUT;
use candor_elbencho::options::{self, Instead, Options, Phases, Reading};
use candor_elbencho::output;
use candor_elbencho::plan;
use candor_plan::path_of;

use crate::commands::foreign::Complaints;
use crate::commands::foreign::host::{HostEnvironment, ThisHost};
use crate::commands::foreign::tool::{Entry, Page, Tool};
use crate::{commands, screen};

/// First word that shows result files in place of a benchmark.
const SUMMARIZE: &str = "summarize";

/// First word that writes a list of a directory in place of a benchmark.
const SCAN: &str = "scan";

/// Whatever goes wrong.
const WRONG: u8 = 1;

/// Complaints on stderr.
const COMPLAINTS: Complaints<'_> = Complaints { tool: "elbencho", file: None, exit_code: WRONG };

/// The tool.
pub const TOOL: Tool = Tool {
    about: &ABOUT,
    entry: Entry::Own,
    main,
    page: Page::Derived,
    converter: None,
    writer: None,
    has_report: true,
};

/// Does what a command line asks for, the program's name first, and gives the exit code.
fn main(argv: &[OsString]) -> u8 {
    if let [_, first, files @ ..] = argv
        && first == SUMMARIZE
        && !files.is_empty()
    {
        return files::summarize(files);
    }
    if let [_, first, directory, file] = argv
        && first == SCAN
    {
        return code_of(files::scan(Path::new(directory), Path::new(file), false).map(drop));
    }
    let reading = options::read(argv, &mut HostEnvironment);
    match reading.instead {
        Some(Instead::Help(part)) => commands::printed(&options::help(part)),
        Some(Instead::Version) => commands::printed(&version()),
        None => benchmark(&reading),
    }
}

/// The exit code of a list that is written, or not.
fn code_of(written: Result<(), String>) -> u8 {
    match written {
        Ok(()) => 0,
        Err(sentence) => COMPLAINTS.sentence(&sentence),
    }
}

/// Writes the list that a command line asks for, before its phases read it; gives the exit code
/// where there is nothing else to do.
fn scan(options: &Options) -> Option<u8> {
    let directory = options.list.tree_scan.as_ref()?;
    let directory = directory.strip_prefix("file://").unwrap_or(directory);
    let Some(file) = &options.list.tree_file else {
        COMPLAINTS.sentence("--treescan needs a file for its list; name one with --treefile");
        return Some(WRONG);
    };
    let ends = options.phases == Phases::default() && !options.run.sync;
    let began = Instant::now();
    let written = files::scan(&path_of(directory), &path_of(file), true);
    let code = code_of(written.and_then(|list| {
        screen::data(&format!(
            "NOTE: Directory scan finished. Files: {}; Dirs: {}; Elapsed: {}s\n",
            list.files(),
            list.directories(),
            began.elapsed().as_secs()
        ))
    }));
    (ends || code != 0).then_some(code)
}

fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "elbencho\n * Version: {}\n * Net protocol version: {}\n * Program: candor {version}\n \
         * Included optional build features: corebind libaio libnuma s3 syncfs syscallh \
         threadname \n \
         * Excluded optional build features: althttpsvc backtrace cuda cufile/gds hdfs mimalloc \
         s3crt \n",
        output::VERSION,
        output::PROTOCOL
    )
}

fn benchmark(reading: &Reading) -> u8 {
    if !reading.errors.is_empty() {
        return COMPLAINTS.diagnostics(&reading.errors, &reading.texts);
    }
    if let Some(code) = hosts::chore(&reading.options).or_else(|| scan(&reading.options)) {
        return code;
    }
    let lowered = match hosts::fleet(&reading.options.hosts) {
        Ok(None) => plan::lower(reading, &ThisHost::default()),
        Ok(Some((identity, options))) => match hosts::lowered(reading, &identity, &options) {
            Ok(lowered) => lowered,
            Err(sentence) => return COMPLAINTS.sentence(&sentence),
        },
        Err(sentence) => return COMPLAINTS.sentence(&sentence),
    };
    match lowered {
        Ok(lowered) if lowered.setup.asked.run.dry_run => {
            commands::printed(&plan::totals(&lowered))
        }
        Ok(lowered) if lowered.phases.is_empty() => commands::printed(output::HEADER),
        Ok(lowered) => run::main(reading, &lowered),
        Err(errors) => COMPLAINTS.diagnostics(&errors, &reading.texts),
    }
}
