//! Pictures of documents: each is there, is shown, says in words what it shows, and all are small.

use super::book::joined;
use super::{Breach, Source};

/// Where pictures are.
pub const FOLDER: &str = "docs/pictures/";

/// Size of all pictures together; `bench`'s `pictures` makes them no larger.
const BYTES_MAX: usize = 500_000;

/// Pictures that lack, are shown nowhere, have no words, or are too large together.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let pictures = || sources.iter().filter(|source| source.path.starts_with(FOLDER));
    let (mut breaches, mut shown) = (Vec::new(), Vec::new());
    for document in sources.iter().filter(|source| source.path.ends_with(".md")) {
        for (line, words, path) in shown_in(document) {
            if words.is_empty() {
                breaches.push(document.breach(line, format!("no words stand for {path}")));
            }
            if !pictures().any(|picture| picture.path == path) {
                breaches.push(document.breach(line, format!("there is no picture {path}")));
            }
            shown.push(path);
        }
    }
    let not_shown = pictures().filter(|picture| !shown.contains(&picture.path));
    breaches.extend(not_shown.map(|picture| picture.breach(1, "no document shows this picture")));
    let bytes: usize = pictures().map(|picture| picture.bytes).sum();
    if let Some(picture) = pictures().next().filter(|_| bytes > BYTES_MAX) {
        let sentence = format!("all pictures have {bytes} bytes, at most {BYTES_MAX} may be");
        breaches.push(picture.breach(1, sentence));
    }
    breaches
}

/// Pictures that a document shows: line, words in their place, path from the root.
fn shown_in(document: &Source) -> Vec<(usize, &str, String)> {
    let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let lines = document.text.lines().enumerate();
    let found = lines.flat_map(|(i, line)| {
        let folder = folder.clone();
        line.split("![").skip(1).filter_map(move |rest| {
            let (words, rest) = rest.split_once("](")?;
            let (path, _) = rest.split_once(')')?;
            Some((i + 1, words.trim(), joined(&folder, path)))
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_there_and_shown_and_has_words() {
        let picture = || Source::picture("docs/pictures/a.svg", 10);
        let said = |document: &str| {
            let breaches = check(&[Source::new("docs/index.md", document), picture()]);
            breaches.into_iter().map(|breach| breach.sentence).collect::<Vec<_>>()
        };
        assert_eq!(said("text\n![A screen](pictures/a.svg) and text"), [""; 0]);
        assert_eq!(said("![](pictures/a.svg)"), ["no words stand for docs/pictures/a.svg"]);
        assert_eq!(said("[a link](pictures/a.svg)"), ["no document shows this picture"]);
        let two = said("![A](pictures/a.svg) ![B](pictures/b.svg)");
        assert_eq!(two, ["there is no picture docs/pictures/b.svg"]);
        let readme = Source::new("README.md", "![A screen](docs/pictures/a.svg)");
        assert_eq!(check(&[readme, picture()]), []);
    }

    #[test]
    fn all_pictures_together_are_small() {
        let document = Source::new("README.md", "![A](docs/pictures/a) ![B](docs/pictures/b)");
        let sources = |bytes| {
            let picture = |name: &str| Source::picture(&format!("{FOLDER}{name}"), bytes);
            [Source::new("README.md", &document.text), picture("a"), picture("b")]
        };
        assert_eq!(check(&sources(250_000)), []);
        assert_eq!(check(&sources(250_001)).len(), 1);
    }
}
