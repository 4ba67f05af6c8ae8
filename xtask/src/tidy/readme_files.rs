//! READMEs below `crates/` name only files and folders that exist.
//!
//! A file is a name in backticks that ends in `.rs` or `/`, a word of a code block that ends in
//! `.rs`, or a name in the first column of a table of files. Names in a table are modules of the
//! module that the section's heading names, if there is one.

use super::{Breach, Source};

/// Heads of first columns that hold files.
const HEADS: &[&str] = &["file", "folder", "module"];

/// Files and folders that do not exist.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let paths: Vec<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    let mut breaches = Vec::new();
    for readme in sources.iter().filter(|source| source.path.starts_with("crates/")) {
        let Some(folder) = readme.path.strip_suffix("README.md") else { continue };
        for name in names_in(&readme.text) {
            if !name.exists(folder, &paths) {
                let sentence = format!("there is no `{}` in {folder}", name.text);
                breaches.push(readme.breach(name.line, sentence));
            }
        }
    }
    breaches
}

/// A file or a folder that a README names.
struct Name<'a> {
    line: usize,
    text: &'a str,
    /// Heading of the section, for a name without `.rs` and `/`.
    section: &'a str,
}

impl Name<'_> {
    /// True if a file of the crate, or of the repository from its root, has the name.
    fn exists(&self, folder: &str, paths: &[&str]) -> bool {
        // `FOLDER/NAME.rs` is a pattern for new files.
        if self.text.contains(char::is_uppercase) {
            return true;
        }
        // `*tests.rs` is the end of names.
        if let Some(end) = self.text.strip_prefix('*') {
            return paths.iter().any(|path| path.starts_with(folder) && path.ends_with(end));
        }
        if self.text.ends_with(".rs") {
            let end = format!("/{}", self.text);
            return paths.contains(&self.text)
                || paths.iter().any(|path| path.starts_with(folder) && path.ends_with(&end));
        }
        if self.text.ends_with('/') {
            let part = format!("/{}", self.text);
            return paths.iter().any(|path| {
                path.starts_with(self.text) || (path.starts_with(folder) && path.contains(&part))
            });
        }
        let own = format!("{folder}src/{}/", self.section);
        let is_module = paths.iter().any(|path| path.starts_with(&own));
        let parent = if is_module { own } else { format!("{folder}src/") };
        let file = format!("{parent}{}.rs", self.text);
        let modules = format!("{parent}{}/", self.text);
        paths.iter().any(|path| *path == file || path.starts_with(&modules))
    }
}

/// Files and folders that a README names.
fn names_in(text: &str) -> Vec<Name<'_>> {
    let mut names = Vec::new();
    let mut section = "";
    let mut in_code = false;
    let mut in_table = false;
    for (i, row) in text.lines().enumerate() {
        let line = i + 1;
        if row.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code {
            let files = row.split_whitespace().filter(|word| word.ends_with(".rs"));
            names.extend(files.map(|text| Name { line, text, section }));
            continue;
        }
        section = row.strip_prefix("## ").unwrap_or(section);
        let cell = row.strip_prefix('|').and_then(|rest| rest.split('|').next());
        let cell = cell.unwrap_or_default();
        in_table = !cell.is_empty() && (in_table || HEADS.contains(&cell.trim()));
        let listed = if in_table { cell } else { "" };
        let of_list = in_backticks(listed).filter(|text| !is_file(text));
        let of_line = in_backticks(row).filter(|text| is_file(text));
        names.extend(of_list.chain(of_line).map(|text| Name { line, text, section }));
    }
    names
}

/// Words in backticks.
fn in_backticks(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// True for a name that is a file or a folder wherever it is.
fn is_file(text: &str) -> bool {
    (text.ends_with(".rs") || text.ends_with('/')) && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(readme: &str) -> Vec<String> {
        let sources = [
            Source::new("crates/a/README.md", readme),
            Source::new("crates/a/src/b.rs", ""),
            Source::new("crates/a/src/b/c.rs", ""),
            Source::new("crates/a/src/b/d/tests.rs", ""),
            Source::new("docs/e/f.md", ""),
            Source::new("tests/g.rs", ""),
        ];
        check(&sources).iter().map(Breach::to_string).collect()
    }

    fn absent(line: usize, name: &str) -> String {
        format!("crates/a/README.md:{line}: there is no `{name}` in crates/a/")
    }

    #[test]
    fn files_that_do_not_exist_are_found() {
        let readme = "See `c.rs`, `h.rs` and `h/`.\n\n```\nc.rs h.rs\n```\n";
        assert_eq!(missing(readme), [absent(1, "h.rs"), absent(1, "h/"), absent(4, "h.rs")]);
        let table = "| file | holds |\n| --- | --- |\n| `b`, `c` | x |\n";
        assert_eq!(missing(table), [absent(3, "c")]);
        assert_eq!(missing(&format!("## b\n\n{table}")), [absent(5, "b")]);
    }

    #[test]
    fn files_that_exist_and_other_names_are_not() {
        let readme = "See `b/c.rs`, `b/`, `*sts.rs`, `docs/e/`, `tests/g.rs`, `rules/NAME.rs`.\n\n\
                      | file | holds |\n| --- | --- |\n| `b` | `h` |\n\n| shape |\n| --- |\n| `h` |\n";
        assert_eq!(missing(readme), [""; 0]);
        assert_eq!(missing("## b\n\n| module |\n| --- |\n| `c`, `d` |\n"), [""; 0]);
    }
}
