//! Files of a journal as bytes: the keys of all blocks, and logs of records.
//!
//! ```text
//! keys   header, crc | per file: chunks of 4096 keys, each with a crc | pending writes, crc | end
//! log.N  header, crc, padded to a sector | records of 40 bytes, each with its crc
//! ```
//!
//! A rename replaces the old keys, so keys are complete or missing. A log grows: its end may be
//! torn. A record holds the number of the first record of its batch. A bad record is the torn end
//! of the log if no later batch follows; otherwise the log is damaged.

use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crc_fast::CrcAlgorithm;

/// Bytes before the first record of a log.
pub const LOG_HEADER_BYTES: usize = 512;
/// Bytes of a record.
pub const RECORD_BYTES: usize = 40;
const KEYS_MAGIC: &[u8; 8] = b"candorK2";
const KEYS_END: &[u8; 8] = b"candorKE";
const LOG_MAGIC: &[u8; 8] = b"candorL2";
/// Number of keys per checksum.
const CHUNK: usize = 4096;
/// Maximum number of files, and maximum length of a path, that a reader accepts.
const FILES_MAX: usize = 1 << 24;
const PATH_BYTES_MAX: usize = 1 << 16;

/// State of a journal, without the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Logs of the same epoch follow these keys.
    pub epoch: u64,
    /// Seed in the headers of all blocks.
    pub seed: u64,
    /// True if writes are logged.
    pub is_logged: bool,
    /// True if no write has begun since the keys were stored.
    pub is_clean: bool,
}

/// A file whose blocks a journal knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHead {
    /// Absolute path.
    pub path: PathBuf,
    /// Bytes of a block.
    pub interval: u64,
    /// Offset of the first block.
    pub origin: u64,
    /// Number of blocks.
    pub blocks: usize,
    /// Hash of a tree's shape, which determines the positions of its blocks; 0 for a file.
    pub layout: u64,
}

/// A pending write: it may have happened or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingWrite {
    /// Number of the file.
    pub file: u32,
    /// Number of the block in its file.
    pub block: u64,
    /// Key of the block if the write did not happen.
    pub old: u32,
}

/// Keys of all blocks at a time without writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// State of the journal.
    pub head: Head,
    /// Files, each with the entries of its blocks.
    pub files: Vec<(FileHead, Vec<u32>)>,
    /// Pending writes.
    pub pending: Vec<PendingWrite>,
}

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A write of the block is about to start.
    Before,
    /// A write of the block has ended; the block may have no key.
    After,
    /// This block and the next blocks, `old` in total, become unknown: their file is removed or
    /// replaced.
    Forgotten,
}

/// A record of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Position in the order of the records of all logs.
    pub sequence: u64,
    /// Number of the file.
    pub file: u32,
    /// Number of the block in its file.
    pub block: u64,
    /// Kind of the record.
    pub kind: Kind,
    /// Key before the write.
    pub old: u32,
    /// Key after the write.
    pub new: u32,
}

fn crc(parts: &[&[u8]]) -> u32 {
    let mut digest = crc_fast::Digest::new(CrcAlgorithm::Crc32Iscsi);
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize() as u32
}

/// Writes keys; `entries` returns the entry of a block of a file.
///
/// # Errors
/// The writer's.
pub fn write_keys(
    out: &mut impl Write,
    head: &Head,
    files: &[FileHead],
    entries: impl Fn(usize, usize) -> u32,
    pending: &[PendingWrite],
) -> io::Result<()> {
    let mut header = KEYS_MAGIC.to_vec();
    header.extend(head.epoch.to_le_bytes());
    header.extend(head.seed.to_le_bytes());
    header.extend([u8::from(head.is_logged), u8::from(head.is_clean), 0, 0]);
    header.extend((files.len() as u32).to_le_bytes());
    for file in files {
        let path = file.path.as_os_str().as_bytes();
        header.extend((path.len() as u32).to_le_bytes());
        header.extend(path);
        [file.interval, file.origin, file.blocks as u64, file.layout]
            .iter()
            .for_each(|number| header.extend(number.to_le_bytes()));
    }
    out.write_all(&header)?;
    out.write_all(&crc(&[&header]).to_le_bytes())?;
    let mut chunk = Vec::with_capacity(CHUNK * 4);
    for (at, file) in files.iter().enumerate() {
        for first in (0..file.blocks).step_by(CHUNK) {
            let count = CHUNK.min(file.blocks - first);
            let key = |nth| entries(at, first + nth);
            chunk.clear();
            let is_uniform = (1..count).all(|nth| key(nth) == key(0));
            let stored = if is_uniform { 1 } else { count };
            (0..stored).for_each(|nth| chunk.extend(key(nth).to_le_bytes()));
            let place = chunk_place(at, first, stored);
            out.write_all(&(stored as u32).to_le_bytes())?;
            out.write_all(&crc(&[&place, &chunk]).to_le_bytes())?;
            out.write_all(&chunk)?;
        }
    }
    chunk.clear();
    chunk.extend((pending.len() as u64).to_le_bytes());
    for write in pending {
        chunk.extend(write.file.to_le_bytes());
        chunk.extend(write.old.to_le_bytes());
        chunk.extend(write.block.to_le_bytes());
    }
    out.write_all(&chunk)?;
    out.write_all(&crc(&[&chunk]).to_le_bytes())?;
    out.write_all(KEYS_END)
}

