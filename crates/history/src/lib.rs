//! History: finished runs as documents, with an index that lists them and finds changes.
//!
//! The documents are the data: one compressed file per run ([`Kind`]), written first and never
//! changed. The [`Index`] is an SQLite database derived from them. If it is lost, damaged or of
//! another version, it is made again. The crate's `README.md` lists the cases.
//!
//! ```
//! let history = candor_history::History::at("/var/lib/candor".into());   // opens nothing
//! assert!(history.dir().ends_with("candor"));
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `place` | the directory, from the environment |
//! | `journal` | the SQLite journal mode, by filesystem |
//! | `moment` | times as people write them |
//! | `files` | documents, their notes, numbers and marks |
//! | `entry` | a document to rows of the index |
//! | `index` | tables: creation, insertion, removal |
//! | `query` | filters, lists, metrics of one kind of work |
//! | `change`, `trends` | levels of a series; trends with their changes and other differences |
//! | `export` | the table as CSV and Parquet |

mod entry;
mod error;
mod export;
mod files;
mod index;
mod journal;
mod moment;
mod place;
mod query;
mod trends;

use std::path::{Path, PathBuf};

use candor_derive::trend::Trends;
use candor_record::Report;
use candor_record::results::Results;

use self::entry::Read;
use self::files::Files;

pub use error::{Error, RunId};
pub use files::{Document, Kind, Note};
pub use index::Index;
pub use moment::moment;
pub use place::{Place, VARIABLE, place};
pub use query::Filter;
pub use trends::Work;

/// Runs that are entered into the index in one transaction.
const BATCH: usize = 1000;

/// The history in one directory.
#[derive(Clone, Debug)]
pub struct History {
    dir: PathBuf,
    files: Files,
}

/// A run that was kept.
#[derive(Debug)]
pub struct Kept {
    /// Number of the run.
    pub run: RunId,
    /// The history was made for it.
    pub is_first: bool,
    /// Reason for which the index does not have it yet; the next command that reads the history
    /// enters it.
    pub unindexed: Option<Error>,
}

/// Outcome of an import.
#[derive(Debug)]
pub enum Imported {
    /// The document is a run of the history now.
    As(Kept),
    /// The history has the same document already.
    Known(RunId),
}

/// Runs of a history that was repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// Runs with a document.
    pub runs: u64,
    /// Runs whose document cannot be read.
    pub unreadable: u64,
}

