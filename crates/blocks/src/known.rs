//! State of files over all phases of a session: verified blocks, and zones.

use std::collections::HashMap;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use candor_plan::PathText;
use candor_plan::blocks::{Content, Format, Pattern, Verify, Words, Zones};

use crate::targets::files::OpenFile;
use crate::targets::zones;
use candor_bytes::content::{self, Pool};
use candor_bytes::verify::{BlockGrid, Map, NOTHING, UNKNOWN};

/// State of files.
#[derive(Default)]
pub struct Known {
    /// State of verified blocks, by file.
    files: HashMap<FileKey, KnownFile>,
    zones: HashMap<PathBuf, Arc<zones::Map>>,
    /// Content of files that are laid out, by its seed: making it takes longer than a small file.
    pools: HashMap<u64, Pool>,
}

/// A file, whatever its path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FileKey {
    /// Number of a block or character device.
    Device(u64),
    /// Device, inode, and time of birth: a later file may have the same inode.
    Inode(u64, u64, Option<SystemTime>),
    /// Path of a missing file.
    Path(PathBuf),
}

impl FileKey {
    fn of(path: &Path) -> FileKey {
        match path.metadata() {
            Ok(found) if found.rdev() != 0 => FileKey::Device(found.rdev()),
            Ok(found) => FileKey::Inode(found.dev(), found.ino(), found.created().ok()),
            Err(_) => FileKey::Path(path.to_owned()),
        }
    }
}

/// Positions and content of the blocks in a map. Jobs share a map only if their schemes are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Every operation begins and ends at a multiple of this distance from the origin.
    pub step: u64,
    /// First offset.
    pub origin: u64,
    /// Distance between headers.
    interval: u64,
    format: Format,
    header_at: u64,
    /// Seed in the headers.
    seed: u64,
    pattern: Option<Arc<Pattern>>,
    words: Option<Words>,
}

impl Scheme {
    /// Scheme of a job's blocks from the first byte of a file, with the job's seed in the headers.
    pub fn new(verify: &Verify, content: &Content) -> Scheme {
        let pattern = content.pattern.clone().filter(|_| verify.format != Format::Own);
        Scheme {
            step: verify.interval.0,
            origin: 0,
            interval: verify.interval.0,
            format: verify.format,
            header_at: verify.header_at.0,
            seed: verify.seed.unwrap_or_default(),
            pattern: pattern.map(Arc::new),
            words: content.words.filter(|_| verify.format == Format::Words),
        }
    }

    /// Scheme for a file whose blocks begin at another offset, with another seed in the headers.
    #[must_use]
    pub fn of_file(&self, step: u64, origin: u64, seed: u64) -> Scheme {
        Scheme { step, origin, seed, ..self.clone() }
    }
}

/// Verified blocks of a file.
#[derive(Default)]
struct KnownFile {
    maps: Vec<(Scheme, Arc<Map>)>,
    /// Jobs of this phase that may write the file: which bytes, and the map that knows of them.
    writers: Vec<(Range<u64>, Option<Arc<Map>>)>,
    /// Bytes that earlier phases may have written without any map.
    unmapped: Vec<Range<u64>>,
}

impl KnownFile {
    /// Map of a scheme; a new map if no map covers all bytes.
    fn map(&mut self, scheme: Scheme, size: u64, verify: &Verify) -> Arc<Map> {
        let same = self.maps.iter().find(|(of, map)| *of == scheme && map.covers(size));
        if let Some((_, map)) = same {
            return map.clone();
        }
        let generation = if verify.known_only() { NOTHING } else { UNKNOWN };
        let Scheme { origin, step, interval, .. } = scheme;
        let new = Map::on(BlockGrid { origin, interval: step, block: interval }, size, generation);
        if verify.vouches() {
            new.vouch();
        }
        self.unmapped.iter().for_each(|bytes| new.replaced(bytes.clone()));
        for (of, map) in &self.maps {
            new.inherit(map, *of == scheme);
        }
        for (bytes, _) in &self.writers {
            new.contest(bytes.clone());
        }
        // A map that is too short may still be in use in this phase.
        self.maps.reserve_exact(1);
        self.maps.push((scheme, new.clone()));
        new
    }

