//! Command lines that a shell reads back as they were.

/// The word as a shell takes it: in quotes where it holds more than letters, digits and a few
/// signs that no shell gives a meaning.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,^".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_need_quotes_have_them() {
        assert_eq!(quoted("--bs=4k,8k"), "--bs=4k,8k");
        assert_eq!(quoted("/data/größe"), "/data/größe");
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
        assert_eq!(
            (quoted(""), quoted("~/x"), quoted("$A")),
            ("''".into(), "'~/x'".into(), "'$A'".into())
        );
    }
}
