//! Journals of trees: the keys of all blocks of their files, on other storage.
//!
//! The files of a tree are consecutive in its map, so a journal treats a tree like a file. Before a
//! file is created, removed, renamed or copied to, a record marks its blocks as unknown: any result
//! of an interrupted operation is valid.

use std::path::Path;
use std::sync::Arc;

use candor_bytes::journal::format::Kind;
use candor_bytes::journal::log::WorkerLog;
use candor_bytes::journal::{JournalUse, Refusal, SharedJournal, lock};
use candor_bytes::verify::{BlockChange, Left, NOTHING};
use candor_engine::EngineError;
use candor_engine::clock::Ticks;
use candor_engine::random::mix;
use candor_engine::source::Turn;
use candor_plan::{Bytes, PathText};
use candor_record::{BlockIdentity, Ended, JournalStats, Mismatch, MismatchKind, VerifyStats};

use crate::catalog::Catalog;
use crate::generations::{Generations, Part};
use crate::places::Places;
use crate::trees::Trees;

/// Use of a tree's journal by a job.
pub struct TreeJournal {
    used: JournalUse,
    catalog: Arc<Catalog>,
}

/// Begins to use the journal of a tree. Continues with the keys of an earlier run, and reports
/// known blocks that are missing in their files as mismatches.
///
/// # Errors
/// A journal of another tree or of other blocks, or the kernel's.
pub fn begin_use(
    journal: SharedJournal,
    root: &Path,
    catalog: &Arc<Catalog>,
    places: &Places,
    lost: &mut VerifyStats,
) -> Result<TreeJournal, Refusal> {
    let Some(generations) = catalog.generations() else {
        return Err(("the journal needs generations, which are not kept".into(), "keep them"));
    };
    match generations.journal() {
        Some((kept, _)) if !Arc::ptr_eq(kept, &journal) => {
            let message = format!("the tree `{}` has another journal already", root.text());
            return Err((message, "name one journal for each tree"));
        }
        Some(_) => {}
        None => {
            let number = lock(&journal).adopt(root, layout(catalog), generations.map())?;
            generations.keep_in(journal.clone(), number);
            take_up(generations, catalog, places, lost);
        }
    }
    let number = generations.journal().map_or(0, |(_, number)| *number);
    lock(&journal).begin_use()?;
    let used = JournalUse { journal, numbers: [number].into() };
    Ok(TreeJournal { used, catalog: catalog.clone() })
}

/// The journal of a tree, if an earlier job began to use one.
pub fn kept(catalog: &Catalog) -> Option<SharedJournal> {
    Some(catalog.generations()?.journal()?.0.clone())
}

/// Forgets all known blocks of a tree, because work without a journal changes the tree, or because
/// its shape changes.
///
/// # Errors
/// The kernel's.
pub fn abandon(catalog: &Catalog) -> Result<(), Refusal> {
    let Some((generations, journal)) = catalog.generations().zip(kept(catalog)) else {
        return Ok(());
    };
    (0..catalog.file_count()).for_each(|nth| generations.forget(nth));
    // The end of a use stores the keys.
    lock(&journal).begin_use()?;
    drop(JournalUse { journal, numbers: [].into() });
    Ok(())
}

/// Hash of a tree's shape, which determines the positions of its blocks.
fn layout(catalog: &Catalog) -> u64 {
    let shape = format!("{:?}", catalog.tree());
    // 0 is reserved for files.
    shape.bytes().fold(0, |layout, byte| mix(layout, byte.into())).max(1)
}

/// Compares the journal's known blocks with the existing files.
fn take_up(generations: &Generations, catalog: &Catalog, places: &Places, lost: &mut VerifyStats) {
    for nth in 0..catalog.file_count() {
        let (file, bytes) = (catalog.file(nth), places.bytes_of(nth));
        for (part, key) in generations.cut_off(nth, bytes, file.length) {
            let is = if file.present {
                format!("the file has {} bytes", file.length)
            } else {
                "the file is not there".to_owned()
            };
            let Part { offset, length, .. } = part;
            lost.blocks += 1;
            lost.add(Mismatch {
                path: places.path_of(places.handle(0, nth)),
                offset,
                length: Bytes(length),
                kind: MismatchKind::Foreign,
                detail: format!("{is}, and the journal knows write {key} to this block"),
                read_offset: offset,
                read_length: Bytes(length),
                expected: Some(BlockIdentity {
                    offset,
                    key: Some(key),
                    ..BlockIdentity::default()
                }),
                ..Mismatch::default()
            });
        }
    }
}