impl History {
    /// The history in that directory, which need not be there.
    pub fn at(dir: PathBuf) -> History {
        History { files: Files::below(&dir), dir }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Keeps a finished run, whose document is `json`. Relative targets are those of `directory`.
    ///
    /// # Errors
    /// The document cannot be written: then nothing of it stays.
    pub fn keep(&self, report: &Report, json: &str, directory: &Path) -> Result<Kept, Error> {
        let is_relative = |path: &Path| path.is_relative();
        let relative = report.plan.targets.iter().any(|target| is_relative(&target.path));
        let note = Note { directory: relative.then(|| directory.to_owned()), ..Note::default() };
        let document = Document { kind: Kind::Report, text: json };
        self.keep_document(&Read::report(report), document, note)
    }

    /// Keeps results that were made elsewhere: the document of a report, or another tool's results.
    /// What had to be done with the index before is told in sentences.
    ///
    /// # Errors
    /// The text is no such document, it cannot be written, or the index cannot tell whether it is
    /// there already.
    pub fn import(
        &self,
        document: Document<'_>,
        note: Note,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Imported, Error> {
        let read = Read::document(document.kind, document.text).map_err(Error::Document)?;
        let digest = entry::digest(document.text);
        // The index with every run: an import that was killed may have left some that it lacks.
        match self.with_index(tell, |index| index.with_digest(&digest))? {
            Some(run) => Ok(Imported::Known(run)),
            None => self.keep_document(&read, document, note).map(Imported::As),
        }
    }

    fn keep_document(
        &self,
        read: &Read,
        document: Document<'_>,
        note: Note,
    ) -> Result<Kept, Error> {
        let is_first = self.files.prepare()?;
        let index = self.index_to_write();
        let first = match &index {
            Ok(index) => index.next_run().ok(),
            Err(_) => None,
        };
        let first = first.unwrap_or_else(|| self.files.all().last().map_or(1, |last| last + 1));
        let run = self.files.keep(first, document, &note)?;
        let entry = read.entry(document.text, &note);
        let entered = index.and_then(|mut index| index.insert(&[(run, entry, note)]));
        match &entered {
            Ok(()) => self.files.indexed(run),
            Err(error) if error.is_damage() => self.set_aside()?,
            Err(_) => {}
        }
        Ok(Kept { run, is_first, unindexed: entered.err() })
    }

    /// The index; a new one where there is no run yet. Making it again takes too long at the end
    /// of a run.
    fn index_to_write(&self) -> Result<Index, Error> {
        match Index::open(&self.dir)? {
            Some(index) => Ok(index),
            None if self.files.has_any() => Err(Error::file(&index::path(&self.dir), "found")(
                std::io::ErrorKind::NotFound.into(),
            )),
            None => Index::make(&self.dir, |_| Ok(())),
        }
    }

    /// Puts a damaged index aside, so that the next one is made again.
    fn set_aside(&self) -> Result<(), Error> {
        let path = index::path(&self.dir);
        let aside = self.aside();
        for end in index::PARTS {
            let named = |path: &Path| index::with_end(path, end);
            let moved = std::fs::rename(named(&path), named(&aside));
            match moved {
                // The log is there only while somebody has the index open.
                Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::file(&path, "put aside")(why));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A name for a damaged index that nothing has yet.
    fn aside(&self) -> PathBuf {
        let name = |number: u32| self.dir.join(format!("history.db.damaged-{number}"));
        let free = (1..).map(name).find(|path| !path.exists());
        free.unwrap_or_else(|| name(0))
    }

    /// Does something with an index that has every run, telling what had to be done before in
    /// sentences. A damaged index is put aside and made again.
    ///
    /// # Errors
    /// The index can neither be used nor be made again, or `act` failed.
    pub fn with_index<T>(
        &self,
        tell: &mut dyn FnMut(&str),
        act: impl Fn(&mut Index) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let first = self.index(tell).and_then(|mut index| act(&mut index));
        match first {
            Err(damage) if damage.is_damage() => {
                self.set_aside()?;
                tell(&format!("{damage}; it is put aside and made again from the kept runs"));
                act(&mut self.index(tell)?)
            }
            done => done,
        }
    }

    /// The index with every run in it.
    fn index(&self, tell: &mut dyn FnMut(&str)) -> Result<Index, Error> {
        let mut index = match Index::open(&self.dir)? {
            Some(index) => index,
            // Whoever only looks leaves nothing behind.
            None if !self.files.are_there()? => Index::empty(&self.dir)?,
            None => {
                let all = self.files.all();
                Index::make(&self.dir, |index| self.enter(index, &all, tell))?
            }
        };
        let waiting = self.files.unindexed();
        if !waiting.is_empty() {
            self.enter(&mut index, &waiting, tell)?;
            waiting.iter().for_each(|run| self.files.indexed(*run));
        }
        Ok(index)
    }

    /// Enters kept runs; those that cannot be read are told and stay as they are.
    fn enter(
        &self,
        index: &mut Index,
        runs: &[RunId],
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        if runs.len() > BATCH {
            tell(&format!("reading {} kept runs", runs.len()));
        }
        for batch in runs.chunks(BATCH) {
            let mut entries = Vec::new();
            for run in batch {
                let entry = self.files.read(*run).and_then(|(kind, text)| {
                    let note = self.files.note(*run)?;
                    let read = Read::document(kind, &text)
                        .map_err(|why| Error::Unreadable { run: *run, why })?;
                    Ok((*run, read.entry(&text, &note), note))
                });
                match entry {
                    Ok(entry) => entries.push(entry),
                    Err(error) => tell(&error.to_string()),
                }
            }
            index.insert(&entries)?;
        }
        Ok(())
    }

    /// One trend per kind of work that ran more than once, the one with the most runs first.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn trends(&self, index: &Index, filter: &Filter, work: &Work) -> Result<Trends, Error> {
        self.files.trends(index, filter, work)
    }

    /// The document of a run.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn document(&self, run: RunId) -> Result<(Kind, String), Error> {
        self.files.read(run)
    }

    /// The results of a run.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn results(&self, run: RunId) -> Result<Results, Error> {
        let (kind, text) = self.files.read(run)?;
        let read = Read::document(kind, &text);
        read.map(|read| read.results).map_err(|why| Error::Unreadable { run, why })
    }

    /// Gives a run a tag, or takes it away; false where nothing changed.
    ///
    /// # Errors
    /// There is no such run, or its note or the index cannot be written.
    pub fn tag(&self, index: &mut Index, run: RunId, tag: &str, on: bool) -> Result<bool, Error> {
        // Whether there is such a run.
        self.files.read(run)?;
        let mut note = self.files.note(run)?;
        let before = note.tags.clone();
        note.tags.retain(|of| of != tag);
        if on {
            note.tags.push(tag.to_owned());
            note.tags.sort_unstable();
        }
        if note.tags == before {
            return Ok(false);
        }
        self.files.write_note(run, &note)?;
        index.set_tags(run, &note.tags)?;
        Ok(true)
    }

    /// Removes runs that match, but the newest `keep` of these and those with a tag. Their number.
    ///
    /// # Errors
    /// The index or a file cannot be changed.
    pub fn prune(&self, index: &mut Index, filter: &Filter, keep: u64) -> Result<u64, Error> {
        let listed = index.untagged(filter, keep)?;
        for batch in listed.chunks(BATCH) {
            // A document without a row is entered again, a row without a document is a lie.
            index.remove(batch)?;
            for run in batch {
                self.files.remove(*run)?;
            }
        }
        Ok(listed.len() as u64)
    }

    /// Looks at every page of the index and at every document, and brings both together; sentences
    /// name what was done, and each document that cannot be read.
    ///
    /// # Errors
    /// The index cannot be made again.
    pub fn repair(&self, tell: &mut dyn FnMut(&str)) -> Result<Repaired, Error> {
        self.with_index(tell, |index| index.check())?;
        // Documents that cannot be read are named once, below.
        let mut index = self.index(&mut |_| {})?;
        let (kept, listed) = (self.files.all(), index.all()?);
        let is_in = |runs: &[RunId], run: &RunId| runs.binary_search(run).is_ok();
        let missing: Vec<RunId> = kept.iter().filter(|run| !is_in(&listed, run)).copied().collect();
        if !missing.is_empty() {
            tell(&format!("runs that were kept and not in the index: {}", missing.len()));
            self.enter(&mut index, &missing, &mut |_| {})?;
        }
        let gone: Vec<RunId> = listed.iter().filter(|run| !is_in(&kept, run)).copied().collect();
        if !gone.is_empty() {
            tell(&format!("runs whose documents are gone leave the index: {}", gone.len()));
            index.remove(&gone)?;
        }
        let mut unreadable = 0;
        for run in &kept {
            let read = self.files.read(*run).and_then(|(kind, text)| {
                Read::document(kind, &text)
                    .map(drop)
                    .map_err(|why| Error::Unreadable { run: *run, why })
            });
            if let Err(error) = read {
                unreadable += 1;
                tell(&error.to_string());
            }
        }
        Ok(Repaired { runs: kept.len() as u64, unreadable })
    }
}

#[cfg(test)]
mod tests;
