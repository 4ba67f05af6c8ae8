//! Where results go.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::screen;

/// Standard output, or a file.
pub enum Sink {
    /// Standard output.
    Stdout,
    /// A file, with its name.
    File(File, String),
}

impl Sink {
    /// Opens it; the error is a sentence.
    pub fn open(path: Option<&Path>) -> Result<Sink, String> {
        let Some(path) = path else { return Ok(Sink::Stdout) };
        match File::create(path) {
            Ok(file) => Ok(Sink::File(file, path.display().to_string())),
            Err(error) => Err(format!("--output {} cannot be made: {error}", path.display())),
        }
    }

    /// Writes text; the error is a sentence.
    pub fn put(&mut self, text: &str) -> Result<(), String> {
        match self {
            Sink::Stdout => screen::data(text),
            Sink::File(file, path) => file
                .write_all(text.as_bytes())
                .map_err(|error| format!("{path} cannot be written: {error}")),
        }
    }
}
