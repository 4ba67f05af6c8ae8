//! Kept documents: one compressed file per run, which the index is made of.
//!
//! A number is claimed by making its mark below `unindexed/`, which is removed when the run is in
//! the index: whatever ends a process in between, the next one finds the mark and the document.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use candor_plan::path_text::as_text_or_none;
use candor_record::REPORT_BYTES_MAX;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::RunId;

/// Documents of one directory.
const IN_DIRECTORY: RunId = 1000;
/// Age of a mark whose document nobody is writing any more.
const STALE: Duration = Duration::from_secs(3600);

/// Kind of a kept document, with its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A report of candor.
    Report,
    /// Results of another tool.
    Results,
}

/// A document to keep.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Kind of the text.
    pub kind: Kind,
    /// The text.
    pub text: &'a str,
}

impl Kind {
    pub(crate) const ALL: [Kind; 2] = [Kind::Report, Kind::Results];

    fn extension(self) -> &'static str {
        match self {
            Kind::Report => "report.json.gz",
            Kind::Results => "results.json.gz",
        }
    }
}

/// Remarks that stand beside a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Tags, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// File that it was imported from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
    /// Time of that file in ms since 1970, where the document has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_unix_ms: Option<i64>,
    /// Working directory of the run, where its targets are relative to it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "as_text_or_none")]
    pub directory: Option<PathBuf>,
}

/// The documents below a directory.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    dir: PathBuf,
}

impl Files {
    pub fn below(dir: &Path) -> Files {
        Files { dir: dir.to_owned() }
    }

    fn reports(&self) -> PathBuf {
        self.dir.join("reports")
    }

    fn mark(&self, run: RunId) -> PathBuf {
        self.dir.join("unindexed").join(run.to_string())
    }

    fn folder(&self, run: RunId) -> PathBuf {
        self.reports().join(format!("{:03}", run / IN_DIRECTORY))
    }

    pub(crate) fn document(&self, run: RunId, kind: Kind) -> PathBuf {
        self.folder(run).join(format!("{run}.{}", kind.extension()))
    }

    fn note_path(&self, run: RunId) -> PathBuf {
        self.folder(run).join(format!("{run}.note.json"))
    }

    /// True where something was kept once.
    pub fn are_there(&self) -> Result<bool, Error> {
        let reports = self.reports();
        match reports.metadata() {
            Ok(_) => Ok(true),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(why) => Err(Error::file(&reports, "read")(why)),
        }
    }

    /// Makes the directories; true where they were not there.
    pub fn prepare(&self) -> Result<bool, Error> {
        let is_new = !self.are_there()?;
        for dir in [self.reports(), self.dir.join("unindexed")] {
            make_directory(&dir).map_err(Error::file(&dir, "made"))?;
        }
        Ok(is_new)
    }

    /// Keeps a document under the first number from `first` on that is free. The number stays
    /// marked until [`Files::indexed`].
    pub fn keep(&self, first: RunId, document: Document<'_>, note: &Note) -> Result<RunId, Error> {
        let run = self.claim(first)?;
        let written = self.write(run, document, note);
        if written.is_err() {
            // The number is free again, and no half of a document stays on a full disk.
            let _ = fs::remove_file(self.note_path(run));
            let _ = fs::remove_file(self.mark(run));
        }
        written.map(|()| run)
    }

    fn write(&self, run: RunId, document: Document<'_>, note: &Note) -> Result<(), Error> {
        let folder = self.folder(run);
        make_directory(&folder).map_err(Error::file(&folder, "made"))?;
        // A process that was killed may have left one of its own under this number.
        let left = self.note_path(run);
        if *note != Note::default() {
            self.write_note(run, note)?;
        } else if left.exists() {
            fs::remove_file(&left).map_err(Error::file(&left, "removed"))?;
        }
        let path = self.document(run, document.kind);
        let compressed = compressed(document.text).map_err(Error::file(&path, "compressed"))?;
        candor_files::replace(&path, &compressed).map_err(Error::file(&path, "written"))
    }

