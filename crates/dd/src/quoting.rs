//! File names in messages as coreutils quote them: a shell reads them back.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The name in quotes.
pub fn always(name: &OsStr) -> String {
    let bytes = name.as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    let has = |wanted: &[u8]| bytes.iter().any(|byte| wanted.contains(byte));
    if bytes.iter().all(is_plain) && has(b"'") && !has(b"\"$`\\!") {
        return format!("\"{}\"", name.to_string_lossy());
    }
    let mut text = String::from("'");
    let mut is_escape = false;
    for byte in bytes {
        if is_plain(byte) {
            text.push_str(if std::mem::take(&mut is_escape) { "''" } else { "" });
            match byte {
                b'\'' => text.push_str("'\\''"),
                _ => text.push(char::from(*byte)),
            }
            continue;
        }
        text.push_str(if std::mem::replace(&mut is_escape, true) { "" } else { "'$'" });
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\r' => text.push_str("\\r"),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text + "'"
}

/// The name, in quotes if a shell needs them.
pub fn if_needed(name: &OsStr) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,".contains(byte);
    if !name.is_empty() && name.as_bytes().iter().all(is_plain) {
        name.to_string_lossy().into_owned()
    } else {
        always(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_the_installed_tool_does() {
        for (name, quoted) in [
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", "\"it's\""),
            ("a\"b", "'a\"b'"),
            ("a'\"b", "'a'\\''\"b'"),
            ("x\ny", "'x'$'\\n''y'"),
            ("é", "''$'\\303\\251'"),
        ] {
            assert_eq!(always(name.as_ref()), quoted, "{name}");
        }
        assert_eq!(if_needed("/dev/loop1".as_ref()), "/dev/loop1");
        assert_eq!(if_needed("a b".as_ref()), "'a b'");
    }
}
