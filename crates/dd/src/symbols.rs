//! The words of `conv=`, `iflag=` and `oflag=`.

use candor_front::Choice;

/// Words that were chosen of a list.
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

    /// True where that word was chosen.
    pub fn has(&self, word: &str) -> bool {
        self.bit(word).is_some_and(|bit| self.bits & bit != 0)
    }

    /// How many of these words were chosen.
    pub fn count(&self, words: &[&str]) -> usize {
        words.iter().filter(|word| self.has(word)).count()
    }

    /// Chooses the words of a list with commas.
    ///
    /// # Errors
    /// The word that is none of them.
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
    choice("ascii", "EBCDIC becomes ASCII; with cbs, records become lines"),
    choice("ebcdic", "ASCII becomes EBCDIC; with cbs, lines become records"),
    choice("ibm", "as ebcdic, by the alternate table of POSIX"),
    choice("block", "lines become records of cbs bytes, padded with spaces"),
    choice("unblock", "records of cbs bytes become lines, without trailing spaces"),
    choice("lcase", "capital letters become small ones"),
    choice("ucase", "small letters become capital ones"),
    choice("sparse", "blocks of zeros become holes where the output can seek"),
    choice("swab", "the bytes of each pair change places"),
    choice("sync", "short input blocks are filled with zeros, with spaces for records"),
    choice("excl", "the output file must be a new one"),
    choice("nocreat", "the output file must be there"),
    choice("notrunc", "the output file keeps what is not written"),
    choice("noerror", "a read error costs one block, and the copy continues"),
    choice("fdatasync", "the data of the output is flushed at the end"),
    choice("fsync", "as fdatasync, and its metadata as well"),
];

/// Flags of either file.
#[rustfmt::skip]
pub const FLAGS: &[Choice] = &[
    choice("append", "each write goes to the end of the file"),
    choice("direct", "past the page cache"),
    choice("directory", "the file must be a directory"),
    choice("dsync", "each write waits for the device"),
    choice("sync", "as dsync, for metadata as well"),
    choice("nonblock", "calls do not wait"),
    choice("noatime", "reading leaves the time of the last access alone"),
    choice("nocache", "pages are dropped from the page cache once they are copied"),
    choice("noctty", "a terminal does not become the controlling one"),
    choice("nofollow", "the last part of the path may be no link"),
    choice("count_bytes", "count is in bytes (input)"),
    choice("skip_bytes", "skip is in bytes (input)"),
    choice("seek_bytes", "seek is in bytes (output)"),
    choice("fullblock", "reads continue until a block is full (input)"),
];
