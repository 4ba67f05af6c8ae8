//! Complaints of a foreign command: lines under the tool's name.

use std::path::Path;

use candor_front::{Diagnostic, Texts};
use candor_plan::Problem;
use candor_record::Report;

use crate::screen;

/// Complaints shown in full; the rest is counted.
const SHOWN_MAX: usize = 20;

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
        let text = self.lines(sentences.to_vec());
        screen::tell(&text);
        if let Some(file) = self.file {
            // stderr has the complaint; a second one about the file would hide it.
            let _ = candor_files::replace(file, text);
        }
        self.exit_code
    }

    /// Shows a sentence on stderr only, because the file has results; returns the exit code.
    pub fn aside(&self, sentence: &str) -> u8 {
        screen::tell(&lines(self.tool, &[sentence.to_owned()]));
        self.exit_code
    }

    /// The exit code of a run with these failures.
    pub fn exit_code_of(&self, report: &Report, failures: &[String]) -> u8 {
        if failures.is_empty() && !report.interrupted { 0 } else { self.exit_code }
    }

    /// The first of many sentences as lines, and the number of the others.
    pub fn lines(&self, sentences: Vec<String>) -> String {
        lines(self.tool, &capped(sentences))
    }

    /// Problems of a plan, which name plan keys, with the page of the tool's options.
    pub fn with_options_page(&self, problems: &[Problem]) -> Vec<String> {
        let tool = self.tool;
        let sentence =
            |problem: &Problem| format!("{}; see `candor options {tool}`", problem.message);
        problems.iter().map(sentence).collect()
    }

    /// The exit code: 0 on success; else the sentence is shown.
    pub fn done(&self, done: Result<(), String>) -> u8 {
        done.map_or_else(|sentence| self.sentence(&sentence), |()| 0)
    }
}

/// Sentences as lines under the tool's name.
pub fn lines(tool: &str, sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!("{tool}: {sentence}\n")).collect()
}

/// The first of many sentences, and how many more there are.
pub fn capped(mut sentences: Vec<String>) -> Vec<String> {
    let rest = sentences.len().saturating_sub(SHOWN_MAX);
    sentences.truncate(SHOWN_MAX);
    if rest > 0 {
        sentences.push(format!("and {rest} more"));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_sentences_are_counted() {
        let of = |count: usize| capped(vec!["x".to_owned(); count]);
        assert_eq!(of(20).len(), 20);
        assert_eq!((of(23).len(), &*of(23)[20]), (21, "and 3 more"));
        assert_eq!(lines("ior", &of(2)), "ior: x\nior: x\n");
    }
}
