//! Small files of sysfs and procfs, read whole, and what else is asked about paths. All of it goes
//! through [`Roots`], so that it can be written down and replayed.

use std::fs;
use std::path::{Path, PathBuf};

use candor_plan::{PathText, path_of, path_text::text_of};
use candor_record::facts::Fact;

use crate::source::Roots;
use crate::source::bundle::Ask;

/// The text of a file without surrounding white space; absent if it cannot be read.
pub(crate) fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(text_of(&bytes).trim().to_owned())
}

/// Names in a directory, sorted; none if it cannot be read.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.filter_map(Result::ok).map(|entry| entry.file_name().text()).collect();
    names.sort();
    names
}

impl Roots {
    /// The text of a file without surrounding white space; absent if it cannot be read.
    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        self.ask(Ask::Text, path, || text(path))
    }

    /// The fact that `parse` makes of a file's text, with the path it came from.
    pub(crate) fn fact<T>(
        &self,
        path: &Path,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<Fact<T>> {
        let value = parse(&self.text(path)?)?;
        Some(Fact::new(value, path.text()))
    }

    /// Whether a file can be read to its end, whatever stands in it.
    pub(crate) fn reads(&self, path: &Path) -> bool {
        self.holds(Ask::Reads, path, || fs::read(path).is_ok())
    }

    /// Whether anything is there.
    pub(crate) fn there(&self, path: &Path) -> bool {
        self.holds(Ask::There, path, || path.exists())
    }

    /// Names in a directory, sorted; none if it cannot be read.
    pub(crate) fn names(&self, directory: &Path) -> Vec<String> {
        let live = || Some(names(directory).join("\n")).filter(|names| !names.is_empty());
        let names = self.ask(Ask::Names, directory, live).unwrap_or_default();
        names.lines().map(str::to_owned).collect()
    }

    /// The last component of where a symbolic link points.
    pub(crate) fn link_name(&self, link: &Path) -> Option<String> {
        let to = self.ask(Ask::Link, link, || Some(fs::read_link(link).ok()?.text()))?;
        Some(path_of(&to).file_name()?.text())
    }

    /// The path without links; absent if nothing is there.
    pub(crate) fn real(&self, path: &Path) -> Option<PathBuf> {
        if self.is_live() {
            return fs::canonicalize(path).ok();
        }
        self.ask(Ask::Real, path, || Some(fs::canonicalize(path).ok()?.text()))
            .as_deref()
            .map(path_of)
    }

    /// An answer that is about no path, as text.
    pub(crate) fn own<T: std::fmt::Display + std::str::FromStr>(
        &self,
        what: &str,
        live: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        self.number(Ask::Own, Path::new(what), live)
    }

    /// An answer that is a number.
    pub(crate) fn number<T: std::fmt::Display + std::str::FromStr>(
        &self,
        ask: Ask,
        about: &Path,
        live: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        self.ask(ask, about, || live().map(|value| value.to_string()))?.parse().ok()
    }

    /// An answer that is several numbers.
    pub(crate) fn numbers(
        &self,
        ask: Ask,
        about: &Path,
        live: impl FnOnce() -> Option<Vec<u64>>,
    ) -> Option<Vec<u64>> {
        let text = self.ask(ask, about, || {
            live().map(|numbers| {
                let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
                words.join(" ")
            })
        })?;
        text.split(' ').map(|word| word.parse().ok()).collect()
    }

    fn holds(&self, ask: Ask, path: &Path, live: impl FnOnce() -> bool) -> bool {
        self.ask(ask, path, || live().then(String::new)).is_some()
    }
}
