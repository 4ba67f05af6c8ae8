//! Bytes of files: words that contain the task and the item.

use candor_front::Refused;
use candor_plan::blocks::{Content, Fill, Format, WordKind, Words};
use candor_plan::entries::VerifyItems;

/// Type of the written data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packet {
    /// Words of the seed and the word's number; all files of a task are equal.
    #[default]
    Timestamp,
    /// The same, with the item in one word of each 512.
    Offset,
    /// One repeated word of the seed, with the item in one word of each 512.
    Incompressible,
    /// A random sequence from the seed, the task and the item.
    Random,
}

impl Packet {
    /// The type that the first letter of a word names.
    ///
    /// # Errors
    /// The word names no type.
    pub fn of(text: &str) -> Result<Packet, Refused> {
        match text.get(..1) {
            Some("t") => Ok(Packet::Timestamp),
            Some("o") => Ok(Packet::Offset),
            Some("i") => Ok(Packet::Incompressible),
            Some("r") => Ok(Packet::Random),
            _ => {
                let message = format!("`{text}` is no kind of data");
                Err(Refused::whole(text, message, "give o, i, t or r"))
            }
        }
    }

    /// Content of this kind.
    pub fn content(self, seed: u64) -> Content {
        let kind = match self {
            Packet::Timestamp => WordKind::Timestamp,
            Packet::Offset => WordKind::Offset,
            Packet::Incompressible => WordKind::Incompressible,
            Packet::Random => WordKind::Random,
        };
        // A seed has at most 31 bits.
        let words = Words { kind, seed: seed as i32, rank_block: None };
        Content { fill: Fill::Words, words: Some(words), ..Content::default() }
    }
}

/// Verification of reads, or of written items when they are read back.
pub fn verify() -> VerifyItems {
    VerifyItems { format: Format::Words, continue_on_mismatch: true, ..VerifyItems::default() }
}
