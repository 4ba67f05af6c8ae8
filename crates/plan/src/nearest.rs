//! The word that a mistyped one was probably meant to be.

/// Longer words are not compared: a table of distances is quadratic.
const WORD_CHARS_MAX: usize = 64;

/// The candidate nearest to `word`, where one is near enough to be worth a suggestion.
///
/// Near enough means that at most a third of the word's letters, and at least one, were added,
/// left out, exchanged or swapped with their neighbour.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = normal(word);
    let limit = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&word, &normal(candidate))?, candidate)))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Case and the choice between `-`, `_` and space do not count as typing errors.
fn normal(word: &str) -> Vec<char> {
    let letters = word.chars().take(WORD_CHARS_MAX + 1);
    letters.map(|c| if c == '-' || c == ' ' { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// Number of edits between two words (optimal string alignment), absent for overlong words.
fn distance(left: &[char], right: &[char]) -> Option<usize> {
    if left.len() > WORD_CHARS_MAX || right.len() > WORD_CHARS_MAX {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut row = vec![i; right.len() + 1];
        for j in 1..=right.len() {
            let replaced = above[j - 1] + usize::from(left[i - 1] != right[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            let swapped =
                i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if swapped {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let keys = ["depth", "direct", "durability", "io_uring"];
        for (word, found) in [
            ("dept", Some("depth")),
            ("dpeth", Some("depth")),
            ("Direct", Some("direct")),
            ("io-uring", Some("io_uring")),
            ("iouring", Some("io_uring")),
            ("banana", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, keys), found, "{word}");
        }
        assert_eq!(nearest(&"d".repeat(1000), keys), None);
    }
}
