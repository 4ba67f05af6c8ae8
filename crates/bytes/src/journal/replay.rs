//! Current keys of a journal of an earlier run: stored keys, updated by later records.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use candor_plan::PathText;

use super::format::{self, FileHead, Head, Kind, Record};
use super::{KEYS, LOG, Refusal};
use crate::verify::{BlockKey, Map, NOTHING};

/// Bit of a stored entry with a pending write.
const PENDING: u32 = 1 << 31;

/// Stored form of a key.
pub fn pack(key: BlockKey) -> u32 {
    key.generation | if key.is_pending { PENDING } else { 0 }
}

/// Keys of a file's blocks.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BlockKeys {
    entries: Vec<u32>,
    /// Keys of blocks with a pending write, if that write did not happen.
    pub pending: HashMap<usize, u32>,
}

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Key of the last write that began.
    pub key: u32,
    /// Key of the block if that write did not happen; none if it happened.
    pub old: Option<u32>,
}

impl BlockKeys {
    /// Stored form of a block's key.
    pub fn entry(&self, block: usize) -> u32 {
        let is_pending = self.pending.contains_key(&block);
        pack(BlockKey { generation: self.entries[block], is_pending })
    }

    /// Treats blocks with a pending write as unknown.
    pub fn forget_pending(&mut self) {
        for block in std::mem::take(&mut self.pending).into_keys() {
            self.entries[block] = NOTHING;
        }
    }

    /// Copies the keys to a map of at least this number of blocks.
    pub fn fill(&self, map: &Map) {
        for (block, key) in self.entries.iter().enumerate() {
            State { key: *key, old: self.pending.get(&block).copied() }.set(map, block);
        }
        map.set_pending(self.pending.clone());
    }

    /// True if a write to any block is known or pending.
    pub fn knows_any(&self) -> bool {
        !self.pending.is_empty() || self.entries.iter().any(|key| *key != NOTHING)
    }

    /// Applies a record; false if the file has no such block.
    pub fn apply(&mut self, record: &Record) -> bool {
        let block = record.block as usize;
        if record.kind == Kind::Forgotten {
            let end = block.saturating_add(record.old as usize);
            let Some(entries) = self.entries.get_mut(block..end) else { return false };
            entries.fill(NOTHING);
            self.pending.retain(|pending, _| !(block..end).contains(pending));
            return true;
        }
        let Some(entry) = self.entries.get_mut(block) else { return false };
        *entry = record.new;
        match record.kind {
            Kind::Before => self.pending.insert(block, record.old),
            Kind::After | Kind::Forgotten => self.pending.remove(&block),
        };
        true
    }
}

/// Contents of a journal's files.
#[derive(Debug)]
pub struct Found {
    /// State of the journal.
    pub head: Head,
    /// Files with the current keys of their blocks.
    pub files: Vec<(FileHead, BlockKeys)>,
    /// Number of the next log.
    pub logs: u32,
    /// Number of the next record.
    pub sequence: u64,
}

/// Reads a journal, and updates its keys from its logs.
///
/// # Errors
/// The journal is missing, damaged, or does not record the last writes.
pub fn read(directory: &Path) -> Result<Found, Refusal> {
    let path = directory.join(KEYS);
    let bytes = fs::read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let message = format!("there is no journal in `{}`", directory.text());
            (message, "name the directory of an earlier run, or set recover = false")
        }
        _ => unreadable(&path, &error),
    })?;
    let keys = format::read_keys(&bytes).map_err(|why| damaged(&path, &why))?;
    if !keys.head.is_logged && !keys.head.is_clean {
        let message = format!(
            "the run that kept the journal `{}` did not end by itself, and logged no writes: the \
             last ones are not known",
            directory.text()
        );
        return Err((message, "begin a new journal, with log = \"flushed\""));
    }
    let mut files: Vec<(FileHead, BlockKeys)> = Vec::new();
    for (head, entries) in keys.files {
        let entries = entries.into_iter().map(|entry| entry & !PENDING).collect();
        files.push((head, BlockKeys { entries, pending: HashMap::new() }));
    }
    for write in keys.pending {
        files[write.file as usize].1.pending.insert(write.block as usize, write.old);
    }
    let (mut records, logs) = logged(directory, keys.head.epoch)?;
    records.sort_by_key(|record| record.sequence);
    for record in &records {
        let known = files.get_mut(record.file as usize);
        if !known.is_some_and(|(_, known)| known.apply(record)) {
            let why = format!("a record is of block {} of file {}", record.block, record.file);
            return Err(damaged(directory, &why));
        }
    }
    let sequence = records.last().map_or(0, |record| record.sequence + 1);
    Ok(Found { head: keys.head, files, logs, sequence })
}

/// Records of all logs of an epoch, and the number of the next log.
fn logged(directory: &Path, epoch: u64) -> Result<(Vec<Record>, u32), Refusal> {
    let (mut records, mut logs) = (Vec::new(), 0);
    let unreadable = |error: io::Error| unreadable(directory, &error);
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(LOG));
        let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) else { continue };
        logs = logs.max(number.saturating_add(1));
        let path = entry.path();
        let bytes = fs::read(&path).map_err(unreadable)?;
        records.extend(format::read_log(&bytes, epoch).map_err(|why| damaged(&path, &why))?);
    }
    Ok((records, logs))
}

fn unreadable(path: &Path, error: &io::Error) -> Refusal {
    let message = format!("cannot read the journal `{}`: {error}", path.text());
    (message, "check its directory")
}

fn damaged(path: &Path, why: &str) -> Refusal {
    let message = format!("the journal is damaged: `{}`: {why}", path.text());
    (message, "keep journals on storage that does not lose writes, and begin a new one")
}

#[cfg(test)]
pub(super) mod tests {
    use super::BlockKeys;

    /// Keys of blocks without pending writes.
    pub fn of(entries: &[u32]) -> BlockKeys {
        BlockKeys { entries: entries.to_vec(), ..BlockKeys::default() }
    }
}
