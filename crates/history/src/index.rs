//! The index: an SQLite database that is made of the kept documents, and can be made again.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use candor_record::Verdict;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};
use rustix::fs::{StatVfsMountFlags, statvfs};

use crate::Error;
use crate::entry::{Entry, Figures, Row};
use crate::error::RunId;
use crate::files::Note;
use crate::journal::Journal;

/// Version of the tables, and of the names of kinds of work in them. An index of an earlier one is
/// made again.
const VERSION: u32 = 3;
/// Time to wait for another candor that writes.
const BUSY: Duration = Duration::from_secs(10);
/// Pages of the index that are kept in memory, in KiB: all of them for a hundred thousand runs.
const CACHE_KIB: i64 = 64 << 10;

/// A run's rows go with it. Devices stand among the targets: both say where a run worked.
const TABLES: &str = "
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    start_unix_ms INTEGER NOT NULL,
    tool TEXT NOT NULL,
    name TEXT NOT NULL,
    command TEXT NOT NULL,
    host TEXT NOT NULL,
    verdict INTEGER,
    headline TEXT NOT NULL,
    is_whole INTEGER NOT NULL,
    imported_from TEXT,
    digest BLOB NOT NULL
);
CREATE INDEX runs_by_start ON runs (start_unix_ms, id);
CREATE INDEX runs_by_digest ON runs (digest);
CREATE TABLE targets (
    path TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    is_device INTEGER NOT NULL,
    PRIMARY KEY (path, run, is_device)
) WITHOUT ROWID;
CREATE INDEX targets_by_run ON targets (run);
CREATE TABLE tags (
    tag TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    PRIMARY KEY (tag, run)
) WITHOUT ROWID;
CREATE INDEX tags_by_run ON tags (run);
CREATE TABLE series (id INTEGER PRIMARY KEY, work TEXT NOT NULL UNIQUE);
CREATE TABLE results (
    series INTEGER NOT NULL REFERENCES series,
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    repeat INTEGER NOT NULL,
    place INTEGER NOT NULL,
    verdict INTEGER,
    is_work INTEGER NOT NULL,
    ops_per_s REAL,
    bytes_per_s REAL,
    latency_mean_ns REAL,
    percentiles TEXT NOT NULL,
    PRIMARY KEY (series, run, repeat, place)
) WITHOUT ROWID;
CREATE INDEX results_by_run ON results (run, place);
";

/// Ends of the names of the files that are the index: itself, its log with the memory that goes
/// with it, its journal.
pub(crate) const PARTS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The index of a directory.
#[derive(Debug)]
pub struct Index {
    pub(crate) connection: Connection,
    path: PathBuf,
}

/// Path of the index of a directory.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("history.db")
}

impl Index {
    /// Opens the index of a directory; none where there is none.
    pub(crate) fn open(dir: &Path) -> Result<Option<Index>, Error> {
        Index::open_by(dir, Journal::of(dir))
    }

    fn open_by(dir: &Path, journal: Journal) -> Result<Option<Index>, Error> {
        let path = path(dir);
        if !path.exists() {
            return Ok(None);
        }
        let connection = connect(dir, &path);
        let index = Index {
            connection: connection.map_err(|why| Error::index(&path, why))?,
            path: path.clone(),
        };
        let version = index.set_up().map_err(|why| Error::index(&path, why))?;
        // An index that was moved here may have its log still.
        if journal == Journal::Rollback {
            index.keep_by(journal).map_err(|why| Error::index(&path, why))?;
        }
        match version {
            VERSION => Ok(Some(index)),
            // An empty file is what a crash of the host may leave.
            ..VERSION => {
                let why = format!("its tables have version {version}, not {VERSION}");
                Err(Error::Damaged { path, why })
            }
            _ => Err(Error::Newer { path }),
        }
    }

    /// An index of no run, which no file holds.
    pub(crate) fn empty(dir: &Path) -> Result<Index, Error> {
        let path = path(dir);
        let made = Connection::open_in_memory().and_then(|connection| {
            connection.execute_batch(TABLES)?;
            Ok(connection)
        });
        match made {
            Ok(connection) => Ok(Index { connection, path }),
            Err(why) => Err(Error::index(&path, why)),
        }
    }

    fn set_up(&self) -> rusqlite::Result<u32> {
        self.connection.busy_timeout(BUSY)?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        // Negative is SQLite's sign for KiB in place of pages.
        self.connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // The documents are flushed, and the index can be made again.
        self.connection.pragma_update(None, "synchronous", "NORMAL")?;
        self.connection.pragma_query_value(None, "user_version", |row| row.get(0))
    }

