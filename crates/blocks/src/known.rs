//! State of files over all phases of a session: verified blocks, and zones.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use candor_plan::blocks::{Journal as JournalPlan, Verify, Zones};

use crate::data::content::{self, Pool};
use crate::data::verify::{Map, NOTHING, UNKNOWN};
use crate::journal::{self, Journal, Refusal, SharedJournal};
use crate::targets::files::OpenFile;
use crate::targets::zones;

/// Blocks that did not match, of all jobs of a phase that count them.
#[derive(Clone, Debug, Default)]
pub struct Mismatches(pub Arc<AtomicU64>);

/// State of files.
#[derive(Default)]
pub struct Known {
    /// Maps of verified blocks, by path, distance and first offset.
    maps: HashMap<(PathBuf, u64, u64), Arc<Map>>,
    zones: HashMap<PathBuf, Arc<zones::Map>>,
    /// Content of files that are laid out, by its seed: making it takes longer than a small file.
    pools: HashMap<u64, Pool>,
    journals: HashMap<PathBuf, SharedJournal>,
    /// Seed of headers that no other session knows.
    seed: OnceCell<u64>,
}

impl Known {
    /// Map of the verified blocks of a file. Empty until the first write; cleared when the file
    /// grows. Every operation begins and ends at a multiple of `step` behind `origin`. With
    /// `known_only`, blocks of which no write is known are not checked.
    pub fn map(
        &mut self,
        path: &Path,
        size: u64,
        (step, origin): (u64, u64),
        known_only: bool,
    ) -> Arc<Map> {
        let generation = if known_only { NOTHING } else { UNKNOWN };
        let new = || Map::from(origin, size, step, generation);
        let key = (path.to_owned(), step, origin);
        let map = self.maps.entry(key).or_insert_with(new);
        if !map.covers(size) {
            *map = new();
        }
        map.clone()
    }

    /// Journal of a directory, opened at its first use.
    ///
    /// # Errors
    /// What keeps it from being opened.
    pub fn journal(&mut self, plan: &JournalPlan, seed: u64) -> Result<SharedJournal, Refusal> {
        if let Some(open) = self.journals.get(&plan.directory) {
            return Ok(open.clone());
        }
        let journal = Arc::new(Mutex::new(Journal::open(plan, seed)?));
        self.journals.insert(plan.directory.clone(), journal.clone());
        Ok(journal)
    }

    /// Seed of headers that no other session has.
    pub fn seed(&self) -> u64 {
        *self.seed.get_or_init(journal::random)
    }

    /// Random bytes of a seed.
    pub fn pool(&mut self, seed: u64) -> Pool {
        self.pools.entry(seed).or_insert_with(|| content::pool(seed)).clone()
    }

    /// Forgets the blocks of a file that was emptied.
    pub fn emptied(&mut self, path: &Path) {
        self.maps.retain(|(of, ..), _| of != path);
    }

    /// Stores that a file was laid out with headers of the first generation.
    pub fn laid_out(&mut self, path: &Path, size: u64, verify: &Verify) {
        let interval = verify.interval.0;
        self.maps.insert((path.to_owned(), interval, 0), Map::new(size, interval, 1));
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
            let message =
                format!("jobs say different things of zones of `{}`", file.path.display());
            return Err((message, "give their zones the same length and capacity"));
        }
        map.reach(file.size);
        self.zones.insert(real, map.clone());
        Ok(map)
    }
}
