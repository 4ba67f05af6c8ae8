//! Where results go.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use candor_plan::PathText;

use crate::screen;

/// Standard output, or a file.
pub enum Sink {
    /// Standard output.
    Stdout,
    /// A file.
    File(OutputFile),
}

/// A file that keeps the results of an earlier run until there are others.
pub struct OutputFile {
    path: PathBuf,
    /// Text that is not in the file yet.
    waiting: String,
    /// The file holds text of this run.
    has_begun: bool,
}

impl Sink {
    /// Claims it; the error is a sentence.
    pub fn open(path: Option<&Path>) -> Result<Sink, String> {
        let Some(path) = path else { return Ok(Sink::Stdout) };
        match candor_files::prepare(path) {
            Ok(()) => Ok(Sink::File(OutputFile {
                path: path.to_owned(),
                waiting: String::new(),
                has_begun: false,
            })),
            Err(error) => Err(format!("--output {} cannot be made: {error}", path.text())),
        }
    }

    /// Takes text, which a file gets later; the error is a sentence.
    pub fn put(&mut self, text: &str) -> Result<(), String> {
        match self {
            Sink::Stdout => screen::data(text),
            Sink::File(file) => {
                file.waiting.push_str(text);
                Ok(())
            }
        }
    }

    /// Writes to a file what was put so far; the error is a sentence.
    pub fn deliver(&mut self) -> Result<(), String> {
        let Sink::File(file) = self else { return Ok(()) };
        let path = file.path.text();
        file.write().map_err(|error| format!("{path} cannot be written: {error}"))
    }
}

impl OutputFile {
    fn write(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.waiting);
        if self.has_begun {
            candor_files::append(&self.path)?.write_all(text.as_bytes())
        } else {
            candor_files::replace(&self.path, text)?;
            self.has_begun = true;
            Ok(())
        }
    }
}