    fn keep_by(&self, journal: Journal) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "journal_mode", journal.word())
    }

    /// Makes an index with that content, and opens it. Nobody sees it before it is whole; where
    /// another process was faster, its index is taken.
    pub(crate) fn make(
        dir: &Path,
        fill: impl FnOnce(&mut Index) -> Result<(), Error>,
    ) -> Result<Index, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let part = dir.join(format!("history.db.{}-{number}.part", std::process::id()));
        let made = Index::fill(&part, fill);
        let placed = made.and_then(|()| place(&part, &path(dir)));
        for end in PARTS {
            // What is there after success is a second name of the index, or nothing.
            let _ = fs::remove_file(with_end(&part, end));
        }
        placed?;
        Index::open(dir)?
            .ok_or_else(|| Error::file(&path(dir), "opened")(io::ErrorKind::NotFound.into()))
    }

    fn fill(part: &Path, fill: impl FnOnce(&mut Index) -> Result<(), Error>) -> Result<(), Error> {
        let of_part = |why| Error::index(part, why);
        let connection = Connection::open(part).map_err(of_part)?;
        let mut index = Index { connection, path: part.to_owned() };
        index.set_up().map_err(of_part)?;
        index.connection.execute_batch(TABLES).map_err(of_part)?;
        index.connection.pragma_update(None, "user_version", VERSION).map_err(of_part)?;
        fill(&mut index)?;
        // The last step: from here on the file is whole without its log.
        let dir = part.parent().unwrap_or(part);
        index.keep_by(Journal::of(dir)).map_err(of_part)?;
        index.connection.close().map_err(|(_, why)| of_part(why))
    }

    /// An error of SQLite on this index.
    pub(crate) fn error(&self, why: rusqlite::Error) -> Error {
        Error::index(&self.path, why)
    }

    /// A number above all that were ever given.
    pub(crate) fn next_run(&self) -> Result<RunId, Error> {
        let last = "SELECT seq FROM sqlite_sequence WHERE name = 'runs'";
        let last = self.connection.query_row(last, [], |row| row.get::<_, RunId>(0)).optional();
        last.map(|last| last.unwrap_or(0) + 1).map_err(|why| self.error(why))
    }

    /// Enters runs. Those that are there already stay as they are.
    pub(crate) fn insert(&mut self, runs: &[(RunId, Entry, Note)]) -> Result<(), Error> {
        let all = |connection: &mut Connection| {
            // Immediate, so that waiting for others happens once, at the beginning.
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            for (run, entry, note) in runs {
                insert(&transaction, *run, entry, note)?;
            }
            transaction.commit()
        };
        all(&mut self.connection).map_err(|why| Error::index(&self.path, why))
    }

    /// Replaces the tags of a run.
    pub(crate) fn set_tags(&mut self, run: RunId, tags: &[String]) -> Result<(), Error> {
        let set = |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM tags WHERE run = ?1", [run])?;
            insert_tags(&transaction, run, tags)?;
            transaction.commit()
        };
        set(&mut self.connection).map_err(|why| Error::index(&self.path, why))
    }

    /// Removes runs.
    pub(crate) fn remove(&mut self, runs: &[RunId]) -> Result<(), Error> {
        let remove = |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            for run in runs {
                transaction.execute("DELETE FROM runs WHERE id = ?1", [run])?;
            }
            let unused = "DELETE FROM series WHERE id NOT IN (SELECT series FROM results)";
            transaction.execute(unused, [])?;
            transaction.commit()
        };
        remove(&mut self.connection).map_err(|why| Error::index(&self.path, why))
    }

    /// The run with a document of that digest.
    pub(crate) fn with_digest(&self, digest: &[u8]) -> Result<Option<RunId>, Error> {
        let query = "SELECT id FROM runs WHERE digest = ?1";
        let run = self.connection.query_row(query, [digest], |row| row.get(0)).optional();
        run.map_err(|why| self.error(why))
    }

    /// Numbers of all runs, ascending.
    pub(crate) fn all(&self) -> Result<Vec<RunId>, Error> {
        let all = || {
            let mut query = self.connection.prepare("SELECT id FROM runs ORDER BY id")?;
            let rows = query.query_map([], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<RunId>>>()
        };
        all().map_err(|why| self.error(why))
    }

    /// Looks at every page; the error is what is damaged.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let query = "PRAGMA integrity_check(1)";
        let told = self.connection.query_row(query, [], |row| row.get::<_, String>(0));
        match told.map_err(|why| self.error(why))?.as_str() {
            "ok" => Ok(()),
            why => Err(Error::Damaged { path: self.path.clone(), why: why.to_owned() }),
        }
    }
}

