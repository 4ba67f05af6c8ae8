//! Complaints of a foreign command: lines under the tool's name.

use std::path::Path;

use candor_dialects::kit::{Diagnostic, Texts};

use crate::screen;

/// At most so many complaints are shown; the rest is counted.
const SHOWN_MAX: usize = 20;

/// Where complaints go: to stderr, and into the file of the results where the tool has them there.
#[derive(Clone, Copy)]
pub struct Complaints<'a> {
    /// The tool's name.
    pub tool: &'static str,
    /// The file of the results.
    pub file: Option<&'a Path>,
}

impl Complaints<'_> {
    /// Shows diagnostics.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic], texts: &Texts) {
        let lines = diagnostics.iter().map(|diagnostic| diagnostic.describe(texts)).collect();
        self.sentences(&capped(lines));
    }

    /// Shows a sentence.
    pub fn sentence(&self, sentence: &str) {
        self.sentences(&[sentence.to_owned()]);
    }

    /// Shows sentences.
    pub fn sentences(&self, sentences: &[String]) {
        let text = lines(self.tool, sentences);
        screen::tell(&text);
        if let Some(file) = self.file {
            // That it cannot be written is not worth another complaint: stderr has it all.
            let _ = candor_files::replace(file, text);
        }
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
