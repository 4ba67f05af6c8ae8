//! Results of the cases.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{LabError, failed, host};

/// Results of all cases of a boot.
#[derive(Debug)]
pub struct Results {
    folder: TempDir,
    /// Output of the machines' consoles.
    pub console: String,
}

/// Result of one case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    folder: PathBuf,
    /// The exit status of its script.
    pub status: i32,
    /// Seconds of the guest's clock.
    pub seconds: u64,
    /// All that it printed.
    pub said: String,
}

impl Results {
    /// Takes the folder that the machines shared, below `work`.
    pub(crate) fn of(work: TempDir, console: String) -> Results {
        Results { folder: work, console }
    }

    /// The names of the cases that ran, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.results()).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The result of this case; none if it did not run.
    pub fn case(&self, name: &str) -> Option<CaseResult> {
        let folder = self.results().join(name);
        let said = fs::read(folder.join("said")).ok()?;
        let number = |file: &str| fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok();
        Some(CaseResult {
            status: number("status").and_then(|n: i64| i32::try_from(n).ok()).unwrap_or(-1),
            seconds: number("seconds").and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
            said: String::from_utf8_lossy(&said).into_owned(),
            folder,
        })
    }

    /// Copies what the cases wrote into a folder.
    pub fn keep(&self, folder: &Path) -> Result<(), LabError> {
        fs::create_dir_all(folder).map_err(|e| failed(folder, &e))?;
        let folder = folder.canonicalize().map_err(|e| failed(folder, &e))?;
        let words: [&std::ffi::OsStr; 3] = ["-r".as_ref(), ".".as_ref(), folder.as_ref()];
        host("cp", &words, &self.results()).map(drop)
    }

    fn results(&self) -> PathBuf {
        shared(self.folder.path())
    }
}

/// The folder that the machines share.
pub(crate) fn shared(work: &Path) -> PathBuf {
    work.join("results")
}

impl CaseResult {
    /// The text of a file that the case wrote below `$OUT`.
    pub fn text(&self, file: &str) -> Option<String> {
        let bytes = fs::read(self.folder.join(file)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