    /// Claims a number. Whoever has made its mark may see by the documents whether it is free.
    fn claim(&self, first: RunId) -> Result<RunId, Error> {
        let mut run = first.max(1);
        loop {
            let mark = self.mark(run);
            match File::options().write(true).create_new(true).open(&mark) {
                Ok(_) if self.kind(run).is_none() => return Ok(run),
                Ok(_) => fs::remove_file(&mark).map_err(Error::file(&mark, "removed"))?,
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
                Err(why) => return Err(Error::file(&mark, "made")(why)),
            }
            run += 1;
        }
    }

    /// The kind of the document of a run, if it has one.
    fn kind(&self, run: RunId) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| self.document(run, *kind).is_file())
    }

    /// Notes that a run is in the index.
    pub fn indexed(&self, run: RunId) {
        // A mark that stays costs the next command a look at that run, and nothing else.
        let _ = fs::remove_file(self.mark(run));
    }

    /// Runs that are not in the index yet, ascending. Marks that nothing followed are removed.
    pub fn unindexed(&self) -> Vec<RunId> {
        let mut runs = Vec::new();
        for run in numbers(&self.dir.join("unindexed"), "") {
            let mark = self.mark(run);
            match self.kind(run) {
                Some(_) => runs.push(run),
                None if is_stale(&mark) => {
                    let _ = fs::remove_file(mark);
                }
                None => {}
            }
        }
        runs.sort_unstable();
        runs
    }

    /// All runs that have a document, ascending.
    pub fn all(&self) -> Vec<RunId> {
        let folders = fs::read_dir(self.reports()).into_iter().flatten().flatten();
        let mut runs: Vec<RunId> = folders
            .flat_map(|folder| {
                let of = |kind: Kind| numbers(&folder.path(), kind.extension());
                Kind::ALL.into_iter().flat_map(of).collect::<Vec<_>>()
            })
            .collect();
        runs.sort_unstable();
        runs
    }

    /// True where some document is there.
    pub fn has_any(&self) -> bool {
        let folders = fs::read_dir(self.reports()).into_iter().flatten().flatten();
        folders
            .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
            .any(|entry| entry.path().extension().is_some_and(|ext| ext == "gz"))
    }

    /// The document of a run.
    pub fn read(&self, run: RunId) -> Result<(Kind, String), Error> {
        let kind = self.kind(run).ok_or(Error::NoRun(run))?;
        let path = self.document(run, kind);
        let file = File::open(&path).map_err(Error::file(&path, "opened"))?;
        let mut text = String::new();
        let mut decoder = GzDecoder::new(file).take(REPORT_BYTES_MAX + 1);
        decoder.read_to_string(&mut text).map_err(Error::file(&path, "read"))?;
        if text.len() as u64 > REPORT_BYTES_MAX {
            let why = format!("it has more than {REPORT_BYTES_MAX} bytes");
            return Err(Error::Unreadable { run, why });
        }
        Ok((kind, text))
    }

    /// The remarks on a run; none where there are none.
    pub fn note(&self, run: RunId) -> Result<Note, Error> {
        let path = self.note_path(run);
        match fs::read_to_string(&path) {
            Ok(text) => candor_plan::values::from_json(text.as_bytes()).map_err(|why| {
                Error::Unreadable { run, why: format!("{} is no note: {why}", path.display()) }
            }),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(Note::default()),
            Err(why) => Err(Error::file(&path, "read")(why)),
        }
    }

    /// Replaces the remarks on a run.
    pub fn write_note(&self, run: RunId, note: &Note) -> Result<(), Error> {
        let path = self.note_path(run);
        let text = serde_json::to_string(note).map_err(|why| Error::Export(why.to_string()))?;
        candor_files::replace(&path, text.as_bytes()).map_err(Error::file(&path, "written"))
    }

    /// Removes all of a run.
    pub fn remove(&self, run: RunId) -> Result<(), Error> {
        let documents = Kind::ALL.map(|kind| self.document(run, kind));
        for path in documents.into_iter().chain([self.note_path(run), self.mark(run)]) {
            match fs::remove_file(&path) {
                Err(why) if why.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::file(&path, "removed")(why));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Makes a directory that only its owner may enter: reports name hosts, paths and serial numbers.
fn make_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Numbers of the files in a directory that are called a number and that extension.
fn numbers(dir: &Path, extension: &str) -> Vec<RunId> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (number, rest) = name.split_once('.').unwrap_or((&name, ""));
            number.parse().ok().filter(|_| rest == extension)
        })
        .collect()
}