/// Bytes that bind a chunk's checksum to its position.
fn chunk_place(file: usize, first: usize, stored: usize) -> [u8; 24] {
    let mut place = [0; 24];
    for (part, number) in place.chunks_exact_mut(8).zip([file, first, stored]) {
        part.copy_from_slice(&(number as u64).to_le_bytes());
    }
    place
}

/// Reader of bytes from front to back.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], String> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("it ends early, at byte {}", self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn u64(&mut self) -> Result<u64, String> {
        let (low, high) = (self.u32()?, self.u32()?);
        Ok(u64::from(low) | u64::from(high) << 32)
    }

    /// Reads a count of items; fails if the rest is too short for `bytes_each` per item.
    fn count(&mut self, most: usize, bytes_each: usize) -> Result<usize, String> {
        let at = self.at;
        let count = self.u64()?;
        let room = (self.bytes.len() - self.at) / bytes_each.max(1);
        let fits = usize::try_from(count).ok().filter(|count| *count <= most.min(room));
        fits.ok_or_else(|| format!("the count of {count} at byte {at} is too great"))
    }

    /// Reads a checksum, and compares it with the bytes from `from` to here.
    fn sum(&mut self, place: &[u8], from: usize) -> Result<(), String> {
        let (bytes, at) = (&self.bytes[from..self.at], self.at);
        if self.u32()? == crc(&[place, bytes]) {
            Ok(())
        } else {
            Err(format!("the checksum at byte {at} does not match"))
        }
    }
}

/// Reads keys.
///
/// # Errors
/// The error in the bytes, and its offset.
pub fn read_keys(bytes: &[u8]) -> Result<Keys, String> {
    let mut reader = Reader { bytes, at: 0 };
    let (head, files) = read_head(&mut reader)?;
    let mut keys = Keys { head, ..Keys::default() };
    for (at, file) in files.into_iter().enumerate() {
        let mut entries = Vec::with_capacity(file.blocks.min(bytes.len() * (CHUNK / 12)));
        for first in (0..file.blocks).step_by(CHUNK) {
            let count = CHUNK.min(file.blocks - first);
            read_chunk(&mut reader, &mut entries, at, first, count)?;
        }
        keys.files.push((file, entries));
    }
    let from = reader.at;
    for _ in 0..reader.count(usize::MAX, 16)? {
        let (file, old, block) = (reader.u32()?, reader.u32()?, reader.u64()?);
        let known = keys.files.get(file as usize).map_or(0, |(file, _)| file.blocks as u64);
        if block >= known {
            return Err(format!("a pending write is to block {block} of file {file}"));
        }
        keys.pending.push(PendingWrite { file, block, old });
    }
    reader.sum(&[], from)?;
    if reader.take(8)? != KEYS_END || reader.at != bytes.len() {
        return Err(format!("it does not end at byte {}", reader.at));
    }
    Ok(keys)
}

fn read_head(reader: &mut Reader<'_>) -> Result<(Head, Vec<FileHead>), String> {
    if reader.take(8)? != KEYS_MAGIC {
        return Err("it does not begin like the keys of a journal of this version".into());
    }
    let (epoch, seed) = (reader.u64()?, reader.u64()?);
    let flags = reader.take(4)?;
    let head = Head { epoch, seed, is_logged: flags[0] == 1, is_clean: flags[1] == 1 };
    let count = reader.u32()? as usize;
    if count > FILES_MAX {
        return Err(format!("{count} files are more than a journal has"));
    }
    let mut files = Vec::new();
    for _ in 0..count {
        let length = reader.u32()? as usize;
        if length > PATH_BYTES_MAX {
            return Err(format!("a path of {length} bytes is longer than any"));
        }
        let path = std::ffi::OsString::from_vec(reader.take(length)?.to_vec()).into();
        let (interval, origin, blocks) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let blocks = usize::try_from(blocks).unwrap_or(usize::MAX);
        let layout = reader.u64()?;
        files.push(FileHead { path, interval, origin, blocks, layout });
    }
    reader.sum(&[], 0)?;
    Ok((head, files))
}

