//! dd's conversions between input and output blocks.

use super::ebcdic::{self, Bytes};
use super::options::{Case, Charset, Options, Records};

/// Most bytes of converted data passed on at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Receives converted bytes.
pub type Put<'a, E> = &'a mut dyn FnMut(&[u8]) -> Result<(), E>;

/// The conversions of a copy, with their state, which continues across blocks.
#[derive(Debug)]
pub struct Conversion {
    bytes: Bytes,
    swaps: bool,
    /// A byte that waits for its pair (`swab`).
    odd: Option<u8>,
    records: Option<(Records, u64)>,
    newline: u8,
    space: u8,
    /// Bytes of the current line or record.
    column: u64,
    /// Trailing spaces of a record, written only if more bytes follow.
    spaces: u64,
    /// Lines longer than a record.
    truncated: u64,
    piece: Vec<u8>,
}

impl Conversion {
    /// The conversions of a copy; `None` if bytes stay unchanged.
    pub fn of(options: &Options) -> Option<Conversion> {
        let records = options.records.zip(options.record_bytes);
        let converts = options.charset.is_some() || options.case.is_some() || records.is_some();
        if !converts && !options.has("swab") {
            return None;
        }
        let bytes = bytes(options.charset, options.case);
        let is_ebcdic = matches!(options.charset, Some(Charset::Ebcdic | Charset::Ibm));
        let of = |byte: u8| if is_ebcdic { bytes[usize::from(byte)] } else { byte };
        Some(Conversion {
            bytes,
            swaps: options.has("swab"),
            odd: None,
            records,
            newline: of(b'\n'),
            space: of(b' '),
            column: 0,
            spaces: 0,
            truncated: 0,
            piece: Vec::with_capacity(PIECE_BYTES),
        })
    }

    /// Lines longer than a record so far.
    pub fn truncated(&self) -> u64 {
        self.truncated
    }

    /// Converts a block.
    ///
    /// # Errors
    /// The spans that `put` returned.
    pub fn convert<E>(&mut self, block: &[u8], put: Put<'_, E>) -> Result<(), E> {
        if self.swaps {
            for byte in block {
                match self.odd.take() {
                    None => self.odd = Some(*byte),
                    Some(first) => {
                        self.take(*byte, put)?;
                        self.take(first, put)?;
                    }
                }
            }
        } else {
            block.iter().try_for_each(|byte| self.take(*byte, put))?;
        }
        self.hand_on(put)
    }

    /// Writes pending bytes at the end of the input.
    ///
    /// # Errors
    /// The spans that `put` returned.
    pub fn finish<E>(&mut self, put: Put<'_, E>) -> Result<(), E> {
        if let Some(byte) = self.odd.take() {
            self.take(byte, put)?;
        }
        match self.records {
            Some((Records::Block, size)) if self.column > 0 => self.fill(size, put)?,
            Some((Records::Unblock, _)) if self.column > 0 => self.push(self.newline, put)?,
            _ => {}
        }
        self.hand_on(put)
    }

    fn take<E>(&mut self, byte: u8, put: Put<'_, E>) -> Result<(), E> {
        let byte = self.bytes[usize::from(byte)];
        match self.records {
            None => self.push(byte, put),
            Some((Records::Block, size)) => self.block(byte, size, put),
            Some((Records::Unblock, size)) => self.unblock(byte, size, put),
        }
    }

    /// Converts a line to a record.
    fn block<E>(&mut self, byte: u8, size: u64, put: Put<'_, E>) -> Result<(), E> {
        if byte == self.newline {
            self.fill(size, put)?;
            self.column = 0;
            return Ok(());
        }
        self.truncated += u64::from(self.column == size);
        self.column = self.column.saturating_add(1);
        if self.column <= size { self.push(byte, put) } else { Ok(()) }
    }

    /// Converts a record to a line.
    fn unblock<E>(&mut self, byte: u8, size: u64, put: Put<'_, E>) -> Result<(), E> {
        if self.column == size {
            (self.column, self.spaces) = (0, 0);
            self.push(self.newline, put)?;
        }
        self.column += 1;
        if byte == self.space {
            self.spaces += 1;
            return Ok(());
        }
        for _ in 0..std::mem::take(&mut self.spaces) {
            self.push(self.space, put)?;
        }
        self.push(byte, put)
    }

