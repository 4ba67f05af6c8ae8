//! `format=`: creation of file systems before a run.

use crate::values;
use candor_front::Refused;

/// Steps of a format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// A format runs.
    pub is_wanted: bool,
    /// Keep existing directories and files.
    pub restart: bool,
    /// Remove the old tree and create nothing.
    pub clean: bool,
    /// Skip the run.
    pub only: bool,
    /// Create directories only.
    pub directories: bool,
    /// Format once before all runs of a loop.
    pub once: bool,
    /// End the format after `elapsed`.
    pub limited: bool,
    /// Treat the tree as complete without a check.
    pub complete: bool,
}

/// Reads the words of `format=`.
///
/// # Errors
/// A word is unknown, or two words exclude each other.
pub(super) fn format(text: &str) -> Result<Format, Refused> {
    const WORDS: &[&str] =
        &["no", "directories", "restart", "only", "once", "clean", "limited", "complete", "yes"];
    const SHORT: &[&str] = &["directories", "yes"];
    let mut format = Format { is_wanted: true, ..Format::default() };
    let words = values::words(text)?;
    if words.iter().any(|word| values::abbreviated(word, &["no"]).is_some()) {
        let complete = words.iter().any(|word| word == "complete");
        return Ok(Format { complete, ..Format::default() });
    }
    for word in words {
        match values::abbreviated(&word, SHORT).or(WORDS.iter().copied().find(|w| *w == word)) {
            Some("yes") => {}
            Some("directories") => format.directories = true,
            Some("restart") => format.restart = true,
            Some("only") => format.only = true,
            Some("once") => format.once = true,
            Some("clean") => (format.clean, format.only) = (true, true),
            Some("limited") => format.limited = true,
            Some("complete") => format.complete = true,
            _ => return Err(values::no_choice(text, &word, WORDS)),
        }
    }
    if format.complete {
        let message = "with format=complete the tree exists, so nothing is formatted";
        return Err(Refused::whole(text, message, "write format=(no,complete)"));
    }
    if format.limited && !format.only {
        let message = "format=limited makes a tree that no run could use";
        return Err(Refused::whole(text, message, "write format=(only,limited)"));
    }
    Ok(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_their_words() {
        let of = |text| format(text).ok();
        let yes = Format { is_wanted: true, ..Format::default() };
        assert_eq!((of("yes"), of("y")), (Some(yes), Some(yes)));
        assert_eq!(of("(yes,restart,only)"), Some(Format { restart: true, only: true, ..yes }));
        assert_eq!(of("clean"), Some(Format { clean: true, only: true, ..yes }));
        assert_eq!(of("(restart,no)"), Some(Format::default()));
        assert_eq!(of("(no,complete)"), Some(Format { complete: true, ..Format::default() }));
        for text in ["limited", "complete", "sometimes", "res"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
