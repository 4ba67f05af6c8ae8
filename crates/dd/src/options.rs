//! dd's operands.

mod read;
mod table;

use std::ffi::OsString;

use super::symbols::{CONVERSIONS, Chosen, FLAGS};

pub use read::{Mistake, read};
pub use table::{TABLE, help};

/// A distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distance {
    /// The number.
    pub number: u64,
    /// Of bytes, not of blocks.
    pub in_bytes: bool,
}

/// A change of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// EBCDIC to ASCII.
    Ascii,
    /// ASCII to EBCDIC.
    Ebcdic,
    /// ASCII to EBCDIC by the alternate table.
    Ibm,
}

/// A change between lines and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// Lines to records.
    Block,
    /// Records to lines.
    Unblock,
}

/// A change of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// To small ones.
    Lower,
    /// To capital ones.
    Upper,
}

/// The amount of information on stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The closing lines.
    #[default]
    Default,
    /// Errors alone.
    None,
    /// The closing lines without the last.
    NoTransfer,
    /// A line each second, and the closing lines.
    Progress,
}

/// A copy as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The input file; standard input where there is none.
    pub input: Option<OsString>,
    /// The output file; standard output where there is none.
    pub output: Option<OsString>,
    /// Size of input blocks in bytes.
    pub input_block: usize,
    /// Size of output blocks in bytes.
    pub output_block: usize,
    /// Both sizes were given as one (`bs=`).
    pub same_blocks: bool,
    /// Size of records in bytes.
    pub record_bytes: Option<u64>,
    /// The part of the input to pass over.
    pub skip: Distance,
    /// The part of the output to pass over.
    pub seek: Distance,
    /// The part of the input to copy.
    pub count: Option<Distance>,
    /// The change of characters.
    pub charset: Option<Charset>,
    /// The change between lines and records; only with `record_bytes`.
    pub records: Option<Records>,
    /// The change of letters.
    pub case: Option<Case>,
    /// The words of `conv=`.
    pub conversions: Chosen,
    /// The words of `iflag=`.
    pub input_flags: Chosen,
    /// The words of `oflag=`.
    pub output_flags: Chosen,
    /// The amount of information.
    pub status: Status,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            input: None,
            output: None,
            input_block: 512,
            output_block: 512,
            same_blocks: false,
            record_bytes: None,
            skip: Distance::default(),
            seek: Distance::default(),
            count: None,
            charset: None,
            records: None,
            case: None,
            conversions: Chosen::none_of(CONVERSIONS),
            input_flags: Chosen::none_of(FLAGS),
            output_flags: Chosen::none_of(FLAGS),
            status: Status::Default,
        }
    }
}

impl Options {
    /// True for a word of `conv=`.
    pub fn has(&self, conversion: &str) -> bool {
        self.conversions.has(conversion)
    }

    /// True where a conversion of bytes is named, though it may change none: input blocks are then
    /// gathered to output blocks.
    pub fn transforms(&self) -> bool {
        const WORDS: &[&str] =
            &["ascii", "ebcdic", "ibm", "block", "unblock", "lcase", "ucase", "swab"];
        self.conversions.count(WORDS) > 0
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The help.
    Help,
    /// The version.
    Version,
    /// A copy, and what to warn about.
    Copy(Box<Options>, Vec<String>),
}

#[cfg(test)]
pub(crate) mod tests;