fn read_chunk(
    reader: &mut Reader<'_>,
    entries: &mut Vec<u32>,
    file: usize,
    first: usize,
    count: usize,
) -> Result<(), String> {
    let at = reader.at;
    let stored = reader.u32()? as usize;
    let sum = reader.u32()?;
    if stored != count && stored != 1 {
        return Err(format!("{stored} keys at byte {at} are not {count}"));
    }
    let bytes = reader.take(stored * 4)?;
    if sum != crc(&[&chunk_place(file, first, stored), bytes]) {
        return Err(format!("the checksum of the keys at byte {at} does not match"));
    }
    let mut listed =
        bytes.chunks_exact(4).map(|key| u32::from_le_bytes([key[0], key[1], key[2], key[3]]));
    match (stored, count) {
        (1, count) => entries.extend(std::iter::repeat_n(listed.next().unwrap_or(0), count)),
        _ => entries.extend(listed),
    }
    Ok(())
}

/// Header of a log of that epoch.
pub fn log_header(epoch: u64) -> [u8; LOG_HEADER_BYTES] {
    let mut header = [0; LOG_HEADER_BYTES];
    header[..8].copy_from_slice(LOG_MAGIC);
    header[8..16].copy_from_slice(&epoch.to_le_bytes());
    let sum = crc(&[&header[..16]]);
    header[16..20].copy_from_slice(&sum.to_le_bytes());
    header
}

/// Appends a record of the batch that begins with record number `batch` of the log.
#[inline]
pub fn put_record(out: &mut Vec<u8>, epoch: u64, batch: u32, record: &Record) {
    let mut bytes = [0; RECORD_BYTES];
    bytes[4..8].copy_from_slice(&batch.to_le_bytes());
    bytes[8..16].copy_from_slice(&record.sequence.to_le_bytes());
    bytes[16..24].copy_from_slice(&record.block.to_le_bytes());
    bytes[24..28].copy_from_slice(&record.file.to_le_bytes());
    let kind: u32 = match record.kind {
        Kind::Before => 1,
        Kind::After => 2,
        Kind::Forgotten => 3,
    };
    bytes[28..32].copy_from_slice(&kind.to_le_bytes());
    bytes[32..36].copy_from_slice(&record.old.to_le_bytes());
    bytes[36..40].copy_from_slice(&record.new.to_le_bytes());
    let sum = crc(&[&epoch.to_le_bytes(), &bytes[4..]]);
    bytes[..4].copy_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(&bytes);
}

/// Decodes a record and the number of its batch's first record; none if its checksum is wrong.
fn record(bytes: &[u8], epoch: u64) -> Option<(u32, Record)> {
    let mut reader = Reader { bytes, at: 0 };
    let sum = reader.u32().ok()?;
    if sum != crc(&[&epoch.to_le_bytes(), &bytes[4..]]) {
        return None;
    }
    let batch = reader.u32().ok()?;
    let (sequence, block, file) = (reader.u64().ok()?, reader.u64().ok()?, reader.u32().ok()?);
    let kind = match reader.u32().ok()? {
        1 => Kind::Before,
        2 => Kind::After,
        3 => Kind::Forgotten,
        _ => return None,
    };
    let (old, new) = (reader.u32().ok()?, reader.u32().ok()?);
    Some((batch, Record { sequence, file, block, kind, old, new }))
}

/// Reads the records of a log; none if the log is of another epoch or has no header.
///
/// # Errors
/// The position of damage before the end of the log.
pub fn read_log(bytes: &[u8], epoch: u64) -> Result<Vec<Record>, String> {
    if bytes.get(..LOG_HEADER_BYTES) != Some(&log_header(epoch)[..]) {
        return Ok(Vec::new());
    }
    let mut records = Vec::new();
    let mut all = bytes[LOG_HEADER_BYTES..].chunks_exact(RECORD_BYTES);
    for bytes in all.by_ref() {
        match record(bytes, epoch).filter(|(batch, _)| *batch as usize <= records.len()) {
            Some((_, record)) => records.push(record),
            None => break,
        }
    }
    let end = records.len();
    if all.any(|bytes| record(bytes, epoch).is_some_and(|(batch, _)| batch as usize > end)) {
        Err(format!(
            "record {end} at byte {} is damaged, and later ones are not",
            LOG_HEADER_BYTES + end * RECORD_BYTES
        ))
    } else {
        Ok(records)
    }
}
