//! The words of `conv=`, `iflag=` and `oflag=`.

use candor_front::Choice;

/// Chosen words of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    choices: &'static [Choice],
    /// A bit for each choice.
    bits: u32,
}

impl Chosen {
    /// None of a list.
    pub const fn none_of(choices: &'static [Choice]) -> Chosen {
        Chosen { choices, bits: 0 }
    }

    /// True for a chosen word.
    pub fn has(&self, word: &str) -> bool {
        self.bit(word).is_some_and(|bit| self.bits & bit != 0)
    }

    /// Number of chosen words among these.
    pub fn count(&self, words: &[&str]) -> usize {
        words.iter().filter(|word| self.has(word)).count()
    }

    /// Chooses the words of a comma-separated list.
    ///
    /// # Errors
    /// The unknown word.
    pub fn add<'t>(&mut self, list: &'t str) -> Result<(), &'t str> {
        for word in list.split(',') {
            self.bits |= self.bit(word).ok_or(word)?;
        }
        Ok(())
    }

    fn bit(&self, word: &str) -> Option<u32> {
        let at = self.choices.iter().position(|choice| choice.word == word)?;
        Some(1 << at)
    }
}

const fn choice(word: &'static str, help: &'static str) -> Choice {
    Choice { word, help }
}

/// Conversions.
#[rustfmt::skip]
pub const CONVERSIONS: &[Choice] = &[
    choice("ascii", "Convert EBCDIC to ASCII; with cbs, records to lines"),
    choice("ebcdic", "Convert ASCII to EBCDIC; with cbs, lines to records"),
    choice("ibm", "Like ebcdic, with the alternate table of POSIX"),
    choice("block", "Convert lines to records of cbs bytes, padded with spaces"),
    choice("unblock", "Convert records of cbs bytes to lines without trailing spaces"),
    choice("lcase", "Convert upper case to lower case"),
    choice("ucase", "Convert lower case to upper case"),
    choice("sparse", "Write holes for blocks of zeros, if the output can seek"),
    choice("swab", "Swap the bytes of each pair"),
    choice("sync", "Pad short input blocks with zeros, or spaces for records"),
    choice("excl", "Fail if the output file exists"),
    choice("nocreat", "Fail if the output file does not exist"),
    choice("notrunc", "Do not truncate the output file"),
    choice("noerror", "Continue after read errors, without the affected block"),
    choice("fdatasync", "Flush the data of the output at the end"),
    choice("fsync", "Flush data and metadata of the output at the end"),
];

/// Flags of either file.
#[rustfmt::skip]
pub const FLAGS: &[Choice] = &[
    choice("append", "Append each write to the file"),
    choice("direct", "Bypass the page cache"),
    choice("directory", "Fail if the file is not a directory"),
    choice("dsync", "Wait for the device at each write"),
    choice("sync", "Like dsync, for metadata, too"),
    choice("nonblock", "Use non-blocking I/O"),
    choice("noatime", "Do not update access times"),
    choice("nocache", "Drop copied pages from the page cache"),
    choice("noctty", "Do not make a terminal the controlling terminal"),
    choice("nofollow", "Fail if the path ends in a symbolic link"),
    choice("count_bytes", "Count in bytes (input)"),
    choice("skip_bytes", "Skip in bytes (input)"),
    choice("seek_bytes", "Seek in bytes (output)"),
    choice("fullblock", "Fill each input block (input)"),
];
