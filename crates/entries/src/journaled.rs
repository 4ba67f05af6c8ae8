//! Journals of trees: which key each block of their files has, on other storage.
//!
//! The files of a tree stand one behind another in its map, so a journal knows a tree as it knows a
//! file. Before a file is made, removed, renamed or copied to, a record says that nothing is known
//! of its blocks any more: whatever an interrupted run leaves of the operation is right.

use std::path::Path;
use std::sync::Arc;

use candor_bytes::journal::format::Kind;
use candor_bytes::journal::log::WorkerLog;
use candor_bytes::journal::{JournalUse, Refusal, SharedJournal, lock};
use candor_bytes::verify::{Left, NOTHING};
use candor_engine::EngineError;
use candor_engine::clock::Ticks;
use candor_engine::random::mix;
use candor_engine::source::Turn;
use candor_plan::{Bytes, PathText};
use candor_record::{BlockIdentity, Ended, JournalStats, Mismatch, MismatchKind, VerifyStats};

use crate::catalog::Catalog;
use crate::generations::{Generations, Part};
use crate::places::Places;

/// Use of a tree's journal by a job.
pub struct TreeJournal {
    used: JournalUse,
    catalog: Arc<Catalog>,
}

/// Begins to use the journal of a tree. Where an earlier run kept it, its keys are taken up, and
/// blocks that it knows and that are not in their files are added to those that do not match.
///
/// # Errors
/// A journal of another tree or of other blocks, or the kernel's.
pub fn begin_use(
    (journal, root): (SharedJournal, &Path),
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
            let number = lock(&journal).adopt((root, layout(catalog)), generations.map())?;
            generations.keep_in(journal.clone(), number);
            take_up(generations, catalog, places, lost);
        }
    }
    let number = generations.journal().map_or(0, |(_, number)| *number);
    lock(&journal).begin_use()?;
    let used = JournalUse { journal, numbers: [number].into() };
    Ok(TreeJournal { used, catalog: catalog.clone() })
}

/// The journal of a tree, where an earlier job began to keep one.
pub fn kept(catalog: &Catalog) -> Option<SharedJournal> {
    Some(catalog.generations()?.journal()?.0.clone())
}

/// Forgets all that a journal knows of a tree: it is changed by work that tells no journal, or has
/// another shape from now on.
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

/// Number of a tree's shape, by which its blocks have their places.
fn layout(catalog: &Catalog) -> u64 {
    let shape = format!("{:?}", catalog.tree());
    // 0 is that of a file.
    shape.bytes().fold(0, |layout, byte| mix(layout, byte.into())).max(1)
}

/// Compares what the journal knows with the files that are there.
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

impl TreeJournal {
    /// A worker's log; none where writes are not logged.
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
    /// Writes that may have happened or not, when the journal was taken up.
    pending: u64,
}

impl TreeLog {
    fn add(&mut self, kind: Kind, part: &Part, left: Left) {
        let Some(generations) = self.catalog.generations() else { return };
        for (block, [old, new]) in generations.writes(part) {
            let new = if left == Left::Written { new } else { NOTHING };
            self.log.add(kind, (self.number, block), [old, new]);
        }
    }

    fn forget(&mut self, nth: u64) {
        let Some(generations) = self.catalog.generations() else { return };
        let blocks = generations.blocks_of(nth);
        // A count of 32 bits is that of a file of 2 TiB at least.
        for first in blocks.clone().step_by(u32::MAX as usize) {
            let count = (blocks.end - first).min(u32::MAX as usize) as u32;
            self.log.add(Kind::Forgotten, (self.number, first), [count, NOTHING]);
        }
    }
}

/// A worker's logs: that of the job's tree, and that of the tree to which items go.
pub struct TreeLogs {
    logs: [Option<TreeLog>; 2],
    committing: Ticks,
    /// Records wait for the next commit.
    waits: bool,
    /// A log could not be written, and is not used any more.
    failed: bool,
}

impl TreeLogs {
    /// Logs in these journals, with room for so many records at a time; none where there are none.
    ///
    /// # Errors
    /// The kernel's.
    pub fn of(
        journals: &[Option<TreeJournal>; 2],
        room: usize,
    ) -> Result<Option<TreeLogs>, EngineError> {
        let log = |journal: &Option<TreeJournal>| match journal {
            Some(journal) => journal.log(room),
            None => Ok(None),
        };
        let logs = [log(&journals[0])?, log(&journals[1])?];
        let has_any = logs.iter().any(Option::is_some);
        Ok(has_any.then_some(TreeLogs { logs, committing: Ticks(0), waits: false, failed: false }))
    }

    /// Adds the records of a write that is about to start.
    pub fn before(&mut self, part: &Part) {
        self.add(Kind::Before, part, Left::Written);
    }

    /// Adds the records of a write that has ended, and leaves its blocks so.
    pub fn after(&mut self, part: &Part, left: Left) {
        self.add(Kind::After, part, left);
    }

    fn add(&mut self, kind: Kind, part: &Part, left: Left) {
        if let [Some(log), _] = &mut self.logs {
            log.add(kind, part, left);
            self.waits = true;
        }
    }

    /// Adds the records of a file that goes or becomes another one: here, or in the other tree.
    pub fn forget(&mut self, nth: u64, in_other: bool) {
        if let Some(log) = &mut self.logs[usize::from(in_other)] {
            log.forget(nth);
            self.waits = true;
        }
    }

    /// True where records wait, which must be durable before the next operation starts.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Writes the records that wait; false where that failed.
    pub fn commit(&mut self, turn: &mut Turn) -> bool {
        if self.failed {
            return false;
        }
        let before = turn.clock.now();
        self.waits = false;
        for log in self.logs.iter_mut().flatten() {
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
        for log in self.logs.iter().flatten() {
            sum.merge(JournalStats { pending: log.pending, ..log.log.stats(0) });
        }
        JournalStats { elapsed_ns: turn.clock.ns(self.committing), ..sum }
    }
}
