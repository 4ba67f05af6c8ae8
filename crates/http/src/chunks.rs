//! Chunked transfer coding.

use crate::answer::{Fault, FaultKind};

/// Longest extension of a chunk and longest trailer.
const LINE_LIMIT: usize = 64 * 1024;

/// Position within a chunked body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chunks {
    /// Before the first digit of a size.
    #[default]
    Start,
    /// After a digit of a size.
    Size(u64),
    /// After the size, up to the end of the line.
    Extension {
        /// Size of the chunk.
        size: u64,
        /// Bytes of the extension.
        length: usize,
    },
    /// Within a chunk: bytes that remain.
    Data(u64),
    /// After a chunk, before the end of its line.
    DataEnd,
    /// After the CR of a chunk's end.
    DataLineFeed,
    /// After the last chunk.
    Trailer {
        /// Bytes of the trailer.
        length: usize,
        /// Bytes of the current line, without CR.
        line: usize,
    },
    /// After the trailer.
    Done,
}

impl Chunks {
    /// Reads one byte outside of a chunk's data.
    pub fn framing(&mut self, byte: u8) -> Result<(), Fault> {
        *self = match (*self, byte) {
            (Chunks::Start, _) => Chunks::Size(digit(byte)?),
            (Chunks::Size(size), b'\n') => after_size(size),
            (Chunks::Size(size), b'\r' | b';' | b' ' | b'\t') => {
                Chunks::Extension { size, length: 0 }
            }
            (Chunks::Size(size), _) => {
                let larger = size.checked_mul(16).ok_or_else(|| broken("a size above 2^64", byte));
                Chunks::Size(larger? + digit(byte)?)
            }
            (Chunks::Extension { size, .. }, b'\n') => after_size(size),
            (Chunks::Extension { size, length }, _) if length < LINE_LIMIT => {
                Chunks::Extension { size, length: length + 1 }
            }
            (Chunks::Extension { .. }, _) => return Err(broken("an extension above 64 KiB", byte)),
            (Chunks::DataEnd, b'\r') => Chunks::DataLineFeed,
            (Chunks::DataEnd | Chunks::DataLineFeed, b'\n') => Chunks::Start,
            (Chunks::DataEnd | Chunks::DataLineFeed, _) => {
                return Err(broken("a chunk longer than its size", byte));
            }
            (Chunks::Trailer { line: 0, .. }, b'\n') => Chunks::Done,
            (Chunks::Trailer { length, .. }, _) if length == LINE_LIMIT => {
                return Err(broken("a trailer above 64 KiB", byte));
            }
            (Chunks::Trailer { length, .. }, b'\n') => {
                Chunks::Trailer { length: length + 1, line: 0 }
            }
            (Chunks::Trailer { length, line }, _) => {
                Chunks::Trailer { length: length + 1, line: line + usize::from(byte != b'\r') }
            }
            (Chunks::Data(_) | Chunks::Done, _) => unreachable!("no framing follows {self:?}"),
        };
        Ok(())
    }

    /// Counts bytes of the current chunk, at most its remaining ones.
    pub fn data(&mut self, bytes: u64) {
        let Chunks::Data(remaining) = *self else { unreachable!("no chunk in {self:?}") };
        let left = remaining.checked_sub(bytes).expect("at most the chunk's remaining bytes");
        *self = if left == 0 { Chunks::DataEnd } else { Chunks::Data(left) };
    }
}

fn after_size(size: u64) -> Chunks {
    if size == 0 { Chunks::Trailer { length: 0, line: 0 } } else { Chunks::Data(size) }
}

fn digit(byte: u8) -> Result<u64, Fault> {
    let digit = char::from(byte).to_digit(16).map(u64::from);
    digit.ok_or_else(|| broken("a size that is not hexadecimal", byte))
}

fn broken(rule: &str, byte: u8) -> Fault {
    let message = format!("the chunked body has {rule}, at {:?}", char::from(byte));
    Fault::new(FaultKind::Malformed, message)
}
