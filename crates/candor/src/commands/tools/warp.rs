//! `candor warp …`, and the binary called as `warp`: benchmarks of object stores, and their files.

mod run;

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use candor_front::Answer;
use candor_plan::{PathText, path_of};
use candor_warp::aggregate::Settings;
use candor_warp::merge::{Merge, Source};
use candor_warp::options::{self, Command, Options};
use candor_warp::report::Results;
use candor_warp::{ABOUT, compare, file, text};
use jiff::Timestamp;

use crate::commands::foreign::Complaints;
use crate::commands::foreign::host::HostEnvironment;
use crate::commands::foreign::tool::{Entry, Page, Tool};
use crate::{exit, screen};

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

const COMPLAINTS: Complaints<'static> = Complaints { tool: "warp", file: None, exit_code: 1 };

/// Runs a command line, the program's name first, and returns the exit code.
fn main(argv: &[OsString]) -> u8 {
    let done = match options::read(argv, &mut HostEnvironment) {
        Ok(options) if options.command.is_benchmark() => return run::main(&options),
        Ok(options) => of_files(&options),
        Err(Answer::Text(text)) => screen::data(&text),
        Err(Answer::Refused(errors, texts)) => return COMPLAINTS.diagnostics(&errors, &texts),
    };
    match done {
        Ok(()) => exit::RAN,
        Err(sentence) => COMPLAINTS.sentence(&sentence),
    }
}

fn of_files(options: &Options) -> Result<(), String> {
    match options.command {
        Command::Compare => compared(options),
        Command::Merge => merged(options),
        _ => analyze(options),
    }
}

/// Opens a file, which no result may replace.
fn opened(name: &str) -> Result<File, String> {
    let path = path_of(name);
    candor_files::uses(&path, candor_files::Use::Input)
        .map_err(|error| format!("{name}: {error}"))?;
    File::open(&path).map_err(|error| format!("{name}: {error}; name a file that can be read"))
}

fn read(name: &str, options: &Options) -> Result<Results, String> {
    file::read(name, opened(name)?, &Settings::from(&options.analysis))
}

fn analyze(options: &Options) -> Result<(), String> {
    let results = read(&options.files[0], options)?;
    segments(&results, options)?;
    print(&results, options)
}

/// Prints results as text or as JSON.
fn print(results: &Results, options: &Options) -> Result<(), String> {
    if options.output.json {
        return screen::machine(&file::json::text(results));
    }
    screen::data(&text::results(results, options.analysis.verbose))
}

/// Writes the segments where `--analyze.out` says.
fn segments(results: &Results, options: &Options) -> Result<(), String> {
    let Some(file) = &options.analysis.out else { return Ok(()) };
    candor_files::replace(&path_of(file), text::segments(results))
        .map_err(|error| format!("--analyze.out={file}: {error}"))
}

fn compared(options: &Options) -> Result<(), String> {
    let before = read(&options.files[0], options)?;
    let after = read(&options.files[1], options)?;
    if options.output.json {
        return screen::machine(&format!("{:#}\n", compare::json(&before, &after)));
    }
    screen::data(&compare::text(&before, &after))
}

fn merged(options: &Options) -> Result<(), String> {
    let mut sources = Vec::new();
    for name in &options.files {
        sources.push(Source { name: name.clone(), input: Box::new(opened(name)?) });
    }
    let merge = Merge::open(sources)?;
    let name =
        options.output.benchdata.clone().unwrap_or_else(|| usual_name("merge")) + merge.ending();
    let path = path_of(&name);
    let results = written(merge, &path)?;
    print(&results, options)?;
    if !options.output.quiet {
        screen::tell(&format!("warp: wrote {name}\n"));
    }
    Ok(())
}

fn written(merge: Merge<'_>, path: &Path) -> Result<Results, String> {
    candor_files::claim(path).map_err(|why| format!("--benchdata {}: {why}", path.text()))?;
    let mut file = candor_files::create(path).map_err(|error| unwritable(path, &error))?;
    let results = merge.write(&mut file)?;
    file.commit().map_err(|error| unwritable(path, &error))?;
    Ok(results)
}

fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("--benchdata {}: {error}; name a file that can be written", path.text())
}

/// Name of a file of a command, with the time.
fn usual_name(command: &str) -> String {
    file::name(command, Timestamp::now(), random())
}

/// A number that differs from run to run.
fn random() -> u32 {
    RandomState::new().hash_one(0) as u32
}
