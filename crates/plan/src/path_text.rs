//! Paths as text: plans, reports and command lines are UTF-8, names of files need not be.
//!
//! A [`Path`] has the kernel's bytes, a string has text. Each byte that is no UTF-8 is one
//! private-use character in text, `U+EF80` to `U+EFFF`. Bytes of such a character in a real name
//! are mapped in the same way, so the mapping is exact.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Character of the byte 0.
const BASE: u32 = 0xef00;

/// A path, or a word of a command line, as text.
pub trait PathText {
    /// The text of which [`path_of`] makes the same path.
    fn text(&self) -> String;
}

impl PathText for OsStr {
    fn text(&self) -> String {
        text_of(self.as_bytes())
    }
}

impl PathText for Path {
    fn text(&self) -> String {
        self.as_os_str().text()
    }
}

/// The path that a text names.
pub fn path_of(text: &str) -> PathBuf {
    PathBuf::from(word_of(text))
}

/// The word of a command line that a text names.
pub fn word_of(text: &str) -> OsString {
    OsString::from_vec(bytes_of(text).into_owned())
}

/// The byte that a private-use character represents.
pub fn byte_of(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).wrapping_sub(BASE)).ok().filter(|byte| !byte.is_ascii())
}

/// The private-use character that represents a byte.
fn char_of(byte: u8) -> Option<char> {
    char::from_u32(BASE + u32::from(byte))
}

/// Bytes as text.
pub fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                None => text.push(c),
                Some(_) => text.extend(c.encode_utf8(&mut [0; 4]).bytes().filter_map(char_of)),
            }
        }
        text.extend(chunk.invalid().iter().copied().filter_map(char_of));
    }
    text
}

/// The bytes of a text.
pub fn bytes_of(text: &str) -> Cow<'_, [u8]> {
    if !text.chars().any(|c| byte_of(c).is_some()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// Paths of a plan, which serde writes and reads as text.
pub mod as_text {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer};

    use super::{PathText, path_of};

    /// Writes the text of a path.
    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&path.text())
    }

    /// Reads the path of a text.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(path_of(&String::deserialize(from)?))
    }
}

/// The same for paths that may be absent.
pub mod as_text_or_none {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{PathText, path_of};

    /// Writes the text of a path, or nothing.
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        path.as_deref().map(PathText::text).serialize(to)
    }

    /// Reads the path of a text, or none.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.as_deref().map(path_of))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_that_are_no_text_have_a_character_each() {
        assert_eq!(text_of(b"f\xff/\xc3\xa9"), "f\u{efff}/é");
        assert_eq!(bytes_of("f\u{efff}/é"), Cow::from(b"f\xff/\xc3\xa9"));
        assert!(matches!(bytes_of("plain/é\u{ef7f}"), Cow::Borrowed(_)));
        let own = "\u{ef80}\u{efff}\u{f000}";
        assert_eq!(text_of(own.as_bytes()).chars().count(), 7);
        assert_eq!(bytes_of(&text_of(own.as_bytes())), own.as_bytes());
    }

    proptest! {
        #[test]
        fn text_names_the_same_bytes(
            any in prop::collection::vec(any::<u8>(), 0..40),
            own in "[\u{ef70}-\u{f010}é/a]{0,8}",
        ) {
            for bytes in [&any[..], own.as_bytes(), &[own.as_bytes(), &any].concat()] {
                let text = text_of(bytes);
                prop_assert_eq!(&*bytes_of(&text), bytes);
                prop_assert_eq!(text_of(&bytes_of(&text)), text);
            }
        }
    }
}
