//! Small files of sysfs and procfs, read whole.

use std::fs;
use std::path::Path;

use candor_record::facts::Fact;

/// The text of a file without surrounding white space; absent if it cannot be read.
pub(crate) fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// What `parse` makes of a file's text, with the path it came from.
pub(crate) fn fact<T>(path: &Path, parse: impl FnOnce(&str) -> Option<T>) -> Option<Fact<T>> {
    let value = parse(&text(path)?)?;
    Some(Fact::new(value, path.display().to_string()))
}

/// Names in a directory, sorted; none if it cannot be read.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.filter_map(Result::ok).map(name).collect();
    names.sort();
    names
}

/// The last component of where a symbolic link points.
pub(crate) fn link_name(link: &Path) -> Option<String> {
    let to = fs::read_link(link).ok()?;
    Some(to.file_name()?.to_string_lossy().into_owned())
}
