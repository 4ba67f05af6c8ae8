//! Leftovers of work: they are finished or made an issue, not merged.

use super::{Breach, Source};

/// (in code, what to do instead)
const IN_CODE: &[(&str, &str)] = &[
    ("dbg!", "print nothing, or record an event"),
    ("todo!", "write it or return an error"),
    ("unimplemented!", "write it or return an error"),
    ("#[ignore", "a test that cannot run says `skipped:` with the reason"),
];

/// Words in comments.
const IN_COMMENTS: &[&str] = &["FIXME", "XXX", "HACK"];

/// Leftovers.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for source in sources.iter().filter(|s| s.is_rust()) {
        for (i, line) in source.layers.code.lines().enumerate() {
            for (what, instead) in IN_CODE.iter().filter(|(what, _)| has_word(line, what)) {
                breaches.push(source.breach(i + 1, format!("{what} is left over: {instead}")));
            }
        }
        for (i, line) in source.layers.comments.lines().enumerate() {
            for what in IN_COMMENTS.iter().filter(|what| has_word(line, what)) {
                let sentence = format!("{what} is left over: do it or make it an issue");
                breaches.push(source.breach(i + 1, sentence));
            }
        }
    }
    breaches
}

/// True if the text contains the word, and not as the end or the beginning of a longer one.
pub fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let whole_end = !word.ends_with(part) || !text[at + word.len()..].starts_with(part);
        let whole_start = !word.starts_with(part) || !text[..at].ends_with(part);
        whole_end && whole_start
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(text: &str) -> usize {
        check(&[Source::new("a.rs", text)]).len()
    }

    #[test]
    fn leftovers_are_found() {
        assert_eq!(breaches("fn f() { dbg!(1); todo!() }"), 2);
        assert_eq!(breaches("#[ignore = \"slow\"]\nfn f() {} // FIXME later"), 2);
    }

    #[test]
    fn words_in_strings_and_within_words_are_not() {
        assert_eq!(breaches("let a = \"dbg! FIXME\"; // XXXXXX, whacky HACKING"), 0);
        assert_eq!(breaches("my_todo!(); // the todo! macro"), 0);
    }
}
