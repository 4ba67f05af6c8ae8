//! The directory that keeps a run: its plan, its report, and the report as text.

use std::fs;
use std::path::{Path, PathBuf};

use candor_plan::PathText;
use candor_record::Report;

/// The plan: `candor run` on it repeats the run exactly.
const PLAN: &str = "plan.toml";
/// The report for machines.
pub const JSON: &str = "report.json";
/// The report for people.
const TEXT: &str = "report.txt";

/// A file to see whether files can be made.
const PROBE: &str = "candor-probe";

/// A directory that this run may write to.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// Makes the directory. One that exists must be empty: neither an earlier run nor anybody's
    /// files are overwritten because of a name that was typed before or mistyped.
    pub fn claim(path: &Path) -> Result<RunDir, String> {
        let name = path.text();
        fs::create_dir_all(path).map_err(|error| format!("{name} cannot be made: {error}"))?;
        let entries =
            fs::read_dir(path).map_err(|error| format!("{name} cannot be read: {error}"))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("{name} cannot be read: {error}"))?;
            let held = match entry.file_name() {
                probe if probe == PROBE => continue,
                own if [PLAN, JSON, TEXT].iter().any(|kept| own == *kept) => {
                    "an earlier run, which would be lost".to_owned()
                }
                other => format!("{}, which no run of candor left there", other.text()),
            };
            return Err(format!(
                "{name} holds {held}; give an empty or a new directory as --run-dir"
            ));
        }
        let dir = RunDir { path: path.to_owned() };
        for name in [PLAN, JSON, TEXT] {
            let claimed = candor_files::claim(&path.join(name));
            claimed.map_err(|refusal| format!("--run-dir {}/{name}: {refusal}", path.text()))?;
        }
        // Whether it can be written to is better known before the run than after it.
        dir.write(PROBE, "")?;
        fs::remove_file(dir.path.join(PROBE))
            .map_err(|error| format!("{name} cannot be written: {error}"))?;
        Ok(dir)
    }

    /// Keeps a run.
    pub fn keep(&self, report: &Report, json: &str, text: &str) -> Result<(), String> {
        self.write(PLAN, &candor_plan::text::write(&report.plan))?;
        self.write(JSON, json)?;
        self.write(TEXT, text)
    }

    /// The path, for people.
    pub fn name(&self) -> String {
        self.path.text()
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.path.join(name);
        candor_files::replace(&path, text)
            .map_err(|error| format!("{} cannot be written: {error}", path.text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_and_an_empty_directory_are_taken_and_no_run_is_lost() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("a/b");
        RunDir::claim(&path).unwrap();
        let dir = RunDir::claim(&path).unwrap();
        dir.keep(&Report::default(), "{}", "text").unwrap();
        assert!(RunDir::claim(&path).unwrap_err().contains("holds an earlier run"));
        assert_eq!(fs::read_to_string(path.join(TEXT)).unwrap(), "text");
        assert!(RunDir::claim(top.path()).unwrap_err().contains("holds a,"));
    }

    #[test]
    fn a_directory_with_other_files_is_left_alone() {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("thesis.tex"), "words").unwrap();
        assert!(RunDir::claim(top.path()).unwrap_err().contains("holds thesis.tex,"));
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_is_no_directory() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(RunDir::claim(file.path()).unwrap_err().contains("cannot be made"));
    }
}
