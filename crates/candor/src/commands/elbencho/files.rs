//! Files that results are added to.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use candor_dialects::elbencho::output::{self, HEADER, Moment, PhaseResult};
use candor_dialects::elbencho::setup::Setup;
use candor_plan::List;

use super::{COMPLAINTS, WRONG};
use crate::commands;

/// Looks at the files that results are to be added to, before anything runs. The error is a
/// sentence.
pub fn check(setup: &Setup) -> Result<(), String> {
    let Some(file) = &setup.asked.output.csv_file else { return Ok(()) };
    output::head_for(file, &first_line(file)?, true).map(|_| ())
}

/// Adds results to the files that were asked for. The error is a sentence.
pub fn append(setup: &Setup, results: &[PhaseResult<'_>]) -> Result<(), String> {
    let (asked, now) = (&setup.asked.output, Moment::now());
    let all = |form: &dyn Fn(&PhaseResult<'_>) -> String| results.iter().map(form).collect();
    if let Some(file) = &asked.result_file {
        let tables: String = all(&|result| result.table());
        add(file, &format!("{HEADER}{tables}{}\n", output::notes(results)))?;
    }
    if let Some(file) = &asked.csv_file {
        let lines: String = all(&|result| result.csv(&now));
        let head = output::head_for(file, &first_line(file)?, !asked.no_csv_labels)?;
        add(file, &(head + &lines))?;
    }
    if let Some(file) = &asked.json_file {
        let lines: String = all(&|result| result.json(&Moment::now()));
        add(file, &lines)?;
    }
    Ok(())
}

/// Shows result files of CSV side by side, and gives the exit code.
pub fn summarize(files: &[OsString]) -> u8 {
    let content = |file: &OsString| {
        let name = file.to_string_lossy().into_owned();
        match std::fs::read_to_string(file) {
            Ok(content) => Ok((name, content)),
            Err(error) => Err(format!("{name} cannot be read: {error}")),
        }
    };
    let read: Result<Vec<_>, String> = files.iter().map(content).collect();
    match read.and_then(|read| output::summary(&read)) {
        Ok(text) => commands::printed(&text),
        Err(sentence) => {
            COMPLAINTS.sentence(&sentence);
            WRONG
        }
    }
}

/// Writes a list of what is below a directory. The error is a sentence.
pub fn scan(directory: &Path, file: &Path) -> Result<(), String> {
    let list = List::scan(directory).map_err(|error| error.to_string())?;
    let written = File::create(file).and_then(|open| list.write(BufWriter::new(open)));
    written.map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

/// The first line of a file with its end; nothing of one that is not there.
fn first_line(file: &str) -> Result<String, String> {
    let mut line = String::new();
    match std::fs::File::open(file) {
        Ok(open) => match BufReader::new(open).read_line(&mut line) {
            Ok(_) => Ok(line),
            Err(error) => Err(format!("{file} cannot be read: {error}")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(line),
        Err(error) => Err(format!("{file} cannot be opened: {error}")),
    }
}

fn add(file: &str, text: &str) -> Result<(), String> {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    let written = opened.and_then(|mut open| open.write_all(text.as_bytes()));
    written.map_err(|error| format!("{file} cannot be written: {error}"))
}
