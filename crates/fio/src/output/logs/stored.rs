//! Compressed logs: zlib streams one after the other, each of whole entries as fio stores them.

use std::io::{self, Write};

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::TINFLStatus as Status;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::entry::Entry;

/// Bytes that become one stream.
const STREAM_BYTES: usize = 128 << 10;
/// A stream that holds more than this is not believed.
const STREAM_BYTES_MAX: usize = 1 << 30;
/// zlib's usual compromise between time and size.
const LEVEL: u8 = 6;

/// Collects entries, and writes a stream whenever there are enough.
#[derive(Default)]
pub(super) struct Store(Vec<u8>);

impl Store {
    /// Adds an entry.
    pub fn add(&mut self, entry: &Entry, out: &mut impl Write) -> io::Result<()> {
        entry.store(&mut self.0);
        if self.0.len() >= STREAM_BYTES { self.flush(out) } else { Ok(()) }
    }

    /// Writes the collected entries.
    pub fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        if !self.0.is_empty() {
            out.write_all(&compress_to_vec_zlib(&self.0, LEVEL))?;
            self.0.clear();
        }
        Ok(())
    }
}

/// The lines of a compressed log; a sentence if it is none.
pub fn inflate(mut stored: &[u8]) -> Result<String, String> {
    let mut text = Vec::new();
    while !stored.is_empty() {
        let (entries, rest) = stream(stored)?;
        let mut entries = &entries[..];
        while !entries.is_empty() {
            let (entry, others) = Entry::stored(entries).ok_or("its last entry is cut off")?;
            // Writing to memory cannot fail.
            let _ = entry.line(&mut text);
            entries = others;
        }
        stored = rest;
    }
    String::from_utf8(text).map_err(|error| error.to_string())
}

/// The text of the first stream, and the bytes after it.
fn stream(stored: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    let flags = inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER
        | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let mut state = Box::<DecompressorOxide>::default();
    let (mut out, mut read, mut written) = (vec![0; STREAM_BYTES], 0, 0);
    loop {
        let (status, taken, given) =
            decompress(&mut state, &stored[read..], &mut out, written, flags);
        (read, written) = (read + taken, written + given);
        match status {
            Status::Done => break,
            Status::HasMoreOutput if out.len() < STREAM_BYTES_MAX => out.resize(out.len() * 2, 0),
            Status::HasMoreOutput => return Err("it is too large".into()),
            Status::FailedCannotMakeProgress | Status::NeedsMoreInput => {
                return Err("it is cut off".into());
            }
            _ => return Err("it is no compressed log".into()),
        }
    }
    out.truncate(written);
    Ok((out, &stored[read..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stored(entries: &[Entry]) -> Vec<u8> {
        let (mut store, mut out) = (Store::default(), Vec::new());
        entries.iter().for_each(|entry| store.add(entry, &mut out).expect("memory"));
        store.flush(&mut out).expect("memory");
        out
    }

    fn entry(number: u64) -> Entry {
        let offset = number.is_multiple_of(2).then_some(number << 12);
        let direction = (number % 3) as u8;
        Entry {
            time_ms: number,
            value: number * 7,
            direction,
            bytes: 4096,
            offset,
            ..Entry::default()
        }
    }

    #[test]
    fn entries_come_back_as_lines() {
        let high = Entry { priority: 0x2001, ..entry(4) };
        let full = Entry { full_priority: true, ..high };
        assert_eq!(
            inflate(&stored(&[entry(1), entry(2), high, full])).as_deref(),
            Ok("1, 7, 1, 4096, 0\n2, 14, 2, 4096, 8192, 0\n4, 28, 1, 4096, 16384, 1\n\
                4, 28, 1, 4096, 16384, 0x2001\n")
        );
        assert_eq!(inflate(&[]).as_deref(), Ok(""));
    }

    #[test]
    fn many_entries_are_several_streams() {
        let many: Vec<Entry> = (0..20_000).map(entry).collect();
        let lines = inflate(&stored(&many)).expect("a log");
        assert_eq!(lines.lines().count(), 20_000);
        assert!(lines.ends_with("19999, 139993, 1, 4096, 0\n"));
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_reported() {
        let whole = stored(&[entry(1)]);
        assert_eq!(inflate(&whole[..whole.len() - 1]), Err("it is cut off".into()));
        assert_eq!(inflate(b"0, 1, 0, 4096, 0\n"), Err("it is no compressed log".into()));
        let half = compress_to_vec_zlib(&[0; 40], LEVEL);
        assert_eq!(inflate(&half), Err("its last entry is cut off".into()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = inflate(&bytes);
        }
    }
}
