//! Percent-encoding of paths and queries, hexadecimal and base64 text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Bytes that a query value encodes: all but the unreserved ones of RFC 3986.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Bytes that a path encodes.
const PATH: &AsciiSet = &VALUE.remove(b'/');

/// Appends a key in the encoding of paths, which keeps `/`.
pub fn path(to: &mut String, key: &str) {
    to.extend(utf8_percent_encode(key, PATH));
}

/// Appends the name or the value of a query parameter.
pub fn value(to: &mut String, text: &str) {
    to.extend(utf8_percent_encode(text, VALUE));
}

/// Text of `encoding-type=url`, where `+` is a blank. Bytes that are no UTF-8 become U+FFFD.
pub fn decoded(text: &str) -> String {
    if text.contains('+') {
        return decoded(&text.replace('+', "%20"));
    }
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Appends bytes as lower-case hexadecimal digits.
pub fn hex(to: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        to.push(char::from(DIGITS[usize::from(byte >> 4)]));
        to.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Base64 with padding of up to 32 bytes, without an allocation.
pub struct Base64 {
    text: [u8; 44],
    length: usize,
}

impl Base64 {
    /// Encodes bytes.
    ///
    /// # Panics
    /// Panics for more than 32 bytes.
    pub fn of(bytes: &[u8]) -> Base64 {
        let mut text = [0; 44];
        let length = STANDARD.encode_slice(bytes, &mut text).expect("at most 32 bytes");
        Base64 { text, length }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).expect("base64 is ASCII")
    }
}

/// Base64 with padding.
pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes of a base64 text with padding; none if the text is malformed.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded_path(key: &str) -> String {
        let mut text = String::new();
        path(&mut text, key);
        text
    }

    #[test]
    fn paths_keep_slashes_and_unreserved_bytes() {
        assert_eq!(encoded_path("a/b c+d%~é$"), "a/b%20c%2Bd%25~%C3%A9%24");
        let mut text = String::new();
        value(&mut text, "a/b");
        assert_eq!(text, "a%2Fb");
    }

    #[test]
    fn a_plus_is_a_blank_in_answers() {
        assert_eq!(decoded("a+b%2Bc%20d"), "a b+c d");
        assert_eq!(decoded("%zz%F"), "%zz%F");
    }

    proptest! {
        #[test]
        fn decoding_reverses_encoding(key in any::<String>()) {
            prop_assert_eq!(decoded(&encoded_path(&key)), key);
        }
    }
}
