//! Files that results are added to.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use candor_elbencho::options::OutputOptions;
use candor_elbencho::output::{self, Moment, Notes, PhaseResult};
use candor_elbencho::setup::Setup;
use candor_plan::{List, PathText, path_of};

use super::COMPLAINTS;
use crate::commands;

/// Looks at the files that results are to be added to, before anything runs. The error is a
/// sentence.
pub fn check(setup: &Setup) -> Result<(), String> {
    let asked = &setup.asked.output;
    if let Some(file) = &asked.csv_file {
        output::head_for(file, &first_line(file)?, true)?;
    }
    let files = [&asked.result_file, &asked.csv_file, &asked.json_file];
    files.into_iter().flatten().try_for_each(|file| {
        let claimed = candor_files::claim(&path_of(file));
        claimed.map_err(|refusal| format!("{file} cannot be written: {refusal}"))?;
        add(file, "")
    })
}

/// Files that the result of each phase is added to as it ends.
pub struct ResultFiles<'a> {
    setup: &'a Setup,
    /// Repeat of which the head of the table was written.
    headed: Option<u32>,
    /// Why a file could not be written, where one could not; nothing is added then.
    failed: Result<(), String>,
}

impl<'a> ResultFiles<'a> {
    /// The files that were asked for.
    pub fn new(setup: &'a Setup) -> ResultFiles<'a> {
        ResultFiles { setup, headed: None, failed: Ok(()) }
    }

    fn asked(&self) -> &'a OutputOptions {
        &self.setup.asked.output
    }

    /// Adds the result of a phase of that repeat.
    pub fn add(&mut self, result: &PhaseResult<'_>, repeat: u32) {
        if self.failed.is_ok() {
            self.failed = self.append(result, repeat);
        }
    }

    fn append(&mut self, result: &PhaseResult<'_>, repeat: u32) -> Result<(), String> {
        let (asked, now) = (self.asked(), Moment::now());
        if let Some(file) = &asked.result_file {
            let head = if self.headed == Some(repeat) {
                String::new()
            } else {
                PhaseResult::head(self.setup, &now)
            };
            add(file, &format!("{head}{}\n", result.table()))?;
            self.headed = Some(repeat);
        }
        if let Some(file) = &asked.csv_file {
            let head = output::head_for(file, &first_line(file)?, !asked.no_csv_labels)?;
            add(file, &(head + &result.csv(&now)))?;
        }
        if let Some(file) = &asked.json_file {
            add(file, &result.json(&now))?;
        }
        Ok(())
    }

    /// Adds the notes below the table.
    ///
    /// # Errors
    /// A sentence, where a file could not be written, now or before.
    pub fn end(&self, notes: &Notes) -> Result<(), String> {
        self.failed.clone()?;
        let notes = notes.text();
        match &self.asked().result_file {
            Some(file) if self.headed.is_some() && !notes.is_empty() => {
                add(file, &format!("{notes}\n"))
            }
            _ => Ok(()),
        }
    }
}

/// Shows result files of CSV side by side, and gives the exit code.
pub fn summarize(files: &[OsString]) -> u8 {
    let content = |file: &OsString| {
        let name = file.text();
        match std::fs::read_to_string(file) {
            Ok(content) => Ok((name, content)),
            Err(error) => Err(format!("{name} cannot be read: {error}")),
        }
    };
    let read: Result<Vec<_>, String> = files.iter().map(content).collect();
    match read.and_then(|read| output::summary(&read)) {
        Ok(text) => commands::printed(&text),
        Err(sentence) => COMPLAINTS.sentence(&sentence),
    }
}

/// Writes a list of what is below a directory, and gives it. The error is a sentence.
pub fn scan(directory: &Path, file: &Path, in_base64: bool) -> Result<List, String> {
    let list = List::scan(directory).map_err(|error| error.to_string())?;
    let written = candor_files::create(file).and_then(|mut open| {
        if in_base64 {
            list.write_base64(&mut open)?;
        } else {
            list.write(&mut open)?;
        }
        open.commit()
    });
    written.map_err(|error| format!("{} cannot be written: {error}", file.text()))?;
    Ok(list)
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
    let opened = candor_files::append(&path_of(file));
    let written = opened.and_then(|mut open| open.write_all(text.as_bytes()));
    written.map_err(|error| format!("{file} cannot be written: {error}"))
}
