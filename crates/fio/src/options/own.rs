//! Parts of readers of values with their own syntax.

use candor_front::{Choice, Refused};

/// Result of a reader: an optional remark.
pub(super) type Done = Result<Option<String>, Refused>;

/// A choice and its help.
pub(super) const fn word(word: &'static str, help: &'static str) -> Choice {
    Choice { word, help }
}

/// Splits at the first colon.
pub(super) fn head(text: &str) -> (&str, Option<&str>) {
    match text.split_once(':') {
        Some((head, rest)) => (head, Some(rest)),
        None => (text, None),
    }
}

pub(super) fn percent(text: &str) -> Result<u64, Refused> {
    let number = text.trim().trim_end_matches('%').parse().ok();
    number.filter(|number| *number <= 100).ok_or_else(|| {
        Refused::whole(text, format!("`{text}` is not a percentage"), "give 0 to 100")
    })
}

pub(super) fn bounded(text: &str, value: f64, fits: bool, rule: &str) -> Result<f64, Refused> {
    if fits {
        Ok(value)
    } else {
        Err(Refused::whole(text, format!("`{text}`: {value} is not {rule}"), "change it"))
    }
}

/// Splits paths at colons; `\:` is a colon.
pub(super) fn paths(text: &str) -> Vec<String> {
    let (mut paths, mut path) = (Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&':') => {
                path.push(':');
                chars.next();
            }
            ':' => paths.push(std::mem::take(&mut path)),
            c => path.push(c),
        }
    }
    paths.push(path);
    paths.retain(|path| !path.is_empty());
    paths
}

pub(super) fn some_paths(text: &str) -> Result<Vec<String>, Refused> {
    let paths = paths(text.trim());
    if paths.is_empty() {
        Err(Refused::whole(text, format!("`{text}` names no path"), "name one"))
    } else {
        Ok(paths)
    }
}
