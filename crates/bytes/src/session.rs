//! State of bytes that all jobs of a session share.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use candor_plan::blocks::Journal as JournalPlan;

use crate::journal::{self, Journal, Refusal, SharedJournal};

/// Blocks that did not match, of all jobs of a phase that count them.
#[derive(Clone, Debug, Default)]
pub struct Mismatches(pub Arc<AtomicU64>);

/// Journals, and the seed of headers.
#[derive(Default)]
pub struct SharedBytes {
    journals: HashMap<PathBuf, SharedJournal>,
    /// Seed of headers that no other session knows.
    seed: OnceCell<u64>,
}

impl SharedBytes {
    /// Journal of a directory, opened at its first use.
    ///
    /// # Errors
    /// The journal cannot be opened.
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
}
