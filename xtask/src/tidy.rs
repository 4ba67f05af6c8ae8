//! The house rules. A rule that is not checked is not a rule.
//!
//! One rule per file; each is a function from sources to breaches, with a true and a false case.

mod arrows;
mod book;
mod ceilings;
mod circles;
pub mod counts;
mod dead;
mod doc_comments;
mod docs;
mod duplicates;
mod fronts;
mod idioms;
mod layers;
mod leftovers;
mod length;
mod pictures;
mod readme_files;
mod threads;
mod tokens;
mod unsafes;
mod words;
mod writes;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use layers::Layers;

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Breach {
    path: String,
    line: usize,
    sentence: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.sentence)
    }
}

/// A file of the repository.
struct Source {
    /// From the root, with slashes.
    path: String,
    text: String,
    /// Of a Rust file: its code and its comments apart; empty otherwise.
    layers: Layers,
    bytes: usize,
}

impl Source {
    fn new(path: &str, text: &str) -> Source {
        let layers = if path.ends_with(".rs") { Layers::of(text) } else { Layers::default() };
        Source { path: path.to_owned(), text: text.to_owned(), layers, bytes: text.len() }
    }

    /// A picture or another file of the documentation, whose contents no rule reads.
    fn picture(path: &str, bytes: usize) -> Source {
        Source { bytes, ..Source::new(path, "") }
    }

    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn breach(&self, line: usize, sentence: impl Into<String>) -> Breach {
        Breach { path: self.path.clone(), line, sentence: sentence.into() }
    }
}

/// A rule: from the repository's sources to its breaches.
type Rule = fn(&[Source]) -> Vec<Breach>;

/// Every rule.
const RULES: &[Rule] = &[
    length::files,
    length::functions,
    length::lines,
    leftovers::check,
    dead::check,
    arrows::check,
    arrows::without_tokio,
    ceilings::check,
    doc_comments::check,
    book::summary,
    book::broken_links,
    book::short_pages,
    docs::readmes,
    docs::titles,
    duplicates::check,
    pictures::check,
    readme_files::check,
    threads::check,
    unsafes::check,
    words::check,
    writes::check,
];

/// Checks the repository; true if it is tidy.
pub fn command(root: &Path) -> bool {
    let sources = match sources(root) {
        Ok(sources) => sources,
        Err(sentence) => {
            eprintln!("{sentence}");
            return false;
        }
    };
    let mut breaches: Vec<Breach> = RULES.iter().flat_map(|rule| rule(&sources)).collect();
    breaches.sort();
    for breach in &breaches {
        println!("{breach}");
    }
    println!("{} files, {} breaches of the house rules", sources.len(), breaches.len());
    breaches.is_empty()
}

/// Reads everything that rules check: Rust, manifests, lock file, ceilings, documents, pictures.
fn sources(root: &Path) -> Result<Vec<Source>, String> {
    let mut files = Vec::new();
    walk(root, &root.join("docs"), &mut files)
        .map_err(|e| format!("the repository cannot be read: {e}"))?;
    files.sort();
    files
        .iter()
        .map(|file| {
            let failed = |e: std::io::Error| format!("{}: {e}", file.display());
            let path = file.strip_prefix(root).unwrap_or(file);
            let path = path.to_string_lossy().replace('\\', "/");
            let is_file_of_the_book = path.starts_with("docs/") && !path.ends_with(".md");
            if path.starts_with(pictures::FOLDER) || is_file_of_the_book {
                let bytes = fs::metadata(file).map_err(failed)?.len();
                return Ok(Source::picture(&path, bytes as usize));
            }
            Ok(Source::new(&path, &fs::read_to_string(file).map_err(failed)?))
        })
        .collect()
}

/// Adds the files of a folder that rules read, and every file of the book.
fn walk(folder: &Path, book: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if entry.file_type()?.is_dir() {
            // Build output, git's own folder and the like, and the folder of results of a run.
            let ours = name != "target" && name != "shared" && !name.starts_with('.');
            if ours && !name.starts_with("candor-run-") {
                walk(&path, book, files)?;
            }
        } else if entry.file_type()?.is_file() {
            let kept = [".rs", ".md"].iter().any(|end| name.ends_with(end));
            if kept
                || path.starts_with(book)
                || name == "Cargo.toml"
                || name == "Cargo.lock"
                || name == "deny.toml"
                || name == "ceilings.toml"
            {
                files.push(path);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_can_be_read() {
        let sources = sources(&crate::root()).expect("the repository is readable");
        assert!(sources.iter().any(|s| s.path == "xtask/src/tidy.rs"));
        assert!(sources.iter().all(|s| !s.path.starts_with("target/")));
    }

    #[test]
    fn a_breach_reads_as_file_line_sentence() {
        let breach = Source::new("a.rs", "").breach(3, "is wrong");
        assert_eq!(breach.to_string(), "a.rs:3: is wrong");
    }
}