    /// Fills a record with spaces.
    fn fill<E>(&mut self, size: u64, put: Put<'_, E>) -> Result<(), E> {
        (self.column.min(size)..size).try_for_each(|_| self.push(self.space, put))
    }

    fn push<E>(&mut self, byte: u8, put: Put<'_, E>) -> Result<(), E> {
        self.piece.push(byte);
        if self.piece.len() == PIECE_BYTES { self.hand_on(put) } else { Ok(()) }
    }

    fn hand_on<E>(&mut self, put: Put<'_, E>) -> Result<(), E> {
        let done = put(&self.piece);
        self.piece.clear();
        done
    }
}

/// Translation of one byte. Letters change in ASCII: before the translation to EBCDIC, or after the
/// translation from it.
fn bytes(charset: Option<Charset>, case: Option<Case>) -> Bytes {
    let changed = |byte: u8| match case {
        Some(Case::Lower) => byte.to_ascii_lowercase(),
        Some(Case::Upper) => byte.to_ascii_uppercase(),
        None => byte,
    };
    let plain: Bytes = std::array::from_fn(|byte| byte as u8);
    match charset {
        None => plain.map(changed),
        Some(Charset::Ascii) => ebcdic::to_ascii().map(changed),
        Some(Charset::Ebcdic) => plain.map(|byte| ebcdic::from_ascii()[usize::from(changed(byte))]),
        Some(Charset::Ibm) => {
            plain.map(|byte| ebcdic::from_ascii_ibm()[usize::from(changed(byte))])
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::options::tests::copying;

    /// The converted text for blocks of each size, and the number of truncated lines.
    fn converted(operands: &[&str], text: &[u8]) -> (Vec<u8>, u64) {
        let options = copying(operands);
        let mut all = Vec::new();
        for size in [1, 2, 3, 7, 1000] {
            let mut out = Vec::new();
            let mut put = |bytes: &[u8]| -> Result<(), Infallible> {
                out.extend_from_slice(bytes);
                Ok(())
            };
            let mut conversion = Conversion::of(&options).expect("it converts");
            for block in text.chunks(size) {
                conversion.convert(block, &mut put).unwrap_or_else(|never| match never {});
            }
            conversion.finish(&mut put).unwrap_or_else(|never| match never {});
            all.push((out, conversion.truncated()));
        }
        assert!(all.windows(2).all(|two| two[0] == two[1]), "blocks matter: {operands:?}");
        all.remove(0)
    }

    #[test]
    fn lines_become_records_and_back() {
        let text = b"hello world\nfoo\nbar  \n\nx";
        let (records, truncated) = converted(&["conv=block", "cbs=4"], text);
        assert_eq!((&*records, truncated), (&b"hellfoo bar     x   "[..], 2));
        let (lines, _) = converted(&["conv=unblock", "cbs=4"], &records);
        assert_eq!(lines, b"hell\nfoo\nbar\n\nx\n");
        assert_eq!(converted(&["conv=unblock", "cbs=4"], b"ab").0, b"ab\n");
    }

    #[test]
    fn characters_change_before_records_are_made() {
        let (records, _) = converted(&["conv=ebcdic,ucase", "cbs=3"], b"a\nbc");
        assert_eq!(records, [0xc1, 0x40, 0x40, 0xc2, 0xc3, 0x40]);
        assert_eq!(converted(&["conv=ascii", "cbs=3"], &records).0, b"A\nBC\n");
        assert_eq!(converted(&["conv=ascii,lcase"], &records).0, b"a  bc ");
        assert_eq!(converted(&["conv=ibm"], b"[]~^").0, [0xad, 0xbd, 0xa1, 0x5f]);
    }

    #[test]
    fn pairs_change_places_over_the_ends_of_blocks() {
        assert_eq!(converted(&["conv=swab"], b"abcdefg").0, b"badcfeg");
        assert_eq!(converted(&["conv=swab,ucase"], b"abc").0, b"BAC");
    }
}
