//! Complaints of a foreign command: lines under the tool's name.

use std::path::Path;

use candor_front::{Diagnostic, Texts, failures};

use crate::screen;

/// Where complaints go: to stderr, and into the file of the results if the tool writes them there.
#[derive(Clone, Copy)]
pub struct Complaints<'a> {
    /// The tool's name.
    pub tool: &'static str,
    /// The file of the results.
    pub file: Option<&'a Path>,
    /// The exit code after a complaint.
    pub exit_code: u8,
}

impl Complaints<'_> {
    /// Shows diagnostics, and returns the exit code.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic], texts: &Texts) -> u8 {
        let lines: Vec<_> = diagnostics.iter().map(|one| one.describe(texts)).collect();
        self.sentences(&lines)
    }

    /// Shows a sentence, and returns the exit code.
    pub fn sentence(&self, sentence: &str) -> u8 {
        self.sentences(&[sentence.to_owned()])
    }

    /// Shows the first of many sentences and counts the others; returns the exit code.
    pub fn sentences(&self, sentences: &[String]) -> u8 {
        let text = failures::capped(self.tool, sentences.to_vec());
        screen::tell(&text);
        if let Some(file) = self.file {
            // stderr has the complaint; a second one about the file would hide it.
            let _ = candor_files::replace(file, text);
        }
        self.exit_code
    }

    /// Shows a sentence on stderr only, because the file has results; returns the exit code.
    pub fn aside(&self, sentence: &str) -> u8 {
        screen::tell(&failures::lines(self.tool, &[sentence.to_owned()]));
        self.exit_code
    }

    /// The exit code: 0 on success; else the sentence is shown.
    pub fn done(&self, done: Result<(), String>) -> u8 {
        done.map_or_else(|sentence| self.sentence(&sentence), |()| 0)
    }
}
