//! `monitor=`: a file whose first line ends the run under way, or all runs.

use std::fs;
use std::path::PathBuf;

use candor_plan::path_of;

/// Words that end the run under way, and words that end all runs.
const END_RUN: [&str; 2] = ["end_rd", "shutdown"];
const END_ALL: [&str; 2] = ["end_vdbench", "terminate"];

/// Runs that the file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The run under way.
    Run,
    /// That run, and all that would follow.
    All,
}

/// The file, which is read at the end of each interval.
#[derive(Debug)]
pub struct MonitorFile {
    path: PathBuf,
}

impl MonitorFile {
    /// Makes the file, or empties it: a word of an earlier run ends none of these. The error is a
    /// sentence.
    pub fn open(path: &str) -> Result<MonitorFile, String> {
        let file = &path_of(path);
        let claimed = candor_files::claim(file).map_err(std::io::Error::from);
        let emptied = claimed.and_then(|()| candor_files::stream(file));
        emptied.map_err(|error| format!("monitor={path} cannot be written: {error}"))?;
        Ok(MonitorFile { path: path.into() })
    }

    /// Takes the word of the first line; the file is empty behind it. A file that is gone, or has
    /// another word, ends nothing.
    pub fn take(&self) -> Option<(String, Ends)> {
        let text = fs::read_to_string(&self.path).ok()?;
        let word = text.lines().next()?.trim().to_lowercase();
        let ends = match word.as_str() {
            word if END_RUN.contains(&word) => Ends::Run,
            word if END_ALL.contains(&word) => Ends::All,
            _ => return None,
        };
        // A word that stays there ends the next run as well.
        let _ = candor_files::stream(&self.path);
        Some((word, ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_ends_a_run_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("monitor").display().to_string();
        fs::write(&path, "end_vdbench\n").expect("written");
        let file = MonitorFile::open(&path).expect("opened");
        assert_eq!(file.take(), None, "it was emptied");
        let said = |text: &str| {
            fs::write(&path, text).expect("written");
            (file.take().map(|(_, ends)| ends), file.take())
        };
        for text in ["end_rd", "End_RD \nmore\n", "shutdown\n"] {
            assert_eq!(said(text), (Some(Ends::Run), None), "{text}");
        }
        for text in ["end_vdbench\n", "terminate"] {
            assert_eq!(said(text), (Some(Ends::All), None), "{text}");
        }
        for text in ["", "\nend_rd\n", "stop\n"] {
            assert_eq!(said(text), (None, None), "{text}");
        }
        fs::remove_file(&path).expect("removed");
        assert_eq!(file.take(), None);
        assert!(MonitorFile::open("/no/such/directory/file").is_err());
    }
}
