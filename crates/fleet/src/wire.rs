//! Messages as bytes: JSON, compressed where that is worth it, in frames of bounded length.
//!
//! gRPC carries a [`Frame`] as one protobuf message; the pipe between an agent and the process of
//! a run carries the same bytes behind their length.

use std::io::{self, Read, Write};

use bytes::Bytes;
use candor_plan::values;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest message on its way, in bytes.
pub const FRAME_MAX: usize = 32 << 20;
/// Longest message once it is unpacked, in bytes.
const UNPACKED_MAX: usize = 256 << 20;
/// Shorter messages are not compressed.
const PACKED_FROM: usize = 4 << 10;

const PLAIN: u8 = 0;
const GZIP: u8 = 1;

/// A message as gRPC carries it.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Frame {
    /// Bytes, as [`encode`] makes them.
    #[prost(bytes = "bytes", tag = "1")]
    pub body: Bytes,
}

/// Bytes that are no message.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Nothing, or of an unknown kind.
    #[error("a message of {length} bytes begins with no known mark")]
    Unmarked {
        /// Length in bytes.
        length: usize,
    },
    /// Not gzip, or more than a message may have.
    #[error("a message cannot be unpacked: {0}")]
    Packed(io::Error),
    /// No document of a message.
    #[error("a message makes no sense: {0}")]
    Document(String),
    /// More than a frame may have.
    #[error("a message has {length} bytes, more than {most}")]
    Long {
        /// Length in bytes.
        length: usize,
        /// Most bytes that it may have.
        most: usize,
    },
}

/// A message as bytes.
///
/// # Errors
/// It is longer than a frame may be.
pub fn encode(message: &impl Serialize) -> Result<Bytes, WireError> {
    let mut bytes = vec![PLAIN];
    serde_json::to_writer(&mut bytes, message)
        .map_err(|error| WireError::Document(error.to_string()))?;
    fits(bytes.len(), UNPACKED_MAX)?;
    if bytes.len() >= PACKED_FROM {
        let mut packer = GzEncoder::new(vec![GZIP], Compression::fast());
        packer.write_all(&bytes[1..]).map_err(WireError::Packed)?;
        bytes = packer.finish().map_err(WireError::Packed)?;
    }
    fits(bytes.len(), FRAME_MAX)?;
    Ok(bytes.into())
}

fn fits(length: usize, most: usize) -> Result<(), WireError> {
    if length > most { Err(WireError::Long { length, most }) } else { Ok(()) }
}

/// The message of some bytes.
///
/// # Errors
/// They are none.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    match bytes.split_first() {
        Some((&PLAIN, document)) => values::from_json(document).map_err(WireError::Document),
        Some((&GZIP, packed)) => {
            let mut document = Vec::new();
            let mut bounded = GzDecoder::new(packed).take(UNPACKED_MAX as u64 + 1);
            bounded.read_to_end(&mut document).map_err(WireError::Packed)?;
            fits(document.len(), UNPACKED_MAX)?;
            values::from_json(&document).map_err(WireError::Document)
        }
        _ => Err(WireError::Unmarked { length: bytes.len() }),
    }
}

/// Writes a frame to a pipe.
///
/// # Errors
/// The kernel's.
pub fn write(pipe: &mut impl Write, body: &[u8]) -> io::Result<()> {
    pipe.write_all(&(body.len() as u32).to_le_bytes())?;
    pipe.write_all(body)?;
    pipe.flush()
}

/// Reads a frame from a pipe; none at its end.
///
/// # Errors
/// The kernel's, or a frame that is cut off or too long.
pub fn read(pipe: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match pipe.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_le_bytes(length) as usize;
    let fits = fits(length, FRAME_MAX);
    fits.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let mut body = vec![0; length];
    pipe.read_exact(&mut body)?;
    Ok(Some(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{FromAgent, ToAgent};

    #[test]
    fn messages_come_back_as_they_were_short_or_packed() {
        let long = "x".repeat(100_000);
        for text in ["", "a word", &long] {
            let bytes = encode(&text).expect("it is short enough");
            assert!(bytes.len() < 10_000, "{} bytes", bytes.len());
            assert_eq!(decode::<String>(&bytes).expect("a message"), text);
        }
        let mut pipe = Vec::new();
        for body in [&b""[..], b"abc"] {
            write(&mut pipe, body).expect("written");
        }
        let mut pipe = pipe.as_slice();
        assert_eq!(read(&mut pipe).expect("a frame"), Some(Vec::new()));
        assert_eq!(read(&mut pipe).expect("a frame"), Some(b"abc".to_vec()));
        assert_eq!(read(&mut pipe).expect("the end"), None);
    }

    #[test]
    fn garbage_is_refused_in_a_sentence() {
        let bomb = {
            let mut packer = GzEncoder::new(vec![GZIP], Compression::fast());
            let mut spaces = io::repeat(b' ').take(UNPACKED_MAX as u64 + 10);
            io::copy(&mut spaces, &mut packer).expect("packed");
            packer.finish().expect("packed")
        };
        let cases: [(&[u8], &str); 5] = [
            (b"", "a message of 0 bytes begins with no known mark"),
            (b"GET / HTTP/1.1", "a message of 14 bytes begins with no known mark"),
            (b"\0{\"ping\":", "a message makes no sense"),
            (b"\x01nonsense", "a message cannot be unpacked"),
            (&bomb, "a message has"),
        ];
        for (bytes, sentence) in cases {
            let error = decode::<ToAgent>(bytes).expect_err("no message").to_string();
            assert!(error.starts_with(sentence), "{error}");
            assert!(decode::<FromAgent>(bytes).is_err());
        }
        let mut long: &[u8] = &[0xff; 8];
        assert!(read(&mut long).is_err());
        let mut cut: &[u8] = &[5, 0, 0, 0, 1, 2];
        assert!(read(&mut cut).is_err());
    }
}