    /// Records a job that may write these bytes, with the map that records its writes.
    fn writes(&mut self, bytes: Range<u64>, own: Option<&Arc<Map>>) {
        let is_own = |map: &Arc<Map>| own.is_some_and(|own| Arc::ptr_eq(own, map));
        for (_, map) in self.maps.iter().filter(|(_, map)| !is_own(map)) {
            map.contest(bytes.clone());
        }
        self.writers.reserve_exact(1);
        self.writers.push((bytes, own.cloned()));
    }

    /// Ends a phase.
    fn settle(&mut self) {
        for (bytes, own) in self.writers.drain(..) {
            if own.is_none() && !self.unmapped.contains(&bytes) {
                self.unmapped.push(bytes);
            }
        }
        for nth in 0..self.maps.len() {
            self.maps[nth].1.settle_contested();
        }
        let mut longest: Vec<(Scheme, Arc<Map>)> = Vec::new();
        for (scheme, map) in self.maps.drain(..) {
            // Of two maps of one scheme, the later one is the longer one.
            longest.retain(|(of, _)| *of != scheme);
            longest.push((scheme, map));
        }
        self.maps = longest;
    }
}

impl Known {
    /// Ends the phase before: what its jobs may have written without a map is unknown there.
    pub fn begin_phase(&mut self) {
        self.files.values_mut().for_each(KnownFile::settle);
        // Files that their workers made in that phase.
        let made = |key: &FileKey| matches!(key, FileKey::Path(path) if path.exists());
        let keys: Vec<FileKey> = self.files.keys().filter(|key| made(key)).cloned().collect();
        for key in keys {
            let FileKey::Path(path) = &key else { continue };
            if let Some(file) = self.files.remove(&key) {
                self.files.insert(FileKey::of(path), file);
            }
        }
    }

    /// Map of the verified blocks of a file. Empty until the first write. The plan decides whether
    /// blocks of which no write is known are checked.
    pub fn map(&mut self, path: &Path, size: u64, scheme: Scheme, verify: &Verify) -> Arc<Map> {
        self.files.entry(FileKey::of(path)).or_default().map(scheme, size, verify)
    }

    /// Notes a job of this phase that may write these bytes of a file: other maps than its own do
    /// not know them any more. A job that verifies nothing has no map.
    pub fn writes(&mut self, path: &Path, bytes: Range<u64>, own: Option<&Arc<Map>>) {
        self.files.entry(FileKey::of(path)).or_default().writes(bytes, own);
    }

    /// Random bytes of a seed.
    pub fn pool(&mut self, seed: u64) -> Pool {
        self.pools.entry(seed).or_insert_with(|| content::pool(seed)).clone()
    }

    /// Forgets the blocks of a file that was emptied.
    pub fn emptied(&mut self, path: &Path) {
        self.files.remove(&FileKey::of(path));
    }

    /// Stores that a file was laid out with headers of the first generation.
    pub fn laid_out(&mut self, path: &Path, size: u64, verify: &Verify, content: &Content) {
        let laid_out = Map::new(size, verify.interval.0, 1);
        let maps = vec![(Scheme::new(verify, content), laid_out)];
        let file = KnownFile { maps, ..KnownFile::default() };
        self.files.insert(FileKey::of(path), file);
    }

    /// Zones of a file, shared by all paths to the same file.
    ///
    /// # Errors
    /// The mismatch of the plan, and a remedy.
    pub fn zones(
        &mut self,
        file: &OpenFile,
        plan: &Zones,
    ) -> Result<Arc<zones::Map>, (String, &'static str)> {
        let real = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        let map = match self.zones.get(&real) {
            Some(map) => map.clone(),
            None => Arc::new(zones::Map::of(file, plan)?),
        };
        if !map.agrees(plan) {
            let message = format!("jobs disagree about the zones of `{}`", file.path.text());
            return Err((message, "give their zones the same length and capacity"));
        }
        map.reach(file.size);
        self.zones.insert(real, map.clone());
        Ok(map)
    }
}
