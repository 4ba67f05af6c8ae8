//! The directory of the results, and its pages.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use candor_plan::{PathText, path_of};
use candor_vdbench::output::{CONSOLE, Now};

/// Suffix that asks for the time of day in the name.
const TIME_OF_DAY: &str = ".tod";
/// Most directories of the same name with numbers behind it.
const NUMBERS_MAX: u32 = 999;

/// The pages, each open from its first line on.
pub struct Pages {
    directory: PathBuf,
    files: HashMap<String, File>,
    /// The first page that could not be written, and why.
    undelivered: Option<String>,
}

impl Pages {
    /// Makes the directory, or empties it of an earlier run's pages. The error is a sentence.
    pub fn open(asked: &str, now: &Now) -> Result<Pages, String> {
        let directory = named(asked, now)?;
        let shown = directory.text();
        fs::create_dir_all(&directory).map_err(|error| format!("-o {shown}: {error}"))?;
        let entries = fs::read_dir(&directory).map_err(|error| format!("-o {shown}: {error}"))?;
        for entry in entries.flatten() {
            let path = entry.path();
            let is_page = path.extension().is_some_and(|extension| extension == "html");
            if is_page && path.is_file() {
                candor_files::claim(&path)
                    .map_err(|refusal| format!("{}: {refusal}", path.text()))?;
                fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.text()))?;
            }
        }
        Ok(Pages { directory, files: HashMap::new(), undelivered: None })
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Adds text to pages, and gives that for standard output.
    pub fn add(&mut self, parts: Vec<(String, String)>) -> String {
        let mut console = String::new();
        for (page, text) in parts {
            if page == CONSOLE {
                console += &text;
            } else if let Err(sentence) = self.write(&page, &text) {
                self.undelivered.get_or_insert(sentence);
            }
        }
        console
    }

    fn write(&mut self, page: &str, text: &str) -> Result<(), String> {
        let path = self.directory.join(format!("{page}.html"));
        let sentence = |error: std::io::Error| format!("{}: {error}", path.text());
        let file = match self.files.get_mut(page) {
            Some(file) => file,
            None => {
                let opened = candor_files::stream(&path).map_err(sentence)?;
                self.files.entry(page.to_owned()).or_insert(opened)
            }
        };
        file.write_all(text.as_bytes()).map_err(sentence)
    }

    /// A sentence about a page that could not be written.
    pub fn undelivered(&self) -> Result<(), String> {
        self.undelivered.clone().map_or(Ok(()), Err)
    }
}

/// The directory that is asked for.
fn named(asked: &str, now: &Now) -> Result<PathBuf, String> {
    if let Some(front) = asked.strip_suffix(TIME_OF_DAY) {
        return Ok(path_of(&format!("{front}.{}", now.name)));
    }
    let Some(front) = asked.strip_suffix('+') else { return Ok(path_of(asked)) };
    if !path_of(front).exists() {
        return Ok(path_of(front));
    }
    let free = (1..=NUMBERS_MAX)
        .map(|number| path_of(&format!("{front}{number:03}")))
        .find(|directory| !directory.exists());
    free.ok_or_else(|| format!("-o {asked}: there are {NUMBERS_MAX} directories already"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_have_the_next_free_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let front = directory.path().join("out").display().to_string();
        let now = Now { name: "261125.142800".into(), ..Now::default() };
        let of = |asked: String| Pages::open(&asked, &now).expect("made").directory().to_owned();
        assert_eq!(of(format!("{front}+")), Path::new(&front));
        assert_eq!(of(format!("{front}+")), PathBuf::from(format!("{front}001")));
        assert_eq!(of(format!("{front}+")), PathBuf::from(format!("{front}002")));
        assert_eq!(of(format!("{front}.tod")), PathBuf::from(format!("{front}.261125.142800")));
    }

    #[test]
    fn an_old_run_leaves_no_pages() {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["old.html", "kept.txt"] {
            fs::write(directory.path().join(name), "x").expect("written");
        }
        let asked = directory.path().display().to_string();
        let mut pages = Pages::open(&asked, &Now::default()).expect("opened");
        let told = [("summary", "a\n"), (CONSOLE, "said\n"), ("summary", "b\n")];
        let told = told.map(|(page, text)| (page.to_owned(), text.to_owned()));
        assert_eq!(pages.add(told.to_vec()), "said\n");
        let read = |name: &str| fs::read_to_string(directory.path().join(name)).ok();
        assert_eq!(read("summary.html").as_deref(), Some("a\nb\n"));
        assert_eq!((read("old.html"), read("kept.txt").as_deref()), (None, Some("x")));
        assert_eq!(pages.undelivered(), Ok(()));
    }
}
