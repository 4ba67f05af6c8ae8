//! Documents: one title each, and a README beside every crate that has grown.

use super::{Breach, Source};

const README_FROM_LINES: usize = 1500;

/// Crates that have grown without one.
pub fn readmes(sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for manifest in sources.iter().filter(|s| s.path.starts_with("crates/")) {
        let Some(folder) = manifest.path.strip_suffix("Cargo.toml") else { continue };
        let code = format!("{folder}src/");
        let inside = sources.iter().filter(|s| s.path.starts_with(&code) && s.is_rust());
        let lines: usize = inside.map(|s| s.text.lines().count()).sum();
        let readme = format!("{folder}README.md");
        if lines > README_FROM_LINES && sources.iter().all(|s| s.path != readme) {
            let sentence = format!("the crate has {lines} lines and no README.md: write one");
            breaches.push(manifest.breach(1, sentence));
        }
    }
    breaches
}

/// Documents with no title, or with several.
pub fn titles(sources: &[Source]) -> Vec<Breach> {
    // mdBook reads titles in the summary as groups of chapters.
    sources
        .iter()
        .filter(|s| s.path.ends_with(".md") && s.path != "docs/SUMMARY.md")
        .filter_map(|document| match titles_in(&document.text)[..] {
            [_] => None,
            [] => Some(document.breach(1, "the document has no title: one line `# …`")),
            [_, second, ..] => {
                Some(document.breach(second, "a second title: make it a section, `## …`"))
            }
        })
        .collect()
}

/// Lines of titles, outside of code.
fn titles_in(text: &str) -> Vec<usize> {
    let mut in_code = false;
    let mut titles = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && line.starts_with("# ") {
            titles.push(i + 1);
        }
    }
    titles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grown_crate_needs_a_readme() {
        let manifest = || Source::new("crates/a/Cargo.toml", "");
        let code = |lines| Source::new("crates/a/src/lib.rs", &"\n".repeat(lines));
        assert_eq!(readmes(&[manifest(), code(1501)]).len(), 1);
        assert!(readmes(&[manifest(), code(1500)]).is_empty());
        let readme = Source::new("crates/a/README.md", "# a");
        assert!(readmes(&[manifest(), code(1501), readme]).is_empty());
    }

    #[test]
    fn a_document_has_one_title() {
        let breaches = |text| titles(&[Source::new("a.md", text)]);
        assert_eq!(breaches("no title").len(), 1);
        assert_eq!(breaches("# one\n\n# two")[0].line, 3);
        assert!(breaches("# one\n\n## part\n\n```sh\n# a comment\n```\n").is_empty());
    }
}
