//! Command lines that a shell reads back as they were.

use crate::path_text::bytes_of;
use crate::visible::is_hidden;

/// The word as a shell takes it: in quotes where it holds more than letters, digits and a few signs
/// that no shell gives a meaning. Characters that would control a terminal, and bytes that are no
/// text, are bytes in `$'\x1b'`.
pub fn quoted(word: &str) -> String {
    let mut special = word.chars().filter(|c| !c.is_alphanumeric());
    if !word.is_empty() && special.all(|c| "/._-+=:@%,^".contains(c)) {
        return word.to_owned();
    }
    if !word.chars().any(is_hidden) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut text = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            c if is_hidden(c) => {
                for byte in bytes_of(c.encode_utf8(&mut [0; 4])).iter() {
                    text.push_str(&format!("\\x{byte:02x}"));
                }
            }
            c => text.push(c),
        }
    }
    text.push('\'');
    text
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

    #[test]
    fn a_shell_reads_back_each_word() {
        let words = [
            "",
            "plain-1.0/x",
            "a b",
            "it's",
            "$HOME",
            "\u{1b}[2Jx'\\\n",
            "é\u{202e}ü1",
            "f\u{efe9}\u{efff}1",
            "*",
            "~a",
        ];
        for word in words {
            let script = format!("printf %s {}", quoted(word));
            assert!(!script.chars().any(is_hidden), "{script:?}");
            let ran = std::process::Command::new("bash").args(["-c", &script]).output();
            let Ok(ran) = ran else { return println!("skipped: there is no bash") };
            assert_eq!(ran.stdout, *bytes_of(word), "{script}");
        }
    }
}