/// Opens the file of an index. A log needs files beside it, which SQLite cannot make on a read-only
/// filesystem: where no log is left there, the file is read as one that nobody changes.
fn connect(dir: &Path, path: &Path) -> rusqlite::Result<Connection> {
    let is_fixed = statvfs(dir).is_ok_and(|of| of.f_flag.contains(StatVfsMountFlags::RDONLY))
        && !PARTS[1..].iter().any(|end| with_end(path, end).exists());
    if !is_fixed {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        return Connection::open_with_flags(path, flags);
    }
    let mut uri = b"file:".to_vec();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend(format!("%{byte:02x}").as_bytes()),
            _ => uri.push(*byte),
        }
    }
    uri.extend(b"?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(OsStr::from_bytes(&uri), flags)
}

/// A name of [`PARTS`].
pub(crate) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Gives a whole index its name, unless somebody else's has it.
fn place(part: &Path, path: &Path) -> Result<(), Error> {
    match fs::hard_link(part, path) {
        Ok(()) => Ok(()),
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // A filesystem without hard links.
        Err(_) => fs::rename(part, path).map_err(Error::file(path, "made")),
    }
}

fn insert(tables: &Transaction, run: RunId, entry: &Entry, note: &Note) -> rusqlite::Result<()> {
    let mut query = tables.prepare_cached(
        "INSERT OR IGNORE INTO runs (id, start_unix_ms, tool, name, command, host, verdict, \
         headline, is_whole, imported_from, digest) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    let is_new = query.execute(params![
        run,
        entry.start_unix_ms,
        entry.tool,
        entry.name,
        entry.command,
        entry.host,
        entry.verdict.map(code),
        entry.headline,
        entry.is_whole,
        note.imported_from,
        entry.digest,
    ])?;
    if is_new == 0 {
        return Ok(());
    }
    let mut query = tables.prepare_cached("INSERT INTO targets VALUES (?1, ?2, ?3)")?;
    for (places, is_device) in [(&entry.targets, false), (&entry.devices, true)] {
        for path in places {
            query.execute(params![path, run, is_device])?;
        }
    }
    insert_tags(tables, run, &note.tags)?;
    for (place, row) in entry.results.iter().enumerate() {
        insert_row(tables, run, place, row)?;
    }
    Ok(())
}

fn insert_tags(tables: &Transaction, run: RunId, tags: &[String]) -> rusqlite::Result<()> {
    let mut query = tables.prepare_cached("INSERT OR IGNORE INTO tags VALUES (?1, ?2)")?;
    for tag in tags {
        query.execute(params![tag, run])?;
    }
    Ok(())
}

fn insert_row(tables: &Transaction, run: RunId, place: usize, row: &Row) -> rusqlite::Result<()> {
    // Names and numbers are always JSON.
    let work = serde_json::to_string(&row.series).unwrap_or_default();
    tables.prepare_cached("INSERT OR IGNORE INTO series (work) VALUES (?1)")?.execute([&work])?;
    let series: i64 = tables
        .prepare_cached("SELECT id FROM series WHERE work = ?1")?
        .query_row([&work], |row| row.get(0))?;
    let mut query = tables
        .prepare_cached("INSERT INTO results VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?;
    let figures = &row.figures;
    query.execute(params![
        series,
        run,
        row.repeat,
        // More than a thousand million operations are in no plan.
        i64::try_from(place).unwrap_or(i64::MAX),
        row.verdict.map(code),
        row.is_work,
        figures.ops_per_s,
        figures.bytes_per_s,
        figures.latency_mean_ns,
        percentiles_text(&figures.percentiles),
    ])?;
    Ok(())
}

/// The verdict as the index has it.
pub(crate) fn code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Ok => 0,
        Verdict::Caution => 1,
        Verdict::Unverified => 2,
        Verdict::Wrong => 3,
        Verdict::Corrupt => 4,
    }
}

/// The verdict of such a number.
pub(crate) fn verdict(code: Option<u8>) -> Option<Verdict> {
    match code? {
        0 => Some(Verdict::Ok),
        1 => Some(Verdict::Caution),
        2 => Some(Verdict::Unverified),
        3 => Some(Verdict::Wrong),
        _ => Some(Verdict::Corrupt),
    }
}

