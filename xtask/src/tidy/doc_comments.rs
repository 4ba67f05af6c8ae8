//! Doc comments and headings begin with their subject.

use super::{Breach, Source};

/// Beginnings that leave the subject to the reader.
const VAGUE: &[&str] = &["What", "It", "Its", "When it", "Where it"];

/// (folder, reason)
const EXEMPT: &[(&str, &str)] = &[];

/// Doc comments and headings with a vague beginning.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let held = |source: &&Source| !EXEMPT.iter().any(|(at, _)| source.path.starts_with(at));
    sources.iter().filter(held).flat_map(of_source).collect()
}

fn of_source(source: &Source) -> Vec<Breach> {
    let (text, beginning): (_, fn(&str) -> Option<&str>) = match &source.path {
        path if path.ends_with(".rs") => (&source.layers.comments, doc_comment),
        path if path.ends_with(".md") => (&source.text, heading),
        _ => return Vec::new(),
    };
    let mut breaches = Vec::new();
    let mut goes_on = false;
    for (at, line) in text.lines().enumerate() {
        let begins = beginning(line);
        let vague = begins.filter(|_| !goes_on).and_then(vague);
        breaches.extend(vague.map(|word| {
            source.breach(at + 1, format!("begins with `{word}`: begin with the subject"))
        }));
        goes_on = begins.is_some() && source.is_rust();
    }
    breaches
}

/// The text of a line of a doc comment.
fn doc_comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
    (!text.starts_with('/')).then(|| text.trim_start())
}

/// The text of a heading.
fn heading(line: &str) -> Option<&str> {
    line.starts_with('#').then(|| line.trim_start_matches('#').trim_start())
}

fn vague(text: &str) -> Option<&'static str> {
    let whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\'');
    VAGUE.iter().copied().find(|word| text.strip_prefix(word).is_some_and(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&[Source::new(path, text)]).into_iter().map(|breach| breach.line).collect()
    }

    #[test]
    fn vague_beginnings_are_found() {
        let text = "//! What is written.\n\n/// Its name.\nfn a() {}\n    /// It ends.\n    B,\n";
        assert_eq!(lines("a.rs", text), [1, 3, 5]);
        assert_eq!(lines("a.rs", "/// Where it ends.\nfn a() {}\n/// What.\n"), [1, 3]);
        assert_eq!(lines("docs/a.md", "# A\n\n## What it is\nIt is.\n"), [3]);
    }

    #[test]
    fn subjects_and_later_lines_are_fine() {
        let text = "/// Iterates over all.\n/// It ends.\n///\n/// What follows.\nfn a() {}\n";
        assert_eq!(lines("a.rs", text), [0; 0]);
        assert_eq!(lines("a.rs", "// What the kernel does.\nlet a = \"/// Its\";\n"), [0; 0]);
        assert_eq!(lines("a.rs", "/// When items differ.\n/// Where it is.\nfn a() {}\n"), [0; 0]);
    }
}
