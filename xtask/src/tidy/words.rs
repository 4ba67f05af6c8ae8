//! Phrases that make readers translate: none in help, output, errors and documents.

use super::leftovers::has_word;
use super::{Breach, Source};

/// (phrase, a phrase to write instead)
const PHRASES: &[(&str, &str)] = &[
    ("so many", "N, or the number"),
    ("so much", "the amount"),
    ("so long", "TIME, or the time"),
    ("so often", "N times"),
    ("nobody", "no process, no user"),
    ("whoever", "the process, the user"),
    ("somebody", "another process, another user"),
    ("is told", "is reported"),
    ("are told", "are reported"),
    ("told apart", "reported separately"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("in front of", "before"),
    ("that of", "the noun again"),
    ("those of", "the noun again"),
    ("the one that", "the noun"),
    ("of today", "current"),
    ("of its own", "its own, separate"),
    ("of their own", "their own, separate"),
    ("anew", "again"),
    ("at all", "nothing"),
    ("taken for", "treated as"),
    ("comes down to", "is"),
    ("stands", "is"),
    ("lacks", "has no"),
    ("mend", "correct"),
    ("heed", "obey"),
];

/// Phrases left in a folder; the numbers only fall.
struct Ceiling {
    folder: &'static str,
    left: usize,
}

const CEILINGS: &[Ceiling] = &[];

/// Phrases in strings of the program and in documents.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let mut found: Vec<Breach> = sources.iter().flat_map(of_source).collect();
    let mut breaches = Vec::new();
    for Ceiling { folder, left } in CEILINGS {
        let (here, others): (Vec<_>, _) =
            found.into_iter().partition(|breach| breach.path.starts_with(folder));
        found = others;
        if here.len() < *left {
            let sentence = format!("{} phrases are left: lower the ceiling of {left}", here.len());
            breaches.push(Source::new(folder, "").breach(1, sentence));
        } else if here.len() > *left {
            breaches.extend(here);
        }
    }
    breaches.extend(found);
    breaches
}

/// Phrases of one file.
fn of_source(source: &Source) -> Vec<Breach> {
    let lines = if is_program(source) {
        strings(source)
    } else if is_document(source) {
        prose(&source.text)
    } else {
        return Vec::new();
    };
    let mut breaches = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let line = line.to_lowercase();
        for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| has_word(&line, phrase)) {
            breaches.push(source.breach(at + 1, format!("`{phrase}`: write {instead}")));
        }
    }
    breaches
}

fn is_program(source: &Source) -> bool {
    let path = source.path.as_str();
    let is_test = path.contains("/tests") || path.ends_with("tests.rs") || path.contains("sample");
    source.is_rust() && path.starts_with("crates/") && path.contains("/src/") && !is_test
}

fn is_document(source: &Source) -> bool {
    let path = source.path.as_str();
    let is_page = path.starts_with("docs/") || path.starts_with("examples/") || !path.contains('/');
    path.ends_with(".md") && is_page
}

/// The lines of strings, without unit tests at the end of the file.
fn strings(source: &Source) -> Vec<String> {
    let lines = source.layers.strings.lines();
    let code = source.layers.code.lines();
    let is_code = code.map(|line| line != "#[cfg(test)]").chain(std::iter::repeat(true));
    lines.zip(is_code).take_while(|(_, is_code)| *is_code).map(|(line, _)| line.into()).collect()
}

/// The lines of a document; blocks of code, and code within lines, are blank.
fn prose(text: &str) -> Vec<String> {
    let mut is_block = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        let words = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        lines.push(if is_block || is_fence { String::new() } else { words });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&[Source::new(path, text)]).iter().map(|breach| breach.line).collect()
    }

    #[test]
    fn phrases_in_strings_and_documents_are_found() {
        let code = "// goes on\nfn f() {\n    print(\"the run goes on\");\n}\n";
        assert_eq!(lines("crates/a/src/a.rs", code), [3]);
        assert_eq!(lines("docs/a.md", "# A\n\nNobody knows.\n"), [3]);
    }

    #[test]
    fn code_tests_and_longer_words_are_not() {
        assert_eq!(lines("docs/a.md", "```\ngoes on\n```\n`goes on` understands\n"), [0; 0]);
        assert_eq!(lines("crates/a/tests/a.rs", "f(\"goes on\");"), [0; 0]);
        let tests = "f(\"x\");\n#[cfg(test)]\nmod tests {\n    f(\"goes on\");\n}\n";
        assert_eq!(lines("crates/a/src/a.rs", tests), [0; 0]);
    }
}
