//! dd's operands.

mod read;
mod table;

use std::ffi::OsString;

use smart_default::SmartDefault;

use super::symbols::{CONVERSIONS, Chosen, FLAGS};

pub use read::{Mistake, read};
pub use table::{TABLE, help};

/// A distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distance {
    /// The number.
    pub number: u64,
    /// The number counts bytes, not blocks.
    pub in_bytes: bool,
}

/// Translation of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// EBCDIC to ASCII.
    Ascii,
    /// ASCII to EBCDIC.
    Ebcdic,
    /// ASCII to EBCDIC by the alternate table.
    Ibm,
}

/// Conversion between lines and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// Lines to records.
    Block,
    /// Records to lines.
    Unblock,
}

/// Change of case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// To lower case.
    Lower,
    /// To upper case.
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
    /// The closing lines except the last.
    NoTransfer,
    /// A line each second, and the closing lines.
    Progress,
}

/// A copy as requested.
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq)]
pub struct Options {
    /// Input file; stdin if absent.
    pub input: Option<OsString>,
    /// Output file; stdout if absent.
    pub output: Option<OsString>,
    /// Size of input blocks in bytes.
    #[default(512)]
    pub input_block: usize,
    /// Size of output blocks in bytes.
    #[default(512)]
    pub output_block: usize,
    /// Size of input and output blocks (`bs=`), which overrides both sizes.
    pub block: Option<usize>,
    /// Size of records in bytes.
    pub record_bytes: Option<u64>,
    /// Part of the input to skip.
    pub skip: Distance,
    /// Part of the output to skip.
    pub seek: Distance,
    /// Part of the input to copy.
    pub count: Option<Distance>,
    /// Translation of characters.
    pub charset: Option<Charset>,
    /// Conversion between lines and records; only with `record_bytes`.
    pub records: Option<Records>,
    /// Change of case.
    pub case: Option<Case>,
    /// The words of `conv=`.
    #[default(Chosen::none_of(CONVERSIONS))]
    pub conversions: Chosen,
    /// The words of `iflag=`.
    #[default(Chosen::none_of(FLAGS))]
    pub input_flags: Chosen,
    /// The words of `oflag=`.
    #[default(Chosen::none_of(FLAGS))]
    pub output_flags: Chosen,
    /// The amount of information.
    pub status: Status,
    /// Sentences to print before the copy.
    pub warnings: Vec<String>,
}

impl Options {
    /// True for a word of `conv=`.
    pub fn has(&self, conversion: &str) -> bool {
        self.conversions.has(conversion)
    }

    /// True if the command line names a conversion of bytes, even one that changes none: input
    /// blocks are then gathered into output blocks.
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
    /// A copy.
    Copy(Box<Options>),
}

#[cfg(test)]
pub(crate) mod tests;