/// `50=1200,99=4800`: a comma before each, so that one can be found.
fn percentiles_text(percentiles: &[(f64, u64)]) -> String {
    percentiles.iter().map(|(p, ns)| format!(",{p}={ns}")).collect()
}

/// The percentiles of such a text.
fn percentiles(text: &str) -> Vec<(f64, u64)> {
    text.split(',')
        .filter_map(|pair| {
            let (p, ns) = pair.split_once('=')?;
            Some((p.parse().ok()?, ns.parse().ok()?))
        })
        .collect()
}

/// Columns of [`Figures`], as [`figures`] reads them.
pub(crate) const FIGURES: &str = "f.ops_per_s, f.bytes_per_s, f.latency_mean_ns, f.percentiles";
/// The same for whoever needs no percentile: most of a row is their text.
pub(crate) const FIGURES_BUT_PERCENTILES: &str =
    "f.ops_per_s, f.bytes_per_s, f.latency_mean_ns, ''";

/// The figures of a row, whose first column is that one.
pub(crate) fn figures(row: &rusqlite::Row, first: usize) -> rusqlite::Result<Figures> {
    Ok(Figures {
        ops_per_s: row.get(first)?,
        bytes_per_s: row.get(first + 1)?,
        latency_mean_ns: row.get(first + 2)?,
        percentiles: percentiles(&row.get::<_, String>(first + 3)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_and_percentiles_come_back() {
        for of in
            [Verdict::Ok, Verdict::Caution, Verdict::Unverified, Verdict::Wrong, Verdict::Corrupt]
        {
            assert_eq!(verdict(Some(code(of))), Some(of));
        }
        let all = vec![(50.0, 7), (99.9, u64::MAX)];
        assert_eq!(percentiles(&percentiles_text(&all)), all);
        assert_eq!(percentiles(""), []);
    }

    #[test]
    fn an_index_is_made_once_and_of_this_version() {
        let top = tempfile::tempdir().expect("a directory");
        assert!(Index::open(top.path()).expect("none is no error").is_none());
        let entry = Entry { name: "a".into(), ..Entry::default() };
        let index =
            Index::make(top.path(), |index| index.insert(&[(4, entry.clone(), Note::default())]))
                .expect("room");
        assert_eq!((index.all().expect("runs"), index.next_run().expect("one")), (vec![4], 5));
        let second = Index::make(top.path(), |_| Ok(())).expect("the first one is taken");
        assert_eq!(second.all().expect("runs"), [4]);
        assert_eq!(
            fs::read_dir(top.path())
                .expect("it is there")
                .flatten()
                .filter(|entry| { entry.path().to_string_lossy().contains("part") })
                .count(),
            0
        );
        let set = |version: u32| index.connection.pragma_update(None, "user_version", version);
        set(VERSION + 1).expect("it can be set");
        assert!(matches!(Index::open(top.path()), Err(Error::Newer { .. })));
        set(0).expect("it can be set");
        assert!(Index::open(top.path()).expect_err("no version").is_damage());
    }

    #[test]
    fn an_index_on_a_network_filesystem_has_no_log() {
        let top = tempfile::tempdir().expect("a directory");
        let dir = top.path();
        let mode = |index: &Index| -> String {
            let query = "PRAGMA journal_mode";
            index.connection.query_row(query, [], |row| row.get(0)).expect("a word")
        };
        let local = Index::make(dir, |_| Ok(())).expect("room");
        assert_eq!(mode(&local), "wal");
        drop(local);
        let open = || Index::open_by(dir, Journal::Rollback).expect("it is in order");
        assert_eq!(open().map(|index| mode(&index)).as_deref(), Some("delete"));
        // Several at once, none of which has memory that the others see.
        let writers = 1..=4;
        std::thread::scope(|threads| {
            for writer in writers {
                threads.spawn(move || {
                    let mut index = open().expect("it is there");
                    for run in 0..5 {
                        let entry = (writer * 10 + run, Entry::default(), Note::default());
                        index.insert(&[entry]).expect("it waits for the others");
                    }
                });
            }
        });
        assert_eq!(open().expect("it is there").all().expect("runs").len(), 20);
        let left = |end: &str| PathBuf::from(format!("{}{end}", path(dir).display())).exists();
        assert_eq!(PARTS.map(left), [true, false, false, false]);
    }
}