fn is_stale(path: &Path) -> bool {
    let changed = path.metadata().and_then(|metadata| metadata.modified());
    let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
    age.is_some_and(|age| age > STALE)
}

fn compressed(text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: Document = Document { kind: Kind::Report, text: "{}" };

    fn files() -> (tempfile::TempDir, Files) {
        let top = tempfile::tempdir().expect("a directory");
        let files = Files::below(&top.path().join("history"));
        assert!(files.prepare().expect("it can be made"));
        assert!(!files.prepare().expect("it is there"));
        (top, files)
    }

    #[test]
    fn a_number_is_used_once() {
        let (_top, files) = files();
        let note = Note { tags: vec!["a".into()], ..Note::default() };
        let runs = [1, 1, 0].map(|first| files.keep(first, REPORT, &note).expect("room"));
        assert_eq!(runs, [1, 2, 3]);
        assert_eq!(files.unindexed(), [1, 2, 3]);
        files.indexed(2);
        assert_eq!(files.unindexed(), [1, 3]);
        let results = Document { kind: Kind::Results, text: "[]" };
        assert_eq!(files.keep(2, results, &Note::default()).expect("room"), 4, "2 has a document");
        assert_eq!((files.all(), files.has_any()), (vec![1, 2, 3, 4], true));
        assert_eq!(files.read(4).expect("it is there"), (Kind::Results, "[]".to_owned()));
        assert_eq!(files.note(1).expect("it is there"), note);
        assert_eq!(files.note(4).expect("there is none"), Note::default());
        files.remove(1).expect("it can be removed");
        assert_eq!((files.all(), files.unindexed()), (vec![2, 3, 4], vec![3, 4]));
        assert!(matches!(files.read(1), Err(Error::NoRun(1))));
    }

    #[test]
    fn a_claim_without_a_document_is_no_run() {
        let (_top, files) = files();
        assert_eq!(files.claim(1).expect("room"), 1);
        assert_eq!(files.keep(1, REPORT, &Note::default()).expect("room"), 2);
        assert_eq!(files.unindexed(), [2]);
        assert!(files.mark(1).is_file(), "it may be somebody's who still writes");
        let long_ago = SystemTime::now() - 2 * STALE;
        File::options()
            .append(true)
            .open(files.mark(1))
            .and_then(|mark| mark.set_modified(long_ago))
            .expect("its time can be set");
        assert_eq!((files.unindexed(), files.mark(1).exists()), (vec![2], false));
    }

    #[test]
    fn flipped_bytes_are_noticed() {
        let (_top, files) = files();
        let text = "{\"a\": 1}".repeat(500);
        files
            .keep(7, Document { kind: Kind::Report, text: &text }, &Note::default())
            .expect("room");
        assert_eq!(files.read(7).expect("it is whole").1, text);
        let path = files.document(7, Kind::Report);
        let mut bytes = fs::read(&path).expect("it is there");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        fs::write(&path, bytes).expect("it can be written");
        assert!(files.read(7).expect_err("it is damaged").to_string().contains("cannot be read"));
    }
}