/// A worker's log in the journal of a tree, if it has one.
fn log(journal: &Option<TreeJournal>, room: usize) -> Result<Option<TreeLog>, EngineError> {
    journal.as_ref().map_or(Ok(None), |journal| journal.log(room))
}

impl TreeJournal {
    /// A worker's log; none if writes are not logged.
    fn log(&self, room: usize) -> Result<Option<TreeLog>, EngineError> {
        let mut journal = lock(&self.used.journal);
        let log = journal.worker_log(room);
        let log = log.map_err(EngineError::file("make a log of", journal.directory()))?;
        let (number, pending) = (self.used.numbers[0], journal.pending());
        let catalog = self.catalog.clone();
        Ok(log.map(|log| TreeLog { log, number, catalog, pending }))
    }
}

/// A worker's log in the journal of a tree.
struct TreeLog {
    log: WorkerLog,
    /// Number of the tree in its journal.
    number: u32,
    catalog: Arc<Catalog>,
    /// Number of pending writes when the journal was opened.
    pending: u64,
}

impl TreeLog {
    fn add(&mut self, kind: Kind, part: &Part, left: Left) {
        let Some(generations) = self.catalog.generations() else { return };
        for change in generations.writes(part) {
            let new = if left == Left::Written { change.new } else { NOTHING };
            self.log.add(kind, self.number, BlockChange { new, ..change });
        }
    }

    fn forget(&mut self, nth: u64) {
        let Some(generations) = self.catalog.generations() else { return };
        let blocks = generations.blocks_of(nth);
        // A record's count has 32 bits, enough for a file of 2 TiB.
        for first in blocks.clone().step_by(u32::MAX as usize) {
            let count = (blocks.end - first).min(u32::MAX as usize) as u32;
            let change = BlockChange { block: first, old: count, new: NOTHING };
            self.log.add(Kind::Forgotten, self.number, change);
        }
    }
}

/// A worker's logs of the job's tree and of the destination tree.
pub struct TreeLogs {
    logs: Trees<TreeLog>,
    committing: Ticks,
    /// True if records wait for the next commit.
    waits: bool,
    /// True once a write of a log has failed; the logs are then unused.
    failed: bool,
}

impl TreeLogs {
    /// Logs in these journals, with buffers for `room` records; none without journals.
    ///
    /// # Errors
    /// The kernel's.
    pub fn of(journals: &Trees<TreeJournal>, room: usize) -> Result<Option<TreeLogs>, EngineError> {
        let logs = Trees { own: log(&journals.own, room)?, other: log(&journals.other, room)? };
        Ok(logs.has_any().then_some(TreeLogs {
            logs,
            committing: Ticks(0),
            waits: false,
            failed: false,
        }))
    }

    /// Adds the records of a write that is about to start.
    pub fn before(&mut self, part: &Part) {
        self.add(Kind::Before, part, Left::Written);
    }

    /// Adds the records of a write that has ended with its blocks in state `left`.
    pub fn after(&mut self, part: &Part, left: Left) {
        self.add(Kind::After, part, left);
    }

    fn add(&mut self, kind: Kind, part: &Part, left: Left) {
        if let Some(log) = &mut self.logs.own {
            log.add(kind, part, left);
            self.waits = true;
        }
    }

    /// Adds the records of a file that is removed or replaced, in the job's or the destination
    /// tree.
    pub fn forget(&mut self, nth: u64, in_other: bool) {
        if let Some(log) = self.logs.get_mut(in_other) {
            log.forget(nth);
            self.waits = true;
        }
    }

    /// True if records wait; they must be durable before the next operation starts.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Writes all waiting records; false if a write failed.
    pub fn commit(&mut self, turn: &mut Turn) -> bool {
        if self.failed {
            return false;
        }
        let before = turn.clock.now();
        self.waits = false;
        for log in self.logs.iter_mut() {
            if let Err(error) = log.log.commit() {
                self.failed = true;
                turn.failures.add_unlogged(log.log.path(), &error);
                turn.end(Ended::Failed);
            }
        }
        self.committing += turn.clock.now() - before;
        !self.failed
    }

    /// Counts so far.
    pub fn stats(&self, turn: &Turn) -> JournalStats {
        let mut sum = JournalStats::default();
        for log in self.logs.iter() {
            sum.merge(JournalStats { pending: log.pending, ..log.log.stats(0) });
        }
        JournalStats { elapsed_ns: turn.clock.ns(self.committing), ..sum }
    }
}
