//! A journal of verified writes: the key of each block, so that a later run can verify the blocks
//! even if this run is killed.
//!
//! ```text
//! DIRECTORY/keys    keys of all blocks, as of the begin of an epoch
//! DIRECTORY/log.N   records of one worker in that epoch, before and after each write, and before
//!                   a file of a tree is removed or replaced
//! ```
//!
//! An epoch begins with the keys and ends with new keys, at a time without writes. A crash in
//! between leaves keys and logs; [`replay`] computes the current keys and the pending writes, which
//! may have happened or not. Replaying records over later keys of the same epoch changes nothing,
//! so keys may be stored again at any time without writes.

pub mod format;
pub mod log;
mod replay;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_engine::random::mix;
use candor_plan::PathText;
use candor_plan::blocks::{Journal as Plan, JournalLog};
use rustix::fs::FlockOperation;

use self::format::{FileHead, Head, PendingWrite};
use self::log::WorkerLog;
use self::replay::{BlockKeys, State};
use crate::verify::{BlockKey, Map};

const KEYS: &str = "keys";
const KEYS_NEW: &str = "keys.new";
const LOG: &str = "log.";

/// A refusal: the reason, and a remedy.
pub type Refusal = (String, &'static str);

/// A journal in its directory, open for one run.
pub struct Journal {
    directory: PathBuf,
    /// The directory, locked against other runs.
    locked: File,
    log: JournalLog,
    epoch: u64,
    seed: u64,
    sequence: Arc<AtomicU64>,
    files: Vec<KnownFile>,
    /// Number of the next log.
    logs: u32,
    /// Phases' jobs that use the journal.
    users: u32,
    /// Number of pending writes when the journal was opened.
    pending: u64,
}

struct KnownFile {
    path: PathBuf,
    layout: u64,
    keys: KnownKeys,
}

enum KnownKeys {
    /// Keys as read; no job has used the file yet.
    Read(FileHead, BlockKeys),
    /// Kept by jobs.
    Live(Arc<Map>),
}

impl Journal {
    /// Opens the journal of a directory: continues the existing journal, or begins a new journal.
    ///
    /// # Errors
    /// The directory, its lock, or a damaged journal.
    pub fn open(plan: &Plan, seed: u64) -> Result<Journal, Refusal> {
        let directory = std::path::absolute(&plan.directory).unwrap_or(plan.directory.clone());
        let kernel = |doing: &str| {
            let shown = directory.text();
            let doing = doing.to_owned();
            move |error: io::Error| {
                (format!("cannot {doing} the journal `{shown}`: {error}"), "name another directory")
            }
        };
        if !plan.recover {
            fs::create_dir_all(&directory).map_err(kernel("make"))?;
        }
        let locked = File::open(&directory).map_err(kernel("open"))?;
        if rustix::fs::flock(&locked, FlockOperation::NonBlockingLockExclusive).is_err() {
            let message = format!("another run uses the journal `{}`", directory.text());
            return Err((message, "wait for its end, or name another directory"));
        }
        let (mut epoch, mut seed) = (random(), mix(seed, random()));
        let mut files = Vec::new();
        let (mut logs, mut sequence, mut pending) = (0, 0, 0);
        if plan.recover {
            let found = replay::read(&directory)?;
            (epoch, seed) = (found.head.epoch, found.head.seed);
            (logs, sequence) = (found.logs, found.sequence);
            for (head, mut known) in found.files {
                if plan.ignore_pending {
                    known.forget_pending();
                }
                pending += known.pending.len() as u64;
                files.push(KnownFile {
                    path: head.path.clone(),
                    layout: head.layout,
                    keys: KnownKeys::Read(head, known),
                });
            }
        } else {
            remove_logs(&directory).map_err(kernel("empty"))?;
        }
        let sequence = Arc::new(AtomicU64::new(sequence));
        let (log, users) = (plan.log, 0);
        Ok(Journal { directory, locked, log, epoch, seed, sequence, files, logs, users, pending })
    }

    /// Seed in the headers of all blocks, unique per journal: blocks of an earlier journal do not
    /// match.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Adds a file or tree with its map, and returns its number. `layout` is a hash of a tree's
    /// shape. A new map gets the keys of the journal.
    ///
    /// # Errors
    /// Blocks at other positions than in the journal.
    pub fn adopt(&mut self, path: &Path, layout: u64, map: &Arc<Map>) -> Result<u32, Refusal> {
        let path = std::path::absolute(path).unwrap_or(path.to_owned());
        let Some(at) = self.files.iter().position(|file| file.path == path) else {
            self.files.push(KnownFile { path, layout, keys: KnownKeys::Live(map.clone()) });
            return Ok((self.files.len() - 1) as u32);
        };
        if let KnownKeys::Read(head, known) = &self.files[at].keys
            && (head.layout == layout || known.knows_any())
        {
            let shown = path.text();
            let (interval, origin) = map.geometry();
            if head.layout != layout {
                let message = format!("the journal knows a tree of another shape in `{shown}`");
                return Err((message, "name the tree's definition of the run before"));
            }
            if (head.interval, head.origin) != (interval, origin) {
                let message = format!(
                    "the journal knows blocks of {} bytes of `{shown}` from byte {} on, not of \
                     {interval} from {origin}",
                    head.interval, head.origin
                );
                return Err((message, "verify the same blocks as the run before"));
            }
            if head.blocks > map.blocks_known() {
                let message = format!(
                    "the journal knows {} blocks of `{shown}`, which has {}",
                    head.blocks,
                    map.blocks_known()
                );
                return Err((message, "use all of the file, as the run before did"));
            }
            known.fill(map);
        }
        (self.files[at].layout, self.files[at].keys) = (layout, KnownKeys::Live(map.clone()));
        Ok(at as u32)
    }

    /// Begins the use by a job: stores all current keys.
    ///
    /// # Errors
    /// The kernel's.
    pub fn begin_use(&mut self) -> Result<(), Refusal> {
        self.store(false).map_err(|error| {
            let shown = self.directory.text();
            (format!("cannot store the journal `{shown}`: {error}"), "make room for it")
        })?;
        self.users += 1;
        Ok(())
    }

    /// Ends the use by a job. The last use ends the epoch.
    fn end_use(&mut self) {
        self.users = self.users.saturating_sub(1);
        if self.users > 0 {
            return;
        }
        self.epoch = self.epoch.wrapping_add(1);
        // If the new keys cannot be stored, the old keys and the logs are still equivalent.
        match self.store(true).and_then(|()| remove_logs(&self.directory)) {
            Ok(()) => self.logs = 0,
            Err(_) => self.epoch = self.epoch.wrapping_sub(1),
        }
    }

    /// Creates the log of a worker; none if writes are not logged.
    ///
    /// # Errors
    /// The kernel's.
    pub fn worker_log(&mut self, room: usize) -> io::Result<Option<WorkerLog>> {
        if self.log == JournalLog::Nothing {
            return Ok(None);
        }
        let path = self.directory.join(format!("{LOG}{}", self.logs));
        self.logs += 1;
        let (sequence, is_flushed) = (self.sequence.clone(), self.log == JournalLog::Flushed);
        WorkerLog::create(&path, self.epoch, sequence, is_flushed, room).map(Some)
    }

    /// Directory of the journal's files.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Number of pending writes when the journal was opened.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Stores all keys; `is_clean` is true if no write follows.
    fn store(&self, is_clean: bool) -> io::Result<()> {
        let is_logged = self.log != JournalLog::Nothing;
        let head = Head { epoch: self.epoch, seed: self.seed, is_logged, is_clean };
        let heads: Vec<FileHead> = self.files.iter().map(KnownFile::head).collect();
        let pending: Vec<PendingWrite> =
            (0..).zip(&self.files).flat_map(|(number, file)| file.pending(number)).collect();
        let path = self.directory.join(KEYS_NEW);
        // Remove the file of a killed run; a symbolic link is removed, not followed.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut out = BufWriter::new(File::create_new(&path)?);
        let entries = |file: usize, block: usize| self.files[file].entry(block);
        format::write_keys(&mut out, &head, &heads, entries, &pending)?;
        out.flush()?;
        out.get_ref().sync_all()?;
        fs::rename(&path, self.directory.join(KEYS))?;
        File::open(&self.directory)?.sync_all()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Threads with separate file tables may keep the directory open for a while.
        let _ = rustix::fs::flock(&self.locked, FlockOperation::Unlock);
    }
}

impl KnownFile {
    fn head(&self) -> FileHead {
        match &self.keys {
            KnownKeys::Read(head, _) => head.clone(),
            KnownKeys::Live(map) => {
                let (interval, origin) = map.geometry();
                let (path, layout, blocks) = (self.path.clone(), self.layout, map.blocks_known());
                FileHead { path, interval, origin, blocks, layout }
            }
        }
    }

    fn entry(&self, block: usize) -> u32 {
        match &self.keys {
            KnownKeys::Read(_, known) => known.entry(block),
            KnownKeys::Live(map) => replay::pack(map.key(block)),
        }
    }

    /// Pending writes to the file.
    fn pending(&self, file: u32) -> Vec<PendingWrite> {
        let pending: Vec<(usize, u32)> = match &self.keys {
            KnownKeys::Read(_, known) => known.pending.iter().map(|(b, old)| (*b, *old)).collect(),
            KnownKeys::Live(map) => map.pending().collect(),
        };
        let writes = pending.into_iter();
        writes.map(|(block, old)| PendingWrite { file, block: block as u64, old }).collect()
    }
}

/// A journal that jobs share.
pub type SharedJournal = Arc<Mutex<Journal>>;

/// Locks a journal; for the control plane and starting workers only.
pub fn lock(journal: &SharedJournal) -> MutexGuard<'_, Journal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Use of a journal by a job; ends when dropped. A job with stalled workers is never dropped.
pub struct JournalUse {
    /// The journal.
    pub journal: SharedJournal,
    /// Numbers of the job's files in the journal.
    pub numbers: Arc<[u32]>,
}

impl Drop for JournalUse {
    fn drop(&mut self) {
        lock(&self.journal).end_use();
    }
}

/// A random number, unique per run.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Removes all logs of a directory.
fn remove_logs(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(LOG));
        if number.is_some_and(|number| number.parse::<u32>().is_ok()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

impl State {
    /// Sets a map's block to this state.
    fn set(self, map: &Map, block: usize) {
        map.set_key(block, BlockKey { generation: self.key, is_pending: self.old.is_some() });
    }
}
